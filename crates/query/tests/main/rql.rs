//! The cases of `tests/rql/`: a query, and what the parser makes of it.
//!
//! A file begins with lines after `#` that say what it is about. Each of its cases is a query, a line `----`, what it is
//! printed as or the error, and a line `====`. Where conditions are joined in more than one way, a line `tree:` says how.
//! `UPDATE=1` writes what comes out now; the diff is read.

use crate::fixture_files::check;
use rookery_query::rql::{Expression, Query, parse};
use std::fmt::Write;

const END_OF_QUERY: &str = "----";
const END_OF_CASE: &str = "====";

/// What a query becomes. Checks on the way that the printed form means the same and is stable.
fn outcome(text: &str) -> String {
    match parse(text) {
        Ok(query) => {
            let printed = query.to_string();
            let again = parse(&printed).unwrap_or_else(|error| panic!("{text}\nis printed as\n{printed}\n{error}"));
            assert_eq!(again, query, "{text}\nis printed as\n{printed}");
            assert_eq!(again.to_string(), printed);
            printed + &trees(&query)
        }
        Err(error) => format!("error: {error}"),
    }
}

/// A line for `where` and for `filter`, if they are joined in more than one way.
fn trees(query: &Query<'_>) -> String {
    let conditions = [&query.condition, &query.filter].into_iter().flatten();
    conditions
        .filter(|condition| operands(condition).iter().any(|operand| !operands(operand).is_empty()))
        .fold(String::new(), |lines, condition| format!("{lines}\ntree: {}", tree(condition)))
}

fn operands<'a, 'q>(condition: &'a Expression<'q>) -> &'a [Expression<'q>] {
    match condition {
        Expression::And(operands) | Expression::Or(operands) => operands,
        Expression::Not(operand) => std::slice::from_ref(operand),
        _ => &[],
    }
}

/// A condition with all of its joints to be seen.
fn tree(condition: &Expression<'_>) -> String {
    let all = |operands: &[Expression<'_>]| operands.iter().map(tree).collect::<Vec<_>>().join(", ");
    match condition {
        Expression::And(operands) => format!("and[{}]", all(operands)),
        Expression::Or(operands) => format!("or[{}]", all(operands)),
        Expression::Not(operand) => format!("not[{}]", tree(operand)),
        other => other.to_string(),
    }
}

/// The file as it should be, and how many cases it has.
fn rewritten(text: &str) -> (String, usize) {
    let mut lines = text.lines().peekable();
    let mut result = String::new();
    while let Some(comment) = lines.next_if(|line| line.starts_with('#') || line.is_empty()) {
        writeln!(result, "{comment}").unwrap();
    }
    let mut count = 0;
    while lines.peek().is_some() {
        let query: Vec<_> = lines.by_ref().take_while(|line| *line != END_OF_QUERY).collect();
        let query = query.join("\n");
        lines.by_ref().find(|line| *line == END_OF_CASE);
        writeln!(result, "{query}\n{END_OF_QUERY}\n{}\n{END_OF_CASE}", outcome(&query)).unwrap();
        count += 1;
    }
    (result, count)
}

#[test]
fn queries_are_parsed_as_their_files_say() {
    let count = check("rql", rewritten);
    assert!(count > 300, "{count} cases are too few: were the files found?");
}
