//! Clients that do not read, do not wait, or ask for much: nobody else is held up by them.

use std::io::{BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use rookery_server::Limits;
use testing::wait;

use super::support::{Wire, read_answer};

/// A server with so many documents of 1 MiB that no socket holds them.
fn with_large_documents(change: impl FnOnce(&mut Limits)) -> Wire {
    let wire = Wire::start_with(|options| change(&mut options.limits));
    wire.create("db");
    put_large(&wire);
    wire
}

fn put_large(wire: &Wire) {
    let document = format!(r#"{{"Text":"{}","@metadata":{{"@collection":"Larges"}}}}"#, "x".repeat(1 << 20));
    (0..32).for_each(|number| drop(wire.put(&format!("large/{number:02}"), &document)));
}

const STREAM: &[u8] = b"GET /databases/db/streams/docs HTTP/1.1\r\nHost: x\r\n\r\n";

/// A stream that begins, and that nobody reads.
fn hold_stream(wire: &Wire) -> TcpStream {
    let mut held = wire.connect();
    held.write_all(STREAM).unwrap();
    held.read_exact(&mut [0; 100]).unwrap();
    held
}

/// Whether the stream comes to its end.
fn is_whole(mut stream: TcpStream) -> bool {
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes);
    assert!(!matches!(&read, Err(error) if is_timeout(error)), "it neither goes on nor ends");
    bytes.ends_with(b"0\r\n\r\n")
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Whether the server has sent something, or has closed the connection.
fn is_answered(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let peeked = stream.peek(&mut [0]);
    stream.set_nonblocking(false).unwrap();
    !matches!(peeked, Err(error) if is_timeout(&error))
}

#[test]
fn streams_that_nobody_reads_hold_up_nothing_else() {
    let wire = with_large_documents(|limits| {
        (limits.stream_count, limits.blocking_thread_count, limits.blocking_queue_count) = (1, 1, 0);
    });
    let held = hold_stream(&wire);
    let refused = wire.call("GET /databases/db/streams/docs", "");
    refused.check_error(503, "RavenTimeoutException", "The server is busy: all of Limits.Streams = 1 are taken");
    assert!(refused.text().contains("Limits.BlockingQueue = 0"), "{}", refused.text());
    assert_eq!(refused.header("retry-after"), Some("1"));
    wire.create("other");
    assert_eq!(wire.call("GET /databases/db/docs?startsWith=none", "").status, 200);
    assert_eq!(wire.call("POST /databases/db/queries", r#"{"Query":"from Nothing"}"#).status, 200);
    let insert = r#"[{"Id":"b/1","Type":"PUT","Document":{}}]"#;
    assert_eq!(wire.call("POST /databases/db/bulk_insert", insert).status, 201);
    assert_eq!(wire.call("DELETE /admin/databases", r#"{"DatabaseNames":["other"],"HardDelete":true}"#).status, 200);
    // A list that is as long as a stream is one.
    let list = wire.call("GET /databases/db/docs", "");
    list.check_error(503, "RavenTimeoutException", "The server is busy: all of Limits.Streams = 1 are taken");
    drop(held);
    wait::until_equal(|| wire.call("GET /databases/db/docs", "").status, 200);
}

#[test]
fn waiting_for_a_thread_has_an_end() {
    let wire = with_large_documents(|limits| {
        (limits.stream_count, limits.blocking_wait) = (1, Duration::from_secs(1));
    });
    let _held = hold_stream(&wire);
    let refused = wire.call("GET /databases/db/streams/docs", "");
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")), "{}", refused.text());
    assert!(refused.text().contains("Limits.BlockingWaitInSec = 1"), "{}", refused.text());
}

#[test]
fn a_bulk_insert_that_is_refused_says_why_in_its_operation_too() {
    let wire = Wire::start_with(|options| {
        (options.limits.bulk_insert_thread_count, options.limits.blocking_queue_count) = (0, 0);
    });
    wire.create("db");
    let refused = wire.call("POST /databases/db/bulk_insert?id=1", r#"[{"Id":"b/1","Type":"PUT","Document":{}}]"#);
    refused.check_error(503, "InvalidOperationException", "Failed to process bulk insert. Inserted 0 items");
    assert_eq!(refused.header("retry-after"), Some("1"));
    let state = wire.call("GET /databases/db/operations/state?id=1", "").text();
    assert!(state.contains("Faulted") && state.contains("Limits.BulkInsertThreads = 0"), "{state}");
}

/// It was parsed on a network thread, and all requests of that thread waited.
#[test]
fn a_large_body_is_parsed_on_a_thread_of_the_pool() {
    let wire = Wire::start_with(|options| {
        (options.limits.short_thread_count, options.limits.blocking_queue_count) = (0, 0);
    });
    let post = |padding: usize| {
        let body = format!(r#"{{"TrafficWatchMode":"Off"{}}}"#, " ".repeat(padding));
        wire.call("POST /admin/traffic-watch/configuration", &body)
    };
    assert_eq!(post(0).status, 204);
    let refused = post(300 << 10);
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert!(refused.text().contains("Limits.ShortThreads = 0"), "{}", refused.text());
}

#[test]
fn a_reader_that_is_too_slow_is_closed_although_it_reads() {
    let wire = with_large_documents(|limits| {
        (limits.slow_reader, limits.reader_rate) = (Duration::from_secs(1), 100 << 20);
    });
    let mut held = hold_stream(&wire);
    let mut some = vec![0; 64 << 10];
    wait::until_true("the stream is closed", || {
        // As slow as the next sign that the server still sends: about 3 MiB a second.
        std::thread::sleep(Duration::from_millis(20));
        !held.read(&mut some).is_ok_and(|size| size > 0)
    });
    let metrics = wire.call("GET /metrics", "").text();
    assert!(metrics.contains("rookery_connections_expired_total 1\n"), "{metrics}");
}

/// Each of the patches takes some 50 ms, all of them minutes.
#[test]
fn scripts_end_with_the_client_that_they_run_for() {
    let wire = Wire::start_with(|options| {
        (options.limits.blocking_thread_count, options.limits.blocking_queue_count) = (1, 0);
        options.limits.half_closed = Duration::from_millis(100);
    });
    wire.create("db");
    wire.put("a", r#"{"N":1}"#);
    let script = "let s = '9'.repeat(5e5); for (let i = 0; i < 40; i++) this.N = +s;";
    let patch = format!(r#"{{"Type":"PATCH","Id":"a","Patch":{{"Script":"{script}"}}}}"#);
    let batch = format!(r#"{{"Commands":[{}]}}"#, vec![patch; 3000].join(","));
    let head = format!("POST /databases/db/bulk_docs HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", batch.len());
    let request = head + &batch;
    let patch = || wire.call("PATCH /databases/db/docs?id=a", r#"{"Patch":{"Script":"this.N = 2"}}"#).status;
    // The batch has the only thread for patches once one of ours is refused. If it came while one ran, it was refused, and comes again.
    let gone = wait::until(|| {
        let mut stream = wire.connect();
        stream.write_all(request.as_bytes()).unwrap();
        wait::until(|| match (patch(), is_answered(&stream)) {
            (503, _) => Ok(true),
            (_, true) => Ok(false),
            _ => Err("the batch neither runs nor is refused"),
        })
        .then_some(stream)
        .ok_or("the batch is refused each time")
    });
    drop(gone);
    wait::until_equal(patch, 200);
}

#[test]
fn who_went_away_waits_no_longer() {
    let wire = with_large_documents(|limits| {
        (limits.stream_count, limits.blocking_queue_count) = (1, 1);
        (limits.blocking_wait, limits.half_closed) = (Duration::from_secs(3600), Duration::from_secs(1));
    });
    let _held = hold_stream(&wire);
    let mut gone = wire.connect();
    gone.write_all(STREAM).unwrap();
    // Refused: `gone` waits. No answer: this one does.
    let waits = || {
        let mut stream = wire.connect();
        stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        stream.write_all(STREAM).unwrap();
        let read = stream.read(&mut [0; 100]);
        matches!(read, Err(error) if is_timeout(&error))
    };
    wait::until_true("the only place in the queue is taken", || !waits());
    drop(gone);
    wait::until_true("the place of the client that left is free", waits);
}

#[test]
fn a_client_that_ends_its_half_is_answered() {
    // The work for such a client is not given up before it is done.
    let wire = with_large_documents(|limits| limits.half_closed = Duration::from_secs(3600));
    for target in ["build/version", "databases/db/docs?startsWith=none", "databases/db/docs"] {
        let mut stream = wire.connect();
        stream.write_all(format!("GET /{target} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(read_answer(&mut BufReader::new(stream), false).unwrap().status, 200, "{target}");
    }
}

#[test]
fn what_grows_large_is_sent_while_it_is_made_and_reads_the_same() {
    let wire = with_large_documents(|_| ());
    let length = |line: &str, body: &str| {
        let answer = wire.call(line, body);
        assert_eq!(answer.status, 200, "{line}");
        let json = answer.json();
        let Some(json::Value::Array(results)) = json.get("Results") else { panic!("{line}") };
        (results.len(), answer.header("transfer-encoding") == Some("chunked"), json)
    };
    let lists = ["docs", "docs?startsWith=large", "docs?etag=1", "docs?id=large/01&id=large/02", "docs?id=large/01"];
    for (line, count) in lists.into_iter().zip([32, 32, 32, 2, 1]) {
        let (found, is_sent, _) = length(&format!("GET /databases/db/{line}"), "");
        assert_eq!((found, is_sent), (count, true), "{line}");
    }
    assert!(!length("GET /databases/db/docs?startsWith=none", "").1);
    for (query, total, count) in [
        ("from Larges", 32, 32),
        ("from Larges order by id() desc", 32, 32),
        ("from Larges where startsWith(id(), 'large/1')", 10, 10),
        ("from Larges where startsWith(id(), 'large/') limit 1, 3", -1, 3),
        ("from Larges where id() in ('large/01', 'large/02', 'x')", 2, 2),
    ] {
        let (found, is_sent, json) = length("POST /databases/db/queries", &format!(r#"{{"Query":"{query}"}}"#));
        assert_eq!((found, is_sent), (count, true), "{query}");
        assert_eq!(json.get("TotalResults").unwrap().as_i64(), Some(total), "{query}");
        let names: Vec<&str> = json.members().iter().map(|(name, _)| name.as_str()).collect();
        let first = ["TotalResults", "CappedMaxResults", "ScannedResults"];
        assert!(names.starts_with(&first) || names.starts_with(&[first[0], first[2]]), "{names:?}");
        assert!(names.ends_with(&[
            "Results",
            "Includes",
            "IndexTimestamp",
            "LastQueryTime",
            "IsStale",
            "ResultEtag",
            "NodeTag"
        ]));
    }
    let request = r#"{"Url":"/databases/db/docs"}"#;
    let missing = r#"{"Url":"/databases/db/docs","Query":"?id=none"}"#;
    let streamed = r#"{"Url":"/databases/db/streams/docs"}"#;
    let body = format!("{{\"Requests\":[{request},{missing},{request},{streamed}]}}");
    let (found, is_sent, json) = length("POST /databases/db/multi_get", &body);
    assert_eq!((found, is_sent), (4, true));
    let Some(json::Value::Array(results)) = json.get("Results") else { panic!() };
    let statuses: Vec<_> = results.iter().map(|result| result.get("StatusCode").unwrap().as_i64().unwrap()).collect();
    assert_eq!(statuses, [200, 404, 200, 501]);
    for place in [0, 2] {
        let Some(json::Value::Array(list)) = results[place].get("Result").unwrap().get("Results") else { panic!() };
        assert_eq!(list.len(), 32);
    }
}

#[test]
fn a_server_that_stops_cuts_off_what_does_not_end() {
    let mut wire = with_large_documents(|_| ());
    let held = hold_stream(&wire);
    wire.stop();
    assert!(!is_whole(held), "it goes on after the server has stopped");
}

#[test]
fn the_oldest_stream_makes_way_for_writers() {
    let folder = std::env::temp_dir().join(format!("rookery-long-reader-{}", std::process::id()));
    let wire = Wire::start_with(|options| {
        (options.in_memory, options.data_directory) = (false, folder.clone());
        options.limits.page_versions_size = 32 << 20;
    });
    wire.create("db");
    put_large(&wire);
    let held = hold_stream(&wire);
    // Twice as many versions as may be kept beside a snapshot, and then some.
    let document = format!(r#"{{"Text":"{}","@metadata":{{"@collection":"Larges"}}}}"#, "y".repeat(1 << 20));
    for number in 0..96 {
        wait::until(|| {
            let answer = wire.call(&format!("PUT /databases/db/docs?id=large/{:02}", number % 32), &document);
            if answer.status == 201 { Ok(()) } else { Err(answer.text()) }
        });
    }
    assert!(!is_whole(held), "it was to be cut off");
    // The files are closed with the last connection.
    drop(wire);
    let _ = std::fs::remove_dir_all(folder);
}
