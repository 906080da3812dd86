//! The limits, from both sides: at the limit it works, above it the documented refusal comes.

use std::io::{BufReader, Read, Write};
use std::time::{Duration, Instant};

use rookery_server::Limits;
use testing::wait;

use super::support::{Answer, Wire, read_answer};

fn with_limits(change: impl FnOnce(&mut Limits)) -> Wire {
    let wire = Wire::start_with(|options| change(&mut options.limits));
    wire.create("db");
    wire
}

#[track_caller]
fn check_limit(answer: &Answer, status: u16, name: &str) {
    assert_eq!(answer.status, status, "{}", answer.text());
    assert!(answer.text().contains(name), "{}", answer.text());
}

#[test]
fn header_count() {
    let wire = Wire::start();
    let headers: Vec<String> = (0..126).map(|number| format!("X-{number}: y")).collect();
    let mut headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    // Host and Connection come on top.
    assert_eq!(wire.call_with("GET /build/version", &headers, b"").status, 200);
    headers.push("One-More: y");
    check_limit(&wire.call_with("GET /build/version", &headers, b""), 431, "Limits.HeaderCount = 128");
    headers.extend(["X: y"; 128]);
    assert_eq!(wire.call_with("GET /build/version", &headers, b"").status, 431);
}

#[test]
fn header_line_and_block() {
    let wire = Wire::start();
    let header = |size: usize| format!("X: {}", "y".repeat(size));
    assert_eq!(wire.call_with("GET /build/version", &[&header(32 << 10)], b"").status, 200);
    check_limit(
        &wire.call_with("GET /build/version", &[&header((32 << 10) + 1)], b""),
        431,
        "Limits.HeaderLineInKb = 32",
    );
    let half = header(31 << 10);
    assert_eq!(wire.call_with("GET /build/version", &[&half, &half], b"").status, 200);
    let name = "Limits.HeaderBlockInKb = 64";
    check_limit(&wire.call_with("GET /build/version", &[&half, &half, &half], b""), 431, name);
    assert_eq!(wire.call_with("GET /build/version", &[&half, &half, &half, &half], b"").status, 431);
}

#[test]
fn request_line_and_parameters() {
    let wire = Wire::start();
    let target = |size: usize| format!("GET /build/version?{}", "x".repeat(size - "/build/version?".len()));
    assert_eq!(wire.call(&target(32 << 10), "").status, 200);
    check_limit(&wire.call(&target((32 << 10) + 1), ""), 414, "Limits.RequestLineInKb = 32");
    let parameters = |count: usize| format!("GET /build/version?{}", vec!["a"; count].join("&"));
    assert_eq!(wire.call(&parameters(10_000), "").status, 200);
    check_limit(&wire.call(&parameters(10_001), ""), 414, "Limits.QueryParameterCount = 10000");
}

#[test]
fn request_body() {
    let wire = with_limits(|limits| limits.request_body_size = 1 << 20);
    let document = |size: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(size - 8));
    assert_eq!(wire.call("PUT /databases/db/docs?id=a", &document(1 << 20)).status, 201);
    let name = "Limits.RequestBodyInMb = 1";
    check_limit(&wire.call("PUT /databases/db/docs?id=a", &document((1 << 20) + 1)), 413, name);
    // Without a length in the head it is counted as it comes.
    let mut stream = wire.connect();
    stream.write_all(b"PUT /databases/db/docs?id=a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
    for _ in 0..17 {
        let _ = stream.write_all(format!("10000\r\n{}\r\n", "x".repeat(0x10000)).as_bytes());
    }
    let _ = stream.write_all(b"0\r\n\r\n");
    check_limit(&read_answer(&mut BufReader::new(stream), false).unwrap(), 413, name);
    let bomb = zstd::encode_all(document(2 << 20).as_bytes(), 1).unwrap();
    check_limit(&wire.call_with("PUT /databases/db/docs?id=a", &["Content-Encoding: zstd"], &bomb), 413, name);
}

