//! Waiters: callers that wait until an index has processed an etag.

use std::time::{Duration, Instant};

use documents::Etag;

use crate::limits::WAITING_PURGED_FROM;

/// The waiters of one index.
#[derive(Default)]
pub(super) struct Waiters {
    waiting: Vec<Waiter>,
    /// The number of waiters at which timed-out ones are purged.
    purged_at: usize,
}

/// A caller that waits until the index has processed all changes up to an etag.
struct Waiter {
    etag: Etag,
    /// When the wait times out. `None`: never.
    end: Option<Instant>,
    done: WakeUp,
}

/// Call-back that is called when the index has reached the etag.
pub(super) type WakeUp = Box<dyn FnOnce() + Send>;

impl Waiters {
    /// Adds a waiter that times out after `wait`.
    pub fn add(&mut self, etag: Etag, wait: Duration, done: impl FnOnce() + Send + 'static) {
        let now = Instant::now();
        let end = now.checked_add(wait);
        if self.waiting.len() >= self.purged_at {
            self.purge(now);
            // The list may double before the next purge, so that the amortized cost of each waiter is constant.
            self.purged_at = (self.waiting.len() * 2).max(WAITING_PURGED_FROM);
        }
        self.waiting.push(Waiter { etag, end, done: Box::new(done) });
    }

    /// Removes timed-out waiters.
    pub fn purge(&mut self, now: Instant) {
        self.waiting.retain(|waiting| waiting.end.is_none_or(|end| end > now));
    }

    /// Removes the waiters whose etag is reached. Call the call-backs without a lock.
    pub fn take(&mut self, has_come: impl Fn(Etag) -> bool) -> Vec<WakeUp> {
        self.waiting.extract_if(.., |waiting| has_come(waiting.etag)).map(|waiting| waiting.done).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_timed_out_waiters_are_purged() {
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
