//! HTTPS: who is let in by which certificate, what the handshake refuses, and what it survives.

use std::io::{BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rookery_server::{Scheme, StartError, TrustedThumbprint};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustls::client::{ResolvesClientCert, Resumption};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::ServerName;
use rustls::sign::CertifiedKey;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConnection, HandshakeKind, SignatureScheme, StreamOwned};

use super::secured::{Secured, call, params, pem, self_signed};
use super::support::read_answer;

#[test]
fn an_operator_by_certificate_does_everything() {
    let secured = Secured::start();
    for (pair, name) in [(&secured.admin, "a"), (&secured.server, "b")] {
        let body = format!("{{\"DatabaseName\":\"{name}\"}}");
        let answer = secured.call(Some(pair), &format!("PUT /admin/databases?name={name}"), &body);
        assert_eq!(answer.status, 201, "{}", answer.text());
        let large = format!("{{\"Text\":\"{}\"}}", "x".repeat(3 << 20));
        assert_eq!(secured.call(Some(pair), &format!("PUT /databases/{name}/docs?id=a"), &large).status, 201);
        let answer = secured.call(Some(pair), &format!("GET /databases/{name}/docs?id=a"), "");
        assert!(answer.text().contains(&large[2..large.len() - 1]));
        // Clients are led to HTTPS, by the name in the certificate that they used.
        let topology = secured.call(Some(pair), &format!("GET /topology?name={name}"), "").text();
        assert!(topology.contains("\"https://db.example\""), "{topology}");
    }
    assert!(secured.metric("rookery_tls_handshakes_total ") >= 9);
    assert_eq!(secured.metric("rookery_tls_handshakes_failed_total "), 0);
    // The first of January 2120.
    assert_eq!(secured.metric("rookery_certificate_expires_seconds "), 4_733_510_400);
}

#[test]
fn a_client_without_a_trusted_certificate_gets_the_reason() {
    let secured = Secured::start_with(|options| options.limits.failed_attempt_count = 1_000);
    secured.call(Some(&secured.admin), "PUT /admin/databases?name=db", "{\"DatabaseName\":\"db\"}");
    // Name, serial number and period are those of the operator's certificate.
    let twin = self_signed(&params("admin"));
    let stranger = self_signed(&params("stranger"));
    for (pair, reason) in [
        (None, "requires a client certificate or an API key, and the client sent none"),
        (Some(&stranger), "'CN=stranger' (thumbprint "),
        (Some(&twin), ") is not known to this server"),
        (Some(&secured.authority), ") is not known to this server"),
        (Some(&secured.expired), ") has expired at 2021-01-01T00:00:00.0000000Z"),
        (Some(&secured.future), ") is not valid before 2110-01-01T00:00:00.0000000Z"),
    ] {
        assert_eq!(secured.call(pair, "GET /build/version", "").status, 200, "{reason}");
        for (line, body) in [
            ("GET /databases", ""),
            ("GET /databases/db/stats", ""),
            ("GET /databases/none/stats", ""),
            ("PUT /databases/db/docs?id=a", "{}"),
            ("POST /databases/db/multi_get", "{\"Requests\":[{\"Url\":\"/databases/db/stats\"}]}"),
            ("GET /topology?name=db", ""),
            ("GET /metrics", ""),
            ("POST /mcp", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"),
        ] {
            let answer = secured.call(pair, line, body);
            answer.check_error(403, "InvalidAuth", "");
            assert!(answer.text().contains(reason), "{line}: {}", answer.text());
        }
    }
    assert!(secured.call(None, "GET /databases", "").text().contains("\"Message\":\"This server requires"));
}

/// Sends a certificate and signs with another key.
#[derive(Debug)]
struct Thief(Arc<CertifiedKey>);

impl ResolvesClientCert for Thief {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(self.0.clone())
    }

    fn has_certs(&self) -> bool {
        true
    }
}

