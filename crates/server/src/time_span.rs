//! Spans of time as clients write them.

use std::time::Duration;

/// What one looks like, for errors.
pub(crate) const TIME_SPAN: &str = "a time span such as 00:00:15";

/// A span of time as .NET writes it: `[days.]hours:minutes:seconds[.fraction]`, the fraction of up to seven digits.
pub(crate) fn time_span(text: &str) -> Option<Duration> {
    let mut parts = text.split(':');
    let (first, minutes, last) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let number = |text: &str| -> Option<u64> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) { None } else { text.parse().ok() }
    };
    let (days, hours) = first.split_once('.').unwrap_or(("0", first));
    let (seconds, fraction) = last.split_once('.').unwrap_or((last, "0"));
    let (days, hours, minutes, seconds) = (number(days)?, number(hours)?, number(minutes)?, number(seconds)?);
    if hours > 23 || minutes > 59 || seconds > 59 || fraction.len() > 7 {
        return None;
    }
    let ticks = number(&format!("{fraction:0<7}"))?;
    let seconds = days.checked_mul(86_400)?.checked_add(hours * 3600 + minutes * 60 + seconds)?;
    Some(Duration::new(seconds, u32::try_from(ticks * 100).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_spans_are_read() {
        let check = |text, expected: Option<(u64, u32)>| {
            assert_eq!(time_span(text), expected.map(|(seconds, nanos)| Duration::new(seconds, nanos)), "{text}");
        };
        check("00:00:15", Some((15, 0)));
        check("1.02:03:04.5", Some((93_784, 500_000_000)));
        check("00:00:00.0000001", Some((0, 100)));
        for wrong in ["", "15", "0:15", "1:2:3:4", "-1:00:00", "24:00:00", "00:60:00", "a:b:c", "00:00:00.12345678"] {
            check(wrong, None);
        }
    }
}
