//! TLS on the server's side: the certificate in use, and who a client is by the one it sends.
//!
//! The server requests a client certificate and does not require it. The handshake takes any certificate whose private key the client
//! proves to have, from whatever issuer; only then is the certificate compared with the trusted ones. So a client without a trusted
//! certificate gets an answer that says why it is refused, in place of an alert.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ServerConfig, ServerSessionMemoryCache};
use rustls::sign::SingleCertAndKey;
use rustls::version::{TLS12, TLS13};
use rustls::{
    CertificateError as TlsCertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme,
};
use subtle::ConstantTimeEq;

use crate::certificates::certificate::{Certificate, TrustedThumbprint, Validity, at};
use crate::certificates::files::{self, CertificateError, CertificateFiles, Stamp};
use crate::certificates::replacement::{Replacement, ReplacementError};
use crate::limits::{CLIENT_CHAIN_SIZE_MAX, TLS_SESSIONS_KEPT_MAX};
use crate::messages::date;
use crate::routing::access::Identity;
use crate::routing::registry::Registry;
use crate::routing::sessions::Sessions;

/// The certificate of the server, which may be replaced while it runs, and the certificates of clients that it knows.
#[derive(Debug)]
pub(crate) struct Tls {
    files: CertificateFiles,
    admins: Vec<TrustedThumbprint>,
    pub(crate) registry: Registry,
    /// Who has signed in to the studio.
    pub(crate) sessions: Sessions,
    current: Mutex<Arc<Current>>,
    /// The files as they were read last, also if that failed.
    stamp: Mutex<Stamp>,
    /// Held while the file is replaced.
    replacing: Mutex<()>,
}

/// How long before its end the log warns of a certificate.
const WARNED_BEFORE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// What a connection is accepted with. It is kept until the connection has made its handshake, whatever is loaded meanwhile.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) own: CertificateDer<'static>,
    pub(crate) certificate: Certificate,
}

impl Tls {
    /// Reads the certificate.
    ///
    /// * `admins`: the thumbprints of certificates that may do everything, beside the server's own.
    ///
    /// The registry is empty, and there are no sessions.
    ///
    /// # Errors
    ///
    /// [`CertificateError`]
    pub(crate) fn load(files: CertificateFiles, admins: Vec<TrustedThumbprint>) -> Result<Tls, CertificateError> {
        // Before the reading, so that a change during it is noticed later.
        let stamp = files.stamp();
        let current = Current::load(&files)?;
        let (registry, sessions) = (Registry::default(), Sessions::default());
        let (current, stamp) = (Mutex::new(Arc::new(current)), Mutex::new(stamp));
        Ok(Tls { files, admins, registry, sessions, current, stamp, replacing: Mutex::default() })
    }

    /// What the next connection is accepted with.
    pub(crate) fn current(&self) -> Arc<Current> {
        self.current.lock().clone()
    }

    /// The hosts of the certificate, without names with a wildcard.
    pub(crate) fn hosts(&self) -> Vec<String> {
        let current = self.current();
        current.certificate.hosts().iter().filter(|host| !host.contains('*')).cloned().collect()
    }

    /// When the certificate expires, in seconds since 1970.
    pub(crate) fn expires(&self) -> i64 {
        self.current().certificate.not_after()
    }

    /// True if every user of the machine may read the private key.
    pub(crate) fn has_open_key(&self) -> bool {
        self.files.mode_warning().is_some()
    }

    /// The thumbprints in the settings, as those have them.
    pub(crate) fn admins(&self) -> &[TrustedThumbprint] {
        &self.admins
    }

    /// What an operator should know of the certificate at `now`.
    pub(crate) fn warnings(&self, now: SystemTime) -> Vec<String> {
        let current = self.current();
        let certificate = &current.certificate;
        let validity = match certificate.validity_at(now) {
            Validity::Valid => match certificate.validity_at(now + WARNED_BEFORE) {
                Validity::Expired(end) => Some(format!("expires at {}", at(end))),
                _ => None,
            },
            Validity::NotYet(begin) => Some(format!("is not valid before {}", at(begin))),
            Validity::Expired(end) => Some(format!("has expired at {}", at(end))),
        };
        let validity = validity.map(|what| {
            format!("the server's certificate {certificate} {what}; clients refuse it outside of its period")
        });
        validity.into_iter().chain(self.files.mode_warning()).collect()
    }

    /// Replaces the certificate in use and its file. Open connections go on with the former one.
    ///
    /// # Errors
    ///
    /// [`ReplacementError`]
    pub(crate) fn replace(&self, replacement: &Replacement, now: SystemTime) -> Result<(), ReplacementError> {
        // One at a time, so that each is compared with the one that it replaces.
        let _replacing = self.replacing.lock();
        replacement.check(&self.current().certificate, now)?;
        replacement.write(&self.files)?;
        self.reload_if_changed();
        Ok(())
    }

