//! Scripts: any text ends with an error or a result that is JSON, and the thread goes on.

use script::{Body, Document, Effect, Host, Input, Key, Limits, Program, Run};
use std::rc::Rc;
use std::time::Duration;

const LIMITS: Limits = Limits { steps: 10_000, time: Duration::from_millis(200), memory: 4 << 20, steps_setting: None };

/// Has some documents, and cannot read others.
struct Documents;

impl Host for Documents {
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

/// A patch, and the same text as a projection.
pub(crate) fn scripts(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let this = document(r#"{"a":12.7500,"l":[1,{"x":9007199254740993}],"s":"text","n":null}"#);
    for body in [Body::Statements(text), Body::Expression(text)] {
        let Ok(program) = Program::new("", &["args"], body, LIMITS) else { continue };
        let is_patch = matches!(body, Body::Statements(_));
        let run = Run {
            this: is_patch.then_some(Input::Document(&this)),
            arguments: &[Input::Json(br#"{"v":[1.0]}"#)],
            may_write: is_patch,
            omits_undefined: is_patch,
            ..Run::default()
        };
        match program.run(&run, &mut Documents) {
            Ok(outcome) => {
                let is_json = |json: &[u8]| json::Value::parse(json).is_ok();
                assert!(is_json(&outcome.json), "{text}: {}", String::from_utf8_lossy(&outcome.json));
                for effect in &outcome.effects {
                    assert!(is_patch, "{text}: a projection changes nothing");
                    assert!(!matches!(effect, Effect::Put { json, .. } if !is_json(json)), "{text}: {effect:?}");
                }
            }
            Err(error) => assert!(!error.to_string().is_empty(), "{text}"),
        }
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "this.a += args.v[0]; this.l.push({ y: load('ab') }); delete this.n",
        "put('a/', { b: this, c: [id(this), getMetadata(this)] }); del('b/1', 'A:1')",
        "({ Name: this && this.s, To: args.v.map(x => x + 1), When: new Date(0).toISOString() })",
        "for (let i = 0; i < 1e9; i++) { this.a = i } output(this)",
        "let o = { toJSON() { return this }, get a() { throw new Error('x') } }; this.l = o",
        "include('ab'); let x = []; while (true) x.push('0123456789'.repeat(1000))",
        "function f(n) { return f(n + 1) } f(0)",
        "args.v[0] < 9007199254740993n ? /(a+)+$/.test('aaaaaaaaaaaaaaaaaaaaaaaa!') : `${this.s}`",
        "try { load('a') } catch (e) { this.e = String(e) } finally { this.z = Symbol.iterator }",
        "class A { #p = 1; static s = 2; *g() { yield this.#p } }; this.l = [...new A().g()]",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
