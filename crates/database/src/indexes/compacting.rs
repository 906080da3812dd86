//! The compaction of an open index: it takes no turn while it is copied, and queries go on with what it has.
//!
//! The copy is opened as another [`Index`], which takes the place of the one before. Who still reads that goes on; who waits for it is
//! woken and finds the other one.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use documents::Etag;
use parking_lot::MutexGuard;

use super::open::Index;
use super::registry::Indexes;
use crate::Result;
use crate::compaction::{Copy, Step};

/// What became of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IndexCompaction {
    /// Another one with the copy has taken its place.
    Replaced,
    /// The copy was not smaller, and is gone.
    Dense,
    /// It is as it was, for a reason.
    Skipped(String),
    /// It was cut short.
    Canceled,
}

/// An index that takes no turn. Dropped, it takes turns again.
struct StoppedIndex<'i> {
    indexes: &'i Indexes,
    index: &'i Arc<Index>,
    turn: Option<MutexGuard<'i, ()>>,
}

impl<'i> StoppedIndex<'i> {
    /// Waits until the turn that runs has ended.
    fn new(indexes: &'i Indexes, index: &'i Arc<Index>) -> StoppedIndex<'i> {
        index.is_compacted.store(true, SeqCst);
        StoppedIndex { indexes, index, turn: Some(index.turn.lock()) }
    }
}

impl Drop for StoppedIndex<'_> {
    fn drop(&mut self) {
        self.index.is_compacted.store(false, SeqCst);
        self.turn = None;
        if !self.index.is_removed() {
            self.indexes.give_turn(self.index);
        }
    }
}

impl Indexes {
    /// Compacts an index. Takes long.
    ///
    /// * `goes_on`: called once in a while; false ends the work, and the index stays as it is.
    ///
    /// # Errors
    ///
    /// [`Error::NoRoom`](crate::Error::NoRoom); storage fails. The index is as it was.
    pub(crate) fn compact(&self, index: &Arc<Index>, goes_on: &mut dyn FnMut(Step) -> bool) -> Result<IndexCompaction> {
        if index.failure().is_some() {
            let reason = format!("The index '{}' failed. Reset it; it is built anew then, densely", index.name());
            return Ok(IndexCompaction::Skipped(reason));
        }
        let _stopped = StoppedIndex::new(self, index);
        let store = index.store()?;
        let _held = store.hold();
        let Some(copy) = Copy::of_index(store, index.name(), &mut |step| goes_on(step) && !index.is_removed())? else {
            return Ok(if index.is_removed() { gone(index) } else { IndexCompaction::Canceled });
        };
        if !copy.is_smaller() {
            return Ok(IndexCompaction::Dense);
        }
        let _changing = self.changing.lock();
        if !self.open.load().iter().any(|open| Arc::ptr_eq(open, index)) {
            return Ok(gone(index));
        }
        let put = copy.put_in_place(store.environment());
        store.environment().release();
        // It is opened again in any case: the one before takes no batches any more.
        let opened = self.open_stored(index.stored(), Etag::MAX);
        let outcome = match opened {
            Ok(mut anew) => {
                if let Some(anew) = Arc::get_mut(&mut anew) {
                    anew.go_on_from(index);
                }
                self.change_open(|open| {
                    open.retain(|other| !Arc::ptr_eq(other, index));
                    open.push(anew.clone());
                });
                self.give_turn(&anew);
                put.map(|()| IndexCompaction::Replaced)
            }
            Err(error) => {
                // Maintenance tries again.
                self.lacks_some.store(true, SeqCst);
                self.change_open(|open| open.retain(|other| !Arc::ptr_eq(other, index)));
                put.and(Err(error))
            }
        };
        // Who waits for it looks for the other one now.
        index.give_way();
        outcome
    }
}

fn gone(index: &Index) -> IndexCompaction {
    IndexCompaction::Skipped(format!("The index '{}' was deleted or replaced meanwhile", index.name()))
}
