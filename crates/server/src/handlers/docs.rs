//! `/databases/{name}/docs`: documents by id, by prefix, all of them; storing and deleting one.
//!
//! | call | parameters | answers |
//! | --- | --- | --- |
//! | GET | `id`*, `include`*, `cmpxchg`*, `txMode`, `counter`*, `metadataOnly` | 200; one id that is not there: 404; not changed: 304 |
//! | GET | the same with `revisions`*, `revisionsBefore` | the same with [revisions](super::revisions) |
//! | GET | `startsWith`, `matches`, `exclude`, `startAfter`, `start`, `pageSize`, `metadataOnly` | 200 in id order |
//! | GET | `start`, `pageSize`, `metadataOnly` | 200, the latest first |
//! | GET | `etag`, `start`, `pageSize`, `metadataOnly` | 200, from that etag on in rising order |
//! | GET | `id`*, `asOf`, `include`*, `metadataOnly` | the same as of a time ([`super::as_of`]) |
//! | POST | as the first, ids in the body `{"Ids":[]}` | 200 |
//! | HEAD | `id` | 200, 304, 404 |
//! | PUT | `id`; `If-Match` | 201 `{Id, ChangeVector}`, 409 |
//! | DELETE | `id`; `If-Match` | 204, 409 |
//! | GET `/docs/size` | `id` | 200, 404 |

use std::borrow::Cow;

use bytes::Bytes;
use database::documents::{
    ALL_COUNTERS, Batch, CommandResult, CounterIncludes, Date, Document, Expected, Feature, IncludePath,
    IncludedRevision, PrefixQuery, ResultsHash, RevisionClause, RevisionIncludes, Snapshot, Wildcards,
};
use database::limits::DEADLINE_EVERY;
use database::queries::{Deadline, IncludedValues};
use hyper::StatusCode;
use hyper::header::HeaderValue;

use super::as_of;
use super::revisions::write_included_revisions;
use super::submit::submit;
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::limits::SHORT_WORK_SIZE;
use crate::messages::answers::{self, AnswerWriter, Out};
use crate::messages::query_string::{QueryString, decode, parse_bool};
use crate::messages::reply::{self, Reply};
use crate::monitoring::humane_size::humane;
use crate::routing::exchange::{Exchange, parse_object};

/// Loads of at most so many ids are short enough for the network thread.
const SHORT_ID_COUNT: usize = 8;

/// And so many includes of one.
const SHORT_INCLUDE_COUNT: usize = 8;

/// The missing feature whose items `key` asks for beside the documents.
fn missing_feature(key: &str) -> Option<Feature> {
    const FEATURES: [(&str, Feature); 3] = [
        ("timeseries", Feature::TimeSeries),
        ("timeseriestime", Feature::TimeSeries),
        ("timeseriescount", Feature::TimeSeries),
    ];
    FEATURES.iter().find(|(name, _)| key.eq_ignore_ascii_case(name)).map(|(_, feature)| *feature)
}

/// The parameters of a load, read from the query string in one pass.
#[derive(Debug, Default)]
struct Load<'a> {
    ids: Vec<Cow<'a, str>>,
    includes: Vec<IncludePath>,
    is_metadata_only: bool,
    is_by_prefix: bool,
    /// For a cluster-wide session: missing documents are left out, and their atomic guards come with the answer.
    is_cluster_wide: bool,
    /// Paths to keys of compare-exchange values, which come with the answer.
    values: Vec<IncludePath>,
    /// Names of counters; empty: all of them. None: no counters.
    counters: Option<Vec<String>>,
    /// Revisions that come with the documents.
    revisions: RevisionClause,
    /// Documents as they were at this time.
    as_of: Option<Date>,
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
            } else if key.eq_ignore_ascii_case("counter") {
                load.add_counter(decode(value));
            } else if key.eq_ignore_ascii_case("metadataOnly") {
                load.is_metadata_only = parse_bool(key, value)?;
            } else if key.eq_ignore_ascii_case("startsWith") {
                load.is_by_prefix = true;
            } else if key.eq_ignore_ascii_case("txMode") {
                load.is_cluster_wide = value.eq_ignore_ascii_case("ClusterWide");
            } else if key.eq_ignore_ascii_case("cmpxchg") {
                if !value.is_empty() {
                    load.values.push(IncludePath::new(&decode(value)));
                }
            } else if key.eq_ignore_ascii_case("revisions") {
                load.revisions.add_path(&decode(value));
            } else if key.eq_ignore_ascii_case("revisionsBefore") {
                if !value.is_empty() {
                    load.revisions.add_time(parse_time(key, value)?);
                }
            } else if key.eq_ignore_ascii_case("asOf") {
                load.as_of = Some(parse_time(key, value)?);
            } else if let Some(feature) = missing_feature(key).filter(|_| !value.is_empty()) {
                return Err(feature.missing().into());
            }
        }
        if load.ids.is_empty() && load.is_by_prefix && load.counters.is_some() {
            let rule = "'counter' belongs to loads by id: load the documents by their ids, or query them with 'include counters()'";
            return Err(Error::Argument(rule.to_owned()));
        }
        let has_more =
            load.is_cluster_wide || load.counters.is_some() || !load.values.is_empty() || !load.revisions.is_empty();
        if load.as_of.is_some() && (load.ids.is_empty() || has_more) {
            let rule = "'asOf' belongs to loads by id, with 'include' and 'metadataOnly' beside it at most";
            return Err(Error::Argument(rule.to_owned()));
        }
        Ok(load)
    }

    fn add_counter(&mut self, name: Cow<'_, str>) {
        let is_all = name == ALL_COUNTERS || self.counters.as_ref().is_some_and(Vec::is_empty);
        let names = self.counters.get_or_insert_default();
        match is_all {
            true => names.clear(),
            false => names.push(name.into_owned()),
        }
    }
}

