//! Operations: background jobs that outlive their request; clients poll or watch their state.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use documents::Date;
use parking_lot::Mutex;

use crate::backups::BackupResult;
use crate::check_report::CheckReport;
use crate::compaction::CompactionReport;
use crate::limits::{ENDED_OPERATION_KEPT_SECONDS, OPERATION_QUERY_SIZE_MAX};
use crate::revisions::RevisionsReport;
use crate::smuggler::ItemType;
use crate::{Error, Result, SmugglerResult};

/// Numbers that clients bring along count up to here: JavaScript reads integers up to 2^53.
const GIVEN_ID_MAX: OperationId = 1 << 52;

/// The number of an operation in its database.
pub type OperationId = u64;

/// How far an operation is.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Progress {
    /// Items that are done.
    pub processed: u64,
    /// Items in all; 0 while it is not known.
    pub total: u64,
    /// Transactions so far.
    pub batch_count: u64,
    /// The last document.
    pub last_processed_id: Option<String>,
    /// Documents among the items.
    pub documents_processed: u64,
    /// Operations on counters.
    pub counters_processed: u64,
    /// Attachments.
    pub attachments_processed: u64,
    /// What an export or import has counted.
    pub transfer: Option<Arc<SmugglerResult>>,
    /// How far a change of revisions is.
    pub revisions: Option<Arc<RevisionsReport>>,
    /// How far a compaction is.
    pub compaction: Option<Arc<CompactionReport>>,
}

impl Progress {
    /// That of an export or import, by what it has counted so far.
    pub(crate) fn of_transfer(result: &SmugglerResult) -> Progress {
        Progress {
            processed: result.read_count(),
            documents_processed: result.counts(ItemType::Documents).read,
            transfer: Some(Arc::new(result.clone())),
            ..Progress::default()
        }
    }
}

/// The result of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct OperationResult {
    /// Items that were processed.
    pub total: u64,
    /// Documents among them.
    pub documents_processed: u64,
    /// Operations on counters.
    pub counters_processed: u64,
    /// Attachments.
    pub attachments_processed: u64,
    /// A sentence for people.
    pub message: String,
    /// Per-document results, if requested.
    pub details: Vec<OperationDetail>,
    /// What an export or import counted.
    pub transfer: Option<Arc<SmugglerResult>>,
    /// What a backup came to.
    pub backup: Option<Arc<BackupResult>>,
    /// What a change of revisions came to.
    pub revisions: Option<Arc<RevisionsReport>>,
    /// What a compaction came to.
    pub compaction: Option<Arc<CompactionReport>>,
    /// What a check found.
    pub check: Option<Arc<CheckReport>>,
}

/// The effect of an operation on one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationDetail {
    /// It was patched, or left alone.
    Patched {
        /// Its id.
        id: String,
        /// Its change vector, if it was written.
        change_vector: Option<String>,
        /// What became of it, as clients know it.
        status: &'static str,
    },
    /// It was deleted.
    Deleted {
        /// Its id.
        id: String,
    },
}

/// The status of an operation.
#[derive(Clone, Debug)]
pub enum OperationStatus {
    /// It goes on.
    InProgress,
    /// It is done.
    Completed(OperationResult),
    /// It failed.
    Faulted(Arc<Error>),
    /// It was killed.
    Canceled,
}

/// One operation.
#[derive(Debug)]
pub struct Operation {
    id: OperationId,
    description: String,
    query: Option<String>,
    started_at: Date,
    is_killed: AtomicBool,
    state: Mutex<OperationState>,
}

#[derive(Debug)]
struct OperationState {
    status: OperationStatus,
    progress: Option<Progress>,
    ended_at: Option<Date>,
}

impl Operation {
    /// Its number.
    pub fn id(&self) -> OperationId {
        self.id
    }

    /// A description for people.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The query whose results it works on, or how that begins.
    pub fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    /// When it began.
    pub fn started_at(&self) -> Date {
        self.started_at
    }

    /// When it ended; None while it goes on.
    pub fn ended_at(&self) -> Option<Date> {
        self.state.lock().ended_at
    }

    /// Its status.
    pub fn status(&self) -> OperationStatus {
        self.state.lock().status.clone()
    }

    /// How far it is, or was when it ended; None before it said so.
    pub fn progress(&self) -> Option<Progress> {
        self.state.lock().progress.clone()
    }

    /// Says how far it is.
    pub fn set_progress(&self, progress: Progress) {
        self.state.lock().progress = Some(progress);
    }

    /// Whether it shall stop. Work asks now and then.
    pub fn is_killed(&self) -> bool {
        self.is_killed.load(Relaxed)
    }

    /// Asks it to stop.
    pub fn kill(&self) {
        self.is_killed.store(true, Relaxed);
    }

    /// # Errors
    ///
    /// [`Error::Canceled`]: it shall stop.
    pub fn check_kill(&self) -> Result<()> {
        if self.is_killed() { Err(Error::Canceled) } else { Ok(()) }
    }

    /// What its work failed with: after a kill [`Error::Canceled`], since what the work waited for then gives up with an error of its own.
    pub fn failure(&self, error: Error) -> Error {
        if self.is_killed() { Error::Canceled } else { error }
    }

    /// Ends it. The first end counts.
    pub fn end(&self, status: OperationStatus) {
        let mut state = self.state.lock();
        if matches!(state.status, OperationStatus::InProgress) {
            state.status = status;
            state.ended_at = Some(Date::now());
        }
    }
}

/// The operations of one database, or of the node.
#[derive(Debug)]
pub struct Operations {
    last_id: AtomicU64,
    ended_count_max: usize,
    known: Mutex<HashMap<OperationId, Arc<Operation>>>,
    /// Why none may begin now. Changed under the lock of `known`.
    refusal: Mutex<Option<String>>,
}

