//! A server with HTTPS for tests, and clients with certificates of all kinds.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use data_encoding::BASE64;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SerialNumber, date_time_ymd};
use rookery_server::{CertificateOptions, Scheme, Thumbprint, TrustedThumbprint};
use rustls::client::ClientConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::version::TLS13;
use rustls::{ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion};

use super::support::{Answer, Wire, read_answer};

/// A certificate with its private key.
pub struct Pair {
    pub der: CertificateDer<'static>,
    pub key: KeyPair,
}

impl Pair {
    pub fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.key.serialize_der()).into()
    }

    pub fn trusted(&self) -> TrustedThumbprint {
        TrustedThumbprint::parse(&Thumbprint::of(&self.der).to_string()).unwrap()
    }
}

pub fn params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new(vec![name.to_owned(), "127.0.0.1".to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.serial_number = Some(SerialNumber::from(77));
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2120, 1, 1));
    params
}

pub fn self_signed(params: &CertificateParams) -> Pair {
    self_signed_with(KeyPair::generate().unwrap(), params)
}

pub fn self_signed_with(key: KeyPair, params: &CertificateParams) -> Pair {
    Pair { der: params.self_signed(&key).unwrap().der().clone(), key }
}

/// Another certificate for the same key.
pub fn renewed(pair: &Pair, params: &CertificateParams) -> Pair {
    self_signed_with(KeyPair::try_from(pair.key.serialized_der()).unwrap(), params)
}

/// A server with a certificate of an authority, and clients with others.
pub struct Secured {
    pub wire: Wire,
    pub authority: Pair,
    pub server: Pair,
    pub admin: Pair,
    pub expired: Pair,
    pub future: Pair,
    folder: tempfile::TempDir,
}

fn secure(options: &mut rookery_server::Options, pem: PathBuf, admins: &[&Pair]) {
    options.scheme = Scheme::Https;
    options.certificate = CertificateOptions { pem: Some(pem), ..CertificateOptions::default() };
    options.admins = admins.iter().map(|pair| pair.trusted()).collect();
}

impl Secured {
    pub fn start() -> Secured {
        Secured::start_with(|_| ())
    }

    pub fn start_with(change: impl FnOnce(&mut rookery_server::Options)) -> Secured {
        let mut of_authority = params("authority");
        of_authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = self_signed(&of_authority);
        let key = KeyPair::generate().unwrap();
        let issuer = Issuer::from_params(&of_authority, &authority.key);
        let server = Pair { der: params("db.example").signed_by(&key, &issuer).unwrap().der().clone(), key };
        let admin = self_signed(&params("admin"));
        let mut dated = params("admin");
        dated.not_after = date_time_ymd(2021, 1, 1);
        let expired = self_signed(&dated);
        (dated.not_before, dated.not_after) = (date_time_ymd(2110, 1, 1), date_time_ymd(2120, 1, 1));
        let future = self_signed(&dated);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.pem");
        std::fs::write(&path, pem(&server)).unwrap();
        let wire = Wire::start_with(|options| {
            secure(options, path, &[&admin, &expired, &future]);
            change(options);
        });
        Secured { wire, authority, server, admin, expired, future, folder }
    }

    /// Stops the server, and starts one with the databases in a folder.
    pub fn restart(self, data: &Path) -> Secured {
        drop(self.wire);
        let wire = Wire::start_with(|options| {
            secure(options, self.folder.path().join("server.pem"), &[&self.admin]);
            (options.in_memory, options.data_directory) = (false, data.to_owned());
        });
        Secured { wire, ..self }
    }