fn parse_time(key: &str, value: &str) -> Result<Date> {
    let text = decode(value);
    Date::parse(&text).ok_or_else(|| Error::parameter(key, &text, "a date"))
}

/// A load by a few ids, answered at once if it is short.
pub(crate) fn get_one(exchange: &Exchange) -> Result<Option<Reply>> {
    let load = Load::parse(exchange.query())?;
    if load.counters.is_some() || load.as_of.is_some() || !load.revisions.is_empty() {
        return Ok(None);
    }
    let snapshot = exchange.database().read();
    match (load.ids.as_slice(), load.includes.len()) {
        _ if load.is_cluster_wide || !load.values.is_empty() => Ok(None),
        ([id], 0) => answer_one(&snapshot, id, load.is_metadata_only, exchange.if_none_match()),
        ([], _) => Ok(None),
        ([_], includes) if includes > SHORT_INCLUDE_COUNT => Ok(None),
        ([_, _, ..], 1..) => Ok(None),
        (ids, _) if ids.len() > SHORT_ID_COUNT => Ok(None),
        (ids, includes) => {
            // What a large document includes is not known to be little.
            let size_max = if includes > 0 { SHORT_WORK_SIZE / 16 } else { SHORT_WORK_SIZE };
            let documents = snapshot.get_many(ids.iter().map(|id| id.as_ref()))?;
            if wire_size(documents.iter().flatten()) > size_max {
                return Ok(None);
            }
            let deadline = Deadline::new(Some(exchange.node.limits.query_run_time), || false);
            let found = LoadedDocuments::new(&snapshot, &load, documents, &deadline)?;
            if found.size() > SHORT_WORK_SIZE {
                return Ok(None);
            }
            if let Some(reply) = found.short_reply(exchange.if_none_match()) {
                return Ok(Some(reply));
            }
            let mut body = Vec::with_capacity(found.size());
            found.write(&snapshot, &mut body, load.is_metadata_only)?;
            Ok(Some(found.head(body)))
        }
    }
}

/// Every other form of GET.
pub(crate) async fn get(exchange: Exchange) -> Result<Reply> {
    answers::produce(exchange, Pool::Reads, |exchange, out| {
        let load = Load::parse(exchange.query())?;
        if load.ids.is_empty() { page(exchange, &load, out) } else { answer_load(exchange, &load, out) }
    })
    .await
}

/// The ids come in the body.
pub(crate) async fn post(mut exchange: Exchange) -> Result<Reply> {
    let ids = exchange.parse_tree(|body| ids_of(&parse_object(body)?)).await?;
    answers::produce(exchange, Pool::Reads, move |exchange, out| {
        let mut load = Load::parse(exchange.query())?;
        load.ids = ids.into_iter().map(Cow::Owned).collect();
        answer_load(exchange, &load, out)
    })
    .await
}

/// When this answer has to be ready.
fn deadline(exchange: &Exchange, out: &AnswerWriter) -> Deadline {
    let caller = out.caller();
    Deadline::new(Some(exchange.node.limits.query_run_time), move || caller.is_gone())
}

