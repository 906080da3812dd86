//! Contents on their way from the network into a database.
//!
//! A small content comes with its command. Of a larger one, a piece is written on the pool while the next one arrives: two of them are in
//! memory, whatever the size of the content.

use std::sync::Arc;

use database::documents::limits::{CONTENT_PIECE_SIZE_MAX, INLINE_CONTENT_SIZE_MAX};
use database::documents::{Batch, ContentHasher, NewContent, Outcome};
use database::{ContentUpload, Database, InlineRoom};
use tokio::task::JoinHandle;

use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::handlers::submit::submit;
use crate::memory::MemoryReservation;
use crate::node::Node;
use crate::routing::exchange::Exchange;

/// One content, while it arrives. Dropped before its end, what was stored of it is removed.
pub(crate) struct ContentReceiver {
    node: Arc<Node>,
    database: Arc<Database>,
    hasher: ContentHasher,
    buffer: Vec<u8>,
    reservation: MemoryReservation,
    /// The piece that is being written.
    storing: Option<JoinHandle<Result<ContentUpload>>>,
}

impl ContentReceiver {
    pub(crate) fn new(exchange: &Exchange) -> ContentReceiver {
        ContentReceiver {
            node: exchange.node.clone(),
            database: exchange.database().clone(),
            hasher: ContentHasher::default(),
            buffer: Vec::new(),
            reservation: exchange.node.bodies.reservation(),
            storing: None,
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

    /// The buffer grows by doubling up to the size of a piece. What is being written has as much.
    fn make_room(&mut self, more: usize) -> Result<()> {
        let size = self.buffer.len() + more;
        if size <= self.buffer.capacity() {
            return Ok(());
        }
        let capacity = match self.storing {
            Some(_) => CONTENT_PIECE_SIZE_MAX,
            None => (2 * size).min(CONTENT_PIECE_SIZE_MAX),
        };
        self.reservation.grow(if self.storing.is_some() { 2 * capacity } else { capacity })?;
        self.buffer.reserve_exact(capacity - self.buffer.len());
        Ok(())
    }

    /// Hands the buffer over to be written, once the piece before it is.
    async fn store(&mut self) -> Result<()> {
        let mut upload = match self.storing.take() {
            Some(storing) => written(storing).await?,
            None => ContentUpload::new(&self.database),
        };
        let (node, piece) = (self.node.clone(), std::mem::take(&mut self.buffer));
        // A task of its own, so that the piece is written while the next one arrives.
        self.storing = Some(tokio::spawn(async move {
            let append = move || {
                upload.append(piece)?;
                Ok(upload)
            };
            node.bridge.run(Pool::BulkInserts, append).await
        }));
        Ok(())
    }

    /// The content, and its upload if it does not come with its command.
    ///
    /// * `room`: of its batch.
    ///
    /// # Errors
    ///
    /// A piece could not be stored.
    pub(crate) async fn finish(mut self, room: &mut InlineRoom) -> Result<(NewContent, Option<ContentUpload>)> {
        let is_small = self.storing.is_none() && self.buffer.len() <= INLINE_CONTENT_SIZE_MAX;
        if is_small && room.take(self.buffer.len()) {
            return Ok((NewContent::inline(self.buffer), None));
        }
        if !self.buffer.is_empty() || self.storing.is_none() {
            self.store().await?;
        }
        let hash = self.hasher.finish();
        match self.storing {
            Some(storing) => {
                let upload = written(storing).await?;
                Ok((upload.content(hash), Some(upload)))
            }
            None => Ok((NewContent::inline(self.buffer), None)),
        }
    }
}

async fn written(storing: JoinHandle<Result<ContentUpload>>) -> Result<ContentUpload> {
    storing.await.unwrap_or_else(|error| Err(Error::Panicked(error.to_string())))
}

/// Writes a batch that links uploads. If it fails they are removed.
pub(crate) async fn submit_with(exchange: &Exchange, batch: Batch, uploads: Vec<ContentUpload>) -> Result<Outcome> {
    let outcome = submit(&exchange.node, exchange.database(), batch).await?;
    uploads.into_iter().for_each(ContentUpload::linked);
    Ok(outcome)
}
