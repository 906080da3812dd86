//! Asking a result whether it fits the clause `filter`.
//!
//! As in the reference, texts are compared as they are, a number and a text that is one as numbers, and what is missing fits no
//! comparison but `!=`; an array is equal to nothing, and `in` and `all in` ask its elements.

use std::cmp::Ordering;

use documents::Document;
use json::{Kind, Raw};

use super::projection::{Row, write_path};
use crate::index::Number;
use crate::indexing::terms;
use crate::plan::{FilterClause, FilterCondition, Projected, Scalar};
use crate::rql::Operator;

impl FilterClause {
    /// Whether a result fits.
    ///
    /// * `memory`: is used again for each.
    pub fn holds(&self, row: &Row<'_>, memory: &mut Vec<u8>) -> bool {
        self.condition.holds(row, memory)
    }
}

impl FilterCondition {
    /// The depth of the recursion is that of the condition, which the parser bounds.
    fn holds(&self, row: &Row<'_>, memory: &mut Vec<u8>) -> bool {
        match self {
            FilterCondition::Always => true,
            FilterCondition::And(operands) => operands.iter().all(|operand| operand.holds(row, memory)),
            FilterCondition::Or(operands) => operands.iter().any(|operand| operand.holds(row, memory)),
            FilterCondition::Not(operand) => !operand.holds(row, memory),
            FilterCondition::Compare(operand, operator, scalar) => {
                is_met(*operator, with_value(operand, row, memory, |value| compare(value, scalar)).flatten(), scalar)
            }
            FilterCondition::CompareFields(left, operator, right) => {
                let Some(scalar) = with_value(right, row, memory, scalar).flatten() else {
                    return *operator == Operator::NotEqual;
                };
                is_met(*operator, with_value(left, row, memory, |value| compare(value, &scalar)).flatten(), &scalar)
            }
            FilterCondition::AnyOf(operand, scalars) => has_value(operand, row, memory, |value| {
                let is_among = |value: Raw<'_>| scalars.iter().any(|scalar| is_equal(value, scalar));
                match value.kind() {
                    Kind::Array => value.elements().any(is_among),
                    _ => is_among(value),
                }
            }),
            FilterCondition::AllOf(operand, scalars) => has_value(operand, row, memory, |value| {
                let has = |scalar: &Scalar| match value.kind() {
                    Kind::Array => value.elements().any(|element| is_equal(element, scalar)),
                    _ => is_equal(value, scalar),
                };
                !scalars.is_empty() && scalars.iter().all(has)
            }),
            FilterCondition::Prefix(operand, prefix) => {
                with_text(operand, row, memory, |text| text.starts_with(prefix.as_str()))
            }
            FilterCondition::Suffix(operand, suffix) => {
                with_text(operand, row, memory, |text| text.ends_with(suffix.as_str()))
            }
            FilterCondition::Pattern(operand, regex) => with_text(operand, row, memory, |text| regex.is_match(text)),
            FilterCondition::Exists(operand) => has_value(operand, row, memory, |_| true),
        }
    }
}

/// Whether a comparison is met by the order of its sides. Null is neither above nor below anything.
fn is_met(operator: Operator, ordering: Option<Ordering>, scalar: &Scalar) -> bool {
    let is_comparable = *scalar != Scalar::Null;
    match operator {
        Operator::Equal => ordering.is_some_and(Ordering::is_eq),
        Operator::NotEqual => !ordering.is_some_and(Ordering::is_eq),
        Operator::Less => is_comparable && ordering.is_some_and(Ordering::is_lt),
        Operator::LessOrEqual => is_comparable && ordering.is_some_and(Ordering::is_le),
        Operator::Greater => is_comparable && ordering.is_some_and(Ordering::is_gt),
        Operator::GreaterOrEqual => is_comparable && ordering.is_some_and(Ordering::is_ge),
    }
}

/// A value that others are compared with; `None`: it is an array or an object.
fn scalar(value: Raw<'_>) -> Option<Scalar> {
    Some(match value.kind() {
        Kind::Null => Scalar::Null,
        Kind::Bool => Scalar::Boolean(value.as_bool()?),
        Kind::Number => Scalar::Number(value.number_text()?.to_owned()),
        Kind::String => Scalar::Text(value.as_str()?.into_owned()),
        Kind::Array | Kind::Object => return None,
    })
}

fn has_value(operand: &Projected, row: &Row<'_>, memory: &mut Vec<u8>, ask: impl FnOnce(Raw<'_>) -> bool) -> bool {
    with_value(operand, row, memory, ask).unwrap_or(false)
}

/// Asks something of a value of a result; `None`: it is not there.
fn with_value<T>(
    operand: &Projected,
    row: &Row<'_>,
    memory: &mut Vec<u8>,
    ask: impl FnOnce(Raw<'_>) -> T,
) -> Option<T> {
    memory.clear();
    let is_there = match operand {
        Projected::Path { steps, .. } => match (row.document, row.entry.and_then(|entry| entry.stored())) {
            (Some(document), _) => write_path(steps, document.body(), memory),
            (None, Some(stored)) => write_path(steps, stored, memory),
            (None, None) => false,
        },
        Projected::Metadata(steps) => row.document.is_some_and(|document| {
            let mut metadata = vec![b'{'];
            document.write_metadata(&mut metadata, None);
            metadata.push(b'}');
            write_path(steps, Raw::new(&metadata), memory)
        }),
        Projected::Id => {
            let id = row.document.map(Document::id).or_else(|| row.entry.map(|entry| entry.document()));
            memory.push(b'"');
            json::escape_into(memory, id.unwrap_or_default());
            memory.push(b'"');
            true
        }
        Projected::Literal(json) => {
            memory.extend_from_slice(json);
            true
        }
        Projected::Key(_) => false,
    };
    is_there.then(|| ask(Raw::new(memory)))
}

fn with_text(operand: &Projected, row: &Row<'_>, memory: &mut Vec<u8>, ask: impl FnOnce(&str) -> bool) -> bool {
    has_value(operand, row, memory, |value| value.as_str().is_some_and(|text| ask(&text)))
}

fn is_equal(value: Raw<'_>, scalar: &Scalar) -> bool {
    compare(value, scalar) == Some(Ordering::Equal)
}

/// A number of the query. One beyond those of documents is the infinite one: all are on one side of it.
fn end(text: &str) -> Option<Number> {
    terms::number(text).or_else(|| text.parse().ok().map(Number::Double))
}

/// `None`: they have no order.
fn compare(value: Raw<'_>, scalar: &Scalar) -> Option<Ordering> {
    match (value.kind(), scalar) {
        (Kind::Null, Scalar::Null) => Some(Ordering::Equal),
        (Kind::Bool, Scalar::Boolean(is_true)) => value.as_bool().map(|value| value.cmp(is_true)),
        (Kind::String, Scalar::Text(text)) => value.as_str().map(|value| (*value).cmp(text.as_str())),
        (Kind::Number, Scalar::Number(text)) => Some(terms::number(value.number_text()?)?.cmp(&end(text)?)),
        (Kind::Number, Scalar::Text(text)) => Some(terms::number(value.number_text()?)?.cmp(&terms::number(text)?)),
        (Kind::String, Scalar::Number(text)) => Some(terms::number(&value.as_str()?)?.cmp(&end(text)?)),
        _ => None,
    }
}
