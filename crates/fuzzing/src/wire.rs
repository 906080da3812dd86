//! Bytes on a connection: to the part that finds where requests end, and to a whole server in this process.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::time::Duration;

use server::{Options, Server};

/// Where requests end must not depend on how the bytes are cut into packets.
pub(crate) fn framing(input: &[u8]) {
    let whole = server::fuzzing::framing(input, input.len().max(1));
    for size in [1, 7] {
        assert_eq!(server::fuzzing::framing(input, size), whole, "in pieces of {size} bytes");
    }
}

fn address() -> SocketAddr {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    *ADDRESS.get_or_init(|| {
        let options = Options {
            addresses: vec![SocketAddr::from(([127, 0, 0, 1], 0))],
            in_memory: true,
            allowed_hosts: vec!["x".to_owned()],
            ..Options::default()
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.expect("threads can be had");
        let server = runtime.block_on(Server::start(options)).expect("loopback can be listened on");
        let address = server.addresses()[0];
        // For as long as the process lives.
        std::mem::forget((runtime, server));
        let created = send(address, b"PUT /admin/databases?name=db HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 21\r\n\r\n{\"DatabaseName\":\"db\"}");
        assert!(created.starts_with(b"HTTP/1.1 201"), "{}", String::from_utf8_lossy(&created));
        send(address, b"PUT /databases/db/docs?id=a/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 9\r\n\r\n{\"a\":\"b\"}");
        address
    })
}

/// Sends bytes, ends this half, and reads what comes until the other half ends.
fn send(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let Ok(mut stream) = TcpStream::connect(address) else { panic!("the server takes no connection") };
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket has a time limit");
    stream.set_nodelay(true).ok();
    // Refused early: then the answer is read all the same.
    stream.write_all(bytes).ok();
    stream.shutdown(Shutdown::Write).ok();
    let mut answer = Vec::new();
    if let Err(error) = stream.take(64 << 20).read_to_end(&mut answer) {
        assert!(error.kind() != std::io::ErrorKind::WouldBlock, "no answer, and no end");
    }
    answer
}

/// A connection. Every answer is one, 500 too: it is what clients expect for a body that is no JSON. What must not be is a
/// panic on any thread, which the fuzzer and the test look out for, and a server that does not go on.
pub(crate) fn http(input: &[u8]) {
    let address = address();
    send(address, input);
    if input.len().is_multiple_of(16) {
        let healthy = send(address, b"GET /build/version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        assert!(healthy.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&healthy));
    }
}

pub(crate) fn http_seeds() -> Vec<Vec<u8>> {
    let body =
        |line: &str, body: &str| format!("{line} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let texts = [
        "GET /databases/db/docs?id=a/1&id=b HTTP/1.1\r\nHost: x\r\nIf-None-Match: \"A:1-x\"\r\n\r\n".to_owned(),
        body("POST /databases/db/bulk_docs", r#"{"Commands":[{"Id":"a/2","Type":"PUT","ChangeVector":null,"Document":{"x":1}},{"Id":"a/1","Type":"DELETE"}]}"#),
        body("POST /databases/db/queries", r#"{"Query":"from @all_docs where id() in ($a) limit 3","QueryParameters":{"a":["a/1"]}}"#),
        body("PUT /databases/db/docs?id=%41/3", r#"{"Name":"é","@metadata":{"@collection":"Bs"}}"#),
        body("POST /databases/db/docs", r#"{"Ids":["a/1",null,"zz"]}"#),
        body("POST /databases/db/multi_get", r#"{"Requests":[{"Url":"/docs","Query":"?id=a/1","Method":"GET","Headers":{}}]}"#),
        "POST /databases/db/bulk_insert?id=7 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2a\r\n[{\"Id\":\"q/1\",\"Document\":{},\"Type\":\"PUT\"}]\r\n0\r\n\r\n".to_owned(),
        "GET /databases/db/streams/docs?startsWith=a HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n".to_owned(),
        "GET /databases/db/stats HTTP/1.1\r\nHost: x\r\n\r\nGET /databases HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        "GET /databases/db/hilo/next?tag=Users&lastBatchSize=32 HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_owned(),
        "HEAD /databases/db/docs?id=a/1 HTTP/1.0\r\n\r\n".to_owned(),
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
