//! The client's side of HTTPS: whom it trusts, and the certificate that it sends.

use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow, ensure};
use rustls::client::ClientConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::sign::SingleCertAndKey;
use rustls::{CertificateError, ClientConnection, RootCertStore};
use server::{CertificateFiles, Password};
use tokio_rustls::TlsConnector;

use super::address::Address;
use super::arguments::ServerArguments;

/// What connections to a server are made with; nothing for one without HTTPS.
#[derive(Clone)]
pub(crate) struct Tls(Option<Arc<ClientConfig>>);

impl Tls {
    /// # Errors
    ///
    /// A file cannot be read, or is no certificate; a certificate for a server without HTTPS.
    pub fn new(address: &Address, server: &ServerArguments) -> anyhow::Result<Tls> {
        if !address.is_https {
            // Sent in clear text it would prove nothing.
            ensure!(
                server.certificate.is_none() && server.ca.is_none() && server.api_key.is_none(),
                "a certificate or an API key was given, and '{}' does not begin with https://",
                server.url
            );
            return Ok(Tls(None));
        }
        let roots = match &server.ca {
            Some(path) => authorities(path).with_context(|| format!("reading the authority in {}", path.display()))?,
            None => system_authorities(),
        };
        let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots);
        let mut config = match &server.certificate {
            Some(path) => {
                let files = CertificateFiles::of(path, Password(server.certificate_password.clone()))?;
                let key = files.certified_key().context("reading the client certificate")?;
                builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(key)))
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls(Some(Arc::new(config))))
    }

    /// The client's half of a connection before its handshake; `None` without HTTPS.
    pub fn connection(&self, address: &Address) -> anyhow::Result<Option<ClientConnection>> {
        let Some(config) = &self.0 else { return Ok(None) };
        Ok(Some(ClientConnection::new(config.clone(), name(address)?)?))
    }

    /// The same for tasks.
    pub fn connector(&self, address: &Address) -> anyhow::Result<Option<(TlsConnector, ServerName<'static>)>> {
        let Some(config) = &self.0 else { return Ok(None) };
        Ok(Some((TlsConnector::from(config.clone()), name(address)?)))
    }

    /// A handshake that failed, in words that say what to do.
    pub fn explain(error: io::Error, address: &Address) -> anyhow::Error {
        use rustls::Error::{InvalidCertificate, InvalidMessage};
        let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
        match cause {
            Some(InvalidCertificate(CertificateError::UnknownIssuer)) => anyhow!(
                "this machine does not trust the authority that signed the server's certificate; name the authority's file with --ca"
            ),
            Some(InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => {
                anyhow!("the server's certificate is not for '{}': {error}", address.host())
            }
            Some(InvalidMessage(_)) => anyhow!("the server does not speak HTTPS; write http:// in its URL"),
            _ => error.into(),
        }
    }
}

fn name(address: &Address) -> anyhow::Result<ServerName<'static>> {
    let host = address.host().to_owned();
    ServerName::try_from(host).with_context(|| format!("'{}' cannot be the host of a certificate", address.host()))
}

fn authorities(path: &Path) -> anyhow::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path)? {
        roots.add(certificate?)?;
    }
    ensure!(!roots.is_empty(), "there is no certificate in PEM form");
    Ok(roots)
}

/// Those that the machine trusts. Single ones that cannot be read are left out, as other programs do.
fn system_authorities() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}
