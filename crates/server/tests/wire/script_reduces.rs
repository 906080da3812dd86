//! Indexes in JavaScript that group what their maps give. Expected results are those of the reference, but where a comment says otherwise.

use super::support::{Answer, Wire};

fn wire() -> Wire {
    let wire = Wire::with_database();
    for (number, document) in [
        r#""n":"a","v":1,"d":0.1"#,
        r#""n":"a","v":2,"d":0.2"#,
        r#""n":"b","v":null,"d":1.5"#,
        r#""n":"b","v":3,"d":1.5"#,
        r#""n":null,"v":9007199254740992"#,
        r#""v":7"#,
        r#""n":1,"v":1"#,
        r#""n":1.0,"v":1"#,
    ]
    .iter()
    .enumerate()
    {
        wire.put(&format!("us/{number}"), &format!(r#"{{{document},"@metadata":{{"@collection":"Us"}}}}"#));
    }
    wire
}

fn put(wire: &Wire, name: &str, maps: &[&str], reduce: &str) -> Answer {
    let maps = maps.join("\",\"");
    let definition = format!(r#"{{"Indexes":[{{"Name":"{name}","Maps":["{maps}"],"Reduce":"{reduce}"}}]}}"#);
    wire.call("PUT /databases/db/admin/indexes", &definition)
}

/// The results, as they are.
#[track_caller]
fn check(wire: &Wire, query: &str, expected: &str) {
    let body = format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true}}"#);
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    let text = answer.text();
    let (_, results) = text.split_once("\"Results\":[").unwrap();
    let results = results.split_once("],\"Includes\"").unwrap().0;
    assert_eq!(results.replace(r#","@metadata":{"@change-vector":null}"#, ""), expected, "{query}");
}

const MAP: &str = "map('Us', u => ({ n: u.n, v: u.v, d: u.d, c: 1 }))";
const SUMS: &str = "groupBy(x => x.n).aggregate(g => ({ n: g.key, v: g.values.reduce((t, x) => x.v + t, 0), d: g.values.reduce((t, x) => t + x.d, 0), c: g.values.reduce((t, x) => t + x.c, 0) }))";

#[test]
fn sums_of_groups_follow_their_documents() {
    let wire = wire();
    assert_eq!(put(&wire, "Sums", &[MAP], SUMS).status, 201);
    check(
        &wire,
        "from index 'Sums' where n = 'a' or n = 'b' order by n",
        r#"{"n":"a","v":3,"d":0.30000000000000004,"c":2},{"n":"b","v":3,"d":3,"c":2}"#,
    );
    check(&wire, "from index 'Sums' where n = 1", r#"{"n":1,"v":2,"d":0,"c":2}"#);
    check(
        &wire,
        "from index 'Sums' where n = null and c = 2 and d = 0 select c",
        r#"{"c":2,"@metadata":{"@projection":true,"@change-vector":null}}"#,
    );
    wire.call("DELETE /databases/db/docs?id=us/0", "");
    check(&wire, "from index 'Sums' where n = 'a'", r#"{"n":"a","v":2,"d":0.2,"c":1}"#);
    wire.call("DELETE /databases/db/docs?id=us/1", "");
    check(&wire, "from index 'Sums' where n = 'a'", "");
    let text = wire.call("GET /databases/db/indexes?name=Sums", "").text();
    assert!(text.contains(r#""Type":"JavaScriptMapReduce","#) && text.contains(r#""Reduce":"groupBy(x"#), "{text}");
}

#[test]
fn what_is_no_sum_is_reduced_by_the_engine() {
    let wire = wire();
    let reduce = "groupBy(x => ({ n: x.n })).aggregate(g => { return { n: g.key.n, c: Math.max(...g.values.map(x => x.c)), u: g.values.foo.bar(), k: f(g.values) } }); function f(v) { return v.length }";
    assert_eq!(put(&wire, "Code", &[MAP], reduce).status, 201);
    check(&wire, "from index 'Code' where n = 'b'", r#"{"n":"b","c":1,"u":null,"k":2}"#);
    wire.call("DELETE /databases/db/docs?id=us/2", "");
    check(&wire, "from index 'Code' where n = 'b' and k = 1", r#"{"n":"b","c":1,"u":null,"k":1}"#);
    wire.check_error(
        "POST /databases/db/queries",
        r#"{"Query":"from index 'Code' where d = 1"}"#,
        400,
        "ArgumentException",
        "The field 'd' is not indexed in 'Code'",
    );
}

#[test]
fn maps_and_reduces_may_have_fields_that_are_known_only_when_they_run() {
    let wire = wire();
    let map = "map('Us', u => { var all = []; var one = {}; one.n = u.n; one.c = 1; all.push(one); all.push({ n: 'z', c: 2 }); return all; })";
    let reduce = "groupBy(x => x.n).aggregate(g => { var r = { n: g.key }; r.sum = g.values.reduce((t, x) => t + x.c, 0); return r })";
    assert_eq!(put(&wire, "Open", &[map], reduce).status, 201);
    check(&wire, "from index 'Open' where n = 'z'", r#"{"n":"z","sum":16}"#);
    check(&wire, "from index 'Open' where sum = 2 and n = 'a'", r#"{"n":"a","sum":2}"#);
    let two = ["map('Us', u => ({ n: 'x', a: 1, b: 0 }))", "map('Us', u => ({ n: 'x', a: 0, b: 1 }))"];
    let reduce = "groupBy(x => x.n).aggregate(g => ({ n: g.key, a: g.values.reduce((t, x) => t + x.a, 0), b: g.values.reduce((t, x) => t + x.b, 0) }))";
    assert_eq!(put(&wire, "Two", &two, reduce).status, 201);
    check(&wire, "from index 'Two'", r#"{"n":"x","a":8,"b":8}"#);
}

#[test]
fn a_reduce_that_fails_or_is_none_is_told() {
    let wire = wire();
    put(
        &wire,
        "Fails",
        &[MAP],
        "groupBy(x => x.n).aggregate(g => g.key == 'a' ? null : { n: g.key, c: g.values.length })",
    );
    check(&wire, "from index 'Fails' where n = 'b'", r#"{"n":"b","c":2}"#);
    check(&wire, "from index 'Fails' where n = 'a'", "");
    let errors = wire.call("GET /databases/db/indexes/errors?name=Fails", "").text();
    assert!(errors.contains(r#""Document":null,"Action":"Reduce","Error":"The function of 'aggregate'"#), "{errors}");
    for reduce in [
        "groupBy(x => x.n)",
        "groupBy(x => [x.n]).aggregate(g => ({}))",
        "groupBy(x => x.n).aggregate(g => ({ a: + }))",
    ] {
        let answer = put(&wire, "Wrong", &[MAP], reduce);
        answer.check_error(400, "IndexCompilationException", "Failed to compile index Wrong");
        assert!(answer.text().contains(r#""IndexDefinitionProperty":"Reduce","#), "{}", answer.text());
    }
}
