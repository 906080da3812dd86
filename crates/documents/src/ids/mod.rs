//! Ids of documents: what is allowed, and the ids that the server makes.

pub(crate) mod hilo;
pub mod id;
pub(crate) mod identities;
pub(crate) mod owned;
pub(crate) mod wildcard;
