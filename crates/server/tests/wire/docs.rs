//! `/databases/{name}/docs`

use super::support::{Wire, mask};

const ANN: &str = r#"{"Name":"Ann","@metadata":{"@collection":"Users","@change-vector":"A:1-ID","@id":"users/1","@last-modified":"DATE"}}"#;

#[test]
fn a_document_is_stored_found_in_any_case_and_deleted() {
    let wire = Wire::with_database();
    let put = r#"{ "Name": "Ann", "@metadata": {"@collection": "Users"} }"#;
    wire.check("PUT /databases/db/docs?id=users%2F1", put, 201, r#"{"Id":"users/1","ChangeVector":"A:1-ID"}"#);
    let found =
        wire.check("GET /databases/DB/docs?id=USERS/1", "", 200, &format!(r#"{{"Results":[{ANN}],"Includes":{{}}}}"#));
    assert_eq!(mask(found.header("etag").unwrap()), "\"A:1-ID\"");
    assert_eq!(found.header("content-type"), Some("application/json; charset=utf-8"));
    assert!(found.header("database-cluster-tx-id").is_some_and(|id| id.len() == 22));
    wire.check("DELETE /databases/db/docs?id=users/1", "", 204, "");
    wire.check("DELETE /databases/db/docs?id=users/1", "", 204, "");
    wire.check("GET /databases/db/docs?id=users/1", "", 404, "");
}

#[test]
fn what_did_not_change_is_304() {
    let wire = Wire::with_database();
    wire.put("users/1", r#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#);
    let etag = wire.call("GET /databases/db/docs?id=users/1", "").header("etag").unwrap().to_owned();
    for given in [etag.as_str(), etag.trim_matches('"')] {
        let header = format!("If-None-Match: {given}");
        for line in ["GET /databases/db/docs?id=users/1", "HEAD /databases/db/docs?id=users/1"] {
            let answer = wire.call_with(line, &[&header], b"");
            assert_eq!((answer.status, answer.text().as_str()), (304, ""), "{line} {header}");
        }
    }
    let other = wire.call_with("GET /databases/db/docs?id=users/1", &["If-None-Match: \"404 Response\""], b"");
    assert_eq!(other.status, 200);
    // A client that found nothing says so the next time.
    for line in ["GET /databases/db/docs?id=none", "GET /databases/db/docs?id=none&include=F"] {
        let known = wire.call_with(line, &["If-None-Match: \"404 Response\""], b"");
        assert_eq!((known.status, known.body.len()), (304, 0), "{line}");
        assert_eq!(wire.call_with(line, &["If-None-Match: \"A:1-x\""], b"").status, 404, "{line}");
    }
    let several = "GET /databases/db/docs?id=none&id=no";
    assert_eq!(wire.call_with(several, &["If-None-Match: \"404 Response\""], b"").status, 200);
}

#[test]
fn several_documents_and_includes_are_one_answer() {
    let wire = Wire::with_database();
    wire.put("users/1", r#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#);
    wire.put("users/2", r#"{"Friend":"users/1"}"#);
    let two = r#"{"Friend":"users/1","@metadata":{"@change-vector":"A:2-ID","@id":"users/2","@last-modified":"DATE"}}"#;
    let several = format!(r#"{{"Results":[{ANN},null],"Includes":{{}}}}"#);
    let answer = wire.check("GET /databases/db/docs?id=users/1&id=none", "", 200, &several);
    let etag = answer.header("etag").unwrap().to_owned();
    assert!(etag.starts_with("\"Hash-"), "{etag}");
    let header = format!("If-None-Match: {etag}");
    assert_eq!(wire.call_with("GET /databases/db/docs?id=users/1&id=none", &[&header], b"").status, 304);
    wire.check("POST /databases/db/docs", r#"{"Ids":["users/1","none"]}"#, 200, &several);
    let included = format!(r#"{{"Results":[{two}],"Includes":{{"users/1":{ANN}}}}}"#);
    wire.check("GET /databases/db/docs?id=users/2&include=Friend", "", 200, &included);
    let metadata = r#"{"Results":[{"@metadata":{"@collection":"Users","@change-vector":"A:1-ID","@id":"users/1","@last-modified":"DATE"}}],"Includes":{}}"#;
    wire.check("GET /databases/db/docs?id=users/1&metadataOnly=true", "", 200, metadata);
}

#[test]
fn prefixes_come_in_id_order_and_all_the_latest_first() {
    let wire = Wire::with_database();
    for id in ["users/2", "users/1", "users/10", "pets/1"] {
        wire.put(id, "{}");
    }
    let ids = |line: &str| {
        let answer = wire.call(line, "").json();
        let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{answer:?}") };
        let id = |document: &json::Value| document.get("@metadata")?.get("@id")?.as_str().map(str::to_owned);
        results.iter().map(|document| id(document).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(ids("GET /databases/db/docs?startsWith=users/"), ["users/1", "users/10", "users/2"]);
    assert_eq!(
        ids("GET /databases/db/docs?startsWith=users/&matches=1*&exclude=&startAfter="),
        ["users/1", "users/10"]
    );
    assert_eq!(ids("GET /databases/db/docs?startsWith=users/&start=1&pageSize=1"), ["users/10"]);
    assert_eq!(ids("GET /databases/db/docs?startsWith=users/&startAfter=users/1"), ["users/10", "users/2"]);
    assert_eq!(ids("GET /databases/db/docs?start=0&pageSize=2"), ["pets/1", "users/10"]);
    assert_eq!(ids("GET /databases/db/docs?pageSize="), ["pets/1", "users/10", "users/1", "users/2"]);
    for none in ["pageSize=-1", "pageSize=0", "pageSize=-1&startsWith=users/", "pageSize=-1&etag=1"] {
        assert!(ids(&format!("GET /databases/db/docs?{none}")).is_empty(), "{none}");
    }
    wire.put("users/1", "{}");
    assert_eq!(ids("GET /databases/db/docs?etag=1"), ["users/2", "users/10", "pets/1", "users/1"]);
    assert_eq!(ids("GET /databases/db/docs?etag=3"), ["users/10", "pets/1", "users/1"]);
    assert_eq!(ids("GET /databases/db/docs?etag=2&start=1&pageSize=1"), ["pets/1"]);
    assert_eq!(ids("GET /databases/db/docs?etag=-5&pageSize=1&startsWith=pets/"), ["users/2"]);
    assert!(ids("GET /databases/db/docs?etag=6").is_empty());
}

#[test]
fn head_and_size_tell_about_a_document() {
    let wire = Wire::with_database();
    wire.put("users/1", "{}");
    let head = wire.call("HEAD /databases/db/docs?id=users/1", "");
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert!(head.header("etag").is_some());
    assert_eq!(wire.call("HEAD /databases/db/docs?id=none", "").status, 404);
    let size = wire.call("GET /databases/db/docs/size?id=users/1", "").json();
    assert!(size.get("ActualSize").and_then(json::Value::as_i64).is_some_and(|size| size > 0));
    wire.check("GET /databases/db/docs/size?id=none", "", 404, "");
}

#[test]
fn an_expected_change_vector_must_fit() {
    let wire = Wire::with_database();
    wire.put("users/1", "{}");
    for line in ["PUT /databases/db/docs?id=users/1", "DELETE /databases/db/docs?id=users/1"] {
        let answer = wire.call_with(line, &["If-Match: \"A:9-AAAAAAAAAAAAAAAAAAAAAA\""], b"{}");
        answer.check_error(409, ".ConcurrencyException", "Document users/1 has change vector A:1-");
        let body = answer.json();
        assert_eq!(body.get("Id").and_then(|id| id.as_str()), Some("users/1"));
        assert_eq!(body.get("ExpectedChangeVector").and_then(|id| id.as_str()), Some("A:9-AAAAAAAAAAAAAAAAAAAAAA"));
        assert!(body.get("ActualChangeVector").and_then(|id| id.as_str()).is_some());
    }
}

#[test]
fn bad_documents_are_refused_with_their_place() {
    let wire = Wire::with_database();
    let put = "PUT /databases/db/docs?id=users/1";
    wire.check_error(put, "[1,2]", 400, "InvalidStartOfObjectException", "a document must be a JSON object");
    wire.check_error(put, "{\"a\":", 400, "EndOfStreamException", "unexpected end of JSON (line 1, column 6)");
    wire.check_error(put, "{\"a\":NaN}", 400, "InvalidDataException", "");
    wire.check_error(put, "{} x", 400, "InvalidDataException", "unexpected text after");
    let bad = wire.call_with(put, &[], b"{\"a\":\"\xff\"}");
    bad.check_error(400, "InvalidDataException", "the text is not valid UTF-8");
    wire.check_error("PUT /databases/db/docs", "{}", 400, "System.ArgumentException", "Query string value 'id'");
    let long = format!("PUT /databases/db/docs?id={}", "x".repeat(513));
    wire.check_error(&long, "{}", 400, "System.ArgumentException", "the document id");
    wire.check("GET /databases/db/docs?id=users/1", "", 404, "");
}

#[test]
fn ids_are_completed_by_the_server() {
    let wire = Wire::with_database();
    let completed = r#"{"Id":"orders/0000000000000000001-A","ChangeVector":"A:1-ID"}"#;
    wire.check("PUT /databases/db/docs?id=orders/", "{}", 201, completed);
    wire.check("PUT /databases/db/docs?id=invoices%7C", "{}", 201, r#"{"Id":"invoices/1","ChangeVector":"A:2-ID"}"#);
}

#[test]
fn lists_of_ids_hold_ids() {
    let wire = Wire::with_database();
    wire.put("1", "{}");
    for ids in [r#"[["1"]]"#, "[1]", r#"["1",{}]"#, "[true]"] {
        let body = format!(r#"{{"Ids":{ids}}}"#);
        wire.check_error("POST /databases/db/docs", &body, 400, "ArgumentException", "'Ids' must be an array of ids");
    }
    for body in [r#"{"Ids":"1"}"#, "{}"] {
        wire.check_error(
            "POST /databases/db/docs",
            body,
            400,
            "ArgumentException",
            "The body must have an array 'Ids'",
        );
    }
    let null = wire.call("POST /databases/db/docs", r#"{"Ids":[null,"1"]}"#).text();
    assert!(null.starts_with(r#"{"Results":[null,{"#), "{null}");
}

#[test]
fn what_comes_with_documents_later_is_refused_by_name() {
    let wire = Wire::with_database();
    for (parameter, feature) in [("timeseries=a", "time series"), ("timeseriescount=a", "time series")] {
        let line = format!("GET /databases/db/docs?id=users/1&{parameter}");
        wire.check_error(
            &line,
            "",
            501,
            "RavenException",
            &format!("Rookery {} does not support {feature}", env!("CARGO_PKG_VERSION")),
        );
    }
}

#[test]
fn a_database_that_is_not_there_is_told_as_clients_expect() {
    let wire = Wire::start();
    let exception = "Database.DatabaseDoesNotExistException";
    wire.check_error("GET /databases/none/docs?id=users/1", "", 400, exception, "Database 'none' does not exist.");
}

/// The reference stores the same characters, and gives them out without escapes.
#[test]
fn control_characters_in_strings_are_taken_as_they_stand() {
    let wire = Wire::with_database();
    let document = "{\"A\":\"x\r\n\ty\0\\n\",\"B\nC\":1}";
    assert_eq!(wire.put("a", document).status, 201);
    let commands = format!(r#"{{"Commands":[{{"Id":"b","ChangeVector":null,"Type":"PUT","Document":{document}}}]}}"#);
    assert_eq!(wire.call("POST /databases/db/bulk_docs", &commands).status, 201);
    let inserted = format!(r#"[{{"Id":"c","Type":"PUT","Document":{document}}}]"#);
    assert_eq!(wire.call("POST /databases/db/bulk_insert?id=1", &inserted).status, 201);
    for id in ["a", "b", "c"] {
        let found = wire.call(&format!("GET /databases/db/docs?id={id}"), "").text();
        assert!(found.contains(r#"{"A":"x\r\n\ty\u0000\n","B\nC":1,"#), "{id}: {found}");
    }
    let query = "{\"Query\":\"from @all_docs\r\n\twhere A = $p\",\"QueryParameters\":{\"p\":\"X\r\n\tY\0\n\"},\"WaitForNonStaleResults\":true}";
    let found = wire.call("POST /databases/db/queries", query).text();
    assert!(found.starts_with("{\"TotalResults\":3,"), "{found}");
}

#[test]
fn an_id_with_nul_is_refused_wherever_it_comes_in() {
    let wire = Wire::with_database();
    for id in ["a%00b", "%00", "a%00/"] {
        let answer = wire.call(&format!("PUT /databases/db/docs?id={id}"), "{}");
        assert!(answer.text().contains("it has a NUL character"), "{id}: {}", answer.text());
    }
    for (line, body) in [
        ("POST /databases/db/bulk_docs", r#"{"Commands":[{"Type":"PUT","Id":"a\u0000","Document":{}}]}"#),
        ("POST /databases/db/bulk_insert?id=1", r#"[{"Type":"PUT","Id":"a\u0000","Document":{}}]"#),
        (
            "POST /databases/db/bulk_docs",
            r#"{"Commands":[{"Type":"PATCH","Id":"a\u0000","Patch":{"Script":""},"PatchIfMissing":{"Script":"this.a=1"}}]}"#,
        ),
        (
            "POST /databases/db/bulk_docs",
            r#"{"Commands":[{"Type":"PATCH","Id":"b","Patch":{"Script":""},"PatchIfMissing":{"Script":"put('a\\u0000',{})"}}]}"#,
        ),
    ] {
        let answer = wire.call(line, body);
        assert!(answer.text().contains("it has a NUL character"), "{body}: {}", answer.text());
    }
    assert_eq!(wire.call("GET /databases/db/docs?id=a%00", "").status, 404);
    assert!(wire.call("GET /databases/db/stats", "").text().contains(r#""CountOfDocuments":0"#));
}

/// The suites of the published clients store documents under these characters.
#[test]
fn other_control_characters_are_allowed_in_ids_and_come_back_escaped() {
    let wire = Wire::with_database();
    for code in (1..0x20).chain([0x7f]) {
        let id = format!("a%{code:02x}/1");
        assert_eq!(wire.put(&id, "{}").status, 201, "{id}");
        let found = wire.call(&format!("GET /databases/db/docs?id={id}"), "");
        let answer = found.json();
        let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{answer:?}") };
        let stored = results[0].get("@metadata").and_then(|metadata| metadata.get("@id")?.as_str());
        assert_eq!(stored, Some(format!("a{}/1", char::from(code)).as_str()));
        let raw = found.text().bytes().filter(|byte| *byte < b' ').count();
        assert_eq!(raw, 0, "the answer has control characters only in escaped form: {}", found.text());
        assert_eq!(wire.call(&format!("DELETE /databases/db/docs?id={id}"), "").status, 204);
    }
}
