//! Values as text: as C# writes them in the invariant culture, and as JSON.

use super::date::{Civil, DateKind, DateTime, TICKS_PER_DAY, TICKS_PER_SECOND, TimeSpan};
use super::host::DocumentView;
use super::value::Value;
use json::{Members, Writer};
use std::borrow::Cow;

/// The text that `ToString()`, `+` and `Format` make of a value. Null is the empty text.
pub(crate) fn display<'d>(value: &Value<'d>) -> Cow<'d, str> {
    match value {
        Value::Missing | Value::Null => Cow::Borrowed(""),
        Value::Bool(true) => Cow::Borrowed("True"),
        Value::Bool(false) => Cow::Borrowed("False"),
        Value::Long(long) => Cow::Owned(long.to_string()),
        Value::Double(double) => Cow::Owned(double_text(*double)),
        Value::Decimal(decimal) => Cow::Owned(decimal.to_string()),
        Value::Text(text) => text.clone(),
        Value::Date(date) => {
            let (Civil { year, month, day }, seconds) = (date.civil(), date.time_of_day() / TICKS_PER_SECOND);
            let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
            Cow::Owned(format!("{month:02}/{day:02}/{year:04} {hour:02}:{minute:02}:{second:02}"))
        }
        Value::Span(span) => Cow::Owned(span_text(*span)),
        Value::Json(raw) if !matches!(raw.kind(), json::Kind::Array | json::Kind::Object) => {
            display(&Value::Json(*raw).read())
        }
        Value::Boosted(boosted) => display(&boosted.value),
        other => Cow::Owned(String::from_utf8_lossy(&other.to_json()).into_owned()),
    }
}

