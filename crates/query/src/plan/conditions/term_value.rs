//! Converts values of a query to terms of an index, or to bounds of a range.

use super::condition::{Condition, TermValue};
use crate::definition::{FieldUse, terms};
use crate::index::Number;
use crate::limits::BOUND_SIZE_MAX;
use crate::plan::Refused;
use crate::plan::parameters::Scalar;
use std::ops::Bound;

/// Converts a value to the term that equals it.
pub(in crate::plan) fn term_value(value: Scalar) -> TermValue {
    match value {
        Scalar::Null => TermValue::Null,
        // An object of a document is found by its JSON text.
        Scalar::Text(text) | Scalar::Object(text) => TermValue::Text(text),
        Scalar::Boolean(is_true) => TermValue::Text(is_true.to_string()),
        Scalar::Number(text) => match terms::number(&text) {
            Some(number) => TermValue::Number(number),
            // No number of a document is beyond the range of a double.
            None => TermValue::Text(text),
        },
    }
}

/// Converts a bound of a range. A number beyond the range of doubles becomes infinity: all values are on one side of it.
pub(crate) fn end(value: Scalar) -> TermValue {
    match value.number().map(|text| (terms::number(text), text.parse::<f64>())) {
        Some((None, Ok(double))) => TermValue::Number(Number::Double(double)),
        _ => term_value(value),
    }
}

/// The condition for values between two bounds of the same kind.
pub(crate) fn range(field: FieldUse, low: Bound<Scalar>, high: Bound<Scalar>) -> Result<Condition, Refused> {
    let [low, high] = [low, high].map(|bound| bound.map(end));
    if let (Some(low), Some(high)) = (numbers(&low), numbers(&high)) {
        return Ok(Condition::Numbers(field, low, high));
    }
    if let (Some(low), Some(high)) = (texts(&low), texts(&high)) {
        for bound in [&low, &high] {
            if let Bound::Included(text) | Bound::Excluded(text) = bound {
                check_bound(text)?;
            }
        }
        return Ok(Condition::Texts(field, low, high));
    }
    let path = &field.name.path;
    let rule = "a range needs two numbers or two texts";
    Err(Refused::Invalid(format!("Incompatible types of variables in WHERE clause on '{path}' field: {rule}")))
}

fn numbers(bound: &Bound<TermValue>) -> Option<Bound<Number>> {
    Some(match bound {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(TermValue::Number(number)) => Bound::Included(*number),
        Bound::Excluded(TermValue::Number(number)) => Bound::Excluded(*number),
        Bound::Included(_) | Bound::Excluded(_) => return None,
    })
}

fn texts(bound: &Bound<TermValue>) -> Option<Bound<String>> {
    Some(match bound {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(TermValue::Text(text)) => Bound::Included(text.clone()),
        Bound::Excluded(TermValue::Text(text)) => Bound::Excluded(text.clone()),
        Bound::Included(_) | Bound::Excluded(_) => return None,
    })
}

/// Refuses a text bound over the size up to which an index orders texts.
pub(crate) fn check_bound(text: &str) -> Result<(), Refused> {
    if text.len() <= BOUND_SIZE_MAX {
        return Ok(());
    }
    let size = text.len();
    Err(Refused::Invalid(format!("a text of {size} bytes exceeds the limit BOUND_SIZE_MAX = {BOUND_SIZE_MAX}")))
}
