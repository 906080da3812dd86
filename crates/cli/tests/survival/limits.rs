//! Limits under hostile definitions and scripts: the rest of the server goes on, and the process stops in time.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::ops::Range;
use std::time::{Duration, Instant};

use crate::client::{Answer, Client};
use crate::process::Server;
use testing::effort;

use crate::run::folder;
use crate::vitals::Vitals;

/// What stopping may take: the server gives up after 1.8 s, and what runs here would go on for minutes.
const STOP_MAX: Duration = Duration::from_secs(20);

pub fn start() -> (tempfile::TempDir, Server) {
    let folder = folder();
    let server = Server::start(&folder.path().join("data"));
    (folder, server)
}

#[track_caller]
pub fn call(client: &mut Client, method: &str, target: &str, body: &str) -> String {
    let answer = client.call(method, target, body).unwrap();
    assert!((200..300).contains(&answer.status), "{method} {target}: {} {}", answer.status, answer.text());
    answer.text()
}

pub fn create(client: &mut Client, name: &str) {
    call(client, "PUT", &format!("/admin/databases?name={name}"), &format!("{{\"DatabaseName\":\"{name}\"}}"));
}

/// Puts documents `{"N": number, rest}` of the collection `Cs` by one bulk insert.
///
/// * `rest`: further properties of the document of a number, each after a comma.
#[track_caller]
pub fn fill(client: &mut Client, database: &str, numbers: Range<usize>, rest: impl Fn(usize) -> String) {
    let answer = try_fill(client, database, numbers, rest);
    assert_eq!(answer.status, 201, "{}", answer.text());
}

