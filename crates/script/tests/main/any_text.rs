//! Random scripts over the host's functions: whatever they are, a run ends with a result or an error, and the thread goes on.

use std::rc::Rc;

use proptest::prelude::*;
use rookery_script::*;

struct Any;

impl Host for Any {
    fn key(&self) -> Key {
        |id| id.to_ascii_lowercase().into_bytes()
    }

    fn load(&mut self, id: &str) -> Result<Option<Document>, String> {
        match id.len() % 3 {
            0 => Ok(None),
            1 => Err("it cannot be read".to_owned()),
            _ => Ok(Some(document(r#"{"b":1.0,"c":{"2":1,"1":2}}"#))),
        }
    }

    fn value(&mut self, key: &str) -> Result<Option<Rc<[u8]>>, String> {
        match key.len() % 3 {
            0 => Ok(None),
            1 => Err("it cannot be read".to_owned()),
            _ => Ok(Some(Rc::from(&b"[1.0,{\"a\":12345678901234567890}]"[..]))),
        }
    }

    fn new_id(&mut self, given: &str) -> Result<String, String> {
        Ok(format!("{given}1-A"))
    }
}

fn document(json: &str) -> Document {
    Document { id: "a/1".to_owned(), json: Rc::from(json.as_bytes()), stored: None }
}

fn run(script: &str) -> Result<Outcome, Error> {
    let program = Program::new("", &["args"], Body::Statements(script), Limits { steps: 10_000, ..Limits::default() })?;
    let this = document(r#"{"a":12.7500,"l":[1,{"x":9007199254740993}],"s":"text","n":null}"#);
    program.run(
        &Run {
            this: Some(Input::Document(&this)),
            arguments: &[Input::Json(br#"{"v":[1.0]}"#)],
            may_write: true,
            omits_undefined: true,
            ..Run::default()
        },
        &mut Any,
    )
}

/// Values and calls of the host's functions with them.
fn expression() -> impl Strategy<Value = String> {
    let value = prop::sample::select(vec![
        "this",
        "args",
        "null",
        "undefined",
        "1.5",
        "-0",
        "'a/'",
        "'ab'",
        "'abc'",
        "''",
        "[]",
        "[1,[2]]",
        "{a:1}",
        "x",
        "this.l",
        "this.n.y",
        "Symbol()",
        "10n",
        "() => 1",
        "new Date(NaN)",
        "/a/g",
        "new Map()",
        "'\\ud800'",
        "{get a() { throw 1 }}",
        "{toString() { return {} }}",
        "{length: 1e15}",
        "new Array(5)",
        "globalThis",
        "`${this.s}`",
    ])
    .prop_map(str::to_owned);
    let names = prop::sample::select(vec![
        "load",
        "id",
        "getMetadata",
        "lastModified",
        "loadPath",
        "put",
        "del",
        "include",
        "output",
        "startsWith",
        "regex",
        "Raven_Min",
        "scalarToRawString",
        "trim",
        "convertToTimeSpanString",
        "compareDates",
        "spatial.distance",
        "Object.map",
        "JSON.stringify",
        "String",
        "Array.from",
        "x.map",
        "this.l.concat",
        "cmpxchg",
        "archived.unarchive",
        "archived.archiveAt",
        "eval",
    ]);
    value.prop_recursive(3, 12, 3, move |inner| {
        prop_oneof![
            (names.clone(), prop::collection::vec(inner.clone(), 0..4))
                .prop_map(|(name, arguments)| format!("{name}({})", arguments.join(","))),
            (inner.clone(), prop::sample::select(vec!["a", "length", "0", "constructor", "__proto__", "map"]))
                .prop_map(|(object, name)| format!("({object})['{name}']")),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("({left}) + ({right})")),
            inner.prop_map(|value| format!("[{value}, {{k: {value}}}]")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn calls_of_the_host_end(parts in prop::collection::vec(expression(), 1..4)) {
        let mut script = String::new();
        for (at, part) in parts.iter().enumerate() {
            script.push_str(&format!("try {{ var x = {part}; this.r{at} = x }} catch (e) {{ this.e{at} = '' + e.message }}\n"));
        }
        if let Ok(outcome) = run(&script) {
            prop_assert!(json::Value::parse(&outcome.json).is_ok(), "{script}: {}", String::from_utf8_lossy(&outcome.json));
            let text = String::from_utf8_lossy(&outcome.json);
            prop_assert!(text.starts_with(r#"{"a":12.7500,"#), "{script}: {text}");
        }
        let simple = run("this.a = 2").unwrap().json;
        prop_assert_eq!(simple.get(..7), Some(&br#"{"a":2,"#[..]));
    }

    #[test]
    fn any_text_is_compiled_or_refused(script in "[a-c.()\\[\\]{}?=+`'\"/$;: \n]{0,40}") {
        let _ = run(&script);
        tokens(&script);
    }
}
