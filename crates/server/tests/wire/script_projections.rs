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
        500,
        "InvalidQueryException",
        "Use of select function body requires that aliases",
    );
    check("from Orders as o select { A: + }", 500, "InvalidQueryException", "Select clause contains invalid script");
    check(
        "from Orders as o select { A: (() => { throw 'x' })() }",
        500,
        "JavaScriptException",
        "At 0:0 Script failed for document ID ''. x",
    );
    check(
        "from Orders as o load o.Cs as cs select { C: cs }",
        500,
        "NotSupportedException",
        "Attempted to read multiple values",
    );
    check(
        "declare function f(o) { return 5 } from Orders as o select f(o)",
        500,
        "InvalidOperationException",
        "Query returning a single function call result must return an object, but got: 5",
    );
    check(
        "from Orders as o select { A: put('x/1', {}) }",
        500,
        "InvalidOperationException",
        "Cannot make modifications in readonly context",
    );
    check("from Orders as o select { A: cmpxchg('x') }", 501, "RavenException", "'cmpxchg'");
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
    wire.check_error("POST /databases/db/queries", body, 500, "InvalidQueryException", message);
}
