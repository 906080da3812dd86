//! Members and elements of values.

use super::super::date::{DateKind, DateTime, TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_MILLISECOND, TICKS_PER_MINUTE};
use super::super::date::{TICKS_PER_SECOND, TimeSpan};
use super::super::date_format::DAYS;
use super::super::error::{MapError, Result};
use super::super::host::DocumentView;
use super::super::operator::{as_date, as_span};
use super::super::property::Property;
use super::super::value::{Names, Object, Value};
use json::{Kind, Members};
use std::borrow::Cow;
use std::rc::Rc;

/// `object.name`. What an object lacks is missing.
///
/// # Errors
///
/// [`MapError::Member`] if the value is no object and has no such member.
pub(super) fn member<'d>(object: &Value<'d>, name: &str, property: Option<Property>) -> Result<Value<'d>> {
    match object {
        Value::Missing | Value::Null => Ok(match property {
            Some(Property::HasValue) => Value::Bool(false),
            _ => Value::Missing,
        }),
        Value::Json(raw) if raw.kind() == Kind::Object => Ok(match raw.get(name) {
            Some(value) => Value::of(value),
            None if property == Some(Property::Count) => count(raw.members().count()),
            None => Value::Missing,
        }),
        Value::Object(object) => Ok(match object.get(name) {
            Some(value) => value.clone(),
            None if property == Some(Property::Count) => count(object.values.len()),
            None => Value::Missing,
        }),
        Value::Document(document) => Ok(document_member(document, name)),
        Value::Metadata(document) => Ok(metadata_member(document, name)),
        Value::Boosted(boosted) => member(&boosted.value, name, property),
        other => property
            .and_then(|property| scalar(other, property))
            .ok_or_else(|| MapError::Member { found: other.type_name(), name: name.to_owned() }),
    }
}

/// `object[index]`.
///
/// # Errors
///
/// [`MapError::Range`] for an element that is not there; [`MapError::Argument`] for an index that is neither number nor text.
pub(super) fn index<'d>(object: Value<'d>, index: Value<'d>) -> Result<Value<'d>> {
    if object.is_null() || index.is_null() {
        return Ok(Value::Missing);
    }
    if let Some(name) = index.as_text() {
        return member(&object, &name, None);
    }
    let Value::Long(position) = index.read() else {
        return Err(MapError::Argument { function: "[]", found: "object" });
    };
    let out_of_range = MapError::Range { function: "[]" };
    let position = usize::try_from(position).map_err(|_| out_of_range.clone())?;
    let found = match &object {
        Value::Json(raw) if raw.kind() == Kind::Array => raw.elements().nth(position).map(Value::of),
        Value::Array(values) => values.get(position).cloned(),
        Value::Group(group) => group.elements.get(position).cloned(),
        other => match other.as_text() {
            Some(text) => text.chars().nth(position).map(|c| Value::text(c.to_string())),
            None => return Err(MapError::Argument { function: "[]", found: other.type_name() }),
        },
    };
    found.ok_or(out_of_range)
}

/// The pairs of name and value that a value consists of; none if it does not.
pub(super) fn pairs<'d>(value: &Value<'d>) -> Option<Vec<Value<'d>>> {
    let pair = |name: Cow<'d, str>, value: Value<'d>| {
        Value::Object(Rc::new(Object { names: Names::Pair, values: vec![Value::Text(name), value] }))
    };
    let of_members = |members: Members<'d>| members.map(|(name, value)| pair(name.decode(), Value::of(value)));
    match value {
        Value::Json(raw) if raw.kind() == Kind::Object => Some(of_members(raw.members()).collect()),
        Value::Object(object) => {
            let members = object.members();
            Some(members.map(|(name, value)| pair(Cow::Owned(name.to_owned()), value.clone())).collect())
        }
        Value::Document(document) => {
            let metadata = pair(Cow::Borrowed("@metadata"), Value::Metadata(Rc::clone(document)));
            Some(of_members(document.body.members()).chain([metadata]).collect())
        }
        Value::Metadata(document) => {
            let archived = document.is_archived.then(|| pair(Cow::Borrowed("@archived"), Value::Bool(true)));
            let members = of_members(document.metadata.members()).chain(of_members(document.server_metadata.members()));
            Some(members.chain(archived).collect())
        }
        _ => None,
    }
}

fn document_member<'d>(document: &Rc<DocumentView<'d>>, name: &str) -> Value<'d> {
    match document.body.get(name) {
        Some(value) => Value::of(value),
        None if name == "@metadata" => Value::Metadata(Rc::clone(document)),
        None if name == "Id" => Value::Text(Cow::Borrowed(document.id)),
        None => Value::Missing,
    }
}

