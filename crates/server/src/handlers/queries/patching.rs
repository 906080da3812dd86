//! `PATCH /databases/{name}/queries`: patching what a query finds, an operation that goes on after its request; and
//! `PATCH /databases/{name}/queries/test`: what that would do to a document.
//!
//! The ids of what is found are gathered first, in one snapshot; then documents are patched some at a time, each batch in a transaction of
//! its own. A document that somebody else changes meanwhile is patched as it is then.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use database::documents::PatchStatus;
use database::{Database, Operation, OperationDetail, OperationResult, Progress, QueryPatch, script};
use hyper::StatusCode;
use query::execute;
use query::plan::{Find, ScriptClause, ScriptForm};

use super::by_query::{Details, Options, Pace, end, index_name, refuse_killed};
use super::collection;
use super::ready::{Ready, ready, wait_for};
use super::request::Request;
use super::running::with_stop_words;
use crate::bridge::Pool;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::exchange::Exchange;
use crate::limits::PATCH_IDS_SIZE_MAX;
use crate::memory::Memory;
use crate::reply::{self, Reply};

/// `allowStale`, `staleTimeout`, `maxOpsPerSec`, `details`. Body: `{"Query":{"Query","QueryParameters"}}`.
pub(crate) async fn patch(mut exchange: Exchange) -> Result<Reply> {
    let options = Options::of(&exchange)?;
    let body = exchange.read_body().await?;
    let node = exchange.node.clone();
    let request = exchange.node.bridge.run_sized(body.len(), move || Request::of_patch(&node, &body)).await?;
    if request.plan.filter.is_some() {
        return Err(Error::not_supported("'filter' in a patch"));
    }
    let last_etag = exchange.database().read().last_etag()?;
    let node = exchange.node.clone();
    let database = exchange.database().clone();
    // What is no script is said now; else the operation says it.
    let (checked, request) = {
        let (database, request) = (database.clone(), Arc::new(request));
        let checking = request.clone();
        (node.bridge.run(Pool::Reads, move || check(&database, &checking)).await, request)
    };
    checked?;
    let ready = ready(&exchange, &request).await;
    if let Ok(Some(ready)) = &ready
        && ready.index.definition().is_grouped()
    {
        return Err(Error::InvalidOperation("The results of an index with a reduce cannot be patched".to_owned()));
    }
    let operations = database.operations();
    let operation = operations.start_by_query(operations.next_id(), "Patch by query", &request.text)?;
    let id = operation.id();
    let node_tag = database.documents().node_tag().to_owned();
    tokio::spawn(async move {
        let patching = operation.clone();
        let outcome = async {
            let ready = match ready {
                Err(Error::NoSuchIndex) => return Err(Error::UnknownIndex { name: index_name(&request) }),
                ready => ready?,
            };
            if let Some(ready) =
                ready.as_ref().filter(|ready| !options.allows_stale && ready.index.indexed_to() < last_etag)
            {
                wait_for(&ready.index, last_etag, options.stale_wait).await;
            }
            let permit = node.bridge.permit(Pool::Reads).await?;
            let patching = Patching { database, operation: patching, options };
            node.bridge
                .with_permit(Pool::Reads, permit, move || {
                    let ids = patching.find(&request, ready.as_ref(), (!options.allows_stale).then_some(last_etag));
                    let ids = ids.inspect_err(|error| ready.iter().for_each(|ready| ready.fail_if_damaged(error)))?;
                    let killed = patching.operation.clone();
                    script::stoppable(Rc::new(move || killed.is_killed()), || patching.patch(clause(&request)?, &ids))
                })
                .await
        };
        end(&operation, "a patch by query", outcome.await);
    });
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("OperationId").unsigned(id).name("OperationNodeTag").string(&node_tag);
    }))
}