    /// Reads the files again if they were changed. If they cannot be read, the certificate in use stays.
    pub(crate) fn reload_if_changed(&self) {
        let stamp = self.files.stamp();
        if std::mem::replace(&mut *self.stamp.lock(), stamp.clone()) == stamp {
            return;
        }
        match Current::load(&self.files) {
            Ok(current) => {
                tracing::info!(certificate = %current.certificate, "the server's certificate was replaced");
                *self.current.lock() = Arc::new(current);
                for warning in self.warnings(SystemTime::now()) {
                    tracing::warn!("{warning}");
                }
            }
            Err(error) => {
                let reason = with_source(&error);
                tracing::warn!(
                    reason,
                    "the server's certificate was changed and cannot be used; the former one stays in use"
                );
            }
        }
    }

    /// When a client loses the rights of its certificate, in seconds since 1970: when that expires, or the registered one with its key.
    pub(crate) fn rights_end(&self, certificate: &Certificate) -> i64 {
        let registered = self.registry.registered(certificate);
        registered.map_or(i64::MAX, |registered| registered.certificate.not_after()).min(certificate.not_after())
    }

    /// Who the client of a connection is.
    ///
    /// * `current`: what the connection was accepted with.
    /// * `certificate`: the one that the client sent, if any. It has proved that it has the private key.
    pub(crate) fn identity(&self, current: &Current, certificate: Option<&Certificate>, now: SystemTime) -> Identity {
        let Some(certificate) = certificate else {
            return Identity::nobody(
                "This server requires a client certificate or an API key, and the client sent none. Give the client a certificate that \
                 the server trusts, or install it in the browser, or sign in to the studio by a key",
            );
        };
        let thumbprint = certificate.thumbprint();
        let is_own = current.certificate.thumbprint().sha256_bytes().ct_eq(thumbprint.sha256_bytes());
        let is_admin = TrustedThumbprint::contains(&self.admins, thumbprint);
        let identity = if bool::from(is_own) | is_admin {
            Identity::cluster_admin()
        } else if let Some(registered) = self.registry.registered(certificate) {
            // A holder of the key can sign a new certificate with it: that must not last longer than what was registered.
            if let Validity::Expired(end) = registered.certificate.validity_at(now) {
                return Identity::bad_certificate(format!(
                    "The client certificate {} has expired at {}. A renewed certificate with the same key has its rights until then. An \
                     operator of the server registers the renewed one",
                    registered.certificate,
                    at(end)
                ));
            }
            Identity::registered(&registered.rights)
        } else {
            return Identity::bad_certificate(format!(
                "The client certificate {certificate} is not known to this server. An operator of the server registers it, or names its \
                 thumbprint in the setting Security.WellKnownCertificates.Admin"
            ));
        };
        match certificate.validity_at(now) {
            Validity::Valid => identity,
            Validity::NotYet(begin) => Identity::bad_certificate(format!(
                "The client certificate {certificate} is not valid before {}. The clock of the server says {}",
                at(begin),
                date::wire(now)
            )),
            Validity::Expired(end) => {
                Identity::bad_certificate(format!("The client certificate {certificate} has expired at {}", at(end)))
            }
        }
    }
}

impl Current {
    fn load(files: &CertificateFiles) -> Result<Current, CertificateError> {
        let provider = files::provider();
        let verifier = AnyCertificate { algorithms: provider.signature_verification_algorithms };
        let certified = files.read(&provider)?;
        let own = certified.end_entity_cert().expect("a chain begins with the certificate of its key");
        let own = CertificateDer::from(own.to_vec());
        let certificate = Certificate::parse(&own).expect("a certificate whose key was found was parsed");
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13, &TLS12])
            .expect("ring has cipher suites for both versions")
            .with_client_cert_verifier(Arc::new(verifier))
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.session_storage = ServerSessionMemoryCache::new(TLS_SESSIONS_KEPT_MAX);
        Ok(Current { config: Arc::new(config), own, certificate })
    }
}

fn with_source(error: &CertificateError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Takes every client certificate of bearable size. That the client has its private key is checked by the signature.
#[derive(Debug)]
struct AnyCertificate {
    algorithms: WebPkiSupportedAlgorithms,
}

impl ClientCertVerifier for AnyCertificate {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    /// None, so that clients do not choose by issuer.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        // Sessions that may be resumed keep them.
        let size: usize = intermediates.iter().map(|der| der.len()).sum::<usize>() + end_entity.len();
        if size > CLIENT_CHAIN_SIZE_MAX || Certificate::parse(end_entity).is_none() {
            return Err(Error::InvalidCertificate(TlsCertificateError::BadEncoding));
        }
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
#[path = "tls_tests.rs"]
mod tests;
