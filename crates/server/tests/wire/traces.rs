//! Traces: spans that a collector gets, and the ids of traces in the log.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use json::Value;
use rookery_server::TraceOptions;
use testing::wait;

use super::support::Wire;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

/// A collector that takes what comes, and tells path, content type and body of each request.
fn collector(status: &'static str) -> (String, Receiver<(String, String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/otlp", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let (mut head, mut size, mut kind) = (String::new(), 0, String::new());
            reader.read_line(&mut head).unwrap();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                let Some((name, value)) = line.trim_end().split_once(": ") else { break };
                match name.to_ascii_lowercase().as_str() {
                    "content-length" => size = value.parse().unwrap(),
                    "content-type" => kind = value.to_owned(),
                    _ => {}
                }
            }
            let mut body = vec![0; size];
            reader.read_exact(&mut body).unwrap();
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\n{{}}");
            reader.get_mut().write_all(answer.as_bytes()).unwrap();
            if sender.send((head.trim_end().to_owned(), kind, Value::parse(&body).unwrap())).is_err() {
                return;
            }
        }
    });
    (url, receiver)
}

fn start(url: &str, ratio: f64) -> Wire {
    Wire::start_with(|options| {
        let endpoint = url.parse().unwrap();
        let batch_time = Duration::from_millis(20);
        options.traces = Some(TraceOptions { endpoint, ratio, service: "shop-db".to_owned(), batch_time });
    })
}

fn elements<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    match value.get(name) {
        Some(Value::Array(elements)) => elements,
        other => panic!("{name}: {other:?}"),
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_else(|| panic!("{name} in {value:?}"))
}

/// An attribute of a span or a resource, as text.
fn attribute<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    let found = elements(value, "attributes").iter().find(|attribute| text(attribute, "key") == key)?;
    let value = found.get("value").unwrap();
    value.get("stringValue").or_else(|| value.get("intValue")).and_then(Value::as_str)
}

/// The spans of a body.
fn spans(body: &Value) -> Vec<Value> {
    let resources = elements(body, "resourceSpans");
    assert_eq!(attribute(resources[0].get("resource").unwrap(), "service.name"), Some("shop-db"));
    elements(&elements(&resources[0], "scopeSpans")[0], "spans").to_vec()
}

/// Spans up to a number of them.
fn received(receiver: &Receiver<(String, String, Value)>, count: usize) -> Vec<Value> {
    let mut found = Vec::new();
    while found.len() < count {
        let (head, kind, body) = receiver.recv_timeout(wait::LONG).expect("the collector gets spans");
        assert_eq!((head.as_str(), kind.as_str()), ("POST /otlp/v1/traces HTTP/1.1", "application/json"));
        found.extend(spans(&body));
    }
    found
}

#[test]
fn a_request_goes_on_with_the_trace_of_its_caller() {
    let (url, receiver) = collector("200 OK");
    let wire = start(&url, 0.0);
    // Neither of these is recorded: the first is in no trace, the caller of the second does not record its own.
    wire.create("db");
    wire.call_with("GET /databases/db/stats", &[&format!("traceparent: 00-{TRACE}-{SPAN}-00")], b"");
    let recorded = format!("traceparent: 00-{TRACE}-{SPAN}-01");
    let multi = r#"{"Requests":[{"Url":"/databases/db/docs","Query":"?id=secret"}]}"#;
    wire.call_with("POST /databases/DB/multi_get", &[&recorded], multi.as_bytes());
    wire.call_with("GET /nowhere?password=secret", &[&recorded], b"");
    let found = received(&receiver, 2);
    let [read, missing] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((text(read, "traceId"), text(read, "parentSpanId")), (TRACE, SPAN));
    assert_eq!(text(read, "name"), "POST /databases/{name}/multi_get");
    assert_eq!(attribute(read, "http.route"), Some("/databases/{name}/multi_get"));
    assert_eq!(
        (attribute(read, "db.namespace"), attribute(read, "url.path")),
        (Some("DB"), Some("/databases/DB/multi_get"))
    );
    assert_eq!(
        (attribute(read, "http.response.status_code"), attribute(read, "client.address")),
        (Some("200"), Some("127.0.0.1"))
    );
    let nanoseconds = |name: &str| text(read, name).parse::<u128>().unwrap();
    assert!(nanoseconds("startTimeUnixNano") > 0 && nanoseconds("startTimeUnixNano") <= nanoseconds("endTimeUnixNano"));
    assert_eq!(text(missing, "name"), "GET");
    // A mistake of the client is no failure of the server.
    assert_eq!((attribute(missing, "http.route"), attribute(missing, "error.type")), (None, None));
    assert!(text(read, "spanId").len() == 16 && text(read, "spanId") != text(missing, "spanId"));
    // The query string is left out.
    assert!(!format!("{found:?}").contains("secret"));
    let metrics = wire.call("GET /metrics", "").text();
    assert!(metrics.contains("rookery_trace_spans_dropped_total 0\n"), "{metrics}");
}

#[test]
fn a_share_of_the_others_begins_traces() {
    let (url, receiver) = collector("200 OK");
    let wire = start(&url, 1.0);
    for _ in 0..3 {
        wire.call("GET /build/version", "");
    }
    let found = received(&receiver, 3);
    let traces: std::collections::HashSet<_> = found.iter().map(|span| text(span, "traceId").to_owned()).collect();
    assert!(traces.len() == 3 && found.iter().all(|span| span.get("parentSpanId").is_none()), "{found:?}");
}

#[test]
fn spans_that_a_collector_does_not_take_are_counted() {
    let (url, receiver) = collector("503 Service Unavailable");
    let wire = start(&url, 1.0);
    wire.call("GET /build/version", "");
    received(&receiver, 1);
    // The answer of the collector is on its way.
    let dropped = |wire: &Wire| {
        let text = wire.call("GET /metrics", "").text();
        let line = text.lines().find_map(|line| line.strip_prefix("rookery_trace_spans_dropped_total "));
        line.unwrap().parse::<u64>().unwrap()
    };
    wait::until_true("a span is counted as dropped", || dropped(&wire) > 0);
    // Without a collector nothing is made.
    assert!(!Wire::start().call("GET /metrics", "").text().contains("rookery_trace"));
}
