//! Queries that ask something for being a vector or a place which is none: they find nothing, and others find what they did.

use super::support::Wire;

fn with_documents() -> Wire {
    let wire = Wire::with_database();
    for n in 0..20 {
        let document = format!(r#"{{"N":{n},"S":"s{n}","W":"nine","@metadata":{{"@collection":"Docs"}}}}"#);
        wire.put(&format!("d/{n}"), &document);
    }
    wire
}

/// How many are found, by all fields of the answer that say so.
#[track_caller]
fn check(wire: &Wire, condition: &str, expected: i64) {
    let text = format!(r#"{{"Query":"from Docs where {condition}","WaitForNonStaleResults":true}}"#);
    let answer = wire.call("POST /databases/db/queries", &text);
    assert_eq!(answer.status, 200, "{condition}: {}", answer.text());
    let answer = answer.json();
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{condition}") };
    assert_eq!(results.len() as i64, expected, "{condition}");
    assert_eq!(answer.get("TotalResults").and_then(json::Value::as_i64), Some(expected), "{condition}");
    assert_eq!(answer.get("IsStale").and_then(json::Value::as_bool), Some(false), "{condition}");
}

/// Conditions on texts that are neither vectors nor shapes nor coordinates.
const FAILING: [&str; 4] = [
    "vector.search(S, 'AACAPwAAAAA=')",
    "spatial.within(spatial.wkt(S), spatial.circle(10, 1, 1))",
    "spatial.within(spatial.point(S, N), spatial.circle(10, 1, 1))",
    "spatial.within(spatial.point(N, W), spatial.circle(10, 1, 1))",
];

#[test]
fn other_queries_find_what_they_did() {
    let wire = with_documents();
    check(&wire, "N > 4", 15);
    for failing in FAILING {
        check(&wire, failing, 0);
        check(&wire, "N > 4", 15);
        check(&wire, "S = 's3'", 1);
        check(&wire, &format!("N > 4 or {failing}"), 15);
    }
    // The first that asks for it.
    check(&wire, "W = 'nine'", 20);
    let errors = wire.call("GET /databases/db/indexes/errors", "").text();
    let expected = r#""Document":"d/7","Action":"Map","Error":"The field 'spatial.wkt(S)' was left out: "#;
    assert!(errors.contains(expected), "{errors}");
}

#[test]
fn a_deletion_by_query_deletes_what_it_finds_after_one_that_failed() {
    let wire = with_documents();
    for (failing, (condition, left)) in FAILING.iter().zip([("N > 14", 15), ("N > 9", 10), ("N > 4", 5), ("N >= 0", 0)])
    {
        check(&wire, failing, 0);
        let body = format!(r#"{{"Query":"from Docs where {condition}"}}"#);
        let begun = wire.call("DELETE /databases/db/queries", &body).json();
        let id = begun.get("OperationId").and_then(json::Value::as_i64).unwrap();
        let state = wire.ended(id).text();
        assert!(state.contains("Completed") && state.contains(r#""Total":5,"#), "{state}");
        check(&wire, "N >= 0", left);
    }
}
