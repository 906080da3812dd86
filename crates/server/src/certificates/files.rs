//! The files of the server's certificate: a PFX file (PKCS #12), or a PEM file of the certificate and one of its private key.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use p12_keystore::Pkcs12Archive;
use p12_keystore::error::Error as Pkcs12Error;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::{CertifiedKey, SigningKey};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::certificate::Certificate;
use super::without_password::{self, Archive};
use crate::limits::{CERTIFICATE_CHAIN_COUNT_MAX, CERTIFICATE_FILE_SIZE_MAX};

/// A password. It is not printed, also not by `{:?}`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(not shown)")
    }
}

/// Where the server's certificate and its private key are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CertificateFiles {
    /// Both are in a PFX file.
    Pfx {
        /// The file.
        path: PathBuf,
        /// Empty if there is none.
        password: Password,
    },
    /// Each is in a PEM file; it may be the same.
    Pem {
        /// The certificate and those of its issuers, in any order.
        certificate: PathBuf,
        /// The private key, not encrypted.
        key: PathBuf,
    },
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The file is not there, or not for us.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// No file of a certificate is so large.
    #[error("{} has more than {} KiB", path.display(), CERTIFICATE_FILE_SIZE_MAX >> 10)]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The password is wrong, or there is none.
    #[error("the password of {} is wrong or missing; it is the setting Security.Certificate.Password", path.display())]
    Password {
        /// The file.
        path: PathBuf,
    },
    /// It is no such file, or damaged, or has an encryption that we do not know.
    #[error("{} is not a {expected}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What it should be.
        expected: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The file has a key alone.
    #[error("{} has no certificate", path.display())]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// The file has certificates alone.
    #[error("{} has no private key", path.display())]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// Only PFX files may have a password.
    #[error(
        "the private key in {} is encrypted; decrypt it ('openssl pkey -in encrypted.key -out server.key'), or use a PFX file with \
         Security.Certificate.Path and Security.Certificate.Password",
        path.display()
    )]
    EncryptedKey {
        /// The file.
        path: PathBuf,
    },
    /// The key belongs to another certificate.
    #[error("the private key in {} belongs to none of the certificates in {}", key.display(), certificate.display())]
    KeyMismatch {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
    /// The kind of the key, or the version of the certificate.
    #[error("{} cannot be used for TLS: {reason}. A certificate has version 3 and a key of RSA (2048 bits or more), P-256, P-384 or Ed25519", path.display())]
    NotSupported {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// What says whether a file was changed: times of writing and of change in seconds and nanoseconds, size, inode. `None`: there is no file.
type FileStamp = Option<(i64, i64, i64, i64, u64, u64)>;

/// The state of the files at some time. Equal ones have the same contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp(Vec<FileStamp>);

impl CertificateFiles {
    /// The files, that of the private key last.
    fn paths(&self) -> Vec<&Path> {
        match self {
            CertificateFiles::Pfx { path, .. } => vec![path],
            CertificateFiles::Pem { certificate, key } => vec![certificate, key],
        }
    }

    /// The file with the private key.
    fn key_path(&self) -> &Path {
        match self {
            CertificateFiles::Pfx { path, .. } => path,
            CertificateFiles::Pem { key, .. } => key,
        }
    }

    /// The state of the files now.
    pub(crate) fn stamp(&self) -> Stamp {
        let of_file = |path: &Path| {
            let file = std::fs::metadata(path).ok()?;
            Some((file.mtime(), file.mtime_nsec(), file.ctime(), file.ctime_nsec(), file.size(), file.ino()))
        };
        Stamp(self.paths().into_iter().map(of_file).collect())
    }

    /// A warning if every user of the machine may read the private key.
    pub(crate) fn mode_warning(&self) -> Option<String> {
        let path = self.key_path();
        let mode = std::fs::metadata(path).ok()?.mode();
        (mode & 0o007 != 0).then(|| {
            let path = path.display();
            format!("the private key in {path} is open to every user of this machine; run: chmod 600 {path}")
        })
    }

    /// A file by its contents: PEM, with certificate and key, or else PFX.
    ///
    /// * `password`: that of a PFX file; empty if there is none.
    ///
    /// # Errors
    ///
    /// [`CertificateError::Read`], [`CertificateError::TooLarge`]
    pub fn of(path: &Path, password: Password) -> Result<CertificateFiles, CertificateError> {
        let path = path.to_owned();
        // Before the first line of PEM there may be words, as `openssl` writes them; PFX begins with a byte that is no text.
        let is_pem = memchr::memmem::find(&read_file(&path)?, b"-----BEGIN ").is_some();
        Ok(match is_pem {
            true => CertificateFiles::Pem { certificate: path.clone(), key: path },
            false => CertificateFiles::Pfx { path, password },
        })
    }

    /// What can be read of the certificates; no key is needed.
    ///
    /// # Errors
    ///
    /// [`CertificateError`]
    pub fn certificates(&self) -> Result<Vec<Certificate>, CertificateError> {
        let path = self.paths()[0];
        let found = match self {
            CertificateFiles::Pfx { password, .. } => open_pfx(path, &read_file(path)?, password)?.certificates,
            CertificateFiles::Pem { .. } => pem_certificates(path, &read_file(path)?)?,
        };
        let parsed = found.iter().map(|der| {
            Certificate::parse(der).ok_or_else(|| CertificateError::Malformed {
                path: path.to_owned(),
                expected: "file of certificates",
                reason: "one of them cannot be read".to_owned(),
            })
        });
        parsed.collect()
    }

    /// The certificate in a file of any form, in DER, without what else the file has.
    ///
    /// * `password`: that of a PFX file.
    ///
    /// # Errors
    ///
    /// [`CertificateError::Read`], [`CertificateError::TooLarge`], [`CertificateError::Malformed`]
    pub fn certificate_alone(path: &Path, password: &Password) -> Result<Vec<u8>, CertificateError> {
        let der = certificate_in(&read_file(path)?, password).map_err(|reason| CertificateError::Malformed {
            path: path.to_owned(),
            expected: "file with a certificate",
            reason,
        })?;
        Ok(der.to_vec())
    }

    /// Certificate, issuers and key, for a client.
    ///
    /// # Errors
    ///
    /// [`CertificateError`]
    pub fn certified_key(&self) -> Result<CertifiedKey, CertificateError> {
        self.read(&provider())
    }

    /// Reads certificate, issuers and key.
    ///
    /// # Errors
    ///
    /// [`CertificateError`]
    pub(crate) fn read(&self, provider: &CryptoProvider) -> Result<CertifiedKey, CertificateError> {
        let (certificates, key) = match self {
            CertificateFiles::Pfx { path, password } => from_pfx(path, &read_file(path)?, password)?,
            CertificateFiles::Pem { certificate, key } => {
                (pem_certificates(certificate, &read_file(certificate)?)?, pem_key(key, &read_file(key)?)?)
            }
        };
        let not_supported = |error: rustls::Error| CertificateError::NotSupported {
            path: self.key_path().to_owned(),
            reason: error.to_string(),
        };
        let key = provider.key_provider.load_private_key(key).map_err(not_supported)?;
        let chain = chain(certificates, &*key).ok_or_else(|| CertificateError::KeyMismatch {
            certificate: self.paths()[0].to_owned(),
            key: self.key_path().to_owned(),
        })?;
        let certified = CertifiedKey::new(chain, key);
        certified.keys_match().map_err(|error| CertificateError::NotSupported {
            path: self.paths()[0].to_owned(),
            reason: error.to_string(),
        })?;
        Ok(certified)
    }
}

fn read_error(path: &Path, source: io::Error) -> CertificateError {
    CertificateError::Read { path: path.to_owned(), source }
}

fn read_file(path: &Path) -> Result<Vec<u8>, CertificateError> {
    let file = File::open(path).map_err(|source| read_error(path, source))?;
    let mut bytes = Vec::new();
    file.take(CERTIFICATE_FILE_SIZE_MAX + 1).read_to_end(&mut bytes).map_err(|source| read_error(path, source))?;
    if bytes.len() as u64 > CERTIFICATE_FILE_SIZE_MAX {
        return Err(CertificateError::TooLarge { path: path.to_owned() });
    }
    Ok(bytes)
}

/// The certificate in DER, PEM or PFX: that of the first key, or else the first one.
///
/// * `password`: that of a PFX file.
///
/// # Errors
///
/// What is wrong, as part of a sentence.
pub(crate) fn certificate_in(bytes: &[u8], password: &Password) -> Result<CertificateDer<'static>, String> {
    if Certificate::parse(bytes).is_some() {
        return Ok(CertificateDer::from(bytes.to_vec()));
    }
    let path = Path::new("it");
    if memchr::memmem::find(bytes, b"-----BEGIN ").is_some() {
        let certificates = pem_certificates(path, bytes).map_err(|error| error.to_string())?;
        return Ok(certificates.into_iter().next().expect("a file without certificates is refused"));
    }
    let Archive { certificates, keys } = open_pfx(path, bytes, password).map_err(|error| match error {
        CertificateError::Password { .. } => "its password ('Password') is wrong or missing".to_owned(),
        error => error.to_string(),
    })?;
    let key = keys.into_iter().next().map(|key| PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key)));
    let key = key.and_then(|key| provider().key_provider.load_private_key(key).ok());
    let of_key = key.and_then(|key| chain(certificates.clone(), &*key)).and_then(|chain| chain.into_iter().next());
    let first = of_key.or_else(|| certificates.into_iter().next());
    Ok(first.expect("an archive without certificates is refused"))
}

