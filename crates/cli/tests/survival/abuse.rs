//! Hostile and broken clients against the real program: RELIABILITY.md, P13.
//!
//! Whatever they send, nobody meets a bug, others are served, and nothing is left of them: no memory, descriptor, thread.
//! The limits one by one are in `server/tests/wire/limits.rs`.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::client::read_answer;
use crate::mutator;
use crate::process::{Server, check, command, log_of};
use crate::run::{Run, folder};
use crate::vitals::{Vitals, beside_a_healthy_client};
use testing::random::Random;
use testing::wait::LONG;

/// Who abuses at the same time.
const ABUSERS: u64 = 4;

/// A server with some documents.
fn serve(data: &std::path::Path, flags: &[&str]) -> Server {
    let server = Server::try_start(command(data).args(flags), &log_of(data)).unwrap();
    fill(&server);
    server
}

fn fill(server: &Server) {
    let mut client = server.client();
    let answer = client.call("PUT", "/admin/databases?name=db", r#"{"DatabaseName":"db"}"#).unwrap();
    assert_eq!(answer.status, 201, "{}", answer.text());
    for number in 0..20 {
        let text = "x".repeat(if number == 0 { 8 << 20 } else { 1000 });
        let document = format!(r#"{{"Text":"{text}","@metadata":{{"@collection":"Things"}}}}"#);
        let answer = client.call("PUT", &format!("/databases/db/docs?id=things/{number}"), &document).unwrap();
        assert_eq!(answer.status, 201, "{}", answer.text());
    }
}

#[test]
fn mutated_requests_meet_no_bug() {
    let run = Run::begin("mutated_requests_meet_no_bug", 4000, 1_000_000);
    let mut random = Random::new(run.seed);
    let folder = folder();
    let data = folder.path().join("data");
    let server = serve(&data, &[]);
    let fresh = Vitals::of(server.id());
    let mut statuses = [0; 6];
    // The first part shows what the server has when it has seen everything once.
    abuse(&server, run.rounds / 4, &mut random, &mut statuses);
    let before = Vitals::of(server.id());
    let slowest = beside_a_healthy_client(server.address, || {
        abuse(&server, run.rounds * 3 / 4, &mut random, &mut statuses);
    });
    let after = before.check(fresh, server.id());
    server.stop();
    check(&data);
    let [closed, _, fine, redirected, refused, failed] = statuses;
    run.end(&format!(
        "{fine} answered 2xx, {redirected} 3xx, {refused} 4xx, {failed} 5xx, {closed} closed, 0 bugs; slowest healthy \
         request {} ms; {fresh} became {after}",
        slowest.as_millis()
    ));
}

/// Sends so many mutated requests, each on its own connection; counts the answers by the class of their status.
fn abuse(server: &Server, count: u64, random: &mut Random, statuses: &mut [u64; 6]) {
    let address = server.address;
    std::thread::scope(|scope| {
        let abusers: Vec<_> = (0..ABUSERS)
            .map(|_| {
                let mut random = random.split();
                scope.spawn(move || {
                    let mut statuses = [0; 6];
                    for _ in 0..count / ABUSERS {
                        let request = mutator::request(&mut random);
                        for status in send(address, &request) {
                            statuses[usize::from(status / 100).min(5)] += 1;
                        }
                    }
                    statuses
                })
            })
            .collect();
        for abuser in abusers {
            let counted = abuser.join().expect("the answers are in order");
            statuses.iter_mut().zip(counted).for_each(|(sum, count)| *sum += count);
        }
    });
}

/// Sends bytes and the end of the connection; the statuses of all answers, 0 if there is none.
fn send(address: SocketAddr, request: &[u8]) -> Vec<u16> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    // Who is refused early cannot send the rest.
    let _ = stream.write_all(request);
    let _ = stream.shutdown(Shutdown::Write);
    let mut all = Vec::new();
    if let Err(error) = stream.read_to_end(&mut all) {
        let is_reset = error.kind() == std::io::ErrorKind::ConnectionReset;
        assert!(is_reset, "{error} after {} bytes, to {:?}", all.len(), String::from_utf8_lossy(request));
    }
    let mut rest = &all[..];
    let mut statuses = Vec::new();
    while !rest.is_empty() {
        // What follows an upgrade is no HTTP; and an answer to HEAD has no body, so the next one is taken for it.
        let Ok((answer, _)) = read_answer(&mut rest) else { break };
        if answer.body.starts_with(b"HTTP/1.1 ") {
            break;
        }
        check_answer(answer.status, &String::from_utf8_lossy(&decoded(answer.body)), request);
        statuses.push(answer.status);
    }
    if statuses.is_empty() { vec![0] } else { statuses }
}

/// A body in one of the encodings that requests ask for.
fn decoded(body: Vec<u8>) -> Vec<u8> {
    let mut text = Vec::new();
    let is_decoded = match body.as_slice() {
        [0x28, 0xB5, 0x2F, 0xFD, ..] => zstd::Decoder::new(&body[..]).and_then(|mut it| it.read_to_end(&mut text)),
        [0x1F, 0x8B, ..] => flate2::read::GzDecoder::new(&body[..]).read_to_end(&mut text),
        _ => return body,
    };
    is_decoded.expect("what was compressed can be read");
    text
}

fn check_answer(status: u16, text: &str, request: &[u8]) {
    let about = || format!("{status} {text}\nto {:?}", String::from_utf8_lossy(request));
    assert!(!text.contains("met a bug") && !text.contains("is damaged"), "{}", about());
    // A killed operation says so; nothing else that a client sends makes the server fail.
    let is_killed = status == 500 && text.contains("System.OperationCanceledException");
    assert!(is_killed || matches!(status, 100..=499 | 501 | 503), "{}", about());
}

#[test]
fn clients_that_go_away_leave_nothing() {
    let run = Run::begin("clients_that_go_away_leave_nothing", 200, 20_000);
    let mut random = Random::new(run.seed);
    let folder = folder();
    let data = folder.path().join("data");
    let server = serve(&data, &[]);
    let fresh = Vitals::of(server.id());
    leave(server.address, run.rounds / 4, &mut random);
    let before = Vitals::of(server.id());
    let slowest = beside_a_healthy_client(server.address, || leave(server.address, run.rounds * 3 / 4, &mut random));
    let after = before.check(fresh, server.id());
    server.stop();
    check(&data);
    run.end(&format!("slowest healthy request {} ms; {fresh} became {after}", slowest.as_millis()));
}

/// Begins requests and goes away in the middle. A socket that is closed with unread bytes resets its connection.
fn leave(address: SocketAddr, count: u64, random: &mut Random) {
    const BEGUN: [&str; 6] = [
        "GET /databases/db/docs?id=things/0 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /databases/db/streams/docs HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "PUT /databases/db/docs?id=left HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n{\"Text\":\"xxxx",
        "POST /databases/db/bulk_insert?id=5 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n",
        "GET /databases/db/changes HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        "GET /build/ver",
    ];
    // Some at a time stay for a while.
    let mut held = Vec::new();
    for _ in 0..count {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        stream.write_all(random.of(&BEGUN).as_bytes()).unwrap();
        if random.chance(2) {
            let _ = stream.read(&mut [0; 100]);
        }
        held.push(stream);
        if held.len() == 50 {
            held.clear();
        }
    }
}

#[test]
fn a_flood_of_connections_is_refused_and_forgotten() {
    let run = Run::begin("a_flood_of_connections_is_refused_and_forgotten", 2, 200);
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).unwrap();
    let folder = folder();
    let data = folder.path().join("data");
    let server = serve(&data, &["--Limits.Connections=200"]);
    let before = Vitals::of(server.id());
    let mut refused = 0;
    let slowest = beside_a_healthy_client(server.address, || {
        for _ in 0..run.rounds {
            let held: Vec<_> = (0..600).map(|_| TcpStream::connect(server.address).unwrap()).collect();
            for mut stream in held {
                stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
                let mut text = [0; 12];
                let is_refused = stream.read_exact(&mut text).is_ok() && &text == b"HTTP/1.1 503";
                refused += u64::from(is_refused);
            }
        }
    });
    assert!(refused > 0, "nobody was refused");
    before.check(before, server.id());
    server.stop();
    run.end(&format!("{refused} connections refused, slowest healthy request {} ms", slowest.as_millis()));
}

#[test]
fn a_server_out_of_descriptors_serves_on_and_recovers() {
    let run = Run::begin("a_server_out_of_descriptors_serves_on_and_recovers", 1, 50);
    let folder = folder();
    let data = folder.path().join("data");
    // The program takes all descriptors that it may, so it may have few.
    let program = command(&data);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -n 128; exec \"$0\" \"$@\""]).arg(program.get_program()).args(program.get_args());
    let server = Server::try_start(limited.current_dir(std::env::temp_dir()), &log_of(&data)).unwrap();
    fill(&server);
    let mut slowest = Duration::ZERO;
    for round in 0..run.rounds {
        // One that is connected already, since nobody else comes in.
        let mut client = server.client();
        client.connect().unwrap();
        slowest = slowest.max(beside_a_healthy_client(server.address, || {
            let held: Vec<_> = (0..300).map(|_| TcpStream::connect(server.address).unwrap()).collect();
            for number in 0..20 {
                let target = format!("/databases/db/docs?id=crowded/{round}-{number}");
                let answer = client.call("PUT", &target, &format!(r#"{{"N":{number}}}"#)).unwrap();
                assert!(matches!(answer.status, 201 | 503), "{}", answer.text());
            }
            let target = format!("/admin/databases?name=crowded-{round}");
            let answer = client.call("PUT", &target, &format!(r#"{{"DatabaseName":"crowded-{round}"}}"#)).unwrap();
            assert!(matches!(answer.status, 201 | 503), "{}", answer.text());
            drop(held);
        }));
        let mut client = server.client();
        for target in ["/databases/db/docs?id=after", "/databases/db/docs?id=crowded/again"] {
            let answer = client.call("PUT", target, "{}").unwrap();
            assert_eq!(answer.status, 201, "it has descriptors again: {}", answer.text());
        }
    }
    server.stop();
    check(&data);
    run.end(&format!("slowest healthy request {} ms", slowest.as_millis()));
}
