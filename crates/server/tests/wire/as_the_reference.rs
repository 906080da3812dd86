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

#[test]
fn durations_are_their_ticks_as_numbers() {
    let wire = with_documents(&[
        r#"{"D":"00:00:01"}"#,
        r#"{"D":"12:30:00"}"#,
        r#"{"D":"1.02:03:04"}"#,
        r#"{"D":"-00:05:00"}"#,
        r#"{"D":"10.00:00:00"}"#,
        r#"{"D":"02:00:00"}"#,
    ]);
    // Not of the reference: a duration has hours, minutes and seconds.
    wire.put("d/7", r#"{"D":"12:30","@metadata":{"@collection":"Ds"}}"#);
    put(&wire, "Linq", "from d in docs.Ds select new { d.D }", "{}");
    put(&wire, "Exact", "from d in docs.Ds select new { d.D }", r#"{"D":{"Indexing":"Exact"}}"#);
    put(&wire, "Script", "map('Ds', d => ({ D: d.D }))", "{}");
    for source in ["Ds", "index 'Linq'", "index 'Exact'", "index 'Script'"] {
        let check = |rest: &str, expected: &[&str]| check(&wire, &format!("from {source} {rest}"), expected);
        check("where D > 0 order by id()", &["d/1", "d/2", "d/3", "d/5", "d/6"]);
        check("where D < 36000000000 order by id()", &["d/1", "d/4"]);
        check("where D between 36000000001 and 1000000000000 order by id()", &["d/2", "d/3", "d/6"]);
        check("order by D as long", &["d/7", "d/4", "d/1", "d/6", "d/2", "d/3", "d/5"]);
        check("order by D as double desc", &["d/5", "d/3", "d/2", "d/6", "d/1", "d/4", "d/7"]);
        check("where D = '12:30:00'", &["d/2"]);
        check("where startsWith(D, '1') order by id()", &["d/2", "d/3", "d/5", "d/7"]);
    }
}

#[test]
fn an_array_that_is_null_has_no_elements() {
    let wire = with_documents(&[
        r#"{"Tags":null}"#,
        r#"{"Tags":["a",null]}"#,
        r#"{"Tags":["a"]}"#,
        r#"{"Lines":null}"#,
        r#"{"Tags":[]}"#,
    ]);
    check(&wire, "from Ds where exists(Tags[]) order by id()", &["d/2", "d/3"]);
    check(&wire, "from Ds where exists(Tags) order by id()", &["d/1", "d/2", "d/3"]);
    check(&wire, "from Ds where Tags[] = null", &["d/2"]);
    check(&wire, "from Ds where Tags[] != null order by id()", &["d/1", "d/3", "d/4", "d/5"]);
    check(&wire, "from Ds where Tags = null order by id()", &["d/1", "d/2"]);
    check(&wire, "from Ds where exists(Lines[].Product) or Lines[].Product = null", &[]);
}

#[test]
fn an_index_of_places_has_an_entry_for_each_document() {
    let wire = with_documents(&[
        r#"{"N":"a","G":{"Lat":1,"Lng":2}}"#,
        r#"{"N":"b"}"#,
        r#"{"X":1}"#,
        r#"{"X":2}"#,
        r#"{"X":3}"#,
        r#"{"G":{"Lat":1,"Lng":3}}"#,
    ]);
    let all = ["d/1", "d/2", "d/3", "d/4", "d/5", "d/6"];
    put(&wire, "G", "from d in docs.Ds select new { d.N, Loc = CreateSpatialField(d.G.Lat, d.G.Lng), d.A }", "{}");
    check(&wire, "from index 'G' order by id()", &all);
    put(&wire, "N", "from d in docs.Ds select new { d.N, d.A }", "{}");
    check(&wire, "from index 'N' order by id()", &all[..2]);
}

#[test]
fn what_lacks_a_field_stands_before_null() {
    let wire = with_documents(&[
        r#"{"N":"b","X":1,"V":5}"#,
        r#"{"X":1}"#,
        r#"{"N":null,"X":1,"V":null}"#,
        r#"{"N":"","X":1,"V":0}"#,
        r#"{"N":"a","X":1,"V":-1}"#,
        r#"{"X":1}"#,
        r#"{"N":null,"X":1,"V":null}"#,
    ]);
    put(&wire, "I", "from d in docs.Ds select new { d.N, d.X, d.V }", "{}");
    let rising = ["d/2", "d/6", "d/3", "d/7", "d/4", "d/5", "d/1"];
    let falling = ["d/1", "d/5", "d/4", "d/3", "d/7", "d/2", "d/6"];
    for source in ["Ds", "index 'I'", "Ds where X = 1"] {
        for (keys, expected) in [
            ("N", rising),
            ("N desc", falling),
            ("N, id()", rising),
            ("N desc, id()", falling),
            ("X, N, id()", rising),
            ("V as long", ["d/2", "d/6", "d/3", "d/7", "d/5", "d/4", "d/1"]),
            ("V as double desc", ["d/1", "d/4", "d/5", "d/3", "d/7", "d/2", "d/6"]),
            ("V as long desc, id() desc", ["d/1", "d/4", "d/5", "d/7", "d/3", "d/6", "d/2"]),
        ] {
            check(&wire, &format!("from {source} order by {keys}"), &expected);
            check(&wire, &format!("from {source} order by {keys} limit 1, 3"), &expected[1..4]);
        }
    }
}

/// `CappedMaxResults` of a query.
fn capped(wire: &Wire, query: &str, rest: &str) -> Option<i64> {
    let body = format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true{rest}}}"#);
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    answer.json().get("CappedMaxResults").and_then(json::Value::as_i64)
}

