//! The least of many items, without keeping the others: a page of what is found.

use std::collections::BinaryHeap;

/// The least `count_max` items of those that were pushed.
pub(super) struct Best<T> {
    /// The greatest of them is at the top.
    heap: BinaryHeap<T>,
    count_max: usize,
}

impl<T: Ord> Best<T> {
    pub fn new(count_max: usize) -> Best<T> {
        Best { heap: BinaryHeap::new(), count_max }
    }

    pub fn push(&mut self, item: T) {
        if self.heap.len() < self.count_max {
            self.heap.push(item);
        } else if let Some(mut last) = self.heap.peek_mut()
            && item < *last
        {
            *last = item;
        }
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
