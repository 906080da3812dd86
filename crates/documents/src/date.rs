//! Moments as ticks of 100 ns since the year 1, and their text `2015-01-15T00:41:16.6616631Z`.
//!
//! The text has always seven digits of the second and `Z`, so the order of texts is the order of time. Dates become days
//! by the algorithm of Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (2021), in 400-year eras.

use std::time::{Duration, SystemTime};

/// The size of a moment's text.
pub const DATE_SIZE: usize = 28;

const TICKS_PER_SECOND: u64 = 10_000_000;
const SECONDS_PER_DAY: u64 = 86_400;
/// Ticks from the year 1 to 1970.
const UNIX_EPOCH_TICKS: u64 = 719_162 * SECONDS_PER_DAY * TICKS_PER_SECOND;
/// The last tick of the year 9999.
const TICKS_MAX: u64 = 3_652_059 * SECONDS_PER_DAY * TICKS_PER_SECOND - 1;
/// Days from 0000-03-01, where Hinnant's years begin, to 0001-01-01.
const DAYS_TO_YEAR_1: u64 = 306;
const DAYS_PER_ERA: u64 = 146_097;

/// A moment: ticks of 100 ns since 0001-01-01, at most the end of 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Date(u64);

impl Date {
    /// From ticks; later than the year 9999 becomes its end.
    pub fn from_ticks(ticks: u64) -> Date {
        Date(ticks.min(TICKS_MAX))
    }

    /// Ticks of 100 ns since 0001-01-01.
    pub fn ticks(self) -> u64 {
        self.0
    }

    /// What the system's clock says.
    pub fn now() -> Date {
        Date::from(SystemTime::now())
    }

    /// The time since `earlier`; zero if that is later.
    pub fn since(self, earlier: Date) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0).saturating_mul(100))
    }

    /// The text, as bytes that are ASCII.
    #[inline]
    pub fn text(self) -> [u8; DATE_SIZE] {
        let (seconds, fraction) = (self.0 / TICKS_PER_SECOND, (self.0 % TICKS_PER_SECOND) as u32);
        // Both fit: a date has at most 3,652,059 days, a day 86,400 seconds.
        let (days, second) = ((seconds / SECONDS_PER_DAY) as u32, (seconds % SECONDS_PER_DAY) as u32);
        let (year, month, day) = civil(days);
        let (minutes, second) = (second / 60, second % 60);
        let (fraction, last) = (fraction / 10, fraction % 10);
        let (high, low) = (fraction / 1000, fraction % 1000);

        let mut text = *b"0000-00-00T00:00:00.0000000Z";
        pair(&mut text, 0, year / 100);
        pair(&mut text, 2, year % 100);
        pair(&mut text, 5, month);
        pair(&mut text, 8, day);
        pair(&mut text, 11, minutes / 60);
        pair(&mut text, 14, minutes % 60);
        pair(&mut text, 17, second);
        // Seven digits: three, three, one.
        pair(&mut text, 20, high / 10);
        text[22] = b'0' + (high % 10) as u8;
        pair(&mut text, 23, low / 10);
        text[25] = b'0' + (low % 10) as u8;
        text[26] = b'0' + last as u8;
        text
    }

    /// Reads `2015-01-15T00:41:16`, with up to seven digits of the second, with or without `Z`.
    #[inline]
    pub fn parse(text: &str) -> Option<Date> {
        let text = text.as_bytes();
        let (head, tail) = text.split_first_chunk::<19>()?;
        if (head[4], head[7], head[10], head[13], head[16]) != (b'-', b'-', b'T', b':', b':') {
            return None;
        }
        let two = |at: usize| {
            let (tens, ones) = (head[at].wrapping_sub(b'0'), head[at + 1].wrapping_sub(b'0'));
            (tens < 10 && ones < 10).then(|| u64::from(tens) * 10 + u64::from(ones))
        };
        let (year, month, day) = (two(0)? * 100 + two(2)?, two(5)?, two(8)?);
        let (hour, minute, second) = (two(11)?, two(14)?, two(17)?);
        if year == 0 || !(1..=12).contains(&month) || day == 0 || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        const DAYS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        if day > DAYS[month as usize - 1] + u64::from(is_leap && month == 2) {
            return None;
        }
        let tail = tail.strip_suffix(b"Z").unwrap_or(tail);
        let mut fraction = 0;
        if let Some((point, digits)) = tail.split_first() {
            if *point != b'.' || digits.is_empty() || digits.len() > 7 {
                return None;
            }
            for at in 0..7 {
                let digit = digits.get(at).map_or(0, |digit| digit.wrapping_sub(b'0'));
                if digit > 9 {
                    return None;
                }
                fraction = fraction * 10 + u64::from(digit);
            }
        }
        let year_from_march = year - u64::from(month <= 2);
        let (era, year_of_era) = (year_from_march / 400, year_from_march % 400);
        let month_from_march = if month > 2 { month - 3 } else { month + 9 };
        let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let days = era * DAYS_PER_ERA + day_of_era - DAYS_TO_YEAR_1;
        let seconds = days * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second;
        Some(Date(seconds * TICKS_PER_SECOND + fraction))
    }
}

