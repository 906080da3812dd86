//! The level of the log while the server runs: what was set at the start, and what is in force.

use std::fmt;

use parking_lot::Mutex;

use super::recent_log::LogLevel;

/// The least level of the lines that the log has; `None`: it has none.
pub type LogThreshold = Option<LogLevel>;

/// Lets requests read and change the level of the log. The program that starts the log makes it.
pub struct LogControl {
    at_start: LogThreshold,
    now: Mutex<LogThreshold>,
    apply: Box<dyn Fn(LogThreshold) + Send + Sync>,
}

impl LogControl {
    /// * `at_start`: the level that is in force now, and was set.
    /// * `apply`: makes the log have another one. It may be called from several threads, one after another.
    pub fn new(at_start: LogThreshold, apply: impl Fn(LogThreshold) + Send + Sync + 'static) -> LogControl {
        LogControl { at_start, now: Mutex::new(at_start), apply: Box::new(apply) }
    }

    pub(crate) fn at_start(&self) -> LogThreshold {
        self.at_start
    }

    pub(crate) fn now(&self) -> LogThreshold {
        *self.now.lock()
    }

    /// Puts another level into force; gives the one before.
    pub(crate) fn set(&self, level: LogThreshold) -> LogThreshold {
        let mut now = self.now.lock();
        (self.apply)(level);
        std::mem::replace(&mut *now, level)
    }
}

/// Without a log: levels are kept, and have no effect.
impl Default for LogControl {
    fn default() -> LogControl {
        LogControl::new(Some(LogLevel::Info), |_| ())
    }
}

impl fmt::Debug for LogControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogControl").field("at_start", &self.at_start).field("now", &self.now()).finish_non_exhaustive()
    }
}
