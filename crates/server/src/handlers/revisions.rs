//! `/databases/{name}/revisions` and `/databases/{name}/admin/revisions`: former states of documents.
//!
//! | call | parameters | answers |
//! | --- | --- | --- |
//! | GET `/revisions` | `id`, `start`, `pageSize`, `metadataOnly` | 200 `{Results, TotalResults}`, the newest first |
//! | GET `/revisions` | `id`, `before` | 200 `{Results, TotalResults}`: the state at that time, if there was one |
//! | GET `/revisions` | `changeVector`* | 200 `{Results}`, null for an unknown one; a single unknown one: 404 |
//! | GET `/revisions/count` | `id` | 200 `{RevisionsCount}` |
//! | GET `/revisions/bin` | `start`, `pageSize` | 200 `{Results}`: deleted documents, the latest first |
//! | GET `/revisions/config`, `/revisions/conflicts/config`, `/revisions/bin-cleaner/config` | | 200, 404 if there is none |
//! | POST `/admin/revisions/config` and so on | the configuration | 200 `{RaftCommandIndex}` |
//! | DELETE `/admin/revisions` | `{DocumentIds, RevisionsChangeVectors, From, To, RemoveForceCreatedRevisions}` | 200 `{TotalDeletes}` |
//! | POST `/admin/revisions/config/enforce` | `{IncludeForceCreated, Collections}` | 200 `{OperationId, OperationNodeTag}` |
//! | POST `/admin/revisions/orphaned/adopt` | `{Collections}` | the same |
//! | POST `/revisions/revert` | `{Time, Collections}` | the same |
//! | POST `/revisions/revert/docs` | `{IdToChangeVector: {id: change vector}}` | 200 |

use std::borrow::Cow;

use bytes::Bytes;
use database::documents::{
    Date, IncludedRevision, ResultsHash, RevertTo, Revision, RevisionPlace, RevisionsWrite, Snapshot, Write,
};
use database::revisions::{RevisionsOperation, RevisionsProperty, RevisionsReport, RevisionsWork};
use hyper::StatusCode;
use json::Value;

use super::databases::request_id;
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::answers::{self, AnswerWriter, Out};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// The configuration of documents with conflicts that holds where none was set.
const CONFLICTS_DEFAULT: &str = r#"{"Disabled":false,"MinimumRevisionsToKeep":1024,"MinimumRevisionAgeToKeep":null,"PurgeOnDelete":false,"MaximumRevisionsToDeleteUponDocumentUpdate":10240}"#;

pub(crate) async fn get(exchange: Exchange) -> Result<Reply> {
    answers::produce(exchange, Pool::Reads, |exchange, out| {
        let vectors: Vec<Cow<'_, str>> = exchange.query().all("changeVector").collect();
        if vectors.is_empty() { of_document(exchange, out) } else { by_vectors(exchange, &vectors, out) }
    })
    .await
}

fn of_document(exchange: &Exchange, out: &mut AnswerWriter) -> Result<Option<Reply>> {
    let id = exchange.required("id")?;
    let query = exchange.query();
    let is_metadata_only = query.is_true("metadataOnly")?;
    let snapshot = exchange.database().read();
    if let Some(before) = query.get_nonempty("before") {
        let time = Date::parse(&before).ok_or_else(|| {
            Error::Argument(format!("Could not parse query string 'before' as date, val '{}'", before.escape_debug()))
        })?;
        let found = snapshot.revision_before(&id, time)?;
        let etag = match &found {
            Some(revision) => revision.document()?.change_vector(),
            None => NOTHING.to_owned(),
        };
        if reply::is_match(exchange.if_none_match(), etag.as_bytes()) {
            return Ok(Some(reply::empty(StatusCode::NOT_MODIFIED)));
        }
        out.begin(head(&etag), &snapshot)?;
        out.buffer().extend_from_slice(b"{\"Results\":[");
        if let Some(revision) = &found {
            revision.document()?.write(out.buffer(), is_metadata_only, None);
        }
        let count = u8::from(found.is_some());
        out.buffer().extend_from_slice(format!("],\"TotalResults\":{count}}}").as_bytes());
        return Ok(None);
    }
    let places = snapshot.revisions(&id, query.page_start()?, query.page_size()?)?;
    let etag = etag_of(&snapshot, &places)?;
    if reply::is_match(exchange.if_none_match(), etag.as_bytes()) {
        return Ok(Some(reply::empty(StatusCode::NOT_MODIFIED)));
    }
    let count = snapshot.revision_count(&id)?;
    out.begin(head(&etag), &snapshot)?;
    out.buffer().extend_from_slice(b"{\"Results\":[");
    write_places(&snapshot, &places, is_metadata_only, out)?;
    out.buffer().extend_from_slice(format!("],\"TotalResults\":{count}}}").as_bytes());
    Ok(None)
}

