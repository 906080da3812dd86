//! `/databases/{name}/queries`: queries over collections and ids; deleting by such a query.
//!
//! POST: body `{"Query","QueryParameters"}`; GET: `query`, `start`, `pageSize`. Both take `metadataOnly`. 200 with results and
//! statistics, 304, 404 for a query on an index by name (there are none), 501 for what needs an index.
//! DELETE: body as POST; `{"OperationId","OperationNodeTag"}`, the work goes on as an operation.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use database::documents::{Batch, Document, Expected, IncludePath, PrefixQuery, Snapshot};
use database::{Database, Operation, OperationResult, OperationStatus, Progress};
use hyper::StatusCode;
use hyper::header::{ETAG, HeaderName, HeaderValue};
use query::plan::{CollectionQuery, Filter, Order, Parameters, Refused, Source};
use query::rql;

use super::docs::write_includes;
use crate::answers::{self, AnswerWriter, Out};
use crate::bridge::{self, Pool};
use crate::date::NEVER;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::exchange::{Exchange, parse_object};
use crate::limits::{DELETE_IDS_MAX, WHOLE_ANSWER_SIZE};
use crate::memory::{Memory, Room};
use crate::node::Node;
use crate::reply::{self, Reply};

const REQUEST_TIME: HeaderName = HeaderName::from_static("request-time");

/// Documents that one transaction of a deletion takes, so that other writes get their turn.
const DELETE_COUNT: usize = 1024;

pub(crate) async fn post(mut exchange: Exchange) -> Result<Reply> {
    let start = Instant::now();
    refuse_missing(&exchange)?;
    let body = exchange.read_body().await?;
    run(exchange, start, move |exchange| parse_body(&exchange.node, &body)).await
}

pub(crate) async fn get(exchange: Exchange) -> Result<Reply> {
    refuse_missing(&exchange)?;
    run(exchange, Instant::now(), parse_address).await
}

/// What a query may ask for in its address and is not there yet.
fn refuse_missing(exchange: &Exchange) -> Result<()> {
    let query = exchange.query();
    if let Some(form) = query.get_nonempty("debug") {
        return Err(Error::not_supported(format!("the query form debug={form}")));
    }
    if query.is_true("includeServerSideQuery")? {
        return Err(Error::not_supported("the query option 'includeServerSideQuery'"));
    }
    Ok(())
}

/// Parses and executes on the pool: a query may touch a whole collection.
async fn run(
    exchange: Exchange,
    start: Instant,
    parse: impl FnOnce(&Exchange) -> Result<CollectionQuery> + Send + 'static,
) -> Result<Reply> {
    answers::produce(exchange, Pool::Reads, move |exchange, out| {
        let query = match parse(exchange) {
            Ok(query) => query,
            Err(error) if is_missing_index(&error) => return Ok(Some(reply::empty(StatusCode::NOT_FOUND))),
            Err(error) => return Err(error),
        };
        let snapshot = exchange.database().read();
        let etag = result_etag(&snapshot, &query)?;
        if reply::is_match(exchange.if_none_match(), etag.to_string().as_bytes()) {
            return Ok(Some(reply::empty(StatusCode::NOT_MODIFIED)));
        }
        let caller = out.caller();
        let deadline = Deadline::new(Some(exchange.node.limits.query_run_time), move || caller.is_gone());
        let is_metadata_only = exchange.query().is_true("metadataOnly")?;
        let query =
            Asked { query: &query, snapshot: &snapshot, deadline: &deadline, exchange, is_metadata_only, etag, start };
        query.answer(out)?;
        Ok(None)
    })
    .await
}

/// A query that names an index is 404 in every form: there is none of that name.
fn is_missing_index(error: &Error) -> bool {
    matches!(error, Error::NoSuchIndex)
}

