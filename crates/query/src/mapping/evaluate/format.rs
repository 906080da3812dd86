//! Values to texts and back: `ToString`, `string.Format`, `ParseInt` and its like.

use super::super::convert::parse;
use super::super::date_format::format_date;
use super::super::display::{display, span_text};
use super::super::error::{MapError, Result};
use super::super::expression::Type;
use super::super::function::Function;
use super::super::limits::TEXT_SIZE_MAX;
use super::super::number_format::format_number;
use super::super::value::Value;
use json::{Kind, Raw};
use std::borrow::Cow;

/// `value.ToString(format)`.
pub(super) fn to_string<'d>(value: Value<'d>, format: Option<Value<'d>>) -> Result<Value<'d>> {
    let format = format.and_then(|format| format.as_text()).unwrap_or_default();
    formatted(&value.read(), &format).map(Value::Text)
}

/// A value that was read, as a format says.
fn formatted<'d>(value: &Value<'d>, format: &str) -> Result<Cow<'d, str>> {
    match value {
        Value::Long(_) | Value::Double(_) | Value::Decimal(_) if !format.is_empty() => {
            format_number(value, format).map(Cow::Owned)
        }
        Value::Date(date) => format_date(*date, format).map(Cow::Owned),
        Value::Span(span) if matches!(format, "" | "c" | "g" | "t" | "T") => Ok(Cow::Owned(span_text(*span))),
        Value::Span(_) => Err(MapError::Format(format.to_owned())),
        value => Ok(display(value)),
    }
}

/// The text of a value of JSON, as a format of .NET says where it is a number or a date. `None`: it is null, an array or an object.
///
/// # Errors
///
/// [`MapError::Format`] for a format that is none, or none of such values.
pub(crate) fn text_of<'j>(value: Raw<'j>, format: &str) -> Result<Option<Cow<'j, str>>> {
    match value.kind() {
        Kind::Null | Kind::Array | Kind::Object => Ok(None),
        Kind::String if format.is_empty() => Ok(value.as_str()),
        _ => formatted(&Value::Json(value).read(), format).map(Some),
    }
}

/// The number that a text says, or the default, or zero.
pub(super) fn parse_or<'d>(function: Function, value: &Value<'d>, default: Option<Value<'d>>) -> Value<'d> {
    let to = match function {
        Function::ParseInt => Type::INT,
        Function::ParseLong => Type::LONG,
        Function::ParseDouble => Type::Double,
        _ => Type::Decimal,
    };
    let zero = match to {
        Type::Double => Value::Double(0.0),
        Type::Decimal => Value::Decimal(rust_decimal::Decimal::ZERO),
        _ => Value::Long(0),
    };
    parse(to, &display(&value.clone().read())).or(default).unwrap_or(zero)
}

/// A part of the pattern of `string.Format`.
enum FormatPart<'p> {
    Text(&'p str),
    Value { index: usize, width: i32, format: &'p str },
}

/// The parts of a pattern: `{0}`, `{1,8}`, `{2:0.00}`; doubled braces are braces.
fn format_parts(pattern: &str) -> Result<Vec<FormatPart<'_>>> {
    let invalid = || MapError::Format(pattern.to_owned());
    let mut parts = Vec::new();
    let mut rest = pattern;
    while let Some(at) = rest.find(['{', '}']) {
        parts.push(FormatPart::Text(&rest[..at]));
        let brace = &rest[at..at + 1];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            parts.push(FormatPart::Text(brace));
            rest = after;
            continue;
        }
        let end = rest.find('}').filter(|_| brace == "{").ok_or_else(invalid)?;
        let (item, after) = (&rest[..end], &rest[end + 1..]);
        let (item, format) = item.split_once(':').unwrap_or((item, ""));
        let (index, width) = item.split_once(',').unwrap_or((item, "0"));
        let index = index.trim().parse().map_err(|_| invalid())?;
        let width = width.trim().parse().map_err(|_| invalid())?;
        parts.push(FormatPart::Value { index, width, format });
        rest = after;
    }
    parts.push(FormatPart::Text(rest));
    Ok(parts)
}

/// Whether a pattern is one, and names none but the first `count` values.
pub(crate) fn check_format(pattern: &str, count: usize) -> Result<()> {
    let fits = |part: &FormatPart<'_>| !matches!(part, FormatPart::Value { index, .. } if *index >= count);
    if format_parts(pattern)?.iter().all(fits) { Ok(()) } else { Err(MapError::Format(pattern.to_owned())) }
}

/// `string.Format` of a pattern and its values.
pub(super) fn format<'d>(arguments: &[Value<'d>]) -> Result<Value<'d>> {
    let Some((pattern, values)) = arguments.split_first() else { return Ok(Value::Missing) };
    let pattern = display(pattern);
    let mut out = String::new();
    for part in format_parts(&pattern)? {
        let (text, padding, is_left) = match part {
            FormatPart::Text(text) => (Cow::Borrowed(text), 0, false),
            FormatPart::Value { index, width, format } => {
                let value = values.get(index).ok_or_else(|| MapError::Format(pattern.clone().into_owned()))?;
                let text = formatted(&value.clone().read(), format)?;
                let padding = (width.unsigned_abs() as usize).saturating_sub(text.chars().count());
                (text, padding, width < 0)
            }
        };
        if out.len().saturating_add(text.len()).saturating_add(padding) > TEXT_SIZE_MAX {
            return Err(MapError::TooLong);
        }
        let padding = " ".repeat(padding);
        out.push_str(&if is_left { text.into_owned() + &padding } else { padding + &text });
    }
    Ok(Value::text(out))
}