#[test]
fn a_certificate_without_its_key_gets_no_connection() {
    let secured = Secured::start();
    let other = default_provider().key_provider.load_private_key(self_signed(&params("x")).private_key()).unwrap();
    for version in [&TLS13, &TLS12] {
        let mut config = secured.config(None, &[version]);
        let stolen = CertifiedKey::new(vec![secured.admin.der.clone()], other.clone());
        config.client_auth_cert_resolver = Arc::new(Thief(Arc::new(stolen)));
        assert!(call(secured.connect(&Arc::new(config)), "GET /databases", "").is_none(), "{version:?}");
    }
    assert_eq!(secured.metric("rookery_tls_handshakes_failed_total "), 2);
}

#[test]
fn tls_1_2_and_1_3_with_http_1_1_are_spoken() {
    let secured = Secured::start();
    for version in [&TLS13, &TLS12] {
        let mut config = secured.config(Some(&secured.admin), &[version]);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let mut stream = secured.connect(&Arc::new(config));
        assert_eq!(call(&mut stream, "GET /databases", "").unwrap().status, 200);
        assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
        assert_eq!(stream.conn.protocol_version(), Some(version.version));
    }
    let mut config = secured.config(Some(&secured.admin), &[&TLS13]);
    config.alpn_protocols = vec![b"h2".to_vec()];
    assert!(call(secured.connect(&Arc::new(config)), "GET /databases", "").is_none());
}

#[test]
fn a_resumed_session_has_the_same_identity() {
    let secured = Secured::start();
    for version in [&TLS13, &TLS12] {
        for (pair, status) in [(Some(&secured.admin), 200), (Some(&secured.expired), 403), (None, 403)] {
            let mut config = secured.config(pair, &[version]);
            config.resumption = Resumption::in_memory_sessions(4);
            let config = Arc::new(config);
            let mut kinds = Vec::new();
            for _ in 0..2 {
                let mut stream = secured.connect(&config);
                assert_eq!(call(&mut stream, "GET /databases", "").unwrap().status, status);
                kinds.push(stream.conn.handshake_kind());
            }
            assert_eq!(kinds, [Some(HandshakeKind::Full), Some(HandshakeKind::Resumed)], "{version:?}");
        }
    }
}

/// A record of TLS with a greeting (RFC 5246, 7.4.1.2) whose highest version is `version`: TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, P-256.
fn greeting(version: [u8; 2]) -> Vec<u8> {
    let extensions: [&[u8]; 3] = [
        &[0, 10, 0, 4, 0, 2, 0, 23], // supported_groups: secp256r1
        &[0, 11, 0, 2, 1, 0],        // ec_point_formats: uncompressed
        &[0, 13, 0, 4, 0, 2, 4, 3],  // signature_algorithms: ecdsa_secp256r1_sha256
    ];
    let extensions = extensions.concat();
    let mut body = version.to_vec();
    body.extend([7; 32]);
    body.extend([0, 0, 2, 0xc0, 0x2b, 1, 0, 0, extensions.len() as u8]);
    body.extend(extensions);
    let mut record = vec![22, 3, 1, 0, body.len() as u8 + 4, 1, 0, 0, body.len() as u8];
    record.extend(body);
    record
}

#[test]
fn older_versions_get_an_alert() {
    let secured = Secured::start();
    let answer = |version| {
        let mut stream = secured.wire.connect();
        stream.write_all(&greeting(version)).unwrap();
        let mut answer = [0; 7];
        stream.read_exact(&mut answer).unwrap();
        answer
    };
    for version in [[3, 0], [3, 1], [3, 2]] {
        // A fatal alert: protocol_version (RFC 5246, 7.2.2).
        let answer = answer(version);
        assert!(answer[0] == 21 && answer[5..] == [2, 70], "{version:?}: {answer:?}");
    }
    assert_eq!(secured.metric("rookery_tls_handshakes_failed_total "), 3);
    // The same with TLS 1.2 gets a greeting back.
    assert_eq!(answer([3, 3])[0], 22);
}

