//! Deleting and patching what a query finds: operations that go on after their requests. And
//! `PATCH /databases/{name}/queries/test`: what a patch would do to a document.
//!
//! The database does the work (`database::queries::PreparedChange`); here the index is awaited without a thread, and the
//! operation gets one.

use std::time::Duration;

use database::QueryPatch;
use database::documents::PatchStatus;
use database::limits::STALE_WAIT;
use database::queries::{ByQuery, ByQueryOptions, PreparedChange};
use hyper::StatusCode;

use super::ready::{ready, wait_for};
use super::request::Request;
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// `DELETE`: `allowStale`, `staleTimeout`, `maxOpsPerSec`, `details`. Body as that of a query.
pub(crate) async fn delete(mut exchange: Exchange) -> Result<Reply> {
    let options = Options::of(&exchange)?;
    let (node, database) = (exchange.node.clone(), exchange.database().clone());
    let request = exchange.parse_tree(move |body| Request::of_body(&node, &database, body)).await?;
    start(exchange, ByQuery::Delete, request, options).await
}

/// `PATCH`: parameters as [`delete`]. Body: `{"Query":{"Query","QueryParameters"}}`.
pub(crate) async fn patch(mut exchange: Exchange) -> Result<Reply> {
    let options = Options::of(&exchange)?;
    let (node, database) = (exchange.node.clone(), exchange.database().clone());
    let request = exchange.parse_tree(move |body| Request::of_patch(&node, &database, body)).await?;
    start(exchange, ByQuery::Patch, request, options).await
}

/// What the address asks for.
struct Options {
    of_change: ByQueryOptions,
    /// How long the operation waits for its index.
    stale_wait: Duration,
}

impl Options {
    fn of(exchange: &Exchange) -> Result<Options> {
        let query = exchange.query();
        let of_change = ByQueryOptions {
            allows_stale: query.is_true("allowStale")?,
            keeps_details: query.is_true("details")?,
            per_second: query.number("maxOpsPerSec")?.filter(|count| *count > 0),
            run_time: None,
        };
        let stale_wait = query.time_span("staleTimeout")?.unwrap_or(STALE_WAIT);
        Ok(Options { of_change, stale_wait: stale_wait.min(exchange.node.limits.query_run_time) })
    }
}

/// Starts the operation: 200 `{"OperationId","OperationNodeTag"}`.
async fn start(exchange: Exchange, change: ByQuery, request: Request, options: Options) -> Result<Reply> {
    let Options { of_change: options, stale_wait } = options;
    let (database, node, owner) = (exchange.database().clone(), exchange.node.clone(), exchange.peer.owner());
    let mut request = Request { query: change.check(request.query)?, ..request };
    if change == ByQuery::Patch {
        // A text that is no script is refused at once. Compiling it takes a thread.
        let database = database.clone();
        let compile = move || Ok(change.check_script(&database, &request.query).map(|()| request)?);
        request = node.bridge.run(Pool::Reads, compile).await?;
    }
    let ready = match ready(&exchange, &request).await {
        // As in the reference, the operation fails if there is no such index.
        Err(Error::Database(error @ database::Error::NoSuchIndex { .. })) => Err(error),
        ready => Ok(ready?),
    };
    let node_tag = database.documents().node_tag().to_owned();
    let prepared = PreparedChange::new(database, change, request.query, options, ready)?;
    let awaited = prepared.awaited();
    // A server without a free thread refuses the request, not the operation. While an operation waits for an index it has no thread.
    let permit = if awaited.is_none() { Some(node.bridge.permit(Pool::Reads, owner).await?) } else { None };
    let running = prepared.begin()?;
    let (id, description) = (running.operation().id(), change.description());
    tokio::spawn(async move {
        let outcome = async {
            if let Some((index, etag)) = awaited {
                wait_for(&index, etag, stale_wait).await;
            }
            let permit = match permit {
                Some(permit) => permit,
                None => node.bridge.permit(Pool::Reads, owner).await?,
            };
            node.bridge.with_permit(Pool::Reads, permit, move || Ok(running.run()?)).await
        };
        match outcome.await {
            // The operation has the error.
            Ok(_) | Err(Error::Database(_)) => {}
            Err(error) => tracing::error!(%error, operation = description, "an operation could not run, or met a bug"),
        }
    });
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("OperationId").unsigned(id).name("OperationNodeTag").string(&node_tag);
    }))
}

/// `PATCH /databases/{name}/queries/test`: `id`. Body as [`patch`]. What the clause `update` would do to that document, whether the query
/// finds it or not; nothing is stored. 200 `{Status, ModifiedDocument, OriginalDocument, Debug}`, 404 if it is not there.
pub(crate) async fn test(mut exchange: Exchange) -> Result<Reply> {
    let id = exchange.required("id")?.into_owned();
    let (node, database) = (exchange.node.clone(), exchange.database().clone());
    let request = exchange.parse_tree(move |body| Request::of_patch(&node, &database, body)).await?;
    let database = exchange.database().clone();
    let run = move || Ok(QueryPatch::of_query(&database, &request.query)?.test(&id)?);
    let report = exchange.node.bridge.run(Pool::Reads, run).await?;
    if report.status == PatchStatus::DocumentDoesNotExist {
        return Ok(reply::empty(StatusCode::NOT_FOUND));
    }
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Status").string(report.status.wire_name());
        json.name("ModifiedDocument").raw(report.document.as_deref().unwrap_or(b"null"));
        json.name("OriginalDocument").raw(report.original.as_deref().unwrap_or(b"null"));
        json.name("Debug").raw(&report.debug);
    }))
}
