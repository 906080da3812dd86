//! The least of many items, without keeping the others: a page of what is found.

use crate::index::Error;
use std::collections::BinaryHeap;
use storage::memory::MemoryReservation;

/// The least `count_max` items of those that were pushed.
pub(super) struct Best<T> {
    /// The greatest of them is at the top.
    heap: BinaryHeap<T>,
    count_max: usize,
    reservation: MemoryReservation,
}

impl<T: Ord> Best<T> {
    /// * `reservation`: reserves the memory of the items.
    pub fn new(count_max: usize, reservation: MemoryReservation) -> Best<T> {
        Best { heap: BinaryHeap::new(), count_max, reservation }
    }

    /// Adds an item, unless `count_max` lesser ones are known.
    ///
    /// # Errors
    ///
    /// The reservation is refused.
    pub fn push(&mut self, item: T) -> Result<(), Error> {
        if self.heap.len() < self.count_max {
            if self.heap.len() == self.heap.capacity() {
                self.reservation.grow(2 * size_of::<T>() * (self.heap.len() + 1))?;
            }
            self.heap.push(item);
        } else if let Some(mut last) = self.heap.peek_mut()
            && item < *last
        {
            *last = item;
        }
        Ok(())
    }

    /// What another has to be below. `None`: there is room.
    pub fn last(&self) -> Option<&T> {
        self.heap.peek().filter(|_| self.heap.len() >= self.count_max)
    }

    /// The items, least first.
    pub fn into_sorted(self) -> Vec<T> {
        self.heap.into_sorted_vec()
    }
}
