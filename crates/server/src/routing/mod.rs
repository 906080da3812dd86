//! From a request to its handler: the table of routes, access, and dispatch.

pub(crate) mod access;
pub(crate) mod dispatch;
pub(crate) mod exchange;
pub(crate) mod routes;
