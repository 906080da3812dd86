//! What is written from the table of functions: a part of `docs/rql.md`, and the completion of the studio. `UPDATE=1` rewrites both. The
//! examples of the table are queries that can be planned.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helper functions too")]

use rookery_query::functions::{Clause, FUNCTIONS, Function, find};
use rookery_query::plan::{Parameters, Plan, Refused};
use rookery_query::rql::parse;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn in_repository(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// Compares a file with what it should be, or with `UPDATE=1` writes that.
#[track_caller]
fn check_file(path: &str, is: &str, should_be: &str) {
    if is == should_be {
        return;
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(in_repository(path), should_be).unwrap();
        return;
    }
    let (line, found) = should_be
        .lines()
        .enumerate()
        .find(|(at, line)| is.lines().nth(*at) != Some(line))
        .unwrap_or((should_be.lines().count(), ""));
    panic!("{path}:{}: the table of functions has\n    {found}\nUPDATE=1 rewrites the file", line + 1);
}

fn is_supported(function: &&Function) -> bool {
    !function.clauses().is_empty()
}

/// The names of clauses; a place that is no word of the language stands without backticks.
fn clauses_in_markdown(function: &Function) -> String {
    let name = |clause: &Clause| match clause {
        Clause::Groups => "results of `group by`".to_owned(),
        Clause::Spatial | Clause::Value => clause.name().to_owned(),
        _ => format!("`{}`", clause.name()),
    };
    function.clauses().iter().map(name).collect::<Vec<_>>().join(", ")
}

/// The part of `docs/rql.md` that comes from the table.
fn documentation() -> String {
    let mut text = "| function | clause | what it does, and an example |\n| --- | --- | --- |\n".to_owned();
    for function in FUNCTIONS.iter().copied().filter(is_supported) {
        let Function { name, about, example, .. } = function;
        let (signature, clauses) = (function.signature(), clauses_in_markdown(function));
        writeln!(text, "| `{name}({signature})` | {clauses} | {about} `{example}` |").unwrap();
    }
    let refused: Vec<String> = FUNCTIONS
        .iter()
        .filter(|function| !is_supported(function))
        .map(|function| format!("`{}`", function.name))
        .collect();
    write!(text, "\nRavenDB has more, which are refused by name: {}.\n", refused.join(", ")).unwrap();
    text
}

#[test]
fn the_documentation_has_the_functions_of_the_table() {
    const PATH: &str = "docs/rql.md";
    const BEGIN: &str =
        "<!-- functions: from crates/query/src/functions, UPDATE=1 cargo test -p rookery-query --test functions -->\n";
    const END: &str = "<!-- end of functions -->\n";
    let text = std::fs::read_to_string(in_repository(PATH)).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect(BEGIN);
    let (_, behind) = rest.split_once(END).expect(END);
    check_file(PATH, &text, &format!("{before}{BEGIN}\n{}\n{END}{behind}", documentation()));
}

/// As prettier writes it.
fn completion() -> String {
    let quoted = |text: &str| String::from_utf8(json::Value::from(text).to_vec()).unwrap();
    let functions = FUNCTIONS.iter().copied().filter(is_supported).map(|function| {
        let clauses: Vec<String> = function.clauses().iter().map(|clause| quoted(clause.name())).collect();
        format!(
            "  {{\n    \"name\": {},\n    \"arguments\": {},\n    \"clauses\": [{}],\n    \"about\": {}\n  }}",
            quoted(function.name),
            quoted(&function.signature()),
            clauses.join(", "),
            quoted(function.about)
        )
    });
    format!("[\n{}\n]\n", functions.collect::<Vec<_>>().join(",\n"))
}

#[test]
fn the_completion_of_the_studio_has_the_functions_of_the_table() {
    const PATH: &str = "studio/src/screens/query/functions.json";
    let text = std::fs::read_to_string(in_repository(PATH)).unwrap_or_default();
    check_file(PATH, &text, &completion());
}

fn plan(query: &str) -> Result<Plan, Refused> {
    let parameters = json::Value::parse(br#"{"vector":[0.5,0.25],"options":{"PageSize":3}}"#).unwrap();
    Plan::new(&parse(query).unwrap_or_else(|error| panic!("{query}\n{error}")), Parameters::new(Some(&parameters)))
}

#[test]
fn every_example_calls_its_function_and_can_be_planned() {
    for function in FUNCTIONS.iter().copied().filter(is_supported) {
        let Function { name, example, .. } = function;
        assert!(example.contains(&format!("{name}(")), "{name}: {example}");
        plan(example).unwrap_or_else(|refused| panic!("{example}\n{refused}"));
    }
}

/// A query that calls a function with as many values as it needs at least.
fn query_in(clause: Clause, function: &Function) -> String {
    let arguments: Vec<&str> =
        function.arguments.iter().filter(|argument| !argument.is_optional).map(|_| "'x'").collect();
    let call = format!("{}({})", function.name, arguments.join(", "));
    match clause {
        Clause::Where => format!("from index 'X' where {call}"),
        Clause::Filter => format!("from U filter {call}"),
        Clause::OrderBy => format!("from U order by {call}"),
        Clause::GroupBy => format!("from U group by {call} select count()"),
        Clause::Select => format!("from index 'X' select {call}"),
        Clause::Include => format!("from U where A = 1 include {call}"),
        Clause::Facet => format!("from index 'X' select facet(A, {call})"),
        Clause::Groups | Clause::Spatial | Clause::Vector | Clause::Value => unreachable!("they are no clauses"),
    }
}

/// A clause that the table does not name refuses the function; one that it names does not say that there is no such function.
#[test]
fn functions_stand_where_the_table_says_and_nowhere_else() {
    let unknown = |clause| match clause {
        Clause::Where => "is not a condition of `where`",
        Clause::Filter => "() in 'filter'",
        Clause::OrderBy => "() in 'order by'",
        Clause::GroupBy => "Unsupported method",
        Clause::Select => "Unknown method call",
        Clause::Include => "() in 'include'",
        _ => "is not supported in a facet query",
    };
    let clauses = [
        Clause::Where,
        Clause::Filter,
        Clause::OrderBy,
        Clause::GroupBy,
        Clause::Select,
        Clause::Include,
        Clause::Facet,
    ];
    for function in FUNCTIONS.iter().copied() {
        for clause in clauses {
            let query = query_in(clause, function);
            // `timeseries(` is a word of the grammar in `select`.
            let refused = match parse(&query) {
                Ok(_) => plan(&query).err().map(|refused| refused.to_string()).unwrap_or_default(),
                Err(error) => error.to_string(),
            };
            if function.clauses().contains(&clause) {
                assert!(!refused.contains(unknown(clause)), "{query}\n{refused}");
            } else {
                assert!(!refused.is_empty(), "{query}");
            }
        }
    }
}

#[track_caller]
fn check_refused(query: &str, expected: &str) {
    let refused = plan(query).unwrap_err();
    assert_eq!(refused.to_string(), expected, "{query}");
}

#[test]
fn errors_name_the_arguments_and_clauses_of_the_table() {
    check_refused("from U where STARTSWITH(A)", "Method startsWith() needs a field and a text");
    check_refused("from U filter endsWith(A, 5)", "Method endsWith() needs a field and a text");
    check_refused("from U where search(A)", "Method search() needs a field, a text and perhaps 'and' or 'or'");
    check_refused("from U where intersect(A = 1)", "Method intersect() needs at least two conditions");
    check_refused("from U order by random(A)", "Method random() needs no arguments or a text");
    check_refused("from U where nonsense(A)", "Unknown function 'nonsense' in `where`");
    check_refused(
        "from U where startWith(A, 'x')",
        "Unknown function 'startWith' in `where`. Did you mean 'startsWith'?",
    );
    check_refused("from U where Score()", "Function 'score' is not a condition of `where`; it stands in order by");
    check_refused("from U where id()", "id() alone is not a condition; compare it with a value");
    check_refused("from U where when(A = 1)", "Method when() needs a value and a condition");
    check_refused("from U where today()", "Function 'today' is not a condition of `where`; it stands in values");
    check_refused(
        "from U include timeseries('x')",
        concat!(
            "Rookery ",
            env!("CARGO_PKG_VERSION"),
            " does not support timeseries() in 'include' yet (missing feature: time series)"
        ),
    );
    let paths = "Parameters of method `revisions` must be paths to change vectors, or times such as '2026-01-31T12:00:00.0000000Z'";
    check_refused("from U include revisions()", paths);
    check_refused("from U include revisions(5)", paths);
    check_refused("from U select sum(A)", "sum may only be used in group by queries");
}

#[test]
fn functions_are_found_by_all_their_names() {
    assert_eq!(find("AVERAGE").unwrap().name, "avg");
    assert!(find("nonsense").is_none());
}
