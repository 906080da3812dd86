//! `/databases/{name}/streams`

use std::io::{Read, Write};

use super::support::Wire;

fn with_users() -> Wire {
    let wire = Wire::with_database();
    wire.put("users/1", r#"{"@metadata":{"@collection":"Users"}}"#);
    wire.put("pets/1", "{}");
    wire
}

const ONE: &str =
    r#"{"@metadata":{"@collection":"Users","@change-vector":"A:1-ID","@id":"users/1","@last-modified":"DATE"}}"#;
const PET: &str = r#"{"@metadata":{"@change-vector":"A:2-ID","@id":"pets/1","@last-modified":"DATE"}}"#;

#[test]
fn documents_come_as_one_object_or_as_lines() {
    let wire = with_users();
    let all = wire.check("GET /databases/db/streams/docs", "", 200, &format!(r#"{{"Results":[{PET},{ONE}]}}"#));
    assert_eq!(all.header("transfer-encoding"), Some("chunked"));
    wire.check("GET /databases/db/streams/docs?startsWith=users/", "", 200, &format!(r#"{{"Results":[{ONE}]}}"#));
    wire.check("GET /databases/db/streams/docs?format=json", "", 200, &format!(r#"{{"Results":[{PET},{ONE}]}}"#));
    wire.check("GET /databases/db/streams/docs?startsWith=none", "", 200, r#"{"Results":[]}"#);
    wire.check("GET /databases/db/streams/docs?format=jsonl", "", 200, &format!("{PET}\r\n{ONE}\r\n"));
    let lines = wire.call("GET /databases/db/streams/docs?format=jsonl", "");
    assert_eq!(lines.header("content-type"), Some("application/json; charset=utf-8"));
    wire.check("GET /databases/db/streams/docs?pageSize=-1", "", 200, r#"{"Results":[]}"#);
    for line in ["GET /databases/db/streams/docs", "GET /databases/db/streams/queries"] {
        let message = format!("Rookery {} does not support the stream format 'csv'", env!("CARGO_PKG_VERSION"));
        wire.check_error(&format!("{line}?query=from%20Users&format=csv"), "", 501, "RavenException", &message);
    }
    wire.check("GET /databases/db/streams/docs?start=1&pageSize=1", "", 200, &format!(r#"{{"Results":[{ONE}]}}"#));
}

#[test]
fn query_streams_begin_with_their_statistics() {
    let wire = with_users();
    let etag = wire.call("POST /databases/db/queries", r#"{"Query":"from Users"}"#).header("etag").unwrap().to_owned();
    let statistics = format!(
        r#""ResultEtag":{etag},"IsStale":false,"IndexName":"collection/Users","TotalResults":1,"IndexTimestamp":"0001-01-01T00:00:00.0000000Z""#
    );
    let post = "POST /databases/db/streams/queries";
    // The date of "never" has the shape of a date.
    let statistics = super::support::mask(&statistics);
    let object = format!(r#"{{{statistics},"Results":[{ONE}]}}"#);
    wire.check(post, r#"{"Query":"from Users"}"#, 200, &object);
    wire.check(&format!("{post}?format=json"), r#"{"Query":"from Users"}"#, 200, &object);
    let lines = format!("{{\"Stats\":{{{statistics}}}}}\r\n{{\"Item\":{ONE}}}\r\n");
    wire.check(&format!("{post}?format=jsonl"), r#"{"Query":"from Users"}"#, 200, &lines);
    wire.put("users/2", r#"{"@metadata":{"@collection":"Users"}}"#);
    let page = wire.call("GET /databases/db/streams/queries?query=from%20Users&start=1&pageSize=1", "").text();
    assert!(page.contains(r#""@id":"users/2""#) && !page.contains(r#""@id":"users/1""#), "{page}");
    wire.check_error("GET /databases/db/streams/queries", "", 400, "InvalidOperationException", "Index query");
    wire.check(post, r#"{"Query":"from index 'x'"}"#, 404, "");
    wire.check_error(
        post,
        r#"{"Query":"from Users include F"}"#,
        400,
        "InvalidOperationException",
        "Includes are not supported",
    );
}

#[test]
fn a_long_stream_is_one_snapshot_and_may_be_left() {
    let wire = Wire::with_database();
    let document = format!(r#"{{"Text":"{}"}}"#, "x".repeat(10_000));
    for number in 0..500 {
        wire.put(&format!("x/{number:03}"), &document);
    }
    let whole = wire.call("GET /databases/db/streams/docs?startsWith=x/", "");
    assert!(whole.body.len() > 5_000_000 && whole.text().ends_with("]}"));
    // A reader that goes away after the first bytes holds nothing up.
    for _ in 0..3 {
        let mut stream = wire.connect();
        stream.write_all(b"GET /databases/db/streams/docs?startsWith=x/ HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        stream.read_exact(&mut [0; 1000]).unwrap();
    }
    assert_eq!(wire.call("GET /databases/db/streams/docs?startsWith=x/", "").body.len(), whole.body.len());
}