fn elapsed_ms(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Reads `query`, `start` and `pageSize` of a query string.
pub(crate) fn parse_address(exchange: &Exchange) -> Result<CollectionQuery> {
    let query = exchange.query();
    let mut parsed = parse(&exchange.node, &query.get("query").unwrap_or_default(), None)?;
    page(&mut parsed, query.page_start()?, query.number("pageSize")?);
    Ok(parsed)
}

/// Reads `{"Query":..,"QueryParameters":..}` and what old clients add.
pub(crate) fn parse_body(node: &Node, body: &[u8]) -> Result<CollectionQuery> {
    let body = parse_object(body)?;
    let text = body.get("Query").and_then(json::Value::as_str).unwrap_or_default();
    let parameters = body.get("QueryParameters");
    if !matches!(parameters, None | Some(json::Value::Null | json::Value::Object(_))) {
        return Err(Error::Argument("'QueryParameters' must be an object".to_owned()));
    }
    let mut query = parse(node, text, parameters)?;
    let number = |name| match body.get(name) {
        None | Some(json::Value::Null) => Ok(None),
        Some(value) => match value.as_i64().and_then(|number| u64::try_from(number).ok()) {
            Some(number) => Ok(Some(number)),
            None => Err(Error::Argument(format!("'{name}' must be a whole number from 0 on"))),
        },
    };
    page(&mut query, number("Start")?.unwrap_or(0), number("PageSize")?.filter(|size| *size < i32::MAX as u64));
    Ok(query)
}

/// Applies the page of the request beside that of the text: the later start and the smaller count hold.
fn page(query: &mut CollectionQuery, skip: u64, take: Option<u64>) {
    query.skip = query.skip.max(skip);
    query.take = [query.take, take].into_iter().flatten().min();
}

fn parse(node: &Node, text: &str, parameters: Option<&json::Value>) -> Result<CollectionQuery> {
    if text.trim().is_empty() {
        return Err(Error::InvalidOperation("Index query does not contain 'Query' field.".to_owned()));
    }
    if text.len() > node.limits.query_text_size {
        return Err(Error::Limit {
            status: StatusCode::PAYLOAD_TOO_LARGE,
            name: "Limits.QueryTextInKb",
            limit: (node.limits.query_text_size >> 10) as u64,
            what: "The text of the query",
        });
    }
    let wrong = |message: String, is_grammar| Error::Query { message, query: text.to_owned(), is_grammar };
    let tree = rql::parse(text).map_err(|error| wrong(error.to_string(), error.reason.is_grammar()))?;
    CollectionQuery::plan(&tree, Parameters::new(parameters)).map_err(|refused| match refused {
        Refused::Invalid(message) => wrong(message, false),
        Refused::NeedsIndex(_) => Error::not_supported(refused.to_string()),
        Refused::NoSuchIndex(_) => Error::NoSuchIndex,
    })
}

/// Changes whenever the answer may change: with every write to the collection, or to anything if there are includes.
pub(crate) fn result_etag(snapshot: &Snapshot<'_>, query: &CollectionQuery) -> Result<i64> {
    let (last_etag, count) = match &query.source {
        Source::Collection(name) if query.includes.is_empty() => {
            let last = snapshot.collection_latest(name)?.next().transpose()?.map_or(0, |document| document.etag());
            (last, snapshot.collection(name)?.map_or(0, |collection| collection.document_count))
        }
        Source::Collection(_) | Source::All => (snapshot.last_etag()?, 0),
    };
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&last_etag.to_le_bytes());
    bytes[8..].copy_from_slice(&count.to_le_bytes());
    Ok(xxhash_rust::xxh3::xxh3_64_with_seed(&bytes, query.includes.len() as u64).cast_signed())
}