#[test]
fn a_handshake_that_fails_or_stalls_frees_its_place() {
    let secured = Secured::start_with(|options| {
        options.limits.connection_count = 1;
        options.limits.header_deadline = Duration::from_secs(1);
    });
    let greeting = greeting([3, 3]);
    let garbage: Vec<u8> = (0..255).rev().collect();
    for (sent, ends) in [
        (&garbage[..], false),
        (b"\x16\x03\x01\xff\xff0123", false),
        (&greeting[..20], true),
        (&greeting[..20], false),
        (&greeting[..1], false),
        (b"", true),
        // Stays connected and says nothing.
        (b"", false),
    ] {
        let mut stream = secured.wire.connect();
        stream.write_all(sent).unwrap();
        if ends {
            stream.shutdown(std::net::Shutdown::Write).unwrap();
        }
        // Whatever comes is an alert, or nothing; the server ends the connection.
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty() || answer[0] == 21, "{sent:?}: {answer:?}");
        drop(stream);
        secured.serves_again();
    }
}

/// Many clients of one address begin a handshake and say no more. A client that is connected does not notice, one of another address gets
/// in, and when the others are gone there is room for all.
#[test]
fn half_open_handshakes_leave_room_for_others() {
    testing::process::alone(|| {
        // With `SLOW=1` as many as there are places by default. Those that the server keeps take two descriptors of this process.
        let count = testing::effort::choose(400, 10_000);
        let limit = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
        let secured = Secured::start_with(|options| {
            options.limits.connection_count = count as usize;
            options.limits.header_deadline = Duration::from_secs(3600);
        });
        let config = Arc::new(secured.config(Some(&secured.admin), &[&TLS13]));
        let mut connected = BufReader::new(secured.connect(&config));
        let mut is_served = || {
            connected.get_mut().write_all(b"GET /databases HTTP/1.1\r\nHost: db.example\r\n\r\n").unwrap();
            assert_eq!(read_answer(&mut connected, false).unwrap().status, 200);
        };
        let greeting = greeting([3, 3]);
        let held: Vec<TcpStream> = (0..count)
            .map(|number| {
                let mut stream = secured.wire.connect();
                // The server closes those that are too many.
                let _ = stream.write_all(&greeting[..20]);
                if number % (count / 20) == 0 {
                    is_served();
                }
                stream
            })
            .collect();
        let other = {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let connecting = async {
                let socket = tokio::net::TcpSocket::new_v4().unwrap();
                socket.bind((Ipv4Addr::new(127, 0, 0, 2), 0).into()).unwrap();
                socket.connect(secured.wire.address).await.unwrap().into_std().unwrap()
            };
            let stream = runtime.block_on(connecting);
            stream.set_nonblocking(false).unwrap();
            stream.set_read_timeout(Some(testing::wait::LONG)).unwrap();
            stream
        };
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let other = StreamOwned::new(ClientConnection::new(config.clone(), name).unwrap(), other);
        let metrics = call(other, "GET /metrics", "").expect("a client of another address gets in").text();
        let open = metrics.lines().find_map(|line| line.strip_prefix("rookery_connections_open ")).unwrap();
        let open: u64 = open.parse().unwrap();
        assert!(open > count / 2 && open <= count / 2 + count / 8 + 8, "{open} connections of {count}");
        is_served();
        drop(held);
        secured.serves_again();
    });
}

#[test]
fn a_request_in_clear_text_is_sent_to_https() {
    let secured = Secured::start();
    for body in ["", &"x".repeat(100_000)] {
        let answer = call(secured.wire.connect(), "POST /databases", body).unwrap();
        assert_eq!(answer.status, 400);
        assert!(answer.text().contains("https://"), "{}", answer.text());
    }
    assert_eq!(secured.metric("rookery_tls_handshakes_failed_total "), 2);
}

