//! Queries that were found by asking the reference and this server the same at random. Expected are the reference's answers.

use super::support::Wire;

fn put(wire: &Wire, name: &str, map: &str, fields: &str) {
    let body = format!(r#"{{"Indexes":[{{"Name":"{name}","Maps":["{map}"],"Fields":{fields}}}]}}"#);
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", &body).status, 201);
}

/// The ids of what a query finds.
#[track_caller]
fn check(wire: &Wire, query: &str, expected: &[&str]) {
    let answer =
        wire.call("POST /databases/db/queries", &format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true}}"#));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let Some(json::Value::Array(results)) = answer.json().get("Results").cloned() else { panic!("{}", answer.text()) };
    let id = |result: &json::Value| result.get("@metadata").unwrap().get("@id").unwrap().as_str().unwrap().to_owned();
    assert_eq!(results.iter().map(id).collect::<Vec<_>>(), expected, "{query}");
}

fn with_documents(documents: &[&str]) -> Wire {
    let wire = Wire::with_database();
    for (number, document) in (1..).zip(documents) {
        let body = format!(r#"{},"@metadata":{{"@collection":"Ds"}}}}"#, document.strip_suffix('}').unwrap());
        wire.put(&format!("d/{number}"), &body);
    }
    wire
}

#[test]
fn the_beginning_of_a_word_is_none_that_is_too_common() {
    let wire = with_documents(&[
        r#"{"T":"the theory of beer"}"#,
        r#"{"T":"tomato note island"}"#,
        r#"{"T":"andes iffy forest"}"#,
    ]);
    put(&wire, "Words", "from d in docs.Ds select new { d.T }", r#"{"T":{"Indexing":"Search"}}"#);
    for source in ["Ds", "index 'Words'"] {
        let check = |condition: &str, expected: &[&str]| {
            check(&wire, &format!("from {source} where {condition} order by id()"), expected);
        };
        check("search(T, 'be*')", &["d/1"]);
        check("search(T, 'the*')", &["d/1"]);
        check("search(T, 'is* if*')", &["d/2", "d/3"]);
        check("search(T, 'be* the*', and)", &["d/1"]);
        check("search(T, '*is*')", &["d/2"]);
        check("search(T, '*the')", &[]);
        check("search(T, 'the')", &[]);
    }
}

#[test]
fn ids_are_sorted_by_the_numbers_in_them() {
    let wire = Wire::with_database();
    for number in [10, 2, 1, 12, 11] {
        wire.put(&format!("orders/{number}-A"), r#"{"N":1,"@metadata":{"@collection":"Orders"}}"#);
    }
    let rising = ["orders/1-A", "orders/2-A", "orders/10-A", "orders/11-A", "orders/12-A"];
    let falling: Vec<&str> = rising.iter().rev().copied().collect();
    for source in ["Orders", "Orders where N = 1", "Orders as o where o.N = 1"] {
        check(&wire, &format!("from {source} order by id() as alphaNumeric"), &rising);
        check(&wire, &format!("from {source} order by id() as alphaNumeric desc"), &falling);
    }
    check(
        &wire,
        "from Orders order by id()",
        &["orders/1-A", "orders/10-A", "orders/11-A", "orders/12-A", "orders/2-A"],
    );
}

#[test]
fn what_a_map_does_not_define_is_not_there_in_any_of_its_entries() {
    let wire = with_documents(&[
        r#"{"A":5,"L":[{"P":"p1","Q":1},{"Q":2},{"P":null,"Q":3}]}"#,
        r#"{"L":[{"P":"p1"},{"P":"p2"}]}"#,
        r#"{"A":1}"#,
        r#"{"L":[{"P":"p2"}]}"#,
    ]);
    put(&wire, "Lines", "map('Ds', d => (d.L || []).map(l => ({ A: d.A, P: l.P, Q: l.Q })))", "{}");
    check(&wire, "from index 'Lines' where P = null", &["d/1"]);
    check(&wire, "from index 'Lines' where A = null", &[]);
    check(&wire, "from index 'Lines' where true and not exists(A) order by id()", &["d/2", "d/4"]);
}

#[test]
fn an_intersection_is_of_documents() {
    let wire = with_documents(&[
        r#"{"L":[{"P":"p1","Q":1},{"P":"p3","Q":2}]}"#,
        r#"{"L":[{"P":"p1","Q":1},{"P":"p2","Q":2}]}"#,
        r#"{"L":[{"P":"p2","Q":1}]}"#,
    ]);
    put(&wire, "Lines", "from d in docs.Ds from l in d.L select new { l.P, l.Q }", "{}");
    check(&wire, "from index 'Lines' where intersect(P = 'p1', P = 'p2')", &["d/2"]);
    check(&wire, "from index 'Lines' where intersect(P = 'p2', Q = 1) order by id()", &["d/2", "d/3"]);
    check(&wire, "from index 'Lines' where intersect(P = 'p1', P = 'p2', P = 'p3')", &[]);
    check(&wire, "from index 'Lines' where P = 'p1' and P = 'p2'", &[]);
}

/// Found by reading: what is beyond all numbers is no JSON.
#[test]
fn scores_are_numbers_whatever_they_are_multiplied_by() {
    let wire = with_documents(&[r#"{"T":"ann"}"#, r#"{"T":"bob"}"#]);
    let query = "from Ds where boost(boost(boost(T = 'ann', 3e38), 3e38), 3e38) or boost(T = 'bob', 3e38)";
    check(&wire, query, &["d/1", "d/2"]);
}
