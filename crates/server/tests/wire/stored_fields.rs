//! Fields that an index stores, and where projections take their values from. Expected values are those of the reference:
//! what a map stores of numbers and booleans are texts.

use super::support::Wire;

fn with_index() -> Wire {
    let wire = Wire::with_database();
    wire.put("users/1", r#"{"Name":"Ann","Age":1.50,"City":"Oslo","@metadata":{"@collection":"Users"}}"#);
    let definition = r#"{"Indexes":[{"Name":"I",
        "Maps":["from u in docs.Users select new { u.Name, N = u.Name + \"!\", Big = u.Age > 1, M = u.Missing, _ = CreateField(\"Made\", u.City, true, false) }"],
        "Fields":{"N":{"Storage":"Yes"},"Big":{"Storage":"Yes"},"M":{"Storage":"Yes"}}}]}"#;
    let answer = wire.call("PUT /databases/db/admin/indexes", definition);
    assert_eq!(answer.status, 201, "{}", answer.text());
    wire
}

/// The first result without what differs from run to run.
#[track_caller]
fn first(wire: &Wire, query: &str, behavior: &str) -> String {
    let body = format!(
        r#"{{"Query":"from index 'I' {query}","WaitForNonStaleResults":true,"ProjectionBehavior":"{behavior}"}}"#
    );
    let answer = wire.call("POST /databases/db/queries", &body);
    let text = answer.text();
    let (_, rest) = text.split_once("\"Results\":[").unwrap_or_else(|| panic!("{text}"));
    let (values, metadata) = rest.split_once("\"@metadata\":{").unwrap();
    let is_loaded = !metadata.contains("\"@change-vector\":null");
    format!("{values}{}", if is_loaded { "loaded" } else { "stored" })
}

