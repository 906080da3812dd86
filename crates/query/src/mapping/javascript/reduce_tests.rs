//! Reduces in JavaScript: with the engine and without it.

use super::{After, compile_reduce};
use crate::mapping::{Reduce, ScriptRefused};
use json::{Raw, Writer};

fn compile(text: &str) -> Reduce {
    Reduce::compile_script(text, "").unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The results of mapped values, one in each line.
fn results(reduce: &Reduce, values: &[&str]) -> String {
    let values: Vec<Raw<'_>> = values.iter().map(|value| Raw::new(value.as_bytes())).collect();
    let mut lines = Vec::new();
    let ended = reduce.run(&values, &|_| true, &mut |output| {
        let mut json = Vec::new();
        output.write_json(&mut Writer::new(&mut json));
        lines.push(String::from_utf8(json).unwrap());
        Ok(())
    });
    lines.extend(ended.err().map(|error| format!("error: {error}")));
    lines.join("\n")
}

const VALUES: [&str; 5] = [
    r#"{"n":"a","v":1,"o":{"x":1}}"#,
    r#"{"n":"b","v":2.5,"o":null}"#,
    r#"{"n":"a","v":0.1}"#,
    r#"{"n":null,"v":null}"#,
    r#"{"n":"b","v":3,"o":{"x":1}}"#,
];

#[track_caller]
fn check(text: &str, is_partial: bool, expected: &str) {
    let reduce = compile(text);
    assert_eq!((results(&reduce, &VALUES).as_str(), reduce.is_partial()), (expected, is_partial), "{text}");
}

#[test]
fn keys_and_sums_need_no_engine() {
    let sums = "{\"n\":\"a\",\"v\":1.1}\n{\"n\":\"b\",\"v\":5.5}\n{\"n\":null,\"v\":0}";
    for text in [
        "groupBy(x => x.n).aggregate(g => ({ n: g.key, v: g.values.reduce((t, x) => t + x.v, 0) }))",
        "groupBy(x => x.n)\n .aggregate(g => { return { n: g.key, v: g.values.reduce((t, x) => { return x.v + t; }, 0) }; });",
        "groupBy(function (x) { return x.n; }).aggregate(function (g) { return { 'n': g.key, v: g.values.reduce(function (t, x) { return t + x.v }, 0) } })",
        "groupBy(x => ({ n: x.n })).aggregate(g => ({ n: g.key.n, v: (g.values.reduce((t, x) => x.v + t, 0)) }))",
    ] {
        assert!(matches!(compile_reduce(text, "").unwrap().after, After::Native(_)), "{text}");
        check(text, true, sums);
    }
    check("groupBy(x => x.o.x).aggregate(g => ({ o: g.key }))", false, "{\"o\":1}\n{\"o\":null}");
    check("groupBy(x => x.n).aggregate(g => ({ k: g.key }))", false, "{\"k\":\"a\"}\n{\"k\":\"b\"}\n{\"k\":null}");
}

#[test]
fn all_else_is_done_by_the_engine_over_the_whole_group() {
    check(
        "groupBy(x => x.n).aggregate(g => ({ n: g.key, c: g.values.length, m: Math.max(...g.values.map(x => x.v)), u: g.nothing.at.all }))",
        false,
        "{\"n\":\"a\",\"c\":2,\"m\":1,\"u\":null}\n{\"n\":\"b\",\"c\":2,\"m\":3,\"u\":null}\n{\"n\":null,\"c\":1,\"m\":0,\"u\":null}",
    );
    check(
        "groupBy(x => ({ n: x.n, o: x.o.x })).aggregate(g => { var r = {}; r.k = JSON.stringify(g.key); return r })",
        false,
        r#"{"k":"{\"n\":\"a\",\"o\":1}"}
{"k":"{\"n\":\"b\",\"o\":null}"}
{"k":"{\"n\":\"a\",\"o\":null}"}
{"k":"{\"n\":null,\"o\":null}"}
{"k":"{\"n\":\"b\",\"o\":1}"}"#,
    );
    check(
        "groupBy(x => x.n).aggregate(g => ({ n: g.key, c: count(g.values) })); function count(values) { return values.length }",
        false,
        "{\"n\":\"a\",\"c\":2}\n{\"n\":\"b\",\"c\":2}\n{\"n\":null,\"c\":1}",
    );
    // Texts are joined, as JavaScript does, where the first is none.
    check(
        "groupBy(x => x.v.w).aggregate(g => ({ a: g.values.reduce((t, x) => t + x.n, '') }))",
        false,
        "error: 'long' does not contain a definition for 'w'",
    );
    check(
        "groupBy(x => x.w).aggregate(g => ({ a: g.values.reduce((t, x) => t + x.n, '') }))",
        false,
        "{\"a\":\"abanullb\"}",
    );
}

#[test]
fn fields_are_known_from_the_text_or_when_it_runs() {
    let open = compile("groupBy(x => x.n).aggregate(g => { var r = { n: g.key }; return r })");
    assert!(open.makes_fields());
    let closed = compile("groupBy(x => x.n).aggregate(g => ({ b: g.values.length, a: g.key }))");
    assert!(!closed.makes_fields());
    assert_eq!(closed.output_fields(), ["b".into(), "a".into(), super::OTHERS.into()]);
}

/// What the engine makes of a group, and what is made without it, in parts and of these again, agree.
#[test]
fn the_engine_and_the_native_way_agree() {
    const SUMS: &str =
        "n: g.key.n, o: g.key.o, v: g.values.reduce((t, x) => t + x.v, 0), w: g.values.reduce((t, x) => x.w + t, 0)";
    let head = "groupBy(x => ({ n: x.n, o: x.o })).aggregate";
    let native = compile(&format!("{head}(g => ({{ {SUMS} }}))"));
    let engine = compile(&format!("{head}(g => {{ let all = 0; return {{ {SUMS} }} }})"));
    assert!(native.is_partial() && !engine.is_partial());
    for seed in 0..50_u64 {
        let mut stream = testing::random::Random::new(seed);
        let mut random = |below: u64| stream.below(below);
        let values: Vec<String> = (0..random(60))
            .map(|_| {
                let n = ["\"a\"", "\"b\"", "null", "1", "2.5", "true"][random(6) as usize];
                let o = ["\"2020-01-02T03:04:05.0000000Z\"", "2.5"][random(2) as usize];
                // Quarters: their sums are exact, in any order.
                let w = [format!(",\"w\":{}", random(1000) as f64 / 4.0), ",\"w\":null".to_owned()];
                format!(
                    "{{\"n\":{n},\"o\":{o},\"v\":{}{}}}",
                    random(2_000_000) as i64 - 1_000_000,
                    w[random(2) as usize]
                )
            })
            .collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let (left, right) = values.split_at(values.len() / 2);
        let parts = [results(&native, left), results(&native, right)].join("\n");
        let parts: Vec<&str> = parts.lines().filter(|line| !line.is_empty()).collect();
        let expected = results(&engine, &values);
        assert_eq!(results(&native, &values), expected, "seed {seed}");
        assert_eq!(results(&native, &parts), expected, "seed {seed}, in parts");
    }
}

#[test]
fn a_group_that_fails_says_why() {
    for (text, expected) in [
        ("groupBy(x => x.z).aggregate(g => null)", "has to give an object"),
        ("groupBy(x => x.z).aggregate(g => [{ a: 1 }])", "has to give an object"),
        ("groupBy(x => x.z).aggregate(g => { throw 'no' })", "no"),
        ("groupBy(x => x.z).aggregate(g => { for (;;) {} })", "maximum number of statements"),
        ("groupBy(x => x.z).aggregate(g => ({ n: g.values.reduce((t, x) => t + x.n, 0) }))", "string"),
    ] {
        let found = results(&compile(text), &VALUES);
        assert!(found.starts_with("error: ") && found.contains(expected), "{text}: {found}");
    }
}

/// Steps are allowed for each value: a group may be larger than what a script may take that is given nothing.
#[test]
fn a_large_group_may_take_more_steps() {
    let reduce = compile("groupBy(x => x.z).aggregate(g => ({ n: g.values.filter(x => x.v > 1).length }))");
    assert_eq!(results(&reduce, &vec![r#"{"v":2}"#; 50_000]), "{\"n\":50000}");
}

#[test]
fn what_is_no_reduce_is_refused() {
    for text in [
        "",
        "groupBy(x => x.n)",
        "aggregate(g => 1)",
        "groupBy().aggregate(g => ({}))",
        "groupBy(x => x.n).aggregate()",
        "groupBy(x => [x.n]).aggregate(g => ({}))",
        "groupBy(x => x.n + 1).aggregate(g => ({}))",
        "groupBy(x => ({})).aggregate(g => ({}))",
        "groupBy(x => y.n).aggregate(g => ({}))",
        "groupBy(x => x.n).aggregate(g => ({ a: + }))",
        "groupBy(x => x.n).aggregate(g => ({ a: 1 })).foo()",
        "groupBy(x => x.n).aggregate(g => ({ a: 1 }",
        "results.GroupBy(x => x.n).Select(g => new { n = g.Key })",
    ] {
        let refused = Reduce::compile_script(text, "");
        assert!(matches!(refused, Err(ScriptRefused::Wrong(_))), "{text}: {refused:?}");
    }
    let deep = format!("groupBy(x => x{}).aggregate(g => ({{}}))", ".a".repeat(100_000));
    assert!(matches!(Reduce::compile_script(&deep, ""), Err(ScriptRefused::Wrong(_))));
    let load = "groupBy(x => x.n).aggregate(g => ({ a: load(g.key).a }))";
    assert_eq!(
        Reduce::compile_script(load, "").unwrap_err(),
        ScriptRefused::NotSupported("load() in a reduce".to_owned())
    );
    let error = Reduce::compile_script("groupBy(x => x.n)\n  .foo(g => 1)", "").unwrap_err().to_string();
    assert!(error.starts_with("2:3 A reduce in JavaScript is"), "{error}");
}
