//! The registered certificates as connections look them up: by the hash of what the client sent.
//!
//! It is what the node has stored, read once at the start and again after each change. The change comes first, then this, and then the
//! connections of the certificate are closed, so that no connection goes on with rights that were taken away.

use std::collections::HashMap;

use data_encoding::BASE64;
use database::{Databases, Rights};
use parking_lot::RwLock;

use super::certificate::Thumbprint;

/// Rights by the SHA-256 of the certificate.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    rights: RwLock<HashMap<[u8; 32], Rights>>,
}

impl Registry {
    /// Reads what the node has stored.
    ///
    /// # Errors
    ///
    /// Storage fails. What was read before stays.
    pub(crate) fn load(&self, databases: &Databases) -> database::Result<()> {
        // Held while the node is read: of two changes at once, the one that read first must not write last.
        let mut known = self.rights.write();
        let stored = databases.certificates()?;
        let rights = stored.into_iter().filter_map(|(_, certificate)| {
            let der = BASE64.decode(certificate.certificate.as_bytes()).ok()?;
            Some((*Thumbprint::of(&der).sha256_bytes(), certificate.rights))
        });
        *known = rights.collect();
        Ok(())
    }

    /// What the holders of a certificate may do; `None` if it is not registered.
    pub(crate) fn rights(&self, thumbprint: &Thumbprint) -> Option<Rights> {
        self.rights.read().get(thumbprint.sha256_bytes()).cloned()
    }
}
