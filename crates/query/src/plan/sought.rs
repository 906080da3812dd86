//! What a value of a query means to an index: a term, or an end of a range.

use super::Refused;
use super::condition::{Condition, Sought};
use super::parameters::Scalar;
use crate::definition::{FieldUse, terms};
use crate::index::Number;
use crate::limits::BOUND_SIZE_MAX;
use std::ops::Bound;

/// A term that equals a value.
pub(super) fn sought(value: Scalar) -> Sought {
    match value {
        Scalar::Null => Sought::Null,
        // An object of a document is found by its JSON text.
        Scalar::Text(text) | Scalar::Object(text) => Sought::Text(text),
        Scalar::Boolean(is_true) => Sought::Text(is_true.to_string()),
        Scalar::Number(text) => match terms::number(&text) {
            Some(number) => Sought::Number(number),
            // No number of a document is beyond the range of a double.
            None => Sought::Text(text),
        },
    }
}

/// An end of a range. A number beyond those of documents is the infinite one: all are on one side of it.
pub(crate) fn end(value: Scalar) -> Sought {
    match value.number().map(|text| (terms::number(text), text.parse::<f64>())) {
        Some((None, Ok(double))) => Sought::Number(Number::Double(double)),
        _ => sought(value),
    }
}

/// What lies between two values, of one kind.
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

fn numbers(bound: &Bound<Sought>) -> Option<Bound<Number>> {
    Some(match bound {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(Sought::Number(number)) => Bound::Included(*number),
        Bound::Excluded(Sought::Number(number)) => Bound::Excluded(*number),
        Bound::Included(_) | Bound::Excluded(_) => return None,
    })
}

fn texts(bound: &Bound<Sought>) -> Option<Bound<String>> {
    Some(match bound {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(Sought::Text(text)) => Bound::Included(text.clone()),
        Bound::Excluded(Sought::Text(text)) => Bound::Excluded(text.clone()),
        Bound::Included(_) | Bound::Excluded(_) => return None,
    })
}

/// Texts are kept up to some size in the order of an index; what is longer cannot be compared there.
pub(crate) fn check_bound(text: &str) -> Result<(), Refused> {
    if text.len() <= BOUND_SIZE_MAX {
        return Ok(());
    }
    let size = text.len();
    Err(Refused::Invalid(format!("a text of {size} bytes exceeds the limit BOUND_SIZE_MAX = {BOUND_SIZE_MAX}")))
}