/// Calls `found` with each document of the page, and gives how many there are without paging: -1 if that is not
/// known because the page ended before the prefix did.
pub(crate) fn execute<'s>(
    snapshot: &'s Snapshot<'_>,
    query: &CollectionQuery,
    memory: &Arc<Memory>,
    deadline: &Deadline,
    found: &mut dyn FnMut(Document<'s>) -> Result<()>,
) -> Result<i64> {
    let take = query.take.unwrap_or(u64::MAX);
    let mut room = memory.room();
    let mut passed = 0u64;
    let mut taken = 0u64;
    let in_source = |document: &Document<'_>| match &query.source {
        Source::All => Ok(true),
        Source::Collection(name) => snapshot.is_in_collection(document, name),
    };
    let mut offer = |document: Document<'s>| -> Result<bool> {
        passed += 1;
        if passed > query.skip && taken < take {
            taken += 1;
            found(document)?;
        }
        Ok(taken >= take && passed > query.skip)
    };
    match (&query.filter, query.order) {
        (Filter::All, Order::Etag) => {
            let documents = match &query.source {
                Source::All => snapshot.after(0),
                Source::Collection(name) => snapshot.collection_after(name, 0)?,
            };
            // Passing over documents reads none of them, and the count is known.
            let count = document_count(snapshot, &query.source)?;
            for document in deadline.by_etag(documents, query.skip.min(count), take)? {
                found(document?)?;
            }
            return Ok(count.cast_signed());
        }
        (Filter::Ids(ids), order) => {
            let mut documents = Vec::new();
            for id in ids {
                deadline.look()?;
                if let Some(document) = snapshot.get(id)?
                    && in_source(&document)?
                {
                    keep(&mut documents, document, &mut room)?;
                }
            }
            // Without an order of its own the reference gives them by id.
            documents.sort_by_cached_key(|document| document.id().to_lowercase());
            if order == Order::IdDescending {
                documents.reverse();
            }
            let total = documents.len() as i64;
            for document in documents {
                offer(document)?;
            }
            return Ok(total);
        }
        (Filter::IdPrefix(_) | Filter::All, Order::IdDescending) => {
            let mut documents = Vec::new();
            for document in deadline.by_prefix(snapshot, prefix_of(query))? {
                let document = document?;
                if in_source(&document)? {
                    keep(&mut documents, document, &mut room)?;
                }
            }
            let total = documents.len() as i64;
            for document in documents.into_iter().rev() {
                offer(document)?;
            }
            return Ok(total);
        }
        (Filter::IdPrefix(_) | Filter::All, Order::IdAscending | Order::Etag) => {
            for document in deadline.by_prefix(snapshot, prefix_of(query))? {
                let document = document?;
                if in_source(&document)? && offer(document)? {
                    return known_total(snapshot, query);
                }
            }
        }
    }
    Ok(passed.cast_signed())
}

/// Keeps a document for later, as far as there is room.
fn keep<'s>(documents: &mut Vec<Document<'s>>, document: Document<'s>, room: &mut Room) -> Result<()> {
    if documents.len() == documents.capacity() {
        let count = 2 * documents.len().max(128);
        room.grow(count * size_of::<Document<'_>>())?;
        documents.reserve_exact(count - documents.len());
    }
    documents.push(document);
    Ok(())
}

/// The total when the page ended early: known for a whole collection, else -1 as the reference says.
fn known_total(snapshot: &Snapshot<'_>, query: &CollectionQuery) -> Result<i64> {
    Ok(match &query.filter {
        Filter::All => document_count(snapshot, &query.source)?.cast_signed(),
        Filter::Ids(_) | Filter::IdPrefix(_) => -1,
    })
}

fn document_count(snapshot: &Snapshot<'_>, source: &Source) -> Result<u64> {
    Ok(match source {
        Source::All => snapshot.statistics()?.document_count,
        Source::Collection(name) => snapshot.collection(name)?.map_or(0, |collection| collection.document_count),
    })
}

/// What a query comes to, without its documents.
pub(crate) struct Counts {
    /// As [`execute`] gives it.
    pub(crate) total: i64,
    /// Documents of the page.
    pub(crate) taken: u64,
}

/// Counts what a query finds: at once for whole collections, else by executing it.
pub(crate) fn count(
    snapshot: &Snapshot<'_>,
    query: &CollectionQuery,
    memory: &Arc<Memory>,
    deadline: &Deadline,
) -> Result<Counts> {
    let mut taken = 0;
    let total = match &query.filter {
        Filter::All => {
            let count = document_count(snapshot, &query.source)?;
            taken = count.saturating_sub(query.skip).min(query.take.unwrap_or(u64::MAX));
            count.cast_signed()
        }
        Filter::Ids(_) | Filter::IdPrefix(_) => execute(snapshot, query, memory, deadline, &mut |_| {
            taken += 1;
            Ok(())
        })?,
    };
    Ok(Counts { total, taken })
}