fn metadata_member<'d>(document: &DocumentView<'d>, name: &str) -> Value<'d> {
    match name {
        "@id" => Value::Text(Cow::Borrowed(document.id)),
        // A document that names no collection has no such property.
        "@collection" if document.collection == "@empty" => Value::Missing,
        "@collection" => Value::Text(document.collection.clone()),
        "@change-vector" => Value::Text(document.change_vector.clone()),
        // Ticks of a date are those of the years 1 to 9999.
        "@last-modified" => Value::Date(DateTime { ticks: document.last_modified.ticks() as i64, kind: DateKind::Utc }),
        "@archived" if document.is_archived => Value::Bool(true),
        name => Value::of_found(document.of_metadata(name)),
    }
}

fn count<'d>(count: usize) -> Value<'d> {
    Value::Long(i64::try_from(count).unwrap_or(i64::MAX))
}

/// The length of a text as .NET counts it: in UTF-16.
pub(super) fn length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

/// A member of what is no object.
fn scalar<'d>(value: &Value<'d>, property: Property) -> Option<Value<'d>> {
    match (property, value) {
        (Property::HasValue, _) => return Some(Value::Bool(true)),
        (Property::Key, Value::Group(group)) => return Some(group.key.clone()),
        (Property::Count | Property::Length, Value::Array(values)) => return Some(count(values.len())),
        (Property::Count | Property::Length, Value::Group(group)) => return Some(count(group.elements.len())),
        (Property::Count | Property::Length, Value::Json(raw)) if raw.kind() == Kind::Array => {
            return Some(count(raw.elements().count()));
        }
        (Property::Length, value) => return value.as_text().map(|text| count(length(&text))),
        (
            Property::Value,
            Value::Array(_) | Value::Group(_) | Value::Field(_) | Value::Spatial(_) | Value::Vector(_),
        ) => {
            return None;
        }
        // What is nullable in typed code is itself here.
        (Property::Value, value) => return Some(value.clone()),
        _ => {}
    }
    let value = value.clone().read();
    match as_date(&value).and_then(|date| of_date(date, property)) {
        Some(found) => Some(found),
        None => as_span(&value).and_then(|span| of_span(span, property)),
    }
}

pub(in crate::mapping) fn of_date<'d>(date: DateTime, property: Property) -> Option<Value<'d>> {
    let (civil, time) = (date.civil(), date.time_of_day());
    let text = |text: &'static str| Some(Value::Text(Cow::Borrowed(text)));
    Some(Value::Long(match property {
        Property::Date => return Some(Value::Date(date.date())),
        Property::TimeOfDay => return Some(Value::Span(TimeSpan(time))),
        Property::DayOfWeek => return text(DAYS[usize::try_from(date.day_of_week()).ok()?]),
        Property::Kind if date.kind == DateKind::Utc => return text("Utc"),
        Property::Kind => return text("Unspecified"),
        Property::Year => civil.year,
        Property::Month => civil.month,
        Property::Day => civil.day,
        Property::Hour => time / TICKS_PER_HOUR,
        Property::Minute => time / TICKS_PER_MINUTE % 60,
        Property::Second => time / TICKS_PER_SECOND % 60,
        Property::Millisecond => time / TICKS_PER_MILLISECOND % 1000,
        Property::DayOfYear => date.day_of_year(),
        Property::Ticks => date.ticks,
        _ => return None,
    }))
}

pub(in crate::mapping) fn of_span<'d>(TimeSpan(ticks): TimeSpan, property: Property) -> Option<Value<'d>> {
    let total = |unit: i64| Some(Value::Double(ticks as f64 / unit as f64));
    Some(Value::Long(match property {
        Property::TotalDays => return total(TICKS_PER_DAY),
        Property::TotalHours => return total(TICKS_PER_HOUR),
        Property::TotalMinutes => return total(TICKS_PER_MINUTE),
        Property::TotalSeconds => return total(TICKS_PER_SECOND),
        Property::TotalMilliseconds => return total(TICKS_PER_MILLISECOND),
        Property::Days => ticks / TICKS_PER_DAY,
        Property::Hours => ticks / TICKS_PER_HOUR % 24,
        Property::Minutes => ticks / TICKS_PER_MINUTE % 60,
        Property::Seconds => ticks / TICKS_PER_SECOND % 60,
        Property::Milliseconds => ticks / TICKS_PER_MILLISECOND % 1000,
        Property::Ticks => ticks,
        _ => return None,
    }))
}