/// As [`fill`], for a bulk insert that may be refused.
pub fn try_fill(client: &mut Client, database: &str, numbers: Range<usize>, rest: impl Fn(usize) -> String) -> Answer {
    let mut body = String::from("[");
    for number in numbers.clone() {
        let comma = if number == numbers.start { "" } else { "," };
        let document = format!(r#"{{"N":{number}{},"@metadata":{{"@collection":"Cs"}}}}"#, rest(number));
        write!(body, r#"{comma}{{"Id":"cs/{number}","Type":"PUT","Document":{document}}}"#).unwrap();
    }
    client.call("POST", &format!("/databases/{database}/bulk_insert"), &(body + "]")).unwrap()
}

pub fn put_index(client: &mut Client, database: &str, name: &str, map: &str) {
    let map = map.replace('"', "\\\"");
    let body = format!(r#"{{"Indexes":[{{"Name":"{name}","Maps":["{map}"]}}]}}"#);
    call(client, "PUT", &format!("/databases/{database}/admin/indexes"), &body);
}

/// The end of the process, asked for now.
pub fn stop_in_time(server: Server) {
    let begin = Instant::now();
    server.stop();
    let took = begin.elapsed();
    assert!(took < STOP_MAX, "stopping took {took:?}");
}

/// The map goes through 400 million pairs of each document, some millions a second, and is stopped by its steps only after a while.
#[test]
fn a_map_that_fans_out_holds_up_neither_a_deletion_nor_a_stop() {
    for then in ["delete", "disable", "go on"] {
        let (_folder, server) = start();
        let mut client = server.client();
        create(&mut client, "Many");
        let ids: Vec<String> = (0..20_000).map(|id| format!("\"{id}\"")).collect();
        fill(&mut client, "Many", 0..30, |_| format!(",\"Ids\":[{}]", ids.join(",")));
        let pairs = r#"from c in docs.Cs from a in c.Ids from b in c.Ids where a == b + "x" select new { a, b }"#;
        put_index(&mut client, "Many", "Pairs", pairs);
        // The map runs once a query that waits a little finds the index stale.
        let waits = r#"{"Query":"from index 'Pairs'","WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":"00:00:00.3"}"#;
        call(&mut client, "POST", "/databases/Many/queries", waits);
        let body = r#"{"DatabaseNames":["Many"],"HardDelete":true}"#;
        match then {
            "delete" => drop(call(&mut client, "DELETE", "/admin/databases", body)),
            "disable" => drop(call(&mut client, "POST", "/admin/databases/disable", body)),
            _ => {}
        }
        stop_in_time(server);
    }
}

/// Each map takes about a millisecond a document: a turn of 32,768 documents was half a minute, and with a few such indexes no other one
/// was given a turn in the 15 s that queries wait.
#[test]
fn slow_indexes_leave_those_of_other_databases_their_share() {
    let (indexes, documents) = effort::choose((4, 20_000), (8, 200_000));
    let (_folder, server) = start();
    let mut client = server.client();
    create(&mut client, "Slow");
    create(&mut client, "Quick");
    fill(&mut client, "Slow", 0..documents, |_| String::new());
    for number in 0..indexes {
        let work = "for (let i = 0; i < 4000; i++) s += i * i % 7 + (i ^ 5) * 3 % 11 + i * 3 % 13 + (i ^ 9) % 17 + i * 7 % 19;";
        let map = format!("map('Cs', c => {{ let s = {number}; {work} return {{ s: s + c.N }} }})");
        put_index(&mut client, "Slow", &format!("I{number}"), &map);
    }
    for number in 0..10 {
        let document = format!(r#"{{"N":{number},"@metadata":{{"@collection":"Xs"}}}}"#);
        call(&mut client, "PUT", "/databases/Quick/docs?id=xs/1", &document);
        let query = format!(r#"{{"Query":"from Xs where N = {number}","WaitForNonStaleResults":true}}"#);
        let answer = call(&mut client, "POST", "/databases/Quick/queries", &query);
        // A query whose index was given no turn is stale after those 15 s.
        assert!(answer.contains(r#""TotalResults":1"#) && answer.contains(r#""IsStale":false"#), "{answer}");
    }
    stop_in_time(server);
}

/// One operator is a few milliseconds and no turn of a loop: such scripts ran for minutes, in requests whose clients had left, and in maps
/// of indexes that were deleted.
#[test]
fn scripts_of_any_text_end_and_hold_up_nothing_else() {
    /// Far above what a machine under load needs, and far below the minutes for which such scripts held up others.
    const HELD_UP: Duration = Duration::from_secs(60);
    const SLOW: &str = "let s = '9'.repeat(2e7); let x; for (let i = 0; i < 9000; i++) x = +s;";
    let (_folder, server) = start();
    let mut client = server.client();
    create(&mut client, "Slow");
    create(&mut client, "Quick");
    fill(&mut client, "Slow", 0..50, |_| String::new());

    // More than there are threads for.
    let patch = format!(r#"{{"Patch":{{"Script":"{SLOW}"}}}}"#);
    let request = format!(
        "PATCH /databases/Slow/docs?id=cs/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{patch}",
        patch.len()
    );
    let gone: Vec<TcpStream> = (0..150)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    let mut writer = server.client();
    let mut put = |number: u64| {
        let document = format!(r#"{{"N":{number},"@metadata":{{"@collection":"Xs"}}}}"#);
        call(&mut writer, "PUT", "/databases/Quick/docs?id=xs/1", &document)
    };
    put(0);
    let before = Vitals::of(server.id()).memory >> 20;
    let begin = Instant::now();
    let mut most = 0;
    while begin.elapsed() < Duration::from_secs(1) {
        most = most.max(Vitals::of(server.id()).memory >> 20);
        std::thread::sleep(Duration::from_millis(5));
    }
    // The texts of 64 threads, with what is read of them, were 1.8 GB.
    assert!(most < before.max(100) + 900, "{before} MiB before, {most} MiB with 64 large scripts");
    drop(gone);
    let begin = Instant::now();
    call(&mut server.client(), "PATCH", "/databases/Quick/docs?id=xs/1", r#"{"Patch":{"Script":"this.N = 1"}}"#);
    assert!(begin.elapsed() < HELD_UP, "a patch took {:?}", begin.elapsed());

    for number in 0..4 {
        let map = format!("map('Cs', c => {{ {SLOW} return {{ x: x + {number} }} }})");
        put_index(&mut client, "Slow", &format!("I{number}"), &map);
    }
    for number in 2..7 {
        let begin = Instant::now();
        put(number);
        let query = format!(r#"{{"Query":"from Xs where N = {number}","WaitForNonStaleResults":true}}"#);
        let answer = call(&mut client, "POST", "/databases/Quick/queries", &query);
        assert!(answer.contains(r#""TotalResults":1"#) && answer.contains(r#""IsStale":false"#), "{answer}");
        // Every map is stopped after a second, and each thread runs those of two indexes.
        assert!(begin.elapsed() < HELD_UP, "it took {:?}", begin.elapsed());
    }
    let begin = Instant::now();
    call(&mut client, "DELETE", "/databases/Slow/indexes?name=I0", "");
    call(&mut client, "DELETE", "/admin/databases", r#"{"DatabaseNames":["Slow"],"HardDelete":true}"#);
    assert!(begin.elapsed() < HELD_UP, "deleting took {:?}", begin.elapsed());
    stop_in_time(server);
}
