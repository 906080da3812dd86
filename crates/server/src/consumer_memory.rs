//! Memory of consumers: pages of change feeds and batches of subscriptions, which are made for clients who take them when they like.
//!
//! ```text
//! Limits.MemoryInMb ─► share of consumers (Limits.ConsumersInMb) ─► room for one page or batch: the most it may take, before it is made
//!                                                                   └► what it has come to, until it is sent
//! ```
//!
//! Clients that stall hold the pages that were made for them. Consumers have a share of their own, so that they leave the rest of the
//! memory to requests and queries. A consumer that finds the share full waits in line; it is not refused.
//!
//! Invariant: the pages and batches that exist, or are being made, are together no larger than the share, but for single documents above
//! [`CONSUMER_ITEM_SIZE`] while they are made.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use storage::Error;
use storage::memory::{Memory, MemoryReservation};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use crate::limits::{CONSUMER_MEMORY_RETRY, CONSUMERS_MEMORY};

/// Bytes that one permit stands for.
const STEP: usize = 1 << 10;

/// The share of consumers.
#[derive(Debug)]
pub(crate) struct ConsumerMemory {
    memory: Arc<Memory>,
    /// A permit for each [`STEP`], first come first served. It is never closed.
    free: Arc<Semaphore>,
    /// Permits in all.
    steps: u32,
}

/// Memory for one page or batch. Dropping it returns its bytes.
#[derive(Debug)]
pub(crate) struct Room {
    permits: OwnedSemaphorePermit,
    /// The same bytes in the memory of all requests.
    reservation: MemoryReservation,
    /// Permits that there are.
    steps: u32,
}

/// Bytes with their room.
struct Filled {
    bytes: Vec<u8>,
    _room: Room,
}

impl AsRef<[u8]> for Filled {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

fn steps_of(size: usize) -> u32 {
    u32::try_from(size.div_ceil(STEP)).unwrap_or(u32::MAX)
}

impl ConsumerMemory {
    /// * `memory`: that of all requests, in which this counts too; `size`: bytes of the share.
    pub fn new(memory: &Arc<Memory>, size: usize) -> ConsumerMemory {
        let steps = steps_of(size).max(1);
        ConsumerMemory { memory: memory.clone(), free: Arc::new(Semaphore::new(steps as usize)), steps }
    }

    /// Waits until there is room for a page or batch of `size` bytes, or for all bytes of the share if it has fewer. Rooms are given in the
    /// order in which they were asked for.
    pub async fn room(&self, size: usize) -> Room {
        let steps = steps_of(size).min(self.steps);
        let permits = self.free.clone().acquire_many_owned(steps).await.expect("the semaphore is never closed");
        let mut reservation = self.memory.reservation();
        // Requests hold it, and have no signal for its return.
        while reservation.grow(steps as usize * STEP).is_err() {
            sleep(CONSUMER_MEMORY_RETRY).await;
        }
        Room { permits, reservation, steps: self.steps }
    }

    /// The same with a bound on the time.
    ///
    /// # Errors
    ///
    /// [`Error::OverMemory`]: there was no room in that time.
    pub async fn room_within(&self, size: usize, time: Duration) -> Result<Room, Error> {
        timeout(time, self.room(size)).await.map_err(|_| over_memory(self.steps))
    }
}

fn over_memory(steps: u32) -> Error {
    Error::OverMemory { limit: CONSUMERS_MEMORY, max_mb: (steps as usize * STEP) >> 20, passes: true }
}

impl Room {
    /// Keeps the room for a page or batch that was made, and returns the rest. One that is larger takes more if that is free. One that is
    /// larger than the share needs all of it.
    ///
    /// # Errors
    ///
    /// [`Error::OverMemory`]: it is larger, and others hold the memory. The room stays as it is.
    pub fn fit(&mut self, size: usize) -> Result<(), Error> {
        let (steps, held) =
            (steps_of(size).min(self.steps), u32::try_from(self.permits.num_permits()).unwrap_or(u32::MAX));
        if let Some(missing) = steps.checked_sub(held).filter(|missing| *missing > 0) {
            let more = self.permits.semaphore().clone().try_acquire_many_owned(missing);
            let more = more.map_err(|_| over_memory(self.steps))?;
            self.reservation.grow(size)?;
            self.permits.merge(more);
            return Ok(());
        }
        self.reservation.grow(size)?;
        self.reservation.shrink(size);
        drop(self.permits.split((held - steps) as usize));
        Ok(())
    }

    /// Returns the bytes to the memory of all requests, for a whole answer: those are counted when they are sent.
    pub fn counted_elsewhere(&mut self) {
        self.reservation.clear();
    }

    /// Makes `bytes` shared; the room is free when the last part of them is dropped.
    pub fn fill(self, bytes: Vec<u8>) -> Bytes {
        Bytes::from_owner(Filled { bytes, _room: self })
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    const MIB: usize = 1 << 20;

    /// What a future gives without waiting.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    #[test]
    fn room_is_there_before_a_page_is_made_and_what_it_does_not_use_is_free_again() {
        let memory = Memory::new("Limits.Test", 100 * MIB);
        let consumers = ConsumerMemory::new(&memory, 10 * MIB);
        let mut first = now(consumers.room(8 * MIB)).unwrap();
        assert!(memory.held() >= 8 * MIB);
        assert!(now(consumers.room(8 * MIB)).is_none(), "it waits");
        first.fit(MIB).unwrap();
        assert_eq!(memory.held(), MIB);
        let second = now(consumers.room(8 * MIB)).unwrap();
        let bytes = first.fill(vec![0; MIB]);
        let part = bytes.slice(..10);
        drop((bytes, second));
        assert!(now(consumers.room(10 * MIB)).is_none(), "a part of the page is not sent");
        drop(part);
        let mut whole = now(consumers.room(usize::MAX)).unwrap();
        whole.counted_elsewhere();
        assert_eq!(memory.held(), 0);
        assert!(now(consumers.room(1)).is_none(), "it holds all of the share");
    }

    #[test]
    fn a_page_that_is_larger_than_its_room_takes_what_is_free() {
        let memory = Memory::new("Limits.Test", 100 * MIB);
        let consumers = ConsumerMemory::new(&memory, 10 * MIB);
        let mut room = now(consumers.room(4 * MIB)).unwrap();
        let other = now(consumers.room(4 * MIB)).unwrap();
        room.fit(6 * MIB).unwrap();
        let refused = room.fit(7 * MIB).unwrap_err();
        assert!(refused.passes() && refused.to_string().contains("Limits.ConsumersInMb = 10"), "{refused}");
        drop(other);
        // A document may be larger than the share, and is sent alone.
        room.fit(60 * MIB).unwrap();
        assert!(now(consumers.room(1)).is_none());
        drop(room);
        assert_eq!((memory.held(), consumers.free.available_permits()), (0, consumers.steps as usize));
    }

    #[tokio::test]
    async fn it_waits_for_the_memory_of_requests_and_gives_up_in_time_if_it_is_to() {
        let memory = Memory::new("Limits.Test", 10 * MIB);
        let consumers = ConsumerMemory::new(&memory, 4 * MIB);
        let requests = memory.reservation_of(8 * MIB);
        let refused = consumers.room_within(4 * MIB, Duration::ZERO).await.unwrap_err();
        assert!(refused.passes(), "{refused}");
        assert_eq!(consumers.free.available_permits(), consumers.steps as usize);
        let (room, ()) = tokio::join!(consumers.room(4 * MIB), async { drop(requests) });
        assert!(memory.held() >= 4 * MIB);
        drop(room);
        assert_eq!(memory.held(), 0);
    }
}
