//! Moments as ticks of 100 ns since the year 1, and their text `2015-01-15T00:41:16.6616631Z`.
//!
//! The text has always seven digits of the second and `Z`, so the order of texts is the order of time.

use std::time::{Duration, SystemTime};

/// The size of a moment's text.
pub const DATE_SIZE: usize = 28;

const TICKS_PER_SECOND: u64 = 10_000_000;
const SECONDS_PER_DAY: u64 = 86_400;
/// Ticks from the year 1 to 1970.
const UNIX_EPOCH_TICKS: u64 = 719_162 * SECONDS_PER_DAY * TICKS_PER_SECOND;
/// The last tick of the year 9999.
const TICKS_MAX: u64 = 3_652_059 * SECONDS_PER_DAY * TICKS_PER_SECOND - 1;
/// Days from 0000-03-01, where the years of the algorithms below begin, to 0001-01-01.
const DAYS_TO_YEAR_1: u32 = 306;

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
        match text.try_into() {
            Ok(text) => parse_whole(text),
            Err(_) => parse_short(text),
        }
    }

    #[inline]
    fn of_parts(
        (year, month, day): (u32, u32, u32),
        (hour, minute, second): (u32, u32, u32),
        ticks: u32,
    ) -> Option<Date> {
        if year == 0 || !(1..=12).contains(&month) || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        const DAYS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        if day == 0 || day > DAYS[month as usize - 1] + u32::from(is_leap && month == 2) {
            return None;
        }
        let seconds =
            u64::from(days(year, month, day)) * SECONDS_PER_DAY + u64::from(hour * 3600 + minute * 60 + second);
        Some(Date(seconds * TICKS_PER_SECOND + u64::from(ticks)))
    }
}

/// Reads the form that we write, eight characters at a time: `yyyy-MM-`, `ddTHH:mm`, `:ss.ffff` and `fffZ` as little-endian
/// words. Digits are gathered, checked and made pairs eight at once, after Daniel Lemire, "Quickly parsing eight digits"
/// (2018).
#[inline]
fn parse_whole(text: &[u8; DATE_SIZE]) -> Option<Date> {
    let (words, last) = text.as_chunks::<8>();
    let word = |at: usize| u64::from_le_bytes(words[at]);
    let (first, second, third) = (word(0), word(1), word(2));
    let last = u64::from(u32::from_le_bytes(*last.first_chunk()?));
    let others = (first & 0xff00_00ff_0000_0000 ^ u64::from_le_bytes(*b"\0\0\0\0-\0\0-"))
        | (second & 0x0000_ff00_00ff_0000 ^ u64::from_le_bytes(*b"\0\0T\0\0:\0\0"))
        | (third & 0x0000_0000_ff00_00ff ^ u64::from_le_bytes(*b":\0\0.\0\0\0\0"))
        | (last & 0xff00_0000 ^ u64::from_le_bytes(*b"\0\0\0Z\0\0\0\0"));
    // yyyyMMdd, HHmmssff, fffff and three zeros.
    let date = first & 0xffff_ffff | first >> 8 & 0xffff_0000_0000 | second << 48;
    let time = second >> 24 & 0xffff
        | second >> 32 & 0xffff_0000
        | third << 24 & 0xffff_0000_0000
        | third << 16 & 0xffff << 48;
    let rest = third >> 48 | (last & 0xff_ffff) << 16 | 0x0030_3030 << 40;
    if others != 0 || !(are_digits(date) && are_digits(time) && are_digits(rest)) {
        return None;
    }
    let part = |pairs: u64, at: u32| (pairs >> (16 * at)) as u32 & 0xff;
    let (date, time, rest) = (pairs(date), pairs(time), pairs(rest));
    let ticks = part(time, 3) * 100_000 + part(rest, 0) * 1000 + part(rest, 1) * 10 + part(rest, 2) / 10;
    let date = (part(date, 0) * 100 + part(date, 1), part(date, 2), part(date, 3));
    Date::of_parts(date, (part(time, 0), part(time, 1), part(time, 2)), ticks)
}