#[test]
fn stored_values_are_projected_without_loading_the_document() {
    let wire = with_index();
    let check = |query: &str, expected: &str| assert_eq!(first(&wire, query, "Default"), expected, "{query}");
    check("select N", r#"{"N":"Ann!",stored"#);
    check("select N as X, Big, id()", r#"{"X":"Ann!","Big":"true","id()":"users/1",loaded"#);
    check("select N, 3 as X", r#"{"N":"Ann!","X":3,loaded"#);
    check("select id() as X", r#"{"X":"users/1",loaded"#);
    check("select N, Name", r#"{"N":"Ann!","Name":"Ann",loaded"#);
    check("select Made", r#"{"Made":"Oslo",stored"#);
    // What an entry lacks is looked for in the document.
    check("select M, N", r#"{"N":"Ann!",loaded"#);
    check("as i select i.M, i.N", r#"{"N":"Ann!",loaded"#);
    check("select distinct Big", r#"{"Big":"true",stored"#);
    wire.put("users/1", r#"{"Name":"Bob","@metadata":{"@collection":"Users"}}"#);
    check("select N, Name", r#"{"N":"Bob!","Name":"Bob",loaded"#);
}

/// Numbers, `true` and `false` are texts, alone and in arrays; objects are as they are.
#[test]
fn what_is_stored_has_the_form_of_the_reference() {
    let wire = Wire::with_database();
    wire.put(
        "users/1",
        r#"{"N":1.50,"T":true,"A":[1,"x",null,false],"O":{"X":1},"@metadata":{"@collection":"Users"}}"#,
    );
    wire.put("users/2", r#"{"@metadata":{"@collection":"Users"}}"#);
    let put = |name: &str, map: &str, more: &str| {
        let fields = r#"{"__all_fields":{"Storage":"Yes"}}"#;
        let body = format!(r#"{{"Indexes":[{{"Name":"{name}","Maps":["{map}"],"Fields":{fields}{more}}}]}}"#);
        assert_eq!(wire.call("PUT /databases/db/admin/indexes", &body).status, 201);
    };
    put("I", "from u in docs.Users select new { u.N, u.T, u.A, u.O, M = u.Missing }", "");
    let expected = r#"{"N":"1.50","T":"true","A":["1","x",null,"false"],"O":{"X":1},stored"#;
    assert_eq!(first(&wire, "select N, T, A, O", "Default"), expected);
    let count = |name: &str| {
        let body = format!(r#"{{"Query":"from index '{name}'","WaitForNonStaleResults":true}}"#);
        wire.call("POST /databases/db/queries", &body).json().get("TotalResults").and_then(json::Value::as_i64)
    };
    assert_eq!(count("I"), Some(1), "a document without any of the fields has no entry");
    put("Script", "map('Users', u => ({ N: u.N, T: u.T }))", "");
    put(
        "Empty",
        "from u in docs.Users select new { u.N }",
        r#","Configuration":{"Indexing.IndexEmptyEntries":"true"}"#,
    );
    put(
        "Null",
        "from u in docs.Users select new { u.N }",
        r#","Configuration":{"Indexing.IndexMissingFieldsAsNull":"true"}"#,
    );
    assert_eq!(["Script", "Empty", "Null"].map(count), [Some(1), Some(2), Some(2)]);
}

#[test]
fn where_all_fields_are_stored_others_come_from_the_document() {
    let with = |map: &str| {
        let wire = Wire::with_database();
        wire.put("d/1", r#"{"A":5,"S":"x","L":[{"P":"p1"}],"@metadata":{"@collection":"Ds"}}"#);
        let fields = r#"{"__all_fields":{"Storage":"Yes"},"Opt":{"Indexing":"Exact"}}"#;
        let body = format!(r#"{{"Indexes":[{{"Name":"I","Maps":["{map}"],"Fields":{fields}}}]}}"#);
        assert_eq!(wire.call("PUT /databases/db/admin/indexes", &body).status, 201);
        wire
    };
    let wire = with("from d in docs.Ds select new { d.A, d.S }");
    let check = |query: &str, expected: &str| assert_eq!(first(&wire, query, "Default"), expected, "{query}");
    check("select A, S", r#"{"A":"5","S":"x",stored"#);
    check("select A, L", r#"{"A":"5","L":[{"P":"p1"}],loaded"#);
    check("select L[].P as P", r#"{"P":["p1"],loaded"#);
    check("select id(), L", r#"{"id()":"d/1","L":[{"P":"p1"}],loaded"#);
    check("select Zz", r#"{"Zz":null,loaded"#);
    check("select A, Zz", r#"{"A":"5",loaded"#);
    check("select Opt", "{loaded");
    assert_eq!(first(&wire, "select L", "FromIndex"), "{stored");
    let wire = with("from d in docs.Ds select new { d.A, _ = CreateField(\\\"Made\\\", d.S, true, false) }");
    let check = |query: &str, expected: &str| assert_eq!(first(&wire, query, "Default"), expected, "{query}");
    check("select Made", r#"{"Made":"x",stored"#);
    check("select A, L", r#"{"A":"5","L":[{"P":"p1"}],loaded"#);
    check("select Zz", "{loaded");
}

/// A duration is found by its text, and compared by its ticks of 100 ns.
#[test]
fn durations_are_compared_as_numbers() {
    let wire = Wire::with_database();
    for (id, ordered) in [("a", "10:00:00"), ("b", "11:58:00"), ("c", "12:30:00")] {
        let document = r#"{"Ordered":"2020-01-01TX.0000000","Shipped":"2020-01-01T12:00:00.0000000","@metadata":{"@collection":"Orders"}}"#;
        wire.put(id, &document.replace('X', ordered));
    }
    wire.put("d", r#"{"Ordered":"2019-12-20T00:00:00.0000000","Shipped":"2020-01-01T12:00:00.0000000","@metadata":{"@collection":"Orders"}}"#);
    let body =
        r#"{"Indexes":[{"Name":"I","Maps":["from o in docs.Orders select new { Delay = o.Shipped - o.Ordered }"]}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", body).status, 201);
    let found = |query: &str| {
        let body = format!(r#"{{"Query":"from index 'I' {query}","WaitForNonStaleResults":true}}"#);
        let Some(json::Value::Array(results)) =
            wire.call("POST /databases/db/queries", &body).json().get("Results").cloned()
        else {
            panic!("{query}")
        };
        let id = |result: &json::Value| result.get("@metadata")?.get("@id")?.as_str().map(str::to_owned);
        results.iter().map(|result| id(result).unwrap()).collect::<String>()
    };
    assert_eq!(found("where Delay < 36000000000"), "bc", "an hour");
    assert_eq!(found("where Delay > 36000000000 order by Delay as long desc"), "da");
    assert_eq!(found("where Delay = '12.12:00:00' or Delay = '-00:30:00'"), "cd");
}

#[test]
fn a_query_says_where_its_values_come_from() {
    let wire = with_index();
    let check = |behavior: &str, query: &str, expected: &str| {
        assert_eq!(first(&wire, query, behavior), expected, "{behavior}: {query}");
    };
    check("FromIndex", "select N, Name, Nope", r#"{"N":"Ann!",stored"#);
    check("FromIndexOrThrow", "select N", r#"{"N":"Ann!",stored"#);
    check("FromDocument", "select N, Name", r#"{"N":null,"Name":"Ann",loaded"#);
    check("FromDocumentOrThrow", "select Name", r#"{"Name":"Ann",loaded"#);
    let ask = |behavior: &str, query: &str| {
        let body = format!(
            r#"{{"Query":"from index 'I' {query}","WaitForNonStaleResults":true,"ProjectionBehavior":"{behavior}"}}"#
        );
        wire.call("POST /databases/db/queries", &body)
    };
    let message = "Could not extract field 'Name' from index";
    ask("FromIndexOrThrow", "select Name").check_error(400, "InvalidQueryException", message);
    let message = "Could not extract field 'N' from document";
    ask("FromDocumentOrThrow", "select N").check_error(400, "InvalidQueryException", message);
    ask("Perhaps", "select N").check_error(400, "System.ArgumentException", "'ProjectionBehavior' must be");
}

/// Where a field or the id comes from the index, what is missing is left out; it is null otherwise.
#[test]
fn what_is_missing_is_left_out_beside_what_is_stored() {
    let wire = Wire::with_database();
    for (id, body) in [("a", r#""N":10,"S":"Foo","B":true"#), ("c", r#""S":null"#), ("d", r#""N":1"#)] {
        wire.put(id, &format!("{{{body},\"@metadata\":{{\"@collection\":\"Cs\"}}}}"));
    }
    for (name, stored) in [("I", r#""S":{"Storage":"Yes"}"#), ("U", "")] {
        let map = "from c in docs.Cs select new { c.N, c.S, c.B }";
        let definition = format!(r#"{{"Indexes":[{{"Name":"{name}","Maps":["{map}"],"Fields":{{{stored}}}}}]}}"#);
        assert_eq!(wire.call("PUT /databases/db/admin/indexes", &definition).status, 201);
    }
    for (query, expected) in [
        ("from index 'I' select S", r#"{"S":"Foo"} {"S":null} {}"#),
        ("from index 'I' select B", r#"{"B":true} {"B":null} {"B":null}"#),
        ("from index 'I' select S, B", r#"{"S":"Foo","B":true} {"S":null} {}"#),
        ("from index 'I' select B as Y, S as X", r#"{"Y":true,"X":"Foo"} {"X":null} {}"#),
        ("from index 'I' select S, Missing", r#"{"S":"Foo"} {"S":null} {}"#),
        ("from index 'I' select 'x' as L, B", r#"{"L":"x","B":true} {"L":"x","B":null} {"L":"x","B":null}"#),
        ("from index 'I' select 'x' as L, S", r#"{"L":"x","S":"Foo"} {"L":"x","S":null} {"L":"x"}"#),
        ("from index 'I' select distinct S, B", r#"{"S":"Foo","B":true} {"S":null} {}"#),
        ("from index 'U' select S, B", r#"{"S":"Foo","B":true} {"S":null,"B":null} {"S":null,"B":null}"#),
        ("from index 'U' select S, id()", r#"{"S":"Foo","id()":"a"} {"S":null,"id()":"c"} {"id()":"d"}"#),
        ("from Cs where N != 7 select S, id()", r#"{"S":"Foo","id()":"a"} {"S":null,"id()":"c"} {"id()":"d"}"#),
        ("from Cs select S, id()", r#"{"S":"Foo","id()":"a"} {"S":null,"id()":"c"} {"S":null,"id()":"d"}"#),
    ] {
        let answer =
            wire.call("POST /databases/db/queries", &format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true}}"#));
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        let answer = answer.json();
        let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{answer:?}") };
        let values = |result: &json::Value| {
            let text = String::from_utf8(result.to_vec()).unwrap();
            let values = text.split_once(r#""@metadata""#).unwrap().0;
            format!("{}}}", values.strip_suffix(',').unwrap_or(values))
        };
        assert_eq!(results.iter().map(values).collect::<Vec<_>>().join(" "), expected, "{query}");
    }
}