fn prefix_of(query: &CollectionQuery) -> PrefixQuery {
    let prefix = match &query.filter {
        Filter::IdPrefix(prefix) => prefix.clone(),
        Filter::All | Filter::Ids(_) => String::new(),
    };
    PrefixQuery { prefix, count_max: u64::MAX, ..PrefixQuery::default() }
}

/// A query that is being answered.
struct Asked<'a> {
    query: &'a CollectionQuery,
    snapshot: &'a Snapshot<'a>,
    deadline: &'a Deadline,
    exchange: &'a Exchange,
    is_metadata_only: bool,
    etag: i64,
    start: Instant,
}

impl<'a> Asked<'a> {
    /// Writes the answer, its properties in the order of the reference. How many results there are comes before them: known
    /// when they are all there, or, where they are too many for that, counted first.
    fn answer(&self, out: &mut AnswerWriter) -> Result<()> {
        let mut results = Vec::new();
        let mut counted = None;
        let mut taken = 0;
        let mut kept = Vec::new();
        let memory = &self.exchange.node.memory;
        let mut room = memory.room();
        let total = execute(self.snapshot, self.query, memory, self.deadline, &mut |document| {
            let buffer = if counted.is_some() { out.buffer() } else { &mut results };
            if taken > 0 {
                buffer.push(b',');
            }
            taken += 1;
            document.write(buffer, self.is_metadata_only, None);
            if counted.is_none() && results.len() >= WHOLE_ANSWER_SIZE {
                let counts = count(self.snapshot, self.query, memory, self.deadline)?;
                self.begin(out, &counts)?;
                out.buffer().append(&mut results);
                counted = Some(counts);
            }
            if counted.is_some() {
                out.part_done()?;
                self.deadline.lift();
            }
            if !self.query.includes.is_empty() {
                keep(&mut kept, document, &mut room)?;
            }
            Ok(())
        })?;
        if counted.is_none() {
            self.begin(out, &Counts { total, taken })?;
            out.buffer().append(&mut results);
        }
        out.buffer().extend_from_slice(b"],\"Includes\":{");
        if !self.query.includes.is_empty() {
            let paths: Vec<IncludePath> = self.query.includes.iter().map(|path| IncludePath::new(path)).collect();
            let documents: Vec<&Document<'_>> = kept.iter().collect();
            write_includes(out, &self.deadline.includes(self.snapshot, &documents, &paths)?)?;
        }
        out.buffer().extend_from_slice(b"},");
        let mut rest = Vec::new();
        json::Writer::new(&mut rest).object(|json| {
            json.name("IndexTimestamp").string(NEVER).name("LastQueryTime").string(NEVER);
            json.name("IsStale").bool(false).name("ResultEtag").signed(self.etag);
            json.name("NodeTag").string(self.exchange.database().documents().node_tag());
        });
        out.buffer().extend_from_slice(rest.strip_prefix(b"{").unwrap_or(&rest));
        Ok(())
    }

    /// Writes all that comes before the results.
    fn begin(&self, out: &mut AnswerWriter, counts: &Counts) -> Result<()> {
        let mut head = reply::ok(Bytes::new());
        head.headers_mut().insert(ETAG, HeaderValue::from(self.etag));
        head.headers_mut().insert(REQUEST_TIME, HeaderValue::from(elapsed_ms(self.start)));
        out.begin(head, self.snapshot)?;
        let mut before = Vec::with_capacity(512);
        json::Writer::new(&mut before).object(|json| {
            json.name("TotalResults").signed(counts.total);
            if self.query.is_limited {
                json.name("CappedMaxResults").unsigned(counts.taken);
            }
            json.name("ScannedResults").unsigned(0).name("SkippedResults").unsigned(0);
            json.name("DurationInMs").unsigned(elapsed_ms(self.start));
            match self.query.includes.as_slice() {
                [] => json.name("IncludedPaths").null(),
                paths => json.name("IncludedPaths").array(|json| {
                    paths.iter().for_each(|path| {
                        json.string(path);
                    })
                }),
            };
            json.name("IndexName").string(&self.query.source.index_name());
        });
        out.buffer().extend_from_slice(before.strip_suffix(b"}").unwrap_or(&before));
        out.buffer().extend_from_slice(b",\"Results\":[");
        Ok(())
    }
}

