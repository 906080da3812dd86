//! Backpressure: the bound of the write queue of one database.
//!
//! The queue itself belongs to the storage engine; this module counts its contents. When the queue is full, a non-blocking request is
//! refused and a blocking caller waits. Blocking callers fill at most half of it, so that the other half stays free for requests.

use parking_lot::{Condvar, Mutex};

use crate::{Error, Limits, Result};

#[derive(Debug, Default)]
pub(crate) struct Queue {
    held: Mutex<QueuedBytes>,
    /// Signalled when a write leaves the queue.
    left: Condvar,
}

#[derive(Debug, Default)]
struct QueuedBytes {
    size: usize,
    count: usize,
    /// Threads that wait for a place.
    #[cfg(test)]
    waiting: usize,
}

impl QueuedBytes {
    fn add(&mut self, size: usize) {
        self.size += size;
        self.count += 1;
    }
}

impl Queue {
    /// Takes a place for `size` bytes; [`leave`](Self::leave) gives it back. The limit counts what is there already, so the
    /// last batch may reach beyond it: a large one is not kept out for ever by small ones.
    pub fn enter(&self, name: &str, size: usize, limits: &Limits) -> Result<()> {
        let mut held = self.held.lock();
        let busy = |what, limit| Err(Error::Busy { name: name.to_owned(), what, limit });
        if held.count >= limits.queued_batches_count_max {
            return busy(format!("{} batches", held.count), "queued_batches_count_max");
        }
        if held.size >= limits.queued_batches_size_max {
            return busy(format!("{} bytes", held.size), "queued_batches_size_max");
        }
        held.add(size);
        Ok(())
    }

    /// The same for a thread that may block: waits until there is room.
    pub fn enter_blocking(&self, size: usize, limits: &Limits) {
        let mut held = self.held.lock();
        // Into an empty queue goes one, however small the limits are.
        while held.count > 0
            && (held.count >= limits.queued_batches_count_max / 2 || held.size >= limits.queued_batches_size_max / 2)
        {
            #[cfg(test)]
            (held.waiting += 1);
            self.left.wait(&mut held);
            #[cfg(test)]
            (held.waiting -= 1);
        }
        held.add(size);
    }

    pub fn leave(&self, size: usize) {
        let mut held = self.held.lock();
        held.size -= size;
        held.count -= 1;
        drop(held);
        self.left.notify_all();
    }

    /// Batches that wait or run.
    pub fn count(&self) -> usize {
        self.held.lock().count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    impl Queue {
        /// Whether a thread waits for a place.
        pub fn has_waiting(&self) -> bool {
            self.held.lock().waiting > 0
        }

        fn held(&self) -> (usize, usize) {
            let held = self.held.lock();
            (held.size, held.count)
        }
    }

    fn limits(size: usize, count: usize) -> Limits {
        Limits { queued_batches_size_max: size, queued_batches_count_max: count, ..Limits::default() }
    }

    #[test]
    fn a_full_queue_refuses_and_recovers() {
        let limits = limits(100, 3);
        let queue = Queue::default();
        assert!(queue.enter("x", 1000, &limits).is_ok());
        assert!(matches!(queue.enter("x", 1, &limits), Err(Error::Busy { limit: "queued_batches_size_max", .. })));
        queue.leave(1000);
        (0..3).for_each(|_| assert!(queue.enter("x", 10, &limits).is_ok()));
        assert!(matches!(queue.enter("x", 10, &limits), Err(Error::Busy { limit: "queued_batches_count_max", .. })));
        assert_eq!(queue.held(), (30, 3));
    }

    #[test]
    fn a_large_batch_goes_in_beside_small_ones() {
        let queue = Queue::default();
        assert!(queue.enter("x", 1, &limits(100, 10)).is_ok());
        assert!(queue.enter("x", 1000, &limits(100, 10)).is_ok());
        assert_eq!(queue.held(), (1001, 2));
    }

    #[test]
    fn who_waits_goes_in_when_half_of_it_is_free() {
        let (queue, limits) = (Queue::default(), limits(100, 10));
        (0..3).for_each(|_| queue.enter("x", 30, &limits).unwrap());
        std::thread::scope(|scope| {
            let (sender, entered) = mpsc::channel::<()>();
            scope.spawn(|| {
                queue.enter_blocking(1000, &limits);
                drop(sender);
            });
            queue.leave(30);
            // Others are still taken, but it is more than half full.
            queue.enter("x", 1, &limits).unwrap();
            assert_eq!(entered.try_recv(), Err(mpsc::TryRecvError::Empty));
            queue.leave(30);
            assert_eq!(entered.recv(), Err(mpsc::RecvError));
        });
        assert_eq!(queue.held(), (1031, 3));
        queue.leave(1000);
        queue.leave(30);
        queue.leave(1);
        // However small the limits are.
        queue.enter_blocking(7, &self::limits(0, 0));
    }
}
