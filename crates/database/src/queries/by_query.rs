//! Deletion and patch by query: an operation in many transactions.
//!
//! The ids are found in one snapshot (`found_ids.rs`), and no snapshot is held while documents change. A patch changes a document as it is
//! when its turn comes; a deletion leaves documents that were written after it began.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use documents::{Etag, Write};
use query::plan::{Find, Order, Plan, ScriptClause};

use super::deadline::Deadline;
use super::error::QueryError;
use super::found_ids::{FoundIds, IdsRequest};
use super::query::Query;
use super::ready::ReadyIndex;
use crate::limits::{BY_QUERY_BATCH_COUNT, DELETED_IDS_COUNT_MAX, OPERATION_DETAILS_MAX};
use crate::{
    Database, Error, Index, Operation, OperationDetail, OperationResult, OperationStatus, Progress, QueryPatch, Result,
};

/// The longest sleep of an operation with a limited pace, after which it checks whether it was killed.
const NAP: Duration = Duration::from_millis(50);

/// The action on the documents that a query finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByQuery {
    /// They are deleted.
    Delete,
    /// The script of the clause `update` changes them.
    Patch,
}

/// How documents that a query finds are changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByQueryOptions {
    /// True if the index need not have everything that was written before.
    pub allows_stale: bool,
    /// True if the result has an entry for each document, up to the limit `OPERATION_DETAILS_MAX`.
    pub keeps_details: bool,
    /// Documents a second, at most.
    pub per_second: Option<u64>,
    /// How long finding and changing the documents may take together; `None` is without a limit.
    pub run_time: Option<Duration>,
}

impl ByQuery {
    /// A name for people.
    pub fn description(self) -> &'static str {
        match self {
            ByQuery::Delete => "Delete by query",
            ByQuery::Patch => "Patch by query",
        }
    }

    /// Checks that the documents of a query can be changed. The script of a patch is checked by [`Self::check_script`].
    ///
    /// # Errors
    ///
    /// [`QueryError::NotSupported`], [`QueryError::Text`].
    pub fn check(self, query: Query) -> Result<Query, QueryError> {
        let (query, place) = match self {
            ByQuery::Delete => (query.refuse_update()?, "a deletion"),
            ByQuery::Patch => (query.require_update()?, "a patch"),
        };
        let refused = if query.plan.is_explained { Some("'explain'") } else { None };
        match refused.or(query.plan.gives_in_place_of_results()) {
            Some(form) => Err(QueryError::not_supported(format!("{form} in {place}"))),
            None => Ok(query),
        }
    }

    /// Compiles the script of a patch, to refuse a wrong one before anything is done. For threads that may block.
    ///
    /// # Errors
    ///
    /// As [`QueryPatch::of_query`].
    pub fn check_script(self, database: &Database, query: &Query) -> Result<()> {
        match self {
            ByQuery::Delete => Ok(()),
            ByQuery::Patch => QueryPatch::of_query(database, query).map(drop),
        }
    }

    /// Refuses an index whose results are no documents.
    fn check_index(self, ready: Option<&ReadyIndex>) -> Result<(), QueryError> {
        let done = match self {
            ByQuery::Delete => "deleted",
            ByQuery::Patch => "patched",
        };
        let source = match ready.map(|ready| ready.index.definition()) {
            Some(definition) if definition.is_grouped() => "with a reduce",
            Some(definition) if definition.is_of_counters() => "over counters",
            _ => return Ok(()),
        };
        Err(QueryError::Invalid(format!("The results of an index {source} cannot be {done}")))
    }
}

impl Query {
    /// The clause `update`.
    pub(crate) fn update(&self) -> Option<&ScriptClause> {
        self.plan.script.as_ref().filter(|_| self.is_update())
    }
}