    /// A client that trusts the authority, and has the certificate of a pair.
    pub fn config(&self, pair: Option<&Pair>, versions: &[&'static SupportedProtocolVersion]) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.der.clone()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots);
        match pair {
            Some(pair) => builder.with_client_auth_cert(vec![pair.der.clone()], pair.private_key()).unwrap(),
            None => builder.with_no_client_auth(),
        }
    }

    pub fn connect(&self, config: &Arc<ClientConfig>) -> StreamOwned<ClientConnection, TcpStream> {
        let name = ServerName::try_from("127.0.0.1").unwrap();
        StreamOwned::new(ClientConnection::new(config.clone(), name).unwrap(), self.wire.connect())
    }

    pub fn call(&self, pair: Option<&Pair>, line: &str, body: &str) -> Answer {
        call(self.connect(&Arc::new(self.config(pair, &[&TLS13]))), line, body).unwrap()
    }

    /// A call of the admin whose certificate the settings name.
    #[track_caller]
    pub fn administer(&self, line: &str, body: &str, status: u16) -> Answer {
        let answer = self.call(Some(&self.admin), line, body);
        assert_eq!(answer.status, status, "{line}: {}", answer.text());
        answer
    }

    /// The answer to a request with an API key.
    pub fn call_with_key(&self, key: &str, line: &str, body: &str) -> Answer {
        let stream = self.connect(&Arc::new(self.config(None, &[&TLS13])));
        call_with(stream, line, &format!("Authorization: Bearer {key}\r\n"), body).unwrap()
    }

    /// Signs in to the studio by an API key: the name and the value of the cookie.
    #[track_caller]
    pub fn sign_in(&self, key: &str) -> String {
        let stream = self.connect(&Arc::new(self.config(None, &[&TLS13])));
        let headers = format!("Authorization: Bearer {key}\r\nOrigin: https://db.example\r\n");
        let answer = call_with(stream, "POST /studio/sign-in", &headers, "").unwrap();
        assert_eq!(answer.status, 204, "{}", answer.text());
        answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
    }

    /// The answer to a request of a page of the studio.
    pub fn call_with_cookie(&self, cookie: &str, line: &str, body: &str) -> Answer {
        let stream = self.connect(&Arc::new(self.config(None, &[&TLS13])));
        call_with(stream, line, &format!("Cookie: {cookie}\r\nSec-Fetch-Site: same-origin\r\n"), body).unwrap()
    }

    /// A new API key.
    ///
    /// * `rights`: `"SecurityClearance":"Operator"` and what else its definition has.
    pub fn key(&self, name: &str, rights: &str) -> String {
        let body = format!(r#"{{"Name":"{name}",{rights}}}"#);
        let answer = self.call(Some(&self.admin), "POST /admin/api-keys", &body);
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json().get("Key").and_then(json::Value::as_str).unwrap().to_owned()
    }

    /// Waits until a client with the operator's certificate is served.
    #[track_caller]
    pub fn serves_again(&self) {
        let config = Arc::new(self.config(Some(&self.admin), &[&TLS13]));
        testing::wait::until_true("a place among the connections is free", || {
            call(self.connect(&config), "GET /databases", "").is_some_and(|answer| answer.status == 200)
        });
    }

    pub fn metric(&self, name: &str) -> u64 {
        let text = self.call(Some(&self.admin), "GET /metrics", "").text();
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().parse().unwrap()
    }
}

pub fn pem(pair: &Pair) -> String {
    let certificate = BASE64.encode(&pair.der);
    format!("-----BEGIN CERTIFICATE-----\n{certificate}\n-----END CERTIFICATE-----\n{}", pair.key.serialize_pem())
}

/// The answer to a request over a stream; `None` if there is none.
pub fn call(stream: impl Read + Write, line: &str, body: &str) -> Option<Answer> {
    call_with(stream, line, "", body)
}

/// The same with more lines in the head.
pub fn call_with(mut stream: impl Read + Write, line: &str, headers: &str, body: &str) -> Option<Answer> {
    let size = body.len();
    let request = format!(
        "{line} HTTP/1.1\r\nHost: db.example\r\n{headers}Connection: close\r\nContent-Length: {size}\r\n\r\n{body}"
    );
    // Head and body at once: the server may refuse by the head, and be gone before the body is sent.
    stream.write_all(request.as_bytes()).ok()?;
    read_answer(&mut BufReader::new(stream), false)
}
