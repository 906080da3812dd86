//! Replacing the certificate of the server by one that a cluster admin sends. The file is replaced as a whole, and loaded as after any
//! other change of it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::SystemTime;

use p12_keystore::{KeyStore, KeyStoreEntry, PrivateKey, PrivateKeyChain};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use super::certificate::{Certificate, Thumbprint, Validity, at};
use super::files::{self, CertificateFiles, Password};

/// Why the certificate was not replaced.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplacementError {
    /// What was sent cannot be used.
    #[error("Unable to load the provided certificate: {0}")]
    Unusable(String),
    /// It is none for this server.
    #[error("The provided certificate {subject} cannot replace that of the server: {reason}")]
    Unfit {
        /// Whose it is.
        subject: String,
        /// As part of a sentence.
        reason: String,
    },
    /// The server does not write these files.
    #[error(
        "The certificate of this server is in the PEM files '{0}' and of its key, which whoever renews them writes. Put the new certificate \
         there: the server loads it within two minutes"
    )]
    PemFiles(String),
    /// The file cannot be written.
    #[error("The certificate was not replaced: '{path}' cannot be written: {source}")]
    Write {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
}

/// A certificate for the server that was found to be fit.
pub(crate) struct Replacement {
    certificate: Certificate,
    /// The certificate, then its issuers.
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Replacement {
    /// Reads what was sent.
    ///
    /// * `pfx`: a PFX file with the private key.
    /// * `password`: of that file.
    ///
    /// # Errors
    ///
    /// [`ReplacementError::Unusable`]
    pub(crate) fn read(pfx: &[u8], password: &Password) -> Result<Replacement, ReplacementError> {
        let unusable = |reason: String| ReplacementError::Unusable(reason);
        let path = Path::new("it");
        let (certificates, key) = files::from_pfx(path, pfx, password).map_err(|error| match error {
            files::CertificateError::Password { .. } => {
                unusable("its password ('Password') is wrong or missing".to_owned())
            }
            error => unusable(error.to_string()),
        })?;
        let provider = files::provider();
        let loaded = provider.key_provider.load_private_key(key.clone_key());
        let loaded = loaded.map_err(|error| unusable(format!("its private key cannot be used for TLS: {error}")))?;
        let chain = files::chain(certificates, &*loaded);
        let chain = chain.ok_or_else(|| unusable("its private key belongs to none of its certificates".to_owned()))?;
        let matched = CertifiedKey::new(chain.clone(), loaded).keys_match();
        matched.map_err(|error| unusable(format!("it cannot be used for TLS: {error}")))?;
        let certificate = chain.first().and_then(|der| Certificate::parse(der));
        let certificate = certificate.ok_or_else(|| unusable("it cannot be read".to_owned()))?;
        Ok(Replacement { certificate, chain, key })
    }

    /// Refuses a certificate that clients would refuse now, or that lacks a host of the present one: they would lose their server.
    ///
    /// # Errors
    ///
    /// [`ReplacementError::Unfit`]
    pub(crate) fn check(&self, present: &Certificate, now: SystemTime) -> Result<(), ReplacementError> {
        let unfit =
            |reason: String| Err(ReplacementError::Unfit { subject: self.certificate.subject().to_owned(), reason });
        match self.certificate.validity_at(now) {
            Validity::Valid => {}
            Validity::NotYet(begin) => return unfit(format!("it is not valid before {}", at(begin))),
            Validity::Expired(end) => return unfit(format!("it has expired at {}", at(end))),
        }
        let has = |host: &str| self.certificate.hosts().iter().any(|own| own.eq_ignore_ascii_case(host));
        match present.hosts().iter().find(|host| !has(host)) {
            Some(host) => unfit(format!("it lacks the host '{host}', under which clients know this server")),
            None => Ok(()),
        }
    }

    /// Writes it in place of the server's certificate, with the password that the settings have. The file is the former or the new one,
    /// also after a crash.
    ///
    /// # Errors
    ///
    /// [`ReplacementError::PemFiles`], [`ReplacementError::Write`]
    pub(crate) fn write(&self, to: &CertificateFiles) -> Result<(), ReplacementError> {
        let (path, password) = match to {
            CertificateFiles::Pfx { path, password } => (path, password),
            CertificateFiles::Pem { certificate, .. } => {
                return Err(ReplacementError::PemFiles(certificate.display().to_string()));
            }
        };
        let pfx = self.pfx(password)?;
        replace_file(path, &pfx).map_err(|source| ReplacementError::Write { path: path.display().to_string(), source })
    }

    fn pfx(&self, password: &Password) -> Result<Vec<u8>, ReplacementError> {
        let unusable = |error: p12_keystore::error::Error| ReplacementError::Unusable(error.to_string());
        let chain: Result<Vec<_>, _> = self.chain.iter().map(|der| p12_keystore::Certificate::from_der(der)).collect();
        let key = PrivateKey::from_der(self.key.secret_der()).map_err(unusable)?;
        let id = Thumbprint::of(&self.chain[0]).to_string();
        let mut store = KeyStore::new();
        let entry = PrivateKeyChain::new(id, key, chain.map_err(unusable)?);
        store.add_entry("rookery", KeyStoreEntry::PrivateKeyChain(entry));
        store.writer(&password.0).write().map_err(unusable)
    }

    /// What was sent.
    pub(crate) fn certificate(&self) -> &Certificate {
        &self.certificate
    }
}

/// Replaces a file as a whole; it keeps its mode. Where `path` is a link, the file that it leads to is replaced.
fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let mode = fs::metadata(&path)?.mode() & 0o777;
    let mut new = path.clone().into_os_string();
    new.push(".new");
    let write = || {
        // What a crash left is of no use.
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(bytes)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.sync_all()?;
        fs::rename(&new, &path)
    };
    if let Err(error) = write() {
        let _ = fs::remove_file(&new);
        return Err(error);
    }
    match path.parent() {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