fn by_vectors(exchange: &Exchange, vectors: &[Cow<'_, str>], out: &mut AnswerWriter) -> Result<Option<Reply>> {
    let is_metadata_only = exchange.query().is_true("metadataOnly")?;
    let snapshot = exchange.database().read();
    let mut hash = ResultsHash::new();
    let mut first = None;
    for vector in vectors {
        let found = snapshot.revision_by_vector(vector)?;
        match &found {
            Some(revision) => hash.add(&revision.document()?),
            None => hash.add_missing(),
        }
        first = Some(found);
    }
    let etag = match (vectors, &first) {
        ([_], Some(None)) => return Ok(Some(reply::empty(StatusCode::NOT_FOUND))),
        ([vector], _) => vector.to_string(),
        _ => hash.finish(),
    };
    if reply::is_match(exchange.if_none_match(), etag.as_bytes()) {
        return Ok(Some(reply::empty(StatusCode::NOT_MODIFIED)));
    }
    out.begin(head(&etag), &snapshot)?;
    out.buffer().extend_from_slice(b"{\"Results\":[");
    for (place, vector) in vectors.iter().enumerate() {
        if place > 0 {
            out.buffer().push(b',');
        }
        match snapshot.revision_by_vector(vector)? {
            Some(revision) => revision.document()?.write(out.buffer(), is_metadata_only, None),
            None => out.buffer().extend_from_slice(b"null"),
        }
        out.part_done()?;
    }
    out.buffer().extend_from_slice(b"]}");
    Ok(None)
}

/// Appends the property `RevisionIncludes`, with the comma before it, if there are any.
pub(crate) fn write_included_revisions(
    snapshot: &Snapshot<'_>,
    out: &mut impl Out,
    revisions: &[IncludedRevision],
) -> Result<()> {
    if revisions.is_empty() {
        return Ok(());
    }
    out.buffer().extend_from_slice(b",\"RevisionIncludes\":[");
    for (place, revision) in revisions.iter().enumerate() {
        if place > 0 {
            out.buffer().push(b',');
        }
        revision.write(snapshot, out.buffer())?;
        out.part_done()?;
    }
    out.buffer().push(b']');
    Ok(())
}

/// The etag of an answer without revisions.
const NOTHING: &str = "nothing";

fn head(etag: &str) -> Reply {
    reply::with_etag(reply::ok(Bytes::new()), reply::quoted_etag(etag.as_bytes()))
}

/// Of one revision its change vector, of several a hash.
fn etag_of(snapshot: &Snapshot<'_>, places: &[RevisionPlace]) -> Result<String> {
    let vector = |revision: &Revision<'_>| Ok::<_, Error>(revision.document()?.change_vector());
    match places {
        [] => Ok(NOTHING.to_owned()),
        [place] => vector(&snapshot.revision_at(*place)?),
        places => {
            let mut hash = ResultsHash::new();
            for place in places {
                hash.add(&snapshot.revision_at(*place)?.document()?);
            }
            Ok(hash.finish())
        }
    }
}

fn write_places(
    snapshot: &Snapshot<'_>,
    places: &[RevisionPlace],
    is_metadata_only: bool,
    out: &mut AnswerWriter,
) -> Result<()> {
    for (number, place) in places.iter().enumerate() {
        if number > 0 {
            out.buffer().push(b',');
        }
        snapshot.revision_at(*place)?.document()?.write(out.buffer(), is_metadata_only, None);
        out.part_done()?;
    }
    Ok(())
}

pub(crate) async fn count(exchange: Exchange) -> Result<Reply> {
    let id = exchange.required("id")?.into_owned();
    let database = exchange.database().clone();
    let count = exchange.node.bridge.run(Pool::Reads, move || Ok(database.read().revision_count(&id)?)).await?;
    Ok(reply::object(StatusCode::OK, |json| _ = json.name("RevisionsCount").unsigned(count)))
}

pub(crate) async fn bin(exchange: Exchange) -> Result<Reply> {
    answers::produce(exchange, Pool::Reads, |exchange, out| {
        let query = exchange.query();
        // The client for Node sends 'null' for what was not set.
        let page_size = match query.get_nonempty("pageSize").as_deref() {
            Some("null") => u64::MAX,
            _ => query.page_size()?,
        };
        let snapshot = exchange.database().read();
        let places = snapshot.revisions_bin(query.page_start()?, page_size)?;
        out.begin(reply::ok(Bytes::new()), &snapshot)?;
        out.buffer().extend_from_slice(b"{\"Results\":[");
        write_places(&snapshot, &places, false, out)?;
        out.buffer().extend_from_slice(b"]}");
        Ok(None)
    })
    .await
}

pub(crate) fn configuration(exchange: &Exchange) -> Result<Reply> {
    get_property(exchange, RevisionsProperty::Collections, None)
}

pub(crate) fn conflicts_configuration(exchange: &Exchange) -> Result<Reply> {
    get_property(exchange, RevisionsProperty::Conflicts, Some(CONFLICTS_DEFAULT))
}

pub(crate) fn bin_configuration(exchange: &Exchange) -> Result<Reply> {
    get_property(exchange, RevisionsProperty::Bin, None)
}

fn get_property(exchange: &Exchange, property: RevisionsProperty, default: Option<&str>) -> Result<Reply> {
    let record = exchange.node.databases.record(exchange.database().name())?;
    let stored = record.value.get(property.name()).filter(|value| **value != Value::Null);
    match (stored, default) {
        (Some(value), _) => {
            let mut body = Vec::new();
            value.write(&mut json::Writer::new(&mut body));
            Ok(reply::json(StatusCode::OK, body))
        }
        (None, Some(default)) => Ok(reply::json(StatusCode::OK, default.as_bytes().to_vec())),
        (None, None) => Ok(reply::empty(StatusCode::NOT_FOUND)),
    }
}

pub(crate) async fn put_configuration(exchange: Exchange) -> Result<Reply> {
    put_property(exchange, RevisionsProperty::Collections).await
}

pub(crate) async fn put_conflicts_configuration(exchange: Exchange) -> Result<Reply> {
    put_property(exchange, RevisionsProperty::Conflicts).await
}

pub(crate) async fn put_bin_configuration(exchange: Exchange) -> Result<Reply> {
    put_property(exchange, RevisionsProperty::Bin).await
}

async fn put_property(mut exchange: Exchange, property: RevisionsProperty) -> Result<Reply> {
    let value = exchange.read_whole_object().await?;
    let name = exchange.database().name().to_owned();
    let request_id = request_id(&exchange);
    let databases = exchange.node.databases.clone();
    let change = move || Ok(databases.put_revisions_configuration(&name, property, &value, request_id.as_deref())?);
    let index = exchange.node.bridge.run(Pool::Short, change).await?;
    Ok(reply::object(StatusCode::OK, |json| _ = json.name("RaftCommandIndex").unsigned(index)))
}

pub(crate) async fn delete(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_whole_object().await?;
    let document_ids = texts(&body, "DocumentIds")?;
    let vectors = texts(&body, "RevisionsChangeVectors")?;
    if document_ids.is_empty() {
        return Err(Error::Argument("request 'DocumentIds' cannot be null or empty.".to_owned()));
    }
    if !vectors.is_empty() && document_ids.len() > 1 {
        let rule = "The request must include exactly one document ID when deleting specific revisions by their change-vectors.";
        return Err(Error::Argument(rule.to_owned()));
    }
    let write = RevisionsWrite::Delete {
        document_ids,
        vectors,
        from: date(&body, "From")?,
        to: date(&body, "To")?,
        with_forced: flag(&body, "RemoveForceCreatedRevisions")?,
    };
    let count = propose(&exchange, write).await?;
    Ok(reply::object(StatusCode::OK, |json| _ = json.name("TotalDeletes").unsigned(count)))
}

pub(crate) async fn revert_documents(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_whole_object().await?;
    let mut reverts = Vec::new();
    let vectors = body.get("IdToChangeVector").filter(|value| **value != Value::Null);
    for (id, vector) in vectors.map_or(&[][..], Value::members) {
        let Value::String(vector) = vector else {
            return Err(Error::Argument("'IdToChangeVector' must map ids to change vectors".to_owned()));
        };
        reverts.push((id.clone(), RevertTo::Vector(vector.clone())));
    }
    if !reverts.is_empty() {
        propose(&exchange, RevisionsWrite::Revert(reverts)).await?;
    }
    Ok(reply::empty(StatusCode::OK))
}

async fn propose(exchange: &Exchange, write: RevisionsWrite) -> Result<u64> {
    let write = Write::Revisions(write);
    let answer = exchange.node.bridge.answer(|done| exchange.database().propose(write, done.into_call_back())).await?;
    Ok(answer.count()?)
}

pub(crate) async fn enforce(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_object().await?;
    if body.get("MaxOpsPerSecond").is_some_and(|value| *value != Value::Null) {
        return Err(Error::not_supported("'MaxOpsPerSecond' of enforcing a configuration of revisions"));
    }
    let work = RevisionsWork::Enforce {
        with_forced: flag(&body, "IncludeForceCreated")?,
        collections: texts(&body, "Collections")?,
    };
    start(exchange, work).await
}

pub(crate) async fn adopt(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_object().await?;
    let work = RevisionsWork::Adopt { collections: texts(&body, "Collections")? };
    start(exchange, work).await
}

pub(crate) async fn revert(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_whole_object().await?;
    let time = date(&body, "Time")?.ok_or_else(|| Error::Argument("The body must have a 'Time'".to_owned()))?;
    start(exchange, RevisionsWork::Revert { time, collections: texts(&body, "Collections")? }).await
}

/// Starts an operation: 200 `{"OperationId","OperationNodeTag"}`.
async fn start(exchange: Exchange, work: RevisionsWork) -> Result<Reply> {
    let (node, owner) = (exchange.node.clone(), exchange.peer.owner());
    // A server without a free thread refuses the request, not the operation.
    let permit = node.bridge.permit(Pool::Reads, owner).await?;
    let running = RevisionsOperation::begin(exchange.database(), work)?;
    let id = running.operation().id();
    let node_tag = exchange.database().documents().node_tag().to_owned();
    tokio::spawn(async move {
        match node.bridge.with_permit(Pool::Reads, permit, move || Ok(running.run()?)).await {
            // The operation has the error.
            Ok(_) | Err(Error::Database(_)) => {}
            Err(error) => tracing::error!(%error, "an operation on revisions could not run, or met a bug"),
        }
    });
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("OperationId").unsigned(id).name("OperationNodeTag").string(&node_tag);
    }))
}

