//! Cleaning of tombstones, and deletion of whole collections, in transactions of bounded size.

use documents::Etag;
use documents::limits::{DELETE_BY_COLLECTION_COUNT_MAX, TOMBSTONE_CLEANING_COUNT_MAX};

use crate::{Database, Error, Operation, Progress, Result};

impl Database {
    /// Removes tombstones up to `etag`, which everyone who pulls changes has seen; gives how many.
    ///
    /// # Errors
    ///
    /// Storage fails; what was removed before stays removed.
    pub fn clean_tombstones(&self, etag: Etag) -> Result<u64> {
        let mut removed = 0;
        loop {
            let count = self.write(0, |writing| writing.clean_tombstones(etag, TOMBSTONE_CLEANING_COUNT_MAX))?;
            removed += count as u64;
            if count < TOMBSTONE_CLEANING_COUNT_MAX {
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
        let etag = self.read().last_etag()?;
        let total = self.read().collection(name)?.map_or(0, |collection| collection.document_count);
        let mut progress = Progress { total, ..Progress::default() };
        loop {
            if operation.is_some_and(Operation::is_killed) {
                return Err(Error::Canceled);
            }
            let count =
                self.write(0, |writing| writing.delete_collection(name, etag, DELETE_BY_COLLECTION_COUNT_MAX))?;
            progress.processed += count as u64;
            progress.documents_processed += count as u64;
            progress.batch_count += 1;
            if let Some(operation) = operation {
                operation.set_progress(progress.clone());
            }
            if count < DELETE_BY_COLLECTION_COUNT_MAX {
                return Ok(progress.processed);
            }
        }
    }
}
