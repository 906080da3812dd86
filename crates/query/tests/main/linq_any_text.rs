//! Any text is a definition or an error with a place in it, and no definition panics on any document.

use json::{Properties, Raw};
use proptest::prelude::*;
use rookery_query::mapping::{CompileError, DocumentView, Map, MapError, NoHost, Reduce};

const DOCUMENT: &[u8] = br#"{"Name":"Bob","N":7,"D":-1.5e300,"Dt":"2024-01-02T03:04:05.1234567Z","Arr":[3,null,"x",[1],{"A":2}],"Objs":[{"A":1,"B":"x"}],"Null":null,"Ts":"1.02:03:04","Big":9223372036854775807,"Empty":[]}"#;

fn view() -> DocumentView<'static> {
    DocumentView {
        is_archived: false,
        id: "things/1",
        body: Raw::new(DOCUMENT),
        metadata: Properties::new(br#""@collection":"Things""#),
        server_metadata: json::Properties::new(b""),
        collection: "Things".into(),
        change_vector: "".into(),
        last_modified: documents::Date::default(),
    }
}

fn has_place(error: &CompileError, text: &str) {
    assert!(error.line >= 1 && error.column >= 1, "{error}");
    assert!(error.line <= text.lines().count().max(1) + 1, "{error} in\n{text}");
}

/// Compiles a text as both, and runs what it is.
fn run(text: &str) {
    match Map::compile(text) {
        Ok(map) => {
            let result = map.run(view(), &mut NoHost, &mut |output| {
                output.fields().for_each(|(_, value)| drop(value.to_json()));
                Ok(())
            });
            // What a host or a caller says is not said here.
            assert!(!matches!(result, Err(MapError::Host(_) | MapError::Stopped(_))), "{result:?}");
        }
        Err(error) => has_place(&error, text),
    }
    match Reduce::compile(text) {
        Ok(reduce) => drop(reduce.run(&[Raw::new(DOCUMENT), Raw::new(b"{}")], &|_| true, &mut |_| Ok(()))),
        Err(error) => has_place(&error, text),
    }
}

/// What definitions are made of.
const WORDS: &[&str] = &[
    "from",
    "in",
    "docs",
    "results",
    "select",
    "new",
    "where",
    "let",
    "group",
    "by",
    "into",
    "d",
    "x",
    "g",
    "=>",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ",",
    ".",
    "?.",
    "??",
    "?",
    ":",
    "==",
    "=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<",
    ">",
    "&&",
    "||",
    "!",
    "1",
    "0",
    "2.5",
    "1M",
    "\"a\"",
    "'c'",
    "$\"{d.N}\"",
    "null",
    "true",
    ".Name",
    ".N",
    ".Dt",
    ".Arr",
    ".Objs",
    ".Where",
    ".Select",
    ".SelectMany",
    ".GroupBy",
    ".Sum",
    ".First()",
    ".ToString()",
    ".Substring",
    ".Key",
    "(int)",
    "(decimal)",
    "(DateTime?)",
    "DateTime",
    "Math.Abs",
    "Regex.Match",
    "LoadDocument",
    "Recurse",
    "CreateField",
    "this",
    "typeof",
    "\n",
    "//",
    "/*",
    "ü",
    "@",
    "is",
    "as",
    "default",
];

