//! The newest lines of the log, kept in memory for `GET /admin/logs/recent`, whatever becomes of standard error.
//!
//! The logger adds lines ([`RecentLog::add`]) that pass its level. The lock is held for moving one line,
//! and nothing on the way of a request logs at the default level.

use std::collections::VecDeque;
use std::time::SystemTime;

use parking_lot::Mutex;

use crate::limits::{LOG_LINE_SIZE_MAX, LOG_LINES_KEPT_MAX};

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Each step.
    Trace,
    /// What helps to find a mistake.
    Debug,
    /// What happened.
    Info,
    /// What somebody should look at.
    Warn,
    /// What failed.
    Error,
}

impl LogLevel {
    const ALL: [LogLevel; 5] = [LogLevel::Trace, LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error];

    /// Its name, as answers have it.
    pub fn name(self) -> &'static str {
        match self {
            LogLevel::Trace => "Trace",
            LogLevel::Debug => "Debug",
            LogLevel::Info => "Info",
            LogLevel::Warn => "Warn",
            LogLevel::Error => "Error",
        }
    }

    /// The level of a name, in any case.
    pub(crate) fn parse(name: &str) -> Option<LogLevel> {
        LogLevel::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(name))
    }
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogLine {
    /// Rises by one from line to line.
    pub(crate) number: u64,
    pub(crate) at: SystemTime,
    pub(crate) level: LogLevel,
    /// The message and its values, `name=value`.
    pub(crate) text: String,
}

/// The newest lines.
#[derive(Debug, Default)]
pub struct RecentLog {
    kept: Mutex<LogBuffer>,
}

#[derive(Debug, Default)]
struct LogBuffer {
    lines: VecDeque<LogLine>,
    /// Lines that were added, the forgotten ones too.
    count: u64,
}

/// Selects lines of the log.
#[derive(Debug)]
pub(crate) struct LogFilter<'a> {
    pub(crate) least: LogLevel,
    /// In the text, in any case.
    pub(crate) part: &'a str,
    /// Only lines with a higher number.
    pub(crate) after: u64,
    pub(crate) count_max: usize,
}

impl RecentLog {
    /// Keeps a line, in place of the oldest if there are too many. One that is too long is cut.
    pub fn add(&self, level: LogLevel, mut text: String) {
        if text.len() > LOG_LINE_SIZE_MAX {
            text.truncate(text.floor_char_boundary(LOG_LINE_SIZE_MAX));
            text.push('…');
        }
        let at = SystemTime::now();
        let mut kept = self.kept.lock();
        if kept.lines.len() == LOG_LINES_KEPT_MAX {
            kept.lines.pop_front();
        }
        kept.count += 1;
        let number = kept.count;
        kept.lines.push_back(LogLine { number, at, level, text });
    }

    /// The newest lines that match the filter, the newest first.
    pub(crate) fn find(&self, filter: &LogFilter<'_>) -> Vec<LogLine> {
        let part = filter.part.to_lowercase();
        let kept = self.kept.lock();
        let newer = kept.lines.iter().rev().take_while(|line| line.number > filter.after);
        let fits = |line: &&LogLine| line.level >= filter.least && line.text.to_lowercase().contains(&part);
        newer.filter(fits).take(filter.count_max).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(log: &RecentLog, least: LogLevel, part: &str, after: u64, count_max: usize) -> Vec<u64> {
        let lines = log.find(&LogFilter { least, part, after, count_max });
        lines.iter().map(|line| line.number).collect()
    }

    #[test]
    fn lines_are_found_by_level_text_and_number() {
        let log = RecentLog::default();
        log.add(LogLevel::Info, "The server is ready".to_owned());
        log.add(LogLevel::Warn, "a request failed".to_owned());
        log.add(LogLevel::Debug, "Ready again".to_owned());
        assert_eq!(found(&log, LogLevel::Trace, "", 0, 9), [3, 2, 1]);
        assert_eq!(found(&log, LogLevel::Trace, "READY", 0, 9), [3, 1]);
        assert_eq!(found(&log, LogLevel::Warn, "", 0, 9), [2]);
        assert_eq!(found(&log, LogLevel::Trace, "", 2, 9), [3]);
        assert_eq!(found(&log, LogLevel::Trace, "", 0, 1), [3]);
    }

    #[test]
    fn the_oldest_go_and_long_ones_are_cut() {
        let log = RecentLog::default();
        for _ in 0..=LOG_LINES_KEPT_MAX {
            log.add(LogLevel::Info, "ä".repeat(LOG_LINE_SIZE_MAX));
        }
        let lines = log.find(&LogFilter { least: LogLevel::Trace, part: "", after: 0, count_max: usize::MAX });
        assert_eq!((lines.len(), lines.last().map(|line| line.number)), (LOG_LINES_KEPT_MAX, Some(2)));
        assert_eq!(lines[0].text.chars().count(), LOG_LINE_SIZE_MAX / 2 + 1);
    }
}
