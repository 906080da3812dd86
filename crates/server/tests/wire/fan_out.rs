//! Indexes whose maps give several entries for a document. Expected values are those of the reference.

use super::support::Wire;

/// What queries of an index of lines find: ids, `TotalResults`, `SkippedResults`.
const LINES: [(&str, &str, i64, i64); 14] = [
    ("from index '%'", "a b c e", 8, 4),
    ("from index '%' where P > 1", "a b c e", 6, 2),
    ("from index '%' order by P as long", "a e b c", 8, 4),
    ("from index '%' order by N desc", "e c b a", 8, 4),
    ("from index '%' limit 2", "a b", 8, 2),
    ("from index '%' limit 2, 2", "b c", 8, 2),
    ("from index '%' limit 4, 3", "c e", 8, 2),
    ("from index '%' limit 0", "", 8, 0),
    ("from index '%' limit 7, 5", "", 8, 1),
    ("from index '%' order by P as long desc limit 3", "e c a", 8, 0),
    ("from index '%' filter N != 'a'", "b c e", 8, 5),
    ("from index '%' select N", "a a a b b c e e", 8, 0),
    ("from index '%' select distinct N", "a b c e", 8, 4),
    ("from index '%' where N = 'a'", "a", 3, 2),
];

/// The same with a second map, which gives another entry for each document.
const TWO_MAPS: [(&str, &str, i64, i64); 14] = [
    ("from index 'M'", "a b c d e", 13, 8),
    ("from index 'M' where P > 1", "a b c d e", 11, 6),
    ("from index 'M' order by P as long", "a e b c d", 13, 8),
    ("from index 'M' order by N desc", "e d c b a", 13, 8),
    ("from index 'M' limit 2", "a b", 13, 3),
    ("from index 'M' limit 2, 2", "b c", 13, 4),
    ("from index 'M' limit 4, 3", "b c d", 13, 3),
    ("from index 'M' limit 0", "", 13, 0),
    ("from index 'M' limit 7, 5", "c d e", 13, 3),
    ("from index 'M' order by P as long desc limit 3", "a b c", 13, 0),
    ("from index 'M' filter N != 'a'", "b c d e", 13, 9),
    ("from index 'M' select N", "a a a a b b b c c d e e e", 13, 0),
    ("from index 'M' select distinct N", "a b c d e", 13, 8),
    ("from index 'M' where N = 'a'", "a", 4, 3),
];

