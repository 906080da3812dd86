//! The rate of `MaxReadOpsPerSecond`.

use std::time::{Duration, Instant};

use crate::{Operation, Result};

/// Holds back work that is ahead of its rate.
#[derive(Debug)]
pub(crate) struct Pace {
    per_second: Option<u64>,
    began: Instant,
    count: u64,
}

/// How long it sleeps at once, between two looks whether the operation was killed.
const NAP: Duration = Duration::from_millis(50);

impl Pace {
    pub fn new(per_second: Option<u64>) -> Pace {
        Pace { per_second, began: Instant::now(), count: 0 }
    }

    /// Counts one more, and sleeps until it is due.
    ///
    /// # Errors
    ///
    /// [`Error::Canceled`]
    pub fn step(&mut self, operation: &Operation) -> Result<()> {
        let Some(per_second) = self.per_second else { return Ok(()) };
        let due = self.began + Duration::from_secs_f64(self.count as f64 / per_second.max(1) as f64);
        self.count += 1;
        while let Some(left) = due.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            operation.check_kill()?;
            std::thread::sleep(left.min(NAP));
        }
        Ok(())
    }
}
