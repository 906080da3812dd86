//! Bodies that are stored while they arrive, by two halves:
//!
//! ```text
//! network ──parts──► this task ──up to 1 MiB──► pool: the storing half
//! ```
//!
//! While one part is cut and checked the next arrives. The answer comes from the storing half, which may give it before the request ends.

use std::time::Duration;

use bytes::Bytes;
use hyper::header::{CONNECTION, HeaderValue};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::error::{Error, Result};
use crate::limits::BULK_INSERT_PART_SIZE;
use crate::memory::MemoryReservation;
use crate::messages::body::BodyStream;
use crate::messages::reply::Reply;
use crate::node::Node;

/// How long a client may take to end its request after what is needed of it. Then the connection is closed instead of kept.
const END_GRACE: Duration = Duration::from_millis(20);

/// What goes from one half to the other.
pub(super) enum Received {
    Parts(Vec<Bytes>, MemoryReservation),
    /// The body has ended, or failed.
    End(Option<Error>),
}

/// Hands a body on to the other half, and gives its answer.
///
/// * `missing`: what a body lacks that ends.
pub(super) async fn hand_on(
    node: &Node,
    mut stream: BodyStream,
    sender: mpsc::Sender<Received>,
    applying: JoinHandle<Result<Reply>>,
    missing: &'static str,
) -> Result<Reply> {
    let mut reply = receive(node, &mut stream, sender, applying, missing).await?;
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
    mut applying: JoinHandle<Result<Reply>>,
    missing: &'static str,
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
                Ok(None) => end = Some(Error::BodyCutOff(missing.to_owned())),
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

async fn reserve(sender: Option<mpsc::Sender<Received>>) -> Option<mpsc::OwnedPermit<Received>> {
    sender?.reserve_owned().await.ok()
}

/// Whether the request ends as well, now that it has been answered.
async fn has_ended(stream: &mut BodyStream) -> bool {
    let end = async {
        loop {
            match stream.next().await {
                // What follows is not looked at.
                Ok(Some(_)) => continue,
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    };
    tokio::time::timeout(END_GRACE, end).await.unwrap_or(false)
}