/// Expressions that are likely to compile, over `d` and `x`.
fn expressions() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "d.Name",
        "d.N",
        "d.D",
        "d.Dt",
        "d.Arr",
        "d.Objs",
        "d.Null",
        "d.Ts",
        "d.Big",
        "d.Empty",
        "d.Gone",
        "d",
        "1",
        "0",
        "-3",
        "2.5",
        "1.5M",
        "\"x\"",
        "\"2024-02-30\"",
        "null",
        "true",
        "'c'",
        "DateTime.MaxValue",
        "TimeSpan.MinValue",
        "long.MinValue",
        "MetadataFor(d)",
        "\"0.00\"",
        "\"yyyy\"",
        "long.MaxValue",
        "double.NaN",
        "decimal.MaxValue",
    ]);
    let templates = prop::sample::select(vec![
        "(A + B)",
        "(A - B)",
        "(A * B)",
        "(A / B)",
        "(A % B)",
        "(A == B)",
        "(A < B)",
        "(A ?? B)",
        "(A && B)",
        "(A ? B : A)",
        "(!(A))",
        "(-(A))",
        "((int)(A))",
        "((double?)(A))",
        "((decimal)(A))",
        "((DateTime?)(A))",
        "((string)(A))",
        "(A).Length",
        "(A).Count()",
        "(A)[B]",
        "(A).ToString(B)",
        "(A).Substring(B)",
        "(A).Split(B)",
        "(A).Replace(B, A)",
        "(A).IndexOf(B)",
        "(A).PadLeft(B)",
        "(A).AddDays(B)",
        "(A).AddMonths(B)",
        "(A).Year",
        "(A).TotalHours",
        "(A).Where(x => B)",
        "(A).Select(x => B)",
        "(A).SelectMany(x => B)",
        "(A).Sum(x => B)",
        "(A).Max()",
        "(A).OrderBy(x => B)",
        "(A).GroupBy(x => B)",
        "(A).Distinct()",
        "(A).Concat(B)",
        "(A).Union(B)",
        "(A).Skip(B)",
        "(A).Take(B)",
        "(A).First()",
        "(A).Any(x => B)",
        "(A).Average()",
        "(A).Contains(B)",
        "(A).ToDictionary(x => B)",
        "(A).Zip(B, (p, q) => new { p, q })",
        "(A).Reverse()",
        "new { P = A, Q = B }",
        "new[] { A, B }",
        "string.Join(A, B)",
        "string.Format(\"{0:N2}|{1}\", A, B)",
        "Math.Round(A, B)",
        "Math.Pow(A, B)",
        "Math.Abs(A)",
        "Regex.Match(A, \"(x)|(b)\")",
        "Regex.Replace(A, B, \"y\")",
        "CreateField(A, B)",
        "CreateSpatialField(A, B)",
        "(A).Boost(B)",
        "(A).ParseInt(B)",
        "new DateTime(A, B, 3)",
        "new TimeSpan(A, B, 3)",
        "TimeSpan.FromDays(A)",
        "(A).CompareTo(B)",
        "(from y in A where B select y)",
        "(from y in A group y by B into h select h.Key)",
        "$\"{A,5:0.0}{B}\"",
        "Id(A)",
        "AsJson(A)",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(5, 40, 2, move |inner| {
        (templates.clone(), inner.clone(), inner).prop_map(|(template, a, b)| {
            template.replace('A', "\u{1}").replace('B', "\u{2}").replace('\u{1}', &a).replace('\u{2}', &b)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_a_definition_or_an_error(text in ".{0,60}") {
        run(&text);
    }

    #[test]
    fn any_words_are_a_definition_or_an_error(words in prop::collection::vec(prop::sample::select(WORDS), 0..40), glued: bool) {
        let text = words.join(if glued { "" } else { " " });
        run(&text);
        run(&format!("docs.Select(d => new {{ V = {text} }})"));
    }

    #[test]
    fn any_expression_gives_a_value_or_an_error(expression in expressions()) {
        run(&format!("from d in docs from x in d.Objs select new {{ V = {expression} }}"));
        run(&format!("from d in results group d by {expression} into g select new {{ g.Key, S = g.Sum(x => x.N) }}"));
    }
}

#[test]
fn what_is_deep_or_long_is_refused() {
    let deep = |open: &str, inner: &str, close: &str, count: usize| {
        format!("docs.Select(d => new {{ V = {}{inner}{} }})", open.repeat(count), close.repeat(count))
    };
    for text in [
        deep("-", "1", "", 5_000),
        deep("new { A = ", "1", " }", 2_000),
        deep("d.Where(x => ", "1", ")", 2_000),
        deep("", "d", ".A", 5_000),
        deep("1 + ", "1", "", 5_000),
        deep("d ? 1 : ", "1", "", 5_000),
        deep("[", "1", "]", 5_000),
        deep("$\"{", "1", "}\"", 2_000),
        format!("docs{}", ".Where(d => d.A)".repeat(5_000)),
        format!("from d in docs {} select new {{ d.A }}", "from x in d.A ".repeat(1_000)),
        format!("from d in docs {} select new {{ d.A }}", "let x = d.A ".repeat(5_000)),
        format!("docs.Select(d => new {{ V = \"{}\" }})", "x".repeat(70_000)),
        format!("docs.Select(d => new {{ V = new[] {{ {} }} }})", "1,".repeat(33_000)),
    ] {
        assert!(Map::compile(&text).is_err(), "{}", &text[..80]);
    }
    // The deepest that is not refused fits the stack of a thread.
    for (open, inner, close) in [
        ("-", "d.N", ""),
        ("1 + (", "d.N", ")"),
        ("", "d.N", " + 1"),
        ("new { A = ", "d.N", " }"),
        ("d.Objs.Where(x => ", "d.N > 1", ").Any()"),
        ("d.Objs.Select(x => ", "x", ").ToArray()"),
        ("(from x in d.Objs select ", "x", ")"),
        ("Recurse(", "d", ", x => x.A)"),
        ("d.N > 1 ? 1 : ", "d.N", ""),
        ("[", "d.N", "]"),
    ] {
        let deepest = (1..=200).rev().find_map(|count| Map::compile(&deep(open, inner, close, count)).ok());
        let map = deepest.unwrap_or_else(|| panic!("{open}{inner}{close}"));
        let _ = map.run(view(), &mut NoHost, &mut |output| {
            output.values.iter().for_each(|value| drop(value.to_json()));
            Ok(())
        });
    }
    let loops = "from x in d.Objs ".repeat(64);
    let map = Map::compile(&format!("from d in docs {loops} select new {{ V = x.A }}")).unwrap();
    map.run(view(), &mut NoHost, &mut |_| Ok(())).unwrap();
    // Parentheses say nothing, so they do not count.
    let map = Map::compile(&deep("(", "1", ")", 5_000)).unwrap();
    map.run(view(), &mut NoHost, &mut |_| Ok(())).unwrap();
    let map = Map::compile(&deep("1 + ", "1", "", 90)).unwrap();
    map.run(view(), &mut NoHost, &mut |_| Ok(())).unwrap();
}

/// What a parser that mends errors and follows several readings is slow with. Each is a definition of the greatest size or is
/// refused before it is parsed; a second for all of them would be a sign that a limit does not hold.
#[test]
fn what_is_hard_to_parse_is_refused_soon() {
    let patterns = [
        "!>",
        "+(int):with ",
        "}group select with ~",
        "}join by #if =>",
        "await await await let ]",
        "a is not ",
        "a<",
        "(a)",
        "ref ,ref ",
        "typeof(a<",
        "\"s\"",
        "(a<b,c>",
        "$\"{",
        "a switch{",
        "x=>x<",
        "'",
        "/*",
        "{]",
        "a b ",
        "#",
        "from a in b ",
        "new{a=",
        "((a)-",
    ];
    for pattern in patterns {
        for size in [8 * 1024, 63 * 1024] {
            let start = std::time::Instant::now();
            assert!(Map::compile(&pattern.repeat(size / pattern.len())).is_err(), "{pattern}");
            println!("{pattern:24} {size:6} bytes {:6} ms", start.elapsed().as_millis());
        }
    }
}

#[test]
fn definitions_are_shared_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Map>();
    is_shared::<Reduce>();
}

#[test]
fn mapping_one_document_takes_bounded_steps() {
    let body = format!("{{\"A\":[{}0]}}", "0,".repeat(300));
    let view = DocumentView { body: Raw::new(body.as_bytes()), ..view() };
    let map = Map::compile("from d in docs from a in d.A from b in d.A from c in d.A select new { a, b, c }").unwrap();
    assert_eq!(map.run(view, &mut NoHost, &mut |_| Ok(())), Err(MapError::TooManySteps));
}
