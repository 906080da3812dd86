//! From a request to its handler: the table of routes, access, and dispatch.

pub(crate) mod access;
pub(crate) mod contained;
pub(crate) mod dispatch;
pub(crate) mod exchange;
pub(crate) mod head_limits;
pub(crate) mod internal;
pub(crate) mod keys;
pub(crate) mod registry;
pub(crate) mod routes;
pub(crate) mod sessions;
pub(crate) mod urls;
