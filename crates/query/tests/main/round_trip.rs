//! Whatever is parsed is printed to a text that is parsed to an equal tree; and no text makes the parser panic.

use proptest::prelude::*;
use proptest::sample::select;
use rookery_query::rql::{Error, parse};

fn check(text: &str) -> Result<(), Error> {
    let query = parse(text)?;
    let printed = query.to_string();
    let again = parse(&printed).unwrap_or_else(|error| panic!("{text}\nis printed as\n{printed}\n{error}"));
    assert_eq!(again, query, "{text}\nis printed as\n{printed}");
    assert_eq!(again.to_string(), printed);
    Ok(())
}

fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = String> + Clone {
    select(texts).prop_map(str::to_owned)
}

fn name() -> impl Strategy<Value = String> + Clone {
    one_of(&["a", "Name", "@id", "b-c", "_x", "Größe", "index", "by", "From", "'not'", "'a b'", "\"order\"", "'it''s'"])
}

fn path() -> impl Strategy<Value = String> + Clone {
    let step = prop_oneof![
        name().prop_map(|name| format!(".{name}")),
        one_of(&["[]", "[3]", ".order", " . not", ".$Keys", ".$Values", "./* c */x"]),
    ];
    (name(), prop::collection::vec(step, 0..3)).prop_map(|(first, rest)| first + &rest.concat())
}

fn value() -> impl Strategy<Value = String> + Clone {
    let constant = one_of(&["1", "-2.5", "1_000", "1e-3", "true", "FALSE", "null", "$p0", "$some-name"]);
    let text = one_of(&["'x'", "\"y\"", "''", "'it\\'s'", "'a\\nb'", "'\\u00e9'", "\"say \"\"x\"\"\"", "'$p'"]);
    prop_oneof![constant, text]
}

fn joined(items: impl Strategy<Value = String>, count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(items, count).prop_map(|items| items.join(", "))
}

fn call_name() -> impl Strategy<Value = String> + Clone {
    one_of(&[
        "search",
        "spatial.within",
        "id",
        "STARTSWITH",
        "'a b'",
        "a.'b'",
        "'not'",
        "'distinct'",
        "array",
        "true.x",
    ])
}

/// Conditions; also those that begin with a call.
fn condition() -> impl Strategy<Value = String> + Clone {
    let operator = one_of(&["=", "==", "!=", "<>", "<", "<=", ">", ">="]);
    let leaf = prop_oneof![
        (path(), operator, prop_oneof![value(), one_of(&["b.c", "now()", "cmpxchg('k').V[0]", "'not'(1)", "not(1)"])])
            .prop_map(|(left, operator, right)| format!("{left} {operator} {right}")),
        (path(), value(), value()).prop_map(|(field, low, high)| format!("{field} between {low} AND {high}")),
        (path(), one_of(&["in", "all in", "IN"]), joined(value(), 0..3))
            .prop_map(|(field, how, values)| format!("{field} {how} ({values})")),
        (call_name(), joined(prop_oneof![path(), value()], 0..3)).prop_map(|(name, list)| format!("{name}({list})")),
        one_of(&["true", "id() = 'x'"]),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            (inner.clone(), one_of(&["and", "or", "and not", "OR NOT"]), inner.clone())
                .prop_map(|(left, word, right)| format!("{left} {word} {right}")),
            inner.clone().prop_map(|inner| format!("({inner})")),
            (call_name(), joined(prop_oneof![inner, value(), path()], 1..3))
                .prop_map(|(name, list)| format!("{name}({list})")),
        ]
    })
}

fn item() -> impl Strategy<Value = String> + Clone {
    prop_oneof![
        path(),
        one_of(&["$p", "3", "id()", "count()", "sum(a.b)", "f(u, 'x', 1)", "'distinct'(1)", "counters('x')"])
    ]
}

fn aliased(items: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (items, prop_oneof![Just(String::new()), name().prop_map(|alias| format!(" as {alias}"))])
        .prop_map(|(item, alias)| item + &alias)
}

fn clause(keyword: &'static str, rest: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), rest.prop_map(move |rest| format!(" {keyword} {rest}"))]
}

fn head() -> impl Strategy<Value = String> {
    let declared = one_of(&[
        "",
        "declare function f(a, $b) { return `${a}}` + /[}]/ }\n",
        "declare timeseries t(x) { from x.'}' between $a and $b } DECLARE FUNCTION g() {}",
    ]);
    let source = one_of(&[
        "Users",
        "@all_docs",
        "'@empty'",
        "index 'A/B'",
        "index a",
        "'My ''Things'",
        "a.b/c",
        "Users (revisions = TRUE)",
        "'index'",
        "'Filter'",
    ]);
    (declared, aliased(source)).prop_map(|(declared, source)| format!("{declared} From {source}"))
}

fn tail() -> impl Strategy<Value = String> {
    let output = prop_oneof![
        one_of(&["", " select *", " update { this.x = '}' }", " SELECT DISTINCT { a: u.x / 2 }"]),
        clause("select distinct", joined(aliased(item()), 1..3)),
        aliased(Just(" select timeseries(from u.\"x)\" group by 1h select min())".to_owned())),
    ];
    let limit = one_of(&["", " limit 1", " limit 1, $p", " limit null offset 3", " offset $x", " filter_limit 5"]);
    let load = one_of(&["", " load u.a as b, $x as 'order'[]", " LOAD a b, c[].d as e []"]);
    (load, clause("filter", condition()), output, limit)
        .prop_map(|(load, filter, output, limit)| format!("{load}{filter}{output}{limit}"))
}

fn query() -> impl Strategy<Value = String> {
    let order = one_of(&["", " as long", " desc", " as alphaNumeric asc nulls last", " nulls FIRST"]);
    let key = (prop_oneof![path(), one_of(&["score()", "random('x')"])], order).prop_map(|(key, order)| key + &order);
    let clauses = (
        clause("group by", joined(aliased(item()), 1..3)),
        clause("where", condition()),
        clause("order by", joined(key, 1..3)),
    );
    (head(), clauses, tail())
        .prop_map(|(head, (group, condition, order), tail)| format!("{head}{group}{condition}{order}{tail}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn queries_of_the_grammar_are_printed_and_parsed_to_the_same(text in query()) {
        check(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    }

    #[test]
    fn any_row_of_words_is_refused_or_printed_and_parsed_to_the_same(
        words in prop::collection::vec(prop_oneof![
            one_of(&["from", "A", "where", "and", "or", "not", "true", "null", "in", "all", "between", "(", ")", ",", "=", "."]),
            one_of(&["'x'", "'", "[", "]", "{", "}", "$p", "$", "1", "-", "/", "as", "select", "timeseries", "index", "filter"]),
            path(), value(), condition(), item(),
        ], 0..12),
        is_spaced in any::<bool>(),
    ) {
        let text = words.join(if is_spaced { " " } else { "" });
        let _ = check(&text);
        let _ = check(&format!("from A where {text}"));
        let _ = check(&format!("from A select {text}"));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}", script in "[{}()\\[\\]'\"`$/\\\\*a \n]{0,30}") {
        let _ = check(&text);
        let _ = check(&format!("from A as u select {{{script}"));
        let _ = check(&format!("from A where a = '{script}"));
    }
}