/// A double as .NET writes it: as few digits as give it back, with an exponent from 15 digits on and below 0.0001.
pub(crate) fn double_text(double: f64) -> String {
    if double.is_nan() {
        return "NaN".to_owned();
    }
    if double.is_infinite() {
        return if double > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let text = format!("{double:e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    match exponent.parse::<i32>() {
        Ok(exponent) if exponent >= 15 => format!("{digits}E+{exponent:02}"),
        Ok(exponent) if exponent < -5 => format!("{digits}E-{:02}", -exponent),
        _ => format!("{double}"),
    }
}

/// `2024-01-02T03:04:05.0000000`, with `Z` at the end of one of UTC.
pub(crate) fn date_text(date: DateTime) -> String {
    let mut text =
        documents::Date::from_ticks(date.ticks.unsigned_abs()).text().map(char::from).iter().collect::<String>();
    if date.kind == DateKind::Unspecified {
        text.pop();
    }
    text
}

/// `2015-01-15`, the day of a date.
pub(crate) fn day_text(date: DateTime) -> String {
    date_text(date).chars().take("2015-01-15".len()).collect()
}

/// `hours:minutes:seconds.fraction` with seven digits, of less than a day.
pub(crate) fn clock_text(TimeSpan(ticks): TimeSpan) -> String {
    let (seconds, fraction) = (ticks / TICKS_PER_SECOND, ticks % TICKS_PER_SECOND);
    format!("{:02}:{:02}:{:02}.{fraction:07}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// `[-][days.]hours:minutes:seconds[.fraction]`.
pub(crate) fn span_text(TimeSpan(ticks): TimeSpan) -> String {
    let sign = if ticks < 0 { "-" } else { "" };
    let (ticks, per_day, per_second) = (ticks.unsigned_abs(), TICKS_PER_DAY as u64, TICKS_PER_SECOND as u64);
    let (days, seconds, fraction) = (ticks / per_day, ticks % per_day / per_second, ticks % per_second);
    let days = if days > 0 { format!("{days}.") } else { String::new() };
    let fraction = if fraction > 0 { format!(".{fraction:07}") } else { String::new() };
    format!("{sign}{days}{:02}:{:02}:{:02}{fraction}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

impl Value<'_> {
    /// The JSON of the value, as results of reduces and complex fields are kept.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_json(&mut Writer::new(&mut out));
        out
    }

    /// Writes the value as JSON. What comes from documents keeps its text; a date is a text with seven digits of the
    /// second, wherever it comes from; a double that JSON has not is a text; a dynamic field is an object of name and value.
    pub fn write_json(&self, json: &mut Writer<'_>) {
        match self {
            Value::Missing | Value::Null => drop(json.null()),
            Value::Bool(value) => drop(json.bool(*value)),
            Value::Long(long) => drop(json.signed(*long)),
            Value::Double(double) if double.is_finite() => drop(json.double(*double)),
            Value::Double(double) => drop(json.string(&double_text(*double))),
            Value::Decimal(decimal) => drop(json.raw(decimal.to_string().as_bytes())),
            Value::Text(text) => drop(json.string(text)),
            Value::Date(date) => drop(json.string(&date_text(*date))),
            Value::Span(span) => drop(json.string(&span_text(*span))),
            Value::Json(raw) => drop(json.raw(super::date::rewritten(*raw).as_deref().unwrap_or(raw.bytes()))),
            Value::Array(values) => write_array(values, json),
            Value::Group(group) => write_array(&group.elements, json),
            Value::Object(object) => drop(json.object(|json| {
                for (name, value) in object.members() {
                    value.write_json(json.name(name));
                }
            })),
            Value::Document(document) => drop(json.object(|json| {
                write_members(document.body.members(), json);
                json.name("@metadata").object(|json| write_metadata(document, json));
            })),
            Value::Metadata(document) => drop(json.object(|json| write_metadata(document, json))),
            Value::Field(field) => drop(json.object(|json| field.value.write_json(json.name(&field.name)))),
            Value::Spatial(spatial) => match &**spatial {
                super::special::Spatial::Wkt(text) => drop(json.string(text)),
                super::special::Spatial::Point { latitude, longitude } => {
                    json.string(&format!("POINT ({} {})", double_text(*longitude), double_text(*latitude)));
                }
            },
            Value::Vector(value) => value.write_json(json),
            Value::Boosted(boosted) => boosted.value.write_json(json),
        }
    }
}

fn write_array(values: &[Value<'_>], json: &mut Writer<'_>) {
    json.array(|json| values.iter().for_each(|value| value.write_json(json)));
}

fn write_members(members: Members<'_>, json: &mut Writer<'_>) {
    for (name, value) in members {
        json.name(&name.decode()).raw(value.bytes());
    }
}

fn write_metadata(document: &DocumentView<'_>, json: &mut Writer<'_>) {
    write_members(document.metadata.members(), json);
    write_members(document.server_metadata.members(), json);
    if document.is_archived {
        json.name("@archived").bool(true);
    }
    json.name("@id").string(document.id);
    json.name("@change-vector").string(&document.change_vector);
    json.name("@last-modified").string(&String::from_utf8_lossy(&document.last_modified.text()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_written_as_dotnet_does() {
        for (double, text) in [
            (1.5, "1.5"),
            (1000.0, "1000"),
            (1e15, "1E+15"),
            (123_456_789_012_345_680.0, "1.2345678901234568E+17"),
            (0.0001, "0.0001"),
            (0.000_001, "1E-06"),
            (-2.5e-10, "-2.5E-10"),
            (f64::INFINITY, "Infinity"),
        ] {
            assert_eq!(double_text(double), text);
        }
    }

    #[test]
    fn durations_are_written_with_days_and_fraction_where_there_are_some() {
        assert_eq!(span_text(TimeSpan(974_451_234_567)), "1.03:04:05.1234567");
        assert_eq!(span_text(TimeSpan(-2 * 3600 * TICKS_PER_SECOND)), "-02:00:00");
        assert_eq!(TimeSpan::parse(&span_text(TimeSpan(i64::MAX))), Some(TimeSpan(i64::MAX)));
    }
}
