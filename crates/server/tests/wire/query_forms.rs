//! Forms of queries that came late: ranges of ids, the time, `when`, loaded documents as results, streams of distinct rows. Expected
//! answers are those of the reference where it has the form.

use json::Value;

use super::support::Wire;

fn wire() -> Wire {
    let wire = Wire::with_database();
    for number in 1..=4 {
        let year = if number % 2 == 0 { 2001 } else { 9001 };
        wire.put(
            &format!("us/{number}"),
            &format!(
                r#"{{"Age":{number},"Name":"n{number}","C":"{}","At":"{year}-01-01T00:00:00.0000000Z","Fr":"us/1","@metadata":{{"@collection":"Us"}}}}"#,
                number % 2
            ),
        );
    }
    wire
}

fn body(query: &str, parameters: &str) -> String {
    let query = Value::String(query.to_owned()).to_vec();
    let query = String::from_utf8(query).unwrap();
    format!(
        r#"{{"Query":{query},"QueryParameters":{parameters},"WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":"00:00:15"}}"#
    )
}

/// The results without their metadata.
fn results(wire: &Wire, query: &str, parameters: &str) -> Vec<String> {
    let answer = wire.call("POST /databases/db/queries", &body(query, parameters));
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    let Some(Value::Array(results)) = answer.json().get("Results").cloned() else { panic!("no results") };
    let text = |mut result: Value| {
        result.remove("@metadata");
        String::from_utf8(result.to_vec()).unwrap()
    };
    results.into_iter().map(text).collect()
}

fn ages(wire: &Wire, query: &str, parameters: &str) -> Vec<i64> {
    let answer = wire.call("POST /databases/db/queries", &body(query, parameters)).json();
    let Some(Value::Array(results)) = answer.get("Results") else { panic!("{query}") };
    let mut ages: Vec<i64> = results.iter().map(|result| result.get("Age").and_then(Value::as_i64).unwrap()).collect();
    ages.sort_unstable();
    ages
}

#[test]
fn ids_have_ranges() {
    let wire = wire();
    for (condition, expected) in [
        ("id() > 'us/1'", vec![2, 3, 4]),
        ("id() >= 'US/2'", vec![2, 3, 4]),
        ("id() < 'us/2' and Age > 0", vec![1]),
        ("id() <= 'us/2'", vec![1, 2]),
        ("id() between 'us/2' and 'us/3'", vec![2, 3]),
        ("id() > 'us/1' and id() < 'us/4'", vec![2, 3]),
        ("true and not (id() > 'us/1')", vec![1]),
        ("id() > 'z'", vec![]),
    ] {
        assert_eq!(ages(&wire, &format!("from Us where {condition}"), "{}"), expected, "{condition}");
    }
    assert_eq!(wire.call("POST /databases/db/queries", &body("from Us where id() > null", "{}")).status, 400);
}

#[test]
fn the_time_is_that_of_the_query() {
    let wire = wire();
    assert_eq!(ages(&wire, "from Us where At < now()", "{}"), [2, 4]);
    assert_eq!(ages(&wire, "from Us where At > today()", "{}"), [1, 3]);
    assert_eq!(ages(&wire, "from Us filter At < now()", "{}"), [2, 4]);
    assert_eq!(ages(&wire, "from Us where At between '2000-01-01' and now()", "{}"), [2, 4]);
    let etag = |query: &str| {
        let answer = wire.call("POST /databases/db/queries", &body(query, "{}"));
        answer.json().get("ResultEtag").and_then(Value::as_i64).unwrap()
    };
    assert_ne!(etag("from Us where At < now()"), etag("from Us where At < now()"), "the time has gone on");
    assert_eq!(etag("from Us where Name = 'now'"), etag("from Us where Name = 'now'"));
    assert_eq!(wire.call("POST /databases/db/queries", &body("from Us where At < now(1)", "{}")).status, 501);
}

#[test]
fn conditions_count_when_a_value_is_true() {
    let wire = wire();
    for clause in ["where", "filter"] {
        let query = format!("from Us {clause} when($p, Age > 2) and Age < 4");
        assert_eq!(ages(&wire, &query, r#"{"p":true}"#), [3], "{query}");
        assert_eq!(ages(&wire, &query, r#"{"p":false}"#), [1, 2, 3], "{query}");
        assert_eq!(ages(&wire, &query, r#"{"p":null}"#), [1, 2, 3], "{query}");
        let either = format!("from Us {clause} when($p, Age > 2) or Age = 1");
        assert_eq!(ages(&wire, &either, r#"{"p":false}"#), [1], "{either}");
        assert_eq!(wire.call("POST /databases/db/queries", &body(&query, r#"{"p":5}"#)).status, 400);
        let alone = format!("from Us {clause} when($p, Age > 2)");
        assert_eq!(ages(&wire, &alone, r#"{"p":false}"#), [1, 2, 3, 4], "{alone}");
    }
}

#[test]
fn a_loaded_document_is_a_result() {
    let wire = wire();
    let first = r#"{"Age":1,"Name":"n1","C":"1","At":"9001-01-01T00:00:00.0000000Z","Fr":"us/1"}"#;
    assert_eq!(results(&wire, "from Us as u where u.Age < 3 load u.Fr as f select f", "{}"), [first, first]);
    let named = results(&wire, "from Us as u where u.Age = 2 load u.Fr as f select f as Friend, u.Age", "{}");
    assert!(named[0].starts_with(r#"{"Friend":{"Age":1,"#) && named[0].ends_with(r#","Age":2}"#), "{named:?}");
}

#[test]
fn a_stream_has_each_distinct_row_once() {
    let wire = wire();
    for (query, expected) in [("from Us select distinct C", 2), ("from Us order by C select distinct C limit 1", 1)] {
        let answer = wire.call("POST /databases/db/streams/queries?format=jsonl", &body(query, "{}"));
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.text().matches(r#"{"Item":{"C":"#).count(), expected, "{}", answer.text());
    }
}