/// `PATCH /databases/{name}/queries/test`: `id`. Body as [`patch`]. What the clause `update` would do to that document, whether the query finds
/// it or not; nothing is stored. 200 `{Status, ModifiedDocument, OriginalDocument, Debug}`, 404 if it is not there.
pub(crate) async fn test(mut exchange: Exchange) -> Result<Reply> {
    let id = exchange.required("id")?.into_owned();
    let body = exchange.read_body().await?;
    let node = exchange.node.clone();
    let request = exchange.node.bridge.run_sized(body.len(), move || Request::of_patch(&node, &body)).await?;
    let database = exchange.database().clone();
    let run = move || {
        check(&database, &request)?;
        Ok(QueryPatch::new(&database, clause(&request)?)?.test(&id)?)
    };
    let told = exchange.node.bridge.run(Pool::Reads, run).await?;
    if told.status == PatchStatus::DocumentDoesNotExist {
        return Ok(reply::empty(StatusCode::NOT_FOUND));
    }
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Status").string(told.status.wire_name());
        json.name("ModifiedDocument").raw(told.document.as_deref().unwrap_or(b"null"));
        json.name("OriginalDocument").raw(told.original.as_deref().unwrap_or(b"null"));
        json.name("Debug").raw(&told.debug);
    }))
}

/// The clause `update`, which [`Request::of_patch`] has made sure of.
fn clause(request: &Request) -> Result<&ScriptClause> {
    let clause = request.plan.script.as_ref().filter(|clause| matches!(clause.form, ScriptForm::Update(_)));
    clause.ok_or_else(|| Error::Panicked("a patch by query has no update".to_owned()))
}

fn check(database: &Database, request: &Request) -> Result<()> {
    match QueryPatch::new(database, clause(request)?) {
        Ok(_) => Ok(()),
        Err(database::Error::Script { error, .. }) => Err(Error::Query {
            message: format!("Update clause contains invalid script\n{error}"),
            query: request.text.clone(),
            is_grammar: false,
        }),
        Err(error) => Err(error.into()),
    }
}

/// A patch on its way.
struct Patching {
    database: Arc<Database>,
    operation: Arc<Operation>,
    options: Options,
}

impl Patching {
    /// The ids of what the query finds, each once.
    ///
    /// * `cutoff`: up to where the index has to have all, if it has to.
    fn find(&self, request: &Request, ready: Option<&Ready>, cutoff: Option<u64>) -> Result<Vec<String>> {
        let killed = self.operation.clone();
        let deadline = Deadline::new(None, move || killed.is_killed());
        let mut ids = Vec::new();
        let mut size = 0;
        let mut add = |id: &str| {
            size += size_of::<String>() + id.len();
            ids.push(id.to_owned());
            if size <= PATCH_IDS_SIZE_MAX { Ok(()) } else { Err(Error::from(database::Error::TooManyFound)) }
        };
        let page = request.plan.page;
        match (&request.plan.find, ready) {
            (Find::Collection(query), _) => {
                // Nobody waits for an answer that could ask to try again later.
                let memory = &Memory::unbounded();
                collection::execute(&self.database.read(), query, page, memory, &deadline, &mut |document| {
                    add(document.id())
                })?;
            }
            (Find::Index(query), Some(Ready { index, .. })) => {
                let reached = index.indexed_to();
                let snapshot = index.read()?;
                if cutoff.is_some() && index.is_stale(&snapshot, reached, &self.database.read(), cutoff)? {
                    return Err(database::Error::StaleIndex { name: index.name().to_owned() }.into());
                }
                let query = with_stop_words(query, &self.database.read())?;
                let found = execute::find(&snapshot, index.definition().fields(), &query, page, &|| deadline.look())?;
                // A document may have several entries.
                let mut seen = HashSet::new();
                for entry in found.entries {
                    if let Some(entry) = snapshot.entry(entry)?
                        && seen.insert(xxhash_rust::xxh3::xxh3_128(&database::documents::id::lower(entry.document())))
                    {
                        add(entry.document())?;
                    }
                }
            }
            (Find::Index(_), None) => unreachable!("a query that needs an index was made ready with one"),
        }
        Ok(ids)
    }

    fn patch(&self, clause: &ScriptClause, ids: &[String]) -> Result<OperationResult> {
        let mut patch = QueryPatch::new(&self.database, clause)?;
        let pace = Pace::new(self.options);
        let (mut processed, mut details) = (0u64, Details::default());
        for some in ids.chunks(self.options.batch_count()) {
            refuse_killed(&self.operation)?;
            let patched = patch.patch(some)?;
            if self.options.tells_details {
                details.add(patched.into_iter().map(|document| OperationDetail::Patched {
                    id: document.id,
                    change_vector: document.change_vector,
                    status: document.status.wire_name(),
                }));
            }
            processed += some.len() as u64;
            self.operation.set_progress(Progress { processed, total: ids.len() as u64, ..Progress::default() });
            pace.rest(processed, &self.operation)?;
        }
        Ok(details.into_result(processed))
    }
}
