//! Maps in JavaScript: what they are compiled to, and what they give.

use super::*;
use crate::mapping::{DocumentView, Map, NoHost as NoOthers};
use std::borrow::Cow;

const BODY: &str = r#"{"A":1,"B":{"C":"x"},"N":null,"T":["a","b"],"D":"2020-01-02T03:04:05.0000000Z","L":[{"P":"p1"},{"P":"p2"}],"F":1.50}"#;

fn document() -> DocumentView<'static> {
    DocumentView {
        id: "users/1",
        body: Raw::new(BODY.as_bytes()),
        metadata: Raw::new(br#"{"@collection":"Users"}"#),
        collection: Cow::Borrowed("Users"),
        change_vector: Cow::Borrowed("A:1-x"),
        last_modified: documents::Date::from_ticks(639_309_192_023_834_988),
    }
}

/// The outputs of a function, one in each line.
fn outputs(function: &str, sources: &str) -> Result<String, MapError> {
    let map = Map::compile_script(&format!("map('Users', {function})"), sources).unwrap();
    let mut lines = String::new();
    map.run(document(), &mut NoOthers, &mut |output| {
        let mut json = Vec::new();
        for (name, value) in output.fields() {
            if !matches!(value, Value::Missing) {
                json.extend_from_slice(format!("{name}=").as_bytes());
                value.write_json(&mut json::Writer::new(&mut json));
                json.push(b' ');
            }
        }
        lines.push_str(&format!("{}\n", String::from_utf8_lossy(&json).trim_end()));
        Ok(())
    })?;
    Ok(lines)
}

#[track_caller]
fn check(function: &str, expected: &str) {
    assert_eq!(outputs(function, "").unwrap().trim_end(), expected, "{function}");
}

#[test]
fn plain_properties_run_without_the_engine() {
    let csharp = |text: &str| match compile(text, "").unwrap().1 {
        Compiled::Native(text) => Some(text),
        Compiled::Script(_) => None,
    };
    assert_eq!(
        csharp("map('Users', u => ({ a: u.A, b: u.B.C, }))").as_deref(),
        Some("docs[\"Users\"].Select(u => new { a = u.A, b = u.B.C })")
    );
    assert_eq!(csharp("map(\"@all_docs\", u => ({a: u.A}));").as_deref(), Some("docs.Select(u => new { a = u.A })"));
    for text in [
        "u => ({ a: u })",
        "u => ({ a: u.A.Length })",
        "u => ({ a: u.A + 1 })",
        "u => ({ a: v.A })",
        "u => { return { a: u.A } }",
        "u => ({ _: u.A })",
    ] {
        assert_eq!(csharp(&format!("map('Users', {text})")), None, "{text}");
    }
    check("u => ({ a: u.A, b: u.B.C, m: u.M.x, f: u.F, t: u.T })", "a=1 b=\"x\" f=1.50 t=[\"a\",\"b\"]");
}

#[test]
fn a_function_gives_an_object_or_several_or_nothing() {
    check("function (u) { return { a: u.A + 1, c: u.B.C, m: u.M } }", "a=2 c=\"x\"");
    check("u => u.L.map(l => ({ p: l.P, a: u.A }))", "p=\"p1\" a=1\np=\"p2\" a=1");
    check("u => { if (u.A > 1) return { a: 1 } }", "");
    check("u => null", "");
    check(
        "u => ({ y: new Date(u.D).getFullYear(), i: id(u), c: getMetadata(u)['@collection'] })",
        "y=2020 i=\"users/1\" c=\"Users\"",
    );
    check("u => ({ a: u.N, b: u.M.x.y, c: u.M.map(x => x).length })", "a=null b=null c=0");
}

#[test]
fn fields_may_be_known_only_when_it_runs() {
    let map = |function: &str| Map::compile_script(&format!("map('Users', {function})"), "").unwrap();
    assert!(!map("u => ({ a: u.A + 1 })").makes_fields());
    for function in [
        "u => { var r = {}; r.q = 1; return r }",
        "u => ({ ...u })",
        "u => ({ [u.A]: 1 })",
        "u => ({ _: { $name: u.A } })",
    ] {
        assert!(map(function).makes_fields(), "{function}");
    }
    let names = map("u => u.L.map(l => ({ p: l.P, q: { r: 1 } }))").output_fields().to_vec();
    assert_eq!(names, ["p".into(), "q".into(), OTHERS.into()]);
    let dynamic =
        outputs("u => ({ a: 1 + 1, _: { $name: 'b' + u.A, $value: u.B.C, $options: { storage: true } } })", "")
            .unwrap();
    assert!(dynamic.starts_with("a=2 _="), "{dynamic}");
}

#[test]
fn functions_of_added_sources_may_be_called() {
    assert_eq!(outputs("u => ({ a: plus(u.A) })", "function plus(a) { return a + 100; }").unwrap(), "a=101\n");
}

#[test]
fn places_and_shapes_are_made() {
    let check = |function: &str, expected: &str| assert_eq!(outputs(function, "").unwrap(), expected, "{function}");
    check("u => ({ a: createSpatialField(u.A, 2.5) })", "a=\"POINT (2.5 1)\"\n");
    check("u => { return { a: createSpatialField('POINT(1 2)') }; }", "a=\"POINT(1 2)\"\n");
    check("u => ({ a: u.L.map(l => createSpatialField(1, 2)) })", "a=[\"POINT (2 1)\",\"POINT (2 1)\"]\n");
    // As in the reference.
    check(
        "u => ({ a: createSpatialField(u.N, 1), b: createSpatialField('1', '2'), c: createSpatialField(u.No) })",
        "\n",
    );
}

#[test]
fn what_fails_is_an_error_of_the_document() {
    for function in ["u => { throw 'no' }", "u => ({ a: u.B.C.foo() })", "u => { for (;;) {} }"] {
        assert!(matches!(outputs(function, ""), Err(MapError::Script(_))), "{function}");
    }
}

#[test]
fn what_is_none_is_refused() {
    for text in [
        "foo('Users', x => x)",
        "map('Users')",
        "map(5, x => x)",
        "map('Users', u => ({ a: ",
        "map('Users', u => ({ a: + }))",
        "map('A', x => ({})); map('B', x => ({}))",
        "",
    ] {
        assert!(matches!(compile(text, ""), Err(Refusal::Wrong(_))), "{text}");
    }
    for (text, feature) in [
        ("map('Users', u => ({ a: load(u.F, 'Users').A }))", "load() in an index"),
        ("counters.map('Users', c => ({ a: c.Value }))", "indexes over counters"),
        ("timeSeries.map('Users', 'x', c => ({ a: c.Value }))", "indexes over timeSeries"),
    ] {
        match compile(text, "") {
            Err(Refusal::NotSupported(name)) => assert_eq!(name, feature),
            other => panic!("{text}: {other:?}"),
        }
    }
    // What is added is asked as well: it would find nothing, without a word.
    let added = "function city(u) { return load(u.C, 'Cities').Name }";
    match compile("map('Users', u => ({ a: city(u) }))", added) {
        Err(Refusal::NotSupported(name)) => assert_eq!(name, "load() in an index"),
        other => panic!("{other:?}"),
    }
}
