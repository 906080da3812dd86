//! `/databases/{name}/attachments`, the commands on attachments, batches as forms, and attachments in bulk inserts. Expected answers are
//! those of the reference.

use std::io::{BufReader, Write};

use super::support::{Answer, Wire, read_answer};

const HELLO: &str = "Mk3PAn3UowqTLEQfNlol6GsXPe+kuOWJSCU0cbgbcs8=";
const EMPTY: &str = "DldRwCblQ7Loqy6wYJnaodHl30d3j3eH+qtFzfEv46g=";
fn wire() -> Wire {
    let wire = Wire::with_database();
    for number in 1..=2 {
        wire.put(&format!("users/{number}"), r#"{"N":1,"@metadata":{"@collection":"Users"}}"#);
    }
    wire
}

fn put(wire: &Wire, query: &str, content: &[u8]) -> Answer {
    wire.call_with(&format!("PUT /databases/db/attachments?{query}"), &[], content)
}

fn metadata(wire: &Wire, id: &str) -> String {
    let answer = wire.call(&format!("GET /databases/db/docs?id={id}"), "");
    let text = answer.masked();
    text.split(r#""@metadata":{"#).nth(1).unwrap_or_default().split(r#","@id""#).next().unwrap().to_owned()
}

fn headers(answer: &Answer, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| answer.header(name).unwrap_or("none").to_owned()).collect()
}

#[test]
fn an_attachment_is_put_read_and_deleted_without_regard_to_case() {
    let wire = wire();
    let answer = put(&wire, "id=users/1&name=A.txt&contentType=text/plain", b"hello");
    let expected = format!(
        r#"{{"ChangeVector":"A:3-ID","Name":"A.txt","DocumentId":"users/1","ContentType":"text/plain","Hash":"{HELLO}","Size":5}}"#
    );
    assert_eq!((answer.status, answer.masked()), (201, expected));
    assert_eq!(put(&wire, "id=USERS/1&name=b.TXT", b"").status, 201);
    let expected = format!(
        r#""@collection":"Users","@attachments":[{{"Name":"A.txt","Hash":"{HELLO}","ContentType":"text/plain","Size":5}},{{"Name":"b.TXT","Hash":"{EMPTY}","ContentType":"","Size":0}}],"@change-vector":"A:6-ID","@flags":"HasAttachments""#
    );
    assert_eq!(metadata(&wire, "users/1"), expected);
    let answer = wire.call("GET /databases/db/attachments?id=Users/1&name=a.TXT", "");
    assert_eq!((answer.status, answer.text().as_str()), (200, "hello"));
    let names = ["content-type", "content-length", "accept-ranges", "attachment-hash", "attachment-size"];
    assert_eq!(headers(&answer, &names), ["text/plain", "5", "bytes", HELLO, "5"]);
    let disposition = "attachment; filename=\"A.txt\"; filename*=UTF-8''A.txt";
    assert_eq!(answer.header("content-disposition"), Some(disposition));
    let etag = answer.header("etag").unwrap().to_owned();
    for method in ["GET", "HEAD"] {
        for etag in [etag.as_str(), etag.trim_matches('"')] {
            let header = format!("If-None-Match: {etag}");
            let answer =
                wire.call_with(&format!("{method} /databases/db/attachments?id=users/1&name=a.txt"), &[&header], b"");
            assert_eq!((answer.status, answer.body.len()), (304, 0), "{method} {etag}");
        }
    }
    let head = wire.call("HEAD /databases/db/attachments?id=users/1&name=a.txt", "");
    assert_eq!((head.status, headers(&head, &["etag", "content-length"])), (200, vec![etag, "5".to_owned()]));
    let empty = wire.call("GET /databases/db/attachments?id=users/1&name=B.txt", "");
    assert_eq!(
        (empty.status, headers(&empty, &["content-type", "content-length"])),
        (200, vec![String::new(), "0".to_owned()])
    );
    for method in ["GET", "HEAD"] {
        for query in ["id=users/1&name=none", "id=none&name=none"] {
            assert_eq!(
                wire.call(&format!("{method} /databases/db/attachments?{query}"), "").status,
                404,
                "{method} {query}"
            );
        }
    }
    let stats = wire.call("GET /databases/db/stats", "").text();
    assert!(
        stats.contains(r#""CountOfAttachments":2,"#) && stats.contains(r#""CountOfUniqueAttachments":2,"#),
        "{stats}"
    );
    for name in ["A.TXT", "A.TXT", "b.txt"] {
        wire.check(&format!("DELETE /databases/db/attachments?id=users/1&name={name}"), "", 204, "");
    }
    wire.check("DELETE /databases/db/attachments?id=none&name=none", "", 204, "");
    assert!(!metadata(&wire, "users/1").contains("ttachments"), "{}", metadata(&wire, "users/1"));
}

#[test]
fn ranges_are_those_of_http() {
    let wire = wire();
    put(&wire, "id=users/1&name=a", b"hello");
    let line = "GET /databases/db/attachments?id=users/1&name=a".to_owned();
    let ask = |headers: &[&str]| {
        let answer = wire.call_with(&line, headers, b"");
        (answer.status, answer.text(), answer.header("content-range").unwrap_or("none").to_owned())
    };
    let of = |status: u16, text: &str, range: &str| (status, text.to_owned(), range.to_owned());
    assert_eq!(ask(&["Range: bytes=1-2"]), of(206, "el", "bytes 1-2/5"));
    assert_eq!(ask(&["Range: bytes=-2"]), of(206, "lo", "bytes 3-4/5"));
    assert_eq!(ask(&["Range: bytes=0-100"]), of(206, "hello", "bytes 0-4/5"));
    assert_eq!(ask(&["Range: bytes=9-"]), of(416, "", "bytes */5"));
    assert_eq!(ask(&["Range: bytes=0-1,3-4"]), of(200, "hello", "none"));
    // A download goes on only with the content that it began with.
    let etag = wire.call(&line, "").header("etag").unwrap().to_owned();
    assert_eq!(ask(&["Range: bytes=1-2", &format!("If-Range: {etag}")]), of(206, "el", "bytes 1-2/5"));
    assert_eq!(ask(&["Range: bytes=1-2", "If-Range: \"A:1-x\""]), of(200, "hello", "none"));
    // Compressed, other bytes would be counted.
    assert_eq!(ask(&["Range: bytes=1-2", "Accept-Encoding: gzip"]), of(206, "el", "bytes 1-2/5"));
    // Larger than what comes with a command, and than what is read at once.
    let large: Vec<u8> = (0..9_000_000u32).map(|at| (at * 7 / 3) as u8).collect();
    assert_eq!(put(&wire, "id=users/1&name=a", &large).status, 201);
    let whole = wire.call_with(&line, &["Accept-Encoding: gzip"], b"");
    assert_eq!(
        (whole.status, whole.header("content-length"), whole.header("content-encoding")),
        (200, Some("9000000"), None)
    );
    assert!(whole.body == large);
    let part = wire.call_with(&line, &["Range: bytes=1000000-7999999"], b"");
    assert_eq!((part.status, part.header("content-range")), (206, Some("bytes 1000000-7999999/9000000")));
    assert!(part.body == large[1_000_000..8_000_000]);
    let head = wire.call("HEAD /databases/db/attachments?id=users/1&name=a", "");
    assert_eq!((head.status, head.header("content-length")), (200, Some("9000000")));
}

#[test]
fn what_is_refused_names_the_reason() {
    let wire = wire();
    put(&wire, "id=users/1&name=a", b"hello");
    let refused = |line: &str, headers: &[&str], body: &[u8], status: u16, exception: &str, message: &str| {
        wire.call_with(line, headers, body).check_error(status, exception, message);
    };
    let missing = "Document 'none' does not exist. Cannot put attachment 'x' on a missing document.";
    let line = "PUT /databases/db/attachments?id=none&name=x".to_owned();
    refused(&line, &[], b"x", 400, ".DocumentDoesNotExistException", missing);
    for (line, name) in [("GET", "name"), ("PUT", "name"), ("DELETE", "name"), ("HEAD", "name")] {
        let answer = wire.call(&format!("{line} /databases/db/attachments?id=users/1"), "");
        assert_eq!(answer.status, 400, "{line} {name}");
    }
    let line = "PUT /databases/db/attachments?id=users/1&name=a".to_owned();
    let stale = "Attachment a of 'users/1' has change vector A:3-";
    refused(&line, &["If-Match: \"A:1-x\""], b"new", 409, ".ConcurrencyException", stale);
    refused(&line, &["If-Match: \"\""], b"new", 409, ".ConcurrencyException", stale);
    let line = "PUT /databases/db/attachments?id=users/1&name=b".to_owned();
    let nothing = "Attachment b of 'users/1' does not exist, but Put was called with change vector 'A:1-x'.";
    refused(&line, &["If-Match: \"A:1-x\""], b"new", 409, ".ConcurrencyException", nothing);
    let line = "DELETE /databases/db/attachments?id=users/1&name=a".to_owned();
    refused(&line, &["If-Match: \"A:1-x\""], b"", 409, ".ConcurrencyException", stale);
    let long = format!("PUT /databases/db/attachments?id=users/1&name={}", "x".repeat(600));
    refused(&long, &[], b"x", 400, ".ArgumentException", "the attachment 'xxx");
    assert_eq!(wire.call("GET /databases/db/attachments?id=users/1&name=a", "").text(), "hello");
}

#[test]
fn several_attachments_are_read_and_deleted_at_once() {
    let wire = wire();
    put(&wire, "id=users/1&name=a&contentType=x/y", b"hello");
    put(&wire, "id=users/2&name=b", b" world");
    let body = r#"{"AttachmentType":"Document","Attachments":[{"DocumentId":"USERS/1","Name":"A"},{"DocumentId":"users/1","Name":"none"},{"DocumentId":"users/2","Name":"b"}]}"#;
    let answer = wire.call("POST /databases/db/attachments/bulk", body).masked();
    let expected = format!(
        r#"{{"AttachmentsMetadata":[{{"Name":"a","Hash":"{HELLO}","ContentType":"x/y","Size":5,"ChangeVector":"A:3-ID","DocumentId":"users/1"}},{{"Name":"b","Hash":""#
    );
    assert!(answer.starts_with(&expected) && answer.ends_with(r#""DocumentId":"users/2"}]}hello world"#), "{answer}");
    let untyped = r#"{"Attachments":[]}"#;
    let mandatory = "The 'AttachmentType' field in the body request is mandatory";
    wire.check_error("POST /databases/db/attachments/bulk", untyped, 400, "ArgumentException", mandatory);
    let hash = HELLO.replace('+', "%2B");
    let count = |count: u64| format!(r#"{{"Hash":"{HELLO}","Count":{count}}}"#);
    wire.check(&format!("GET /databases/db/debug/attachments/hash?hash={hash}"), "", 200, &count(1));
    let one = format!(
        r#"{{"Id":"users/1","Attachments":[{{"Name":"a","Hash":"{HELLO}","ContentType":"x/y","Size":5,"Count":1}}]}}"#
    );
    wire.check("GET /databases/db/debug/attachments/metadata?id=users/1", "", 200, &one);
    wire.check("DELETE /databases/db/attachments/bulk", body, 204, "");
    wire.check(&format!("GET /databases/db/debug/attachments/hash?hash={hash}"), "", 200, &count(0));
    assert!(!metadata(&wire, "users/2").contains("ttachments"));
}

/// A form of a batch.
fn form(commands: &str, parts: &[&[u8]], heads: (&str, &str)) -> Vec<u8> {
    let mut form = format!("--XX\r\n{}\r\n{{\"Commands\":[{commands}]}}\r\n", heads.0).into_bytes();
    for part in parts {
        form.extend_from_slice(format!("--XX\r\n{}\r\n", heads.1).as_bytes());
        form.extend_from_slice(part);
        form.extend_from_slice(b"\r\n");
    }
    form.extend_from_slice(b"--XX--\r\n");
    form
}

const NODE: (&str, &str) = (
    "Content-Disposition: form-data; name=\"main\"; filename=\"blob\"\r\nContent-Type: application/json\r\n",
    "Content-Disposition: form-data; name=\"attachment_0\"; filename=\"blob\"\r\nContent-Type: application/octet-stream\r\n",
);

fn send(wire: &Wire, kind: &str, body: &[u8]) -> Answer {
    wire.call_with("POST /databases/db/bulk_docs", &[&format!("Content-Type: {kind}; boundary=XX")], body)
}

fn command(id: &str, name: &str) -> String {
    format!(r#"{{"Type":"AttachmentPUT","Id":"{id}","Name":"{name}","ContentType":null,"ChangeVector":null}}"#)
}

#[test]
fn a_batch_comes_as_a_form_with_its_contents() {
    let wire = wire();
    let document = r#"{"Type":"PUT","Id":"users/3","Document":{"@metadata":{"@collection":"Users"}}}"#;
    let commands = [document.to_owned(), command("users/3", "q"), command("users/3", "P")].join(",");
    let large = vec![b'x'; 5_000_000];
    let answer = send(&wire, "multipart/form-data", &form(&commands, &[b"hello", &large], NODE));
    assert_eq!(answer.status, 201, "{}", answer.text());
    let q = format!(
        r#"{{"Id":"users/3","Type":"AttachmentPUT","Name":"q","ChangeVector":"A:4-ID","Hash":"{HELLO}","ContentType":"","Size":5,"DocumentChangeVector":"A:5-ID"}}"#
    );
    let text = answer.masked();
    assert!(
        text.contains(&q) && text.contains(r#""ContentType":"","Size":5000000,"DocumentChangeVector":"A:"#),
        "{text}"
    );
    assert!(wire.call("GET /databases/db/attachments?id=users/3&name=p", "").body == large);
    // Heads as other clients write them, and a part without one.
    for (number, (kind, heads)) in [
        ("multipart/mixed", ("", "Command-Type: AttachmentStream\r\n")),
        (
            "multipart/form-data",
            (
                "Content-Disposition: form-data; name=\"main\"\r\n",
                "Command-Type: AttachmentStream\r\nContent-Transfer-Encoding: binary\r\n",
            ),
        ),
    ]
    .iter()
    .enumerate()
    {
        let answer = send(&wire, kind, &form(&command("users/1", &number.to_string()), &[b"one"], *heads));
        assert_eq!(answer.status, 201, "{}", answer.text());
    }
    let carried = |kind: &str, name: &str| {
        format!(
            r#"{{"Commands":[{{"Type":"{kind}","Id":"users/3","Name":"{name}","DestinationId":"users/2","DestinationName":"{name}2","ChangeVector":null}}]}}"#
        )
    };
    for (kind, name) in [("AttachmentCOPY", "P"), ("AttachmentMOVE", "Q")] {
        let answer = wire.call("POST /databases/db/bulk_docs", &carried(kind, name));
        assert_eq!(answer.status, 201, "{}", answer.text());
    }
    let stats = wire.call("GET /databases/db/stats", "").text();
    assert!(
        stats.contains(r#""CountOfAttachments":5,"#) && stats.contains(r#""CountOfUniqueAttachments":3,"#),
        "{stats}"
    );
    let again = wire.call("POST /databases/db/bulk_docs", &carried("AttachmentMOVE", "q"));
    again.check_error(
        400,
        ".AttachmentDoesNotExistException",
        "There is no attachment with 'q' name for document 'users/3'.",
    );
}

#[test]
fn a_form_that_does_not_fit_its_commands_leaves_nothing() {
    let wire = wire();
    let both = [command("users/1", "a"), command("users/1", "b")].join(",");
    let large = vec![b'x'; 5_000_000];
    let refused = |body: &[u8], status: u16, exception: &str, message: &str| {
        send(&wire, "multipart/form-data", body).check_error(status, exception, message);
    };
    let fewer = "the batch has 2 commands 'AttachmentPUT', but 1 contents follow it";
    refused(&form(&both, &[&large], NODE), 400, "InvalidOperationException", fewer);
    refused(&form("", &[b"one"], NODE), 400, "InvalidOperationException", "the batch has 0 commands");
    refused(&form(&command("none", "a"), &[&large], NODE), 400, ".DocumentDoesNotExistException", "Document 'none'");
    let cut = form(&command("users/1", "a"), &[&large], NODE);
    refused(&cut[..cut.len() - 10], 400, "EndOfStreamException", "The request body is incomplete");
    refused(b"--XX--\r\n", 400, "BadRequestException", "The form has no part with the commands");
    let single = format!(r#"{{"Commands":[{}]}}"#, command("users/1", "a"));
    wire.check_error(
        "POST /databases/db/bulk_docs",
        &single,
        400,
        "InvalidOperationException",
        "the content of the attachment 'a' is missing",
    );
    let wide = form(r#"],"TransactionMode":"ClusterWide","x":["#, &[b"one"], NODE);
    refused(&wide, 400, "BadRequestException", "A cluster-wide transaction has no attachments");
    let stats = wire.call("GET /databases/db/stats", "").text();
    assert!(
        stats.contains(r#""CountOfAttachments":0,"#) && stats.contains(r#""CountOfUniqueAttachments":0,"#),
        "{stats}"
    );
}

#[test]
fn an_upload_that_stops_leaves_nothing() {
    let wire = wire();
    {
        let mut stream = wire.connect();
        write!(
            stream,
            "PUT /databases/db/attachments?id=users/1&name=a HTTP/1.1\r\nHost: x\r\nContent-Length: 20000000\r\n\r\n"
        )
        .unwrap();
        stream.write_all(&vec![b'x'; 10_000_000]).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let answer = read_answer(&mut BufReader::new(stream), false);
        assert!(answer.is_none_or(|answer| answer.status == 400));
    }
    assert_eq!(wire.call("GET /databases/db/attachments?id=users/1&name=a", "").status, 404);
    assert_eq!(put(&wire, "id=users/1&name=a", &vec![b'x'; 10_000_000]).status, 201);
}

#[test]
fn a_bulk_insert_has_attachments_between_its_commands() {
    let wire = wire();
    let large = vec![b']'; 3_000_000];
    let mut body = br#"[{"Id":"users/2","Type":"AttachmentPUT","Name":"blk","ContentType":"x/y","ContentLength":4}]"4{,{"Id":"users/9","Type":"PUT","Document":{"@metadata":{"@collection":"Users"}}},{"Id":"users/9","Type":"AttachmentPUT","Name":"n","ContentLength":0},{"Id":"users/9","Type":"AttachmentPUT","Name":"large","ContentLength":3000000}"#.to_vec();
    body.extend_from_slice(&large);
    body.extend_from_slice(b"]");
    let answer = wire.call_with("POST /databases/db/bulk_insert?id=7", &[], &body);
    assert_eq!((answer.status, answer.body.len()), (201, 0), "{}", answer.text());
    let state = wire.call("GET /databases/db/operations/state?id=7", "").text();
    let done = r#""Total":4,"Message":"Processed 4 items.","Details":[],"Query":null,"DocumentsProcessed":1,"AttachmentsProcessed":3"#;
    assert!(state.contains(done), "{state}");
    assert_eq!(wire.call("GET /databases/db/attachments?id=users/2&name=blk", "").text(), "]\"4{");
    assert!(wire.call("GET /databases/db/attachments?id=users/9&name=large", "").body == large);
    let failed = "Failed to process bulk insert.";
    let missing = r#"[{"Id":"none","Type":"AttachmentPUT","Name":"a","ContentLength":1}x]"#;
    wire.check_error("POST /databases/db/bulk_insert", missing, 400, "InvalidOperationException", failed);
    let unsaid = r#"[{"Id":"users/9","Type":"AttachmentPUT","Name":"a"}x]"#;
    wire.check_error("POST /databases/db/bulk_insert", unsaid, 400, "InvalidOperationException", failed);
    let cut = r#"[{"Id":"users/9","Type":"AttachmentPUT","Name":"a","ContentLength":9}x]"#;
    wire.check_error("POST /databases/db/bulk_insert", cut, 400, "InvalidOperationException", failed);
}

#[test]
fn indexes_read_attachments_and_their_contents() {
    let wire = wire();
    put(&wire, "id=users/1&name=notes.txt&contentType=text/plain", b"some words");
    let maps = [
        (
            "C",
            r#"from u in docs.Users let a = LoadAttachment(u, \"notes.txt\") select new { Notes = a.GetContentAsString(), Count = AttachmentsFor(u).Count(), Size = a.Size }"#,
        ),
        (
            "J",
            "map('Users', u => { const a = loadAttachment(u, 'notes.txt'); return { Notes: a?.getContentAsString(), Count: attachmentsFor(u).length, Size: a?.Size } })",
        ),
    ];
    for (name, map) in maps {
        let body = format!(
            r#"{{"Indexes":[{{"Name":"{name}","Maps":["{map}"],"Fields":{{"Notes":{{"Indexing":"Search"}}}}}}]}}"#
        );
        let answer = wire.call("PUT /databases/db/admin/indexes", &body);
        assert_eq!(answer.status, 201, "{}", answer.text());
    }
    let found = |name: &str, condition: &str| {
        let query = format!(
            r#"{{"Query":"from index '{name}' where {condition}","WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":"00:00:15"}}"#
        );
        let answer = wire.call("POST /databases/db/queries", &query);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let text = answer.text();
        ["users/1", "users/2"].into_iter().filter(|id| text.contains(&format!(r#""@id":"{id}""#))).collect::<Vec<_>>()
    };
    for (name, _) in maps {
        assert_eq!(found(name, "search(Notes, 'words')"), ["users/1"], "{name}");
        assert_eq!(found(name, "Size = 10 and Count = 1"), ["users/1"], "{name}");
        assert_eq!(found(name, "Count = 0"), ["users/2"], "{name}");
    }
    // Another content, and another document: both are mapped again.
    put(&wire, "id=users/1&name=notes.txt", b"something else");
    put(&wire, "id=users/2&name=Notes.TXT", b"more words");
    for (name, _) in maps {
        assert_eq!(found(name, "search(Notes, 'words')"), ["users/2"], "{name}");
        assert_eq!(found(name, "search(Notes, 'else')"), ["users/1"], "{name}");
    }
    wire.check("DELETE /databases/db/attachments?id=users/2&name=notes.txt", "", 204, "");
    for (name, _) in maps {
        assert_eq!(found(name, "search(Notes, 'words')"), Vec::<&str>::new(), "{name}");
        assert_eq!(found(name, "Count = 0"), ["users/2"], "{name}");
    }
}

#[test]
fn patches_and_projections_list_attachments() {
    let wire = wire();
    put(&wire, "id=users/1&name=a.txt&contentType=text/plain", b"hello");
    put(&wire, "id=users/1&name=b.bin", b"");
    let query = |text: &str| {
        let body = serde_json::json!({ "Query": text }).to_string();
        let answer = wire.call("POST /databases/db/queries", &body);
        assert_eq!(answer.status, 200, "{text}: {}", answer.text());
        let found: serde_json::Value = serde_json::from_str(&answer.text()).unwrap();
        found["Results"].as_array().unwrap().iter().map(|row| row["Files"].clone()).collect::<Vec<_>>()
    };
    let names = "from Users as u order by id() select { Files: attachments(u).map(a => a.Name) }";
    assert_eq!(query(names), [serde_json::json!(["a.txt", "b.bin"]), serde_json::json!([])]);
    let whole = "from Users as u where id() = 'users/1' select { Files: attachmentsFor(u)[0] }";
    let first = serde_json::json!({"Name": "a.txt", "Hash": HELLO, "ContentType": "text/plain", "Size": 5});
    assert_eq!(query(whole), [first]);
    let patch = r#"{"Patch":{"Script":"this.Files = attachments(this).length; this.None = attachments(null).length"}}"#;
    assert_eq!(wire.call("PATCH /databases/db/docs?id=users/1", patch).status, 200);
    let document = wire.call("GET /databases/db/docs?id=users/1", "").text();
    assert!(document.contains(r#""Files":2,"None":0"#), "{document}");
    let contents = r#"{"Patch":{"Script":"loadAttachment(this, 'a.txt')"}}"#;
    let refused = wire.call("PATCH /databases/db/docs?id=users/1", contents);
    assert_eq!(refused.status, 501);
    assert!(refused.text().contains("'loadAttachment' in scripts"), "{}", refused.text());
}
