//! `PATCH /databases/{name}/docs`: a script that changes a document.
//!
//! Parameters: `id`; `skipPatchIfChangeVectorMismatch`, `debug` (tells what the script did), `test` (nothing is written); `If-Match`. Body:
//! `{"Patch":{"Script","Values"},"PatchIfMissing"}`. 200 `{Status, ModifiedDocument, …}`, 201 if it was made, 304 if it was skipped, 404 if
//! it is not there, 409. Scripts run on the pool of reads, on a snapshot; what they want is written if nothing that they read
//! changed meanwhile, else they run again.

use database::documents::{
    Batch, CommandResult, Expected, JsonPatchRequest, NO_DATE, PatchReport, PatchRequest, PatchStatus, WrittenPatch,
};
use hyper::StatusCode;
use json::{Minifier, Writer};

use super::submit::submit;
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

pub(crate) async fn patch(mut exchange: Exchange) -> Result<Reply> {
    let query = exchange.query();
    let [skips_mismatch, is_test, is_debug] =
        [query.is_true("skipPatchIfChangeVectorMismatch")?, query.is_true("test")?, query.is_true("debug")?];
    let id = exchange.required("id")?.into_owned();
    let expected = Expected::from_wire(exchange.if_match().as_deref());
    let parse = move |body: &[u8]| {
        let mut minifier = Minifier::new();
        let object = minifier.minify(if body.trim_ascii().is_empty() { b"{}" } else { body })?;
        if object.get("Patch").is_none_or(json::Raw::is_null) {
            return Err(Error::Argument("The 'Patch' field in the body request is mandatory".to_owned()));
        }
        let mut request = PatchRequest::of(object, "")?;
        request.returns_document = true;
        request.skips_mismatch = skips_mismatch;
        let mut batch = if is_test { Batch::new().keeping_originals() } else { Batch::new() };
        batch.patch(&id, expected, request)?;
        Ok(batch)
    };
    let batch = exchange.parse_body(parse).await?;
    let report = if is_test {
        let (database, memory) = (exchange.database().clone(), exchange.node.memory_of_request());
        let resolved = exchange.node.bridge.run(Pool::Reads, move || Ok(database.resolve(&batch, &memory)?)).await?;
        resolved.patch_report().cloned().map(|report| (report, None))
    } else {
        match submit(&exchange.node, exchange.database(), batch).await?.results.pop() {
            Some(CommandResult::Patch { report, written }) => Some((*report, written)),
            _ => None,
        }
    };
    let Some((report, written)) = report else { return Err(Error::Panicked("a PATCH had no result".to_owned())) };
    Ok(match report.status {
        PatchStatus::DocumentDoesNotExist => reply::empty(StatusCode::NOT_FOUND),
        PatchStatus::Skipped => reply::empty(StatusCode::NOT_MODIFIED),
        PatchStatus::Created => answer(StatusCode::CREATED, &report, written.as_ref(), is_debug, is_test),
        PatchStatus::Patched | PatchStatus::NotModified => {
            answer(StatusCode::OK, &report, written.as_ref(), is_debug, is_test)
        }
    })
}

/// PATCH `/databases/{name}/json-patch`: `id`, `If-Match`; body `{"Operations":[{"op","path","value","from"}]}` (RFC 6902). 200
/// `{Status, ModifiedDocument, ..}`; 400 if there is no such document, or an operation cannot be applied; 409.
pub(crate) async fn json_patch(mut exchange: Exchange) -> Result<Reply> {
    let id = exchange.required("id")?.into_owned();
    let expected = Expected::from_wire(exchange.if_match().as_deref());
    let parse = move |body: &[u8]| {
        let mut minifier = Minifier::new();
        let request = JsonPatchRequest::of(Some(minifier.minify(body)?), true)?;
        let mut batch = Batch::new();
        batch.json_patch(&id, expected, request)?;
        Ok(batch)
    };
    let batch = exchange.parse_body(parse).await?;
    match submit(&exchange.node, exchange.database(), batch).await?.results.pop() {
        Some(CommandResult::Patch { report, written: Some(written) }) => {
            Ok(answer(StatusCode::OK, &report, Some(&written), false, false))
        }
        Some(CommandResult::Patch { report, written: None }) => {
            Ok(reply::object(StatusCode::OK, |json| _ = json.name("Status").string(report.status.wire_name())))
        }
        _ => Err(Error::Panicked("a JSON Patch had no result".to_owned())),
    }
}

fn answer(
    status: StatusCode,
    report: &PatchReport,
    written: Option<&WrittenPatch>,
    is_debug: bool,
    is_test: bool,
) -> Reply {
    reply::object(status, |json| {
        json.name("Status").string(report.status.wire_name());
        json.name("ModifiedDocument").raw(report.document.as_deref().unwrap_or(b"null"));
        if is_debug || is_test {
            json.name("OriginalDocument").raw(report.original.as_deref().unwrap_or(b"null"));
            json.name("Debug").raw(if report.debug.is_empty() { b"null" } else { &report.debug });
        }
        match written {
            Some(written) => write_place(json, written),
            None if is_test => {
                _ = json.name("LastModified").string(NO_DATE).name("ChangeVector").null().name("Collection").null()
            }
            None => {}
        }
    })
}

fn write_place(json: &mut Writer<'_>, written: &WrittenPatch) {
    json.name("LastModified").string(&written.last_modified.to_string());
    json.name("ChangeVector").string(&written.change_vector);
    json.name("Collection").string(written.collection.as_deref().unwrap_or(database::documents::EMPTY_COLLECTION));
}