/// While this lives no operation begins.
pub(crate) struct NoOperations<'o>(&'o Operations);

impl Drop for NoOperations<'_> {
    fn drop(&mut self) {
        *self.0.refusal.lock() = None;
    }
}

impl Operations {
    pub(crate) fn new(ended_count_max: usize) -> Operations {
        Operations { last_id: AtomicU64::new(0), ended_count_max, known: Mutex::default(), refusal: Mutex::default() }
    }

    /// Lets no operation begin from now on.
    ///
    /// * `reason`: a sentence for those who try.
    ///
    /// # Errors
    ///
    /// The operation that goes on.
    pub(crate) fn refuse_all(&self, reason: String) -> std::result::Result<NoOperations<'_>, Arc<Operation>> {
        let known = self.known.lock();
        let running = known.values().find(|operation| matches!(operation.status(), OperationStatus::InProgress));
        if let Some(running) = running {
            return Err(running.clone());
        }
        *self.refusal.lock() = Some(reason);
        Ok(NoOperations(self))
    }

    /// Reserves a number.
    pub fn next_id(&self) -> OperationId {
        self.last_id.fetch_add(1, Relaxed) + 1
    }

    /// Starts an operation under a reserved number.
    ///
    /// # Errors
    ///
    /// [`Error::OperationInUse`] while an operation of that number goes on; [`Error::Occupied`] while the documents of the database are
    /// compacted.
    pub fn start(&self, id: OperationId, description: impl Into<String>) -> Result<Arc<Operation>> {
        self.start_with(id, description.into(), None)
    }

    /// The same for what a query finds; of a long text only the beginning is kept.
    ///
    /// # Errors
    ///
    /// As [`Operations::start`].
    pub fn start_by_query(&self, id: OperationId, description: &str, query: &str) -> Result<Arc<Operation>> {
        let kept = query.floor_char_boundary(OPERATION_QUERY_SIZE_MAX);
        self.start_with(id, description.to_owned(), Some(query[..kept].to_owned()))
    }

    fn start_with(&self, id: OperationId, description: String, query: Option<String>) -> Result<Arc<Operation>> {
        // A number that a client made up must not use up those that all clients can read.
        if id < GIVEN_ID_MAX {
            self.last_id.fetch_max(id, Relaxed);
        }
        let now = Date::now();
        let operation = Arc::new(Operation {
            id,
            description,
            query,
            started_at: now,
            is_killed: AtomicBool::new(false),
            state: Mutex::new(OperationState { status: OperationStatus::InProgress, progress: None, ended_at: None }),
        });
        let mut known = self.known.lock();
        self.clean(&mut known, now);
        if let Some(rule) = self.refusal.lock().clone() {
            return Err(Error::Occupied { rule });
        }
        if known.get(&id).is_some_and(|other| matches!(other.status(), OperationStatus::InProgress)) {
            return Err(Error::OperationInUse { id });
        }
        known.insert(id, operation.clone());
        Ok(operation)
    }

    /// The operation of this number, if it is known.
    pub fn get(&self, id: OperationId) -> Option<Arc<Operation>> {
        self.known.lock().get(&id).cloned()
    }

    /// All that are known, by number.
    pub fn all(&self) -> Vec<Arc<Operation>> {
        let mut all: Vec<_> = self.known.lock().values().cloned().collect();
        all.sort_by_key(|operation| operation.id);
        all
    }

    /// Whether any operation goes on, or ended not long ago.
    pub(crate) fn has_any(&self) -> bool {
        let mut known = self.known.lock();
        self.clean(&mut known, Date::now());
        !known.is_empty()
    }

    /// Forgets what ended long ago, and the oldest of what ended beyond the bound.
    fn clean(&self, known: &mut HashMap<OperationId, Arc<Operation>>, now: Date) {
        let kept = Duration::from_secs(ENDED_OPERATION_KEPT_SECONDS);
        let ended_at = |operation: &Operation| operation.state.lock().ended_at;
        known.retain(|_, operation| ended_at(operation).is_none_or(|at| now.since(at) < kept));
        let mut ended: Vec<(Date, OperationId)> =
            known.values().filter_map(|operation| Some((ended_at(operation)?, operation.id))).collect();
        if ended.len() > self.ended_count_max {
            ended.sort_unstable();
            let excess = ended.len() - self.ended_count_max;
            ended.iter().take(excess).for_each(|(_, id)| drop(known.remove(id)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_kept_up_to_a_bound() {
        let operations = Operations::new(2);
        for _ in 0..10 {
            let operation = operations.start(operations.next_id(), "x").unwrap();
            operation.end(OperationStatus::Completed(OperationResult::default()));
        }
        let running = operations.start(operations.next_id(), "y").unwrap();
        assert!(matches!(operations.start(running.id(), "z"), Err(Error::OperationInUse { id: 11 })));
        assert_eq!(operations.all().len(), 3);
        running.kill();
        assert!(running.is_killed() && operations.get(1).is_none() && operations.get(11).is_some());
        running.end(OperationStatus::Canceled);
        running.end(OperationStatus::Completed(OperationResult::default()));
        assert!(matches!(running.status(), OperationStatus::Canceled));
        // A long query is kept as far as its last whole character.
        let long = operations.start_by_query(12, "q", &format!("a{}", "ü".repeat(OPERATION_QUERY_SIZE_MAX))).unwrap();
        assert_eq!(long.query().unwrap().len(), OPERATION_QUERY_SIZE_MAX - 1);
        // A number is free again when its operation has ended.
        assert_eq!(operations.start(running.id(), "z").unwrap().description(), "z");
    }
}
