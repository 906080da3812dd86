//! Who may call which route: the one place where it is decided, before any handler.
//!
//! Until certificates are there, a server is open to whoever reaches its port, which is why it listens on loopback
//! only unless told otherwise by name ([`crate::Options::unsecured_access`]). What each route needs is in the table
//! already, so that adding certificates changes this function and no handler.

use crate::error::{Error, Result};
use crate::routes::Access;

/// What is known about the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Identity {
    /// The server has no certificate: the caller is whoever reaches the port.
    Unsecured,
}

/// Lets the caller pass, or says why not.
pub(crate) fn check(needed: Access, identity: Identity) -> Result<()> {
    let is_allowed = match (identity, needed) {
        (
            Identity::Unsecured,
            Access::Anyone | Access::ValidUser | Access::Read | Access::ReadWrite | Access::Admin | Access::Operator,
        ) => true,
    };
    if is_allowed { Ok(()) } else { Err(Error::Forbidden(format!("{needed:?} access is needed"))) }
}
