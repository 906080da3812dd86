//! Reading a file from a store as a stream, which goes on where a connection was cut.

use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use database::Result;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::failure::Failure;
use crate::limits::{PIECES_AHEAD_MAX, PROGRESS_PERIOD, RETRY_PAUSE_MAX, RETRY_PAUSE_MIN};
use crate::network::panicked;
use crate::store::ObjectDestination;

const OPERATION: &str = "read";

/// Begins to read a file. See [`Destination::get`](database::backups::Destination::get).
pub(crate) fn get(from: &ObjectDestination, path: &str) -> Result<Box<dyn Read + Send>> {
    let location = from.location(OPERATION, path)?;
    let (store, source) = (from.store.clone(), location.clone());
    let begun = from.persist(move || {
        let (store, source) = (store.clone(), source.clone());
        async move { store.get(&source).await }
    })?;
    let begun = begun.map_err(|error| from.failed(OPERATION, path, &error))?;
    let size = begun.meta.size;
    let file = Object {
        store: from.store.clone(),
        location,
        size,
        e_tag: begun.meta.e_tag.clone(),
        retry_time_max: from.retry_time_max,
    };
    let (sender, pieces) = mpsc::channel(PIECES_AHEAD_MAX);
    let task = from.network.runtime().spawn(file.send_to(begun.into_stream(), sender)).abort_handle();
    let path = path.to_owned();
    Ok(Box::new(Reading { pieces, piece: Bytes::new(), unread: size, task, from: from.clone(), path }))
}

type Pieces = BoxStream<'static, object_store::Result<Bytes>>;
type Outcome = std::result::Result<Bytes, object_store::Error>;

/// A file of a store, as it was when its reading began.
struct Object {
    store: Arc<dyn ObjectStore>,
    location: Path,
    size: u64,
    e_tag: Option<String>,
    retry_time_max: Duration,
}

impl Object {
    /// Reads to the end, and begins again behind what was read after a failure that passes.
    async fn send_to(self, first: Pieces, sender: Sender<Outcome>) {
        let (mut pieces, mut at) = (Some(first), 0);
        let (mut progress, mut pause) = (Instant::now(), RETRY_PAUSE_MIN);
        while at < self.size {
            let failure = match pieces.as_mut() {
                Some(stream) => match stream.next().await {
                    Some(Ok(piece)) => {
                        at += piece.len() as u64;
                        if sender.send(Ok(piece)).await.is_err() {
                            // The reader is gone.
                            return;
                        }
                        (progress, pause) = (Instant::now(), RETRY_PAUSE_MIN);
                        continue;
                    }
                    Some(Err(error)) => error,
                    None => ended_early(at, self.size),
                },
                None => match self.open_at(at).await {
                    Ok(stream) => {
                        pieces = Some(stream);
                        continue;
                    }
                    Err(error) => error,
                },
            };
            pieces = None;
            if Failure::of(&failure).is_final() || progress.elapsed() > self.retry_time_max {
                _ = sender.send(Err(failure)).await;
                return;
            }
            sleep(pause).await;
            pause = (pause * 2).min(RETRY_PAUSE_MAX);
        }
    }

    async fn open_at(&self, at: u64) -> object_store::Result<Pieces> {
        let range = Some(GetRange::Bounded(at..self.size));
        let options = GetOptions { range, if_match: self.e_tag.clone(), ..GetOptions::default() };
        Ok(self.store.get_opts(&self.location, options).await?.into_stream())
    }
}

fn ended_early(at: u64, size: u64) -> object_store::Error {
    let source = format!("the answer ended after {at} bytes of {size}").into();
    object_store::Error::Generic { store: "object", source }
}

/// A file that is being read.
struct Reading {
    pieces: Receiver<Outcome>,
    piece: Bytes,
    /// Bytes that did not come yet.
    unread: u64,
    task: AbortHandle,
    from: ObjectDestination,
    path: String,
}

impl Reading {
    /// Waits for what comes next; `None`: nothing.
    fn next_piece(&mut self) -> io::Result<Option<Outcome>> {
        loop {
            match self.pieces.try_recv() {
                Ok(piece) => return Ok(Some(piece)),
                Err(TryRecvError::Disconnected) => return Ok(None),
                Err(TryRecvError::Empty) => self.from.check_end().map_err(io::Error::other)?,
            }
            let pieces = &mut self.pieces;
            let next = async { timeout(PROGRESS_PERIOD, pieces.recv()).await };
            if let Ok(piece) = self.from.network.runtime().block_on(next) {
                return Ok(piece);
            }
        }
    }
}

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while self.piece.is_empty() {
            match self.next_piece()? {
                Some(Ok(piece)) => {
                    self.unread = self.unread.saturating_sub(piece.len() as u64);
                    self.piece = piece;
                }
                None if self.unread == 0 => return Ok(0),
                outcome => {
                    let error = outcome.and_then(Outcome::err).unwrap_or_else(panicked);
                    return Err(io::Error::other(self.from.failed(OPERATION, &self.path, &error)));
                }
            }
        }
        let count = buffer.len().min(self.piece.len());
        self.piece.copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.task.abort();
    }
}