/// The ids in a body; `null` is the id of no document.
fn ids_of(body: &json::Value) -> Result<Vec<String>> {
    let Some(json::Value::Array(ids)) = body.get("Ids") else {
        return Err(Error::Argument("The body must have an array 'Ids'".to_owned()));
    };
    let id = |id: &json::Value| match id {
        json::Value::String(id) => Some(id.clone()),
        json::Value::Null => Some(String::new()),
        _ => None,
    };
    let ids: Option<Vec<String>> = ids.iter().map(id).collect();
    ids.ok_or_else(|| Error::Argument("'Ids' must be an array of ids".to_owned()))
}

fn answer_load(exchange: &Exchange, load: &Load<'_>, out: &mut AnswerWriter) -> Result<Option<Reply>> {
    let deadline = deadline(exchange, out);
    if let Some(time) = load.as_of {
        let (ids, includes, is_metadata_only) = (&load.ids, &load.includes, load.is_metadata_only);
        return as_of::answer(exchange, out, &deadline, &as_of::Load { ids, includes, time, is_metadata_only });
    }
    let snapshot = exchange.database().read();
    let is_plain =
        !load.is_cluster_wide && load.values.is_empty() && load.counters.is_none() && load.revisions.is_empty();
    if let (true, [id], []) = (is_plain, load.ids.as_slice(), load.includes.as_slice()) {
        let Some(document) = snapshot.get(id)? else { return Ok(Some(not_found(exchange.if_none_match()))) };
        if is_current(&document, exchange.if_none_match()) {
            return Ok(Some(not_modified()));
        }
        out.begin(reply::with_etag(reply::ok(Bytes::new()), document_etag(&document)), &snapshot)?;
        return write_one(out, &document, load.is_metadata_only).map(|()| None);
    }
    let mut documents = Vec::new();
    let mut reservation = exchange.node.memory.reservation();
    for id in &load.ids {
        deadline.look()?;
        if documents.len() == documents.capacity() {
            let count =
                (2 * documents.len()).clamp(DEADLINE_EVERY as usize, load.ids.len().max(DEADLINE_EVERY as usize));
            reservation.grow(count * size_of::<Option<Document<'_>>>())?;
            documents.reserve_exact(count - documents.len());
        }
        documents.push(snapshot.get(id)?);
    }
    let found = LoadedDocuments::new(&snapshot, load, documents, &deadline)?;
    if let Some(reply) = found.short_reply(exchange.if_none_match()) {
        return Ok(Some(reply));
    }
    out.begin(found.head(Bytes::new()), &snapshot)?;
    found.write(&snapshot, out, load.is_metadata_only)?;
    Ok(None)
}

/// The result of a load by ids.
struct LoadedDocuments<'s> {
    documents: Vec<Option<Document<'s>>>,
    included: Vec<Document<'s>>,
    values: IncludedValues<'s>,
    is_cluster_wide: bool,
    counters: Option<CounterIncludes>,
    revisions: Vec<IncludedRevision>,
    etag: String,
}

