//! Formats of dates, in the invariant culture: `yyyy-MM-dd HH:mm:ss` and the standard ones of one letter.

use super::date::{Civil, DateKind, DateTime, TICKS_PER_SECOND};
use super::display::{date_text, display};
use super::error::{MapError, Result};
use super::value::Value;

pub(crate) const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A date as a format says.
///
/// # Errors
///
/// [`MapError::Format`] for a format that is not understood.
pub(crate) fn format_date(date: DateTime, format: &str) -> Result<String> {
    let custom_format = match format {
        "" | "G" => return Ok(display(&Value::Date(date)).into_owned()),
        "o" | "O" => return Ok(date_text(date)),
        "d" => "MM/dd/yyyy",
        "D" => "dddd, dd MMMM yyyy",
        "f" => "dddd, dd MMMM yyyy HH:mm",
        "F" => "dddd, dd MMMM yyyy HH:mm:ss",
        "g" => "MM/dd/yyyy HH:mm",
        "m" | "M" => "MMMM dd",
        "r" | "R" => "ddd, dd MMM yyyy HH':'mm':'ss 'GMT'",
        "s" => "yyyy-MM-ddTHH:mm:ss",
        "t" => "HH:mm",
        "T" => "HH:mm:ss",
        "u" => "yyyy-MM-dd HH:mm:ss'Z'",
        "y" | "Y" => "yyyy MMMM",
        format if format.chars().count() == 1 => return Err(MapError::Format(format.to_owned())),
        format => format,
    };
    custom(date, custom_format).ok_or_else(|| MapError::Format(format.to_owned()))
}

fn custom(date: DateTime, format: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        let mut count = 1;
        match c {
            'y' | 'M' | 'd' | 'H' | 'h' | 'm' | 's' | 'f' | 'F' | 't' | 'K' | 'z' => {
                while rest.next_if_eq(&c).is_some() {
                    count += 1;
                }
                out.push_str(&part(date, c, count)?);
            }
            '\'' | '"' => loop {
                match rest.next()? {
                    end if end == c => break,
                    quoted => out.push(quoted),
                }
            },
            '\\' => out.push(rest.next()?),
            '%' => {}
            other => out.push(other),
        }
    }
    Some(out)
}

fn part(date: DateTime, kind: char, count: usize) -> Option<String> {
    let Civil { year, month, day } = date.civil();
    let seconds = date.time_of_day() / TICKS_PER_SECOND;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let name = |names: &[&str], index: i64, is_short: bool| {
        let name = names.get(usize::try_from(index).ok()?)?;
        if is_short { name.get(..3).map(str::to_owned) } else { Some((*name).to_owned()) }
    };
    let number = |number: i64| Some(if count == 1 { number.to_string() } else { format!("{number:02}") });
    match (kind, count) {
        ('y', 1 | 2) => number(year % 100),
        ('y', 3..=9) => Some(format!("{year:0count$}")),
        ('M', 1 | 2) => number(month),
        ('M', _) => name(&MONTHS, month - 1, count == 3),
        ('d', 1 | 2) => number(day),
        ('d', _) => name(&DAYS, date.day_of_week(), count == 3),
        ('H', _) => number(hour),
        ('h', _) => number((hour + 11) % 12 + 1),
        ('m', _) => number(minute),
        ('s', _) => number(second),
        ('f' | 'F', 1..=7) => {
            let digits = format!("{:07}", date.ticks % TICKS_PER_SECOND);
            let digits = digits.get(..count)?;
            Some(if kind == 'F' { digits.trim_end_matches('0') } else { digits }.to_owned())
        }
        ('t', _) => Some(if hour < 12 { "AM" } else { "PM" }.get(..count.min(2))?.to_owned()),
        ('K', 1) => Some(if date.kind == DateKind::Utc { "Z" } else { "" }.to_owned()),
        ('z', 1..=3) => Some(["+0", "+00", "+00:00"].get(count - 1).copied()?.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn formats_of_dates() {
        let date = DateTime::parse("2024-02-03T14:05:06.1230000Z").unwrap();
        for (format, expected) in [
            ("yyyy-MM", "2024-02"),
            ("yyyy-MM-dd HH:mm:ss.fff", "2024-02-03 14:05:06.123"),
            ("d/M/yy h:mm tt", "3/2/24 2:05 PM"),
            ("dddd, MMM d", "Saturday, Feb 3"),
            ("o", "2024-02-03T14:05:06.1230000Z"),
            ("s", "2024-02-03T14:05:06"),
            ("u", "2024-02-03 14:05:06Z"),
            ("G", "02/03/2024 14:05:06"),
            ("yyyy'y'K", "2024yZ"),
            ("ss.FFFFFF", "06.123"),
        ] {
            assert_eq!(format_date(date, format).unwrap(), expected, "{format}");
        }
        assert!(format_date(date, "Q").is_err() && format_date(date, "yyyy'").is_err());
    }

    proptest! {
        #[test]
        fn any_format_gives_a_text_or_an_error(format in "[yMdHhmsftKz'\\\\%ü-]{0,12}") {
            let _ = format_date(DateTime::parse("2024-02-03T14:05:06Z").unwrap(), &format);
        }
    }
}
