//! Contents on their way from the network into a database.
//!
//! A small content comes with its command. Of a larger one, pieces are written while the next one arrives: [`PIECES_IN_FLIGHT_MAX`] and one
//! are in memory, whatever the size of the content.

use std::collections::VecDeque;
use std::sync::Arc;

use database::documents::limits::{CONTENT_PIECE_SIZE_MAX, INLINE_CONTENT_SIZE_MAX};
use database::documents::{Batch, ContentHasher, NewContent, Outcome};
use database::{ContentUpload, Database, InlineRoom};
use tokio::sync::oneshot;

use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::handlers::submit::submit;
use crate::memory::MemoryReservation;
use crate::node::Node;
use crate::routing::exchange::Exchange;

/// Pieces of one content that are being written at once.
const PIECES_IN_FLIGHT_MAX: usize = 2;

/// One content, while it arrives. Dropped before its end, what was stored of it is removed.
pub(crate) struct ContentReceiver {
    node: Arc<Node>,
    database: Arc<Database>,
    hasher: ContentHasher,
    buffer: Vec<u8>,
    reservation: MemoryReservation,
    upload: Option<ContentUpload>,
    /// The pieces that are being written, in order.
    in_flight: VecDeque<oneshot::Receiver<database::Result<()>>>,
}

impl ContentReceiver {
    pub(crate) fn new(exchange: &Exchange) -> ContentReceiver {
        ContentReceiver {
            node: exchange.node.clone(),
            database: exchange.database().clone(),
            hasher: ContentHasher::default(),
            buffer: Vec::new(),
            reservation: exchange.node.bodies.reservation(),
            upload: None,
            in_flight: VecDeque::new(),
        }
    }

    /// Adds the next bytes.
    ///
    /// # Errors
    ///
    /// A piece before could not be stored; too much memory is in use.
    pub(crate) async fn add(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.hasher.update(bytes);
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
        let capacity = match self.upload {
            Some(_) => CONTENT_PIECE_SIZE_MAX,
            None => (2 * size).min(CONTENT_PIECE_SIZE_MAX),
        };
        let pieces = if self.upload.is_some() { 1 + PIECES_IN_FLIGHT_MAX } else { 1 };
        self.reservation.grow(pieces * capacity)?;
        self.buffer.reserve_exact(capacity - self.buffer.len());
        Ok(())
    }

    /// Hands the buffer over to be written, once there is room for one more in flight.
    async fn store(&mut self) -> Result<()> {
        while self.in_flight.len() >= PIECES_IN_FLIGHT_MAX {
            self.land().await?;
        }
        let mut upload = match self.upload.take() {
            Some(upload) => upload,
            None => ContentUpload::new(&self.database),
        };
        let piece = std::mem::take(&mut self.buffer);
        let (sender, receiver) = oneshot::channel();
        let append = move || {
            // Dropped with the receiver, once the request has failed.
            upload.append_with(piece, move |outcome| drop(sender.send(outcome)));
            Ok(upload)
        };
        self.upload = Some(self.node.bridge.run(Pool::BulkInserts, append).await?);
        self.in_flight.push_back(receiver);
        Ok(())
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
        let is_small = self.upload.is_none() && self.buffer.len() <= INLINE_CONTENT_SIZE_MAX;
        if is_small && room.take(self.buffer.len()) {
            return Ok((NewContent::inline(self.buffer), None));
        }
        if !self.buffer.is_empty() || self.upload.is_none() {
            self.store().await?;
        }
        while !self.in_flight.is_empty() {
            self.land().await?;
        }
        let hash = self.hasher.finish();
        Ok(match self.upload {
            Some(upload) => (upload.content(hash), Some(upload)),
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
