//! What texts cannot show well: where parts stand, what is borrowed, and what the bounds do.

use super::parse;
use crate::limits::{DEPTH_MAX, FUNCTION_COUNT_MAX, QUERY_SIZE_MAX, TERM_COUNT_MAX};
use crate::rql::ast::{ColumnValue, Output, Projection, Source};
use crate::rql::error::Reason;
use crate::rql::expression::{Expression, ValueKind};
use std::borrow::Cow;

fn reason(text: &str) -> Reason {
    parse(text).unwrap_err().reason
}

#[test]
fn parts_know_where_they_stand() {
    let text = "from Orders as o where o.A = 1 and (not_b(x , 'y').z in ($p, 2) or c between 3 and now()) \
                order by d.e[] select f , timeseries( from g ) include h";
    let query = parse(text).unwrap();
    assert_eq!(query.from.span.of(text), "Orders");
    let Some(Expression::And(operands)) = &query.condition else { panic!("{query:?}") };
    assert_eq!(operands[0].span().of(text), "o.A = 1");
    let Expression::Or(operands) = &operands[1] else { panic!("{query:?}") };
    assert_eq!(operands[0].span().of(text), "not_b(x , 'y').z in ($p, 2");
    assert_eq!(operands[1].span().of(text), "c between 3 and now()");
    assert_eq!(query.order_by[0].key.span().of(text), "d.e[]");
    let Output::Select(select) = &query.output else { panic!("{query:?}") };
    let Projection::Columns(columns) = &select.projection else { panic!("{query:?}") };
    let ColumnValue::TimeSeries(script) = &columns[1].value else { panic!("{query:?}") };
    assert_eq!(script.span.of(text), "( from g )");
    assert_eq!(script.text, "( from g )");
    assert_eq!(query.include[0].span().of(text), "h");
}

#[test]
fn equal_queries_are_equal_wherever_their_parts_stand() {
    assert_eq!(parse("from A where b=1").unwrap(), parse("FROM A // x\n WHERE (b == 1)").unwrap());
    assert_ne!(parse("from A where b=1").unwrap(), parse("from A where 'b'=1").unwrap());
}

#[test]
fn names_and_plain_strings_are_not_copied() {
    let query = parse("from Old.Orders where spatial.point(a) = 'plain'").unwrap();
    assert!(matches!(&query.from.source, Source::Collection(Cow::Borrowed("Old.Orders"))));
    let Some(Expression::Compare(comparison)) = &query.condition else { panic!("{query:?}") };
    assert!(matches!(&comparison.left, Expression::Call(call) if matches!(call.name, Cow::Borrowed("spatial.point"))));
    let Expression::Value(value) = &comparison.right else { panic!("{query:?}") };
    assert!(matches!(&value.kind, ValueKind::Text(Cow::Borrowed("plain"))));
}

#[test]
fn many_conditions_make_a_flat_tree() {
    let conditions = vec!["a = 1"; 30_000].join(" and ");
    let text = format!("from A where {conditions} or b = 2");
    let query = parse(&text).unwrap();
    let Some(Expression::Or(operands)) = &query.condition else { panic!("not an `or`") };
    assert!(matches!(&operands[0], Expression::And(operands) if operands.len() == 30_000));
}

#[test]
fn depth_is_bounded() {
    let nested = |open: &str, close: &str, depth: usize| {
        format!("from A where {}a = 1{}", open.repeat(depth), close.repeat(depth))
    };
    for (open, close) in [("(", ")"), ("f(", ")"), ("f((", "))")] {
        let depth = DEPTH_MAX / open.matches('(').count();
        assert!(parse(&nested(open, close, depth)).is_ok());
        assert_eq!(reason(&nested(open, close, depth + 1)), Reason::TooDeep);
        assert_eq!(reason(&nested(open, close, 100_000)), Reason::TooDeep);
    }
    let script = |depth: usize| format!("from A update {}{}", "{".repeat(depth), "}".repeat(depth));
    assert!(parse(&script(DEPTH_MAX)).is_ok());
    assert_eq!(reason(&script(DEPTH_MAX + 1)), Reason::TooDeep);
}

#[test]
fn terms_are_bounded() {
    let values = |count: usize| format!("from A where a in ({})", vec!["1"; count].join(","));
    // The source and the field are terms as well.
    assert!(parse(&values(TERM_COUNT_MAX - 2)).is_ok());
    assert_eq!(reason(&values(TERM_COUNT_MAX - 1)), Reason::TooManyTerms);
    assert_eq!(reason(&format!("from A select a{}", ".b".repeat(TERM_COUNT_MAX))), Reason::TooManyTerms);
}

#[test]
fn size_and_functions_are_bounded() {
    assert_eq!(reason(&" ".repeat(QUERY_SIZE_MAX + 1)), Reason::TooLong);
    assert!(parse(&format!("from A{}", " ".repeat(QUERY_SIZE_MAX - 6))).is_ok());
    let functions: String =
        (0..=FUNCTION_COUNT_MAX).map(|number| format!("declare function f{number}() {{}} ")).collect();
    assert_eq!(reason(&format!("{functions} from A")), Reason::TooManyFunctions);
}

#[test]
fn no_part_of_a_query_panics() {
    let text = "declare function f(a) { /* é */ } from index 'Ü' as u where f(u.'é'[0] = $p) and not a.b in ('x', 1) \
                order by id() desc load u.x as y[] filter a > b select { é: `${1}` } include a.$Keys limit 1 offset 2 // x";
    parse(text).unwrap();
    for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
        let _ = parse(&text[..end]);
        let _ = parse(&text[end..]);
    }
}