impl<'d> QueryPatch<'d> {
    /// Compiles the clause `update` of a query.
    ///
    /// # Errors
    ///
    /// [`QueryError::Text`]: the script is no JavaScript, or there is none.
    pub fn of_query(database: &'d Database, query: &'d Query) -> Result<QueryPatch<'d>> {
        let wrong = |message| QueryError::Text { message, query: query.text.clone(), is_grammar: false };
        let update = query.update().ok_or_else(|| wrong("Update operations must end with UPDATE clause".to_owned()))?;
        QueryPatch::new(database, update).map_err(|error| match error {
            Error::Script { error, .. } => wrong(format!("Update clause contains invalid script\n{error}")).into(),
            error => error,
        })
    }
}

/// A deletion or patch by query that was checked and whose index is known. The caller waits for [`Self::awaited`], on a thread or without
/// one, and calls [`Self::begin`].
pub struct PreparedChange {
    database: Arc<Database>,
    change: ByQuery,
    query: Query,
    options: ByQueryOptions,
    ready: Result<Option<ReadyIndex>>,
    /// The last etag when the change was prepared.
    began_at: Etag,
}

impl PreparedChange {
    /// * `query`: as [`ByQuery::check`] returned it, with a script that [`ByQuery::check_script`] accepted.
    /// * `ready`: the index that answers the query. With an error in its place the operation begins and fails with it.
    ///
    /// # Errors
    ///
    /// [`QueryError::Invalid`]: the results of the index are no documents; storage fails.
    pub fn new(
        database: Arc<Database>,
        change: ByQuery,
        query: Query,
        options: ByQueryOptions,
        ready: Result<Option<ReadyIndex>>,
    ) -> Result<PreparedChange> {
        change.check_index(ready.as_ref().ok().and_then(Option::as_ref))?;
        let began_at = database.read().last_etag()?;
        Ok(PreparedChange { database, change, query, options, ready, began_at })
    }

    /// The index to wait for, and the etag that it must reach. `None`: there is nothing to wait for.
    pub fn awaited(&self) -> Option<(Arc<Index>, Etag)> {
        let index = &self.ready.as_ref().ok()?.as_ref()?.index;
        let is_behind = !self.options.allows_stale && index.indexed_to() < self.began_at;
        is_behind.then(|| (index.clone(), self.began_at))
    }

    /// Starts the operation, which reports the progress and may be killed.
    ///
    /// # Errors
    ///
    /// As [`Operations::start`](crate::Operations::start).
    pub fn begin(self) -> Result<QueryChange> {
        let operations = self.database.operations();
        let operation = operations.start_by_query(operations.next_id(), self.change.description(), &self.query.text)?;
        Ok(QueryChange { of: self, operation })
    }
}

/// A deletion or patch by query whose operation has started.
pub struct QueryChange {
    of: PreparedChange,
    operation: Arc<Operation>,
}

/// Dropped without a run, or by a panic: the operation reports a failure.
impl Drop for QueryChange {
    fn drop(&mut self) {
        // The first end counts.
        self.operation.end(OperationStatus::Faulted(Arc::new(storage::Error::JobPanicked.into())));
    }
}

impl QueryChange {
    /// Its operation.
    pub fn operation(&self) -> &Arc<Operation> {
        &self.operation
    }

    /// Changes the documents, and ends the operation with the outcome. For threads that may block.
    ///
    /// # Errors
    ///
    /// [`Error::StaleIndex`], [`Error::TooManyFound`], [`Error::Canceled`], [`QueryError::Timeout`]; the index is not ready; a
    /// script fails; storage fails. The documents that were changed before stay so.
    pub fn run(self) -> Result<OperationResult> {
        let outcome = match &self.of.ready {
            Ok(ready) => self.of.run(ready.as_ref(), &self.operation),
            Err(error) => Err(error.clone()),
        };
        self.operation.end(match &outcome {
            Ok(result) => OperationStatus::Completed(result.clone()),
            Err(Error::Canceled) => OperationStatus::Canceled,
            Err(error) => OperationStatus::Faulted(Arc::new(error.clone())),
        });
        outcome
    }
}

