//! Maps in JavaScript: what they are compiled to, and what they give.

use super::*;
use crate::mapping::{Attachment, DocumentView, FieldOptions, Following, Host, Map, NoHost as NoOthers, ScriptRefused};
use std::borrow::Cow;

const BODY: &str = r#"{"A":1,"B":{"C":"x"},"N":null,"T":["a","b"],"D":"2020-01-02T03:04:05.0000000Z","L":[{"P":"p1"},{"P":"p2"}],"F":1.50}"#;

fn document() -> DocumentView<'static> {
    DocumentView {
        is_archived: false,
        id: "users/1",
        body: Raw::new(BODY.as_bytes()),
        metadata: json::Properties::new(br#""@collection":"Users""#),
        server_metadata: json::Properties::new(b""),
        collection: Cow::Borrowed("Users"),
        change_vector: Cow::Borrowed("A:1-x"),
        last_modified: documents::Date::from_ticks(639_309_192_023_834_988),
    }
}

/// The outputs of a function, one in each line.
fn outputs(function: &str, sources: &str) -> Result<String, MapError> {
    outputs_with(function, sources, NoOthers).0
}

/// Likewise, with the host that was asked.
fn outputs_with<H: Host<'static>>(function: &str, sources: &str, mut host: H) -> (Result<String, MapError>, H) {
    // What is given borrows from the map.
    let map: &'static Map =
        Box::leak(Box::new(Map::compile_script(&format!("map('Users', {function})"), sources).unwrap()));
    let mut lines = String::new();
    let run = map.run(document(), &mut host, &mut |output| {
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
    });
    (run.map(|()| lines), host)
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
        Some("docs[\"Users\"].Select(u => new { a = u.A, b = (u.B == null ? null : u.B.C) })")
    );
    assert_eq!(csharp("map(\"@all_docs\", u => ({a: u.A}));").as_deref(), Some("docs.Select(u => new { a = u.A })"));
    for text in [
        "u => ({ a: u })",
        "u => ({ a: u.A.Length })",
        "u => ({ a: u.A.length })",
        "u => ({ a: load(u.A, 'Bs') })",
        "u => ({ a: load(u.A, 'Bs').C.D })",
        "u => ({ a: load(u.A, 'Bs').length })",
        "u => ({ a: u.A + 1 })",
        "u => ({ a: v.A })",
        "u => { return { a: u.A } }",
        "u => ({ _: u.A })",
    ] {
        assert_eq!(csharp(&format!("map('Users', {text})")), None, "{text}");
    }
    assert_eq!(
        csharp("map('Users', u => ({ a: load(u.A, 'Bs').C }))").as_deref(),
        Some("docs[\"Users\"].Select(u => new { a = LoadDocument(u.A, \"Bs\").C })")
    );
    // As in the reference, a member of nothing is null, and what an object lacks is missing.
    for function in [
        "u => ({ a: u.A, b: u.B.C, m: u.M.x, n: u.B.x, o: u.x, p: u.M.x.y, t: u.T })",
        "u => { return { a: u.A, b: u.B.C, m: u.M.x, n: u.B.x, o: u.x, p: u.M.x.y, t: u.T } }",
    ] {
        check(function, "a=1 b=\"x\" m=null p=null t=[\"a\",\"b\"]");
    }
    check("u => ({ f: u.F })", "f=1.50");
    check("u => ({ l: u.B.C.length })", "l=1");
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
fn vectors_are_made_of_whatever_is_given() {
    check("u => ({ a: createVector(u.L.map(l => 0.5)), b: createVector(u.No) })", "a=[0.5,0.5]");
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

/// Documents of the collection `Cities`, by their ids.
struct Cities(Vec<(String, Following)>);

impl<'d> Host<'d> for Cities {
    fn load_document(
        &mut self,
        id: &str,
        collection: &str,
        following: Following,
    ) -> Result<Option<DocumentView<'d>>, MapError> {
        self.0.push((format!("{collection} {id}"), following));
        let oslo = br#"{"Name":"Oslo","Big":5}"#;
        let oslo = DocumentView { id: "cities/1", body: Raw::new(oslo), ..document() };
        Ok((id == "cities/1" && collection == "Cities").then_some(oslo))
    }

    fn load_compare_exchange(&mut self, _: &str) -> Result<Option<Raw<'d>>, MapError> {
        Ok(None)
    }

    fn load_attachment(&mut self, id: &str, name: &str) -> Result<Option<Attachment<'d>>, MapError> {
        self.0.push((format!("attachment {id} {name}"), Following::Ignored));
        let found = Attachment { name: "a.txt", content_type: "text/plain", hash: "h".to_owned(), size: 5 };
        Ok((name == "a.txt").then_some(found))
    }

    fn load_content(&mut self, id: &str, name: &str) -> Result<Option<String>, MapError> {
        Ok(Some(format!("content of {name} of {id}")))
    }
}

