//! Parts of the texts of documents that are dates or durations: `Bought.Year`, `Span.Hours`.

use super::date::{DateKind, DateText, DateTime, TimeSpan};
use super::evaluate::{of_date, of_span};
use super::property::Property;
use super::value::Value;

/// The part of a date or a duration that has this name.
pub(crate) fn part_named(name: &str) -> Option<Property> {
    use Property::{Count, HasValue, Key, Length, Value};
    Property::of(name).filter(|property| !matches!(property, Length | Count | HasValue | Value | Key))
}

/// The JSON of a part of a text. `None`: the text is neither a date nor a duration, or has no such part.
///
/// As in the reference, the parts of a date with an offset are those of its own clock; it has no `Kind`, and it alone has `Offset`,
/// `DateTime`, `UtcDateTime` and `LocalDateTime`. The local time of the server is UTC.
pub(crate) fn part_of(text: &str, part: Property) -> Option<Vec<u8>> {
    let value = match DateText::of(text) {
        Some(written) => of_written(&written, part),
        None => match DateTime::of_day_text(text) {
            Some(day) => of_date(day, part),
            None => TimeSpan::ticks_of(text).and_then(|ticks| of_span(TimeSpan(ticks), part)),
        },
    };
    value.map(|value| value.to_json())
}

fn of_written(written: &DateText<'_>, part: Property) -> Option<Value<'static>> {
    let utc = written.date()?;
    let on_its_clock = DateTime::new(written.ticks, DateKind::Unspecified).ok()?;
    if matches!(written.zone, "" | "Z") {
        return of_date(utc, part);
    }
    match part {
        Property::Kind => None,
        Property::Offset => Some(Value::Span(TimeSpan(on_its_clock.ticks - utc.ticks))),
        Property::DateTime => Some(Value::Date(on_its_clock)),
        Property::UtcDateTime => Some(Value::Date(utc)),
        Property::LocalDateTime => Some(Value::Date(DateTime { kind: DateKind::Unspecified, ..utc })),
        part => of_date(on_its_clock, part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, parts: &[(&str, Option<&str>)]) {
        for (name, expected) in parts {
            let part = part_named(name).and_then(|part| part_of(text, part));
            let part = part.map(|json| String::from_utf8(json).unwrap());
            assert_eq!(part.as_deref(), *expected, "{text} {name}");
        }
    }

    /// As the reference gives them.
    #[test]
    fn dates_have_parts() {
        let common = [
            ("Year", Some("2023")),
            ("Month", Some("4")),
            ("Day", Some("30")),
            ("Minute", Some("30")),
            ("Second", Some("5")),
            ("Millisecond", Some("123")),
            ("DayOfWeek", Some("\"Sunday\"")),
            ("DayOfYear", Some("120")),
            ("Days", None),
            ("TotalDays", None),
            ("year", None),
            ("Length", None),
        ];
        for text in ["2023-04-30T08:30:05.1234567Z", "2023-04-30T08:30:05.1234567", "2023-04-30T23:30:05.1234567+05:00"]
        {
            check(text, &common);
        }
        check(
            "2023-04-30T08:30:05.1234567Z",
            &[
                ("Hour", Some("8")),
                ("Date", Some("\"2023-04-30T00:00:00.0000000Z\"")),
                ("Ticks", Some("638184402051234567")),
                ("TimeOfDay", Some("\"08:30:05.1234567\"")),
                ("Kind", Some("\"Utc\"")),
                ("Offset", None),
                ("UtcDateTime", None),
            ],
        );
        check(
            "2023-04-30T08:30:05",
            &[("Kind", Some("\"Unspecified\"")), ("Date", Some("\"2023-04-30T00:00:00.0000000\""))],
        );
        check("2023-04-30", &[("Year", Some("2023")), ("Hour", Some("0"))]);
        check(
            "2023-04-30T23:30:05.1234567+05:00",
            &[
                ("Hour", Some("23")),
                ("Date", Some("\"2023-04-30T00:00:00.0000000\"")),
                ("Ticks", Some("638184942051234567")),
                ("TimeOfDay", Some("\"23:30:05.1234567\"")),
                ("Kind", None),
                ("Offset", Some("\"05:00:00\"")),
                ("UtcDateTime", Some("\"2023-04-30T18:30:05.1234567Z\"")),
                ("DateTime", Some("\"2023-04-30T23:30:05.1234567\"")),
                ("LocalDateTime", Some("\"2023-04-30T18:30:05.1234567\"")),
            ],
        );
    }

    #[test]
    fn durations_have_parts() {
        check(
            "1.02:10:03.5000000",
            &[
                ("Days", Some("1")),
                ("Hours", Some("2")),
                ("Minutes", Some("10")),
                ("Seconds", Some("3")),
                ("Milliseconds", Some("500")),
                ("Ticks", Some("942035000000")),
                ("TotalHours", Some("26.167638888888888")),
                ("TotalSeconds", Some("94203.5")),
                ("Year", None),
            ],
        );
    }

    #[test]
    fn other_texts_have_none() {
        for text in ["", "hello", "2023", "12:30", "2023-13-01", "2023-04-31", "\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}"] {
            check(text, &[("Year", None), ("Hours", None), ("Ticks", None)]);
        }
    }
}