#[test]
fn capped_max_results_are_of_the_limit_of_the_text_and_of_all_that_is_found() {
    let documents: Vec<String> = (0..12).map(|n| format!(r#"{{"N":{n},"K":{},"L":[1,2]}}"#, n % 3)).collect();
    let wire = with_documents(&documents.iter().map(String::as_str).collect::<Vec<_>>());
    put(&wire, "ByN", "from d in docs.Ds select new { d.N }", "{}");
    put(&wire, "Lines", "from d in docs.Ds from l in d.L select new { d.N, P = l }", "{}");
    for (page, expected) in [
        ("", None),
        ("limit 2", Some(2)),
        ("limit 2 offset 1", Some(2)),
        ("limit 2 offset 11", Some(1)),
        ("limit 2 offset 100", Some(0)),
        ("limit 5", Some(5)),
        ("limit 100", Some(12)),
        ("limit 0", Some(0)),
        ("offset 3", Some(9)),
    ] {
        for query in [
            "from index 'ByN'",
            "from index 'ByN' filter K = 1",
            "from index 'ByN' filter K = 7",
            "from Ds where N >= 0 filter K = 1",
            "from Ds where N >= 0 select distinct K",
            "from Ds",
        ] {
            assert_eq!(capped(&wire, &format!("{query} {page}"), ""), expected, "{query} {page}");
        }
    }
    assert_eq!(capped(&wire, "from index 'ByN' filter K = 1 limit 2 offset 1 filter_limit 5", ""), Some(2));
    assert_eq!(capped(&wire, "from index 'Lines' limit 20", ""), Some(20));
    assert_eq!(capped(&wire, "from index 'Lines' limit 20 offset 10", ""), Some(14));
    // What the request wants besides does not count.
    assert_eq!(capped(&wire, "from Ds limit 5", r#","PageSize":3"#), Some(5));
    assert_eq!(capped(&wire, "from Ds where N >= 0 limit 5", r#","Start":2,"PageSize":3"#), Some(5));
    assert_eq!(capped(&wire, "from Ds", r#","Start":2,"PageSize":3"#), None);
    // Of a collection, what fits among those that were looked at is all that is known. The reference says less than nothing at times.
    for (page, expected) in [("limit 2", 2), ("limit 2 offset 1", 1), ("offset 3", 0), ("limit 2 offset 5", 0)] {
        assert_eq!(capped(&wire, &format!("from Ds filter K = 1 {page}"), ""), Some(expected), "{page}");
    }
}

/// The results of a query, without their metadata.
#[track_caller]
fn check_rows(wire: &Wire, query: &str, parameters: &str, expected: &[&str]) {
    let body = format!(r#"{{"Query":"{query}","QueryParameters":{parameters},"WaitForNonStaleResults":true}}"#);
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let Some(json::Value::Array(results)) = answer.json().get("Results").cloned() else { panic!("{}", answer.text()) };
    let row = |result: &json::Value| {
        let text = String::from_utf8(result.to_vec()).unwrap();
        text.split_once("\"@metadata\"").unwrap().0.trim_start_matches('{').trim_end_matches(',').to_owned()
    };
    assert_eq!(results.iter().map(row).collect::<Vec<_>>(), expected, "{query}");
}

#[test]
fn columns_are_those_of_the_reference() {
    let wire = with_documents(&[
        r#"{"C":"a","Lines":[{"Sub":["a","b"]},{"Sub":["a"]}]}"#,
        r#"{"C":"a","Lines":[{"Sub":["a"]},{"Sub":["b","a"]}]}"#,
    ]);
    let flat = [r#""Lines[].Sub":["a","b","a"]"#, r#""Lines[].Sub":["a","b","a"]"#];
    check_rows(&wire, "from Ds select Lines[].Sub", "null", &flat);
    check_rows(&wire, "from Ds select distinct Lines[].Sub", "null", &flat[..1]);
    check_rows(&wire, "from Ds where C = 'a' select Lines[].Sub[] as S", "null", &[r#""S":["a","b","a"]"#; 2]);
    check_rows(&wire, "from Ds where id() = 'd/1' select $p, $q as Q", r#"{"p":5,"q":[1]}"#, &[r#""p":5,"Q":[1]"#]);
    check_rows(&wire, "from Ds group by C select key(), C", "null", &[r#""C":"a""#]);
    check_rows(
        &wire,
        "from Ds group by C select count(), C, key(), key() as K",
        "null",
        &[r#""Count":2,"C":"a","K":"a""#],
    );
}
