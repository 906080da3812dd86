//! Who waits until an index has come so far.

use std::time::{Duration, Instant};

use documents::Etag;

use crate::limits::WAITING_PURGED_FROM;

/// Those who wait for one index.
#[derive(Default)]
pub(super) struct Waiters {
    waiting: Vec<Waiter>,
    /// When there are so many of them, those who gave up go.
    purged_at: usize,
}

/// Somebody who waits until all up to an etag is in it.
struct Waiter {
    etag: Etag,
    /// When nobody waits any more. `None`: beyond the clock.
    end: Option<Instant>,
    done: Done,
}

/// What is called once it has come so far.
pub(super) type Done = Box<dyn FnOnce() + Send>;

impl Waiters {
    /// Adds somebody, who gives up after `wait`.
    pub fn add(&mut self, etag: Etag, wait: Duration, done: impl FnOnce() + Send + 'static) {
        let now = Instant::now();
        let end = now.checked_add(wait);
        if self.waiting.len() >= self.purged_at {
            self.purge(now);
            // As many may come before the next look, so that each costs the same on the average.
            self.purged_at = (self.waiting.len() * 2).max(WAITING_PURGED_FROM);
        }
        self.waiting.push(Waiter { etag, end, done: Box::new(done) });
    }

    /// Forgets those who gave up.
    pub fn purge(&mut self, now: Instant) {
        self.waiting.retain(|waiting| waiting.end.is_none_or(|end| end > now));
    }

    /// Takes those for whom it has come far enough; they are to be called without a lock.
    pub fn take(&mut self, has_come: impl Fn(Etag) -> bool) -> Vec<Done> {
        self.waiting.extract_if(.., |waiting| has_come(waiting.etag)).map(|waiting| waiting.done).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_gave_up_are_forgotten_and_no_others() {
        let mut list = Waiters::default();
        for (etag, wait) in [(1, Duration::ZERO), (2, Duration::from_secs(60)), (3, Duration::MAX)] {
            list.add(etag, wait, || {});
        }
        let now = Instant::now();
        list.purge(now);
        assert_eq!(list.take(|etag| etag < 3).len(), 1);
        list.purge(now + Duration::from_secs(1 << 30));
        assert_eq!(list.take(|_| true).len(), 1, "the one who waits beyond the clock");
    }
}
