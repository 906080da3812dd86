//! Dates with their times, and durations: both in ticks of 100 ns.
//!
//! Days are turned into years, months and days by the algorithms of Howard Hinnant, "chrono-Compatible Low-Level Date
//! Algorithms" (2013), for the proleptic Gregorian calendar.

use super::display::date_text;
use super::error::{MapError, Result};
use json::{Kind, Raw};

pub(crate) const TICKS_PER_MILLISECOND: i64 = 10_000;
pub(crate) const TICKS_PER_SECOND: i64 = 10_000_000;
pub(crate) const TICKS_PER_MINUTE: i64 = 60 * TICKS_PER_SECOND;
pub(crate) const TICKS_PER_HOUR: i64 = 60 * TICKS_PER_MINUTE;
pub(crate) const TICKS_PER_DAY: i64 = 24 * TICKS_PER_HOUR;
/// The last tick of the year 9999.
const TICKS_MAX: i64 = 3_652_059 * TICKS_PER_DAY - 1;
/// Days from 0000-03-01, where the years of the algorithms begin, to 0001-01-01.
const DAYS_TO_YEAR_1: i64 = 306;

/// Which clock a date is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateKind {
    /// It does not say.
    Unspecified,
    /// UTC. A date with an offset is turned into this.
    Utc,
}

/// A date with its time. Compared by ticks alone, whatever the kinds, as .NET does.
#[derive(Clone, Copy, Debug)]
pub struct DateTime {
    /// Ticks of 100 ns since 0001-01-01, up to the end of 9999.
    pub ticks: i64,
    /// Which clock it is of.
    pub kind: DateKind,
}

/// A duration in ticks of 100 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeSpan(pub i64);

/// A date taken apart: year, month and day, each from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    pub year: i64,
    pub month: i64,
    pub day: i64,
}

impl DateTime {
    /// A date of these ticks.
    ///
    /// # Errors
    ///
    /// [`MapError::Range`] outside of the years 1 to 9999.
    pub(crate) fn new(ticks: i64, kind: DateKind) -> Result<DateTime> {
        if (0..=TICKS_MAX).contains(&ticks) {
            Ok(DateTime { ticks, kind })
        } else {
            Err(MapError::Range { function: "DateTime" })
        }
    }

    /// A day at midnight, if there is such a day.
    pub(crate) fn of_day(year: i64, month: i64, day: i64) -> Option<DateTime> {
        let is_day = (1..=9999).contains(&year) && (1..=12).contains(&month) && day >= 1;
        if !is_day || day > days_in_month(year, month) {
            return None;
        }
        let ticks = days_of(Civil { year, month, day }) * TICKS_PER_DAY;
        Some(DateTime { ticks, kind: DateKind::Unspecified })
    }

    /// Reads a day alone, `2024-01-02`, which is its midnight.
    pub(super) fn of_day_text(text: &str) -> Option<DateTime> {
        let day = text.as_bytes();
        if day.len() != 10 || day[4] != b'-' || day[7] != b'-' {
            return None;
        }
        DateTime::of_day(number(day, 0, 4)?, number(day, 5, 7)?, number(day, 8, 10)?)
    }

    /// Reads `2024-01-02T03:04:05`, with up to seven digits of the second and with nothing, `Z` or an offset `+02:00` at its
    /// end. This is the form that strings of documents are dates by.
    pub(crate) fn parse(text: &str) -> Option<DateTime> {
        DateText::of(text)?.date()
    }

    /// The ticks of a text that queries compare as a date: what [`Self::parse`] reads, or a day alone, which is its midnight.
    #[inline]
    pub(crate) fn ticks_of(text: &str) -> Option<u64> {
        // Nearly every text that is no date fails here.
        if text.as_bytes().get(4) != Some(&b'-') {
            return None;
        }
        let date = match text.as_bytes() {
            day if day.len() == 10 => DateTime::of_day_text(text),
            _ => DateTime::parse(text),
        };
        date.and_then(|date| u64::try_from(date.ticks).ok())
    }

    /// Calls `each` with the one text that a date has as a term, whatever its spelling: seven digits of the second, and `Z` if it says
    /// which clock it is of. `None`: the text is no date, or a day alone.
    #[inline]
    pub(crate) fn with_term_of<R>(text: &str, each: impl FnOnce(&str) -> R) -> Option<R> {
        if text.as_bytes().get(4) != Some(&b'-') {
            return None;
        }
        let date = DateTime::parse(text)?;
        let written = documents::Date::from_ticks(date.ticks.unsigned_abs()).text();
        let written = written.get(..written.len() - usize::from(date.kind == DateKind::Unspecified))?;
        std::str::from_utf8(written).ok().map(each)
    }

