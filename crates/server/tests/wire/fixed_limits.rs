//! The limits that are no settings, from both sides: ids, names, documents, JSON (docs/settings.md, "Fixed").

use std::io::Write;
use std::time::{Duration, Instant};

use super::support::{Answer, Wire};

const PUT: &str = "PUT /databases/db/docs?id=a";

#[track_caller]
fn check_refused(answer: &Answer, status: u16, words: &str) {
    assert_eq!(answer.status, status, "{}", answer.text());
    assert!(answer.text().contains(words), "{}", answer.text());
}

#[test]
fn document_ids() {
    let wire = Wire::with_database();
    let put = |id: &str| wire.call(&format!("PUT /databases/db/docs?id={id}"), "{}");
    let longest = "x".repeat(512);
    assert_eq!(put(&longest).status, 201);
    assert_eq!(wire.call(&format!("HEAD /databases/db/docs?id={longest}"), "").status, 200);
    check_refused(&put(&"x".repeat(513)), 400, "512");
    // Bytes count, not characters.
    assert_eq!(put(&"%C3%A4".repeat(256)).status, 201);
    assert_eq!(put(&"%C3%A4".repeat(257)).status, 400);
    check_refused(&put("%FF%FE"), 400, "UTF-8");
    check_refused(&put(""), 400, "'id'");
}

#[test]
fn database_names() {
    let wire = Wire::start();
    let put = |name: &str| wire.call(&format!("PUT /admin/databases?name={name}"), "{}");
    assert_eq!(put(&"x".repeat(128)).status, 201);
    assert_eq!(put("A_b-c.d1").status, 201);
    for bad in [&"y".repeat(129), ".", "..", "a%2Fb", "a%5Cb", "%C3%A4", "con", "COM1", "nul.txt", "a%0Ab", "a:b", "*"]
    {
        check_refused(&put(bad), 400, "is not permitted");
    }
}

#[test]
fn collection_names() {
    let wire = Wire::with_database();
    let put = |size: usize| wire.call(PUT, &format!(r#"{{"@metadata":{{"@collection":"{}"}}}}"#, "x".repeat(size)));
    assert_eq!(put(512).status, 201);
    check_refused(&put(513), 413, "512");
}

#[test]
fn json_depth_and_property_names() {
    let wire = Wire::with_database();
    // The document itself is a level.
    let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
    assert_eq!(wire.call(PUT, &nested(256)).status, 201);
    check_refused(&wire.call(PUT, &nested(257)), 400, "256");
    // However deep it is, it costs nothing.
    check_refused(&wire.call(PUT, &format!("{{\"a\":{}", "[".repeat(10_000_000))), 400, "256");
    check_refused(&wire.call(PUT, &"{\"a\":".repeat(2_000_000)), 400, "256");
    let named = |size: usize| format!("{{\"{}\":1}}", "n".repeat(size));
    assert_eq!(wire.call(PUT, &named(64 << 10)).status, 201);
    check_refused(&wire.call(PUT, &named((64 << 10) + 1)), 400, "65536");
}

#[test]
fn json_that_is_none() {
    let wire = Wire::with_database();
    wire.put("a", r#"{"Is":"here"}"#);
    let before = wire.call("GET /databases/db/docs?id=a", "").text();
    for bad in [
        r#"{"a":1,"a":2}"#,
        r#"{"a":Infinity}"#,
        r#"{"a":-NaN}"#,
        r#"{"a":01}"#,
        r#"{"a":1.}"#,
        r#"{"a":+1}"#,
        r#"{"a":1,}"#,
        r#"{'a':1}"#,
        r#"{"a":"\ud800"}"#,
        r#"{"a":"\x41"}"#,
        r#"{"a":1}{"b":2}"#,
        "\u{FEFF}{}x",
        "",
    ] {
        let answer = wire.call(PUT, bad);
        answer.json();
        assert_eq!(answer.status, 400, "{bad:?}: {}", answer.text());
        assert!(!answer.text().contains("met a bug"), "{bad:?}: {}", answer.text());
        let inside = wire.call("POST /databases/db/bulk_docs", &format!(r#"{{"Commands":[{bad}]}}"#)).status;
        assert!(matches!(inside, 201 | 400), "{bad:?}: {inside}");
        assert_eq!(wire.call("GET /databases/db/docs?id=a", "").text(), before, "{bad:?}");
    }
}

#[test]
fn documents() {
    let wire = Wire::with_database();
    let document = |size: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(size - 8));
    // What is stored of the metadata counts too.
    assert_eq!(wire.call(PUT, &document((64 << 20) - 1024)).status, 201);
    check_refused(&wire.call("PUT /databases/db/docs?id=b", &document((64 << 20) + 1)), 413, "67108864");
    assert_eq!(wire.call("HEAD /databases/db/docs?id=b", "").status, 404);
    let size = wire.call("GET /databases/db/docs/size?id=a", "").json();
    assert!(size.get("ActualSize").and_then(json::Value::as_i64).is_some_and(|size| size > 60 << 20));
}

/// Takes half a minute, which is the window that the rate is measured over.
#[test]
fn slow_bodies() {
    if !testing::effort::is_slow() {
        return;
    }
    let wire = Wire::with_database();
    for (per_second, is_read) in [(400, true), (100, false)] {
        let mut stream = wire.connect();
        stream
            .write_all(b"PUT /databases/db/docs?id=a HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
            .unwrap();
        let begin = Instant::now();
        let mut is_closed = false;
        while begin.elapsed() < Duration::from_secs(45) && !is_closed {
            std::thread::sleep(Duration::from_millis(500));
            is_closed = stream.write_all(&vec![b' '; per_second / 2]).is_err();
        }
        assert_eq!(is_closed, !is_read, "{per_second} bytes a second, after {:?}", begin.elapsed());
    }
}
