//! Dates as they go over the wire: UTC, seven fractional digits (ticks of 100 ns), `Z`.

use std::time::SystemTime;

use database::documents::Date;

/// What .NET clients take as "never".
pub(crate) const NEVER: &str = "0001-01-01T00:00:00.0000000";

/// `2015-01-15T00:41:16.6616631Z`.
pub(crate) fn wire(time: SystemTime) -> String {
    Date::from(time).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

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
