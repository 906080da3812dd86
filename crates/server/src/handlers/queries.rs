//! `/databases/{name}/queries`: queries over collections and ids; deleting by such a query.
//!
//! POST: body `{"Query","QueryParameters"}`; GET: `query`, `start`, `pageSize`. Both take `metadataOnly`. 200 with results and
//! statistics, 304, 404 for a query on an index by name (there are none), 501 for what needs an index.
//! DELETE: body as POST; `{"OperationId","OperationNodeTag"}`, the work goes on as an operation.

use std::sync::Arc;
use std::time::{Duration, Instant};

use database::documents::{Batch, Document, Expected, IncludePath, PrefixQuery, Snapshot};
use database::{Database, Operation, OperationResult, OperationStatus, Progress};
use hyper::StatusCode;
use hyper::header::{ETAG, HeaderName, HeaderValue};

use super::docs::write_includes;
use crate::collection_query::{self, CollectionQuery, Filter, Order, Refused, Source};
use crate::date::NEVER;
use crate::error::{Error, Result};
use crate::exchange::{Exchange, parse_object};
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
    let node = exchange.node.clone();
    node.bridge
        .run(move || {
            let query = match parse(&exchange) {
                Ok(query) => query,
                Err(error) if is_missing_index(&error) => return Ok(reply::empty(StatusCode::NOT_FOUND)),
                Err(error) => return Err(error),
            };
            let snapshot = exchange.database().read();
            let etag = result_etag(&snapshot, &query)?;
            let etag_text = etag.to_string();
            if reply::is_match(exchange.if_none_match(), etag_text.as_bytes()) {
                return Ok(reply::empty(StatusCode::NOT_MODIFIED));
            }
            let is_metadata_only = exchange.query().is_true("metadataOnly")?;
            let deadline = Deadline::new(exchange.node.limits.query_run_time);
            let mut answer = Answer::default();
            let total = answer.fill(&snapshot, &query, is_metadata_only, &deadline)?;
            let body = answer.into_body(exchange.database(), &query, total, etag, start);
            let mut reply = reply::ok(body);
            reply.headers_mut().insert(ETAG, HeaderValue::from(etag));
            reply.headers_mut().insert(REQUEST_TIME, HeaderValue::from(elapsed_ms(start)));
            Ok(reply)
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
    collection_query::parse(text, parameters).map_err(|refused| match refused {
        Refused::Syntax(message) | Refused::Parameter(message) => Error::Query { message, query: text.to_owned() },
        Refused::NeedsIndex(feature) => Error::not_supported(format!("queries that need an index: {feature}")),
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

/// When a query has to be over.
pub(crate) struct Deadline {
    end: Instant,
    run_time: Duration,
}

impl Deadline {
    pub(crate) fn new(run_time: Duration) -> Deadline {
        Deadline { end: Instant::now() + run_time, run_time }
    }

    fn check(&self) -> Result<()> {
        if Instant::now() < self.end { Ok(()) } else { Err(Error::QueryTimeout { seconds: self.run_time.as_secs() }) }
    }
}

/// How often the clock is asked.
const DEADLINE_EVERY: u64 = 256;

/// Calls `found` with each document of the page, and gives how many there are without paging: -1 if that is not
/// known because the page ended before the prefix did.
pub(crate) fn execute<'s>(
    snapshot: &'s Snapshot<'_>,
    query: &CollectionQuery,
    deadline: &Deadline,
    found: &mut dyn FnMut(Document<'s>) -> Result<()>,
) -> Result<i64> {
    let take = query.take.unwrap_or(u64::MAX);
    let mut passed = 0u64;
    let mut taken = 0u64;
    let in_source = |document: &Document<'_>| match &query.source {
        Source::All => Ok(true),
        Source::Collection(name) => snapshot.is_in_collection(document, name),
    };
    let mut offer = |document: Document<'s>| -> Result<bool> {
        if passed.is_multiple_of(DEADLINE_EVERY) {
            deadline.check()?;
        }
        passed += 1;
        if passed > query.skip && taken < take {
            taken += 1;
            found(document)?;
        }
        Ok(taken >= take && passed > query.skip)
    };
    match (&query.filter, query.order) {
        (Filter::All, Order::Etag) => {
            let (mut documents, count) = match &query.source {
                Source::All => (snapshot.after(0), snapshot.statistics()?.document_count),
                Source::Collection(name) => {
                    let count = snapshot.collection(name)?.map_or(0, |collection| collection.document_count);
                    (snapshot.collection_after(name, 0)?, count)
                }
            };
            // Passing over documents reads none of them, and the count is known.
            documents.skip_documents(query.skip.min(count))?;
            let wanted = usize::try_from(take).unwrap_or(usize::MAX);
            for (place, document) in documents.take(wanted).enumerate() {
                if (place as u64).is_multiple_of(DEADLINE_EVERY) {
                    deadline.check()?;
                }
                found(document?)?;
            }
            return Ok(count.cast_signed());
        }
        (Filter::Ids(ids), order) => {
            let mut documents = Vec::new();
            for id in ids {
                if let Some(document) = snapshot.get(id)?
                    && in_source(&document)?
                {
                    documents.push(document);
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
            for document in snapshot.by_prefix(prefix_of(query))? {
                let document = document?;
                if (documents.len() as u64).is_multiple_of(DEADLINE_EVERY) {
                    deadline.check()?;
                }
                if in_source(&document)? {
                    documents.push(document);
                }
            }
            let total = documents.len() as i64;
            for document in documents.into_iter().rev() {
                offer(document)?;
            }
            return Ok(total);
        }
        (Filter::IdPrefix(_) | Filter::All, Order::IdAscending | Order::Etag) => {
            for document in snapshot.by_prefix(prefix_of(query))? {
                let document = document?;
                if in_source(&document)? && offer(document)? {
                    return known_total(snapshot, query);
                }
            }
        }
    }
    Ok(passed.cast_signed())
}

/// The total when the page ended early: known for a whole collection, else -1 as the reference says.
fn known_total(snapshot: &Snapshot<'_>, query: &CollectionQuery) -> Result<i64> {
    Ok(match (&query.filter, &query.source) {
        (Filter::All, Source::All) => snapshot.statistics()?.document_count.cast_signed(),
        (Filter::All, Source::Collection(name)) => {
            snapshot.collection(name)?.map_or(0, |collection| collection.document_count.cast_signed())
        }
        (Filter::Ids(_) | Filter::IdPrefix(_), _) => -1,
    })
}

fn prefix_of(query: &CollectionQuery) -> PrefixQuery {
    let prefix = match &query.filter {
        Filter::IdPrefix(prefix) => prefix.clone(),
        Filter::All | Filter::Ids(_) => String::new(),
    };
    PrefixQuery { prefix, count_max: u64::MAX, ..PrefixQuery::default() }
}

/// The parts of an answer that grow with the results.
#[derive(Default)]
struct Answer {
    results: Vec<u8>,
    includes: Vec<u8>,
    count: u64,
}

impl Answer {
    fn fill(
        &mut self,
        snapshot: &Snapshot<'_>,
        query: &CollectionQuery,
        is_metadata_only: bool,
        deadline: &Deadline,
    ) -> Result<i64> {
        let mut kept = Vec::new();
        let total = execute(snapshot, query, deadline, &mut |document| {
            if self.count > 0 {
                self.results.push(b',');
            }
            self.count += 1;
            document.write(&mut self.results, is_metadata_only, None);
            if !query.includes.is_empty() {
                kept.push(document);
            }
            Ok(())
        })?;
        if !query.includes.is_empty() {
            let paths: Vec<IncludePath> = query.includes.iter().map(|path| IncludePath::new(path)).collect();
            let documents: Vec<&Document<'_>> = kept.iter().collect();
            write_includes(&mut self.includes, &snapshot.includes(&documents, &paths)?);
        }
        Ok(total)
    }

    /// The whole body, its properties in the order of the reference.
    fn into_body(self, database: &Database, query: &CollectionQuery, total: i64, etag: i64, start: Instant) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.results.len() + self.includes.len() + 512);
        json::Writer::new(&mut body).object(|json| {
            json.name("TotalResults").signed(total);
            if query.is_limited {
                json.name("CappedMaxResults").unsigned(self.count);
            }
            json.name("ScannedResults").unsigned(0).name("SkippedResults").unsigned(0);
            json.name("DurationInMs").unsigned(elapsed_ms(start));
            match query.includes.as_slice() {
                [] => json.name("IncludedPaths").null(),
                paths => json.name("IncludedPaths").array(|json| {
                    paths.iter().for_each(|path| {
                        json.string(path);
                    })
                }),
            };
            json.name("IndexName").string(&query.source.index_name());
            json.name("Results").raw(b"[");
            json.buffer().extend_from_slice(&self.results);
            json.buffer().push(b']');
            json.name("Includes").raw(b"{");
            json.buffer().extend_from_slice(&self.includes);
            json.buffer().push(b'}');
            json.name("IndexTimestamp").string(NEVER).name("LastQueryTime").string(NEVER);
            json.name("IsStale").bool(false).name("ResultEtag").signed(etag);
            json.name("NodeTag").string(database.documents().node_tag());
        });
        body
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
    let query = match parse_body(&exchange.node, &body) {
        Ok(query) => query,
        Err(error) if is_missing_index(&error) => return Ok(reply::empty(StatusCode::NOT_FOUND)),
        Err(error) => return Err(error),
    };
    let database = exchange.database().clone();
    let operations = database.operations();
    let operation = operations.start(operations.next_id(), "Delete by query")?;
    let id = operation.id();
    let node = exchange.node.clone();
    let node_tag = database.documents().node_tag().to_owned();
    tokio::spawn(async move {
        let (deleting, run_time) = (operation.clone(), node.limits.query_run_time);
        let outcome = node.bridge.run(move || delete_matching(&database, &query, &deleting, run_time)).await;
        operation.end(match outcome {
            Ok(total) => OperationStatus::Completed(OperationResult {
                total,
                documents_processed: 0,
                message: format!("Processed {total} items."),
            }),
            Err(Error::Database(database::Error::Canceled)) => OperationStatus::Canceled,
            Err(Error::Database(error)) => OperationStatus::Faulted(Arc::new(error)),
            Err(error) => OperationStatus::Faulted(Arc::new(database::Error::BadStream { rule: error.to_string() })),
        });
    });
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("OperationId").unsigned(id).name("OperationNodeTag").string(&node_tag);
    }))
}

/// Deletes what the query finds in one snapshot, some at a time.
fn delete_matching(
    database: &Arc<Database>,
    query: &CollectionQuery,
    operation: &Operation,
    run_time: Duration,
) -> Result<u64> {
    let mut ids = Vec::new();
    {
        let snapshot = database.read();
        execute(&snapshot, query, &Deadline::new(run_time), &mut |document| {
            ids.push(document.id().to_owned());
            Ok(())
        })?;
    }
    let mut processed = 0;
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
        let total = ids.len() as u64;
        operation.set_progress(Progress { processed, total, ..Progress::default() });
    }
    Ok(processed)
}
