//! Turns: a backup has one while it reads its database and compresses it, so that few do so at once, however many backups go on.

use parking_lot::{Condvar, Mutex};

use crate::limits::{BACKUPS_WRITTEN_AT_ONCE_MAX, KILL_CHECK_EVERY};
use crate::{Operation, Result};

/// The turns that are free.
pub(crate) struct Turns {
    free: Mutex<usize>,
    freed: Condvar,
}

impl Default for Turns {
    fn default() -> Turns {
        Turns { free: Mutex::new(BACKUPS_WRITTEN_AT_ONCE_MAX), freed: Condvar::new() }
    }
}

/// A turn, until it is dropped.
pub(crate) struct Turn<'t>(&'t Turns);

impl Turns {
    /// Waits for a turn.
    ///
    /// # Errors
    ///
    /// [`Error::Canceled`]: the operation was killed.
    pub fn take(&self, operation: &Operation) -> Result<Turn<'_>> {
        let mut free = self.free.lock();
        loop {
            operation.check_kill()?;
            if *free > 0 {
                *free -= 1;
                return Ok(Turn(self));
            }
            self.freed.wait_for(&mut free, KILL_CHECK_EVERY);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.free.lock() += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::{Error, Operations};

    #[test]
    fn who_waits_for_a_turn_gets_the_next_one_or_is_killed() {
        let operations = Operations::new(8);
        let start = || operations.start(operations.next_id(), "a backup".to_owned()).unwrap();
        let turns = Turns::default();
        let mut taken: Vec<Turn<'_>> =
            (0..BACKUPS_WRITTEN_AT_ONCE_MAX).map(|_| turns.take(&start()).unwrap()).collect();
        let (waiting, killed) = (start(), start());
        thread::scope(|scope| {
            let killed_turn = scope.spawn(|| turns.take(&killed).map(drop));
            killed.kill();
            assert!(matches!(killed_turn.join().unwrap(), Err(Error::Canceled)));
            let turn = scope.spawn(|| turns.take(&waiting).map(drop));
            drop(taken.pop());
            turn.join().unwrap().unwrap();
        });
        assert_eq!(*turns.free.lock(), BACKUPS_WRITTEN_AT_ONCE_MAX - taken.len());
    }
}
