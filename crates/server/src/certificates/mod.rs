//! Certificates: what the server reads of them, the files they come in, and making them.
//!
//! Nothing here knows connections; [`crate::network::tls`] says who a client is by its certificate.

pub(crate) mod certificate;
pub(crate) mod files;
pub(crate) mod issuing;
pub(crate) mod replacement;
mod without_password;
