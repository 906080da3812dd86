//! The least of many items, without keeping the others: a page of what is found.

use crate::index::Error;
use std::collections::BinaryHeap;
use storage::memory::Room;

/// The least `count_max` items of those that were pushed.
pub(super) struct Best<T> {
    /// The greatest of them is at the top.
    heap: BinaryHeap<T>,
    count_max: usize,
    room: Room,
}

impl<T: Ord> Best<T> {
    /// * `room`: reserves the memory of the items.
    pub fn new(count_max: usize, room: Room) -> Best<T> {
        Best { heap: BinaryHeap::new(), count_max, room }
    }

    /// Adds an item, unless `count_max` lesser ones are known.
    ///
    /// # Errors
    ///
    /// The room is refused.
    pub fn push(&mut self, item: T) -> Result<(), Error> {
        if self.heap.len() < self.count_max {
            if self.heap.len() == self.heap.capacity() {
                self.room.grow(2 * size_of::<T>() * (self.heap.len() + 1))?;
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
