//! `/databases/{name}/docs`: documents by id, by prefix, all of them; storing and deleting one.
//!
//! | call | parameters | answers |
//! | --- | --- | --- |
//! | GET | `id`*, `include`*, `metadataOnly` | 200; one id that is not there: 404; not changed: 304 |
//! | GET | `startsWith`, `matches`, `exclude`, `startAfter`, `start`, `pageSize`, `metadataOnly` | 200 in id order |
//! | GET | `start`, `pageSize`, `metadataOnly` | 200, the latest first |
//! | POST | as the first, ids in the body `{"Ids":[]}` | 200 |
//! | HEAD | `id` | 200, 304, 404 |
//! | PUT | `id`; `If-Match` | 201 `{Id, ChangeVector}`, 409 |
//! | DELETE | `id`; `If-Match` | 204, 409 |
//! | GET `/docs/size` | `id` | 200, 404 |

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use database::Database;
use database::documents::{
    Batch, CommandResult, Document, Expected, IncludePath, PrefixQuery, ResultsHash, Snapshot, Wildcards,
};
use hyper::StatusCode;
use hyper::header::HeaderValue;

use crate::bridge;
use crate::error::{Error, Result};
use crate::exchange::{Exchange, parse_object};
use crate::query_string::{QueryString, decode};
use crate::reply::{self, Reply};
use crate::sizes::humane;

/// Loads of at most so many ids are short enough for the network thread.
const SHORT_ID_COUNT: usize = 8;

/// Whether `key` asks for something that comes with documents and is not there yet.
fn missing_feature(key: &str) -> Option<&'static str> {
    const FEATURES: [(&str, &str); 6] = [
        ("counter", "counters"),
        ("timeseries", "time series"),
        ("timeseriestime", "time series"),
        ("timeseriescount", "time series"),
        ("revisions", "revisions"),
        ("revisionsBefore", "revisions"),
    ];
    FEATURES.iter().find(|(name, _)| key.eq_ignore_ascii_case(name)).map(|(_, feature)| *feature)
}

/// What a load asks for, taken from the query string in one pass.
#[derive(Debug, Default)]
struct Load<'a> {
    ids: Vec<Cow<'a, str>>,
    includes: Vec<IncludePath>,
    is_metadata_only: bool,
    is_by_prefix: bool,
}