#[test]
fn attachments_are_loaded() {
    let check = |function: &str, expected: &str, asked: &[&str]| {
        let (lines, host) = outputs_with(function, "", Cities(Vec::new()));
        assert_eq!(lines.unwrap().trim_end(), expected, "{function}");
        assert_eq!(host.0.iter().map(|(asked, _)| asked.as_str()).collect::<Vec<_>>(), asked, "{function}");
    };
    let id = document().id;
    let asked = format!("attachment {id} a.txt");
    check("u => ({ A: loadAttachment(u, 'a.txt').Name })", "A=\"a.txt\"", &[&asked]);
    check("u => ({ A: loadAttachment(u, 'a.txt').Size + 1 })", "A=6", &[&asked]);
    let content = format!("A=\"content of a.txt of {id}\"");
    check("u => ({ A: loadAttachment(u, 'a.txt').getContentAsString() })", &content, &[&asked]);
    let other = format!("attachment {id} b");
    check("u => ({ A: loadAttachment(u, 'b') === null })", "A=true", &[&other]);
    check("u => ({ A: attachmentsFor(u).length })", "A=0", &[]);
    check("u => ({ A: loadAttachments(u).length })", "A=0", &[]);
}

#[test]
fn documents_are_loaded() {
    let check = |function: &str, expected: &str, asked: &[&str]| {
        let (lines, host) = outputs_with(function, "", Cities(Vec::new()));
        assert_eq!(lines.unwrap().trim_end(), expected, "{function}");
        assert_eq!(host.0.iter().map(|(asked, _)| asked.as_str()).collect::<Vec<_>>(), asked, "{function}");
    };
    let one = ["Cities cities/1"];
    check("u => { return { c: load('cities/1', 'Cities').Name } }", "c=\"Oslo\"", &one);
    check("u => { return { c: load(u.N, 'Cities') === null, d: load(u.M, 'Cities').Name } }", "c=true d=null", &[]);
    check("u => { return { c: load('x', 'Cities') === null } }", "c=true", &["Cities x"]);
    check("u => { return { c: load('cities/1', 'Towns') === null } }", "c=true", &["Towns cities/1"]);
    let of_city =
        "u => { var c = load('cities/1', `Cities`); return { i: id(c), m: getMetadata(c)['@collection'], b: c.Big } }";
    check(of_city, "i=\"cities/1\" m=\"Users\" b=5", &one);
    let several = "u => ({ c: load(['cities/1', null, 'x'], 'Cities').map(c => c === null ? 'none' : c.Name) })";
    check(several, "c=[\"Oslo\",\"none\",\"none\"]", &["Cities cities/1", "Cities x"]);
    // Without the engine; the city's name is a text.
    check("u => ({ a: u.A, c: load(u.B.C, 'Cities').Name })", "a=1", &["Cities x"]);
    let (_, host) = outputs_with("u => { return { c: noTracking.load(u.B.C, u.B.C) } }", "", Cities(Vec::new()));
    assert_eq!(host.0, [("x x".to_owned(), Following::Ignored)]);
    let (_, host) = outputs_with("u => { return { c: load(u.B.C, 'Cities') } }", "", Cities(Vec::new()));
    assert_eq!(host.0, [("Cities x".to_owned(), Following::Followed)]);
    let of_sources = "function city(id) { return load(id, 'Cities') }";
    let (lines, _) = outputs_with("u => { return { c: city('cities/1').Name } }", of_sources, Cities(Vec::new()));
    assert_eq!(lines.unwrap(), "c=\"Oslo\"\n");
}

#[test]
fn collections_of_loaded_documents_are_known() {
    let of = |map: &str, sources: &str| Map::compile_script(map, sources).unwrap().referenced_collections().to_vec();
    let maps = [
        "map('Users', u => ({ a: load(u.A, 'As').B }))",
        "map('Users', u => { var a = load(u.A, \"As\"), b = load([u.B], 'AS'); return { a: a.B, b: f(b) } })",
        "map('Users', u => ({ a: x.load(u.A), b: load(load(f(u.A, 1), `As`).B, 'As').C, c: noTracking.load(u, u.B) }))",
    ];
    for map in maps {
        assert_eq!(of(map, ""), ["As"], "{map}");
    }
    assert_eq!(of("map('Users', u => ({ a: f(u) + 1 }))", "function f(u) { return load(u.A, 'Bs') }"), ["Bs"]);
    for (function, message) in [
        ("u => ({ a: load(u.A) })", "was invoked with 1 arguments"),
        ("u => ({ a: load(u.A, 'As', 3) })", "was invoked with 3 arguments"),
        ("u => ({ a: load() })", "was invoked with 0 arguments"),
        ("u => ({ a: noTracking.load(u.A) })", "was invoked with 1 arguments"),
        ("u => ({ a: load(u.A, u.B) })", "as a text literal"),
        ("u => ({ a: load(u.A, 'A' + 's') })", "as a text literal"),
        ("u => ({ a: load(u.A, `A${u.B}`) })", "as a text literal"),
        ("u => ({ a: load(u.A, '') })", "as a text literal"),
        ("u => ({ a: this.load(u.A, 'As') })", "without 'this'"),
    ] {
        match Map::compile_script(&format!("map('Users', {function})"), "") {
            Err(ScriptRefused::Wrong(error)) => assert!(error.message.contains(message), "{function}: {error:?}"),
            other => panic!("{function}: {other:?}"),
        }
    }
}

