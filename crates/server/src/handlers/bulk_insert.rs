//! `POST /databases/{name}/bulk_insert`: documents as one endless JSON array.
//!
//! The answer comes when the array closes, not when the request does: one client never ends its request. So the body is
//! handed on as it arrives ([`upload`]), and the database cuts it into commands and applies them in transactions of bounded size. When
//! nothing has arrived for 50 ms the batch that is open is applied.
//! What was applied before an error stays. Parameters: `id` (of the
//! operation), `skipOverwriteIfUnchanged`. 201 without a body.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use database::{BulkInsert, BulkInsertCounts};
use hyper::StatusCode;
use tokio::sync::mpsc;

use super::upload::{self, Received};
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::body::{BodyStream, RequestBody};
use crate::messages::reply::{self, Reply};
use crate::network::connection::BodyPace;
use crate::node::Node;
use crate::routing::exchange::Exchange;

/// The open batch is stored when nothing more has arrived for so long.
const FLUSH_AFTER: Duration = Duration::from_millis(50);

pub(crate) async fn post(mut exchange: Exchange) -> Result<Reply> {
    let query = exchange.query();
    let insert = exchange.database().bulk_insert(query.number("id")?, query.is_true("skipOverwriteIfUnchanged")?)?;
    let body = std::mem::replace(&mut exchange.body, RequestBody::empty());
    let stream = BodyStream::new(body, &exchange.headers, &exchange.node.limits, BodyPace::Idle, usize::MAX);
    let stream = match stream {
        Ok(stream) => stream,
        Err(error) => return Err(fail(insert, error)),
    };
    let (sender, receiver) = mpsc::channel(1);
    let applying = tokio::spawn(apply(exchange.node.clone(), insert, receiver));
    upload::hand_on(&exchange.node, stream, sender, applying, "the array of commands is not closed").await
}

/// The applying half: feeds parts on the pool, where waiting for the disk holds nobody up.
async fn apply(node: Arc<Node>, mut insert: BulkInsert, mut receiver: mpsc::Receiver<Received>) -> Result<Reply> {
    loop {
        let received = match tokio::time::timeout(FLUSH_AFTER, receiver.recv()).await {
            Ok(received) => received,
            // A client that sends slowly has its documents stored all the same.
            Err(_) if insert.has_open_batch() => Some(Received::Parts(Vec::new(), node.bodies.reservation())),
            Err(_) => receiver.recv().await,
        };
        let (parts, reservation) = match received {
            Some(Received::Parts(parts, reservation)) => (parts, reservation),
            Some(Received::End(Some(error))) => return Err(failed(insert, error).await),
            // The client is gone, and with it the task of the other half.
            Some(Received::End(None)) | None => {
                return Err(failed(insert, Error::BodyCutOff("the client went away".to_owned())).await);
            }
        };
        let permit = match node.bridge.permit(Pool::BulkInserts, None).await {
            Ok(permit) => permit,
            Err(error) => return Err(failed(insert, error).await),
        };
        let feed = move || {
            let fed = feed(insert, &parts);
            drop(reservation);
            Ok(fed)
        };
        match node.bridge.with_permit(Pool::BulkInserts, permit, feed).await? {
            Fed::On(fed) => insert = fed,
            Fed::Ended(Ok(done)) => {
                node.metrics.documents_bulk_inserted.fetch_add(done.documents, std::sync::atomic::Ordering::Relaxed);
                return Ok(reply::empty(StatusCode::CREATED));
            }
            Fed::Ended(Err(error)) => return Err(error.into()),
            Fed::Failed(fed, error) => return Err(failed(fed, error.into()).await),
        }
    }
}

/// What a bulk insert has come to.
enum Fed {
    On(BulkInsert),
    /// The array is closed.
    Ended(database::Result<BulkInsertCounts>),
    Failed(BulkInsert, database::Error),
}

/// Feeds all parts; stops at the end of the array or at an error. Without a part the open batch is stored.
fn feed(mut insert: BulkInsert, parts: &[Bytes]) -> Fed {
    if parts.is_empty()
        && let Err(error) = insert.flush()
    {
        return Fed::Failed(insert, error);
    }
    for part in parts {
        match insert.feed(part) {
            Ok(false) => {}
            Ok(true) => return Fed::Ended(insert.finish()),
            Err(error) => return Fed::Failed(insert, error),
        }
    }
    Fed::On(insert)
}

/// Ends the operation with an error, on a thread, for what is in flight has to land first. It lands soon, and must not be
/// refused: the thread comes with no permit.
async fn failed(insert: BulkInsert, error: Error) -> Error {
    let failing = tokio::task::spawn_blocking(move || fail(insert, error));
    failing.await.unwrap_or_else(|error| Error::Panicked(error.to_string()))
}

fn fail(insert: BulkInsert, error: Error) -> Error {
    let cause = match &error {
        Error::Database(error) => error.clone(),
        other => database::Error::BadStream { rule: other.to_string() },
    };
    Error::BulkInsert { done: insert.fail(cause), cause: Box::new(error) }
}
