//! Parameters of the query string that are not of their kind: refused by name and value, whichever route they are for.

use super::support::Wire;

#[track_caller]
fn check_refused(wire: &Wire, line: &str, name: &str, kind: &str, value: &str) {
    let answer = wire.call(line, "{}");
    assert_eq!(answer.status, 400, "{line}: {}", answer.text());
    let message = format!("Query string value '{name}' must be {kind}, but is '{value}'");
    answer.check_error(400, "System.ArgumentException", &message);
}

#[test]
fn numbers_that_are_none_are_refused() {
    let wire = Wire::with_database();
    for (line, name) in [
        ("GET /databases?start=", "start"),
        ("GET /databases/db/docs?start=", "start"),
        ("GET /databases/db/docs?startsWith=u&start=", "start"),
        ("GET /databases/db/streams/docs?start=", "start"),
        ("GET /databases/db/streams/docs?startsWith=u&start=", "start"),
        ("GET /databases/db/queries?query=from%20Users&start=", "start"),
        ("GET /databases/db/queries?query=from%20Users&pageSize=", "pageSize"),
        ("GET /databases/db/indexes?start=", "start"),
        ("GET /databases/db/hilo/next?tag=t&lastBatchSize=", "lastBatchSize"),
        ("GET /databases/db/hilo/next?tag=t&lastMax=", "lastMax"),
        ("PUT /databases/db/hilo/return?tag=t&last=1&end=", "end"),
        ("PUT /databases/db/hilo/return?tag=t&end=1&last=", "last"),
        ("GET /databases/db/operations/state?id=", "id"),
        ("POST /databases/db/operations/kill?id=", "id"),
        ("GET /operations/state?id=", "id"),
        ("POST /databases/db/bulk_insert?id=", "id"),
        ("POST /databases/db/bulk_docs?numberOfReplicasToWaitFor=", "numberOfReplicasToWaitFor"),
        ("PUT /admin/databases?name=other&replicationFactor=", "replicationFactor"),
        ("GET /rachis/waitfor?index=", "index"),
    ] {
        for (value, shown) in [
            ("x", "x"),
            ("-1", "-1"),
            ("null", "null"),
            ("1.5", "1.5"),
            ("99999999999999999999", "99999999999999999999"),
            ("a%26b", "a&b"),
        ] {
            check_refused(&wire, &format!("{line}{value}"), name, "a whole number from 0 on", shown);
        }
    }
    // These may be negative.
    for (line, name) in [
        ("GET /databases?pageSize=", "pageSize"),
        ("GET /databases/db/docs?pageSize=", "pageSize"),
        ("GET /databases/db/docs?startsWith=u&pageSize=", "pageSize"),
        ("GET /databases/db/docs?etag=", "etag"),
        ("GET /databases/db/streams/docs?pageSize=", "pageSize"),
        ("GET /databases/db/streams/docs?startsWith=u&pageSize=", "pageSize"),
        ("GET /databases/db/indexes?pageSize=", "pageSize"),
        ("GET /databases/db/indexes/terms?name=x&field=y&pageSize=", "pageSize"),
        ("POST /databases/db/identity/seed?name=a%7C&value=", "value"),
    ] {
        for value in ["x", "null", "None", "1e3"] {
            check_refused(&wire, &format!("{line}{value}"), name, "a whole number", value);
        }
    }
    wire.check("GET /databases?namesOnly=true", "", 200, r#"{"Databases":["db"]}"#);
    wire.check("GET /databases/db/debug/identities", "", 200, "{}");
}

#[test]
fn switches_that_are_neither_on_nor_off_are_refused() {
    let wire = Wire::with_database();
    for (line, name) in [
        ("GET /databases?namesOnly=", "namesOnly"),
        ("DELETE /admin/databases?hardDelete=", "hardDelete"),
        ("GET /databases/db/docs?metadataOnly=", "metadataOnly"),
        ("GET /databases/db/docs?id=a&metadataOnly=", "metadataOnly"),
        ("POST /databases/db/bulk_insert?skipOverwriteIfUnchanged=", "skipOverwriteIfUnchanged"),
        ("GET /databases/db/queries?query=from%20Users&metadataOnly=", "metadataOnly"),
        ("DELETE /databases/db/queries?details=", "details"),
        ("POST /databases/db/identity/seed?name=a%7C&value=1&force=", "force"),
    ] {
        check_refused(&wire, &format!("{line}yes"), name, "true or false", "yes");
    }
}

/// The client for Node.js writes a number, which the reference reads as days; what is refused here it refuses, too, but for `-5`.
#[test]
fn time_spans_are_those_of_the_reference() {
    let wire = Wire::with_database();
    let line = |value: &str| format!("DELETE /databases/db/queries?staleTimeout={value}");
    for value in ["15000", "00:00:15", "1:2", "1:2:3:4", "1.12:00", "10675199", ""] {
        let answer = wire.call(&line(value), r#"{"Query":"from Users"}"#);
        assert_eq!(answer.status, 200, "{value}: {}", answer.text());
    }
    for value in ["1.5", "abc", "1e3", "15.", "10675200", "-5"] {
        check_refused(&wire, &line(value), "staleTimeout", "a time span such as 00:00:15", value);
    }
}

#[test]
fn ids_that_are_not_utf_8_are_refused() {
    let wire = Wire::with_database();
    for (line, name, value) in [
        ("GET /databases/db/docs?id=a%ff", "id", "a%ff"),
        ("GET /databases/db/docs?id=b&id=a%C3", "id", "a%C3"),
        ("PUT /databases/db/docs?id=a%ff", "id", "a%ff"),
        ("DELETE /databases/db/docs?id=a%fe", "id", "a%fe"),
        ("GET /databases/db/docs?startsWith=%ED%A0%80", "startsWith", "%ED%A0%80"),
        ("GET /databases/db/docs?startsWith=a&startAfter=a%80", "startAfter", "a%80"),
    ] {
        check_refused(&wire, line, name, "text in UTF-8", value);
    }
    let inner = r#"{"Requests":[{"Url":"/databases/db/docs","Query":"?id=a%ff"}]}"#;
    let answer = wire.call("POST /databases/db/multi_get", inner).text();
    assert!(answer.contains("must be text in UTF-8") && answer.contains(r#""StatusCode":400"#), "{answer}");
    wire.check("GET /databases/db/streams/docs", "", 200, r#"{"Results":[]}"#);
    // One client does not escape the tag.
    let range = wire.call("GET /databases/db/hilo/next?tag=Test%Cars", "").text();
    assert!(range.starts_with(r#"{"Prefix":"Test%Cars/","#), "{range}");
    assert_eq!(wire.call("PUT /databases/db/docs?id=%C3%A9%F0%9F%98%80", "{}").status, 201);
}

#[test]
fn an_empty_value_is_none() {
    let wire = Wire::with_database();
    wire.put("a", "{}");
    let all = wire.call("GET /databases/db/docs?start=&pageSize=&etag=&metadataOnly=", "");
    assert_eq!(all.status, 200);
    assert!(all.text().contains(r#""@id":"a""#), "{}", all.text());
    wire.check(
        "DELETE /databases/db/queries?allowStale=&maxOpsPerSec=&details=",
        r#"{"Query":"from Users"}"#,
        200,
        r#"{"OperationId":1,"OperationNodeTag":"A"}"#,
    );
}
