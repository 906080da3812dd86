//! What documents look like to clients: dates, flags, hashes and the parts of a body.

pub mod base64;
pub(crate) mod content;
pub(crate) mod date;
pub(crate) mod flags;
pub(crate) mod results_hash;
pub(crate) mod server_metadata;