#[test]
fn a_client_that_is_still_sending_learns_why_it_is_refused() {
    let wire = with_limits(|limits| limits.request_body_size = 1 << 20);
    for _ in 0..20 {
        let mut stream = wire.connect();
        let head = b"PUT /databases/db/docs?id=a HTTP/1.1\r\nHost: x\r\nContent-Length: 3145728\r\n\r\n";
        stream.write_all(head).unwrap();
        stream.write_all(&vec![b'x'; 3 << 20]).unwrap();
        check_limit(&read_answer(&mut BufReader::new(stream), false).unwrap(), 413, "Limits.RequestBodyInMb = 1");
    }
}

#[test]
fn decompression_ratio() {
    let wire = with_limits(|limits| limits.decompression_ratio = 1000);
    let document = format!("{{\"a\":\"{}\"}}", "x".repeat(4 << 20));
    let bomb = zstd::encode_all(document.as_bytes(), 1).unwrap();
    let answer = wire.call_with("PUT /databases/db/docs?id=a", &["Content-Encoding: zstd"], &bomb);
    check_limit(&answer, 413, "Limits.DecompressionRatio = 1000");
    // The default lets everything pass that the format can make.
    let wire = Wire::with_database();
    assert_eq!(wire.call_with("PUT /databases/db/docs?id=a", &["Content-Encoding: zstd"], &bomb).status, 201);
}

