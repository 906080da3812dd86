//! Projections by JavaScript: `select { .. }`, `select f(x)`, `load`. Expected answers are those of the reference.

use super::support::Wire;

fn wire() -> Wire {
    let wire = Wire::with_database();
    wire.put("c/1", r#"{"Name":"HR","Addr":{"City":"Oslo"},"@metadata":{"@collection":"Companies"}}"#);
    wire.put("o/1", r#"{"N":1,"Company":"c/1","Cs":["c/1","c/9"],"Price":1.50,"Lines":[{"Q":2},{"Q":3.0}],"@metadata":{"@collection":"Orders"}}"#);
    wire.put("o/2", r#"{"N":2,"Company":null,"@metadata":{"@collection":"Orders"}}"#);
    wire
}

/// The results without what stands in the metadata of all of them.
fn results(wire: &Wire, query: &str) -> String {
    let body = json::Value::Object(vec![
        ("Query".to_owned(), json::Value::from(query)),
        ("QueryParameters".to_owned(), json::Value::Object(vec![("p".to_owned(), json::Value::from(7))])),
    ]);
    let reply = wire.call("POST /databases/db/queries", &String::from_utf8(body.to_vec()).unwrap());
    assert_eq!(reply.status, 200, "{query}: {}", reply.text());
    let text = reply.text();
    let results = text.split_once(r#""Results":"#).unwrap().1.split_once(r#","IndexTimestamp""#).unwrap().0;
    let mut text = results.to_owned();
    while let Some((before, rest)) = text.split_once(r#","@change-vector":""#) {
        let (_, after) = rest.split_once("}").unwrap();
        text = format!("{before}}}{after}");
    }
    text.replace(r#","@metadata":{"@projection":true}"#, "")
}

#[track_caller]
fn check(wire: &Wire, query: &str, expected: &str) {
    assert_eq!(results(wire, query), format!(r#"{expected},"Includes":{{}}"#), "{query}");
}

#[test]
fn an_object_is_made_of_each_document() {
    let wire = wire();
    check(
        &wire,
        "from Orders as o select { A: o.N, P: o.Price, X: o.Missing.z }",
        r#"[{"A":1,"P":1.5,"X":null},{"A":2,"P":null,"X":null}]"#,
    );
    check(
        &wire,
        "from Orders as o load o.Company as c select { A: o.N, C: c.Name, City: c.Addr.City }",
        r#"[{"A":1,"C":"HR","City":"Oslo"},{"A":2,"C":null,"City":null}]"#,
    );
    check(&wire, "from Orders as o load o.Cs as cs[] select { C: cs.map(x => x.Name) }", r#"[{"C":["HR"]},{"C":[]}]"#);
    check(
        &wire,
        "from Orders as o select { A: $p, B: id(o), L: load(o.Company).Name }",
        r#"[{"A":7,"B":"o/1","L":"HR"},{"A":7,"B":"o/2","L":null}]"#,
    );
    check(
        &wire,
        "from Orders as o where o.N > 0 order by o.N as long desc select { A: o.N, L: o.Lines.map(l => l.Q).reduce((a, b) => a + b, 0) }",
        r#"[{"A":2,"L":0},{"A":1,"L":5}]"#,
    );
    check(&wire, "from Orders as o select distinct { A: 1 }", r#"[{"A":1}]"#);
    check(&wire, "from Orders as o select { A: o.N } limit 1", r#"[{"A":1}]"#);
}

#[test]
fn a_declared_function_makes_results() {
    let wire = wire();
    check(&wire, "declare function f(o) { return { A: o.N } } from Orders as o select f(o)", r#"[{"A":1},{"A":2}]"#);
    check(
        &wire,
        "declare function f(o, p) { return [{ A: o.N }, { A: p }] } from Orders as o select f(o, $p)",
        r#"[{"A":1},{"A":7},{"A":2},{"A":7}]"#,
    );
    check(
        &wire,
        "declare function f(o) { return o.N + 1 } from Orders as o load o.Company as c select f(o) as X, c.Name",
        r#"[{"X":2,"Name":"HR"},{"X":3}]"#,
    );
    check(
        &wire,
        "declare function f(o) { return o } from Orders as o where id() = 'o/1' select f(o)",
        r#"[{"N":1,"Company":"c/1","Cs":["c/1","c/9"],"Price":1.50,"Lines":[{"Q":2},{"Q":3.0}],"@metadata":{"@collection":"Orders"}}]"#,
    );
    let included =
        results(&wire, "declare function f(o) { include(o.Company); return { A: o.N } } from Orders as o select f(o)");
    assert!(included.contains(r#""Includes":{"c/1":{"Name":"HR""#), "{included}");
}

#[test]
fn streams_have_them_too() {
    let wire = wire();
    let query = r#"{"Query":"declare function f(o) { return [{ A: o.N }, { A: 0 }] } from Orders as o select f(o)"}"#;
    let body = wire.call("POST /databases/db/streams/queries?format=jsonl", query).text();
    assert_eq!(body.matches(r#"{"Item":{"A":0,"#).count(), 2, "{body}");
}

#[test]
fn mistakes_are_told() {
    let wire = wire();
    let check = |query: &str, status, exception: &str, message: &str| {
        let body = format!(r#"{{"Query":"{query}"}}"#);
        wire.check_error("POST /databases/db/queries", &body, status, exception, message);
    };
    check(
        "from Orders select { A: this.N }",
        400,
        "InvalidQueryException",
        "Use of select function body requires that aliases",
    );
    check("from Orders as o select { A: + }", 400, "InvalidQueryException", "Select clause contains invalid script");
    check(
        "from Orders as o select { A: (() => { throw 'x' })() }",
        400,
        "JavaScriptException",
        "At 0:0 Script failed for document ID ''. x",
    );
    check(
        "from Orders as o load o.Cs as cs select { C: cs }",
        400,
        "NotSupportedException",
        "Attempted to read multiple values",
    );
    check(
        "declare function f(o) { return 5 } from Orders as o select f(o)",
        400,
        "InvalidOperationException",
        "Query returning a single function call result must return an object, but got: 5",
    );
    check(
        "from Orders as o select { A: put('x/1', {}) }",
        400,
        "InvalidOperationException",
        "Cannot make modifications in readonly context",
    );
    let message = concat!("Rookery ", env!("CARGO_PKG_VERSION"), " does not support 'timeseries' in scripts yet");
    check("from Orders as o select { A: timeseries('x') }", 501, "RavenException", message);
}

/// The metadata of a document may be the result.
#[test]
fn metadata_is_selected() {
    let wire = wire();
    let ask = |query: &str| {
        let answer = wire.call("POST /databases/db/queries", &format!(r#"{{"Query":"{query}"}}"#));
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        let Some(json::Value::Array(results)) = answer.json().get("Results").cloned() else { panic!("{query}") };
        results.into_iter().next().unwrap()
    };
    let names =
        |value: &json::Value| value.members().iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>().join(" ");
    let own = "@collection @change-vector @id @last-modified";
    let whole = ask("from Orders as o where id() = 'o/1' select getMetadata(o)");
    assert_eq!(names(&whole), format!("{own} @metadata"));
    assert_eq!(whole.get("@id").and_then(json::Value::as_str), Some("o/1"));
    assert_eq!(whole.get("@metadata").and_then(|metadata| metadata.get("@projection")), None);
    let loaded = ask("from Orders as o where id() = 'o/1' load o.Company as c select getMetadata(c)");
    assert_eq!(loaded.get("@id").and_then(json::Value::as_str), Some("c/1"));
    assert_eq!(loaded.get("@metadata").and_then(|of| of.get("@id")).and_then(json::Value::as_str), Some("o/1"));
    let column = ask("from Orders as o where id() = 'o/1' select getMetadata(o) as M, o.N");
    assert_eq!(names(&column), "M N @metadata");
    assert_eq!(column.get("M").map(names).as_deref(), Some(own));
    let body = r#"{"Query":"from Orders as o select getMetadata()"}"#;
    let message = "getMetadata(doc) must be called with a single entity argument";
    wire.check_error("POST /databases/db/queries", body, 400, "InvalidQueryException", message);
}

/// What an index stores is read in place of the document's own values, with numbers as numbers; what is written of the document is its own.
#[test]
fn scripts_see_what_an_index_stores() {
    let wire = wire();
    wire.put("o/2", r#"{"N":2,"Company":"c/1","Total":"own","@metadata":{"@collection":"Orders"}}"#);
    let map = "from o in docs.Orders let c = LoadDocument(o.Company, \\\"Companies\\\") select new { Company = c.Name, Total = o.N * 2, Flag = o.N > 1, Boss = o.Company, Arr = new[] { 1, 2 }, Text = \\\"12\\\", o.N }";
    let fields =
        ["Company", "Total", "Flag", "Boss", "Arr", "Text"].map(|name| format!(r#""{name}":{{"Storage":"Yes"}}"#));
    let definition = format!(r#"{{"Indexes":[{{"Name":"T","Maps":["{map}"],"Fields":{{{}}}}}]}}"#, fields.join(","));
    let answer = wire.call("PUT /databases/db/admin/indexes", &definition);
    assert_eq!(answer.status, 201, "{}", answer.text());
    let wait = r#"{"Query":"from index 'T'","WaitForNonStaleResults":true}"#;
    assert_eq!(wire.call("POST /databases/db/queries", wait).status, 200);
    let check = |query: &str, expected: &str| check(&wire, query, expected);
    check(
        "from index 'T' as o select { C: o.Company, T: o.Total + 1, F: o.Flag, X: o.Text, N: o.N, P: o.Price }",
        r#"[{"C":"HR","T":3,"F":"false","X":"12","N":1,"P":1.5},{"C":"HR","T":5,"F":"true","X":"12","N":2,"P":null}]"#,
    );
    check(
        "declare function f(x) { return { T: x.Total, A: x.Arr } } from index 'T' as o select f(o)",
        r#"[{"T":2,"A":[1,2]},{"T":4,"A":[1,2]}]"#,
    );
    // Where documents are loaded from, and what columns are: numbers are texts there, as without a script.
    check(
        "from index 'T' as o load o.Boss as b select b.Name, o.Total, o.Arr, o.Price",
        r#"[{"Name":"HR","Total":"2","Arr":["1","2"],"Price":1.5},{"Name":"HR","Total":"4","Arr":["1","2"]}]"#,
    );
    check(
        "from index 'T' as o load o.Company as c select { C: c, B: load(o.Boss).Name }",
        r#"[{"C":null,"B":"HR"},{"C":null,"B":"HR"}]"#,
    );
    check(
        "declare function f(o) { o.Z = o.Company; o.Total = 7; return { T: o.Total, K: Object.keys(o).length, Z: o.Z, A: Object.assign({}, o).Company } } from index 'T' as o where id() = 'o/2' select f(o)",
        r#"[{"T":7,"K":5,"Z":"HR","A":"HR"}]"#,
    );
    check(
        "from index 'T' as o where id() = 'o/2' select { I: 'Boss' in o, B: ({...o}).Boss, K: Object.assign({}, o).Text }",
        r#"[{"I":true,"B":"c/1","K":"12"}]"#,
    );
    let each = results(&wire, "from index 'T' as o where id() = 'o/2' select Arr, Arr[] as Each");
    assert!(each.starts_with(r#"[{"Arr":["1","2"],"Each":["1","2"],"#), "{each}");
    wire.check_error(
        "POST /databases/db/queries",
        r#"{"Query":"from index 'T' as o load o.Boss as c select o.Name, c.Name"}"#,
        400,
        "InvalidQueryException",
        "Duplicate alias 'Name' detected",
    );
    let whole = results(
        &wire,
        "declare function f(o) { var x = o.Company; return o } from index 'T' as o where id() = 'o/2' select f(o)",
    );
    assert!(whole.starts_with(r#"[{"N":2,"Company":"c/1","Total":"own","@metadata":{"#), "{whole}");
    let body = r#"{"Query":"from index 'T' as o where id() = 'o/2' select { T: o.Total }","ProjectionBehavior":"FromDocument"}"#;
    let answer = wire.call("POST /databases/db/queries", body).text();
    assert!(answer.contains(r#"{"T":"own","@metadata""#), "{answer}");
}

#[test]
fn scripts_see_the_index_alone_where_that_is_asked() {
    let wire = wire();
    let map = "from o in docs.Orders select new { o.Total, o.N }";
    let definition = format!(r#"{{"Indexes":[{{"Name":"T","Maps":["{map}"],"Fields":{{"N":{{"Storage":"Yes"}}}}}}]}}"#);
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", &definition).status, 201);
    let ask = |behavior: &str| {
        let query = "from index 'T' as o where id() = 'o/1' select { N: o.N, P: o.Price }";
        let body = format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true,"ProjectionBehavior":"{behavior}"}}"#);
        wire.call("POST /databases/db/queries", &body)
    };
    for (behavior, expected) in [("FromIndex", r#"{"N":1,"P":null,"#), ("FromDocument", r#"{"N":1,"P":1.5,"#)] {
        let answer = ask(behavior).text();
        assert!(answer.contains(expected), "{answer}");
    }
    // It is still the document that was found, but what is given is none.
    let query = "declare function f(o) { return o } from index 'T' as o where id() = 'o/1' select f(o)";
    let body = format!(r#"{{"Query":"{query}","ProjectionBehavior":"FromIndex"}}"#);
    let whole = wire.call("POST /databases/db/queries", &body).text();
    assert!(whole.contains(r#"{"N":1,"@metadata":{"@projection":true,"#), "{whole}");
    let query = "from index 'T' as o where id() = 'o/1' select { I: id(o), M: getMetadata(o)['@id'] }";
    let body = format!(r#"{{"Query":"{query}","ProjectionBehavior":"FromIndex"}}"#);
    let ids = wire.call("POST /databases/db/queries", &body).text();
    assert!(ids.contains(r#"{"I":"o/1","M":"o/1","#), "{ids}");
    for behavior in ["FromIndexOrThrow", "FromDocumentOrThrow"] {
        assert_eq!(ask(behavior).status, 501, "{behavior}");
    }
}

/// A load may go on from what another one found, and may name a document itself.
#[test]
fn loads_go_on_from_loads() {
    let wire = wire();
    wire.put("c/1", r#"{"Name":"HR","Head":"e/1","All":["e/1","e/2"],"@metadata":{"@collection":"Companies"}}"#);
    wire.put("e/1", r#"{"Name":"Ann","@metadata":{"@collection":"Employees"}}"#);
    wire.put("e/2", r#"{"Name":"Bob","@metadata":{"@collection":"Employees"}}"#);
    let check = |query: &str, expected: &str| check(&wire, query, expected);
    check(
        "from Orders as o load o.Company as c, c.Head as h select { C: c.Name, H: h.Name }",
        r#"[{"C":"HR","H":"Ann"},{"C":null,"H":null}]"#,
    );
    check(
        "from Orders as o load o.Company as c, c.All as all[] select { N: all.map(x => x.Name) }",
        r#"[{"N":["Ann","Bob"]},{"N":[]}]"#,
    );
    check("from Orders as o load o.Cs as cs[], cs.Head as h select { H: h.Name }", r#"[{"H":"Ann"},{"H":null}]"#);
    check("from Orders as o load 'e/2' as e select { N: e.Name }", r#"[{"N":"Bob"},{"N":"Bob"}]"#);
    check(
        "from Orders as o load o.Company as c, 'e/1' as e select c.Name, e.Name as E",
        r#"[{"Name":"HR","E":"Ann"},{"E":"Ann"}]"#,
    );
}

/// Documents inside of a result say which they are; metadata has what is not stored with the document.
#[test]
fn documents_inside_of_results_have_their_ids() {
    let wire = wire();
    let first = |query: &str| results(&wire, &format!("from Orders as o where id() = 'o/1' {query}"));
    let company = r#"{"Name":"HR","Addr":{"City":"Oslo"},"@metadata":{"@collection":"Companies","@id":"c/1"}}"#;
    for query in ["load o.Company as c select { C: c }", "select { C: load(o.Company) }"] {
        let found = first(query);
        assert!(found.starts_with(&format!(r#"[{{"C":{company}"#)), "{query}: {found}");
    }
    let found = first("select { A: [load('c/1')] }");
    assert!(found.starts_with(&format!(r#"[{{"A":[{company}]"#)), "{found}");
    let found = first(
        "select { I: o['@metadata']['@id'], C: o['@metadata']['@collection'], V: o['@metadata']['@last-modified'].length }",
    );
    assert!(found.starts_with(r#"[{"I":"o/1","C":"Orders","V":28}"#), "{found}");
    // That the metadata was looked at does not show in what is written of a document.
    let found = first("select { C: load(o.Company), X: o['@metadata']['@flags'] }");
    assert!(found.starts_with(&format!(r#"[{{"C":{company},"X":null}}"#)), "{found}");
}

#[test]
fn the_time_of_the_last_change_is_selected() {
    let wire = wire();
    let query = "from Orders as o where id() = 'o/1' select o.@metadata.@last-modified as M, o.N";
    let found = results(&wire, query);
    let (time, _) = found.strip_prefix(r#"[{"M":""#).and_then(|rest| rest.split_once('"')).expect(&found);
    let document = wire.call("GET /databases/db/docs?id=o/1", "").text();
    assert!(document.contains(&format!(r#""@last-modified":"{time}""#)), "{time} {document}");
}

/// Loads of loads multiply, so what one result may load has a bound.
#[test]
fn what_is_loaded_for_one_result_has_a_bound() {
    let wire = Wire::with_database();
    let all = vec![r#""x/1""#; 150].join(",");
    wire.put("x/1", &format!(r#"{{"A":[{all}],"@metadata":{{"@collection":"Xs"}}}}"#));
    check(&wire, "from Xs as x load x.A as a[] select { N: a.length }", r#"[{"N":150}]"#);
    let message = "'load' of one result names over LOADED_MAX = 16384 documents";
    let query = r#"{"Query":"from Xs as x load x.A as a[], a.A as b[] select { N: b.length }"}"#;
    wire.check_error("POST /databases/db/queries", query, 400, "NotSupportedException", message);
}

/// As in the reference with Lucene.
#[test]
fn results_of_scripts_have_the_scores_of_what_an_index_found() {
    let wire = Wire::with_database();
    wire.put("books/1", r#"{"Title":"Tides","Author":"Olga","@metadata":{"@collection":"Books"}}"#);
    for (query, score) in [
        ("from Books as b where b.Title = 'Tides' select { A: b.Author }", "1"),
        ("declare function f(b) { return { A: b.Author }; } from Books as b where b.Title = 'Tides' select f(b)", "1"),
        ("from Books as b select { A: b.Author }", "0"),
    ] {
        let body = format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true}}"#);
        let text = wire.call("POST /databases/db/queries", &body).text();
        let expected = format!(r#""@id":"books/1","@index-score":{score},"@last-modified""#);
        assert!(text.contains(&expected), "{query}: {text}");
    }
}
