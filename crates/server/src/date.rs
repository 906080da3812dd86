//! Dates as they go over the wire: UTC, seven fractional digits (ticks of 100 ns), `Z`.

use std::time::{SystemTime, UNIX_EPOCH};

/// What .NET clients take as "never".
pub(crate) const NEVER: &str = "0001-01-01T00:00:00.0000000";

/// `2015-01-15T00:41:16.6616631Z`.
pub(crate) fn wire(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = since.as_secs();
    let (year, month, day) = civil(seconds / 86_400);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:07}Z",
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
        since.subsec_nanos() / 100
    )
}

/// Year, month and day of a day number since 1970-01-01. The algorithm is Howard Hinnant's `civil_from_days`
/// ("chrono-Compatible Low-Level Date Algorithms"), for days that are not negative.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_have_seven_digits_and_know_leap_years() {
        let check = |seconds: u64, nanos: u32, expected: &str| {
            assert_eq!(wire(UNIX_EPOCH + Duration::new(seconds, nanos)), expected);
        };
        check(0, 0, "1970-01-01T00:00:00.0000000Z");
        check(951_782_400, 0, "2000-02-29T00:00:00.0000000Z");
        check(1_421_282_476, 661_663_100, "2015-01-15T00:41:16.6616631Z");
    }
}