type CertificatesAndKey = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// The certificates and the first key of a PFX file.
pub(crate) fn from_pfx(path: &Path, bytes: &[u8], password: &Password) -> Result<CertificatesAndKey, CertificateError> {
    let Archive { certificates, keys } = open_pfx(path, bytes, password)?;
    let key = keys.into_iter().next().ok_or_else(|| CertificateError::NoKey { path: path.to_owned() })?;
    Ok((certificates, PrivatePkcs8KeyDer::from(key).into()))
}

fn open_pfx(path: &Path, bytes: &[u8], password: &Password) -> Result<Archive, CertificateError> {
    if password.0.is_empty()
        && let Some(archive) = without_password::open(bytes)
    {
        return checked(path, archive);
    }
    let archive = Pkcs12Archive::from_pkcs12(bytes, &password.0).map_err(|error| match error {
        // The MAC is of the password, and what is decrypted with a wrong one does not end as it should.
        Pkcs12Error::MacError(_) | Pkcs12Error::UnpadError | Pkcs12Error::Pkcs5Error(_) => {
            CertificateError::Password { path: path.to_owned() }
        }
        error => CertificateError::Malformed { path: path.to_owned(), expected: "PFX file", reason: error.to_string() },
    })?;
    let certificates = archive.certs.iter().map(|bag| CertificateDer::from(bag.cert.as_der().to_vec())).collect();
    let keys = archive.keys.iter().map(|bag| bag.key.as_der().to_vec()).collect();
    checked(path, Archive { certificates, keys })
}

