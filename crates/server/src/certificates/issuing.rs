//! Making certificates: a private authority, and the certificates of a server and of its clients that the authority signs.
//!
//! The keys that an authority signs are of P-256 (ECDSA): every published client takes them as PFX files, and a handshake costs the
//! server a tenth of one with RSA. A certificate that the server makes on request has an RSA key: in PEM files the clients for Node.js and
//! Java read no others.

use std::fmt::Display;
use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use p12_keystore::{KeyStore, KeyStoreEntry, PrivateKey, PrivateKeyChain};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_RSA_SHA256, date_time_ymd,
};
use rsa::pkcs1::EncodeRsaPrivateKey;
use rsa::pkcs8::{EncodePrivateKey, LineEnding};

use super::certificate::Thumbprint;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How long an authority is valid, in days.
const AUTHORITY_DAYS: u32 = 3650;

/// Bits of the modulus of an RSA key.
const RSA_BITS: usize = 2048;

/// The longest validity period that one can ask for, in days.
pub const VALIDITY_DAYS_MAX: u32 = 36_500;

/// The longest common name, in characters (RFC 5280, `ub-common-name`).
const COMMON_NAME_LENGTH_MAX: usize = 64;

/// Why a certificate cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum IssueError {
    /// The name of a server is neither a DNS name nor an address.
    #[error("'{0}' is neither a host name nor an IP address")]
    Host(String),
    /// The name of a client or an authority.
    #[error(
        "'{0}' cannot be the name of a certificate: it has 1 to {COMMON_NAME_LENGTH_MAX} characters, and no control characters"
    )]
    Name(String),
    /// The validity period.
    #[error("a certificate is valid for 1 to {VALIDITY_DAYS_MAX} days")]
    Days,
    /// The files of the authority are damaged, or are not those of an authority.
    #[error("the certificate and the key of the authority cannot be used: {0}")]
    Authority(String),
    /// Whatever else the library refuses.
    #[error("making a certificate: {0}")]
    Failed(String),
}

impl From<rcgen::Error> for IssueError {
    fn from(error: rcgen::Error) -> IssueError {
        IssueError::Failed(error.to_string())
    }
}

/// A private certificate authority.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate that was made, with its private key.
pub struct Issued {
    certificate: rcgen::Certificate,
    key: KeyPair,
    key_pem: String,
}

impl Authority {
    /// Makes an authority.
    ///
    /// * `name`: its common name, which browsers and `openssl` show.
    ///
    /// # Errors
    ///
    /// [`IssueError::Name`]
    pub fn create(name: &str) -> Result<(Authority, Issued), IssueError> {
        let mut params = params(name, &[], AUTHORITY_DAYS)?;
        // It signs certificates of servers and clients, and no other authority.
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate()?;
        let issued = Issued::with_key(params.self_signed(&key)?, key);
        Ok((Authority::from_pem(&issued.certificate_pem(), &issued.key_pem())?, issued))
    }

    /// An authority that was made before.
    ///
    /// # Errors
    ///
    /// [`IssueError::Authority`]
    pub fn from_pem(certificate: &str, key: &str) -> Result<Authority, IssueError> {
        let refused = |error: rcgen::Error| IssueError::Authority(error.to_string());
        let key = KeyPair::from_pem(key).map_err(refused)?;
        Ok(Authority { issuer: Issuer::from_ca_cert_pem(certificate, key).map_err(refused)? })
    }

