//! `POST /databases/{name}/bulk_insert`: documents as one endless JSON array.
//!
//! The answer comes when the array closes, not when the request does: one client never ends its request. So the
//! body is taken as it arrives, cut into commands, and applied in transactions of about a megabyte:
//!
//! ```text
//! network ──parts──► receive ──up to 1 MiB──► pool: cut and check ──batch──► submit ──► durable
//!            (this task)        (channel of 1)      (apply task)                (one in flight)
//! ```
//!
//! While one batch is on its way to the disk the next is checked and the one after arrives. What was applied before an
//! error stays. Parameters: `id` (of the operation), `skipOverwriteIfUnchanged`. 201 without a body.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use database::{Batch, Database, Operation, Outcome};
use hyper::StatusCode;
use hyper::header::{CONNECTION, HeaderValue};
use json::{Element, ElementScanner};
use tokio::sync::mpsc;

use super::docs::submit;
use crate::body::{BodyStream, RequestBody};
use crate::connection::BodyPace;
use crate::error::{Error, Result};
use crate::exchange::Exchange;
use crate::limits::BULK_INSERT_BATCH_SIZE;
use crate::node::Node;
use crate::reply::{self, Reply};

/// How long a client may take to end its request after the array. Then the connection is closed instead of kept.
const END_GRACE: Duration = Duration::from_millis(20);

pub(crate) async fn post(mut exchange: Exchange) -> Result<Reply> {
    let operation = exchange.query().number("id").map(|id| exchange.database().operations().begin(id, "bulk insert"));
    let body = std::mem::replace(&mut exchange.body, RequestBody::empty());
    let limits = &exchange.node.limits;
    let mut stream = BodyStream::new(body, &exchange.headers, limits, BodyPace::Idle, usize::MAX)?;
    let insert = Insert {
        node: exchange.node.clone(),
        database: exchange.database().clone(),
        operation,
        skip_unchanged: exchange.query().is_true("skipOverwriteIfUnchanged"),
        documents: 0,
        batches: 0,
    };
    let mut reply = receive(&mut stream, insert).await?;
    if !has_ended(&mut stream).await {
        reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(reply)
}

/// Takes parts from the network and hands them on until the array is closed.
async fn receive(stream: &mut BodyStream, insert: Insert) -> Result<Reply> {
    let (sender, receiver) = mpsc::channel(1);
    let mut applying = tokio::spawn(insert.run(receiver));
    let mut sender = Some(sender);
    let mut waiting = Vec::new();
    let mut waiting_size = 0;
    let mut is_over = false;
    loop {
        tokio::select! {
            biased;
            part = stream.next(), if !is_over && waiting_size < BULK_INSERT_BATCH_SIZE => match part? {
                Some(part) => {
                    waiting_size += part.len();
                    waiting.push(part);
                }
                None => {
                    is_over = true;
                    if waiting.is_empty() {
                        sender = None;
                    }
                }
            },
            permit = reserve(sender.as_ref()), if !waiting.is_empty() => {
                // A closed channel means that the array is closed, or refused: the task below tells.
                if let Some(permit) = permit {
                    permit.send(std::mem::take(&mut waiting));
                } else {
                    waiting.clear();
                }
                waiting_size = 0;
                if is_over {
                    sender = None;
                }
            }
            outcome = &mut applying => {
                return outcome.unwrap_or_else(|error| Err(Error::Panicked(error.to_string())));
            }
        }
    }
}

async fn reserve(sender: Option<&mpsc::Sender<Vec<Bytes>>>) -> Option<mpsc::Permit<'_, Vec<Bytes>>> {
    sender?.reserve().await.ok()
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

/// The applying half.
struct Insert {
    node: Arc<Node>,
    database: Arc<Database>,
    operation: Option<Arc<Operation>>,
    skip_unchanged: bool,
    documents: u64,
    batches: u64,
}

/// What is between the network and the database: text that is not cut yet.
struct Text {
    buffer: Vec<u8>,
    scanner: ElementScanner,
}

impl Insert {
    async fn run(mut self, receiver: mpsc::Receiver<Vec<Bytes>>) -> Result<Reply> {
        let outcome = self.apply(receiver).await;
        self.node.metrics.documents_bulk_inserted.fetch_add(self.documents, std::sync::atomic::Ordering::Relaxed);
        match outcome {
            Ok(()) => {
                if let Some(operation) = &self.operation {
                    operation.completed(self.documents);
                }
                Ok(reply::empty(StatusCode::CREATED))
            }
            Err(cause) => {
                let error =
                    Error::BulkInsert { documents: self.documents, batches: self.batches, cause: Box::new(cause) };
                if let Some(operation) = &self.operation {
                    operation.failed(error.exception(), &error.to_string(), error.status().as_u16());
                }
                Err(error)
            }
        }
    }

    async fn apply(&mut self, mut receiver: mpsc::Receiver<Vec<Bytes>>) -> Result<()> {
        let mut text = Text { buffer: Vec::new(), scanner: ElementScanner::new() };
        let mut in_flight: Option<tokio::task::JoinHandle<Result<Outcome>>> = None;
        let outcome = loop {
            let Some(parts) = receiver.recv().await else {
                break Err(Error::BodyCutOff("the array of commands is not closed".to_owned()));
            };
            if self.operation.as_ref().is_some_and(|operation| operation.is_cancelled()) {
                break Err(Error::InvalidOperation("The operation was cancelled".to_owned()));
            }
            let (skip_unchanged, size_max) = (self.skip_unchanged, self.node.limits.request_body_size);
            let cut = self.node.bridge.run(move || cut(text, parts, skip_unchanged, size_max)).await;
            let (rest, batch) = match cut {
                Ok(cut) => cut,
                Err(error) => break Err(error),
            };
            text = rest;
            if let Err(error) = self.finish(in_flight.take()).await {
                break Err(error);
            }
            if !batch.is_empty() {
                let database = self.database.clone();
                in_flight = Some(tokio::spawn(async move { submit(&database, batch).await }));
            }
            if text.scanner.is_closed() {
                break Ok(());
            }
        };
        // What is in flight is applied whatever came after it.
        self.finish(in_flight).await.and(outcome)
    }

    async fn finish(&mut self, in_flight: Option<tokio::task::JoinHandle<Result<Outcome>>>) -> Result<()> {
        let Some(in_flight) = in_flight else { return Ok(()) };
        let outcome = in_flight.await.unwrap_or_else(|error| Err(Error::Panicked(error.to_string())))?;
        self.documents += outcome.results.len() as u64;
        self.batches += 1;
        if let Some(operation) = &self.operation {
            operation.progressed(self.documents);
        }
        Ok(())
    }
}

/// Appends `parts` and cuts all whole commands out.
fn cut(mut text: Text, parts: Vec<Bytes>, skip_unchanged: bool, size_max: usize) -> Result<(Text, Batch)> {
    for part in parts {
        text.buffer.extend_from_slice(&part);
    }
    let mut batch = Batch::new().skip_unchanged(skip_unchanged);
    while let Element::Complete(place) = text.scanner.next(&text.buffer)? {
        batch.push_bulk_element(&text.buffer[place])?;
    }
    let consumed = text.scanner.consumed();
    text.buffer.drain(..consumed);
    text.scanner.discard(consumed);
    if text.buffer.len() > size_max {
        return Err(Error::Limit {
            status: StatusCode::PAYLOAD_TOO_LARGE,
            name: "Limits.RequestBodyInMb",
            limit: (size_max >> 20) as u64,
            what: "A command of the bulk insert",
        });
    }
    Ok((text, batch))
}
