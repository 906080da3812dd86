//! `/databases/{name}/counters`, the command `Counters` and `counter=` of loads. Expected answers are those of the reference.

use super::support::Wire;

fn wire() -> Wire {
    let wire = Wire::with_database();
    for number in 1..=2 {
        wire.put(&format!("users/{number}"), r#"{"Name":"A","@metadata":{"@collection":"Users"}}"#);
    }
    wire
}

fn increment(name: &str, delta: i64) -> String {
    format!(r#"{{"Type":"Increment","CounterName":"{name}","Delta":{delta}}}"#)
}

fn body(document: &str, operations: &[String]) -> String {
    let operations = operations.join(",");
    format!(r#"{{"Documents":[{{"DocumentId":"{document}","Operations":[{operations}]}}]}}"#)
}

fn raise(wire: &Wire, document: &str, counters: &[(&str, i64)]) -> String {
    let operations: Vec<String> = counters.iter().map(|(name, delta)| increment(name, *delta)).collect();
    let answer = wire.call("POST /databases/db/counters", &body(document, &operations));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text()
}

/// An element of an answer.
fn detail(document: &str, name: &str, total: i64) -> String {
    format!(r#"{{"DocumentId":"{document}","CounterName":"{name}","TotalValue":{total},"CounterValues":null}}"#)
}

fn list(details: &[String]) -> String {
    format!(r#"{{"Counters":[{}]}}"#, details.join(","))
}

#[test]
fn counters_are_raised_and_read_without_regard_to_case() {
    let wire = wire();
    let answer = raise(&wire, "users/1", &[("likes", 3), ("Zed", 1), ("alpha", 1), ("Beta", 1)]);
    let expected = [("likes", 3), ("Zed", 1), ("alpha", 1), ("Beta", 1)].map(|(name, n)| detail("users/1", name, n));
    assert_eq!(answer, list(&expected));
    let document = wire.call("GET /databases/db/docs?id=users/1", "").text();
    assert!(document.contains(r#""@counters":["alpha","Beta","likes","Zed"]"#), "{document}");
    assert!(document.contains(r#""@flags":"HasCounters""#), "{document}");
    let all = [("Beta", 1), ("Zed", 1), ("alpha", 1), ("likes", 3)].map(|(name, n)| detail("users/1", name, n));
    wire.check("GET /databases/db/counters?docId=users/1", "", 200, &list(&all));
    let asked = [detail("USERS/1", "LIKES", 3), "null".to_owned()];
    wire.check("GET /databases/db/counters?docId=USERS/1&counter=LIKES&counter=none", "", 200, &list(&asked));
    let full = wire.call("GET /databases/db/counters?docId=users/1&counter=likes&full=true", "").json();
    let Some(json::Value::Array(counters)) = full.get("Counters") else { panic!("no counters") };
    let values = counters[0].get("CounterValues").unwrap().members();
    assert_eq!((values.len(), values[0].1.as_i64()), (1, Some(3)));
    assert!(values[0].0.starts_with("A-") && values[0].0.len() == 24, "{}", values[0].0);
    assert_eq!(raise(&wire, "users/1", &[("LIKES", 3)]), list(&[detail("users/1", "LIKES", 6)]));
    assert_eq!(wire.call("GET /databases/db/docs?id=users/1", "").text(), document, "the document stays as it is");
}

#[test]
fn a_request_reads_raises_and_deletes_in_one_transaction() {
    let wire = wire();
    raise(&wire, "users/1", &[("a", 1), ("b", 2)]);
    let operations = [
        r#"{"Type":"Get","CounterName":"a"}"#.to_owned(),
        r#"{"Type":"Get","CounterName":"none"}"#.to_owned(),
        r#"{"Type":"Delete","CounterName":"none"}"#.to_owned(),
        r#"{"Type":"Delete","CounterName":"A"}"#.to_owned(),
        r#"{"Type":"Increment","CounterName":"b"}"#.to_owned(),
        r#"{"Type":"GetAll"}"#.to_owned(),
    ];
    let b = detail("users/1", "b", 3);
    let expected = [detail("users/1", "a", 1), "null".to_owned(), b.clone(), b.clone()];
    wire.check("POST /databases/db/counters", &body("users/1", &operations), 200, &list(&expected));
    wire.check("POST /databases/db/counters", &body("users/1", &operations[5..]), 200, &list(&[b]));
    for body in ["{}", r#"{"Documents":[]}"#, r#"{"Documents":[{"DocumentId":"users/1"}]}"#] {
        wire.check("POST /databases/db/counters", body, 200, r#"{"Counters":[]}"#);
    }
    let deletion = [r#"{"Type":"Delete","CounterName":"b"}"#.to_owned()];
    wire.check("POST /databases/db/counters", &body("users/1", &deletion), 200, r#"{"Counters":[]}"#);
    let document = wire.call("GET /databases/db/docs?id=users/1", "").text();
    assert!(!document.contains("ounters"), "{document}");
}

#[test]
fn what_is_missing_or_cannot_be_is_answered_as_by_the_reference() {
    let wire = wire();
    wire.check("GET /databases/db/counters?docId=users/9&counter=a", "", 200, r#"{"Counters":[null]}"#);
    wire.check("GET /databases/db/counters?docId=users/9", "", 200, r#"{"Counters":[]}"#);
    let url = "POST /databases/db/counters";
    let missing = "Document 'users/9' does not exist. Cannot operate on counters of a missing document.";
    let delete = r#"{"Type":"Delete","CounterName":"a"}"#.to_owned();
    for operation in [increment("a", 1), delete] {
        wire.check_error(url, &body("users/9", &[operation]), 400, "DocumentDoesNotExistException", missing);
    }
    raise(&wire, "users/1", &[("big", i64::MAX)]);
    let overflow = "Could not increment counter 'big' from document 'users/1' with value '9223372036854775807' by '1'.";
    let twice = [increment("other", 1), increment("big", 1)];
    wire.check_error(url, &body("users/1", &twice), 400, "CounterOverflowException", overflow);
    let big = list(&[detail("users/1", "big", i64::MAX)]);
    wire.check("GET /databases/db/counters?docId=users/1", "", 200, &big);
    wire.check_error(
        "GET /databases/db/counters?counter=a",
        "",
        400,
        "ArgumentException",
        "Query string value 'docId' must have a non empty value",
    );
    wire.check_error(url, &body("users/1", &[increment("", 1)]), 400, "ArgumentException", "it is empty");
    wire.check_error(url, r#"{"FromEtl":true}"#, 501, "RavenException", "does not support 'FromEtl'");
}

#[test]
fn a_batch_has_commands_on_counters() {
    let wire = wire();
    let command = |document: &str, operations: &str| {
        format!(
            r#"{{"Type":"Counters","Id":"{document}","Counters":{{"DocumentId":"{document}","Operations":[{operations}]}}}}"#
        )
    };
    let batch = |commands: &[String]| format!(r#"{{"Commands":[{}]}}"#, commands.join(","));
    let put = r#"{"Type":"PUT","Id":"users/3","Document":{"@metadata":{"@collection":"Users"}}}"#.to_owned();
    let raised = command("users/3", &increment("a", 5));
    let answer = wire.call("POST /databases/db/bulk_docs", &batch(&[put.clone(), raised.clone()])).masked();
    let detail = detail("users/3", "a", 5);
    let expected = format!(
        r#"{{"Id":"users/3","ChangeVector":"A:5-ID","Type":"Counters","CountersDetail":{{"Counters":[{detail}]}},"DocumentChangeVector":"A:5-ID"}}]}}"#
    );
    assert!(answer.contains(r#""@change-vector""#), "{answer}");
    let vector = |text: &str| text.matches("ChangeVector\":\"A:5-").count();
    assert_eq!(vector(&answer), vector(&expected), "{answer}");
    assert!(answer.contains(&format!(r#""CountersDetail":{{"Counters":[{detail}]}}"#)), "{answer}");
    let again = wire.call("POST /databases/db/bulk_docs", &batch(std::slice::from_ref(&raised))).text();
    assert!(again.contains(r#""TotalValue":10"#) && again.contains(r#""DocumentChangeVector":null"#), "{again}");
    // A document that is stored again tells its flags.
    let again = wire.call("POST /databases/db/bulk_docs", &batch(std::slice::from_ref(&put))).text();
    assert!(again.contains(r#""@flags":"HasCounters""#), "{again}");
    // All or nothing.
    let failing = batch(&[raised, command("users/9", &increment("a", 1))]);
    assert_eq!(wire.call("POST /databases/db/bulk_docs", &failing).status, 400);
    let value = wire.call("GET /databases/db/counters?docId=users/3", "").text();
    assert!(value.contains(r#""TotalValue":10"#), "{value}");
    let deleted = batch(&[command("users/3", r#"{"Type":"Delete","CounterName":"A"}"#)]);
    let answer = wire.call("POST /databases/db/bulk_docs", &deleted).text();
    assert!(answer.contains(r#""CountersDetail":{"Counters":[]}"#), "{answer}");
    for bad in [r#"{"Type":"Counters","Id":"users/3"}"#, r#"{"Type":"Counters","Id":"x","Counters":{"Operations":[]}}"#]
    {
        assert_eq!(wire.call("POST /databases/db/bulk_docs", &batch(&[bad.to_owned()])).status, 400, "{bad}");
    }
}

#[test]
fn loads_bring_counters_along() {
    let wire = wire();
    raise(&wire, "users/1", &[("likes", 9), ("Beta", 1)]);
    let included = |line: &str| {
        let answer = wire.call(line, "").text();
        answer.split_once(r#","CounterIncludes":"#).map(|(_, rest)| rest.to_owned()).unwrap_or_default()
    };
    let value =
        |name: &str, total: i64| format!(r#"{{"DocumentId":"users/1","CounterName":"{name}","TotalValue":{total}}}"#);
    let load = "GET /databases/db/docs?id=users/1";
    let expected = format!(r#"{{"users/1":[{},null]}}}}"#, value("likes", 9));
    assert_eq!(included(&format!("{load}&counter=likes&counter=none")), expected);
    let all = format!(r#"{{"users/1":[{},{}]}}}}"#, value("Beta", 1), value("likes", 9));
    assert_eq!(included(&format!("{load}&counter=@all_counters")), all);
    let both = format!(r#"{{"users/1":[{}],"users/2":[null]}}}}"#, value("likes", 9));
    assert_eq!(included(&format!("{load}&id=users/2&id=users/9&counter=likes")), both);
    assert_eq!(wire.call("GET /databases/db/docs?id=users/9&counter=likes", "").status, 404);
    // The document stays as it is when a counter is raised, and the answer does not.
    let line = format!("{load}&counter=likes");
    let etag = wire.call(&line, "").header("etag").unwrap().to_owned();
    let is_current = format!("If-None-Match: {etag}");
    assert_eq!(wire.call_with(&line, &[&is_current], b"").status, 304);
    raise(&wire, "users/1", &[("likes", 1)]);
    let answer = wire.call_with(&line, &[&is_current], b"");
    assert!(answer.status == 200 && answer.text().contains(r#""TotalValue":10"#), "{}", answer.text());
    assert_eq!(wire.call("GET /databases/db/docs?startsWith=users/&counter=likes", "").status, 400);
}

#[test]
fn a_bulk_insert_raises_counters() {
    let wire = wire();
    let command = |document: &str| {
        let operations = [increment("likes", 1), increment("other", 2)].join(",");
        format!(
            r#"{{"Id":"{document}","Type":"Counters","Counters":{{"DocumentId":"{document}","Operations":[{operations}]}}}}"#
        )
    };
    let put = r#"{"Id":"users/3","Type":"PUT","Document":{"@metadata":{"@collection":"Users"}}}"#;
    let stream = format!("[{put},{},{},{}]", command("users/3"), command("users/3"), command("users/1"));
    wire.check("POST /databases/db/bulk_insert?id=1", &stream, 201, "");
    let state = wire.call("GET /databases/db/operations/state?id=1", "").text();
    assert!(state.contains(r#""CountersProcessed":6"#), "{state}");
    let values = wire.call("GET /databases/db/counters?docId=users/3", "").text();
    assert_eq!(values, list(&[detail("users/3", "likes", 2), detail("users/3", "other", 4)]));
    let statistics = wire.call("GET /databases/db/stats", "").json();
    assert_eq!(statistics.get("CountOfCounterEntries").unwrap().as_i64(), Some(4));
    let collections = wire.call("GET /databases/db/collections/stats/detailed", "").text();
    assert!(collections.contains(r#""CountOfCounterEntries":4,"CounterEntriesSize":{"#), "{collections}");
}
