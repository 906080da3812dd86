//! Spans of time as clients read and write them.

use std::time::Duration;

/// What one looks like, for errors.
pub const TIME_SPAN: &str = "a time span such as 00:00:15";

/// The most days of a span.
const DAYS_MAX: u64 = 10_675_199;

/// A span of time as .NET reads it: `[days.]hours:minutes[:seconds[.fraction]]`, the fraction of up to seven digits,
/// `days:hours:minutes:seconds[.fraction]`, or a whole number, which is days. None that is negative.
pub fn parse(text: &str) -> Option<Duration> {
    let number = |text: &str| -> Option<u64> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) { None } else { text.parse().ok() }
    };
    let parts: Vec<&str> = text.trim_ascii().splitn(5, ':').collect();
    let (days, hours, minutes, last) = match *parts.as_slice() {
        [days] => (days, "0", "0", "0"),
        [first, minutes] => in_days(first, minutes, "0"),
        [first, minutes, last] => in_days(first, minutes, last),
        [days, hours, minutes, last] => (days, hours, minutes, last),
        _ => return None,
    };
    let (seconds, fraction) = last.split_once('.').unwrap_or((last, "0"));
    let (days, hours, minutes, seconds) = (number(days)?, number(hours)?, number(minutes)?, number(seconds)?);
    if days > DAYS_MAX || hours > 23 || minutes > 59 || seconds > 59 || fraction.len() > 7 {
        return None;
    }
    let ticks = number(&format!("{fraction:0<7}"))?;
    let seconds = days * 86_400 + hours * 3600 + minutes * 60 + seconds;
    Some(Duration::new(seconds, u32::try_from(ticks * 100).ok()?))
}

/// Takes the days from before the hours.
fn in_days<'t>(first: &'t str, minutes: &'t str, last: &'t str) -> (&'t str, &'t str, &'t str, &'t str) {
    let (days, hours) = first.split_once('.').unwrap_or(("0", first));
    (days, hours, minutes, last)
}

/// A span of time as .NET writes it: `[days.]hours:minutes:seconds[.fraction]`, the fraction with seven digits.
pub fn text(span: Duration) -> String {
    let (seconds, ticks) = (span.as_secs(), span.subsec_nanos() / 100);
    let mut text = match seconds / 86_400 {
        0 => String::new(),
        days => format!("{days}."),
    };
    text += &format!("{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    if ticks > 0 {
        text += &format!(".{ticks:07}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_spans_are_written_as_they_are_read() {
        for expected in ["00:00:15", "1.02:03:04.5000000", "00:00:00.0000001", "23:59:59", "00:00:00"] {
            assert_eq!(text(parse(expected).unwrap()), expected);
        }
    }

    #[test]
    fn time_spans_are_read() {
        let check = |text, expected: Option<(u64, u32)>| {
            assert_eq!(parse(text), expected.map(|(seconds, nanos)| Duration::new(seconds, nanos)), "{text}");
        };
        check("00:00:15", Some((15, 0)));
        check("1.02:03:04.5", Some((93_784, 500_000_000)));
        check("00:00:00.0000001", Some((0, 100)));
        check("15", Some((15 * 86_400, 0)));
        check("10675199", Some((10_675_199 * 86_400, 0)));
        check(" 0:15 ", Some((900, 0)));
        check("1.12:00", Some((129_600, 0)));
        check("1:2:3:4.25", Some((93_784, 250_000_000)));
        for wrong in [
            "",
            "-5",
            "+5",
            "1.5",
            "15.",
            "1e3",
            "10675200",
            "1:2:3:4:5",
            "1.1:2:3:4",
            "-1:00:00",
            "24:00:00",
            "00:60:00",
            "a:b:c",
            "00:00:00.12345678",
        ] {
            check(wrong, None);
        }
    }
}