fn checked(path: &Path, archive: Archive) -> Result<Archive, CertificateError> {
    match archive.certificates.is_empty() {
        true => Err(CertificateError::NoCertificate { path: path.to_owned() }),
        false => Ok(archive),
    }
}

/// The certificates of a PEM file.
pub(crate) fn pem_certificates(path: &Path, bytes: &[u8]) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(bytes).collect();
    let certificates = certificates.map_err(|error| CertificateError::Malformed {
        path: path.to_owned(),
        expected: "PEM file",
        reason: error.to_string(),
    })?;
    if certificates.is_empty() {
        return Err(CertificateError::NoCertificate { path: path.to_owned() });
    }
    Ok(certificates)
}

/// The first private key of a PEM file.
pub(crate) fn pem_key(path: &Path, bytes: &[u8]) -> Result<PrivateKeyDer<'static>, CertificateError> {
    use rustls::pki_types::pem::Error;
    PrivateKeyDer::from_pem_slice(bytes).map_err(|error| match error {
        Error::NoItemsFound if memchr::memmem::find(bytes, b"ENCRYPTED").is_some() => {
            CertificateError::EncryptedKey { path: path.to_owned() }
        }
        Error::NoItemsFound => CertificateError::NoKey { path: path.to_owned() },
        error => CertificateError::Malformed { path: path.to_owned(), expected: "PEM file", reason: error.to_string() },
    })
}

/// The certificate of `key`, then its issuer, and so on. The root is left out: clients that trust it have it. `None` if there is no
/// certificate of the key.
pub(crate) fn chain(
    certificates: Vec<CertificateDer<'static>>,
    key: &dyn SigningKey,
) -> Option<Vec<CertificateDer<'static>>> {
    let public_key = key.public_key()?;
    let parsed = |der: &'_ CertificateDer<'static>| {
        X509Certificate::from_der(der).ok().map(|(_, certificate)| {
            let (subject, issuer) = (certificate.subject().as_raw().to_vec(), certificate.issuer().as_raw().to_vec());
            (certificate.public_key().raw.to_vec(), subject, issuer)
        })
    };
    let all: Vec<_> = certificates.iter().map(|der| (der, parsed(der))).collect();
    let (leaf, facts) = all.iter().find_map(|(der, facts)| {
        let facts = facts.as_ref().filter(|(of_key, ..)| of_key.as_slice() == public_key.as_ref())?;
        Some((*der, facts))
    })?;
    let (mut chain, mut issuer) = (vec![leaf.clone()], &facts.2);
    while chain.len() < CERTIFICATE_CHAIN_COUNT_MAX
        && let Some((der, (_, subject, next))) = all.iter().find_map(|(der, facts)| {
            let facts = facts.as_ref().filter(|(_, subject, _)| subject == issuer && !chain.contains(der))?;
            Some((*der, facts))
        })
        && subject != next
    {
        chain.push(der.clone());
        issuer = next;
    }
    Some(chain)
}

/// Reads bytes as files of each kind, for `crates/fuzzing`.
#[cfg(feature = "fuzzing")]
pub(crate) fn read_bytes(bytes: &[u8]) {
    let path = Path::new("x");
    let usable = |read: Result<CertificatesAndKey, CertificateError>| {
        let (certificates, key) = read.ok()?;
        let key = provider().key_provider.load_private_key(key).ok()?;
        chain(certificates, &*key)
    };
    for password in ["", "secret"] {
        usable(from_pfx(path, bytes, &Password(password.to_owned())));
    }
    let certificates = pem_certificates(path, bytes);
    usable(certificates.and_then(|certificates| Ok((certificates, pem_key(path, bytes)?))));
}

/// The provider of cryptography: `ring`, and no other is linked.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
