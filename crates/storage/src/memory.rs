//! Memory accounting: a hierarchy of budgets in which requests, queries and indexing batches reserve bytes.
//!
//! ```text
//! Memory (Limits.MemoryInMb) ─┬► share of bodies (Limits.BodiesInMb) ──────────┬─► reservations: one for each structure that grows
//!                             └► part of one request (Limits.RequestMemoryInMb) ┘
//! ```
//!
//! A structure that may grow large has a [`MemoryReservation`] and extends it before it grows. The reservation takes the bytes from its
//! [`Memory`] and from all memories above, or fails with the name of the limit that would be exceeded. Dropping it returns the
//! bytes. The first [`UNCOUNTED_SIZE`] bytes of a reservation are free, so that small work touches no shared cache line.
//!
//! Invariant: a memory's `held` is the sum of the sizes of its reservations and of those of its parts.

use crate::error::{Error, Result};
use crate::limits::{MEMORY_STEP, UNCOUNTED_SIZE};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// Bytes that may be held together, and bytes that are.
#[derive(Debug)]
pub struct Memory {
    limit: &'static str,
    held: AtomicUsize,
    max: usize,
    parent: Option<Arc<Memory>>,
    /// True if many use it: what is refused now may fit later.
    is_shared: bool,
}

/// A reservation that grows; dropping it returns its bytes.
#[derive(Debug)]
pub struct MemoryReservation {
    memory: Arc<Memory>,
    /// Bytes reserved; 0, or more than [`UNCOUNTED_SIZE`].
    size: usize,
}

impl Memory {
    /// A memory of its own.
    ///
    /// * `limit`: the setting that names the bound, for errors; `max`: the bound, in bytes.
    pub fn new(limit: &'static str, max: usize) -> Arc<Memory> {
        Arc::new(Memory { limit, held: AtomicUsize::new(0), max, parent: None, is_shared: true })
    }

    /// The memory without a bound that work uses where no request waits for it: tools, tests.
    pub fn unbounded() -> Arc<Memory> {
        static UNBOUNDED: OnceLock<Arc<Memory>> = OnceLock::new();
        UNBOUNDED.get_or_init(|| Memory::new("none", usize::MAX)).clone()
    }

    /// The part of one request, with a bound of its own. Its reservations count here too.
    pub fn part(self: &Arc<Self>, limit: &'static str, max: usize) -> Arc<Memory> {
        let parent = Some(self.clone());
        Arc::new(Memory { limit, held: AtomicUsize::new(0), max, parent, is_shared: false })
    }

    /// A share of this memory for one kind of work, so that it leaves the rest to other kinds.
    pub fn share(self: &Arc<Self>, limit: &'static str, max: usize) -> Arc<Memory> {
        let parent = Some(self.clone());
        Arc::new(Memory { limit, held: AtomicUsize::new(0), max, parent, is_shared: true })
    }

    /// An empty reservation.
    pub fn reservation(self: &Arc<Self>) -> MemoryReservation {
        MemoryReservation { memory: self.clone(), size: 0 }
    }

    /// A reservation for bytes that exist already; it succeeds even if it exceeds the bound.
    pub fn reservation_of(self: &Arc<Self>, size: usize) -> MemoryReservation {
        let mut reservation = self.reservation();
        if size > UNCOUNTED_SIZE {
            let mut memory = Some(self);
            while let Some(Memory { held, parent, .. }) = memory.map(|memory| &**memory) {
                held.fetch_add(size, Relaxed);
                memory = parent.as_ref();
            }
            reservation.size = size;
        }
        reservation
    }

    /// Bytes reserved now.
    pub fn held(&self) -> usize {
        self.held.load(Relaxed)
    }

    fn reserve(&self, more: usize) -> Result<()> {
        if self.held.fetch_add(more, Relaxed).saturating_add(more) > self.max {
            self.held.fetch_sub(more, Relaxed);
            return Err(Error::OverMemory { limit: self.limit, max_mb: self.max >> 20, passes: self.is_shared });
        }
        match &self.parent {
            None => Ok(()),
            Some(parent) => parent.reserve(more).inspect_err(|_| _ = self.held.fetch_sub(more, Relaxed)),
        }
    }