    /// A date of a document as the reference gives it out, and groups by it: with seven digits of the second, on its own clock. `None`: the
    /// text is written so already, or is no date.
    pub(crate) fn with_all_digits(text: &str) -> Option<String> {
        let written = DateText::of(text)?;
        written.date()?;
        let date = DateTime::new(written.ticks, DateKind::Unspecified).ok()?;
        let whole = date_text(date) + written.zone;
        (whole != text).then_some(whole)
    }

    /// Reads what [`Self::parse`] reads, a blank instead of `T`, and a day alone: for where a date is asked for.
    pub(crate) fn parse_lenient(text: &str) -> Option<DateTime> {
        let text = text.trim();
        if text.len() == 10 {
            return DateTime::parse(&format!("{text}T00:00:00"));
        }
        DateTime::parse(text).or_else(|| DateTime::parse(&text.replacen(' ', "T", 1)))
    }

    pub(crate) fn civil(self) -> Civil {
        let days = self.ticks / TICKS_PER_DAY + DAYS_TO_YEAR_1;
        let era = days / 146_097;
        let day_of_era = days % 146_097;
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        Civil { year: era * 400 + year_of_era + i64::from(month <= 2), month, day }
    }

    /// From 1.
    pub(crate) fn day_of_year(self) -> i64 {
        let first = Civil { year: self.civil().year, month: 1, day: 1 };
        self.ticks / TICKS_PER_DAY - days_of(first) + 1
    }

    /// From 0, which is Sunday.
    pub(crate) fn day_of_week(self) -> i64 {
        (self.ticks / TICKS_PER_DAY + 1) % 7
    }

    /// The ticks since midnight.
    pub(crate) fn time_of_day(self) -> i64 {
        self.ticks % TICKS_PER_DAY
    }

    /// Its day at midnight.
    pub(crate) fn date(self) -> DateTime {
        DateTime { ticks: self.ticks - self.time_of_day(), ..self }
    }

    pub(crate) fn add_ticks(self, ticks: i64) -> Result<DateTime> {
        DateTime::new(self.ticks.checked_add(ticks).ok_or(MapError::Overflow)?, self.kind)
    }

    /// Adds months; a day that the month lacks becomes the last of the month.
    pub(crate) fn add_months(self, months: i64) -> Result<DateTime> {
        let Civil { year, month, day } = self.civil();
        let out_of_range = MapError::Range { function: "AddMonths" };
        let months = (year * 12 + month - 1).checked_add(months).filter(|months| *months >= 0);
        let months = months.ok_or_else(|| out_of_range.clone())?;
        let (year, month) = (months / 12, months % 12 + 1);
        let day = day.min(days_in_month(year, month));
        let date = DateTime::of_day(year, month, day).ok_or(out_of_range)?;
        DateTime::new(date.ticks + self.time_of_day(), self.kind)
    }
}

/// A date as a text has it.
pub(super) struct DateText<'t> {
    /// On its own clock.
    pub ticks: i64,
    /// Which clock that is: nothing, `Z` or `+02:00`.
    pub zone: &'t str,
}

impl DateText<'_> {
    pub fn of(text: &str) -> Option<DateText<'_>> {
        let bytes = text.as_bytes();
        // All lengths and the two marks first: nearly every text that is no date fails here.
        if !(19..=33).contains(&bytes.len()) || bytes[4] != b'-' || bytes[10] != b'T' {
            return None;
        }
        let date = DateTime::of_day(number(bytes, 0, 4)?, number(bytes, 5, 7)?, number(bytes, 8, 10)?)?;
        let (hour, minute, second) = (number(bytes, 11, 13)?, number(bytes, 14, 16)?, number(bytes, 17, 19)?);
        let (fraction, rest) = fraction(&bytes[19..])?;
        // Midnight may be the end of a day.
        let is_time = hour < 24 || (hour == 24 && minute == 0 && second == 0 && fraction == 0);
        if bytes[7] != b'-' || bytes[13] != b':' || bytes[16] != b':' || !is_time || minute > 59 || second > 59 {
            return None;
        }
        let time = hour * TICKS_PER_HOUR + minute * TICKS_PER_MINUTE + second * TICKS_PER_SECOND + fraction;
        Some(DateText { ticks: date.ticks + time, zone: text.get(text.len() - rest.len()..)? })
    }

    pub fn date(&self) -> Option<DateTime> {
        match self.zone.as_bytes() {
            [] => DateTime::new(self.ticks, DateKind::Unspecified).ok(),
            [b'Z'] => DateTime::new(self.ticks, DateKind::Utc).ok(),
            zone @ [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
                let (hours, minutes) = (number(zone, 1, 3)?, number(zone, 4, 6)?);
                let offset = hours * TICKS_PER_HOUR + minutes * TICKS_PER_MINUTE;
                let ticks = if *sign == b'+' { self.ticks - offset } else { self.ticks + offset };
                DateTime::new(ticks, DateKind::Utc).ok()
            }
            _ => None,
        }
    }
}

