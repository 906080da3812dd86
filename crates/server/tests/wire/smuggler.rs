//! `/databases/{name}/smuggler`

use std::io::{BufReader, Read, Write};

use super::support::{Answer, Wire, read_answer};

const TYPE: &str = "Content-Type: multipart/form-data; boundary=XX";

fn form(options: &str, dump: &[u8]) -> Vec<u8> {
    [
        b"--XX\r\nContent-Disposition: form-data; name=\"importOptions\"\r\n\r\n".as_slice(),
        options.as_bytes(),
        b"\r\n--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.ravendbdump\"\r\n",
        b"Content-Type: application/octet-stream\r\n\r\n",
        dump,
        b"\r\n--XX--\r\n",
    ]
    .concat()
}

fn import(wire: &Wire, database: &str, options: &str, dump: &[u8]) -> Answer {
    wire.call_with(&format!("POST /databases/{database}/smuggler/import"), &[TYPE], &form(options, dump))
}

fn gunzip(bytes: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

fn count(wire: &Wire, database: &str) -> i64 {
    let stats = wire.call(&format!("GET /databases/{database}/stats"), "").json();
    stats.get("CountOfDocuments").unwrap().as_i64().unwrap()
}

fn counted(answer: &Answer, item_type: &str, name: &str) -> String {
    let value = answer.json().get(item_type).unwrap().get(name).unwrap().to_vec();
    String::from_utf8(value).unwrap()
}

#[test]
fn a_database_is_exported_and_imported_elsewhere() {
    let wire = Wire::with_database();
    wire.create("to");
    wire.call("POST /databases/db/studio/sample-data", "");
    wire.call("POST /databases/db/identity/seed?name=users%7C&value=17", "");
    wire.call("GET /databases/db/queries?query=from%20Companies%20where%20Name%3D'x'", "");
    wire.call("GET /databases/db/queries?query=from%20Orders%20group%20by%20Company%20select%20count()%2CCompany", "");
    for (compression, start) in [("Gzip", &b"\x1f\x8b"[..]), ("Zstd", &b"\x28\xb5\x2f\xfd"[..])] {
        let options = format!("{{\"CompressionAlgorithm\":\"{compression}\"}}");
        let headers = ["Accept-Encoding: gzip, zstd", "Content-Type: application/json"];
        let export = wire.call_with("POST /databases/db/smuggler/export", &headers, options.as_bytes());
        assert_eq!((export.status, export.header("content-encoding")), (200, None));
        assert_eq!(export.header("content-type"), Some("application/octet-stream"));
        let disposition = export.header("content-disposition").unwrap();
        assert!(disposition.starts_with("attachment; filename=Dump%20of%20db%20"), "{disposition}");
        assert!(export.body.starts_with(start));
        let answer = import(&wire, "to", "{}", &export.body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(
            answer.text().starts_with(r#"{"$type":"Raven.Client.Documents.Smuggler.SmugglerResult, Raven.Client""#)
        );
        assert_eq!(counted(&answer, "Documents", "ReadCount"), "1059");
        assert_eq!(counted(&answer, "Indexes", "ReadCount"), "8");
        assert_eq!(counted(&answer, "Indexes", "ErroredCount"), "0");
        assert_eq!(count(&wire, "to"), 1059);
    }
    let all = |database: &str, path: &str| wire.call(&format!("GET /databases/{database}/{path}"), "").text();
    let names = "indexes?namesOnly=true";
    let results = |text: String| text.split_once("\"Results\"").unwrap().1.to_owned();
    assert_eq!(results(all("to", names)), results(all("db", names)));
    assert_eq!(all("to", "debug/identities"), all("db", "debug/identities"));
    let body = |database: &str| {
        let text = all(database, "docs?id=orders/1-A");
        let (body, date) = (
            text.split_once("@change-vector").unwrap().0.to_owned(),
            text.split_once("@last-modified").unwrap().1.to_owned(),
        );
        (body, date)
    };
    assert_eq!(body("to"), body("db"));
}

/// All of a file is read at an import, to the checksum at its end.
#[test]
fn an_export_with_a_changed_bit_is_refused() {
    let wire = Wire::with_database();
    (0..3).for_each(|n| {
        _ = wire.put(&format!("a/{n}"), &format!(r#"{{"Date":"1997-0{n}-30","@metadata":{{"@collection":"As"}}}}"#));
    });
    for compression in ["Gzip", "Zstd"] {
        let options = format!("{{\"CompressionAlgorithm\":\"{compression}\",\"OperateOnTypes\":\"Documents\"}}");
        let whole = wire.call("POST /databases/db/smuggler/export", &options).body;
        let decompressed = |file: &[u8]| match compression {
            "Gzip" => {
                let mut text = Vec::new();
                flate2::read::GzDecoder::new(file).read_to_end(&mut text).map(|_| text)
            }
            _ => zstd::decode_all(file),
        };
        let contents = decompressed(&whole).unwrap();
        let mut refused = 0;
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1 << (at % 8);
            let answer = import(&wire, "db", "{}", &changed);
            refused += usize::from(answer.status == 400);
            // One that means the same, such as the date of a file in gzip.
            assert!(
                answer.status == 400 || decompressed(&changed).unwrap() == contents,
                "{compression} {at}: {}",
                answer.text()
            );
        }
        assert!(refused > whole.len() * 9 / 10, "{refused} of {}", whole.len());
    }
}

#[test]
fn the_options_of_an_export_may_come_in_a_form() {
    let wire = Wire::with_database();
    wire.put("a/1", r#"{"@metadata":{"@collection":"As"}}"#);
    wire.put("b/1", r#"{"@metadata":{"@collection":"Bs"}}"#);
    let body = "DownloadOptions=%7B%22CompressionAlgorithm%22%3A%22Gzip%22%2C%22Collections%22%3A%5B%22As%22%5D%2C+%22OperateOnTypes%22%3A%22Documents%22%2C%22FileName%22%3A%22a+b%2F%22%7D";
    let headers = ["Content-Type: application/x-www-form-urlencoded"];
    let export = wire.call_with("POST /databases/db/smuggler/export", &headers, body.as_bytes());
    assert_eq!(export.header("content-disposition"), Some("attachment; filename=a%20b%2F.ravendbdump"));
    let dump = gunzip(&export.body);
    assert!(
        dump.starts_with(r#"{"BuildVersion":71028,"Docs":[{"@metadata":{"@collection":"As","@change-vector":"#),
        "{dump}"
    );
    assert!(!dump.contains("b/1") && dump.ends_with("}}]}"), "{dump}");
    // JSON that is called a form is JSON, as `curl -d` sends it; what is neither is refused.
    let call = |body: &str| wire.call_with("POST /databases/db/smuggler/export", &headers, body.as_bytes());
    let dump =
        gunzip(&call(r#" {"CompressionAlgorithm":"Gzip","Collections":["Bs"],"OperateOnTypes":"Documents"}"#).body);
    assert!(dump.contains("b/1") && !dump.contains("a/1"), "{dump}");
    for body in [r#"{"OperateOnTypes":"Foo"}"#, "nonsense", "Options={}"] {
        assert_eq!(call(body).status, 400, "{body}");
    }
    assert_eq!(call("").status, 200);
}

#[test]
fn an_export_is_an_operation() {
    let wire = Wire::with_database();
    wire.put("a/1", "{}");
    wire.check("GET /databases/db/operations/next-operation-id", "", 200, r#"{"Id":1,"NodeTag":"A"}"#);
    assert_eq!(wire.call("POST /databases/db/smuggler/export?operationId=1", "{}").status, 200);
    let state = wire.call("GET /databases/db/operations/state?id=1", "").text();
    assert!(
        state.contains(r#""Result":{"$type":"Raven.Client.Documents.Smuggler.SmugglerResult, Raven.Client","#),
        "{state}"
    );
    assert!(state.ends_with(r#""Status":"Completed"}"#), "{state}");
}

#[test]
fn what_a_request_lacks_is_refused_by_name() {
    let wire = Wire::with_database();
    let check = |body: &[u8], exception: &str, message: &str| {
        wire.call_with("POST /databases/db/smuggler/import", &[TYPE], body).check_error(400, exception, message);
    };
    let refused =
        |options: &str, dump: &[u8], exception: &str, message: &str| check(&form(options, dump), exception, message);
    refused("{}", b"[1]", "InvalidDataException", "The dump cannot be imported: byte 0: a JSON object is expected");
    refused("{}", b"", "InvalidDataException", "The dump cannot be imported: byte 0: the file is empty");
    refused(
        "{}",
        br#"{"Docs":[{"@metadata":{"@id":"a/1"}},{"#,
        "InvalidDataException",
        "The dump cannot be imported: byte",
    );
    assert_eq!(count(&wire, "db"), 1, "what stands before the end is stored");
    refused(
        "{}",
        br#"{"Docs":[{"b":1}]}"#,
        "InvalidDataException",
        "The dump cannot be imported: byte 9, element 1 of 'Docs': the document has no '@id'",
    );
    refused(r#"{"OperateOnTypes":"Blah"}"#, b"{}", "InvalidDataException", "'OperateOnTypes' has the type 'Blah'");
    refused("[]", b"{}", "InvalidStartOfObjectException", "Expected start of object");
    check(b"--XX--\r\n", "BadRequestException", "The form is not acceptable: its first part must be 'importOptions'");
    let text = form("{}", b"{}");
    let file = text.windows(10).position(|window| window == b"\r\n--XX\r\nCo").unwrap();
    check(
        &text[file + 2..],
        "BadRequestException",
        "The form is not acceptable: its first part must be 'importOptions'",
    );
    check(
        &[&text[..file], b"\r\n--XX--\r\n"].concat(),
        "BadRequestException",
        "The form is not acceptable: it has no part with a file",
    );
    wire.call_with("POST /databases/db/smuggler/import", &[TYPE], &text[..text.len() - 14]).check_error(
        400,
        "EndOfStreamException",
        "The request body is incomplete",
    );
    wire.check_error(
        "POST /databases/db/smuggler/import",
        "{}",
        400,
        "BadRequestException",
        "The form is not acceptable: the Content-Type",
    );
    wire.check_error(
        "POST /databases/db/smuggler/export",
        r#"{"Zork":1}"#,
        400,
        "InvalidDataException",
        "exports and imports have no option 'Zork'",
    );
    wire.check_error(
        "POST /databases/db/smuggler/export",
        r#"{"EncryptionKey":"a"}"#,
        501,
        "RavenException",
        "Rookery",
    );
    let syntax = r#"{"TransformScript":"this. ="}"#;
    wire.check_error("POST /databases/db/smuggler/export", syntax, 400, "JavaScriptParseException", "Failed to parse");
    refused(syntax, b"{}", "JavaScriptParseException", "Failed to parse");
}

#[test]
fn a_compressed_dump_may_lack_its_end_mark_and_may_not_lack_more() {
    let wire = Wire::with_database();
    let dump = br#"{"Docs":[{"@metadata":{"@id":"a/1"}},{"@metadata":{"@id":"a/2"}}]}"#;
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.write_all(dump).unwrap();
    encoder.flush().unwrap();
    let answer = import(&wire, "db", "{}", encoder.get_ref());
    assert_eq!((answer.status, count(&wire, "db")), (200, 2), "{}", answer.text());
    let whole = zstd::encode_all(&dump[..], 1).unwrap();
    for size in [0, 3, 5, whole.len() / 2, whole.len() - 5] {
        let answer = import(&wire, "db", "{}", &whole[..size]);
        answer.check_error(400, "InvalidDataException", "The dump cannot be imported");
    }
    let mut flipped = whole.clone();
    flipped[6] ^= 0xff;
    assert_eq!(import(&wire, "db", "{}", &flipped).status, 400);
}

/// White space that is a thousand times larger than its compressed form, and a document that is larger than one may be.
#[test]
fn decompression_bombs_are_read_in_bounded_memory_and_refused() {
    let wire = Wire::with_database();
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    let spaces = vec![b' '; 1 << 20];
    encoder.write_all(br#"{"Docs":["#).unwrap();
    (0..200).for_each(|_| encoder.write_all(&spaces).unwrap());
    encoder.write_all(br#"{"@metadata":{"@id":"a/1"}}]}"#).unwrap();
    let answer = import(&wire, "db", "{}", &encoder.finish().unwrap());
    assert_eq!((answer.status, count(&wire, "db")), (200, 1), "{}", answer.text());
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    encoder.write_all(br#"{"Docs":[{"a":""#).unwrap();
    let text = vec![b'x'; 1 << 20];
    (0..80).for_each(|_| encoder.write_all(&text).unwrap());
    let answer = import(&wire, "db", "{}", &encoder.finish().unwrap());
    answer.check_error(400, "InvalidDataException", "The dump cannot be imported");
    assert!(answer.text().contains("DUMP_ELEMENT_SIZE_MAX"), "{}", answer.text());
}

#[test]
fn an_import_is_told_of_while_it_goes_on_and_can_be_killed() {
    let wire = Wire::with_database();
    let mut stream = wire.connect();
    let head = format!(
        "POST /databases/db/smuggler/import?operationId=5 HTTP/1.1\r\nHost: x\r\n{TYPE}\r\nContent-Length: 100000\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    // What may be the beginning of a boundary waits, so that blanks follow the document.
    let begin = form("{}", br#"{"Docs":[{"@metadata":{"@id":"a/1"}},                "#);
    stream.write_all(&begin[..begin.len() - b"\r\n--XX--\r\n".len()]).unwrap();
    // What has arrived is stored although more is to come.
    testing::wait::until_equal(|| count(&wire, "db"), 1);
    let state = wire.call("GET /databases/db/operations/state?id=5", "").text();
    assert!(state.contains("SmugglerProgress") && state.ends_with(r#""Status":"InProgress"}"#), "{state}");
    assert_eq!(wire.call("POST /databases/db/operations/kill?id=5", "").status, 204);
    stream.write_all(&[b' '; 4096]).unwrap();
    let answer = read_answer(&mut BufReader::new(stream), false).unwrap();
    answer.check_error(500, "OperationCanceledException", "the operation was cancelled");
    let state = wire.call("GET /databases/db/operations/state?id=5", "").text();
    assert!(state.ends_with(r#""Status":"Canceled"}"#), "{state}");
}

#[test]
fn the_lock_mode_comes_with_the_record_of_the_database() {
    let wire = Wire::with_database();
    wire.create("to");
    wire.call("POST /admin/databases/set-lock", r#"{"DatabaseNames":["db"],"Mode":"PreventDeletesIgnore"}"#);
    wire.call("POST /databases/db/admin/expiration/config", r#"{"Disabled":false,"DeleteFrequencyInSec":7}"#);
    let dump = gunzip(&wire.call("POST /databases/db/smuggler/export", r#"{"CompressionAlgorithm":"Gzip"}"#).body);
    assert!(dump.contains(r#""LockMode":"PreventDeletesIgnore""#), "{dump}");
    let record = |wire: &Wire| wire.call("GET /admin/databases?name=to", "").json();
    assert_eq!(import(&wire, "to", r#"{"OperateOnDatabaseRecordTypes":"Client"}"#, dump.as_bytes()).status, 200);
    assert_eq!(record(&wire).get("LockMode").unwrap().as_str(), Some("Unlock"));
    let answer = import(&wire, "to", "{}", dump.as_bytes());
    assert_eq!(counted(&answer, "DatabaseRecord", "LockModeUpdated"), "true");
    assert_eq!(counted(&answer, "DatabaseRecord", "ExpirationUpdated"), "true");
    let expiration = record(&wire).get("Expiration").unwrap().to_vec();
    assert!(String::from_utf8_lossy(&expiration).contains("\"DeleteFrequencyInSec\":7"), "{expiration:?}");
    assert_eq!(record(&wire).get("LockMode").unwrap().as_str(), Some("PreventDeletesIgnore"));
}

#[test]
fn archived_documents_and_tasks_by_the_clock_come_with_a_dump() {
    let wire = Wire::with_database();
    wire.create("to");
    wire.call("POST /databases/db/admin/expiration/config", r#"{"Disabled":false,"DeleteFrequencyInSec":77}"#);
    let document = r#"{"N":1,"@metadata":{"@collection":"Users","@id":"a","@archived":true,"@flags":"Archived"}}"#;
    let given = format!(r#"{{"BuildVersion":71028,"Docs":[{document}]}}"#);
    assert_eq!(import(&wire, "db", "{}", given.as_bytes()).status, 200);
    let dump = gunzip(&wire.call("POST /databases/db/smuggler/export", r#"{"CompressionAlgorithm":"Gzip"}"#).body);
    let answer = import(&wire, "to", "{}", dump.as_bytes());
    assert_eq!(counted(&answer, "DatabaseRecord", "ExpirationUpdated"), "true");
    let stored = wire.call("GET /databases/to/docs?id=a", "").text();
    assert!(stored.contains(r#""@archived":true"#) && stored.contains(r#""@flags":"Archived""#), "{stored}");
    let record = wire.call("GET /admin/databases?name=to", "").text();
    assert!(record.contains(r#""Expiration":{"Disabled":false,"DeleteFrequencyInSec":77,"#), "{record}");
    // As RavenDB may have stored it: the documents count more.
    let wrong =
        r#"{"BuildVersion":71028,"DatabaseRecord":{"Refresh":{"Disabled":false,"MaxItemsToProcess":-1}},"Docs":[]}"#;
    let answer = import(&wire, "to", "{}", wrong.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(wire.call("GET /admin/databases?name=to", "").text().contains(r#""Refresh":null"#));
}

/// RavenDB would take such an index for one of sums.
#[test]
fn an_index_with_measures_of_groups_is_in_no_dump() {
    let wire = Wire::with_database();
    wire.put("orders/1", r#"{"Company":"A","City":"Oslo","Freight":1,"@metadata":{"@collection":"Orders"}}"#);
    for query in ["group by Company select sum(Freight)", "group by City select min(Freight)"] {
        let body = format!(r#"{{"Query":"from Orders {query}","WaitForNonStaleResults":true}}"#);
        let answer = wire.call("POST /databases/db/queries", &body);
        assert!(answer.text().contains(r#""TotalResults":1"#), "{}", answer.text());
    }
    let headers = ["Content-Type: application/json"];
    let export = wire.call_with("POST /databases/db/smuggler/export", &headers, br#"{"CompressionAlgorithm":"Gzip"}"#);
    let text = gunzip(&export.body);
    assert!(text.contains("Auto/Orders/ByFreightReducedByCompany") && !text.contains("min(Freight)"), "{text}");
}

/// What lists say of the subscriptions of a database, by name, without dates.
fn subscriptions(wire: &Wire, database: &str) -> Vec<String> {
    let list = wire.call(&format!("GET /databases/{database}/subscriptions"), "").json();
    let Some(json::Value::Array(all)) = list.get("Results").cloned() else { panic!("{list:?}") };
    let properties = [
        "SubscriptionName",
        "Query",
        "Disabled",
        "ChangeVectorForNextBatchStartingPoint",
        "MentorNode",
        "PinToMentorNode",
        "ArchivedDataProcessingBehavior",
    ];
    let text = |state: &json::Value, name: &str| String::from_utf8(state.get(name).unwrap().to_vec()).unwrap();
    all.iter().map(|state| properties.map(|name| text(state, name)).join(" ")).collect()
}

#[test]
fn subscriptions_come_with_a_dump() {
    let wire = Wire::with_database();
    wire.create("to");
    wire.put("users/1", r#"{"@metadata":{"@collection":"Users"}}"#);
    for body in [
        r#"{"Name":"all","Query":"from Users"}"#,
        r#"{"Name":"Übrig","Query":"from Users where Name = \"é\"","Disabled":true,"ChangeVector":"LastDocument","MentorNode":"A","PinToMentorNode":true,"ArchivedDataProcessingBehavior":"IncludeArchived"}"#,
    ] {
        assert_eq!(wire.call("PUT /databases/db/subscriptions", body).status, 201);
    }
    let stored = subscriptions(&wire, "db");
    assert!(stored.len() == 2 && stored.iter().any(|text| text.contains(r#"true "A:1-"#)), "{stored:?}");
    let dump = gunzip(&wire.call("POST /databases/db/smuggler/export", r#"{"CompressionAlgorithm":"Gzip"}"#).body);
    // As RavenDB writes it.
    let element = r#"{"Query":"from Users","ChangeVectorForNextBatchStartingPoint":null,"SubscriptionId":1,"SubscriptionName":"all","MentorNode":null,"PinToMentorNode":false,"NodeTag":null,"LastBatchAckTime":null,"LastClientConnectionTime":null,"Disabled":false,"ArchivedDataProcessingBehavior":"ExcludeArchived","RaftCommandIndex":1}"#;
    assert!(dump.contains(&format!(r#""Subscriptions":[{element},"#)), "{dump}");
    let answer = import(&wire, "to", "{}", dump.as_bytes());
    assert_eq!(counted(&answer, "Subscriptions", "ReadCount"), "2", "{}", answer.text());
    assert_eq!(subscriptions(&wire, "to"), stored);
    // A second time nothing changes. What was changed meanwhile is as the dump has it, but for the progress.
    let body = r#"{"Name":"ALL","Query":"from Dogs","ChangeVector":"LastDocument"}"#;
    assert_eq!(wire.call("POST /databases/to/subscriptions/update", body).status, 200);
    let answer = import(&wire, "to", r#"{"OperateOnTypes":"Subscriptions"}"#, dump.as_bytes());
    assert_eq!(counted(&answer, "Subscriptions", "ErroredCount"), "0", "{}", answer.text());
    let again = subscriptions(&wire, "to");
    assert_eq!(again[1], stored[1]);
    assert!(again[0].starts_with(r#""all" "from Users" false "A:"#), "{again:?}");
    // Not asked for, they are left out.
    let without = r#"{"CompressionAlgorithm":"Gzip","OperateOnTypes":"Documents"}"#;
    assert!(!gunzip(&wire.call("POST /databases/db/smuggler/export", without).body).contains("Subscriptions"));
}

#[test]
fn a_subscription_that_cannot_be_taken_over_is_reported_and_others_are_stored() {
    let wire = Wire::with_database();
    let elements = [
        r#"{"SubscriptionName":"ordered","Query":"from Users order by Age"}"#,
        r#"{"Query":"from Users"}"#,
        r#"{"SubscriptionName":"placed","Query":"from Users","ChangeVectorForNextBatchStartingPoint":"nonsense"}"#,
        r#"{"SubscriptionName":"archive","Query":"from Users","ArchivedDataProcessingBehavior":"Some"}"#,
        r#"{"SubscriptionName":"good","Query":"from Users","Whatever":[1]}"#,
    ];
    let dump = format!(r#"{{"BuildVersion":71028,"Subscriptions":[{}]}}"#, elements.join(","));
    let answer = import(&wire, "db", "{}", dump.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(counted(&answer, "Subscriptions", "ErroredCount"), "4");
    for part in [
        "The subscription 'ordered' (byte 39, element 1 of 'Subscriptions') was not imported: ",
        "cannot have 'order by'",
        "the subscription has no text 'SubscriptionName'",
        "'nonsense' is no change vector",
        "its 'ArchivedDataProcessingBehavior' is none that is known",
    ] {
        assert!(answer.text().contains(part), "{part}: {}", answer.text());
    }
    let stored = subscriptions(&wire, "db");
    assert!(
        stored.len() == 1 && stored[0].starts_with(r#""good" "from Users" false null null false "ExcludeArchived""#),
        "{stored:?}"
    );
}
