//! `POST /databases/{name}/bulk_insert`

use std::io::{BufReader, Read, Write};

use super::support::{Wire, read_answer};

fn command(id: &str) -> String {
    format!(r#"{{"Id":"{id}","Type":"PUT","Document":{{"A":1,"@metadata":{{"@collection":"Bs"}}}}}}"#)
}

fn count(wire: &Wire) -> i64 {
    wire.call("GET /databases/db/stats", "").json().get("CountOfDocuments").unwrap().as_i64().unwrap()
}

#[test]
fn an_array_is_stored_and_the_operation_says_so() {
    let wire = Wire::with_database();
    wire.check("GET /databases/db/operations/next-operation-id", "", 200, r#"{"Id":1,"NodeTag":"A"}"#);
    let body = format!("[{},{{\"Type\":\"HeartBeat\"}} ,\n{}]", command("b/1"), command("b/"));
    wire.check("POST /databases/db/bulk_insert?id=1", &body, 201, "");
    assert_eq!(count(&wire), 2);
    let state = wire.call("GET /databases/db/operations/state?id=1", "").text();
    assert!(
        state.contains(r#""Total":2,"Message":"Processed 2 items.""#) && state.ends_with(r#""Status":"Completed"}"#),
        "{state}"
    );
}

#[test]
fn the_answer_comes_when_the_array_closes_and_the_request_stays_open() {
    let wire = Wire::with_database();
    let mut stream = wire.connect();
    stream
        .write_all(b"POST /databases/db/bulk_insert?id=1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        .unwrap();
    let first = format!("[{}", command("b/1"));
    let second = format!(",{}]", command("b/2"));
    stream.write_all(format!("{:x}\r\n{first}", first.len()).as_bytes()).unwrap();
    stream.flush().unwrap();
    // Neither the line end of this chunk nor the last chunk is ever sent.
    stream.write_all(format!("\r\n{:x}\r\n{second}", second.len()).as_bytes()).unwrap();
    stream.flush().unwrap();
    let answer = read_answer(&mut BufReader::new(stream), false).unwrap();
    assert_eq!((answer.status, answer.header("content-length"), answer.body.len()), (201, Some("0"), 0));
    assert_eq!(answer.header("connection"), Some("close"));
    assert_eq!(count(&wire), 2);
}

/// What a slow client has sent is stored while it makes the next document, and stays when its connection breaks.
#[test]
fn documents_of_a_slow_client_are_stored_at_once() {
    let wire = Wire::with_database();
    let mut stream = wire.connect();
    stream
        .write_all(b"POST /databases/db/bulk_insert?id=1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        .unwrap();
    for number in 1..=3 {
        let part = format!("{}{}", if number == 1 { "[" } else { "," }, command(&format!("b/{number}")));
        stream.write_all(format!("{:x}\r\n{part}\r\n", part.len()).as_bytes()).unwrap();
        testing::wait::until_equal(|| count(&wire), number);
    }
    let state = wire.call("GET /databases/db/operations/state?id=1", "").text();
    let progress = r#""Total":3,"BatchCount":3,"LastProcessedId":"b/3","DocumentsProcessed":3,"AttachmentsProcessed":0,"CountersProcessed":0,"TimeSeriesProcessed":0}"#;
    assert!(state.contains(progress) && state.contains(r#""Status":"InProgress""#), "{state}");
    drop(stream);
    assert_eq!(count(&wire), 3);
}

#[test]
fn a_connection_whose_request_ended_is_kept() {
    let wire = Wire::with_database();
    let body = format!("[{}]", command("b/1"));
    let mut stream = wire.connect();
    let request =
        format!("POST /databases/db/bulk_insert HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    for _ in 0..2 {
        stream.write_all(request.as_bytes()).unwrap();
        assert_eq!(read_answer(&mut reader, false).unwrap().status, 201);
    }
}

#[test]
fn compressed_streams_are_taken() {
    use flate2::write::GzEncoder;
    let wire = Wire::with_database();
    let commands: Vec<String> = (0..500).map(|number| command(&format!("b/{number}"))).collect();
    let body = format!("[{}]", commands.join(","));
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(body.as_bytes()).unwrap();
    let answer = wire.call_with("POST /databases/db/bulk_insert", &["Content-Encoding: gzip"], &gzip.finish().unwrap());
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert_eq!(count(&wire), 500);
    let zstd = zstd::encode_all(body.replace("b/", "c/").as_bytes(), 1).unwrap();
    let answer = wire.call_with("POST /databases/db/bulk_insert", &["Content-Encoding: zstd"], &zstd);
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert_eq!(count(&wire), 1000);
}

#[test]
fn unchanged_documents_are_not_written_again_when_asked() {
    let wire = Wire::with_database();
    let body = format!("[{}]", command("b/1"));
    let vector = || wire.call("GET /databases/db/docs?id=b/1", "").header("etag").unwrap().to_owned();
    wire.check("POST /databases/db/bulk_insert", &body, 201, "");
    let first = vector();
    wire.check("POST /databases/db/bulk_insert?skipOverwriteIfUnchanged=true", &body, 201, "");
    assert_eq!(vector(), first);
    wire.check("POST /databases/db/bulk_insert?skipOverwriteIfUnchanged=false", &body, 201, "");
    assert_ne!(vector(), first);
}

#[test]
fn a_broken_stream_is_told_to_client_and_operation() {
    let wire = Wire::with_database();
    let failed = "Failed to process bulk insert.";
    for (id, body) in [
        (1, r#"[{"Id":"b/1","Type":"PUT","Docu"#),
        (2, r#"{"Id":"b/1"}"#),
        (3, r#"[{"Id":"b/1","Type":"PUT","Document":{"A":}}]"#),
        (4, r#"[{"Id":"b/1","Type":"PUT","Document":[]}]"#),
        (5, ""),
        (7, r#"[{"Id":"b|","Type":"PUT","Document":{}}]"#),
    ] {
        wire.check_error(
            &format!("POST /databases/db/bulk_insert?id={id}"),
            body,
            400,
            "InvalidOperationException",
            failed,
        );
        let state = wire.call(&format!("GET /databases/db/operations/state?id={id}"), "").text();
        assert!(state.contains(r#""Status":"Faulted""#) && state.contains(r#""Error":""#), "{state}");
    }
    let series = r#"[{"Id":"b/1","Type":"TimeSeriesBulkInsert"}]"#;
    wire.check_error("POST /databases/db/bulk_insert?id=6", series, 501, "InvalidOperationException", failed);
    assert_eq!(count(&wire), 0);
    let state = wire.call("GET /databases/db/operations/state?id=7", "").text();
    assert!(state.contains("Document ids cannot end with '|' in a bulk insert"), "{state}");
}

#[test]
fn any_pieces_of_a_stream_give_the_same() {
    let wire = Wire::with_database();
    let body = format!("[{},{}]", command("b/1"), command("b/2"));
    let mut stream = wire.connect();
    stream
        .write_all(b"POST /databases/db/bulk_insert HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        .unwrap();
    for piece in body.as_bytes().chunks(7) {
        stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).unwrap();
        stream.write_all(piece).unwrap();
        stream.write_all(b"\r\n").unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    assert_eq!(read_answer(&mut BufReader::new(stream), false).unwrap().status, 201);
    assert_eq!(count(&wire), 2);
}

#[test]
fn the_number_of_a_running_operation_is_refused() {
    let wire = Wire::with_database();
    let mut held = wire.connect();
    let head =
        b"POST /databases/db/bulk_insert?id=1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n";
    held.write_all(head).unwrap();
    // It has begun when its operation is there.
    wire.until("GET /databases/db/operations/state?id=1", |state| state.status == 200);
    let body = format!("[{}]", command("b/1"));
    let refused = "the operation 1 is in progress";
    wire.check_error("POST /databases/db/bulk_insert?id=1", &body, 400, "InvalidOperationException", refused);
    held.write_all(b"1\r\n]\r\n0\r\n\r\n").unwrap();
    assert_eq!(read_answer(&mut BufReader::new(held), false).unwrap().status, 201);
    wire.check("POST /databases/db/bulk_insert?id=1", &body, 201, "");
}

#[test]
fn the_error_names_the_last_document_that_is_stored() {
    let wire = Wire::with_database();
    let commands: Vec<String> = (1..3000).map(|number| command(&format!("b/{number}"))).collect();
    let body = format!(r#"[{},{{"Id":"b/x","Type":"PUT","Document":[]}}]"#, commands.join(","));
    let expected = "Failed to process bulk insert. Inserted 2048 items in 1 batches. Last document ID: 'b/2048'.";
    wire.check_error("POST /databases/db/bulk_insert?id=1", &body, 400, "InvalidOperationException", expected);
    let state = wire.call("GET /databases/db/operations/state?id=1", "").text();
    assert!(state.contains(expected) && state.contains(r#""LastProcessedId":"b/2048""#), "{state}");
    // Nothing was stored: no document is named.
    let failed =
        wire.call("POST /databases/db/bulk_insert?id=3", r#"[{"Id":"d/1","Type":"PUT","Document":[]}]"#).text();
    assert!(failed.contains("Inserted 0 items in 0 batches. ") && !failed.contains("Last document"), "{failed}");
}

/// A client that sends without looking for an answer is not cut off: it gets through what it sends, and then reads why it failed.
#[test]
fn the_error_of_a_large_bulk_insert_is_not_lost() {
    const PART_SIZE: usize = 64 << 10;
    let wire = Wire::with_database();
    let mut stream = wire.connect();
    let head =
        b"POST /databases/db/bulk_insert?id=1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n[{]}\r\n";
    stream.write_all(head).unwrap();
    // Reads on its own, as an event loop does, and says when the server ends its half.
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let has_ended = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let ended = has_ended.clone();
    let reading = std::thread::spawn(move || {
        let answer = read_answer(&mut reader, false).unwrap();
        let rest = reader.read(&mut [0; 1]).unwrap();
        ended.store(true, std::sync::atomic::Ordering::SeqCst);
        (answer, rest)
    });
    let part = format!("{PART_SIZE:x}\r\n{}\r\n", " ".repeat(PART_SIZE));
    for _ in 0..512 {
        stream.write_all(part.as_bytes()).unwrap();
    }
    assert!(!has_ended.load(std::sync::atomic::Ordering::SeqCst), "the server ended its half while it was sent to");
    let (answer, rest) = reading.join().unwrap();
    assert_eq!((answer.status, answer.header("connection"), rest), (400, Some("close"), 0));
    assert!(answer.text().contains("Failed to process bulk insert."), "{}", answer.text());
}
