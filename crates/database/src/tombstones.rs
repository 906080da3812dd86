//! Cleaning of tombstones, and deletion of whole collections, in transactions of bounded size.
//!
//! A tombstone is needed until every consumer of changes has read it. Consumers register as [`TombstoneHolder`]. A cleaning removes
//! only tombstones that the previous cleaning has already seen, so that each one stays visible for a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use documents::limits::{DELETE_BY_COLLECTION_COUNT_MAX, TOMBSTONE_CLEANING_COUNT_MAX};
use documents::{Date, Etag, Write};
use parking_lot::RwLock;

use crate::{Database, Error, Operation, Progress, Result};

/// Somebody who pulls changes: an index, a subscription, a replica.
pub trait TombstoneHolder: Send + Sync {
    /// The etag up to which it has seen everything, durably.
    fn seen_etag(&self) -> Etag;
}

/// Keeps all tombstones of a database until it is dropped.
pub(crate) struct TombstonesKept<'d> {
    database: &'d Database,
    keeper: Arc<dyn TombstoneHolder>,
}

impl<'d> TombstonesKept<'d> {
    pub fn of(database: &'d Database) -> TombstonesKept<'d> {
        let keeper: Arc<dyn TombstoneHolder> = Arc::new(KeepsAll);
        database.add_tombstone_holder(keeper.clone());
        TombstonesKept { database, keeper }
    }
}

impl Drop for TombstonesKept<'_> {
    fn drop(&mut self) {
        self.database.remove_tombstone_holder(&self.keeper);
    }
}

struct KeepsAll;

impl TombstoneHolder for KeepsAll {
    fn seen_etag(&self) -> Etag {
        0
    }
}

/// The consumers of tombstones, and the low-water mark of the next cleaning.
#[derive(Default)]
pub(crate) struct TombstoneCleaning {
    holders: RwLock<Vec<Arc<dyn TombstoneHolder>>>,
    /// The last etag at the time of the last cleaning.
    last_etag: AtomicU64,
}

impl TombstoneCleaning {
    pub fn is_without_holders(&self) -> bool {
        self.holders.read().is_empty()
    }
}

impl Database {
    /// Keeps tombstones until `holder` has seen them.
    pub fn add_tombstone_holder(&self, holder: Arc<dyn TombstoneHolder>) {
        self.tombstone_cleaning().holders.write().push(holder);
    }

    /// Ends that.
    pub fn remove_tombstone_holder(&self, holder: &Arc<dyn TombstoneHolder>) {
        self.tombstone_cleaning().holders.write().retain(|other| !Arc::ptr_eq(other, holder));
    }

    /// Removes the tombstones that all consumers have read; returns their number. Call it every few minutes.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn clean_unneeded_tombstones(&self) -> Result<u64> {
        self.clean_tombstones_seen(None, Date::now())
    }

    /// The same beside one consumer more, which has seen everything up to an etag.
    ///
    /// * `now`: by the clock of the node.
    pub(crate) fn clean_tombstones_seen(&self, also: Option<Etag>, now: Date) -> Result<u64> {
        // Housekeeping of all databases does not wait for the compaction of one.
        if self.gate.is_shut() {
            return Ok(0);
        }
        let cleaning = self.tombstone_cleaning();
        let (last_etag, tombstone_count) = {
            let statistics = self.read().statistics()?;
            (statistics.last_etag, statistics.counts.total().tombstone_count)
        };
        let before = cleaning.last_etag.swap(last_etag, Relaxed);
        // Asked without the lock.
        let holders = cleaning.holders.read().clone();
        let of_cursors = self.feed_cursors_seen(now)?;
        let seen = holders.iter().map(|holder| holder.seen_etag()).chain(also).chain(of_cursors).min();
        let etag = seen.map_or(before, |seen| seen.min(before));
        if etag == 0 || tombstone_count == 0 {
            return Ok(0);
        }
        // Asked last: those that have something to flush do it.
        let etag = self.indexes().seen_etag()?.map_or(etag, |seen| seen.min(etag));
        if etag == 0 { Ok(0) } else { self.clean_tombstones(etag) }
    }

    /// Removes tombstones up to `etag`, which everyone who pulls changes has seen; gives how many.
    ///
    /// # Errors
    ///
    /// Storage fails; what was removed before stays removed.
    pub fn clean_tombstones(&self, etag: Etag) -> Result<u64> {
        let mut removed = 0;
        loop {
            let write = Write::CleanTombstones { etag, count_max: TOMBSTONE_CLEANING_COUNT_MAX };
            let count = self.write_blocking(&write)?.count()?;
            removed += count;
            if count < TOMBSTONE_CLEANING_COUNT_MAX as u64 {
                return Ok(removed);
            }
        }
    }

    /// Deletes the documents that a collection has now; gives how many. Those written meanwhile stay.
    ///
    /// # Errors
    ///
    /// Storage fails, or the operation is killed; what was deleted before stays deleted.
    pub fn delete_collection(&self, name: &str, operation: Option<&Operation>) -> Result<u64> {
        let (etag, total) = {
            let snapshot = self.read();
            (snapshot.last_etag()?, snapshot.collection(name)?.map_or(0, |collection| collection.documents().count))
        };
        let mut progress = Progress { total, ..Progress::default() };
        let write = Write::DeleteCollection { name: name.to_owned(), etag, count_max: DELETE_BY_COLLECTION_COUNT_MAX };
        loop {
            if operation.is_some_and(Operation::is_killed) {
                return Err(Error::Canceled);
            }
            let count = self.write_blocking(&write)?.count()?;
            progress.processed += count;
            progress.documents_processed += count;
            progress.batch_count += 1;
            if let Some(operation) = operation {
                operation.set_progress(progress.clone());
            }
            if count < DELETE_BY_COLLECTION_COUNT_MAX as u64 {
                return Ok(progress.processed);
            }
        }
    }
}
