//! Tests of TLS: whom the server knows by a certificate, and how a changed certificate comes into use.

use super::*;
use std::net::SocketAddr;
use std::path::Path;
use std::time::UNIX_EPOCH;

use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::client::danger::{ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, SignatureScheme};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::network::peer::Scheme;
use crate::server::{CertificateOptions, Options, Server};

/// Takes any certificate of a server: the tests look at it themselves.
#[derive(Debug)]
struct AnyServer(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

async fn connect(address: SocketAddr) -> TlsStream<TcpStream> {
    let provider = files::provider();
    let verifier = AnyServer(provider.signature_verification_algorithms);
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await.unwrap();
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap()
}

/// The certificate of the server that a connection has seen.
fn seen(stream: &TlsStream<TcpStream>) -> Vec<u8> {
    stream.get_ref().1.peer_certificates().unwrap()[0].to_vec()
}

/// The status of the answer to a request, over a connection that goes on.
async fn status(stream: &mut TlsStream<TcpStream>) -> String {
    stream.write_all(b"GET /build/version HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut answer = [0; 4096];
    let size = stream.read(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[..size]).split(' ').nth(1).unwrap().to_owned()
}

/// Writes a new certificate with its key into one file.
fn write(path: &Path, change: impl FnOnce(&mut CertificateParams)) -> Vec<u8> {
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    change(&mut params);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    // In place of the old file, as programs that renew certificates do.
    let new = path.with_extension("new");
    std::fs::write(&new, format!("{}{}", certificate.pem(), key.serialize_pem())).unwrap();
    std::fs::rename(new, path).unwrap();
    certificate.der().to_vec()
}

#[tokio::test]
async fn a_changed_certificate_is_loaded_and_open_connections_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.pem");
    let first = write(&path, |_| ());
    let server = Server::start(Options {
        addresses: vec![SocketAddr::from(([127, 0, 0, 1], 0))],
        in_memory: true,
        scheme: Scheme::Https,
        certificate: CertificateOptions { pem: Some(path.clone()), ..CertificateOptions::default() },
        ..Options::default()
    })
    .await
    .unwrap();
    let (address, tls) = (server.addresses()[0], server.node.tls.as_ref().unwrap());
    assert!(server.url().starts_with("https://127.0.0.1:"));
    let mut open = connect(address).await;
    assert_eq!(seen(&open), first);
    let before = tls.current();
    tls.reload_if_changed();
    assert!(Arc::ptr_eq(&before, &tls.current()), "nothing has changed");

    let second = write(&path, |_| ());
    assert_eq!(seen(&connect(address).await), first, "it was not looked at yet");
    tls.reload_if_changed();
    assert_eq!(seen(&connect(address).await), second);
    assert_eq!(status(&mut open).await, "200", "an open connection goes on");

    // What cannot be read changes nothing, and is looked at again when it has changed.
    std::fs::write(&path, "nothing").unwrap();
    tls.reload_if_changed();
    assert_eq!(seen(&connect(address).await), second);
    std::fs::remove_file(&path).unwrap();
    tls.reload_if_changed();
    assert_eq!(seen(&connect(address).await), second);
    let third = write(&path, |_| ());
    tls.reload_if_changed();
    assert_eq!(seen(&connect(address).await), third);
}

#[test]
fn a_certificate_that_clients_refuse_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.pem");
    let until = |from: i32, to: (i32, u8)| {
        write(&path, |params| {
            (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(to.0, to.1, 1));
            params.subject_alt_names =
                CertificateParams::new(vec!["*.db.example".into(), "db.example".into()]).unwrap().subject_alt_names;
        });
        let files = CertificateFiles::Pem { certificate: path.clone(), key: path.clone() };
        let tls = Tls::load(files, Vec::new()).unwrap();
        assert_eq!(tls.hosts(), ["db.example"]);
        // In the middle of November 2023.
        let warnings = tls.warnings(UNIX_EPOCH + Duration::from_secs(1_700_000_000));
        warnings.into_iter().filter(|warning| !warning.contains("chmod")).collect::<Vec<_>>().join("\n")
    };
    let warnings = |from, to| until(from, (to, 1));
    assert_eq!(warnings(2020, 2030), "");
    assert!(warnings(2020, 2022).contains("has expired at 2022-01-01T00:00:00.0000000Z; clients refuse it"));
    assert_eq!(warnings(2020, 2024), "");
    assert!(until(2020, (2023, 12)).contains("expires at 2023-12-01T00:00:00.0000000Z"));
    assert!(warnings(2030, 2040).contains("is not valid before 2030-01-01T00:00:00.0000000Z"));
}
