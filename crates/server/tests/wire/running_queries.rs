//! The list of the queries that run, and ending one of them.

use std::io::{BufRead, BufReader, Write};

use json::Value;

use super::support::Wire;

/// A query that takes some milliseconds for each of [`COUNT`] documents: most of a minute, unless somebody ends it.
const LONG: &str =
    "declare function f(u) { for (let i = 0; i < 200000; i++) { } return 1; } from Users as u select { a: f(u) }";
const COUNT: usize = 5000;

fn wire() -> Wire {
    let wire = Wire::start_with(|options| options.limits.script_steps = 1 << 60);
    wire.create("db");
    wire.create("other");
    let put = |number| {
        format!(r#"{{"Id":"users/{number}","Type":"PUT","Document":{{"@metadata":{{"@collection":"Users"}}}}}}"#)
    };
    let puts: Vec<String> = (0..COUNT).map(put).collect();
    let answer = wire.call("POST /databases/db/bulk_insert?id=1", &format!("[{}]", puts.join(",")));
    assert_eq!(answer.status, 201, "{}", answer.text());
    wire
}

/// The first query that runs, once there is one.
fn first_running(wire: &Wire) -> Value {
    testing::wait::until(|| match wire.call("GET /admin/running-queries", "").json().get("Results") {
        Some(Value::Array(queries)) if !queries.is_empty() => Ok(queries[0].clone()),
        _ => Err("no query runs"),
    })
}

fn id_of(query: &Value) -> i64 {
    query.get("QueryId").and_then(Value::as_i64).unwrap()
}

#[test]
fn a_query_that_runs_is_listed_and_can_be_ended() {
    let wire = wire();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let body = format!(r#"{{"Query":"{LONG}","PageSize":4000,"Start":0}}"#);
            wire.call("POST /databases/db/queries", &body)
        });
        let query = first_running(&wire);
        let text = |name: &str| query.get(name).and_then(Value::as_str).unwrap().to_owned();
        assert_eq!((text("Database"), text("IndexName")), ("db".to_owned(), "collection/Users".to_owned()));
        assert_eq!(query.get("IsStreaming"), Some(&Value::Bool(false)));
        let info = query.get("QueryInfo").unwrap();
        assert_eq!(info.get("Query").and_then(Value::as_str), Some(LONG));
        assert_eq!(info.get("PageSize").and_then(Value::as_i64), Some(4000));
        assert!(text("StartTime").ends_with('Z') && text("Duration").starts_with("00:00:"), "{query:?}");
        let of_database = wire.call("GET /databases/db/debug/queries/running", "").json();
        let Some(Value::Array(of_index)) = of_database.get("collection/Users") else { panic!("{of_database:?}") };
        assert_eq!(id_of(&of_index[0]), id_of(&query));
        wire.check("GET /databases/other/debug/queries/running", "", 200, "{}");
        wire.check("GET /admin/running-queries?database=other", "", 200, r#"{"Results":[]}"#);
        // Of another database, index or number nothing is ended.
        let id = id_of(&query);
        let kill = |database: &str, index: &str, id: i64| {
            format!("POST /databases/{database}/debug/queries/kill?indexName={index}&id={id}")
        };
        let missing = "No query with the id";
        wire.check_error(&kill("other", "collection/Users", id), "", 404, "ArgumentException", missing);
        wire.check_error(&kill("db", "collection/Orders", id), "", 404, "ArgumentException", missing);
        wire.check_error(&kill("db", "collection/Users", id + 1), "", 404, "ArgumentException", missing);
        wire.check_error(
            "POST /databases/db/debug/queries/kill?indexName=x&id=y",
            "",
            400,
            "ArgumentException",
            "Query string value 'id' must be",
        );
        assert!(!asking.is_finished());
        wire.check(&kill("DB", "collection/users", id), "", 204, "");
        asking.join().unwrap().check_error(500, "OperationCanceledException", "The query was ended by an operator");
    });
    wire.check("GET /admin/running-queries", "", 200, r#"{"Results":[]}"#);
}

#[test]
fn a_stream_that_runs_is_listed_and_cut_off() {
    let wire = wire();
    // Whether the head leaves before the end is up to the network.
    let mut stream = wire.connect();
    let query: String = LONG.bytes().map(|byte| format!("%{byte:02X}")).collect();
    write!(stream, "GET /databases/db/streams/queries?query={query} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let running = first_running(&wire);
    assert_eq!(running.get("IsStreaming"), Some(&Value::Bool(true)));
    let kill = format!("POST /databases/db/debug/queries/kill?indexName=collection/Users&id={}", id_of(&running));
    wire.check(&kill, "", 204, "");
    let lines: Vec<String> = BufReader::new(stream).lines().map_while(Result::ok).collect();
    assert!(lines.iter().all(|line| !line.ends_with("]}")), "{lines:?}");
    wire.check("GET /admin/running-queries", "", 200, r#"{"Results":[]}"#);
}