    /// Makes the certificate of a server.
    ///
    /// * `hosts`: the DNS names and IP addresses by which clients reach it. The first one is its common name.
    /// * `days`: how long it is valid.
    ///
    /// # Errors
    ///
    /// [`IssueError::Host`], [`IssueError::Days`]
    pub fn server(&self, hosts: &[String], days: u32) -> Result<Issued, IssueError> {
        if let Some(host) = hosts.iter().find(|host| !is_host(host)) {
            return Err(IssueError::Host(host.clone()));
        }
        let name = hosts.first().map_or("server", String::as_str);
        let mut params = params(&name.chars().take(COMMON_NAME_LENGTH_MAX).collect::<String>(), hosts, days)?;
        // The server's certificate is that of an operator, too, so clients may send it.
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    /// Makes the certificate of a client.
    ///
    /// * `name`: its common name, which the log of the server and browsers show.
    /// * `days`: how long it is valid.
    ///
    /// # Errors
    ///
    /// [`IssueError::Name`], [`IssueError::Days`]
    pub fn client(&self, name: &str, days: u32) -> Result<Issued, IssueError> {
        let mut params = params(name, &[], days)?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    fn sign(&self, mut params: CertificateParams) -> Result<Issued, IssueError> {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        Ok(Issued::with_key(params.signed_by(&key, &self.issuer)?, key))
    }
}

impl Issued {
    fn with_key(certificate: rcgen::Certificate, key: KeyPair) -> Issued {
        Issued { certificate, key_pem: key.serialize_pem(), key }
    }

    /// Makes the certificate of a client that no authority signs: the server knows it by its thumbprint. Its key is of RSA.
    ///
    /// * `not_after`: the end of its validity.
    ///
    /// # Errors
    ///
    /// [`IssueError::Name`], [`IssueError::Days`]
    pub(crate) fn client(name: &str, not_after: SystemTime) -> Result<Issued, IssueError> {
        let name: String = name.chars().take(COMMON_NAME_LENGTH_MAX).collect();
        let mut params = params(&name, &[], 1)?;
        let end = not_after.duration_since(UNIX_EPOCH).unwrap_or_default();
        if not_after > SystemTime::now() + DAY * VALIDITY_DAYS_MAX {
            return Err(IssueError::Days);
        }
        params.not_after = date_time_ymd(1970, 1, 1) + end;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let failed = |error: &dyn Display| IssueError::Failed(error.to_string());
        let rsa = rsa::PrivateKey::new(&mut getrandom::SysRng, RSA_BITS).map_err(|error| failed(&error))?;
        let pkcs8 = rsa.to_pkcs8_der().map_err(|error| failed(&error))?;
        let key = KeyPair::from_pkcs8_der_and_sign_algo(&pkcs8.as_bytes().into(), &PKCS_RSA_SHA256)?;
        let key_pem = rsa.to_pkcs1_pem(LineEnding::LF).map_err(|error| failed(&error))?.as_str().to_owned();
        Ok(Issued { certificate: params.self_signed(&key)?, key, key_pem })
    }

    /// The certificate in DER.
    pub fn der(&self) -> &[u8] {
        self.certificate.der()
    }

    /// The certificate in PEM.
    pub fn certificate_pem(&self) -> String {
        self.certificate.pem()
    }

    /// The private key in PEM, not encrypted: in PKCS #8, or in PKCS #1 if it is of RSA.
    pub fn key_pem(&self) -> String {
        self.key_pem.clone()
    }

    /// Its thumbprint.
    pub fn thumbprint(&self) -> Thumbprint {
        Thumbprint::of(self.certificate.der())
    }

    /// Certificate and key as a PFX file (PKCS #12).
    ///
    /// * `password`: empty for none. The key is encrypted with AES-256 under PBKDF2.
    ///
    /// # Errors
    ///
    /// [`IssueError::Failed`]
    pub fn pfx(&self, password: &str) -> Result<Vec<u8>, IssueError> {
        let failed = |error: p12_keystore::error::Error| IssueError::Failed(error.to_string());
        let certificate = p12_keystore::Certificate::from_der(self.certificate.der()).map_err(failed)?;
        let key = PrivateKey::from_der(&self.key.serialize_der()).map_err(failed)?;
        let chain = PrivateKeyChain::new(self.thumbprint().to_string(), key, [certificate]);
        let mut store = KeyStore::new();
        store.add_entry("rookery", KeyStoreEntry::PrivateKeyChain(chain));
        store.writer(password).write().map_err(failed)
    }
}

fn params(name: &str, hosts: &[String], days: u32) -> Result<CertificateParams, IssueError> {
    if name.is_empty() || name.chars().count() > COMMON_NAME_LENGTH_MAX || name.chars().any(char::is_control) {
        return Err(IssueError::Name(name.chars().take(COMMON_NAME_LENGTH_MAX + 1).collect()));
    }
    if days == 0 || days > VALIDITY_DAYS_MAX {
        return Err(IssueError::Days);
    }
    let mut params = CertificateParams::new(hosts)?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let epoch = date_time_ymd(1970, 1, 1);
    // Clocks of other machines may be slow.
    params.not_before = epoch + now.saturating_sub(DAY);
    params.not_after = epoch + now + DAY * days;
    Ok(params)
}

/// True for IP addresses and for DNS names, whose first part may be `*`.
fn is_host(host: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let name = host.strip_prefix("*.").unwrap_or(host);
    // A name whose last part is digits is a mistyped address.
    let is_name = name.len() <= 253
        && name.split('.').all(is_label)
        && !name.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    host.parse::<IpAddr>().is_ok() || is_name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificates::certificate::{Certificate, Validity};
    use crate::certificates::files::{CertificateFiles, Password, provider};

    fn check_pair(issued: &Issued, password: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("x.pfx"), issued.pfx(password).unwrap()).unwrap();
        std::fs::write(path("x.crt"), issued.certificate_pem()).unwrap();
        std::fs::write(path("x.key"), issued.key_pem()).unwrap();
        let pfx = CertificateFiles::Pfx { path: path("x.pfx"), password: Password(password.to_owned()) };
        let pem = CertificateFiles::Pem { certificate: path("x.crt"), key: path("x.key") };
        for files in [pfx, pem] {
            let read = files.read(&provider()).unwrap();
            assert_eq!(read.cert, [issued.certificate.der().clone()]);
        }
    }

    #[test]
    fn certificates_of_servers_and_clients_are_read_back_from_pfx_and_pem() {
        let (authority, _) = Authority::create("Test").unwrap();
        let hosts = ["db.example", "*.db.example", "10.1.2.3", "::1"].map(str::to_owned);
        let server = authority.server(&hosts, 30).unwrap();
        let certificate = Certificate::parse(server.certificate.der()).unwrap();
        assert_eq!(certificate.hosts(), hosts);
        let now = SystemTime::now();
        assert_eq!(certificate.validity_at(now), Validity::Valid);
        assert_eq!(certificate.validity_at(now + 29 * DAY), Validity::Valid);
        assert!(matches!(certificate.validity_at(now + 31 * DAY), Validity::Expired(_)));
        let client = authority.client("Ünï app", 1).unwrap();
        for password in ["", "secret Ü"] {
            check_pair(&server, password);
            check_pair(&client, password);
        }
        assert_ne!(client.thumbprint(), server.thumbprint());
    }

    #[test]
    fn an_authority_that_was_saved_signs_what_clients_of_it_trust() {
        let (_, saved) = Authority::create("Test").unwrap();
        let authority = Authority::from_pem(&saved.certificate_pem(), &saved.key_pem()).unwrap();
        let server = authority.server(&["db.example".to_owned()], 30).unwrap();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(saved.certificate.der().clone()).unwrap();
        let verifier =
            rustls::client::WebPkiServerVerifier::builder_with_provider(roots.into(), provider()).build().unwrap();
        let verify = |name: &str| {
            use rustls::client::danger::ServerCertVerifier;
            let name = rustls::pki_types::ServerName::try_from(name.to_owned()).unwrap();
            verifier.verify_server_cert(server.certificate.der(), &[], &name, &[], rustls::pki_types::UnixTime::now())
        };
        verify("db.example").unwrap();
        verify("other.example").unwrap_err();
    }

    #[test]
    fn what_cannot_be_a_certificate_is_refused_by_name() {
        let (authority, saved) = Authority::create("Test").unwrap();
        for host in
            ["", "a b", "db..example", "-a", "a-", "1.2.3", "256.1.1.1", "ü.example", "*", "a.*.b", &"a".repeat(64)]
        {
            let error = authority.server(&["ok".to_owned(), host.to_owned()], 30).err().map(|error| error.to_string());
            assert_eq!(error, Some(format!("'{host}' is neither a host name nor an IP address")));
        }
        for name in ["", "a\nb", &"x".repeat(65)] {
            assert!(matches!(authority.client(name, 30), Err(IssueError::Name(_))), "{name}");
        }
        for days in [0, VALIDITY_DAYS_MAX + 1] {
            assert!(matches!(authority.client("a", days), Err(IssueError::Days)));
        }
        for (certificate, key) in [("", saved.key_pem()), (&saved.certificate_pem(), String::new())] {
            assert!(matches!(Authority::from_pem(certificate, &key), Err(IssueError::Authority(_))));
        }
    }
}