/// Whether all eight bytes are ASCII digits.
#[inline]
fn are_digits(word: u64) -> bool {
    const HIGH: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    let threes = 0x3030_3030_3030_3030;
    (word & HIGH ^ threes) | (word.wrapping_add(0x0606_0606_0606_0606) & HIGH ^ threes) == 0
}

/// Eight digits as four numbers of two digits, 16 bits each.
#[inline]
fn pairs(digits: u64) -> u64 {
    // The first of two is 10 times as much, and moves to where the second is.
    (digits & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(10 << 8 | 1) >> 8 & 0x00ff_00ff_00ff_00ff
}

/// Reads what has fewer digits of the second, or no `Z`.
fn parse_short(text: &[u8]) -> Option<Date> {
    let (head, tail) = text.split_first_chunk::<19>()?;
    if (head[4], head[7], head[10], head[13], head[16]) != (b'-', b'-', b'T', b':', b':') {
        return None;
    }
    let two = |at: usize| {
        let (tens, ones) = (head[at].wrapping_sub(b'0'), head[at + 1].wrapping_sub(b'0'));
        (tens < 10 && ones < 10).then(|| u32::from(tens) * 10 + u32::from(ones))
    };
    let tail = tail.strip_suffix(b"Z").unwrap_or(tail);
    let mut ticks = 0;
    if let Some((point, digits)) = tail.split_first() {
        if *point != b'.' || digits.is_empty() || digits.len() > 7 {
            return None;
        }
        for at in 0..7 {
            let digit = digits.get(at).map_or(0, |digit| digit.wrapping_sub(b'0'));
            if digit > 9 {
                return None;
            }
            ticks = ticks * 10 + u32::from(digit);
        }
    }
    let date = (two(0)? * 100 + two(2)?, two(5)?, two(8)?);
    Date::of_parts(date, (two(11)?, two(14)?, two(17)?), ticks)
}

/// Days since 0001-01-01 of a date from then on: the inverse of [`civil`], from the same paper. Years begin in March, so that
/// the day which comes and goes is the last one; 979/32 steps through the lengths of their months.
#[inline]
fn days(year: u32, month: u32, day: u32) -> u32 {
    let is_before_march = month <= 2;
    let year = year - u32::from(is_before_march);
    let month = if is_before_march { month + 12 } else { month };
    let century = year / 100;
    let of_years = 1461 * year / 4 - century + century / 4;
    of_years + (979 * month - 2919) / 32 + day - 1 - DAYS_TO_YEAR_1
}

/// Year, month and day of a count of days since 0001-01-01, with three multiplications in place of most divisions: Neri
/// and Schneider, "Euclidean affine functions and their application to calendar algorithms", Software: Practice and
/// Experience 53(4), 2023.
#[inline]
fn civil(days: u32) -> (u32, u32, u32) {
    let quarter_days = days.wrapping_add(DAYS_TO_YEAR_1).wrapping_mul(4) | 3;
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
    fn no_character_of_a_text_may_be_another() {
        let text = "2015-01-15T00:41:16.6616631Z";
        for at in 0..text.len() {
            for byte in 0..=0x7f {
                let mut changed = text.as_bytes().to_vec();
                changed[at] = byte;
                let changed = String::from_utf8(changed).unwrap();
                let is_digit = text.as_bytes()[at].is_ascii_digit() && byte.is_ascii_digit();
                let parsed = Date::parse(&changed);
                assert!(changed == text || is_digit || parsed.is_none(), "{changed:?}");
                assert!(parsed.is_none_or(|date| date.to_string() == changed), "{changed:?}");
            }
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
            "2015-01-01T00:00:00x1234567Z",
            "2015-01-01T00:00:00.123456xZ",
            "2015-01-01T0x:00:00.1234567Z",
            "2015-01-00T00:00:00Z",
            "2100-02-29T00:00:00Z",
            "2015-00-01T00:00:00Z",
            "0000-01-01T00:00:00Z",
            "2015-01-01 00:00:00Z",
        ] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }
}
