//! Scripts as the database runs them: expected values are what the reference server answered to the same.

use std::rc::Rc;

use rookery_script::*;

/// A database of one document.
struct One;

const DOCUMENT: &str =
    r#"{"Name":"Ann","Age":30,"N":null,"Arr":[1,2],"O":{"a":1},"@metadata":{"@collection":"Users"}}"#;

fn stored(id: &str, json: &str) -> Document {
    Document {
        id: id.to_owned(),
        json: Rc::from(json.as_bytes()),
        stored: Some(Stored {
            change_vector: "A:1-x".to_owned(),
            last_modified: "2026-11-22T04:40:02.3834988Z".to_owned(),
            ticks: 639_309_192_023_834_988,
        }),
    }
}

impl Host for One {
    fn key(&self) -> Key {
        |id| id.to_ascii_lowercase().into_bytes()
    }

    fn load(&mut self, id: &str) -> Result<Option<Document>, String> {
        Ok(id.eq_ignore_ascii_case("users/2").then(|| stored("users/2", r#"{"Name":"Bob","D":1.50,"N":[{"x":1.0}]}"#)))
    }

    fn value(&mut self, key: &str) -> Result<Option<Rc<[u8]>>, String> {
        match key {
            "broken" => Err("it cannot be read".to_owned()),
            key => Ok(key.eq_ignore_ascii_case("k1").then(|| Rc::from(&br#"{"Name":"Ann","N":1.50}"#[..]))),
        }
    }

    fn new_id(&mut self, given: &str) -> Result<String, String> {
        Ok(format!("{given}7-A"))
    }
}

fn patch_of(document: &str, script: &str) -> Result<Outcome, Error> {
    let program = Program::new("", &["args", "$p"], Body::Statements(script), Limits::default())?;
    let document = stored("users/1", document);
    let run = Run {
        this: Some(Input::Document(&document)),
        arguments: &[Input::Json(br#"{"p":7}"#), Input::Json(b"7")],
        may_write: true,
        omits_undefined: true,
        ..Run::default()
    };
    program.run(&run, &mut One)
}

/// The value that a patch stores as `r`.
#[track_caller]
fn check(script: &str, expected: &str) {
    let json = patch_of(DOCUMENT, script).map(|outcome| String::from_utf8(outcome.json).unwrap());
    let json = json.unwrap_or_else(|error| panic!("{script}: {error}"));
    let found = json.split_once(r#""@metadata":{"@collection":"Users"}"#).unwrap().1;
    assert_eq!(found.trim_start_matches(r#","r":"#).trim_end_matches('}'), expected.trim_end_matches('}'), "{script}");
}

#[track_caller]
fn check_fails(script: &str, expected: &str) {
    let error = patch_of(DOCUMENT, script).expect_err(script);
    assert!(format!("{error:?}").contains(expected), "{script}: {error:?}");
}

#[test]
fn null_spreads_as_in_the_reference() {
    check("this.r = this.X.Y.Z", "null");
    check("this.r = this.X.map(x => 1)", "[]");
    check("this.r = [this.N.a]", "[null]");
    check("this.r = foo()", "null");
    check("this.r = [foo()]", "[null]");
    // Lines need no semicolon, whatever is put in at their begin.
    check("this.r = []\nthis.r.push(1)\rthis.r.push(2) // x\r\nthis.r.push(3)", "[1,2,3]");
    check("let a = this.Arr\n a.X.y\n let f = x => { return x }\n this.X.y\n this.r = f(5)", "5");
    check("this.r = [foo(1).bar(2)]", "[null]");
    check("this.r = [n]", "[null]");
    check("this.r = [n === null, this.X === undefined, this.X.y === null, this.N.a === null]", "[true,true,true,true]");
    check("this.r = [this.X.length]", "[0]");
    check("this.r = [this.Arr[7].x, this.X[0], this.X['a'], this.X.toString()]", "[null,null,null,null]");
    check("this.r = [this.X.filter(x => x).length]", "[0]");
    check("this.r = [this.O.b.c.d(1).e]", "[null]");
    check("for (var k in this.X) { this.r = 1 }", "");
    check("this.X.forEach(x => 1); this.r = 2", "2");
    check("this.r = 'a' + this.X.y + 'b'", r#""anullb""#);
    check("this.r = [this.X.y + 1, this.N.y + 1, n + 1]", "[1,1,1]");
    check("this.r = `x${this.X.y}`", r#""xnull""#);
    check("this.r = [this.X?.y ?? 5]", "[5]");
    check_fails("this.r = [this.Name.foo()]", "'foo' is not a function");
    check_fails("let add = 5\nthis.r = 1 + add(1) + 2", "'add' is not a function");
    check_fails("new Foo(1)", "'Foo' is not a function");
    check_fails("this.X.Y = 1", "Thrown");
    check_fails("this.O.z.q = 3", "Thrown");
    check_fails("x = 5", "x is not defined");
}

#[test]
fn results_are_written_as_the_reference_does() {
    check("this.r = [undefined, null, NaN, Infinity, -Infinity]", r#"[null,null,"NaN","Infinity","-Infinity"]"#);
    check("this.r = undefined", "");
    check("this.r = { a: undefined, f: function () {} }", r#"{"a":null,"f":null}"#);
    check(
        "this.r = [new Date(0), new Date('2020-01-02T03:04:05.1234567Z')]",
        r#"["1970-01-01T00:00:00.0000000Z","2020-01-02T03:04:05.1230000Z"]"#,
    );
    check("this.r = [4 / 2, 1e21, 0.1 + 0.2, 1e-7, -0]", "[2,1E+21,0.30000000000000004,1E-07,0]");
    check("this.r = '\\ud800'", "\"\u{fffd}\"");
    check("this.r = new Map([[1, 2]])", "{}");
    check("this.r = JSON.stringify(this.O)", r#""{\"a\":1}""#);
    check_fails("this.r = [Symbol('x')]", "cannot be stored");
    check_fails("this.r = [10n]", "cannot be stored");
    check_fails("this.O.self = this.O", "inside of itself");
}

#[test]
fn the_functions_of_the_protocol_are_there() {
    check("this.r = [id(this), id(this.O), lastModified(this)]", r#"["users/1",null,1795322402383.4988]"#);
    check("this.r = Object.map(this.O, (v, k) => v + 1)", "[2]");
    check("this.r = '{0}-{1}'.format(1, 2)", r#""1-2""#);
    check("this.r = [startsWith('abc', 'a'), endsWith('abc', 'c'), regex('abc', 'b.')]", "[true,true,true]");
    check("this.r = [Raven_Min(1, 2), Raven_Max(1, null), Raven_Min(null, 3)]", "[1,1,null]");
    check("this.r = convertJsTimeToTimeSpanString(10000000)", r#""02:46:40""#);
    check(
        "this.r = [compareDates('2020-01-01T00:00:00', '2021-01-01T00:00:00'), compareDates('2020-01-01', '2021-01-01', 'LessThan')]",
        "[-31622400000,true]",
    );
    check("this.r = scalarToRawString(this, x => x.Age)", "30");
    check("this.r = [trim(' a '), this.Name.padStart(5, 'x')]", r#"["a","xxAnn"]"#);
    check("this.r = [args.p, $p]", "[7,7]");
    check(
        "this.r = [load('users/2').Name, load('nope'), load(['USERS/2', 'nope'])[0].Name, load(null)]",
        r#"["Bob",null,"Bob",null]"#,
    );
    check_fails("id()", "Misuse");
    check_fails("try { id() } catch (e) {}", "Misuse");
    check_fails("timeseries(this, 'x')", "NotSupported { function: \"timeseries\" }");
    check_fails("archived.archiveAt(this, 'x')", "Misuse");
    check_fails("archived.archiveAt(this)", "Misuse");
    check_fails("archived.archiveAt('a', '2030-01-01T00:00:00Z')", "Misuse");
    check_fails("archived.unarchive()", "Misuse");
    check_fails("archived.unarchive('a')", "Misuse");
}

#[test]
fn what_is_not_touched_keeps_its_text() {
    const ODD: &str = r#"{"Big":123456789012345678901,"L":9007199254740993,"D":12.7500,"One":1.0,"Arr":[{"x":1.50},{"x":2.50}],"Keys":{"10":1,"2":2,"b":3},"Nums":[1.0,9007199254740993,3]}"#;
    let patched = |script: &str| String::from_utf8(patch_of(ODD, script).unwrap().json).unwrap();
    let body = ODD.strip_suffix('}').unwrap();
    assert_eq!(patched("this.z = 1"), format!(r#"{body},"z":1}}"#));
    assert_eq!(patched(""), ODD);
    assert_eq!(patched("this.Keys.c = 4"), ODD.replace(r#""b":3"#, r#""b":3,"c":4"#));
    assert_eq!(patched("this.Arr.splice(0, 1)"), ODD.replace(r#"{"x":1.50},"#, ""));
    assert_eq!(
        patched("this.B = this.L; this.C = this.D; this.E = this.Big"),
        format!(r#"{body},"B":9007199254740992,"C":12.75,"E":1.2345678901234568E+20}}"#)
    );
    assert_eq!(
        patched("this.r = load('users/2')"),
        format!(r#"{body},"r":{{"Name":"Bob","D":1.50,"N":[{{"x":1.0}}]}}}}"#)
    );
}

#[test]
fn effects_are_told_and_seen() {
    let outcome = patch_of(
        DOCUMENT,
        "this.a = put('items/', { b: 1.5 }); this.b = [del('users/2'), del('users/2'), load('users/2')]; \
         put('users/3', { c: 1 }, 'A:1-x'); this.c = load('users/3').c; include('x'); output('hi'); output(this.O)",
    )
    .unwrap();
    let json = String::from_utf8(outcome.json).unwrap();
    assert!(json.ends_with(r#""a":"items/7-A","b":[true,false,null],"c":1}"#), "{json}");
    let put = |id: &str, json: &str, expected: Option<&str>| Effect::Put {
        id: id.to_owned(),
        json: json.as_bytes().to_vec(),
        expected: expected.map(str::to_owned),
    };
    let delete = || Effect::Delete { id: "users/2".to_owned(), expected: None };
    assert_eq!(
        outcome.effects,
        [put("items/7-A", r#"{"b":1.5}"#, None), delete(), delete(), put("users/3", r#"{"c":1}"#, Some("A:1-x"))]
    );
    assert_eq!(
        (outcome.includes, outcome.printed),
        (vec!["x".to_owned()], vec!["hi".to_owned(), r#"{"a":1}"#.to_owned()])
    );
}

#[test]
fn mistakes_have_their_place() {
    check_fails("this.a = 1;\nthis.b = ;", "Syntax");
    check_fails("this.a = 1;\nthis.b = ;", "line: 2");
    check_fails("\n\nthrow new Error('boom')", "Thrown { message: \"boom\", line: 3 }");
    check_fails("throw 'no'", "Thrown { message: \"no\"");
    check_fails("throw { a: 1 }", "{\\\"a\\\":1}");
    check_fails("with (this.O) { this.r = a }", "Syntax");
}

/// Each is stopped, and the thread runs other scripts after it.
#[test]
fn bombs_are_stopped() {
    for bomb in [
        "for (;;) {}",
        "for (var i = 0; i < 30000; i++) {}",
        "try { for (;;) {} } catch (e) {} finally { for (;;) {} }",
        "var s = 'x'; for (;;) s += s",
        "var a = []; for (;;) a.push(a.slice())",
        "new Array(1e9) + ''",
        "new Array(1e9).indexOf(1)",
        "Array.prototype.indexOf.call({ length: 1e15 }, 1)",
        "Array.from({ length: 1e9 })",
        "[...new Array(1e9)]",
        "'x'.repeat(1e9)",
        "'x'.padStart(1e9)",
        "function f() { f() } f()",
        "var o = {}; for (var i = 0; i < 9000; i++) o = { o }; this.r = o",
        "/(a+)+$/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab')",
        "var s = 'a'.repeat(1e7); s.indexOf(s.slice(5e6) + 'b')",
        "eval('1')",
        "new Function('return 1')()",
        "(function () {}).constructor('return 1')()",
        "(async function () {}).constructor('return 1')()",
        "throw new Array(1e9)",
        "var a = 'x'.repeat(1e7); for (var i = 0; i < 9000; i++) a.toUpperCase()",
        "var a = 'x'.repeat(1e7); for (var i = 0; i < 9000; i++) encodeURIComponent(a)",
        "for (var i = 0; i < 9000; i++) 'x'.repeat(4e7)",
        "var a = '[' + '1,'.repeat(1e6) + '1]'; for (var i = 0; i < 9000; i++) JSON.parse(a)",
        "var a = []; for (var i = 0; i < 9000; i++) a.push('x'.repeat(100)); for (var i = 0; i < 9000; i++) JSON.stringify(a)",
        "var a = 'x'.repeat(4e6); for (var i = 0; i < 9000; i++) a.indexOf('b')",
        "var a = 'x'.repeat(4e6); for (var i = 0; i < 9000; i++) /y/.test(a)",
        "String.raw({ raw: { length: 1e9 } })",
        "var a = 'x'.repeat(1e6); for (var i = 0; i < 9000; i++) Object.keys(a)",
        "JSON.stringify(new Array(1e9))",
        "for (var i = 0; i < 9000; i++) load('users/' + i)",
        "for (;;) output('x'.repeat(1000000))",
        "Object.defineProperty(this, 'r', { enumerable: true, get() { for (;;) {} } })",
        "this.r = { get a() { return this } }",
    ] {
        let begun = std::time::Instant::now();
        let outcome = patch_of(DOCUMENT, bomb);
        assert!(outcome.is_err(), "{bomb}: {outcome:?}");
        // Without its limit each goes on for minutes or for ever.
        assert!(begun.elapsed().as_secs() < 60, "{bomb} took {:?}: {outcome:?}", begun.elapsed());
        check("this.r = 1 + 1", "2");
    }
}

#[test]
fn a_script_does_not_see_what_is_not_for_it() {
    check(
        "this.r = [typeof native, typeof tools, typeof Proxy, typeof Reflect, typeof require, typeof std, typeof os]",
        r#"["object","object","object","object","object","object","object"]"#,
    );
    check("this.r = [native, Proxy, Reflect, WeakRef]", "[null,null,null,null]");
}

#[test]
fn a_syntax_error_has_its_place_in_the_text() {
    #[track_caller]
    fn check_place(text: &str, expected: Option<(usize, usize, &str)>) {
        let found = syntax_error(text).unwrap();
        let found = found.as_ref().map(|error| (error.line, error.column, error.message.as_str()));
        assert_eq!(found, expected, "{text}");
    }
    check_place("map('Users', u => ({ A: u.A }))", None);
    check_place("", None);
    check_place("throw new Error('not run')", None);
    check_place("map('Users', function (u) { var a = ; })", Some((1, 37, "unexpected token in expression: ';'")));
    check_place("\n\n map('Users', u => {\n  return {\n   A: u..A }; })", Some((5, 9, "expecting field name")));
    check_place("map('Users', u => ({ A: u.A })", Some((1, 31, "unexpected end of the text")));
    check_place("'é'; var a = ;", Some((1, 14, "unexpected token in expression: ';'")));
    check_place("map('Users',\n  u => {", Some((2, 9, "unexpected end of the text")));
}

#[test]
fn compare_exchange_values_are_read_and_included() {
    check("this.r = cmpxchg('K1').Name", r#""Ann""#);
    check("this.r = cmpxchg('k1').N", "1.5");
    check("this.r = cmpxchg('k1')", r#"{"Name":"Ann","N":1.50}"#);
    check("this.r = cmpxchg('nix')", "null");
    check("this.r = ['k1', 'nix'].map(key => cmpxchg(key) === null)", "[false,true]");
    let outcome =
        patch_of(DOCUMENT, "includes.cmpxchg('a'); includes.cmpxchg(['b', 'c']); includes.document('d/1')").unwrap();
    assert_eq!(
        (outcome.included_values, outcome.includes),
        (vec!["a".to_owned(), "b".to_owned(), "c".to_owned()], vec!["d/1".to_owned()])
    );
    for script in ["cmpxchg()", "cmpxchg(5)", "cmpxchg('a', 'b')"] {
        let error = patch_of(DOCUMENT, script).unwrap_err().to_string();
        assert!(error.contains("cmpxchg(key) must be called with a single string argument"), "{script}: {error}");
    }
    assert!(
        matches!(patch_of(DOCUMENT, "cmpxchg('broken')"), Err(Error::Host(message)) if message == "it cannot be read")
    );
}
