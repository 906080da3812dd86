//! How many lines of one kind the log gets: so many in a window of time, and then the number of those that were left out.

use std::time::{Duration, Instant};

/// Bounds the lines of one kind.
#[derive(Debug)]
pub(crate) struct LogBudget {
    window: Duration,
    lines_max: u32,
    /// When the window began; `None`: no line yet.
    began: Option<Instant>,
    lines: u32,
    left_out: u64,
}

impl LogBudget {
    /// * `lines_max`: in each `window`.
    pub(crate) fn new(lines_max: u32, window: Duration) -> LogBudget {
        LogBudget { window, lines_max, began: None, lines: 0, left_out: 0 }
    }

    /// Asks for one line. `Some`: it may be written, with the number of lines that were left out since the last one.
    pub(crate) fn take(&mut self, now: Instant) -> Option<u64> {
        if self.began.is_none_or(|began| now.saturating_duration_since(began) >= self.window) {
            self.began = Some(now);
            self.lines = 0;
        }
        if self.lines == self.lines_max {
            self.left_out += 1;
            return None;
        }
        self.lines += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_its_lines_and_the_next_says_how_many_were_left_out() {
        let (start, window) = (Instant::now(), Duration::from_secs(60));
        let mut budget = LogBudget::new(2, window);
        assert_eq!((budget.take(start), budget.take(start)), (Some(0), Some(0)));
        assert_eq!((budget.take(start), budget.take(start + window / 2)), (None, None));
        assert_eq!(budget.take(start + window), Some(2));
        assert_eq!((budget.take(start + window), budget.take(start + window)), (Some(0), None));
    }
}
