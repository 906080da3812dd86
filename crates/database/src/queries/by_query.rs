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
use crate::{Database, Error, Operation, OperationDetail, OperationResult, Progress, QueryPatch, Result};

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

    /// Checks that the documents of a query can be changed. The script of a patch is checked by [`QueryPatch::of_query`].
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

    /// Checks that the results of an index are documents.
    ///
    /// # Errors
    ///
    /// [`QueryError::Invalid`].
    pub fn check_index(self, ready: Option<&ReadyIndex>) -> Result<(), QueryError> {
        let done = match self {
            ByQuery::Delete => "deleted",
            ByQuery::Patch => "patched",
        };
        match ready.is_some_and(|ready| ready.index.definition().is_grouped()) {
            true => Err(QueryError::Invalid(format!("The results of an index with a reduce cannot be {done}"))),
            false => Ok(()),
        }
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

/// A deletion or patch by query on its way.
pub struct QueryChange<'c> {
    /// The database.
    pub database: &'c Database,
    /// What is done.
    pub change: ByQuery,
    /// A query that [`ByQuery::check`] has accepted.
    pub query: &'c Query,
    /// How it is done.
    pub options: ByQueryOptions,
    /// The last etag when the change began.
    pub began_at: Etag,
    /// Its operation, which says how far it is and may be killed.
    pub operation: &'c Arc<Operation>,
}

impl QueryChange<'_> {
    /// Changes the documents. For threads that may block.
    ///
    /// * `ready`: the index, which has everything up to [`Self::began_at`] unless the options allow less.
    ///
    /// # Errors
    ///
    /// [`Error::StaleIndex`], [`Error::TooManyFound`], [`Error::Canceled`], [`QueryError::Timeout`]; a script fails; storage fails. The
    /// documents that were changed before stay so.
    pub fn run(&self, ready: Option<&ReadyIndex>) -> Result<OperationResult> {
        let (killed, stopped) = (self.operation.clone(), self.operation.clone());
        let deadline = Deadline::new(self.options.run_time, move || killed.is_killed());
        script::stoppable(Rc::new(move || stopped.is_killed()), || match self.change {
            ByQuery::Delete => self.delete(ready, &deadline),
            ByQuery::Patch => self.patch(ready, &deadline),
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
        FoundIds::find(self.database, plan, ready, IdsRequest { cutoff, ..request }, deadline)
    }

    fn delete(&self, ready: Option<&ReadyIndex>, deadline: &Deadline) -> Result<OperationResult> {
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
        let (pace, mut done, mut expected) = (OperationRate::new(self.options), Done::default(), None);
        loop {
            let counts = expected.is_none();
            let request = IdsRequest { until: Some(self.began_at), count_max, cutoff: None, counts };
            let ids = self.find(&plan, ready, request, deadline)?;
            let expected = *expected.get_or_insert(ids.expected);
            for some in ids.chunks(self.options.batch_count()) {
                deadline.check()?;
                // The etags are compared once more in the transaction: documents that are written until then stay.
                let write = Write::DeleteUntil { ids: some.clone(), etag: self.began_at };
                let deleted = self.database.write(&write)?.deleted()?;
                let deleted = some.into_iter().zip(deleted).filter(|(_, is_deleted)| *is_deleted).map(|(id, _)| id);
                done.add(self.options, deleted.map(|id| OperationDetail::Deleted { id }));
                self.report_progress(done.count, expected);
                pace.rest(done.count, deadline)?;
            }
            plan.page.take = plan.page.take.map(|take| take.saturating_sub(ids.len() as u64));
            if ids.is_all {
                return Ok(done.into_result());
            }
        }
    }

    fn patch(&self, ready: Option<&ReadyIndex>, deadline: &Deadline) -> Result<OperationResult> {
        let request = IdsRequest { until: None, count_max: usize::MAX, cutoff: None, counts: false };
        let ids = self.find(&self.plan(), ready, request, deadline)?;
        let mut patch = QueryPatch::of_query(self.database, self.query)?;
        let (pace, mut done) = (OperationRate::new(self.options), Done::default());
        for some in ids.chunks(self.options.batch_count()) {
            deadline.check()?;
            let patched = patch.patch(&some)?.into_iter().map(|document| OperationDetail::Patched {
                id: document.id,
                change_vector: document.change_vector,
                status: document.status.wire_name(),
            });
            let before = done.count;
            done.add(self.options, patched);
            // A document that was deleted meanwhile counts.
            done.count = before + some.len() as u64;
            self.report_progress(done.count, ids.len() as u64);
            pace.rest(done.count, deadline)?;
        }
        Ok(done.into_result())
    }

    fn report_progress(&self, processed: u64, expected: u64) {
        let total = expected.max(processed);
        self.operation.set_progress(Progress { processed, total, ..Progress::default() });
    }
}

impl ByQueryOptions {
    /// Documents of one transaction.
    fn batch_count(self) -> usize {
        let per_second = self.per_second.map(|count| usize::try_from(count.max(1)).unwrap_or(BY_QUERY_BATCH_COUNT));
        per_second.map_or(BY_QUERY_BATCH_COUNT, |count| BY_QUERY_BATCH_COUNT.min(count))
    }
}

/// Rate limiter of an operation.
struct OperationRate {
    began: Instant,
    per_second: Option<u64>,
}

impl OperationRate {
    fn new(options: ByQueryOptions) -> OperationRate {
        OperationRate { began: Instant::now(), per_second: options.per_second }
    }

    /// Sleeps until `processed` documents are due.
    fn rest(&self, processed: u64, deadline: &Deadline) -> Result<()> {
        let Some(per_second) = self.per_second else { return Ok(()) };
        let due = self.began + Duration::from_secs_f64(processed as f64 / per_second.max(1) as f64);
        while let Some(left) = due.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            deadline.check()?;
            std::thread::sleep(left.min(NAP));
        }
        Ok(())
    }
}

/// Documents that were changed.
#[derive(Default)]
struct Done {
    count: u64,
    details: Vec<OperationDetail>,
}

impl Done {
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
        OperationResult { total, documents_processed: 0, message, details: self.details }
    }
}
