//! When a task runs: a cron expression of five fields, in UTC.

use documents::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::{Error, Result};

/// A cron expression: minute, hour, day of the month, month, day of the week; with lists, ranges, steps, names and `L`.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    cron: croner::Cron,
}

/// Characters of a wrong expression that an error repeats.
const TEXT_LENGTH_SHOWN: usize = 100;

impl Schedule {
    /// # Errors
    ///
    /// [`Error::BadBackup`]: it is no cron expression, or none that ever comes.
    pub fn parse(name: &str, text: &str) -> Result<Schedule> {
        let bad = |reason: String| {
            let shown: String = text.chars().take(TEXT_LENGTH_SHOWN).collect();
            Error::BadBackup {
                rule: format!(
                    "'{name}' is '{shown}', which is no cron expression: {reason}. It has five fields: minute, hour, day of the month, \
                     month and day of the week, as in '0 2 * * *'"
                ),
            }
        };
        let seconds = croner::parser::Seconds::Disallowed;
        let parser = croner::parser::CronParser::builder().seconds(seconds).year(croner::parser::Year::Disallowed);
        let cron = parser.build().parse(text).map_err(|error| bad(error.to_string()))?;
        let schedule = Schedule { cron };
        match schedule.next(Date::now()) {
            Some(_) => Ok(schedule),
            None => Err(bad("there is no such time".to_owned())),
        }
    }

    /// The first time after `after`; `None` if none comes.
    pub fn next(&self, after: Date) -> Option<Date> {
        let seconds = i64::try_from(after.since(Date::from(std::time::SystemTime::UNIX_EPOCH)).as_secs()).ok()?;
        let after = Zoned::new(Timestamp::from_second(seconds).ok()?, TimeZone::UTC);
        let next = self.cron.find_next_occurrence(&after, false).ok()?.timestamp();
        Some(Date::from(std::time::SystemTime::from(next)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, after: &str, expected: &str) {
        let next = Schedule::parse("x", text).unwrap().next(Date::parse(after).unwrap()).unwrap();
        assert_eq!(next, Date::parse(expected).unwrap(), "{text} after {after}: {next}");
    }

    #[test]
    fn the_next_time_comes_after_the_given_one() {
        check("0 2 * * *", "2026-11-27T01:59:59.9999999Z", "2026-11-27T02:00:00");
        check("0 2 * * *", "2026-11-27T02:00:00", "2026-11-28T02:00:00");
        check("*/15 * * * *", "2026-11-27T02:00:01", "2026-11-27T02:15:00");
        check("0 3 * * SUN", "2026-11-27T02:00:00", "2026-11-29T03:00:00");
        check("30 4 1,15 * *", "2026-11-27T02:00:00", "2026-12-01T04:30:00");
        check("0 0 29 2 *", "2026-11-27T02:00:00", "2028-02-29T00:00:00");
        check("0 0 L * *", "2026-11-27T02:00:00", "2026-11-30T00:00:00");
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for text in ["", "zork", "* * * *", "60 * * * *", "0 0 2 * * *", "0 0 31 2 *", "0 2 * * * 2026"] {
            let error = Schedule::parse("FullBackupFrequency", text).unwrap_err().to_string();
            assert!(error.contains("'FullBackupFrequency' is"), "{text}: {error}");
        }
    }
}
