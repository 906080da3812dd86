//! The bound of what waits in one database to be written.
//!
//! The queue itself is the storage's; here is counted what is in it, and refused what would be too much.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::{Error, Limits, Result};

#[derive(Debug, Default)]
pub(crate) struct Queue {
    size: AtomicUsize,
    count: AtomicUsize,
}

impl Queue {
    /// Takes a place for `size` bytes; [`leave`](Self::leave) gives it back. A batch larger than the limit goes in alone.
    pub fn enter(&self, name: &str, size: usize, limits: &Limits) -> Result<()> {
        let (size_before, count_before) = (self.size.fetch_add(size, Relaxed), self.count.fetch_add(1, Relaxed));
        let busy = |what, limit| Error::Busy { name: name.to_owned(), what, limit };
        let refused = if count_before >= limits.queued_batches_count_max {
            busy(format!("{count_before} batches"), "queued_batches_count_max")
        } else if size_before > 0 && size_before.saturating_add(size) > limits.queued_batches_size_max {
            busy(format!("{size_before} bytes"), "queued_batches_size_max")
        } else {
            return Ok(());
        };
        self.leave(size);
        Err(refused)
    }

    pub fn leave(&self, size: usize) {
        self.size.fetch_sub(size, Relaxed);
        self.count.fetch_sub(1, Relaxed);
    }

    /// Batches that wait or run.
    pub fn count(&self) -> usize {
        self.count.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_refuses_and_recovers() {
        let limits = Limits { queued_batches_size_max: 100, queued_batches_count_max: 3, ..Limits::default() };
        let queue = Queue::default();
        assert!(queue.enter("x", 1000, &limits).is_ok());
        assert!(matches!(queue.enter("x", 1, &limits), Err(Error::Busy { limit: "queued_batches_size_max", .. })));
        queue.leave(1000);
        (0..3).for_each(|_| assert!(queue.enter("x", 10, &limits).is_ok()));
        assert!(matches!(queue.enter("x", 10, &limits), Err(Error::Busy { limit: "queued_batches_count_max", .. })));
        assert_eq!((queue.size.load(Relaxed), queue.count()), (30, 3));
    }
}
