//! What operators give.
//!
//! As in the reference, null on the left of arithmetic stays null, and on the right of a number counts as 0 (so that a division by
//! it is an error of the document). Null is equal to null only, and is neither below nor above anything. Whole numbers stay whole,
//! and their overflow and division by zero are errors; a decimal makes the other one a decimal, a double a double. What
//! cannot be combined is an error, not null: a number and a text, for instance.

use super::convert::written_decimal;
use super::date::{DateTime, TimeSpan};
use super::display::display;
use super::error::{MapError, Result};
use super::expression::Operator;
use super::limits::TEXT_SIZE_MAX;
use super::value::Value;
use rust_decimal::Decimal;
use rust_decimal::prelude::{FromPrimitive, ToPrimitive};
use std::cmp::Ordering;

/// Two numbers of one type.
enum Numbers {
    Longs(i64, i64),
    Doubles(f64, f64),
    Decimals(Decimal, Decimal),
}

/// The value of `left operator right`.
pub(crate) fn binary<'d>(operator: Operator, left: Value<'d>, right: Value<'d>) -> Result<Value<'d>> {
    // Beside a decimal, a number of a document has all the digits that are written.
    let (left, right) = match (left, right) {
        (Value::Decimal(one), other) => (Value::Decimal(one), written_decimal(&other).map_or(other, Value::Decimal)),
        (other, Value::Decimal(one)) => (written_decimal(&other).map_or(other, Value::Decimal), Value::Decimal(one)),
        others => others,
    };
    let (left, right) = (left.read(), right.read());
    match operator {
        Operator::Equal => return equal(&left, &right).map(Value::Bool),
        Operator::NotEqual => return equal(&left, &right).map(|equal| Value::Bool(!equal)),
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
            if left.is_null() || right.is_null() {
                return Ok(Value::Bool(false));
            }
            let ordering = compare(operator, &left, &right)?;
            return Ok(Value::Bool(match operator {
                Operator::Less => ordering == Some(Ordering::Less),
                Operator::LessOrEqual => ordering.is_some_and(Ordering::is_le),
                Operator::Greater => ordering == Some(Ordering::Greater),
                _ => ordering.is_some_and(Ordering::is_ge),
            }));
        }
        Operator::Add if matches!(left, Value::Text(_)) || matches!(right, Value::Text(_)) => {
            let text = display(&left).into_owned() + &display(&right);
            return if text.len() > TEXT_SIZE_MAX { Err(MapError::TooLong) } else { Ok(Value::text(text)) };
        }
        _ => {}
    }
    // A null stays one, what is missing stays missing.
    if left.is_null() {
        return Ok(left);
    }
    let right = match (right.is_null(), &left) {
        (true, Value::Long(_) | Value::Double(_) | Value::Decimal(_)) => Value::Long(0),
        (true, _) => return Ok(right),
        (false, _) => right,
    };
    match (numbers(&left, &right), operator) {
        (Some(Numbers::Longs(left, right)), _) => longs(operator, left, right).map(Value::Long),
        (Some(Numbers::Doubles(left, right)), Operator::Add) => Ok(Value::Double(left + right)),
        (Some(Numbers::Doubles(left, right)), Operator::Subtract) => Ok(Value::Double(left - right)),
        (Some(Numbers::Doubles(left, right)), Operator::Multiply) => Ok(Value::Double(left * right)),
        (Some(Numbers::Doubles(left, right)), Operator::Divide) => Ok(Value::Double(left / right)),
        (Some(Numbers::Doubles(left, right)), Operator::Remainder) => Ok(Value::Double(left % right)),
        (Some(Numbers::Decimals(first, second)), _) => match decimals(operator, first, second) {
            Some(decimal) => decimal.map(Value::Decimal),
            None => Err(unfit(operator, &left, &right)),
        },
        _ => times(operator, &left, &right).unwrap_or_else(|| other(operator, &left, &right)),
    }
}