impl<'a> Load<'a> {
    fn parse(query: QueryString<'a>) -> Result<Load<'a>> {
        let mut load = Load::default();
        for (key, value) in query.pairs() {
            if key.eq_ignore_ascii_case("id") {
                load.ids.push(decode(value));
            } else if key.eq_ignore_ascii_case("include") {
                if !value.is_empty() {
                    load.includes.push(IncludePath::new(&decode(value)));
                }
            } else if key.eq_ignore_ascii_case("metadataOnly") {
                load.is_metadata_only = value.eq_ignore_ascii_case("true");
            } else if key.eq_ignore_ascii_case("startsWith") {
                load.is_by_prefix = true;
            } else if key.eq_ignore_ascii_case("txMode") {
                if value.eq_ignore_ascii_case("ClusterWide") {
                    return Err(Error::not_supported("cluster-wide transactions"));
                }
            } else if key.eq_ignore_ascii_case("cmpxchg") {
                return Err(Error::not_supported("compare exchange"));
            } else if let Some(feature) = missing_feature(key).filter(|_| !value.is_empty()) {
                return Err(Error::not_supported(feature));
            }
        }
        Ok(load)
    }
}

/// A load by a few ids, answered at once.
pub(crate) fn get_one(exchange: &Exchange) -> Result<Option<Reply>> {
    let load = Load::parse(exchange.query())?;
    if load.ids.is_empty() || load.ids.len() > SHORT_ID_COUNT || (load.ids.len() > 1 && !load.includes.is_empty()) {
        return Ok(None);
    }
    let snapshot = exchange.database().read();
    answer_load(&snapshot, &load, exchange.if_none_match()).map(Some)
}

/// Every other form of GET.
pub(crate) async fn get(exchange: Exchange) -> Result<Reply> {
    let node = exchange.node.clone();
    node.bridge
        .run(move || {
            let load = Load::parse(exchange.query())?;
            let snapshot = exchange.database().read();
            if load.ids.is_empty() {
                return page(&snapshot, &load, exchange.query(), exchange.if_none_match());
            }
            answer_load(&snapshot, &load, exchange.if_none_match())
        })
        .await
}

/// The ids come in the body.
pub(crate) async fn post(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_body().await?;
    let node = exchange.node.clone();
    node.bridge
        .run(move || {
            let mut load = Load::parse(exchange.query())?;
            let body = parse_object(&body)?;
            match body.get("Ids") {
                Some(json::Value::Array(ids)) => {
                    load.ids = ids.iter().map(|id| Cow::Owned(id.as_str().unwrap_or_default().to_owned())).collect();
                }
                _ => return Err(Error::Argument("The body must have an array 'Ids'".to_owned())),
            }
            let snapshot = exchange.database().read();
            answer_load(&snapshot, &load, exchange.if_none_match())
        })
        .await
}

fn answer_load(snapshot: &Snapshot<'_>, load: &Load<'_>, if_none_match: Option<&HeaderValue>) -> Result<Reply> {
    if let ([id], []) = (load.ids.as_slice(), load.includes.as_slice()) {
        return answer_one(snapshot, id, load.is_metadata_only, if_none_match);
    }
    let documents = snapshot.get_many(load.ids.iter().map(|id| id.as_ref()))?;
    if let [None] = documents.as_slice() {
        return Ok(reply::empty(StatusCode::NOT_FOUND));
    }
    let found: Vec<&Document<'_>> = documents.iter().flatten().collect();
    let included = snapshot.includes(&found, &load.includes)?;
    let mut hash = ResultsHash::new();
    for document in &documents {
        match document {
            Some(document) => hash.add(document),
            None => hash.add_missing(),
        }
    }
    included.iter().for_each(|document| hash.add(document));
    let etag = hash.finish();
    if reply::is_match(if_none_match, etag.as_bytes()) {
        return Ok(not_modified());
    }
    let size: usize = documents.iter().flatten().chain(&included).map(Document::wire_size_max).sum();
    let mut body = Vec::with_capacity(size + 5 * documents.len() + 64);
    body.extend_from_slice(b"{\"Results\":[");
    for (place, document) in documents.iter().enumerate() {
        if place > 0 {
            body.push(b',');
        }
        match document {
            Some(document) => document.write(&mut body, load.is_metadata_only, None),
            None => body.extend_from_slice(b"null"),
        }
    }
    body.extend_from_slice(b"],\"Includes\":{");
    write_includes(&mut body, &included);
    body.extend_from_slice(b"}}");
    Ok(reply::with_etag(reply::ok(body), reply::quoted_etag(etag.as_bytes())))
}

/// Appends the properties of `Includes`.
pub(crate) fn write_includes(body: &mut Vec<u8>, included: &[Document<'_>]) {
    for (place, document) in included.iter().enumerate() {
        body.extend_from_slice(if place > 0 { b",\"" } else { b"\"" });
        json::escape_into(body, document.id());
        body.extend_from_slice(b"\":");
        document.write_to(body);
    }
}

/// The hot path: one document, its bytes copied once.
fn answer_one(
    snapshot: &Snapshot<'_>,
    id: &str,
    is_metadata_only: bool,
    if_none_match: Option<&HeaderValue>,
) -> Result<Reply> {
    const BEFORE: &[u8] = b"{\"Results\":[";
    const AFTER: &[u8] = b"],\"Includes\":{}}";
    let Some(document) = snapshot.get(id)? else { return Ok(reply::empty(StatusCode::NOT_FOUND)) };
    if is_current(&document, if_none_match) {
        return Ok(not_modified());
    }
    let mut body = Vec::with_capacity(document.wire_size_max() + BEFORE.len() + AFTER.len());
    body.extend_from_slice(BEFORE);
    document.write(&mut body, is_metadata_only, None);
    body.extend_from_slice(AFTER);
    Ok(reply::with_etag(reply::ok(body), document_etag(&document)))
}

fn is_current(document: &Document<'_>, if_none_match: Option<&HeaderValue>) -> bool {
    if_none_match
        .and_then(|asked| std::str::from_utf8(reply::unquote(asked.as_bytes())).ok())
        .is_some_and(|asked| document.has_change_vector(asked))
}

/// The quoted change vector, written into one buffer that becomes the header.
fn document_etag(document: &Document<'_>) -> Option<HeaderValue> {
    let mut etag = Vec::with_capacity(64);
    etag.push(b'"');
    document.write_change_vector(&mut etag);
    etag.push(b'"');
    HeaderValue::from_maybe_shared(Bytes::from(etag)).ok()
}

fn not_modified() -> Reply {
    reply::empty(StatusCode::NOT_MODIFIED)
}

/// How many documents at most: absent, negative or rubbish means all.
pub(crate) fn page_size(query: QueryString<'_>) -> u64 {
    query.number("pageSize").and_then(|size| u64::try_from(size).ok()).unwrap_or(u64::MAX)
}

pub(crate) fn page_start(query: QueryString<'_>) -> u64 {
    query.number("start").and_then(|start| u64::try_from(start).ok()).unwrap_or(0)
}

/// What a load or stream by prefix asks for.
pub(crate) fn prefix_query(query: QueryString<'_>) -> PrefixQuery {
    let wildcards = |name| query.get_nonempty(name).and_then(|text| Wildcards::new(&text));
    PrefixQuery {
        prefix: query.get("startsWith").unwrap_or_default().into_owned(),
        matches: wildcards("matches"),
        exclude: wildcards("exclude"),
        start_after: query.get_nonempty("startAfter").map(Cow::into_owned),
        start: page_start(query),
        count_max: page_size(query),
    }
}

/// A page of the documents whose ids have a prefix, or of all, the latest first.
fn page(
    snapshot: &Snapshot<'_>,
    load: &Load<'_>,
    query: QueryString<'_>,
    if_none_match: Option<&HeaderValue>,
) -> Result<Reply> {
    let etag = snapshot.change_vector()?;
    if !etag.is_empty() && reply::is_match(if_none_match, etag.as_bytes()) {
        return Ok(not_modified());
    }
    if load.is_by_prefix {
        let documents = snapshot.by_prefix(prefix_query(query))?;
        return list(documents, load.is_metadata_only, &etag);
    }
    let mut documents = snapshot.latest();
    documents.skip_documents(page_start(query))?;
    let count = usize::try_from(page_size(query)).unwrap_or(usize::MAX);
    list(documents.take(count), load.is_metadata_only, &etag)
}

fn list<'t>(
    documents: impl Iterator<Item = database::documents::Result<Document<'t>>>,
    is_metadata_only: bool,
    etag: &str,
) -> Result<Reply> {
    let mut body = b"{\"Results\":[".to_vec();
    for (place, document) in documents.enumerate() {
        if place > 0 {
            body.push(b',');
        }
        document?.write(&mut body, is_metadata_only, None);
    }
    body.extend_from_slice(b"]}");
    Ok(reply::with_etag(reply::ok(body), reply::quoted_etag(etag.as_bytes())))
}

pub(crate) fn head(exchange: &Exchange) -> Result<Reply> {
    let id = exchange.required("id")?;
    let snapshot = exchange.database().read();
    let Some(document) = snapshot.get(&id)? else { return Ok(reply::empty(StatusCode::NOT_FOUND)) };
    let status =
        if is_current(&document, exchange.if_none_match()) { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    Ok(reply::with_etag(reply::empty(status), document_etag(&document)))
}

pub(crate) fn size(exchange: &Exchange) -> Result<Reply> {
    let id = exchange.required("id")?;
    let snapshot = exchange.database().read();
    let Some(document) = snapshot.get(&id)? else { return Ok(reply::empty(StatusCode::NOT_FOUND)) };
    let size = document.size() as u64;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("ActualSize").unsigned(size).name("HumaneActualSize").string(&humane(size));
        json.name("AllocatedSize").unsigned(size).name("HumaneAllocatedSize").string(&humane(size));
        json.name("IsCompressed").bool(false).name("DocId").string(document.id());
    }))
}

pub(crate) async fn put(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_body().await?;
    let mut batch = Batch::new();
    let expected = Expected::from_wire(exchange.if_match().as_deref());
    batch.put(&exchange.required("id")?, &body, expected)?;
    let outcome = submit(exchange.database(), batch).await?;
    let Some(CommandResult::Put { id, change_vector, .. }) = outcome.results.first() else {
        return Err(Error::Panicked("a PUT had no result".to_owned()));
    };
    Ok(reply::object(StatusCode::CREATED, |json| {
        json.name("Id").string(id).name("ChangeVector").string(change_vector);
    }))
}

pub(crate) async fn delete(exchange: Exchange) -> Result<Reply> {
    let mut batch = Batch::new();
    batch.delete(&exchange.required("id")?, Expected::from_wire(exchange.if_match().as_deref()))?;
    submit(exchange.database(), batch).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// Hands a batch over and waits until it is durable, without holding a thread.
pub(crate) async fn submit(database: &Arc<Database>, batch: Batch) -> Result<database::documents::Outcome> {
    bridge::answer(|done| database.submit(batch, done.into_call_back())).await
}