impl TimeSpan {
    /// Reads `[-][days.]hours:minutes[:seconds[.fraction]]`.
    pub(crate) fn parse(text: &str) -> Option<TimeSpan> {
        let (text, is_negative) = match text.strip_prefix('-') {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let (days, time) = match text.find(['.', ':']) {
            Some(at) if text.as_bytes()[at] == b'.' => (digits(&text[..at], 8)?, &text[at + 1..]),
            _ => (0, text),
        };
        let (clock, fraction_text) = match time.find('.') {
            Some(at) => time.split_at(at),
            None => (time, ""),
        };
        let mut parts = clock.split(':');
        let (hours, minutes) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
        let seconds = parts.next().map_or(Some(0), |part| digits(part, 2))?;
        let (fraction, rest) = fraction(fraction_text.as_bytes())?;
        if parts.next().is_some() || !rest.is_empty() || hours > 23 || minutes > 59 || seconds > 59 {
            return None;
        }
        let time = hours * TICKS_PER_HOUR + minutes * TICKS_PER_MINUTE + seconds * TICKS_PER_SECOND + fraction;
        // The least has no opposite of 64 bits.
        let ticks = i128::from(days) * i128::from(TICKS_PER_DAY) + i128::from(time);
        i64::try_from(if is_negative { -ticks } else { ticks }).ok().map(TimeSpan)
    }

    /// The ticks of a text that queries compare as a duration: one as .NET writes it (`c`), `[-][days.]hh:mm:ss[.fraction]` with up to
    /// seven digits behind the point.
    #[inline]
    pub(crate) fn ticks_of(text: &str) -> Option<i64> {
        // Nearly every text that is no duration fails here.
        let bytes = text.as_bytes();
        if !(8..=26).contains(&bytes.len()) || !matches!(bytes[0], b'0'..=b'9' | b'-') {
            return None;
        }
        let clock = bytes.iter().take(13).position(|byte| *byte == b':')?.checked_sub(2)?;
        let has_two_digits_each = bytes.get(clock + 5) == Some(&b':')
            && bytes.get(clock + 8).is_none_or(|byte| *byte == b'.')
            && [0, 1, 3, 4, 6, 7].iter().all(|at| bytes.get(clock + at).is_some_and(u8::is_ascii_digit));
        let begins = matches!(&bytes[..clock], [] | [b'-'] | [.., b'.']);
        if has_two_digits_each && begins { TimeSpan::parse(text).map(|span| span.0) } else { None }
    }
}

/// Days since 0001-01-01.
fn days_of(Civil { year, month, day }: Civil) -> i64 {
    let year = year - i64::from(month <= 2);
    let month = if month > 2 { month - 3 } else { month + 9 };
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - DAYS_TO_YEAR_1
}

pub(crate) fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The JSON of a value of a document that is a date, if it is to be written otherwise: [`DateTime::with_all_digits`].
pub(crate) fn rewritten(value: Raw<'_>) -> Option<Vec<u8>> {
    // With its quotes.
    if value.kind() != Kind::String || !(21..=35).contains(&value.bytes().len()) {
        return None;
    }
    let whole = DateTime::with_all_digits(&value.as_str()?)?;
    // What dates are written in needs no escape.
    Some(format!("\"{whole}\"").into_bytes())
}

fn number(bytes: &[u8], from: usize, to: usize) -> Option<i64> {
    let digits = bytes.get(from..to)?;
    digits.iter().try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
}

fn digits(text: &str, count_max: usize) -> Option<i64> {
    if text.is_empty() || text.len() > count_max { None } else { number(text.as_bytes(), 0, text.len()) }
}

/// The ticks of `.1234567`, one to seven digits, or of nothing; and what follows.
fn fraction(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let Some(rest) = bytes.strip_prefix(b".") else { return Some((0, bytes)) };
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=7).contains(&count) {
        return None;
    }
    let ticks = number(rest, 0, count)? * 10i64.pow(7 - count as u32);
    Some((ticks, &rest[count..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_are_read_with_their_kind() {
        let of = |text| DateTime::parse(text).map(|date| (date.ticks, date.kind));
        assert_eq!(of("0001-01-01T00:00:00"), Some((0, DateKind::Unspecified)));
        assert_eq!(of("2024-01-02T03:04:05.1234567Z"), Some((638_397_614_451_234_567, DateKind::Utc)));
        assert_eq!(of("2024-01-02T03:04:05+02:00"), of("2024-01-02T01:04:05Z"));
        for text in [
            "2024-13-02T03:04:05",
            "2023-02-29T00:00:00",
            "2024-01-02T03:04:05.",
            "2024-01-02",
            "2024-01-02T03:04:05Zx",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
        assert_eq!(DateTime::parse_lenient("2024-01-02").map(|date| date.civil().day), Some(2));
    }

    /// As the reference writes them.
    #[test]
    fn a_date_has_one_text_as_a_term_and_one_on_its_clock() {
        let term = |text| DateTime::with_term_of(text, str::to_owned);
        for (written, as_term, on_its_clock) in [
            ("2020-01-01T00:00:00", "2020-01-01T00:00:00.0000000", "2020-01-01T00:00:00.0000000"),
            ("2020-01-01T00:00:00.5", "2020-01-01T00:00:00.5000000", "2020-01-01T00:00:00.5000000"),
            ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00.0000000Z", "2020-01-01T00:00:00.0000000Z"),
            ("2020-01-01T02:00:00+02:00", "2020-01-01T00:00:00.0000000Z", "2020-01-01T02:00:00.0000000+02:00"),
            ("2020-01-01T24:00:00", "2020-01-02T00:00:00.0000000", "2020-01-02T00:00:00.0000000"),
        ] {
            assert_eq!(term(written).as_deref(), Some(as_term));
            assert_eq!(DateTime::with_all_digits(written).as_deref(), Some(on_its_clock));
            assert_eq!(DateTime::with_all_digits(on_its_clock), None, "it is written so already");
        }
        for other in ["2020-01-01", "2020-01-01t00:00:00", "2020-01-01T00:00", "2020-01-01T24:00:01", "20:00:00"] {
            assert_eq!((term(other), DateTime::with_all_digits(other)), (None, None), "{other}");
        }
        assert_eq!(rewritten(Raw::new(br#""2020-01-01T00:00:00""#)).unwrap(), br#""2020-01-01T00:00:00.0000000""#);
        assert_eq!(rewritten(Raw::new(br#"["2020-01-01T00:00:00"]"#)), None);
    }

    #[test]
    fn a_day_that_a_month_lacks_becomes_its_last() {
        let date = DateTime::of_day(2024, 1, 31).unwrap();
        assert_eq!(date.add_months(1).unwrap().civil(), Civil { year: 2024, month: 2, day: 29 });
        assert_eq!(date.add_months(-2).unwrap().civil(), Civil { year: 2023, month: 11, day: 30 });
        assert!(date.add_months(i64::MAX).is_err() && date.add_months(-100_000).is_err());
    }

    #[test]
    fn durations_are_read() {
        assert_eq!(TimeSpan::parse("1.02:03:04.5"), Some(TimeSpan(TICKS_PER_DAY + 73_845_000_000)));
        assert_eq!(TimeSpan::parse("-00:01"), Some(TimeSpan(-TICKS_PER_MINUTE)));
        for text in ["", "1", "1.5", "25:00", "a:b", "1:2:3:4"] {
            assert_eq!(TimeSpan::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_text_is_compared_as_a_duration_if_it_is_written_as_one() {
        for (text, ticks) in [
            ("00:00:00", 0),
            ("-00:05:00", -3_000_000_000),
            ("1.02:03:04", 937_840_000_000),
            ("10.00:00:00", 8_640_000_000_000),
            ("00:00:00.5", 5_000_000),
            ("-00:00:00.0000001", -1),
            ("10675199.02:48:05.4775807", i64::MAX),
            ("-10675199.02:48:05.4775808", i64::MIN),
        ] {
            assert_eq!(TimeSpan::ticks_of(text), Some(ticks), "{text}");
        }
        for other in [
            "12",
            "12:30",
            "1:02:03:04",
            "1:02:030",
            "01:02:3.",
            "12:30:00.",
            "12:30:00.12345678",
            "24:00:00",
            "12:60:00",
            "12:30:60",
            "12:30:0x",
            "12:30:00Z",
            ".12:30:00",
            "-.12:30:00",
            "--12:30:00",
            "1-12:30:00",
            "1.112:30:00",
            "10675199.02:48:05.4775808",
            "99999999.00:00:00",
            "2020-01-01T10:00:00",
            "0äää:ää:00",
        ] {
            assert_eq!(TimeSpan::ticks_of(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn every_day_comes_back(days in 0..3_652_059i64) {
            let date = DateTime::new(days * TICKS_PER_DAY, DateKind::Utc).unwrap();
            let Civil { year, month, day } = date.civil();
            prop_assert_eq!(DateTime::of_day(year, month, day).unwrap().ticks, date.ticks);
        }

        #[test]
        fn any_text_is_a_date_or_none(text in "[0-9T:.Z+ü-]{0,34}") {
            let _ = (DateTime::parse(&text), DateTime::parse_lenient(&text), TimeSpan::parse(&text), TimeSpan::ticks_of(&text));
        }
    }
}