impl<'s> LoadedDocuments<'s> {
    fn new(
        snapshot: &'s Snapshot<'_>,
        load: &Load<'_>,
        documents: Vec<Option<Document<'s>>>,
        deadline: &Deadline,
    ) -> Result<LoadedDocuments<'s>> {
        let found: Vec<&Document<'_>> = documents.iter().flatten().collect();
        let included = deadline.includes(snapshot, &found, &load.includes)?;
        let mut hash = ResultsHash::new();
        for document in &documents {
            match document {
                Some(document) => hash.add(document),
                None => hash.add_missing(),
            }
        }
        included.iter().for_each(|document| hash.add(document));
        let mut counters = None;
        if let Some(names) = &load.counters {
            let counters = counters.insert(CounterIncludes::default());
            for document in documents.iter().flatten() {
                deadline.look()?;
                counters.add(snapshot, document.id(), names)?;
            }
            counters.add_to(&mut hash);
        }
        let mut values = IncludedValues::default();
        if load.is_cluster_wide {
            for (id, _) in load.ids.iter().zip(&documents).filter(|(_, document)| document.is_none()) {
                values.add_guard_of(snapshot, id)?;
            }
        }
        for document in documents.iter().flatten() {
            deadline.look()?;
            values.add_all(snapshot, &load.values, document.body())?;
        }
        values.hash_into(&mut hash);
        let mut asked = RevisionIncludes::default();
        for document in documents.iter().flatten().filter(|_| !load.revisions.is_empty()) {
            deadline.look()?;
            asked.add_vectors(&load.revisions, document.body())?;
            asked.add_times(&load.revisions, document.id());
        }
        let mut revisions = Vec::new();
        for revision in asked.find(snapshot) {
            deadline.look()?;
            let Some(revision) = revision? else { continue };
            revision.add_to(snapshot, &mut hash)?;
            revisions.push(revision);
        }
        let is_cluster_wide = load.is_cluster_wide;
        Ok(LoadedDocuments { documents, included, counters, revisions, values, is_cluster_wide, etag: hash.finish() })
    }

    /// The answer that has no documents, if it is one.
    fn short_reply(&self, if_none_match: Option<&HeaderValue>) -> Option<Reply> {
        if let (false, [None]) = (self.is_cluster_wide, self.documents.as_slice()) {
            return Some(not_found(if_none_match));
        }
        reply::is_match(if_none_match, self.etag.as_bytes()).then(not_modified)
    }

    fn head(&self, body: impl Into<Bytes>) -> Reply {
        reply::with_etag(reply::ok(body), reply::quoted_etag(self.etag.as_bytes()))
    }

    /// Bytes of the body at the most.
    fn size(&self) -> usize {
        wire_size(self.documents.iter().flatten().chain(&self.included))
            + self.values.wire_size()
            + 5 * self.documents.len()
            + 64
    }

    fn write(&self, snapshot: &Snapshot<'_>, out: &mut impl Out, is_metadata_only: bool) -> Result<()> {
        out.buffer().extend_from_slice(b"{\"Results\":[");
        let results = self.documents.iter().filter(|document| !self.is_cluster_wide || document.is_some());
        for (place, document) in results.enumerate() {
            if place > 0 {
                out.buffer().push(b',');
            }
            match document {
                Some(document) => document.write(out.buffer(), is_metadata_only, None),
                None => out.buffer().extend_from_slice(b"null"),
            }
            out.part_done()?;
        }
        out.buffer().extend_from_slice(b"],\"Includes\":{");
        write_includes(out, &self.included)?;
        out.buffer().push(b'}');
        if let Some(counters) = &self.counters {
            out.buffer().extend_from_slice(b",\"CounterIncludes\":");
            counters.write(&mut json::Writer::new(out.buffer()));
            out.part_done()?;
        }
        write_included_revisions(snapshot, out, &self.revisions)?;
        write_included_values(out, &self.values)?;
        out.buffer().push(b'}');
        Ok(())
    }
}

fn wire_size<'d>(documents: impl Iterator<Item = &'d Document<'d>>) -> usize {
    documents.map(Document::wire_size_max).sum()
}

/// Appends the property `CompareExchangeValueIncludes`, with the comma before it, if there are any.
pub(crate) fn write_included_values(out: &mut impl Out, values: &IncludedValues<'_>) -> Result<()> {
    if values.is_empty() {
        return Ok(());
    }
    out.buffer().extend_from_slice(b",\"CompareExchangeValueIncludes\":{");
    for (place, property) in values.properties().enumerate() {
        if place > 0 {
            out.buffer().push(b',');
        }
        property(out.buffer());
        out.part_done()?;
    }
    out.buffer().push(b'}');
    Ok(())
}

