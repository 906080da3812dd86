//! `/databases/{name}/revisions`, its configurations and the commands that force a revision. Expected answers are those of the reference.

use super::support::Wire;

fn configure(wire: &Wire, body: &str) {
    let answer = wire.call("POST /databases/db/admin/revisions/config", body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.text().starts_with("{\"RaftCommandIndex\":"), "{}", answer.text());
}

fn put(wire: &Wire, id: &str, number: u32) -> String {
    let answer = wire.put(id, &format!(r#"{{"N":{number},"@metadata":{{"@collection":"Users"}}}}"#));
    answer.json().get("ChangeVector").unwrap().as_str().unwrap().to_owned()
}

/// `N` and flags of each revision.
fn shown(wire: &Wire, id: &str) -> Vec<String> {
    let answer = wire.call(&format!("GET /databases/db/revisions?id={id}"), "").json();
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("no results") };
    assert_eq!(answer.get("TotalResults").unwrap().as_i64(), Some(results.len() as i64));
    let show = |revision: &json::Value| {
        let number = revision.get("N").and_then(json::Value::as_i64);
        let flags = revision.get("@metadata").unwrap().get("@flags").unwrap();
        format!("{} {}", number.map_or("-".to_owned(), |number| number.to_string()), flags.as_str().unwrap())
    };
    results.iter().map(show).collect()
}

fn run_operation(wire: &Wire, line: &str, body: &str) -> json::Value {
    let started = wire.call(line, body);
    assert_eq!(started.status, 200, "{}", started.text());
    let id = started.json().get("OperationId").unwrap().as_i64().unwrap();
    let state = wire.ended(id).json();
    assert_eq!(state.get("Status").unwrap().as_str(), Some("Completed"), "{state:?}");
    state.get("Result").unwrap().clone()
}

#[test]
fn configurations_are_read_back_complete_and_mistakes_are_refused() {
    let wire = Wire::with_database();
    wire.check("GET /databases/db/revisions/config", "", 404, "");
    wire.check("GET /databases/db/revisions/bin-cleaner/config", "", 404, "");
    let conflicts = r#"{"Disabled":false,"MinimumRevisionsToKeep":1024,"MinimumRevisionAgeToKeep":null,"PurgeOnDelete":false,"MaximumRevisionsToDeleteUponDocumentUpdate":10240}"#;
    wire.check("GET /databases/db/revisions/conflicts/config", "", 200, conflicts);
    configure(
        &wire,
        r#"{"Default":{"Disabled":true},"Collections":{"Users":{"MinimumRevisionsToKeep":3,"PurgeOnDelete":true}}}"#,
    );
    let expected = r#"{"Default":{"Disabled":true,"MinimumRevisionsToKeep":null,"MinimumRevisionAgeToKeep":null,"PurgeOnDelete":false,"MaximumRevisionsToDeleteUponDocumentUpdate":null},"Collections":{"Users":{"Disabled":false,"MinimumRevisionsToKeep":3,"MinimumRevisionAgeToKeep":null,"PurgeOnDelete":true,"MaximumRevisionsToDeleteUponDocumentUpdate":null}}}"#;
    wire.check("GET /databases/db/revisions/config", "", 200, expected);
    let set = wire.call("POST /databases/db/admin/revisions/conflicts/config", r#"{"MinimumRevisionsToKeep":5}"#);
    assert_eq!(set.status, 200, "{}", set.text());
    let limits = r#"{"Disabled":false,"MinimumRevisionsToKeep":5,"MinimumRevisionAgeToKeep":null,"PurgeOnDelete":false,"MaximumRevisionsToDeleteUponDocumentUpdate":null}"#;
    wire.check("GET /databases/db/revisions/conflicts/config", "", 200, limits);
    let bin = r#"{"Disabled":false,"MinimumEntriesAgeToKeepInMin":5,"CleanerFrequencyInSec":60}"#;
    assert_eq!(wire.call("POST /databases/db/admin/revisions/bin-cleaner/config", bin).status, 200);
    wire.check("GET /databases/db/revisions/bin-cleaner/config", "", 200, bin);
    let line = "POST /databases/db/admin/revisions/config";
    let message = "Cannot have two different revision configurations on the same collection. Collection name : 'a'";
    wire.check_error(line, r#"{"Collections":{"A":{},"a":{}}}"#, 400, "ArgumentException", message);
    wire.check_error(
        line,
        r#"{"Default":{"MinimumRevisionsToKeep":-1}}"#,
        400,
        "ArgumentException",
        "'MinimumRevisionsToKeep' in 'Default' of revisions must be",
    );
    wire.check_error(line, r#"{"Default":{"Zork":1}}"#, 400, "ArgumentException", "There is no 'Zork'");
}

#[test]
fn revisions_are_read_by_id_change_vector_and_time() {
    let wire = Wire::with_database();
    configure(&wire, r#"{"Collections":{"Users":{}}}"#);
    let vectors: Vec<String> = (1..=3).map(|number| put(&wire, "users/1", number)).collect();
    assert_eq!(
        shown(&wire, "users/1"),
        ["3 HasRevisions, Revision", "2 HasRevisions, Revision", "1 HasRevisions, Revision"]
    );
    let page = wire.call("GET /databases/db/revisions?id=users/1&start=1&pageSize=1&metadataOnly=true", "");
    let expected = r#"{"Results":[{"@metadata":{"@collection":"Users","@change-vector":"#;
    assert!(page.text().starts_with(expected) && page.text().ends_with("}}],\"TotalResults\":3}"), "{}", page.text());
    assert_eq!(page.header("etag").unwrap(), format!("\"{}\"", vectors[1]));
    let same = [format!("If-None-Match: \"{}\"", vectors[1])];
    let same: Vec<&str> = same.iter().map(String::as_str).collect();
    let line = "GET /databases/db/revisions?id=users/1&start=1&pageSize=1&metadataOnly=true";
    assert_eq!(wire.call_with(line, &same, b"").status, 304);
    let by_vector = |vectors: &[&str]| {
        // A plus in an address is a space.
        let parameters = vectors.iter().map(|vector| format!("changeVector={}", vector.replace('+', "%2B")));
        let parameters: Vec<String> = parameters.collect();
        wire.call(&format!("GET /databases/db/revisions?{}", parameters.join("&")), "")
    };
    assert_eq!(by_vector(&["A:1-xx"]).status, 404);
    let both = by_vector(&["A:1-xx", &vectors[0]]).text();
    assert!(both.starts_with(r#"{"Results":[null,{"N":1,"#) && both.ends_with("}]}"), "{both}");
    let unknown = wire.check("GET /databases/db/revisions?id=none", "", 200, r#"{"Results":[],"TotalResults":0}"#);
    assert_eq!(unknown.header("etag"), Some("\"nothing\""));
    wire.check("GET /databases/db/revisions/count?&id=users/1", "", 200, r#"{"RevisionsCount":3}"#);
    let date = |number: usize| {
        let one = by_vector(&[&vectors[number]]).json();
        let Some(json::Value::Array(results)) = one.get("Results") else { panic!("no results") };
        results[0].get("@metadata").unwrap().get("@last-modified").unwrap().as_str().unwrap().to_owned()
    };
    let before = |date: &str| wire.call(&format!("GET /databases/db/revisions?id=users/1&before={date}"), "").text();
    let at = before(&date(1));
    assert!(at.starts_with(r#"{"Results":[{"N":2,"#) && at.ends_with(r#"],"TotalResults":1}"#), "{at}");
    assert_eq!(before("2020-01-01T00:00:00.0000000Z"), r#"{"Results":[],"TotalResults":0}"#);
    let message = "Could not parse query string 'before' as date, val 'xx'";
    wire.check_error("GET /databases/db/revisions?id=users/1&before=xx", "", 400, "ArgumentException", message);
    wire.check_error("GET /databases/db/revisions", "", 400, "ArgumentException", "Query string value 'id' must");
    let inner = r#"{"Requests":[{"Url":"/databases/db/revisions","Query":"?id=users/1&pageSize=1"}]}"#;
    let inner = wire.call("POST /databases/db/multi_get", inner).text();
    assert!(inner.contains("\"TotalResults\":3"), "{inner}");
    let statistics = wire.call("GET /databases/db/stats", "").json();
    assert_eq!(statistics.get("CountOfRevisionDocuments").unwrap().as_i64(), Some(3));
}

#[test]
fn deleted_documents_are_in_the_bin() {
    let wire = Wire::with_database();
    wire.check("GET /databases/db/revisions/bin?start=0&pageSize=null", "", 200, r#"{"Results":[]}"#);
    configure(&wire, r#"{"Collections":{"Users":{}}}"#);
    put(&wire, "users/1", 1);
    assert_eq!(wire.call("DELETE /databases/db/docs?id=users/1", "").status, 204);
    let bin = wire.call("GET /databases/db/revisions/bin?start=0&pageSize=20", "").text();
    assert!(bin.starts_with(r#"{"Results":[{"@metadata":{"@collection":"Users","@change-vector":"#), "{bin}");
    assert!(bin.contains(r#""@flags":"HasRevisions, DeleteRevision","@id":"users/1""#), "{bin}");
    put(&wire, "users/1", 2);
    wire.check("GET /databases/db/revisions/bin", "", 200, r#"{"Results":[]}"#);
}

#[test]
fn a_revision_is_forced_by_a_command() {
    let wire = Wire::with_database();
    put(&wire, "users/1", 1);
    let force = r#"{"Commands":[{"Type":"ForceRevisionCreation","Id":"users/1"}]}"#;
    let answer = wire.call("POST /databases/db/bulk_docs", force).text();
    let expected =
        r#"{"Results":[{"RevisionCreated":true,"Type":"ForceRevisionCreation","@id":"users/1","@change-vector":""#;
    assert!(answer.starts_with(expected) && answer.ends_with(r#""@flags":"HasRevisions"}]}"#), "{answer}");
    let again = r#"{"Results":[{"RevisionCreated":false,"Type":"ForceRevisionCreation"}]}"#;
    wire.check("POST /databases/db/bulk_docs", force, 201, again);
    let message = "Failed to create revision for document none because document doesn't exits.";
    let missing = force.replace("users/1", "none");
    wire.check_error("POST /databases/db/bulk_docs", &missing, 400, "InvalidOperationException", message);
}

#[test]
fn administrators_delete_revert_enforce_and_adopt() {
    let wire = Wire::with_database();
    configure(&wire, r#"{"Collections":{"Users":{}}}"#);
    let vectors: Vec<String> = (1..=5).map(|number| put(&wire, "users/1", number)).collect();
    let delete = |body: &str| wire.call("DELETE /databases/db/admin/revisions", body).text();
    let some = format!(r#"{{"DocumentIds":["users/1"],"RevisionsChangeVectors":["{}","x"]}}"#, vectors[1]);
    assert_eq!(delete(&some), r#"{"TotalDeletes":1}"#);
    let two = some.replace("[\"users/1\"]", "[\"users/1\",\"users/2\"]");
    let message = "The request must include exactly one document ID";
    wire.check_error("DELETE /databases/db/admin/revisions", &two, 400, "ArgumentException", message);
    let message = "request 'DocumentIds' cannot be null or empty";
    wire.check_error("DELETE /databases/db/admin/revisions", "{}", 400, "ArgumentException", message);
    let revert = |id: &str, vector: &str| format!(r#"{{"IdToChangeVector":{{"{id}":"{vector}"}}}}"#);
    wire.check("POST /databases/db/revisions/revert/docs", &revert("users/1", &vectors[0]), 200, "");
    assert_eq!(shown(&wire, "users/1")[0], "1 HasRevisions, Revision, Reverted");
    let message = r#"Revision with the cv "A:1-xx" doesn't exist (id: 'users/1')"#;
    let wrong = revert("users/1", "A:1-xx");
    wire.check_error("POST /databases/db/revisions/revert/docs", &wrong, 400, "InvalidOperationException", message);
    configure(&wire, r#"{"Collections":{"Users":{"MinimumRevisionsToKeep":2}}}"#);
    let result =
        run_operation(&wire, "POST /databases/db/admin/revisions/config/enforce", r#"{"IncludeForceCreated":false}"#);
    let number = |result: &json::Value, name: &str| result.get(name).unwrap().as_i64().unwrap();
    assert_eq!((number(&result, "ScannedRevisions"), number(&result, "RemovedRevisions")), (5, 3));
    assert_eq!(shown(&wire, "users/1").len(), 2);
    let result = run_operation(&wire, "POST /databases/db/admin/revisions/orphaned/adopt", "{}");
    assert_eq!((number(&result, "ScannedDocuments"), number(&result, "AdoptedCount")), (1, 0));
    let message = "The body must have a 'Time'";
    wire.check_error("POST /databases/db/revisions/revert", "{}", 400, "ArgumentException", message);
}

#[test]
fn a_database_goes_back_to_a_time() {
    let wire = Wire::with_database();
    configure(&wire, r#"{"Collections":{"Users":{}}}"#);
    put(&wire, "users/1", 1);
    put(&wire, "users/2", 1);
    let document = wire.call("GET /databases/db/docs?id=users/2", "").text();
    let at = document.split("\"@last-modified\":\"").nth(1).unwrap()[..28].to_owned();
    put(&wire, "users/1", 2);
    put(&wire, "users/3", 1);
    assert_eq!(wire.call("DELETE /databases/db/docs?id=users/2", "").status, 204);
    let result =
        run_operation(&wire, "POST /databases/db/revisions/revert", &format!(r#"{{"Time":"{at}","WindowInSec":96}}"#));
    assert_eq!(result.get("RevertedDocuments").unwrap().as_i64(), Some(3), "{result:?}");
    let read = |id: &str| wire.call(&format!("GET /databases/db/docs?id={id}"), "");
    assert!(read("users/1").text().contains("\"N\":1,") && read("users/2").text().contains("\"N\":1,"));
    assert_eq!(read("users/3").status, 404);
    let again = run_operation(&wire, "POST /databases/db/revisions/revert", &format!(r#"{{"Time":"{at}"}}"#));
    assert_eq!(again.get("RevertedDocuments").unwrap().as_i64(), Some(0), "{again:?}");
}

#[test]
fn a_dump_has_revisions() {
    let wire = Wire::with_database();
    configure(&wire, r#"{"Collections":{"Users":{}}}"#);
    for number in 1..=3 {
        put(&wire, "users/1", number);
    }
    put(&wire, "users/2", 1);
    assert_eq!(wire.call("DELETE /databases/db/docs?id=users/2", "").status, 204);
    let dump = wire.call("POST /databases/db/smuggler/export", r#"{"CompressionAlgorithm":"Gzip"}"#);
    assert_eq!(dump.status, 200);
    wire.create("other");
    let form = [
        &b"--x\r\nContent-Disposition: form-data; name=\"importOptions\"\r\n\r\n{}\r\n--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n"[..],
        &dump.body,
        b"\r\n--x--\r\n",
    ]
    .concat();
    let headers = ["Content-Type: multipart/form-data; boundary=x"];
    let imported = wire.call_with("POST /databases/other/smuggler/import", &headers, &form);
    assert_eq!(imported.status, 200, "{}", imported.text());
    for id in ["users/1", "users/2"] {
        let line = |database: &str| format!("GET /databases/{database}/revisions?id={id}");
        assert_eq!(wire.call(&line("other"), "").text(), wire.call(&line("db"), "").text());
    }
    let bin = |database: &str| wire.call(&format!("GET /databases/{database}/revisions/bin"), "").text();
    assert_eq!(bin("other"), bin("db"));
    assert!(wire.call("GET /databases/other/revisions/config", "").text().contains("\"Users\":{"));
}

/// When a document was written last.
fn written_at(wire: &Wire, id: &str) -> String {
    let answer = wire.call(&format!("GET /databases/db/docs?id={id}"), "").json();
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{id} is not there") };
    results[0].get("@metadata").unwrap().get("@last-modified").and_then(json::Value::as_str).unwrap().to_owned()
}

#[test]
fn documents_are_read_as_of_a_time_with_what_they_included_then() {
    let wire = Wire::with_database();
    configure(&wire, r#"{"Collections":{"Users":{}}}"#);
    let put = |id: &str, name: &str, friend: &str| {
        let document = format!(r#"{{"Name":"{name}","Friend":"{friend}","@metadata":{{"@collection":"Users"}}}}"#);
        assert_eq!(wire.call(&format!("PUT /databases/db/docs?id={id}"), &document).status, 201);
        written_at(&wire, id)
    };
    put("users/2", "two", "");
    put("users/3", "three", "");
    let first = put("users/1", "one", "users/2");
    let renamed = put("users/2", "new two", "");
    let second = put("users/1", "new one", "users/3");
    assert_eq!(wire.call("DELETE /databases/db/docs?id=users/2", "").status, 204);
    assert_eq!(wire.call("DELETE /databases/db/docs?id=users/1", "").status, 204);
    let names = |time: &str| {
        let answer = wire.call(&format!("GET /databases/db/docs?id=users/1&include=Friend&asOf={time}"), "");
        assert_eq!(answer.status, 200, "{time}: {}", answer.text());
        let answer = answer.json();
        let name = |document: &json::Value| document.get("Name").and_then(json::Value::as_str).unwrap().to_owned();
        let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("no results") };
        let included = answer.get("Includes").unwrap().members().iter().map(|(_, document)| name(document));
        (name(&results[0]), included.collect::<Vec<_>>())
    };
    assert_eq!(names(&first), ("one".to_owned(), vec!["two".to_owned()]));
    assert_eq!(names(&renamed), ("one".to_owned(), vec!["new two".to_owned()]));
    assert_eq!(names(&second), ("new one".to_owned(), vec!["three".to_owned()]));
    let now = "GET /databases/db/docs?id=users/1&asOf=9999-01-01T00:00:00.0000000Z";
    assert_eq!(wire.call(now, "").status, 404, "it is deleted");
    let before = "GET /databases/db/docs?id=users/1&id=users/3&asOf=2000-01-01T00:00:00.0000000Z";
    assert!(wire.call(before, "").text().starts_with(r#"{"Results":[null,null],"Includes":{}"#));
    // Without revisions a document is what it is.
    assert_eq!(
        wire.call("PUT /databases/db/docs?id=dogs/1", r#"{"Name":"d","@metadata":{"@collection":"Dogs"}}"#).status,
        201
    );
    let at = written_at(&wire, "dogs/1");
    assert_eq!(wire.call(&format!("GET /databases/db/docs?id=dogs/1&asOf={at}"), "").status, 200);
    assert_eq!(wire.call(&format!("GET /databases/db/docs?id=dogs/1&asOf={second}"), "").status, 404);
    for query in ["asOf=x&id=a", "asOf=2000-01-01T00:00:00Z", "asOf=2000-01-01T00:00:00Z&id=a&counter=b"] {
        assert_eq!(wire.call(&format!("GET /databases/db/docs?{query}"), "").status, 400, "{query}");
    }
}

#[test]
fn attachments_of_revisions_are_counted_and_have_etags() {
    let wire = Wire::with_database();
    configure(&wire, r#"{"Default":{"Disabled":false,"MinimumRevisionsToKeep":4}}"#);
    put(&wire, "users/1", 1);
    let vector = |name: &str| {
        let answer = wire.call(&format!("PUT /databases/db/attachments?id=users/1&name={name}"), name).json();
        let vector = answer.get("ChangeVector").and_then(json::Value::as_str).unwrap().to_owned();
        vector.split('-').next().unwrap().to_owned()
    };
    assert_eq!(["a", "b", "c"].map(vector), ["A:3", "A:7", "A:12"]);
    let counts = |line: &str| {
        let counts = wire.call(line, "").json();
        counts.get("CountOfAttachments").and_then(json::Value::as_i64)
    };
    for expected in [9, 6] {
        assert_eq!(counts("GET /databases/db/stats"), Some(expected));
        assert_eq!(counts("GET /databases/db/collections/stats"), Some(expected));
        // Its revisions stay.
        wire.check("DELETE /databases/db/docs?id=users/1", "", 204, "");
    }
}
