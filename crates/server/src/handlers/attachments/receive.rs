//! Contents on their way from the network into a database.
//!
//! A small content comes with its command. Of a larger one, a piece is hashed while the next one arrives, and those before it are written:
//! [`PIECES_IN_MEMORY_MAX`] are in memory, whatever the size of the content.

use std::collections::VecDeque;
use std::sync::Arc;

use database::documents::limits::{CONTENT_PIECE_SIZE_MAX, INLINE_CONTENT_SIZE_MAX};
use database::documents::{Batch, ContentHasher, NewContent, Outcome};
use database::{ContentUpload, Database, InlineRoom};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::handlers::submit::submit;
use crate::memory::MemoryReservation;
use crate::node::Node;
use crate::routing::exchange::Exchange;

/// Pieces of one content that are being written at once.
const PIECES_IN_FLIGHT_MAX: usize = 2;

/// Pieces of one content that are in memory: one that arrives, one that is hashed, and those that are written.
const PIECES_IN_MEMORY_MAX: usize = 2 + PIECES_IN_FLIGHT_MAX;

/// One content, while it arrives. Dropped before its end, what was stored of it is removed.
pub(crate) struct ContentReceiver {
    node: Arc<Node>,
    database: Arc<Database>,
    buffer: Vec<u8>,
    reservation: MemoryReservation,
    /// Once there is a piece: it is being hashed.
    hashing: Option<JoinHandle<Result<Hashed>>>,
    /// The pieces that are being written, in order.
    in_flight: VecDeque<oneshot::Receiver<database::Result<()>>>,
}

/// The pieces that were handed over to be written, with their hash.
struct Hashed {
    hasher: ContentHasher,
    upload: ContentUpload,
}

impl ContentReceiver {
    pub(crate) fn new(exchange: &Exchange) -> ContentReceiver {
        ContentReceiver {
            node: exchange.node.clone(),
            database: exchange.database().clone(),
            buffer: Vec::new(),
            reservation: exchange.node.bodies.reservation(),
            hashing: None,
            in_flight: VecDeque::new(),
        }
    }

    /// Adds the next bytes.
    ///
    /// # Errors
    ///
    /// A piece before could not be stored; too much memory is in use.
    pub(crate) async fn add(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(CONTENT_PIECE_SIZE_MAX - self.buffer.len()));
            self.make_room(now.len())?;
            self.buffer.extend_from_slice(now);
            if self.buffer.len() == CONTENT_PIECE_SIZE_MAX {
                self.store().await?;
            }
            bytes = later;
        }
        Ok(())
    }

    /// The buffer grows by doubling up to the size of a piece. Each piece that is being written has as much.
    fn make_room(&mut self, more: usize) -> Result<()> {
        let size = self.buffer.len() + more;
        if size <= self.buffer.capacity() {
            return Ok(());
        }
        let (capacity, pieces) = match self.hashing {
            Some(_) => (CONTENT_PIECE_SIZE_MAX, PIECES_IN_MEMORY_MAX),
            None => ((2 * size).min(CONTENT_PIECE_SIZE_MAX), 1),
        };
        self.reservation.grow(pieces * capacity)?;
        self.buffer.reserve_exact(capacity - self.buffer.len());
        Ok(())
    }

    /// Hands the buffer over to be hashed and written, once the piece before it is hashed, and there is room for one more in flight.
    async fn store(&mut self) -> Result<()> {
        let hashed = self.hashed().await?;
        while self.in_flight.len() >= PIECES_IN_FLIGHT_MAX {
            self.land().await?;
        }
        let Hashed { mut hasher, mut upload } = hashed
            .unwrap_or_else(|| Hashed { hasher: ContentHasher::default(), upload: ContentUpload::new(&self.database) });
        let piece = std::mem::take(&mut self.buffer);
        let (sender, receiver) = oneshot::channel();
        let append = move || {
            hasher.update(&piece);
            // Dropped with the receiver, once the request has failed.
            upload.append_with(piece, move |outcome| drop(sender.send(outcome)));
            Ok(Hashed { hasher, upload })
        };
        let node = self.node.clone();
        // Where the request ends early, the upload goes with what this gives.
        self.hashing = Some(tokio::spawn(async move { node.bridge.run(Pool::BulkInserts, append).await }));
        self.in_flight.push_back(receiver);
        Ok(())
    }

    /// Waits until the last piece is hashed; `None`: there was none yet.
    async fn hashed(&mut self) -> Result<Option<Hashed>> {
        let Some(hashing) = self.hashing.take() else { return Ok(None) };
        let hashed = hashing.await.unwrap_or_else(|error| Err(Error::Panicked(error.to_string())));
        hashed.map(Some)
    }

    /// Waits until the oldest piece in flight is durable.
    async fn land(&mut self) -> Result<()> {
        let Some(receiver) = self.in_flight.pop_front() else { return Ok(()) };
        let outcome = receiver.await;
        Ok(outcome.map_err(|_| Error::Panicked("a piece of a content was dropped without an answer".to_owned()))??)
    }

    /// The content, and its upload if it does not come with its command.
    ///
    /// * `room`: of its batch.
    ///
    /// # Errors
    ///
    /// A piece could not be stored.
    pub(crate) async fn finish(mut self, room: &mut InlineRoom) -> Result<(NewContent, Option<ContentUpload>)> {
        let is_small = self.hashing.is_none() && self.buffer.len() <= INLINE_CONTENT_SIZE_MAX;
        if is_small && room.take(self.buffer.len()) {
            let (size, bytes) = (self.buffer.len(), self.buffer);
            let hashed = self.node.bridge.run_sized(size, move || Ok(NewContent::inline(bytes))).await?;
            return Ok((hashed, None));
        }
        if !self.buffer.is_empty() || self.hashing.is_none() {
            self.store().await?;
        }
        let hashed = self.hashed().await?;
        while !self.in_flight.is_empty() {
            self.land().await?;
        }
        Ok(match hashed {
            Some(Hashed { hasher, upload }) => (upload.content(hasher.finish()), Some(upload)),
            None => (NewContent::inline(self.buffer), None),
        })
    }
}

/// Writes a batch that links uploads. If it fails they are removed.
pub(crate) async fn submit_with(exchange: &Exchange, batch: Batch, uploads: Vec<ContentUpload>) -> Result<Outcome> {
    let outcome = submit(&exchange.node, exchange.database(), batch).await?;
    uploads.into_iter().for_each(ContentUpload::linked);
    Ok(outcome)
}
