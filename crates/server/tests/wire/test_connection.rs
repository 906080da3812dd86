//! `POST /admin/test-connection`: the forms are those of the reference.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use super::support::Wire;

#[track_caller]
fn check(wire: &Wire, parameters: &str, expected: &str) {
    let answer = wire.call(&format!("POST /admin/test-connection?{parameters}"), "");
    let text = answer.text();
    assert!(answer.status == 200 && text.starts_with(expected), "{parameters}: {} {text}", answer.status);
}

/// Answers one request with a body, and gives the address of the server.
fn answering(status: &str, body: &str) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    std::thread::spawn(move || {
        let mut stream: TcpStream = listener.accept().unwrap().0;
        let mut head = [0; 1024];
        let size = stream.read(&mut head).unwrap();
        assert!(head[..size].starts_with(b"GET /info/tcp?tag=Test-Connection HTTP/1.1\r\n"));
        stream.write_all(answer.as_bytes()).unwrap();
    });
    format!("http://{address}")
}

/// An address where nothing listens.
fn closed() -> std::net::SocketAddr {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap()
}

#[test]
fn a_server_that_speaks_the_protocol_is_reached() {
    let wire = Wire::with_database();
    let url = format!("http://{}", wire.address);
    for parameters in [format!("url={url}"), format!("url={url}/&database=db")] {
        let reached = r#"{"Success":true,"HTTPSuccess":true,"TcpServerUrl":"tcp://127.0.0.1:"#;
        check(&wire, &parameters, reached);
        let text = wire.call(&format!("POST /admin/test-connection?{parameters}"), "").text();
        for part in [
            r#""Error":null,"Log":["Received tcpInfo: \nurls: tcp://127.0.0.1:"#,
            r#"","Trying to connect to :tcp://127.0.0.1:"#,
            r#"","Successfully negotiated with tcp://127.0.0.1:"#,
            r#"","\nNegotiation successful for operation TestConnection.\n 127.0.0.1:"#,
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    let failed = r#"{"Success":false,"HTTPSuccess":false,"TcpServerUrl":null,"Error":"An exception was thrown while trying to connect to '"#;
    check(
        &wire,
        &format!("url={url}&database=nope%2F1"),
        &format!("{failed}{url}':\\nDatabaseDoesNotExistException: Database 'nope/1' does not exist.\"}}"),
    );
}

#[test]
fn what_is_not_reached_is_told() {
    let wire = Wire::start();
    let failed = r#"{"Success":false,"HTTPSuccess":false,"TcpServerUrl":null,"Error":"An exception was thrown while trying to connect to '"#;
    let fails = |url: &str, reason: &str| check(&wire, &format!("url={url}"), &format!("{failed}{url}':\\n{reason}"));
    fails("nonsense", "'nonsense' is not a valid url");
    fails("ftp://x", "'ftp://x' is not a valid url: it must begin with http://");
    let nothing = format!("http://{}", closed());
    fails(&nothing, &format!("An exception occurred while contacting {nothing} over HTTP: Connection refused"));
    fails(
        &answering("404 Not Found", "a secret"),
        "It answered GET /info/tcp?tag=Test-Connection with 404 Not Found\"}",
    );
    fails(&answering("200 OK", "a secret"), "It answered, but not as a server of documents does");
    fails(&answering("200 OK", r#"{"Other":1}"#), "It answered, but not as a server of documents does");
    fails(&answering("302 Found", ""), "It answered GET /info/tcp?tag=Test-Connection with 302 Found\"}");
    let closed = closed();
    let half = answering("200 OK", &format!(r#"{{"Url":"tcp://{closed}","ServerId":"S"}}"#));
    check(
        &wire,
        &format!("url={half}"),
        &format!(
            r#"{{"Success":false,"HTTPSuccess":true,"TcpServerUrl":"tcp://{closed}","Error":"An exception was thrown while trying to connect to 'tcp://{closed}':\nAn exception occurred while contacting tcp://{closed} over TCP: Connection refused"#
        ),
    );
    let argument = "ArgumentException";
    for parameters in ["", "?url="] {
        let line = format!("POST /admin/test-connection{parameters}");
        wire.check_error(&line, "", 400, argument, "Query string value 'url' must have a non empty value");
    }
    let tls = wire.call("POST /admin/test-connection?url=HTTPS://127.0.0.1:1", "");
    assert!(tls.status == 501 && tls.text().contains("an address of HTTPS"), "{} {}", tls.status, tls.text());
}

#[test]
fn a_server_that_does_not_answer_is_given_up() {
    let wire = Wire::start();
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let text =
        wire.call(&format!("POST /admin/test-connection?url=http://{}", silent.local_addr().unwrap()), "").text();
    assert!(text.contains("It did not answer within 5 s (TEST_CONNECTION_TIME_MAX)"), "{text}");
}