impl PreparedChange {
    fn run(&self, ready: Option<&ReadyIndex>, operation: &Arc<Operation>) -> Result<OperationResult> {
        let (killed, stopped) = (operation.clone(), operation.clone());
        let deadline = Deadline::new(self.options.run_time, move || killed.is_killed());
        let progress = OperationProgress::new(operation, self.options, &deadline);
        script::stoppable(Rc::new(move || stopped.is_killed()), || match self.change {
            ByQuery::Delete => self.delete(ready, &progress),
            ByQuery::Patch => self.patch(ready, &progress),
        })
    }

    /// The query of the documents themselves, whatever it makes of them.
    fn plan(&self) -> Plan {
        let plan = self.query.plan.clone();
        Plan { projection: None, script: None, includes: Vec::new(), keeps_repeats: false, ..plan }
    }

    fn find(
        &self,
        plan: &Plan,
        ready: Option<&ReadyIndex>,
        request: IdsRequest,
        deadline: &Deadline,
    ) -> Result<FoundIds> {
        let cutoff = (!self.options.allows_stale).then_some(self.began_at);
        FoundIds::find(&self.database, plan, ready, IdsRequest { cutoff, ..request }, deadline)
    }

    fn delete(&self, ready: Option<&ReadyIndex>, progress: &OperationProgress<'_>) -> Result<OperationResult> {
        let mut plan = self.plan();
        let is_whole = plan.page.skip == 0 && plan.page.take.is_none();
        // A collection is gone through again after some documents: what was deleted is not found again, and only some ids are in memory.
        let mut count_max = usize::MAX;
        if let (Find::Collection(query), None) = (&mut plan.find, &plan.filter) {
            count_max = DELETED_IDS_COUNT_MAX;
            if is_whole {
                // Where all are deleted their order does not matter, and this one keeps no documents in memory.
                query.order = Order::Etag;
            }
        }
        let (mut done, mut expected) = (ChangedDocuments::default(), None);
        loop {
            let counts = expected.is_none();
            let request = IdsRequest { until: Some(self.began_at), count_max, cutoff: None, counts };
            let ids = self.find(&plan, ready, request, progress.deadline)?;
            let expected = *expected.get_or_insert(ids.expected);
            for some in ids.chunks(self.options.batch_count()) {
                progress.deadline.check()?;
                // The etags are compared once more in the transaction: documents that are written until then stay.
                let write = Write::DeleteUntil { ids: some.clone(), etag: self.began_at };
                let deleted = self.database.write_blocking(&write)?.deleted()?;
                let deleted = some.into_iter().zip(deleted).filter(|(_, is_deleted)| *is_deleted).map(|(id, _)| id);
                done.add(self.options, deleted.map(|id| OperationDetail::Deleted { id }));
                progress.report(done.count, expected)?;
            }
            plan.page.take = plan.page.take.map(|take| take.saturating_sub(ids.len() as u64));
            if ids.is_all {
                return Ok(done.into_result());
            }
        }
    }

    fn patch(&self, ready: Option<&ReadyIndex>, progress: &OperationProgress<'_>) -> Result<OperationResult> {
        let request = IdsRequest { until: None, count_max: usize::MAX, cutoff: None, counts: false };
        let ids = self.find(&self.plan(), ready, request, progress.deadline)?;
        let mut patch = QueryPatch::of_query(&self.database, &self.query)?;
        let mut done = ChangedDocuments::default();
        for some in ids.chunks(self.options.batch_count()) {
            progress.deadline.check()?;
            let patched = patch.patch(&some)?.into_iter().map(|document| OperationDetail::Patched {
                id: document.id,
                change_vector: document.change_vector,
                status: document.status.wire_name(),
            });
            let before = done.count;
            done.add(self.options, patched);
            // A document that was deleted meanwhile counts.
            done.count = before + some.len() as u64;
            progress.report(done.count, ids.len() as u64)?;
        }
        Ok(done.into_result())
    }
}