#[test]
fn the_changes_socket_works_over_tls() {
    let secured = Secured::start();
    secured.call(Some(&secured.admin), "PUT /admin/databases?name=db", "{\"DatabaseName\":\"db\"}");
    let head = "GET /databases/db/changes HTTP/1.1\r\nHost: db.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let refused = {
        let mut stream = secured.connect(&Arc::new(secured.config(None, &[&TLS13])));
        stream.write_all(head.as_bytes()).unwrap();
        read_answer(&mut BufReader::new(stream), false).unwrap()
    };
    refused.check_error(403, "InvalidAuth", "");
    let mut stream = secured.connect(&Arc::new(secured.config(Some(&secured.admin), &[&TLS13])));
    stream.write_all(head.as_bytes()).unwrap();
    let mut received = String::new();
    let mut until = |stream: &mut StreamOwned<ClientConnection, TcpStream>, text: &str| {
        while !received.contains(text) {
            let mut bytes = [0; 1024];
            let size = stream.read(&mut bytes).unwrap();
            assert!(size > 0, "{received}");
            received.push_str(&String::from_utf8_lossy(&bytes[..size]));
        }
    };
    until(&mut stream, "TopologyChange");
    let command = b"{\"CommandId\":1,\"Command\":\"watch-docs\",\"Param\":null}";
    let mut frame = vec![0x81, 0x80 | command.len() as u8, 0, 0, 0, 0];
    frame.extend_from_slice(command);
    stream.write_all(&frame).unwrap();
    until(&mut stream, "\"CommandId\":1");
    assert_eq!(secured.call(Some(&secured.admin), "PUT /databases/db/docs?id=watched", "{}").status, 201);
    until(&mut stream, "\"watched\"");
}

#[test]
fn settings_that_contradict_each_other_do_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("server.pem"), folder.path().join("other.pem"));
    std::fs::write(&path, pem(&self_signed(&params("a")))).unwrap();
    std::fs::write(&other, pem(&self_signed(&params("b")))).unwrap();
    let check = |change: &dyn Fn(&mut rookery_server::Options), expected: &str| {
        let mut options = rookery_server::Options { scheme: Scheme::Https, ..Default::default() };
        options.certificate.pem = Some(path.clone());
        change(&mut options);
        let error = options.check().unwrap_err();
        let text = match &error {
            StartError::Certificate(error) => error.to_string(),
            error => error.to_string(),
        };
        assert!(text.contains(expected), "{text}");
    };
    check(&|options| options.certificate.pem = None, "ServerUrl begins with https://, which needs a certificate");
    check(&|options| options.scheme = Scheme::Http, "ServerUrl begins with http://, which does not use it");
    check(&|options| options.certificate.pfx = Some("x".into()), "both name a certificate");
    check(&|options| options.certificate.key = Some(other.clone()), "belongs to none of the certificates");
    check(&|options| options.certificate.key = Some("none".into()), "cannot read none");
    check(&|options| options.certificate.password = Some(rookery_server::Password("x".to_owned())), "of a PFX file");
    let without = |options: &mut rookery_server::Options| {
        options.certificate.pem = None;
        options.scheme = Scheme::Http;
    };
    check(
        &|options| {
            without(options);
            options.admins = vec![TrustedThumbprint::Sha1([1; 20])];
        },
        "needs HTTPS",
    );
    check(
        &|options| {
            without(options);
            options.certificate.key = Some("x".into());
        },
        "without Security.Certificate.PemPath",
    );
    check(
        &|options| {
            without(options);
            options.certificate.password = Some(rookery_server::Password("x".to_owned()));
        },
        "without Security.Certificate.Path",
    );
    // With a certificate, other machines may reach the server.
    let mut options = rookery_server::Options { scheme: Scheme::Https, ..Default::default() };
    (options.certificate.pem, options.addresses) = (Some(path.clone()), vec!["0.0.0.0:0".parse().unwrap()]);
    options.check().unwrap();
}
