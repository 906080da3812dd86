//! The server stops in time, whatever its clients are in the middle of, and what it has acknowledged is there.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use testing::wait;

use crate::support::{Program, text};

/// Far more than stopping takes: the server gives what runs 0.7 s. And far less than the limits of the server for what clients hold here,
/// which are 120 s and more: a stop that waits for a client fails.
const STOP_MAX: Duration = Duration::from_secs(20);

/// More than a socket takes, so that whoever sends it has to wait for its reader.
const STREAM_SIZE: usize = 24 << 20;

fn with_documents(arguments: &[&str]) -> Program {
    let program = Program::start(arguments);
    program.request("PUT", "/admin/databases?name=Shop", "{\"DatabaseName\":\"Shop\"}");
    let body = format!("{{\"Text\":\"{}\"}}", "x".repeat(STREAM_SIZE / 4));
    for id in 0..4 {
        let answer = program.request("PUT", &format!("/databases/Shop/docs?id=big/{id}"), &body);
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    }
    program
}

/// Sends a request and waits for the beginning of its answer.
fn begin(program: &Program, head: &str, expected: &str) -> TcpStream {
    let mut stream = program.connect();
    stream.write_all(head.as_bytes()).unwrap();
    let mut start = vec![0; expected.len()];
    stream.read_exact(&mut start).unwrap();
    assert_eq!(String::from_utf8_lossy(&start), expected);
    stream
}

/// A stream whose reader reads no more.
fn stream(program: &Program) -> TcpStream {
    begin(program, "GET /databases/Shop/streams/docs HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200 OK")
}

/// A listener to changes, as WebSocket.
fn changes(program: &Program) -> TcpStream {
    let head = "GET /databases/Shop/changes HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    begin(program, head, "HTTP/1.1 101 Switching Protocols")
}

/// A bulk insert that runs, and waits for more.
fn bulk_insert(program: &Program) -> TcpStream {
    let mut stream = program.connect();
    let part = "[{\"Id\":\"bulk/1\",\"Type\":\"PUT\",\"Document\":{\"a\":1}}";
    write!(
        stream,
        "POST /databases/Shop/bulk_insert?id=1 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{part}\r\n",
        part.len()
    )
    .unwrap();
    wait::until_true("the bulk insert begins", || {
        program.get("/databases/Shop/operations/state?id=1").starts_with("HTTP/1.1 200")
    });
    stream
}

#[track_caller]
fn stops(mut program: Program, held: Vec<TcpStream>) {
    assert!(program.get("/build/version").starts_with("HTTP/1.1 200"));
    let (elapsed, is_clean) = program.terminate();
    assert!(is_clean && elapsed < STOP_MAX, "it stopped {elapsed:?} after SIGTERM");
    drop(held);
}

#[test]
fn connections_without_a_request_hold_nothing_up() {
    let program = Program::in_memory();
    let held = (0..5).map(|_| program.connect()).collect();
    stops(program, held);
}

#[test]
fn a_stream_that_nobody_reads_holds_nothing_up() {
    let program = with_documents(&["serve", "--url", "http://127.0.0.1:0", "--in-memory"]);
    let held = vec![stream(&program)];
    stops(program, held);
}

#[test]
fn as_many_streams_as_there_are_threads_hold_nothing_up() {
    let arguments = ["serve", "--url", "http://127.0.0.1:0", "--in-memory"];
    let program = with_documents(&[&arguments[..], &["--Limits.BlockingThreads=4"]].concat());
    let mut held: Vec<TcpStream> = (0..4).map(|_| stream(&program)).collect();
    // These wait for a thread.
    for _ in 0..4 {
        let mut waiting = program.connect();
        waiting.write_all(b"GET /databases/Shop/streams/docs HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        held.push(waiting);
    }
    stops(program, held);
}

#[test]
fn a_bulk_insert_that_is_not_done_holds_nothing_up() {
    let program = with_documents(&["serve", "--url", "http://127.0.0.1:0", "--in-memory"]);
    let held = vec![bulk_insert(&program)];
    stops(program, held);
}

#[test]
fn a_listener_to_changes_holds_nothing_up() {
    let program = with_documents(&["serve", "--url", "http://127.0.0.1:0", "--in-memory"]);
    let held = vec![changes(&program)];
    stops(program, held);
}

#[test]
fn what_was_acknowledged_is_there_after_a_stop_in_the_middle_of_all_that() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["serve", "--url", "http://127.0.0.1:0", "--data", text(folder.path())];
    let program = with_documents(&arguments);
    let held = vec![stream(&program), bulk_insert(&program), changes(&program), program.connect()];
    stops(program, held);
    let program = Program::start(&arguments);
    for id in 0..4 {
        assert!(
            program.get(&format!("/databases/Shop/docs?id=big/{id}&metadataOnly=true")).starts_with("HTTP/1.1 200")
        );
    }
}
#[test]
fn a_second_signal_ends_it_at_once() {
    let mut program = Program::start(&["serve", "--url", "http://127.0.0.1:0", "--in-memory"]);
    assert!(program.request("PUT", "/admin/databases?name=db", r#"{"DatabaseName":"db"}"#).starts_with("HTTP/1.1 201"));
    let document = format!(r#"{{"Text":"{}"}}"#, "x".repeat(32 << 20));
    assert!(program.request("PUT", "/databases/db/docs?id=a", &document).starts_with("HTTP/1.1 201"));
    // An answer that nobody takes keeps the server from stopping for a moment.
    let mut held = TcpStream::connect(program.url.strip_prefix("http://").unwrap()).unwrap();
    held.write_all(b"GET /databases/db/streams/docs HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    held.read_exact(&mut [0; 100]).unwrap();
    let process = rustix::process::Pid::from_child(&program.child);
    // Signals that come too close together are one: so more than two, until it is gone.
    wait::until_true("the program ends", || {
        let has_ended = program.child.try_wait().unwrap().is_some();
        if !has_ended {
            rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
        has_ended
    });
    assert_eq!(program.child.wait().unwrap().code(), Some(1));
}