impl ByQueryOptions {
    /// Documents of one transaction.
    fn batch_count(self) -> usize {
        let per_second = self.per_second.map(|count| usize::try_from(count.max(1)).unwrap_or(BY_QUERY_BATCH_COUNT));
        per_second.map_or(BY_QUERY_BATCH_COUNT, |count| BY_QUERY_BATCH_COUNT.min(count))
    }
}

/// Reports how far an operation is, and limits its rate.
struct OperationProgress<'o> {
    operation: &'o Operation,
    deadline: &'o Deadline,
    began: Instant,
    per_second: Option<u64>,
}

impl<'o> OperationProgress<'o> {
    fn new(operation: &'o Operation, options: ByQueryOptions, deadline: &'o Deadline) -> OperationProgress<'o> {
        OperationProgress { operation, deadline, began: Instant::now(), per_second: options.per_second }
    }

    /// Reports the progress, and sleeps until `processed` documents are due.
    fn report(&self, processed: u64, expected: u64) -> Result<()> {
        let total = expected.max(processed);
        self.operation.set_progress(Progress { processed, total, ..Progress::default() });
        let Some(per_second) = self.per_second else { return Ok(()) };
        let due = self.began + Duration::from_secs_f64(processed as f64 / per_second.max(1) as f64);
        while let Some(left) = due.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            self.deadline.check()?;
            std::thread::sleep(left.min(NAP));
        }
        Ok(())
    }
}

/// Documents that were changed.
#[derive(Default)]
struct ChangedDocuments {
    count: u64,
    details: Vec<OperationDetail>,
}

impl ChangedDocuments {
    fn add(&mut self, options: ByQueryOptions, details: impl Iterator<Item = OperationDetail>) {
        let count_max = if options.keeps_details { OPERATION_DETAILS_MAX } else { 0 };
        for detail in details {
            self.count += 1;
            if self.details.len() < count_max {
                self.details.push(detail);
            }
        }
    }

    fn into_result(self) -> OperationResult {
        let total = self.count;
        let mut message = format!("Processed {total} items.");
        if self.details.len() == OPERATION_DETAILS_MAX {
            message += &format!(" The details are of the first {OPERATION_DETAILS_MAX}.");
        }
        OperationResult { total, documents_processed: 0, message, details: self.details, ..OperationResult::default() }
    }
}

#[cfg(test)]
mod tests {
    use documents::{Batch, Expected};
    use storage::Environment;
    use testing::wait::until_true;

    use super::*;
    use crate::Limits;
    use crate::indexes::IndexingPool;

    /// A deletion by query is many writes. A queue that is full for a moment must not end it half-way.
    #[test]
    fn a_deletion_by_query_waits_for_a_place_in_a_full_queue() {
        let environment = Environment::in_memory(storage::Options::default()).unwrap();
        let limits = Limits { queued_batches_count_max: 1, ..Limits::default() };
        let pool = Arc::new(IndexingPool::new(1));
        let database = Database::open("x", environment, true, "A", &limits, &pool).unwrap();
        let mut batch = Batch::new();
        (1..=3).for_each(|number| batch.put(&format!("a/{number}"), b"{}", Expected::Any).unwrap());
        database.execute(batch).unwrap();
        let query = ByQuery::Delete.check(Query::parse("from @all_docs", None).unwrap()).unwrap();
        let prepared =
            PreparedChange::new(database.clone(), ByQuery::Delete, query, ByQueryOptions::default(), Ok(None)).unwrap();
        let change = prepared.begin().unwrap();
        let mut batch = Batch::new();
        batch.put("b", b"{}", Expected::Any).unwrap();
        let lead = database.submit(batch, drop).expect("no thread leads");
        std::thread::scope(|scope| {
            let deleting = scope.spawn(|| change.run());
            until_true("the deletion waits or fails", || deleting.is_finished() || database.queue.has_waiting());
            lead.run();
            assert_eq!(deleting.join().unwrap().unwrap().total, 3);
        });
    }
}