#[test]
fn what_loads_wrongly_is_an_error_of_the_document() {
    for (function, message) in [
        ("u => { return { a: load(u.A, 'As') } }", "needs an id or an array of ids, but got: load(1, As)"),
        ("u => { return { a: load([u.A], 'As') } }", "but got: load([1], As)"),
        ("u => { var l = load, x = load(u.B.C, 'As'); return { a: l(u.B.C, u.B.C) } }", "as a text literal"),
        ("u => { var l = load; return { a: l(u.B.C) } }", "documents are loaded by load(id, collection)"),
    ] {
        let error = outputs_with(function, "", Cities(Vec::new())).0.unwrap_err().to_string();
        assert!(error.contains(message), "{function}: {error}");
    }
}

#[test]
fn fields_are_made() {
    let made = |function: &str, expected: &str| {
        let map = Map::compile_script(&format!("map('Users', {function})"), "").unwrap();
        let mut found = Vec::new();
        assert!(map.makes_fields(), "{function}");
        map.run(document(), &mut NoOthers, &mut |output| {
            if let Some(Value::Array(values)) = output.values.last() {
                for value in values.iter() {
                    let Value::Field(made) = value else { panic!("{value:?}") };
                    let FieldOptions { storage, indexing, term_vector } = &made.options;
                    let options = [storage, indexing, term_vector].map(|option| option.as_deref().unwrap_or("-"));
                    let json = String::from_utf8(made.value.to_json()).unwrap();
                    found.push(format!("{}={json} {}", made.name, options.join(" ")));
                }
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(found.join("; "), expected, "{function}");
        map.output_fields().join(" ")
    };
    made("u => ({ _: createField('d' + u.A, u.B.C, {}) })", "d1=\"x\" - - -");
    let options = "{ indexing: 'exact', Storage: true, termVector: 'WithPositions' }";
    let names =
        made(&format!("u => ({{ _: createField('d', u.T, {options}) }})"), "d=[\"a\",\"b\"] Yes Exact WithPositions");
    assert_eq!(names, "_", "options are no fields");
    made(
        "u => ({ _: u.L.map(l => createField(l.P, 1, { storage: false, indexing: null })) })",
        "p1=1 No - -; p2=1 No - -",
    );
    made("u => ({ x: createField('d', u.N, {}), _: createField('e', u.M, {}) })", "d=null - - -");
    for function in [
        "u => ({ _: createField('d', 1) })",
        "u => ({ _: createField(u.A, 1, {}) })",
        "u => ({ _: createField('', 1, {}) })",
        "u => ({ _: createField('d', 1, { indexing: 'Blah' }) })",
        "u => ({ _: createField('d', 1, { vector: {} }) })",
        "u => { return createField('d', 1, {}) }",
    ] {
        assert!(matches!(outputs(function, ""), Err(MapError::Script(_))), "{function}");
    }
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
        ("map('Users', u => ({ a: loadPath(u, 'F').A }))", "loadPath() in an index"),
        ("timeSeries.map('Users', 'x', c => ({ a: c.Value }))", "indexes over timeSeries"),
    ] {
        match compile(text, "") {
            Err(Refusal::MissingFeature(missing)) => assert!(missing.to_string().contains(feature), "{missing}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    // What is added is asked as well: it would find nothing, without a word.
    let added = "function city(u) { return timeSeriesNamesFor(u).length }";
    match compile("map('Users', u => ({ a: city(u) }))", added) {
        Err(Refusal::MissingFeature(missing)) => {
            assert_eq!(missing, Feature::TimeSeries.missing_for("timeSeriesNamesFor() in an index"));
        }
        other => panic!("{other:?}"),
    }
}

/// A text that is no JavaScript is refused with what the engine says, and the place in the text as it was given.
#[test]
fn a_syntax_error_is_one_of_javascript() {
    #[track_caller]
    fn check_error(text: &str, sources: &str, expected: &str) {
        let error = Map::compile_script(text, sources).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
    let map = "map('Users', function (u) { var a = ; return { A: 1 }; })";
    check_error(map, "", "1:37 JavaScript syntax error: unexpected token in expression: ';'");
    let map = "\n\n map('Users', u => {\n  return {\n   A: u..A }; })";
    check_error(map, "", "5:9 JavaScript syntax error: expecting field name");
    check_error("map('Users', u => ({ A: u.A })", "", "1:31 JavaScript syntax error: unexpected end of the text");
    let map = "map('Users', u => ({ A: f(u.A) }))";
    check_error(
        map,
        "function f(x) {\n return ); }",
        "2:9 JavaScript syntax error in the added sources: unexpected token in expression: ')'",
    );
    check_error("mapp('Users', u => ({ A: u.A }))", "", "1:1 A map in JavaScript is map('Collection', function)");
    let reduce = "groupBy(x => x.A)\n.aggregate(g => ({ A: g.key, N: + }))";
    let error = crate::mapping::Reduce::compile_script(reduce, "").unwrap_err().to_string();
    assert_eq!(error, "2:35 JavaScript syntax error: unexpected token in expression: '}'");
}
