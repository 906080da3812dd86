//! Deleting what a query finds: an operation that goes on after its request.

use std::sync::Arc;

use database::documents::{Etag, Write};
use database::{Database, Operation, OperationDetail, Progress};
use hyper::StatusCode;
use query::execute::{self, EntryId};
use query::plan::{CollectionQuery, Find, IndexQuery, Order, Page};

use super::by_query::{Details, Options, Pace, end, index_name, refuse_killed};
use super::collection;
use super::ready::{Ready, ready, wait_for};
use super::request::Request;
use crate::bridge::Pool;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::exchange::Exchange;
use crate::limits::DELETE_IDS_MAX;
use crate::memory::Memory;
use crate::reply::{self, Reply};

/// `allowStale`, `staleTimeout`, `maxOpsPerSec`, `details`.
pub(crate) async fn delete(mut exchange: Exchange) -> Result<Reply> {
    let options = Options::of(&exchange)?;
    let body = exchange.read_body().await?;
    let node = exchange.node.clone();
    let request = exchange.node.bridge.run_sized(body.len(), move || Request::of_body(&node, &body)).await?;
    if request.plan.is_explained {
        return Err(Error::not_supported("'explain' in a deletion"));
    }
    if let Some(function) = request.plan.gives_in_place_of_results() {
        return Err(Error::not_supported(format!("{function} in a deletion")));
    }
    if request.plan.filter.is_some() {
        return Err(Error::not_supported("'filter' in a deletion"));
    }
    if let Find::Index(query) = &request.plan.find
        && query.condition.lacks_stop_words()
    {
        return Err(Error::not_supported("'StopWordsDocumentId' in a deletion"));
    }
    // As in the reference, it is the operation that fails if there is no such index.
    let ready = match ready(&exchange, &request).await {
        Err(Error::NoSuchIndex) => Err(Error::UnknownIndex { name: index_name(&request) }),
        ready => Ok(ready?),
    };
    if let Ok(Some(ready)) = &ready
        && ready.index.definition().is_grouped()
    {
        return Err(Error::InvalidOperation("The results of an index with a reduce cannot be deleted".to_owned()));
    }
    let last_etag = exchange.database().read().last_etag()?;
    let is_behind = |ready: &Ready| !options.allows_stale && ready.index.indexed_to() < last_etag;
    let waits = matches!(&ready, Ok(Some(ready)) if is_behind(ready));
    // A server without a thread for it says so now, not in an operation. Who waits for an index has no thread meanwhile.
    let permit = if !waits { Some(exchange.node.bridge.permit(Pool::Reads).await?) } else { None };
    let node = exchange.node.clone();
    let database = exchange.database().clone();
    let operations = database.operations();
    let operation = operations.start_by_query(operations.next_id(), "Delete by query", &request.text)?;
    let id = operation.id();
    let node_tag = database.documents().node_tag().to_owned();
    tokio::spawn(async move {
        let deleting = operation.clone();
        let outcome = async {
            let ready = ready?;
            let permit = match (permit, &ready) {
                (Some(permit), _) => permit,
                (None, ready) => {
                    if let Some(ready) = ready {
                        wait_for(&ready.index, last_etag, options.stale_wait).await;
                    }
                    node.bridge.permit(Pool::Reads).await?
                }
            };
            let (pace, done) = (Pace::new(options), Done::default());
            let mut deletion = Deletion { database, last_etag, operation: deleting, options, pace, done };
            node.bridge
                .with_permit(Pool::Reads, permit, move || {
                    deletion.run(&request, ready.as_ref())?;
                    Ok(deletion.done.details.into_result(deletion.done.count))
                })
                .await
        };
        end(&operation, "a deletion by query", outcome.await);
    });
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("OperationId").unsigned(id).name("OperationNodeTag").string(&node_tag);
    }))
}

/// A deletion on its way. Documents that were written after it began stay.
struct Deletion {
    database: Arc<Database>,
    last_etag: Etag,
    operation: Arc<Operation>,
    options: Options,
    pace: Pace,
    done: Done,
}

#[derive(Default)]
struct Done {
    count: u64,
    details: Details,
}

