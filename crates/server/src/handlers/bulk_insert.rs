//! `POST /databases/{name}/bulk_insert`: documents as one endless JSON array.
//!
//! The answer comes when the array closes, not when the request does: one client never ends its request. So the body is
//! handed on as it arrives, and the database cuts it into commands and applies them in transactions of bounded size:
//!
//! ```text
//! network ──parts──► this task ──up to 1 MiB──► pool: BulkInsert::feed ──batches──► durable, some in flight
//! ```
//!
//! While one part is cut and checked the next arrives, and when none has arrived for 50 ms the batch that is open is applied.
//! What was applied before an error stays. Parameters: `id` (of the
//! operation), `skipOverwriteIfUnchanged`. 201 without a body.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use database::{BulkInsert, BulkInsertCounts};
use hyper::StatusCode;
use hyper::header::{CONNECTION, HeaderValue};
use tokio::sync::mpsc;

use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::limits::BULK_INSERT_PART_SIZE;
use crate::memory::MemoryReservation;
use crate::messages::body::{BodyStream, RequestBody};
use crate::messages::reply::{self, Reply};
use crate::network::connection::BodyPace;
use crate::node::Node;
use crate::routing::exchange::Exchange;

/// The open batch is stored when nothing more has arrived for so long.
const FLUSH_AFTER: Duration = Duration::from_millis(50);

/// How long a client may take to end its request after the array. Then the connection is closed instead of kept.
const END_GRACE: Duration = Duration::from_millis(20);

pub(crate) async fn post(mut exchange: Exchange) -> Result<Reply> {
    let query = exchange.query();
    let insert = exchange.database().bulk_insert(query.number("id")?, query.is_true("skipOverwriteIfUnchanged")?)?;
    let body = std::mem::replace(&mut exchange.body, RequestBody::empty());
    let stream = BodyStream::new(body, &exchange.headers, &exchange.node.limits, BodyPace::Idle, usize::MAX);
    let mut stream = match stream {
        Ok(stream) => stream,
        Err(error) => return Err(fail(insert, error)),
    };
    let (sender, receiver) = mpsc::channel(1);
    let applying = tokio::spawn(apply(exchange.node.clone(), insert, receiver));
    let mut reply = receive(&exchange.node, &mut stream, sender, applying).await?;
    if !has_ended(&mut stream).await {
        reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(reply)
}

/// Takes parts from the network and hands them on until the other half is done.
async fn receive(
    node: &Node,
    stream: &mut BodyStream,
    sender: mpsc::Sender<Received>,
    mut applying: tokio::task::JoinHandle<Result<Reply>>,
) -> Result<Reply> {
    let mut sender = Some(sender);
    let mut waiting = Vec::new();
    let mut waiting_size = 0;
    let mut reservation = node.bodies.reservation();
    let mut end = None;
    loop {
        tokio::select! {
            biased;
            part = stream.next(), if end.is_none() && waiting_size < BULK_INSERT_PART_SIZE => match part {
                Ok(Some(part)) => {
                    waiting_size += part.len();
                    waiting.push(part);
                    end = reservation.grow(waiting_size).err().map(Error::from);
                }
                Ok(None) => end = Some(Error::BodyCutOff("the array of commands is not closed".to_owned())),
                Err(error) => end = Some(error),
            },
            permit = reserve(sender.clone()), if sender.is_some() && (!waiting.is_empty() || end.is_some()) => {
                let Some(permit) = permit else {
                    // The other half needs no more: it tells why in a moment.
                    sender = None;
                    continue;
                };
                if waiting.is_empty() {
                    permit.send(Received::End(end.take()));
                    end = Some(Error::BodyCutOff(String::new()));
                    sender = None;
                } else {
                    let reservation = std::mem::replace(&mut reservation, node.bodies.reservation());
                    permit.send(Received::Parts(std::mem::take(&mut waiting), reservation));
                    waiting_size = 0;
                }
            }
            outcome = &mut applying => {
                return outcome.unwrap_or_else(|error| Err(Error::Panicked(error.to_string())));
            }
        }
    }
}

/// What goes from one half to the other.
enum Received {
    Parts(Vec<Bytes>, MemoryReservation),
    End(Option<Error>),
}

async fn reserve(sender: Option<mpsc::Sender<Received>>) -> Option<mpsc::OwnedPermit<Received>> {
    sender?.reserve_owned().await.ok()
}

/// Whether the request ends as well, now that the array has.
async fn has_ended(stream: &mut BodyStream) -> bool {
    let end = async {
        loop {
            match stream.next().await {
                // What follows the array is not looked at.
                Ok(Some(_)) => continue,
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    };
    tokio::time::timeout(END_GRACE, end).await.unwrap_or(false)
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
        let permit = match node.bridge.permit(Pool::BulkInserts).await {
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