    fn release(&self, size: usize) {
        self.held.fetch_sub(size, Relaxed);
        if let Some(parent) = &self.parent {
            parent.release(size);
        }
    }
}

impl MemoryReservation {
    /// Grows to `size` bytes in all, unless it has them. It reserves more than asked for, so that most calls only compare.
    ///
    /// # Errors
    ///
    /// [`Error::OverMemory`] if a memory's bound would be exceeded. The reservation stays as it is.
    #[inline]
    pub fn grow(&mut self, size: usize) -> Result<()> {
        if size <= UNCOUNTED_SIZE || size <= self.size { Ok(()) } else { self.reserve(size) }
    }

    #[cold]
    fn reserve(&mut self, size: usize) -> Result<()> {
        let rounded = size.saturating_add(size / 8).checked_next_multiple_of(MEMORY_STEP).unwrap_or(usize::MAX);
        // Near the bound the exact size may fit where the rounded one does not.
        if self.memory.reserve(rounded - self.size).is_ok() {
            self.size = rounded;
            return Ok(());
        }
        self.memory.reserve(size - self.size)?;
        self.size = size;
        Ok(())
    }

    /// Bytes reserved now.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the bytes above `size`, if it has more.
    pub fn shrink(&mut self, size: usize) {
        let kept = if size <= UNCOUNTED_SIZE { 0 } else { size };
        if kept < self.size {
            self.memory.release(self.size - kept);
            self.size = kept;
        }
    }

    /// Returns all bytes.
    pub fn clear(&mut self) {
        if self.size > 0 {
            self.memory.release(self.size);
            self.size = 0;
        }
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn rooms_together_stay_below_the_bound_and_return_their_bytes() {
        let memory = Memory::new("Limits.Test", MIB);
        let mut first = memory.reservation();
        first.grow(700 << 10).unwrap();
        first.grow(UNCOUNTED_SIZE).unwrap();
        let mut second = memory.reservation();
        second.grow(UNCOUNTED_SIZE).unwrap();
        let refused = second.grow(400 << 10).unwrap_err();
        assert!(refused.passes(), "{refused}");
        assert!(refused.to_string().contains("Limits.Test = 1"), "{refused}");
        drop(first);
        second.grow(400 << 10).unwrap();
        drop(second);
        assert_eq!(memory.held(), 0);
    }

    #[test]
    fn the_exact_size_fits_where_the_rounded_one_does_not() {
        let memory = Memory::new("Limits.Test", MIB);
        let mut reservation = memory.reservation();
        reservation.grow(MIB).unwrap();
        assert_eq!(memory.held(), MIB);
        reservation.grow(MIB + 1).unwrap_err();
        assert_eq!(memory.held(), MIB);
    }

    #[test]
    fn a_reservation_shrinks_to_what_was_used() {
        let memory = Memory::new("Limits.Whole", 2 * MIB);
        let share = memory.share("Limits.Share", MIB);
        let mut reservation = share.reservation();
        reservation.grow(MIB).unwrap();
        reservation.shrink(300 << 10);
        assert_eq!((memory.held(), share.held(), reservation.size()), (300 << 10, 300 << 10, 300 << 10));
        reservation.shrink(400 << 10);
        assert_eq!(share.held(), 300 << 10, "it does not grow");
        reservation.shrink(UNCOUNTED_SIZE);
        assert_eq!((memory.held(), share.held(), reservation.size()), (0, 0, 0));
    }

    #[test]
    fn a_part_has_a_bound_of_its_own_and_counts_in_the_whole() {
        let memory = Memory::new("Limits.Whole", 2 * MIB);
        let part = memory.part("Limits.Part", MIB);
        let mut reservation = part.reservation();
        let refused = reservation.grow(MIB + 1).unwrap_err();
        assert!(!refused.passes() && refused.to_string().contains("Limits.Part = 1"), "{refused}");
        assert_eq!((memory.held(), part.held()), (0, 0));
        reservation.grow(MIB).unwrap();
        let others = memory.reservation_of(2 * MIB);
        let refused = memory.part("Limits.Part", MIB).reservation().grow(MIB).unwrap_err();
        assert!(refused.passes() && refused.to_string().contains("Limits.Whole = 2"), "{refused}");
        drop((reservation, others));
        assert_eq!((memory.held(), part.held()), (0, 0));
    }
}