fn with_orders() -> Wire {
    let wire = Wire::with_database();
    for (id, lines) in [("a", "[1,2,3]"), ("b", "[2,2]"), ("c", "[5]"), ("d", "[]"), ("e", "[1,9]")] {
        wire.put(id, &format!(r#"{{"N":"{id}","L":{lines},"@metadata":{{"@collection":"Os"}}}}"#));
    }
    let lines = r#""from o in docs.Os from l in o.L select new { P = l, o.N }""#;
    for (name, maps) in [
        ("F", lines.to_owned()),
        ("J", r#""map('Os', o => o.L.map(l => ({ P: l, N: o.N })))""#.to_owned()),
        ("M", format!(r#"{lines},"from o in docs.Os select new {{ P = 77, o.N }}""#)),
    ] {
        let definition = format!(r#"{{"Indexes":[{{"Name":"{name}","Maps":[{maps}]}}]}}"#);
        assert_eq!(wire.call("PUT /databases/db/admin/indexes", &definition).status, 201);
    }
    wire
}

#[track_caller]
fn check(wire: &Wire, query: &str, expected: &str, total: i64, skipped: i64) {
    let answer =
        wire.call("POST /databases/db/queries", &format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true}}"#));
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    let answer = answer.json();
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{answer:?}") };
    let id = |result: &json::Value| result.get("@metadata")?.get("@id")?.as_str().map(str::to_owned);
    let found: Vec<String> = results.iter().filter_map(id).collect();
    let number = |name: &str| answer.get(name).and_then(json::Value::as_i64);
    assert_eq!(
        (found.join(" "), number("TotalResults"), number("SkippedResults")),
        (expected.to_owned(), Some(total), Some(skipped)),
        "{query}"
    );
}

/// What is projected comes for each entry; pages begin behind entries, and what those lead to does not come again.
#[test]
fn a_document_comes_once_whichever_of_its_entries_are_found() {
    let wire = with_orders();
    for (query, expected, total, skipped) in LINES {
        for index in ["F", "J"] {
            check(&wire, &query.replace('%', index), expected, total, skipped);
        }
    }
    for (query, expected, total, skipped) in TWO_MAPS {
        check(&wire, query, expected, total, skipped);
    }
}

#[test]
fn a_stream_has_each_document_once() {
    let wire = with_orders();
    check(&wire, "from index 'F' limit 0", "", 8, 0);
    for (query, expected) in
        [("from+index+'F'", ["a", "b", "c", "e"].as_slice()), ("from+index+'F'+limit+2,+3", &["b", "c", "e"])]
    {
        let answer = wire.call(&format!("GET /databases/db/streams/queries?query={query}"), "").json();
        let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{answer:?}") };
        let id = |result: &json::Value| result.get("@metadata")?.get("@id")?.as_str().map(str::to_owned);
        assert_eq!(results.iter().filter_map(id).collect::<Vec<_>>(), expected, "{query}");
    }
}

/// A page that is full only far behind the entries that were looked at first.
#[test]
fn a_page_is_filled_from_as_many_entries_as_it_takes() {
    let wire = Wire::with_database();
    let many = vec!["1"; 300].join(",");
    for id in ["a", "b", "c"] {
        wire.put(id, &format!(r#"{{"L":[{many}],"@metadata":{{"@collection":"Os"}}}}"#));
    }
    let map = "from o in docs.Os from l in o.L select new { P = l }";
    let definition = format!(r#"{{"Indexes":[{{"Name":"F","Maps":["{map}"]}}]}}"#);
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", &definition).status, 201);
    check(&wire, "from index 'F' limit 3", "a b c", 900, 598);
    check(&wire, "from index 'F' limit 5", "a b c", 900, 897);
    check(&wire, "from index 'F' limit 299, 2", "b c", 900, 300);
}

/// What comes with `SkipDuplicateChecking`: ids, `TotalResults`, `SkippedResults`.
const UNCHECKED: [(&str, &str, i64, i64); 8] = [
    ("from index 'F'", "a a a b b c e e", 8, 0),
    ("from index 'F' where P > 1", "a a b b c e", 6, 0),
    ("from index 'F' order by P as long", "a e a b b a c e", 8, 0),
    ("from index 'F' limit 2, 2", "a b", 8, 0),
    ("from index 'F' limit 7, 5", "e", 8, 0),
    ("from index 'F' filter N != 'a'", "b b c e e", 8, 3),
    ("from index 'F' select distinct N", "a b c e", 8, 4),
    ("from index 'F' include N", "a a a b b c e e", 8, 0),
];

#[test]
fn a_document_comes_for_each_of_its_entries_if_the_request_says_so() {
    let wire = with_orders();
    let ids = |answer: &json::Value| {
        let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{answer:?}") };
        let id = |result: &json::Value| result.get("@metadata")?.get("@id")?.as_str().map(str::to_owned);
        results.iter().filter_map(id).collect::<Vec<String>>().join(" ")
    };
    for (query, expected, total, skipped) in UNCHECKED {
        let body = format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true,"SkipDuplicateChecking":true}}"#);
        let answer = wire.call("POST /databases/db/queries", &body).json();
        let number = |name: &str| answer.get(name).and_then(json::Value::as_i64);
        let found = (ids(&answer), number("TotalResults"), number("SkippedResults"));
        assert_eq!(found, (expected.to_owned(), Some(total), Some(skipped)), "{query}");
    }
    let body = r#"{"Query":"from index 'F'","SkipDuplicateChecking":true}"#;
    assert_eq!(ids(&wire.call("POST /databases/db/streams/queries", body).json()), "a a a b b c e e");
    let address = "GET /databases/db/queries?query=from+index+'F'";
    assert_eq!(ids(&wire.call(&format!("{address}&skipDuplicateChecking=true"), "").json()), "a a a b b c e e");
    assert_eq!(ids(&wire.call(address, "").json()), "a b c e");
    for value in ["null", "false"] {
        let body = format!(r#"{{"Query":"from index 'F'","SkipDuplicateChecking":{value}}}"#);
        assert_eq!(ids(&wire.call("POST /databases/db/queries", &body).json()), "a b c e", "{value}");
    }
    let body = r#"{"Query":"from index 'F'","SkipDuplicateChecking":"yes"}"#;
    let message = "'SkipDuplicateChecking' must be true or false";
    wire.check_error("POST /databases/db/queries", body, 400, "System.ArgumentException", message);
}