/// Year, month and day of a count of days since 0001-01-01, with three multiplications in place of most divisions: Neri
/// and Schneider, "Euclidean affine functions and their application to calendar algorithms", Software: Practice and
/// Experience 53(4), 2023.
#[inline]
fn civil(days: u32) -> (u32, u32, u32) {
    let quarter_days = days.wrapping_add(DAYS_TO_YEAR_1 as u32).wrapping_mul(4) | 3;
    let (century, of_century) = (quarter_days / 146_097, quarter_days % 146_097);
    let product = 2_939_745 * u64::from(of_century | 3);
    let year_of_century = (product >> 32) as u32;
    let day_of_year = product as u32 / 2_939_745 / 4;
    let month_and_day = day_of_year.wrapping_mul(2141).wrapping_add(197_913);
    let (month, day) = (month_and_day >> 16, (month_and_day & 0xffff) / 2141);
    // The algorithm's year begins in March.
    let is_next = day_of_year >= 306;
    let year = century.wrapping_mul(100).wrapping_add(year_of_century).wrapping_add(u32::from(is_next));
    (year, if is_next { month.wrapping_sub(12) } else { month }, day.wrapping_add(1))
}

const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut value = 0;
    while value < 100 {
        pairs[value] = [b'0' + value as u8 / 10, b'0' + value as u8 % 10];
        value += 1;
    }
    pairs
};

#[inline]
fn pair(text: &mut [u8; DATE_SIZE], at: usize, value: u32) {
    text[at..at + 2].copy_from_slice(&PAIRS[value as usize]);
}

impl From<SystemTime> for Date {
    fn from(time: SystemTime) -> Date {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let ticks = u64::try_from(since.as_nanos() / 100).unwrap_or(TICKS_MAX);
        Date::from_ticks(UNIX_EPOCH_TICKS.saturating_add(ticks))
    }
}

impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(std::str::from_utf8(&self.text()).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, ticks: u64) {
        assert_eq!(Date::from_ticks(ticks).to_string(), text);
        assert_eq!(Date::parse(text), Some(Date(ticks)), "{text}");
    }

    #[test]
    fn dates_go_there_and_back() {
        check("0001-01-01T00:00:00.0000000Z", 0);
        check("1970-01-01T00:00:00.0000000Z", UNIX_EPOCH_TICKS);
        check("2015-01-15T00:41:16.6616631Z", 635_568_792_766_616_631);
        check("9999-12-31T23:59:59.9999999Z", TICKS_MAX);
        check("2024-02-29T12:00:00.0000001Z", 638_448_048_000_000_001);
        check("2000-03-01T00:00:00.0000000Z", 630_874_656_000_000_000);
    }

    #[test]
    fn every_day_is_what_jiff_says() {
        let first = jiff::civil::date(1, 1, 1);
        for day in (0..3_652_059u64).step_by(17) {
            let date = first.checked_add(jiff::Span::new().days(day as i64)).unwrap();
            let text = Date::from_ticks(day * SECONDS_PER_DAY * TICKS_PER_SECOND).to_string();
            assert_eq!(text, format!("{:04}-{:02}-{:02}T00:00:00.0000000Z", date.year(), date.month(), date.day()));
            assert_eq!(Date::parse(&text).map(Date::ticks), Some(day * SECONDS_PER_DAY * TICKS_PER_SECOND));
        }
    }

    #[test]
    fn short_fractions_are_read_and_nonsense_is_not() {
        assert_eq!(Date::parse("2015-01-15T00:41:16.66Z"), Date::parse("2015-01-15T00:41:16.6600000Z"));
        assert_eq!(Date::parse("2015-01-15T00:41:16"), Date::parse("2015-01-15T00:41:16.0000000Z"));
        for text in [
            "",
            "2015",
            "2015-02-29T00:00:00Z",
            "2015-13-01T00:00:00Z",
            "2015-01-01T24:00:00Z",
            "2015-01-01T00:00:00.Z",
            "2015-01-01T00:00:00.12345678Z",
            "2015-01-01T00:00:00.1x",
            "0000-01-01T00:00:00Z",
            "2015-01-01 00:00:00Z",
        ] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }
}
