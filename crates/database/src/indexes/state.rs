//! The mutable state of an open index, and its statistics.

use std::collections::VecDeque;
use std::time::Duration;

use documents::{Date, Etag};
use parking_lot::MutexGuard;
use query::definition::IndexSettings;
use query::index::Progress;
use query::indexing::BatchResult;

use super::speed::Speed;
use super::waiters::Waiters;
use crate::limits::{FAILURES_JUDGED_FROM, FAILURES_ONE_IN, INDEXING_BATCHES_KEPT_MAX};

/// The mutable state of an open index.
#[derive(Default)]
pub(super) struct IndexState {
    /// Of each source.
    pub progress: Vec<Progress>,
    /// All that was written up to this etag is in it.
    pub indexed_to: Etag,
    /// Whether it once had all that there was.
    pub was_complete: bool,
    pub waiting: Waiters,
    /// Whether nothing is indexed for now, because the database is closed.
    pub is_resting: bool,
    /// Whether nothing is indexed until somebody starts it, or the server.
    pub is_paused: bool,
    pub settings: IndexSettings,
    /// Why nothing is indexed any more.
    pub failure: Option<query::index::Error>,
    pub last_indexed: Option<Date>,
    pub indexed_count: u64,
    pub speed: Speed,
    /// Of its batches since it was opened.
    pub indexing_time: Duration,
    pub failed_count: u64,
    /// The last ones, the oldest first.
    pub batches: VecDeque<IndexingBatch>,
    /// Those that were written since the index was opened.
    pub batch_count: u64,
    /// Whether documents of its source have no entry, although all that was written is in it.
    pub lacks_documents: bool,
}

/// Whether an index is kept up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexingStatus {
    /// It is.
    Running,
    /// Not for now: somebody stopped it, or it failed.
    Paused,
    /// Not until it is enabled.
    Disabled,
}

/// Counts and dates of an index.
#[derive(Clone, Debug, Default)]
pub struct IndexStatistics {
    /// Entries.
    pub entry_count: u64,
    /// How far it is with each of its sources.
    pub progress: Vec<Progress>,
    /// Documents that it took, or failed to take, since it was built.
    pub indexed_count: u64,
    /// Documents that it took a second, the mean of the last minute.
    pub indexed_per_second: f64,
    /// The time of its batches since it was opened.
    pub indexing_time: Duration,
    /// Documents that it could not take since then.
    pub failed_count: u64,
    /// Errors that are kept of it.
    pub error_count: u64,
    /// When it last took something, since then.
    pub last_indexed: Option<Date>,
    /// The time of the last query.
    pub last_query: Option<Date>,
}

/// A batch that an index wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexingBatch {
    /// Its number since the index was opened, from 1.
    pub number: u64,
    /// When it was written.
    pub completed: Date,
    /// From the batch before, or from the beginning of the turn, until it was written.
    pub duration: Duration,
    /// Documents that it took, or failed to take.
    pub indexed: u64,
    /// Documents that it could not take.
    pub failed: u64,
    /// Entries that it wrote.
    pub entries: u64,
    /// Deleted documents whose entries it removed.
    pub removed: u64,
}

/// Calls those that wait for what has come, without the lock.
pub(super) fn wake(mut state: MutexGuard<'_, IndexState>, has_come: impl Fn(Etag) -> bool) {
    let called = state.waiting.take(has_come);
    drop(state);
    called.into_iter().for_each(|done| done());
}

/// Calls those that wait for an index that was stopped or disabled: it does not move.
pub(super) fn wake_if_stopped(state: MutexGuard<'_, IndexState>) {
    if !state.is_running() {
        wake(state, |_| true);
    }
}

impl IndexState {
    pub fn is_running(&self) -> bool {
        self.failure.is_none() && !self.is_paused && !self.settings.is_disabled
    }

    /// Takes over what is not stored of an index whose contents it has.
    pub fn go_on_from(&mut self, other: &IndexState) {
        // It has not if it could not be copied, and its last batches could not be written either.
        if self.progress == other.progress {
            self.indexed_to = other.indexed_to;
            self.was_complete = other.was_complete;
            self.lacks_documents = other.lacks_documents;
        }
        self.is_resting = other.is_resting;
        self.is_paused = other.is_paused;
        self.speed = other.speed.clone();
        self.indexing_time = other.indexing_time;
        self.batches = other.batches.clone();
        self.batch_count = other.batch_count;
    }

    /// Keeps what a batch came to, in place of the oldest one.
    pub fn add_batch(&mut self, step: &BatchResult, duration: Duration) {
        if step.indexed + step.removed == 0 {
            return;
        }
        self.batch_count += 1;
        if self.batches.len() == INDEXING_BATCHES_KEPT_MAX {
            self.batches.pop_front();
        }
        self.batches.push_back(IndexingBatch {
            number: self.batch_count,
            completed: Date::now(),
            duration,
            indexed: step.indexed,
            failed: step.failed_count(),
            entries: step.entries,
            removed: step.removed,
        });
    }

    /// Why it stops, if too many of the documents that it was given failed.
    pub fn too_many_failures(&self) -> Option<query::index::Error> {
        let (failed, attempted) = (self.failed_count, self.indexed_count);
        let is_too_many = attempted >= FAILURES_JUDGED_FROM && failed.saturating_mul(FAILURES_ONE_IN) > attempted;
        is_too_many.then_some(query::index::Error::TooManyFailures { failed, attempted })
    }
}