/// `allowStale` and `staleTimeout` change nothing: what reads collections is never stale.
pub(crate) async fn delete(mut exchange: Exchange) -> Result<Reply> {
    if exchange.query().get_nonempty("maxOpsPerSec").is_some() {
        return Err(Error::not_supported("the deletion option 'maxOpsPerSec'"));
    }
    if exchange.query().is_true("details")? {
        return Err(Error::not_supported("the deletion option 'details'"));
    }
    let body = exchange.read_body().await?;
    let node = exchange.node.clone();
    let query = match exchange.node.bridge.run_sized(body.len(), move || parse_body(&node, &body)).await {
        Ok(query) => query,
        Err(error) if is_missing_index(&error) => return Ok(reply::empty(StatusCode::NOT_FOUND)),
        Err(error) => return Err(error),
    };
    // A server without a thread for it says so now, not in an operation.
    let permit = exchange.node.bridge.permit(Pool::Reads).await?;
    let database = exchange.database().clone();
    let operations = database.operations();
    let operation = operations.start(operations.next_id(), "Delete by query")?;
    let id = operation.id();
    let node_tag = database.documents().node_tag().to_owned();
    tokio::spawn(async move {
        let deleting = operation.clone();
        let outcome = bridge::with_permit(permit, move || delete_matching(&database, &query, &deleting)).await;
        operation.end(match outcome {
            Ok(total) => OperationStatus::Completed(OperationResult {
                total,
                documents_processed: 0,
                message: format!("Processed {total} items."),
            }),
            Err(Error::Database(database::Error::Canceled)) => OperationStatus::Canceled,
            Err(Error::Database(error)) => OperationStatus::Faulted(Arc::new(error)),
            Err(error) => {
                tracing::error!(%error, "a deletion by query met a bug");
                OperationStatus::Faulted(Arc::new(storage::Error::JobPanicked.into()))
            }
        });
    });
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("OperationId").unsigned(id).name("OperationNodeTag").string(&node_tag);
    }))
}

/// Deletes what the query finds, some at a time; documents that were written after it began stay. The ids of so many at a time
/// are in memory, and no snapshot is held while they are deleted.
fn delete_matching(database: &Arc<Database>, query: &CollectionQuery, operation: &Arc<Operation>) -> Result<u64> {
    let killed = operation.clone();
    let deadline = Deadline::new(None, move || killed.is_killed());
    // Nobody waits for an answer that could ask to try again later.
    let memory = &Memory::new(usize::MAX);
    let last_etag = database.read().last_etag()?;
    let expected = count(&database.read(), query, memory, &deadline)?.taken;
    let mut left = query.clone();
    if left.skip == 0 && left.take.is_none() {
        // Where all of them go the order does not matter, and this one keeps no documents back.
        left.order = Order::Etag;
    }
    let mut processed = 0;
    loop {
        let ids = ids_to_delete(&database.read(), &left, last_etag, memory, &deadline)?;
        for some in ids.chunks(DELETE_COUNT) {
            if operation.is_killed() {
                return Err(database::Error::Canceled.into());
            }
            let mut batch = Batch::new();
            for id in some {
                batch.delete(id, Expected::Any)?;
            }
            database.execute(batch)?;
            processed += some.len() as u64;
            let total = expected.max(processed);
            operation.set_progress(Progress { processed, total, ..Progress::default() });
        }
        left.take = left.take.map(|take| take.saturating_sub(ids.len() as u64));
        if ids.len() < DELETE_IDS_MAX {
            return Ok(processed);
        }
    }
}

/// The next ids that the query finds, without those of documents that changed after `last_etag`.
fn ids_to_delete(
    snapshot: &Snapshot<'_>,
    query: &CollectionQuery,
    last_etag: u64,
    memory: &Arc<Memory>,
    deadline: &Deadline,
) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    let mut enough = false;
    let outcome = execute(snapshot, query, memory, deadline, &mut |document| {
        if document.etag() <= last_etag {
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
