//! Changes of type: casts, `Parse` and `Convert`.

use super::display::display;
use super::error::{MapError, Result};
use super::expression::{Conversion, Type};
use super::operator::{as_date, as_span};
use super::value::Value;
use json::Kind;
use rust_decimal::Decimal;
use rust_decimal::prelude::{FromPrimitive, ToPrimitive};
use std::borrow::Cow;

/// The value as the type says. Null stays null if the type may be it, else it is the type's zero, as the reference has it.
///
/// # Errors
///
/// [`MapError::Convert`] if the value is of another kind; [`MapError::Overflow`] if the type cannot hold it.
pub(crate) fn convert(conversion: Conversion, value: Value<'_>) -> Result<Value<'_>> {
    let to = conversion.to;
    if to == Type::Decimal
        && let Some(decimal) = written_decimal(&value)
    {
        return Ok(Value::Decimal(decimal));
    }
    let value = match value.read() {
        Value::Missing | Value::Null if conversion.is_nullable || to == Type::Text => return Ok(Value::Null),
        Value::Missing | Value::Null => return zero(to),
        value => value,
    };
    let wrong = |value: &Value<'_>| MapError::Convert { value: format!("type '{}'", value.type_name()), to: to.name() };
    match (to, value) {
        (Type::Bool, value @ Value::Bool(_)) => Ok(value),
        (Type::Text, value @ Value::Text(_)) => Ok(value),
        // Texts that are written as dates are texts all the same.
        (Type::Text, Value::Date(date)) if !conversion.parses => {
            Ok(Value::Text(Cow::Owned(super::display::date_text(date))))
        }
        (Type::Text, value) if conversion.parses => Ok(Value::Text(display(&value))),
        (Type::Date, value) => as_date(&value).map(Value::Date).ok_or_else(|| wrong(&value)),
        (Type::Span, value) => as_span(&value).map(Value::Span).ok_or_else(|| wrong(&value)),
        (to, value @ (Value::Long(_) | Value::Double(_) | Value::Decimal(_))) => number(to, &value, conversion.parses),
        (to, Value::Bool(value)) if conversion.parses && to != Type::Text => {
            number(to, &Value::Long(i64::from(value)), false)
        }
        (to, Value::Text(text)) if conversion.parses => match parse(to, &text) {
            Some(value) => Ok(value),
            None => Err(MapError::Convert { value: format!("'{}'", shown(&text)), to: to.name() }),
        },
        (_, value) => Err(wrong(&value)),
    }
}

/// A number, or the text of one, as a number of another type; anything else is missing.
///
/// # Errors
///
/// [`MapError::Overflow`] if the type cannot hold the number.
pub(crate) fn try_convert(to: Type, value: Value<'_>) -> Result<Value<'_>> {
    match value.read() {
        value @ (Value::Long(_) | Value::Double(_) | Value::Decimal(_)) => number(to, &value, false),
        Value::Text(text) => Ok(parse(to, &text).unwrap_or(Value::Missing)),
        _ => Ok(Value::Missing),
    }
}

/// A number of a document with a fraction, with all the digits that are written: 12.00 has two.
pub(crate) fn written_decimal(value: &Value<'_>) -> Option<Decimal> {
    match value {
        Value::Json(raw) if raw.kind() == Kind::Number && raw.bytes().contains(&b'.') => {
            raw.number_text()?.parse().ok()
        }
        Value::Boosted(boosted) => written_decimal(&boosted.value),
        _ => None,
    }
}

/// The beginning of a text, as errors show it.
fn shown(text: &str) -> &str {
    text.get(..text.floor_char_boundary(64)).unwrap_or_default()
}

fn zero<'d>(to: Type) -> Result<Value<'d>> {
    match to {
        Type::Bool => Ok(Value::Bool(false)),
        Type::Whole(..) => Ok(Value::Long(0)),
        Type::Float | Type::Double => Ok(Value::Double(0.0)),
        Type::Decimal => Ok(Value::Decimal(Decimal::ZERO)),
        Type::Text => Ok(Value::Null),
        Type::Date => super::date::DateTime::new(0, super::date::DateKind::Unspecified).map(Value::Date),
        Type::Span => Ok(Value::Span(super::date::TimeSpan(0))),
    }
}

fn number<'d>(to: Type, value: &Value<'_>, rounds: bool) -> Result<Value<'d>> {
    let double = match value {
        Value::Long(long) => *long as f64,
        Value::Double(double) => *double,
        Value::Decimal(decimal) => decimal.to_f64().unwrap_or(f64::NAN),
        _ => f64::NAN,
    };
    match to {
        Type::Double => Ok(Value::Double(double)),
        Type::Float => Ok(Value::Double(f64::from(double as f32))),
        Type::Decimal => match value {
            Value::Long(long) => Some(Decimal::from(*long)),
            Value::Decimal(decimal) => Some(*decimal),
            _ => Decimal::from_f64(double),
        }
        .map(Value::Decimal)
        .ok_or(MapError::Overflow),
        Type::Whole(min, max) => {
            let long = match value {
                Value::Long(long) => Some(*long),
                // `Convert` rounds halves to the even one, a cast cuts.
                Value::Decimal(decimal) => if rounds { decimal.round() } else { decimal.trunc() }.to_i64(),
                _ => whole(if rounds { double.round_ties_even() } else { double.trunc() }),
            };
            long.filter(|long| (min..=max).contains(long)).map(Value::Long).ok_or(MapError::Overflow)
        }
        Type::Bool if rounds => Ok(Value::Bool(double != 0.0)),
        Type::Bool | Type::Text | Type::Date | Type::Span => {
            Err(MapError::Convert { value: format!("type '{}'", value.type_name()), to: to.name() })
        }
    }
}

/// The long that a whole double is.
pub(crate) fn whole(double: f64) -> Option<i64> {
    // -2^63 is a double, 2^63 is the first that is too great.
    (double >= i64::MIN as f64 && double < -(i64::MIN as f64)).then_some(double as i64)
}

/// A text as a value of a type, in the invariant culture.
pub(crate) fn parse<'d>(to: Type, text: &str) -> Option<Value<'d>> {
    let text = text.trim();
    match to {
        Type::Bool if text.eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
        Type::Bool if text.eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
        Type::Bool => None,
        Type::Whole(min, max) => text.parse().ok().filter(|long| (min..=max).contains(long)).map(Value::Long),
        Type::Float | Type::Double => {
            let is_number = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'));
            if is_number { text.parse().ok().map(Value::Double) } else { None }
        }
        Type::Decimal => text.parse().ok().or_else(|| Decimal::from_scientific(text).ok()).map(Value::Decimal),
        Type::Text => Some(Value::text(text.to_owned())),
        Type::Date => super::date::DateTime::parse_lenient(text).map(Value::Date),
        Type::Span => super::date::TimeSpan::parse(text).map(Value::Span),
    }
}