#[test]
fn connections() {
    let wire = with_limits(|limits| limits.connection_count = 2);
    // The connection that made the database may not be gone yet.
    let open = |wire: &Wire| {
        let mut stream = wire.connect();
        stream.write_all(b"GET /build/version HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let answer = read_answer(&mut BufReader::new(stream.try_clone().unwrap()), false);
        (stream, answer.map(|answer| answer.status))
    };
    let served = || {
        wait::until(|| match open(&wire) {
            (stream, Some(200)) => Ok(stream),
            (_, status) => Err(format!("{status:?}")),
        })
    };
    let held = [served(), served()];
    let mut refused = wire.connect();
    let mut text = String::new();
    let _ = refused.read_to_string(&mut text);
    assert!(text.starts_with("HTTP/1.1 503 ") && text.contains("Limits.Connections"), "{text}");
    assert!(
        text.contains("\r\nRaven-Server-Version: 7.1.5.71028\r\n") && text.contains("\r\nServer: Rookery/"),
        "{text}"
    );
    drop(held);
    served();
}

/// The limit of the tests below, far from the defaults.
const SHORT: Duration = Duration::from_secs(1);

/// Sends the beginning of something and waits until the server closes the connection: because of a limit of [`SHORT`].
///
/// * `default`: the limit if the setting had no effect, at least 15 s. The test sends all it has at once, so that only a server which
///   needs 15 times its limit comes near it.
#[track_caller]
fn check_closed(wire: &Wire, sent: &[u8], default: Duration) {
    let start = Instant::now();
    let mut stream = wire.connect();
    stream.write_all(sent).unwrap();
    let _ = stream.read_to_end(&mut Vec::new());
    let elapsed = start.elapsed();
    assert!(elapsed > SHORT / 2 && elapsed < default.min(wait::LONG), "{elapsed:?}");
}

#[test]
fn header_deadline() {
    let wire = with_limits(|limits| limits.header_deadline = SHORT);
    check_closed(&wire, b"GET /build/version HTTP/1.1\r\nHost:", Limits::default().header_deadline);
    // A connection without a request is idle, which is another limit.
    let mut idle = wire.connect();
    std::thread::sleep(2 * SHORT);
    idle.write_all(b"GET /build/version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    assert_eq!(read_answer(&mut BufReader::new(idle), false).unwrap().status, 200);
}

#[test]
fn idle_connections() {
    let wire = with_limits(|limits| limits.idle = SHORT);
    check_closed(&wire, b"GET /build/version HTTP/1.1\r\nHost: x\r\n\r\n", Limits::default().idle);
}

#[test]
fn streams_of_which_nothing_arrives() {
    let wire = with_limits(|limits| limits.stream_idle = SHORT);
    let head =
        b"POST /databases/db/bulk_insert?id=1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n";
    check_closed(&wire, head, Limits::default().stream_idle);
    // The operation does not stay open for ever.
    let state = wire.ended(1).text();
    assert!(state.contains("Faulted"), "{state}");
}

#[test]
fn query_text() {
    let wire = with_limits(|limits| limits.query_text_size = 1024);
    let query = |size: usize| format!("{{\"Query\":\"from Users {}\"}}", "/".repeat(size - 11));
    assert_eq!(wire.call("POST /databases/db/queries", &query(1024)).status, 200);
    check_limit(&wire.call("POST /databases/db/queries", &query(1025)), 413, "Limits.QueryTextInKb = 1");
}

#[test]
fn max_steps_for_script() {
    let run = |steps: u64, turns: u32| {
        let wire = with_limits(|limits| limits.script_steps = steps);
        assert_eq!(wire.call("PUT /databases/db/docs?id=a", "{}").status, 201);
        let script = format!("let n = 0; while (n < {turns}) n++; this.N = n;");
        wire.call("PATCH /databases/db/docs?id=a", &format!(r#"{{"Patch":{{"Script":"{script}"}}}}"#))
    };
    assert_eq!(run(10_000, 9_000).status, 200);
    let message = "The maximum number of statements executed have been reached - 10000. You can configure it by modifying \
                   the configuration option: 'Patching.MaxStepsForScript'.";
    run(10_000, 45_000).check_error(400, "Patching.JavaScriptException", message);
    let passed = run(100_000, 45_000);
    assert_eq!(passed.status, 200, "{}", passed.text());
}

#[test]
fn query_run_time() {
    let wire = with_limits(|limits| limits.query_run_time = Duration::ZERO);
    assert_eq!(wire.call("PUT /databases/db/docs?id=a", "{}").status, 201);
    // What is looked at counts, not what is found.
    for query in
        ["from @all_docs", "from Nothing order by id()", "from Nothing order by id() desc", "from A where id() = 'b'"]
    {
        let answer = wire.call("POST /databases/db/queries", &format!(r#"{{"Query":"{query}"}}"#));
        answer.check_error(500, "System.TimeoutException", "The query was cancelled");
    }
    for line in [
        "docs",
        "docs?start=1",
        "docs?startsWith=a",
        "docs?startsWith=&matches=none*",
        "docs?id=1&id=2&id=3&id=4&id=5&id=6&id=7&id=8&id=9",
    ] {
        let answer = wire.call(&format!("GET /databases/db/{line}"), "");
        answer.check_error(500, "System.TimeoutException", "The query was cancelled");
    }
    // A deletion goes on in the background.
    let operation = wire.call("DELETE /databases/db/queries", r#"{"Query":"from @all_docs"}"#).json();
    let id = operation.get("OperationId").unwrap().as_i64().unwrap();
    let state = wire.ended(id).text();
    assert!(state.ends_with(r#""Status":"Completed"}"#), "{state}");
    assert_eq!(wire.call("HEAD /databases/db/docs?id=a", "").status, 404);
}

#[test]
fn requests_in_one_multi_get() {
    let wire = with_limits(|limits| limits.multi_get_count = 2);
    let request = r#"{"Url":"/databases/db/docs","Query":"?id=a"}"#;
    let requests = |count: usize| format!("{{\"Requests\":[{}]}}", vec![request; count].join(","));
    assert_eq!(wire.call("POST /databases/db/multi_get", &requests(2)).status, 200);
    check_limit(&wire.call("POST /databases/db/multi_get", &requests(3)), 413, "Limits.MultiGetCount = 2");
}

#[test]
fn bodies_that_become_trees_of_values() {
    let wire = with_limits(|limits| limits.object_body_size = 8 << 20);
    let ones = |count: usize| format!("[{}1]", "1,".repeat(count));
    let query =
        |count: usize| format!(r#"{{"Query":"from Users where a in ($p)","QueryParameters":{{"p":{}}}}}"#, ones(count));
    let bodies: [(&str, &dyn Fn(usize) -> String); 6] = [
        ("POST /databases/db/queries", &query),
        ("POST /databases/db/streams/queries", &query),
        ("PATCH /databases/db/queries", &|count| format!(r#"{{"Query":{}}}"#, query(count))),
        ("POST /databases/db/docs", &|count| format!(r#"{{"Ids":[{}""]}}"#, r#""","#.repeat(count))),
        ("POST /databases/db/multi_get", &|count| format!(r#"{{"Requests":{}}}"#, ones(count))),
        ("PUT /databases/db/indexes", &|count| format!(r#"{{"Indexes":{}}}"#, ones(count))),
    ];
    for (line, body) in bodies {
        check_limit(&wire.call(line, &body(5 << 20)), 413, "Limits.ObjectBodyInMb = 8");
        // A value takes some 128 bytes: a smaller body, compressed or not, exceeds what one request may hold.
        let small = body(2_200_000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(small.as_bytes()).unwrap();
        let gzip = wire.call_with(line, &["Content-Encoding: gzip"], &gzip.finish().unwrap());
        for answer in [wire.call(line, &small), gzip] {
            check_limit(&answer, 413, "Limits.RequestMemoryInMb");
        }
    }
    // Documents are no trees.
    let document = format!(r#"{{"a":{}}}"#, ones(5 << 20));
    assert_eq!(wire.call("PUT /databases/db/docs?id=a", &document).status, 201);
}

#[test]
fn the_answer_of_one_multi_get() {
    let wire = with_limits(|limits| limits.multi_get_answer_size = 1 << 20);
    let document = format!("{{\"Text\":\"{}\"}}", "x".repeat(300 << 10));
    assert_eq!(wire.call("PUT /databases/db/docs?id=a", &document).status, 201);
    let request = r#"{"Url":"/databases/db/docs","Query":"?id=a"}"#;
    let requests = |count: usize| format!("{{\"Requests\":[{}]}}", vec![request; count].join(","));
    assert_eq!(wire.call("POST /databases/db/multi_get", &requests(3)).status, 200);
    check_limit(&wire.call("POST /databases/db/multi_get", &requests(4)), 413, "Limits.MultiGetAnswerInMb = 1");
}

#[test]
fn bodies_in_memory() {
    let wire = with_limits(|limits| limits.bodies_size = 1 << 20);
    let document = format!("{{\"Text\":\"{}\"}}", "x".repeat(700 << 10));
    let put = || wire.call("PUT /databases/db/docs?id=a", &document);
    assert_eq!(put().status, 201);
    // A body that stops short of its end stays in memory.
    let hold = || {
        let mut held = wire.connect();
        held.write_all(b"PUT /databases/db/docs?id=b HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n").unwrap();
        held.write_all(&document.as_bytes()[..600 << 10]).unwrap();
        held
    };
    // When both come at once, it can be this one that is refused.
    let is_refused = |held: &std::net::TcpStream| {
        held.set_nonblocking(true).unwrap();
        let is_answered = held.peek(&mut [0]).is_ok();
        held.set_nonblocking(false).unwrap();
        is_answered
    };
    let mut held = hold();
    let refused = wait::until(|| {
        let answer = put();
        if answer.status != 201 {
            return Ok(answer);
        }
        if is_refused(&held) {
            held = hold();
        }
        Err("the other body is not counted")
    });
    check_limit(&refused, 503, "Limits.BodiesInMb = 1");
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(wire.call("PUT /databases/db/docs?id=small", "{}").status, 201);
    drop(held);
    wait::until_equal(|| put().status, 201);
}

#[test]
fn an_element_of_a_bulk_insert_that_does_not_end() {
    let wire = with_limits(|limits| limits.bodies_size = 4 << 20);
    let part = "x".repeat(1 << 20);
    let mut insert = wire.connect();
    insert
        .write_all(b"POST /databases/db/bulk_insert HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        .unwrap();
    let mut chunk = |text: &str| insert.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes());
    chunk(r#"[{"Id":"a","Type":"PUT","Document":{"Text":""#).unwrap();
    // The refusal may come while parts are sent.
    for _ in 0..8 {
        if chunk(&part).is_err() {
            break;
        }
    }
    let refused = read_answer(&mut BufReader::new(insert), false).unwrap();
    check_limit(&refused, 503, "Limits.BodiesInMb = 4");
    // Its memory is free again, and what is smaller was never hindered.
    let document = format!(r#"[{{"Id":"b","Type":"PUT","Document":{{"Text":"{part}"}}}}]"#);
    wire.check("POST /databases/db/bulk_insert", &document, 201, "");
}

#[test]
fn memory_of_one_query() {
    let wire = with_limits(|limits| limits.request_memory_size = 1 << 20);
    let document = |number: usize| {
        let id = format!("{number:06}{}", "i".repeat(490));
        format!(r#"{{"Id":"{id}","Type":"PUT","Document":{{"N":{number},"@metadata":{{"@collection":"Ns"}}}}}}"#)
    };
    let documents: Vec<String> = (0..4000).map(document).collect();
    wire.check("POST /databases/db/bulk_insert", &format!("[{}]", documents.join(",")), 201, "");
    let query = |rql: &str| {
        let body = format!(r#"{{"Query":"{rql}","WaitForNonStaleResults":true}}"#);
        wire.call("POST /databases/db/queries?metadataOnly=true", &body)
    };
    // The ids of all are sorted, and take more than is allowed.
    check_limit(&query("from Ns where N >= 0 order by id() limit 10"), 413, "Limits.RequestMemoryInMb = 1");
    assert_eq!(query("from Ns where N < 1000 order by id() limit 10").status, 200);
    check_limit(&query("from Ns select distinct id()"), 413, "Limits.RequestMemoryInMb = 1");
}

#[test]
fn memory_of_the_patches_of_one_batch() {
    let wire = with_limits(|limits| limits.request_memory_size = 4 << 20);
    wire.put("big", &format!(r#"{{"N":0,"Text":"{}"}}"#, "x".repeat(600 << 10)));
    let batch = |command: &str, count: usize| {
        let commands = vec![command; count].join(",");
        wire.call("POST /databases/db/bulk_docs", &format!(r#"{{"Commands":[{commands}]}}"#))
    };
    let script = r#"{"Type":"PATCH","Id":"big","Patch":{"Script":"this.N++"}}"#;
    let json = r#"{"Type":"JsonPatch","Id":"big","JsonPatch":{"Operations":[{"op":"replace","path":"/N","value":7}]}}"#;
    let again =
        r#"{"Type":"JsonPatch","Id":"big","JsonPatch":{"Operations":[{"op":"replace","path":"/N","value":8}]}}"#;
    assert_eq!(batch(script, 4).status, 201);
    check_limit(&batch(script, 40), 413, "Limits.RequestMemoryInMb = 4");
    assert_eq!(batch(&format!("{json},{again}"), 2).status, 201);
    check_limit(&batch(&format!("{json},{again}"), 20), 413, "Limits.RequestMemoryInMb = 4");
    // Nothing of it was written, and one that fits is written as before.
    assert_eq!(batch(script, 1).status, 201);
    assert!(wire.call("GET /databases/db/docs?id=big", "").text().contains(r#""N":9"#));
}

#[test]
fn only_loopback_without_certificates() {
    let open = |unsecured_access| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let addresses = vec![([0, 0, 0, 0], 0).into()];
        let options = rookery_server::Options {
            addresses,
            in_memory: true,
            unsecured_access,
            ..rookery_server::Options::default()
        };
        runtime.block_on(async { rookery_server::Server::start(options).await.map(drop) })
    };
    let refused = open(false).unwrap_err().to_string();
    assert!(refused.contains("0.0.0.0:0") && refused.contains("UnsecuredAccessAllowed"), "{refused}");
    open(true).unwrap();
}