/// `-value`.
pub(crate) fn negate(value: Value<'_>) -> Result<Value<'_>> {
    match value.read() {
        Value::Long(long) => long.checked_neg().map(Value::Long).ok_or(MapError::Overflow),
        Value::Double(double) => Ok(Value::Double(-double)),
        Value::Decimal(decimal) => Ok(Value::Decimal(-decimal)),
        Value::Span(TimeSpan(ticks)) => {
            ticks.checked_neg().map(|ticks| Value::Span(TimeSpan(ticks))).ok_or(MapError::Overflow)
        }
        null @ (Value::Missing | Value::Null) => Ok(null),
        other => Err(MapError::Argument { function: "-", found: other.type_name() }),
    }
}

/// Whether two values, that were read, are equal. Objects are by their JSON.
pub(crate) fn equal(left: &Value<'_>, right: &Value<'_>) -> Result<bool> {
    match (left, right) {
        (Value::Missing | Value::Null, other) | (other, Value::Missing | Value::Null) => Ok(other.is_null()),
        (Value::Bool(left), Value::Bool(right)) => Ok(left == right),
        (Value::Json(_) | Value::Array(_) | Value::Object(_), Value::Json(_) | Value::Array(_) | Value::Object(_)) => {
            Ok(left.to_json() == right.to_json())
        }
        _ => Ok(compare(Operator::Equal, left, right)? == Some(Ordering::Equal)),
    }
}

/// The order of two values, that were read and are not null; none with a double that is no number.
fn compare(operator: Operator, left: &Value<'_>, right: &Value<'_>) -> Result<Option<Ordering>> {
    if let Some(numbers) = numbers(left, right) {
        return Ok(match numbers {
            Numbers::Longs(left, right) => Some(left.cmp(&right)),
            Numbers::Doubles(left, right) => left.partial_cmp(&right),
            Numbers::Decimals(left, right) => Some(left.cmp(&right)),
        });
    }
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => Ok(Some(left.cmp(right))),
        (Value::Bool(left), Value::Bool(right)) if operator != Operator::Less => Ok(Some(left.cmp(right))),
        _ => match (as_date(left), as_date(right), as_span(left), as_span(right)) {
            (Some(left), Some(right), ..) => Ok(Some(left.ticks.cmp(&right.ticks))),
            (_, _, Some(left), Some(right)) => Ok(Some(left.cmp(&right))),
            _ => Err(unfit(operator, left, right)),
        },
    }
}

/// An order over all values, for sorting, `Min` and `Max`: null first, then by what can be compared.
///
/// # Errors
///
/// [`MapError::Operands`] for values that have no order.
pub(crate) fn order(left: &Value<'_>, right: &Value<'_>) -> Result<Ordering> {
    match (left.is_null(), right.is_null()) {
        (false, false) => {}
        (left, right) => return Ok(right.cmp(&left)),
    }
    // A double that is no number is below all others, as it is in .NET.
    let is_nan = |value: &Value<'_>| matches!(value, Value::Double(double) if double.is_nan());
    let ordering = compare(Operator::LessOrEqual, left, right)?;
    Ok(ordering.unwrap_or_else(|| is_nan(right).cmp(&is_nan(left))))
}

fn numbers(left: &Value<'_>, right: &Value<'_>) -> Option<Numbers> {
    let double = |value: &Value<'_>| match value {
        Value::Long(long) => Some(*long as f64),
        Value::Double(double) => Some(*double),
        Value::Decimal(decimal) => decimal.to_f64(),
        _ => None,
    };
    let decimal = |value: &Value<'_>| match value {
        Value::Long(long) => Some(Decimal::from(*long)),
        Value::Double(double) => Decimal::from_f64(*double),
        Value::Decimal(decimal) => Some(*decimal),
        _ => None,
    };
    match (left, right) {
        (Value::Long(left), Value::Long(right)) => Some(Numbers::Longs(*left, *right)),
        (Value::Decimal(_), _) | (_, Value::Decimal(_)) => match (decimal(left), decimal(right)) {
            (Some(left), Some(right)) => Some(Numbers::Decimals(left, right)),
            // A double beyond all decimals.
            _ => Some(Numbers::Doubles(double(left)?, double(right)?)),
        },
        _ => Some(Numbers::Doubles(double(left)?, double(right)?)),
    }
}

