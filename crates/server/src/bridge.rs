//! The one crossing between async and the plain, blocking functions below.
//!
//! A short read (one document) runs right on the network thread: handing it over would cost more than it does. What may
//! take long runs on a bounded pool ([`Bridge::run`], [`Bridge::stream`]). Writes wait for a call-back, not on a
//! thread ([`answer`]).

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use bytes::Bytes;
use database::Lead;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::error::{Error, Result};
use crate::limits::{Limits, STREAM_PART_SIZE, STREAM_PARTS_MAX};
use crate::reply::StreamFailed;

/// The bounded pool for reads that may take long.
#[derive(Debug)]
pub(crate) struct Bridge {
    running: Arc<Semaphore>,
    waiting: AtomicUsize,
    waiting_max: usize,
}

impl Bridge {
    pub(crate) fn new(limits: &Limits) -> Bridge {
        Bridge {
            running: Arc::new(Semaphore::new(limits.blocking_thread_count)),
            waiting: AtomicUsize::new(0),
            waiting_max: limits.blocking_queue_count,
        }
    }

    /// Runs `work` on the pool and waits for it. A panic in it becomes an error of this request.
    pub(crate) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
        let permit = self.permit().await?;
        let handle = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        match handle.await {
            Ok(outcome) => outcome,
            Err(error) => Err(Error::Panicked(error.to_string())),
        }
    }

    /// Runs `produce` on the pool and gives what it writes, part by part, as it is written. An error of it, or a panic,
    /// cuts the answer off; a reader that goes away makes the writing fail.
    pub(crate) async fn stream(
        &self,
        produce: impl FnOnce(&mut PartWriter) -> Result<()> + Send + 'static,
    ) -> Result<mpsc::Receiver<std::result::Result<Bytes, StreamFailed>>> {
        let permit = self.permit().await?;
        let (sender, receiver) = mpsc::channel(STREAM_PARTS_MAX);
        let failed = sender.clone();
        let handle = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let mut writer = PartWriter { sender, part: Vec::with_capacity(STREAM_PART_SIZE) };
            produce(&mut writer)?;
            writer.flush().map_err(|error| Error::BodyCutOff(error.to_string()))
        });
        tokio::spawn(async move {
            let error = match handle.await {
                Ok(Ok(())) | Ok(Err(Error::BodyCutOff(_))) => return,
                Ok(Err(error)) => error,
                Err(error) => Error::Panicked(error.to_string()),
            };
            tracing::warn!(%error, "a streamed answer was cut off");
            let _ = failed.send(Err(StreamFailed)).await;
        });
        Ok(receiver)
    }

    async fn permit(&self) -> Result<tokio::sync::OwnedSemaphorePermit> {
        if let Ok(permit) = self.running.clone().try_acquire_owned() {
            return Ok(permit);
        }
        if self.waiting.fetch_add(1, Relaxed) >= self.waiting_max {
            self.waiting.fetch_sub(1, Relaxed);
            return Err(Error::Busy("more reads wait than Limits.BlockingQueue allows"));
        }
        let permit = self.running.clone().acquire_owned().await;
        self.waiting.fetch_sub(1, Relaxed);
        permit.map_err(|_| Error::Busy("the server stops"))
    }
}

/// Collects what is written into parts and hands them to the network; waits while the reader does not take them.
#[derive(Debug)]
pub(crate) struct PartWriter {
    sender: mpsc::Sender<std::result::Result<Bytes, StreamFailed>>,
    part: Vec<u8>,
}

impl PartWriter {
    /// The part in work. [`PartWriter::part_done`] must be called now and then.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.part
    }

    /// Hands the part over if it is large enough.
    ///
    /// # Errors
    ///
    /// [`Error::BodyCutOff`] if the reader went away.
    pub(crate) fn part_done(&mut self) -> Result<()> {
        if self.part.len() < STREAM_PART_SIZE {
            return Ok(());
        }
        self.flush().map_err(|error| Error::BodyCutOff(error.to_string()))
    }
}

impl Write for PartWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.part.extend_from_slice(bytes);
        if self.part.len() >= STREAM_PART_SIZE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        if self.part.is_empty() {
            return Ok(());
        }
        let part = std::mem::replace(&mut self.part, Vec::with_capacity(STREAM_PART_SIZE));
        self.sender.blocking_send(Ok(Bytes::from(part))).map_err(|_| std::io::ErrorKind::BrokenPipe.into())
    }
}

/// Waits for the call-back of a write, without holding a thread. `begin` gets the call-back and hands the write over.
///
/// A write that is alone is led right here: the runtime gives this thread's other work to another one meanwhile, and the way
/// to a thread of the pool and back would cost as much as the device.
pub(crate) async fn answer<T: Send + 'static>(begin: impl FnOnce(Done<T>) -> Option<Lead>) -> Result<T> {
    let (sender, receiver) = oneshot::channel();
    if let Some(lead) = begin(Done { sender })
        && lead.is_alone()
        && Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread
    {
        tokio::task::block_in_place(|| lead.run());
    }
    match receiver.await {
        Ok(outcome) => Ok(outcome?),
        Err(_) => Err(Error::Panicked("a write was dropped without an answer".to_owned())),
    }
}

/// The call-back of one write.
pub(crate) struct Done<T> {
    sender: oneshot::Sender<database::Result<T>>,
}

impl<T: Send + 'static> Done<T> {
    /// The function that databases call.
    pub(crate) fn into_call_back(self) -> impl FnOnce(database::Result<T>) + Send + 'static {
        // Nobody may be there any more to hear it: the client went away, the write counts all the same.
        move |outcome| drop(self.sender.send(outcome))
    }
}