impl Deletion {
    fn run(&mut self, request: &Request, ready: Option<&Ready>) -> Result<()> {
        let page = request.plan.page;
        match (&request.plan.find, ready) {
            (Find::Index(query), Some(ready)) => {
                let deleted = self.found_by_index(query, page, ready);
                deleted.inspect_err(|error| ready.fail_if_damaged(error))
            }
            (Find::Collection(query), _) => self.found_in_collection(query, page),
            (Find::Index(_), None) => unreachable!("a query that needs an index was made ready with one"),
        }
    }

    fn deadline(&self) -> Deadline {
        let killed = self.operation.clone();
        Deadline::new(None, move || killed.is_killed())
    }

    /// The entries are found once; their documents are looked up and deleted some at a time, and no snapshot is held while they
    /// are.
    fn found_by_index(&mut self, query: &IndexQuery, page: Page, ready: &Ready) -> Result<()> {
        let index = &ready.index;
        let deadline = self.deadline();
        let found = {
            let reached = index.indexed_to();
            let snapshot = index.read()?;
            if !self.options.allows_stale
                && index.is_stale(&snapshot, reached, &self.database.read(), Some(self.last_etag))?
            {
                return Err(database::Error::StaleIndex { name: index.name().to_owned() }.into());
            }
            execute::find(&snapshot, index.definition().fields(), query, page, &|| deadline.look())?
        };
        for entries in found.entries.chunks(self.options.batch_count()) {
            let ids = Self::ids_of(ready, entries)?;
            self.delete(&ids, found.entries.len() as u64)?;
        }
        Ok(())
    }

    fn ids_of(ready: &Ready, entries: &[EntryId]) -> Result<Vec<String>> {
        let snapshot = ready.index.read()?;
        let mut ids = Vec::with_capacity(entries.len());
        for id in entries {
            ids.extend(snapshot.entry(*id)?.map(|entry| entry.document().to_owned()));
        }
        Ok(ids)
    }

    /// The ids of so many at a time are in memory, and no snapshot is held while they are deleted.
    fn found_in_collection(&mut self, query: &CollectionQuery, mut page: Page) -> Result<()> {
        let deadline = self.deadline();
        // Nobody waits for an answer that could ask to try again later.
        let memory = &Memory::unbounded();
        let expected = collection::count(&self.database.read(), query, page, memory, &deadline)?.taken;
        let mut query = query.clone();
        if page.skip == 0 && page.take.is_none() {
            // Where all of them go the order does not matter, and this one keeps no documents back.
            query.order = Order::Etag;
        }
        loop {
            let ids = self.next_ids(&query, page, memory, &deadline)?;
            for some in ids.chunks(self.options.batch_count()) {
                self.delete(some, expected)?;
            }
            page.take = page.take.map(|take| take.saturating_sub(ids.len() as u64));
            if ids.len() < DELETE_IDS_MAX {
                return Ok(());
            }
        }
    }

    /// The next ids that the query finds, without those of documents that changed after it began.
    fn next_ids(
        &self,
        query: &CollectionQuery,
        page: Page,
        memory: &Arc<Memory>,
        deadline: &Deadline,
    ) -> Result<Vec<String>> {
        let mut ids = Vec::new();
        let mut enough = false;
        let outcome = collection::execute(&self.database.read(), query, page, memory, deadline, &mut |document| {
            if document.etag() <= self.last_etag {
                ids.push(document.id().to_owned());
            }
            enough = ids.len() >= DELETE_IDS_MAX;
            if enough { Err(database::Error::Canceled.into()) } else { Ok(()) }
        });
        match outcome {
            Err(_) if enough => Ok(ids),
            outcome => outcome.map(|_| ids),
        }
    }

    fn delete(&mut self, ids: &[String], expected: u64) -> Result<()> {
        refuse_killed(&self.operation)?;
        // The etags are compared once more in the transaction: documents that are written until then stay.
        let write = Write::DeleteUntil { ids: ids.to_vec(), etag: self.last_etag };
        let deleted = self.database.write(&write)?.deleted()?;
        let deleted = ids.iter().zip(deleted).filter(|(_, is_deleted)| *is_deleted).map(|(id, _)| id);
        let processed = self.done.count + deleted.clone().count() as u64;
        self.done.count = processed;
        if self.options.tells_details {
            self.done.details.add(deleted.map(|id| OperationDetail::Deleted { id: id.clone() }));
        }
        let total = expected.max(processed);
        self.operation.set_progress(Progress { processed, total, ..Progress::default() });
        self.pace.rest(processed, &self.operation)
    }
}