/// The texts in an array of a body; none if it is not there.
fn texts(body: &Value, name: &str) -> Result<Vec<String>> {
    let bad = || Error::Argument(format!("'{name}' must be an array of texts"));
    match body.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(elements)) => {
            let text = |element: &Value| if let Value::String(text) = element { Some(text.clone()) } else { None };
            elements.iter().map(text).collect::<Option<_>>().ok_or_else(bad)
        }
        Some(_) => Err(bad()),
    }
}

fn date(body: &Value, name: &str) -> Result<Option<Date>> {
    let bad = || Error::Argument(format!("'{name}' must be a date such as 2026-01-31T12:00:00.0000000Z"));
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Date::parse(text).map(Some).ok_or_else(bad),
        Some(_) => Err(bad()),
    }
}

fn flag(body: &Value, name: &str) -> Result<bool> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(value)) => Ok(*value),
        Some(_) => Err(Error::Argument(format!("'{name}' must be true or false"))),
    }
}

/// Writes what an operation came to so far, as clients know it.
pub(crate) fn write_report(json: &mut json::Writer<'_>, report: &RevisionsReport) {
    let (name, changed) = match report.work {
        RevisionsWork::Enforce { .. } => ("EnforceConfigurationResult", "RemovedRevisions"),
        RevisionsWork::Adopt { .. } => ("AdoptOrphanedRevisionsResult", "AdoptedCount"),
        RevisionsWork::Revert { .. } => ("RevertResult", "RevertedDocuments"),
    };
    json.name("$type").string(&format!("Raven.Client.Documents.Operations.Revisions.{name}, Raven.Client"));
    json.name("Message").null().name("ScannedRevisions").unsigned(report.scanned_revisions);
    json.name("ScannedDocuments").unsigned(report.scanned_documents);
    json.name("Warnings").object(|json| {
        report.warnings.iter().for_each(|(id, warning)| _ = json.name(id).string(warning));
    });
    json.name(changed).unsigned(report.changed);
}