fn longs(operator: Operator, left: i64, right: i64) -> Result<i64> {
    let shift = (right & 63) as u32;
    let result = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide | Operator::Remainder if right == 0 => return Err(MapError::DivideByZero),
        Operator::Divide => left.checked_div(right),
        Operator::Remainder => left.checked_rem(right),
        Operator::BitAnd => Some(left & right),
        Operator::BitOr => Some(left | right),
        Operator::BitXor => Some(left ^ right),
        Operator::ShiftLeft => Some(left << shift),
        Operator::ShiftRight => Some(left >> shift),
        // Comparisons were answered before.
        _ => None,
    };
    result.ok_or(MapError::Overflow)
}

fn decimals(operator: Operator, left: Decimal, right: Decimal) -> Option<Result<Decimal>> {
    let result = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide | Operator::Remainder if right.is_zero() => return Some(Err(MapError::DivideByZero)),
        Operator::Divide => left.checked_div(right).map(|quotient| with_scale(quotient, left, right)),
        Operator::Remainder => left.checked_rem(right),
        _ => return None,
    };
    Some(result.ok_or(MapError::Overflow))
}

/// A quotient with as few digits behind the point as it has, but no fewer than the difference of both, as in .NET.
fn with_scale(quotient: Decimal, left: Decimal, right: Decimal) -> Decimal {
    let mut quotient = quotient.normalize();
    let scale = left.scale().saturating_sub(right.scale());
    if quotient.scale() < scale {
        quotient.rescale(scale);
    }
    quotient
}

/// Dates and durations; none if it is not about them.
fn times<'d>(operator: Operator, left: &Value<'_>, right: &Value<'_>) -> Option<Result<Value<'d>>> {
    let is_time = |value: &Value<'_>| matches!(value, Value::Date(_) | Value::Span(_));
    if !is_time(left) && !is_time(right) {
        return None;
    }
    let span = |ticks: Option<i64>| ticks.map(|ticks| Value::Span(TimeSpan(ticks))).ok_or(MapError::Overflow);
    match (operator, as_date(left), as_date(right), as_span(left), as_span(right)) {
        (Operator::Subtract, Some(left), Some(right), ..) => Some(span(left.ticks.checked_sub(right.ticks))),
        (Operator::Subtract, Some(left), _, _, Some(TimeSpan(right))) => {
            Some(right.checked_neg().ok_or(MapError::Overflow).and_then(|right| left.add_ticks(right)).map(Value::Date))
        }
        (Operator::Add, Some(left), _, _, Some(TimeSpan(right))) => Some(left.add_ticks(right).map(Value::Date)),
        (Operator::Subtract, _, _, Some(left), Some(right)) => Some(span(left.0.checked_sub(right.0))),
        (Operator::Add, _, _, Some(left), Some(right)) => Some(span(left.0.checked_add(right.0))),
        _ => None,
    }
}

fn other<'d>(operator: Operator, left: &Value<'_>, right: &Value<'_>) -> Result<Value<'d>> {
    match (operator, left, right) {
        (Operator::BitAnd, Value::Bool(left), Value::Bool(right)) => Ok(Value::Bool(left & right)),
        (Operator::BitOr, Value::Bool(left), Value::Bool(right)) => Ok(Value::Bool(left | right)),
        (Operator::BitXor, Value::Bool(left), Value::Bool(right)) => Ok(Value::Bool(left ^ right)),
        _ => Err(unfit(operator, left, right)),
    }
}

/// The date that a value is, or that its text says.
pub(crate) fn as_date(value: &Value<'_>) -> Option<DateTime> {
    match value {
        Value::Date(date) => Some(*date),
        Value::Text(text) => DateTime::parse_lenient(text),
        _ => None,
    }
}

/// The duration that a value is, or that its text says.
pub(crate) fn as_span(value: &Value<'_>) -> Option<TimeSpan> {
    match value {
        Value::Span(span) => Some(*span),
        Value::Text(text) => TimeSpan::parse(text),
        _ => None,
    }
}

fn unfit(operator: Operator, left: &Value<'_>, right: &Value<'_>) -> MapError {
    MapError::Operands { operator: operator.text(), left: left.type_name(), right: right.type_name() }
}
