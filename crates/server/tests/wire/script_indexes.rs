//! Indexes in JavaScript: what they find. Expected ids are those that the reference answered.

use super::support::{Answer, Wire};

fn wire() -> Wire {
    let wire = Wire::with_database();
    let one = r#"{"A":1,"N":null,"T":["a","b"],"D":"2020-01-02T03:04:05.0000000Z","L":[{"P":"x"},{"P":"y"}],"@metadata":{"@collection":"Users"}}"#;
    wire.put("u/1", one);
    wire.put("u/2", r#"{"B":2,"@metadata":{"@collection":"Users"}}"#);
    wire
}

fn put(wire: &Wire, name: &str, map: &str, more: &str) -> Answer {
    let body = format!(r#"{{"Indexes":[{{"Name":"{name}","Maps":["{map}"]{more}}}]}}"#);
    wire.call("PUT /databases/db/admin/indexes", &body)
}

/// The ids that a condition finds.
#[track_caller]
fn check(wire: &Wire, name: &str, condition: &str, expected: &[&str]) {
    let body = format!(r#"{{"Query":"from index '{name}' where {condition}","WaitForNonStaleResults":true}}"#);
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let Some(json::Value::Array(results)) = answer.json().get("Results").cloned() else { panic!("{}", answer.text()) };
    let id = |result: &json::Value| result.get("@metadata").unwrap().get("@id").unwrap().as_str().unwrap().to_owned();
    assert_eq!(results.iter().map(id).collect::<Vec<_>>(), expected, "{condition}");
}

#[test]
fn a_map_in_javascript_is_indexed() {
    let wire = wire();
    assert_eq!(put(&wire, "Plain", "map('Users', u => ({a: u.A, t: u.T, n: u.N}))", "").status, 201);
    check(&wire, "Plain", "a = 1", &["u/1"]);
    check(&wire, "Plain", "t = 'b'", &["u/1"]);
    check(&wire, "Plain", "n = null", &["u/1"]);
    put(&wire, "Nothing", "map('Users', u => ({ p: u.Nope.P }))", "");
    check(&wire, "Nothing", "p = null", &["u/1", "u/2"]);
    put(&wire, "Length", "map('Users', u => ({ l: u.D.length }))", "");
    check(&wire, "Length", "l = 28", &["u/1"]);
    let query = r#"{"Query":"from index 'Plain' where zz = 1"}"#;
    wire.check_error(
        "POST /databases/db/queries",
        query,
        400,
        "ArgumentException",
        "The field 'zz' is not indexed in 'Plain'",
    );
    let told = wire.call("GET /databases/db/indexes?name=Plain", "").text();
    assert!(told.contains(r#""Type":"JavaScriptMap""#), "{told}");
}

#[test]
fn a_function_is_run_for_each_document() {
    let wire = wire();
    put(&wire, "Code", "map('Users', function(u){ var r = {}; r.q = u.A; return r })", "");
    check(&wire, "Code", "q = 1", &["u/1"]);
    check(&wire, "Code", "zz = 1", &[]);
    put(&wire, "Two", "map('Users', u => { return [{a: 1, i: id(u)}, {a: 2, i: getMetadata(u)['@collection']}] })", "");
    check(&wire, "Two", "a = 2", &["u/1", "u/2"]);
    check(&wire, "Two", "i = 'u/2'", &["u/2"]);
    put(&wire, "Some", "map('Users', u => { if (u.A) return { a: u.A } })", "");
    check(&wire, "Some", "exists(a)", &["u/1"]);
    put(&wire, "Lines", "map('Users', u => u.L.map(l => ({ p: l.P })))", "");
    check(&wire, "Lines", "p = 'y'", &["u/1"]);
    put(&wire, "Dates", "map('Users', u => ({ y: new Date(u.D).getFullYear(), d: new Date(u.D) }))", "");
    check(&wire, "Dates", "y = 2020", &["u/1"]);
    check(&wire, "Dates", "d = '2020-01-02T03:04:05.0000000Z'", &["u/1"]);
    put(&wire, "All", "map('@all_docs', u => ({ a: u.A + 0 }))", "");
    check(&wire, "All", "a = 1", &["u/1"]);
}

#[test]
fn fields_and_functions_may_come_from_elsewhere() {
    let wire = wire();
    put(
        &wire,
        "Dynamic",
        "map('Users', u => ({ _: { $value: u.A, $name: 'dyn', $options: { indexing: 'Exact', storage: true } } }))",
        "",
    );
    check(&wire, "Dynamic", "dyn = 1", &["u/1"]);
    check(&wire, "Dynamic", "zzz = 1", &[]);
    let sources = r#","AdditionalSources":{"x":"function foo(a) { return a + 100; }"}"#;
    put(&wire, "Added", "map('Users', u => ({ a: foo(u.A) }))", sources);
    check(&wire, "Added", "a = 101", &["u/1"]);
    let two =
        r#"{"Indexes":[{"Name":"Maps","Maps":["map('Users', u => ({ a: u.A }))","map('Users', u => ({ b: u.B }))"]}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", two).status, 201);
    check(&wire, "Maps", "b = 2", &["u/2"]);
}

#[test]
fn a_document_that_a_script_fails_on_is_an_error_of_the_index() {
    let wire = wire();
    put(&wire, "Fails", "map('Users', u => ({ a: u.A ? u.A.foo() : 7 }))", "");
    check(&wire, "Fails", "a = 7", &["u/2"]);
    let errors = wire.call("GET /databases/db/indexes/errors?name=Fails", "").text();
    assert!(errors.contains(r#""Document":"u/1""#) && errors.contains("not a function"), "{errors}");
    for map in ["map('Users', u => ({ a: ", "map('Users')", "foo('Users', x => x)", "map('Users', u => ({ a: + }))"] {
        put(&wire, "Wrong", map, "").check_error(400, "IndexCompilationException", "Failed to compile index Wrong");
    }
}

fn city(wire: &Wire, name: &str) {
    wire.put("cities/1", &format!(r#"{{"Name":"{name}","@metadata":{{"@collection":"Cities","X-Own":"of {name}"}}}}"#));
}

#[test]
fn entries_follow_what_a_script_loads_for_them() {
    let wire = Wire::with_database();
    wire.put("users/1", r#"{"City":"CITIES/1","@metadata":{"@collection":"Users"}}"#);
    wire.put("users/2", r#"{"City":"towns/1","@metadata":{"@collection":"Users"}}"#);
    wire.put("towns/1", r#"{"Name":"Bray","@metadata":{"@collection":"Towns"}}"#);
    city(&wire, "Oslo");
    // Run without the engine, and by it.
    put(&wire, "Plain", "map('Users', u => ({ c: load(u.City, 'Cities').Name }))", "");
    let map = "map('Users', u => { var c = load(u.City, 'cities'); if (c) return { c: c.Name, i: id(c), o: getMetadata(c)['X-Own'] } })";
    put(&wire, "Code", map, "");
    put(&wire, "Any", "map('Users', u => ({ c: load(u.City, '@all_docs').Name }))", "");
    put(&wire, "Once", "map('Users', u => ({ c: noTracking.load(u.City, 'Cities').Name }))", "");
    let sources = r#","AdditionalSources":{"x":"function city(u) { return load(u.City, 'Cities') }"}"#;
    put(&wire, "Added", "map('Users', u => ({ c: city(u).Name }))", sources);
    for name in ["Plain", "Code", "Any", "Once", "Added"] {
        check(&wire, name, "c = 'oslo'", &["users/1"]);
        check(&wire, name, "c = 'bray'", if name == "Any" { &["users/2"] } else { &[] });
    }
    check(&wire, "Code", "i = 'cities/1' and o = 'of Oslo'", &["users/1"]);
    city(&wire, "Bergen");
    for name in ["Plain", "Code", "Any", "Added"] {
        check(&wire, name, "c = 'bergen'", &["users/1"]);
    }
    check(&wire, "Code", "o = 'of Bergen'", &["users/1"]);
    check(&wire, "Once", "c = 'bergen'", &[]);
    wire.call("DELETE /databases/db/docs?id=cities/1", "");
    check(&wire, "Code", "exists(c)", &[]);
    check(&wire, "Any", "c = 'bray'", &["users/2"]);
    for (name, collections) in [("Code", r#"["cities"]"#), ("Any", r#"["@all_docs"]"#), ("Once", "[]")] {
        let told = wire.call(&format!("GET /databases/db/indexes/stats?name={name}"), "").text();
        assert!(told.contains(&format!(r#""ReferencedCollections":{collections}"#)), "{told}");
    }
    for map in ["map('Users', u => ({ c: load(u.City) }))", "map('Users', u => ({ c: load(u.City, u.Of) }))"] {
        put(&wire, "Wrong", map, "").check_error(400, "IndexCompilationException", "Failed to compile index Wrong");
    }
}

#[test]
fn fields_are_made_with_options() {
    let wire = wire();
    let options = "{ indexing: 'Search', storage: true }";
    let map = format!("map('Users', u => ({{ _: u.T.map(t => createField('by_' + t, 'Two Words', {options})) }}))");
    put(&wire, "Made", &map, "");
    check(&wire, "Made", "search(by_a, 'words')", &["u/1"]);
    check(&wire, "Made", "search(by_c, 'words')", &[]);
    let query = r#"{"Query":"from index 'Made' select by_b","WaitForNonStaleResults":true}"#;
    let found = wire.call("POST /databases/db/queries", query).text();
    assert!(found.contains(r#""by_b":"Two Words""#), "{found}");
    put(&wire, "None", "map('Users', u => ({ a: u.A, _: createField('d', u.B) }))", "");
    check(&wire, "None", "true", &[]);
    let errors = wire.call("GET /databases/db/indexes/errors?name=None", "").text();
    assert!(errors.contains("createField(name, value, options) needs an object of options"), "{errors}");
}