/// Appends the properties of `Includes`.
pub(crate) fn write_includes(out: &mut impl Out, included: &[Document<'_>]) -> Result<()> {
    for (place, document) in included.iter().enumerate() {
        let body = out.buffer();
        body.extend_from_slice(if place > 0 { b",\"" } else { b"\"" });
        json::escape_into(body, document.id());
        body.extend_from_slice(b"\":");
        document.write_to(body);
        out.part_done()?;
    }
    Ok(())
}

const BEFORE_ONE: &[u8] = b"{\"Results\":[";
const AFTER_ONE: &[u8] = b"],\"Includes\":{}}";

/// The hot path: one document, its bytes copied once. None if it is too large for that.
fn answer_one(
    snapshot: &Snapshot<'_>,
    id: &str,
    is_metadata_only: bool,
    if_none_match: Option<&HeaderValue>,
) -> Result<Option<Reply>> {
    let Some(document) = snapshot.get(id)? else { return Ok(Some(not_found(if_none_match))) };
    if is_current(&document, if_none_match) {
        return Ok(Some(not_modified()));
    }
    let size = document.wire_size_max();
    if size > SHORT_WORK_SIZE {
        return Ok(None);
    }
    let mut body = Vec::with_capacity(size + BEFORE_ONE.len() + AFTER_ONE.len());
    write_one(&mut body, &document, is_metadata_only)?;
    Ok(Some(reply::with_etag(reply::ok(body), document_etag(&document))))
}

fn write_one(out: &mut impl Out, document: &Document<'_>, is_metadata_only: bool) -> Result<()> {
    out.buffer().extend_from_slice(BEFORE_ONE);
    document.write(out.buffer(), is_metadata_only, None);
    out.buffer().extend_from_slice(AFTER_ONE);
    out.part_done()
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

/// The answer about one document that is not there. A client that knows so already gets 304: what it keeps as the etag
/// is the text `404 Response`.
fn not_found(if_none_match: Option<&HeaderValue>) -> Reply {
    if reply::is_match(if_none_match, b"404 Response") { not_modified() } else { reply::empty(StatusCode::NOT_FOUND) }
}

/// The parameters of a load or stream by prefix.
pub(crate) fn prefix_query(query: QueryString<'_>) -> Result<PrefixQuery> {
    let wildcards = |name| query.get_nonempty(name).and_then(|text| Wildcards::new(&text));
    Ok(PrefixQuery {
        prefix: query.get("startsWith").unwrap_or_default().into_owned(),
        matches: wildcards("matches"),
        exclude: wildcards("exclude"),
        start_after: query.get_nonempty("startAfter").map(Cow::into_owned),
        start: query.page_start()?,
        count_max: query.page_size()?,
    })
}

/// A page of all documents from an etag on, of those whose ids have a prefix, or of all, the latest first.
fn page(exchange: &Exchange, load: &Load<'_>, out: &mut AnswerWriter) -> Result<Option<Reply>> {
    if !load.revisions.is_empty() {
        let rule = "'revisions' and 'revisionsBefore' belong to loads by id: load the documents by their ids, or query them with 'include revisions(..)'";
        return Err(Error::Argument(rule.to_owned()));
    }
    let query = exchange.query();
    let first_etag = query.signed("etag")?;
    let deadline = deadline(exchange, out);
    let snapshot = exchange.database().read();
    let etag = snapshot.change_vector()?;
    if !etag.is_empty() && reply::is_match(exchange.if_none_match(), etag.as_bytes()) {
        return Ok(Some(not_modified()));
    }
    let head = reply::with_etag(reply::ok(Bytes::new()), reply::quoted_etag(etag.as_bytes()));
    // As in the reference, an etag counts and a prefix beside it does not.
    if load.is_by_prefix && first_etag.is_none() {
        let prefix = prefix_query(query)?;
        out.begin(head, &snapshot)?;
        return list(deadline.by_prefix(&snapshot, prefix)?, load.is_metadata_only, &deadline, out);
    }
    let documents = match first_etag {
        Some(first) => snapshot.after(u64::try_from(first).unwrap_or(0).saturating_sub(1)),
        None => snapshot.latest(),
    };
    let (start, count) = (query.page_start()?, query.page_size()?);
    out.begin(head, &snapshot)?;
    list(deadline.by_etag(documents, start, count)?, load.is_metadata_only, &deadline, out)
}

fn list<'t>(
    documents: impl Iterator<Item = database::Result<Document<'t>>>,
    is_metadata_only: bool,
    deadline: &Deadline,
    out: &mut AnswerWriter,
) -> Result<Option<Reply>> {
    out.buffer().extend_from_slice(b"{\"Results\":[");
    for (place, document) in documents.enumerate() {
        if place > 0 {
            out.buffer().push(b',');
        }
        document?.write(out.buffer(), is_metadata_only, None);
        out.part_done()?;
        if out.is_sent() {
            deadline.lift();
        }
    }
    out.buffer().extend_from_slice(b"]}");
    Ok(None)
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
    let expected = Expected::from_wire(exchange.if_match().as_deref());
    let id = exchange.required("id")?;
    let batch = if body.len() <= SHORT_WORK_SIZE {
        batch_of(&id, &body, expected)?
    } else {
        let id = id.into_owned();
        exchange.node.bridge.run(Pool::Short, move || batch_of(&id, &body, expected)).await?
    };
    let outcome = submit(&exchange.node, exchange.database(), batch).await?;
    let Some(CommandResult::Put { id, change_vector, .. }) = outcome.results.first() else {
        return Err(Error::Panicked("a PUT had no result".to_owned()));
    };
    Ok(reply::object(StatusCode::CREATED, |json| {
        json.name("Id").string(id).name("ChangeVector").string(change_vector);
    }))
}

fn batch_of(id: &str, body: &[u8], expected: Expected) -> Result<Batch> {
    let mut batch = Batch::new();
    batch.put(id, body, expected)?;
    Ok(batch)
}

pub(crate) async fn delete(exchange: Exchange) -> Result<Reply> {
    let mut batch = Batch::new();
    batch.delete(&exchange.required("id")?, Expected::from_wire(exchange.if_match().as_deref()))?;
    submit(&exchange.node, exchange.database(), batch).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}
