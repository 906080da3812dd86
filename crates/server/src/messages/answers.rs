//! Answers that are made on a thread of the pool: whole as long as they are small, then part by part.
//!
//! ```text
//! handler ──work──► pool: AnswerWriter ──up to WHOLE_ANSWER_SIZE──► a whole answer, with its length
//!                                      └─past it: a place among the streams, then parts, as the reader takes them
//! ```
//!
//! Before the first part goes out an error is an answer like any other; after it the answer is cut off. Work for a client
//! that went away is given up: see [`Caller`]. [`Answers`] knows all that are being sent, and cuts off the oldest one that
//! keeps writers of its database from going on.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::time::Instant;

use bytes::Bytes;
use database::documents::Snapshot;
use database::{Database, script};
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, oneshot};

use super::body::RequestBody;
use super::reply::{BodyPart, Reply, Waits};
use crate::bridge::{Owner, Pool, PoolPermit};
use crate::error::{Error, Result, panicked};
use crate::limits::{SMALL_ANSWER_SIZE, STREAM_PART_SIZE, STREAM_PARTS_MAX, WHOLE_ANSWER_SIZE};
use crate::memory::{self, MemoryReservation};
use crate::node::Node;
use crate::routing::exchange::Exchange;
use crate::routing::urls::url_of;

/// Where an answer is written: memory, or an [`AnswerWriter`].
pub(crate) trait Out {
    /// What is in work. [`Out::part_done`] must be called now and then.
    fn buffer(&mut self) -> &mut Vec<u8>;

    /// Hands on what is in work, if it is large enough.
    fn part_done(&mut self) -> Result<()>;
}

/// Where a whole answer is written, its head included.
pub(crate) trait WholeOut: Out {
    /// Status and headers of the answer, before anything is written. `snapshot` is what it is read from.
    fn begin(&mut self, head: Reply, snapshot: &Snapshot<'_>) -> Result<()>;
}

/// An answer that is small enough to be made right where its request was read.
#[derive(Default)]
pub(crate) struct SmallAnswer {
    head: Option<Reply>,
    buffer: Vec<u8>,
}

impl SmallAnswer {
    /// `None`: it was not begun, or is not small.
    pub(crate) fn into_reply(self) -> Option<Reply> {
        let mut head = self.head.filter(|_| self.buffer.len() <= SMALL_ANSWER_SIZE)?;
        head.body_mut().set_whole(Bytes::from(self.buffer));
        Some(head)
    }
}

impl Out for SmallAnswer {
    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// What is too large is made anew by who may take its time.
    fn part_done(&mut self) -> Result<()> {
        if self.buffer.len() <= SMALL_ANSWER_SIZE { Ok(()) } else { Err(database::Error::Canceled.into()) }
    }
}

impl WholeOut for SmallAnswer {
    fn begin(&mut self, head: Reply, _: &Snapshot<'_>) -> Result<()> {
        self.head = Some(head);
        Ok(())
    }
}

impl Out for Vec<u8> {
    fn buffer(&mut self) -> &mut Vec<u8> {
        self
    }

    fn part_done(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Whoever waits for an answer, as the work sees it: gone when the future of the handler, or the body of the answer, was
/// dropped; or cut off.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    waits: Weak<Waits>,
    cut: Arc<Cut>,
}

#[derive(Debug, Default)]
struct Cut {
    is_cut: AtomicBool,
    bell: Notify,
}

impl Cut {
    /// False: it was cut off before.
    fn cut_off(&self) -> bool {
        let is_first = !self.is_cut.swap(true, Relaxed);
        if is_first {
            self.bell.notify_one();
        }
        is_first
    }
}

impl Caller {
    pub(crate) fn is_gone(&self) -> bool {
        self.waits.strong_count() == 0 || self.cut.is_cut.load(Relaxed)
    }

    /// Ends the work for it.
    pub(crate) fn cut_off(&self) {
        self.cut.cut_off();
    }
}

/// Has `work` make the answer to a request, on a thread of `pool`. What it gives back is the answer, or else what it wrote
/// after [`AnswerWriter::begin`].
pub(crate) async fn produce(
    mut exchange: Exchange,
    pool: Pool,
    work: impl FnOnce(&Exchange, &mut AnswerWriter) -> Result<Option<Reply>> + Send + 'static,
) -> Result<Reply> {
    let permit = exchange.node.bridge.permit(pool, exchange.peer.owner()).await?;
    // What was not read of it is left before the answer, not when the work is over.
    exchange.body = RequestBody::empty();
    let waits = Arc::new(Waits::default());
    let (started, reply) = oneshot::channel();
    let caller = Caller { waits: Arc::downgrade(&waits), cut: Arc::default() };
    tokio::task::spawn_blocking(move || {
        let mut out = AnswerWriter::new(&exchange, caller, pool, permit, started);
        let stop = {
            let (caller, database) = (out.caller.clone(), out.database.clone());
            Rc::new(move || caller.is_gone() || database.is_closed())
        };
        let memory = &exchange.node.memory;
        let work = || script::stoppable(stop, || database::with_script_memory(memory, || work(&exchange, &mut out)));
        let outcome = catch_unwind(AssertUnwindSafe(work));
        out.end(outcome.unwrap_or_else(|panic| Err(panicked(&*panic))));
    });
    let reply: Result<Reply> = reply.await.unwrap_or_else(|_| Err(Error::Panicked("an answer was dropped".to_owned())));
    let mut reply = reply?;
    reply.body_mut().keep_waiting(waits);
    Ok(reply)
}

/// Collects an answer, and hands it to the network.
pub(crate) struct AnswerWriter {
    node: Arc<Node>,
    database: Arc<Database>,
    url: String,
    caller: Caller,
    buffer: Vec<u8>,
    reservation: MemoryReservation,
    permit: Option<PoolPermit>,
    owner: Option<Owner>,
    is_stream: bool,
    /// The transaction that the snapshot shows.
    transaction: u64,
    state: SinkState,
}

enum SinkState {
    /// Nothing was sent yet. The head is there once it has begun.
    Whole {
        started: oneshot::Sender<Result<Reply>>,
        head: Option<Reply>,
    },
    Sending {
        sender: mpsc::Sender<BodyPart>,
        _place: StreamSlot,
    },
    Over,
}

impl AnswerWriter {
    fn new(
        exchange: &Exchange,
        caller: Caller,
        pool: Pool,
        permit: PoolPermit,
        started: oneshot::Sender<Result<Reply>>,
    ) -> AnswerWriter {
        AnswerWriter {
            node: exchange.node.clone(),
            database: exchange.database().clone(),
            url: url_of(&exchange.uri),
            caller,
            buffer: Vec::new(),
            reservation: exchange.node.memory.reservation(),
            permit: Some(permit),
            owner: exchange.peer.owner(),
            is_stream: matches!(pool, Pool::Streams),
            transaction: 0,
            state: SinkState::Whole { started, head: None },
        }
    }

    /// Whoever waits for it.
    pub(crate) fn caller(&self) -> Caller {
        self.caller.clone()
    }

    /// Status and headers of the answer, before anything is written. `snapshot` is what it is read from.
    pub(crate) fn begin(&mut self, head: Reply, snapshot: &Snapshot<'_>) -> Result<()> {
        self.transaction = snapshot.transaction();
        self.begin_detached(head)
    }

    /// Status and headers of an answer that holds no snapshot while it is sent.
    pub(crate) fn begin_detached(&mut self, head: Reply) -> Result<()> {
        if let SinkState::Whole { head: place, .. } = &mut self.state {
            *place = Some(head);
        }
        if self.is_stream { self.send_from_now_on() } else { Ok(()) }
    }

    /// Whether it has left: from then on it lasts as long as its reader does.
    pub(crate) fn is_sent(&self) -> bool {
        matches!(self.state, SinkState::Sending { .. })
    }

    /// Sends the head. It needs a place among the streams, if it has none.
    fn send_from_now_on(&mut self) -> Result<()> {
        if !self.is_stream {
            self.reservation.grow(self.buffer.len())?;
            self.permit = Some(self.node.bridge.turn_into_stream(self.permit.take(), self.owner)?);
            self.reservation.clear();
        }
        let place = self.node.answers.enter(self);
        let (sender, receiver) = mpsc::channel(STREAM_PARTS_MAX);
        let state = std::mem::replace(&mut self.state, SinkState::Sending { sender, _place: place });
        if let SinkState::Whole { started, head: Some(mut head) } = state {
            head.body_mut().set_parts(receiver);
            let _ = started.send(Ok(head));
        }
        Ok(())
    }

    /// Sends bytes that lie in memory of their own, behind what was collected. The head is sent already.
    pub(crate) fn send_owned(&mut self, bytes: Bytes) -> Result<()> {
        if !self.buffer.is_empty() {
            self.flush()?;
        }
        self.send_parts(memory::hold(&self.node.memory, bytes))
    }

    /// Sends what was collected, in parts that share its memory.
    fn flush(&mut self) -> Result<()> {
        let mut reservation = self.node.memory.reservation();
        if self.buffer.len() > WHOLE_ANSWER_SIZE {
            reservation.grow(self.buffer.len())?;
        }
        let buffer = std::mem::replace(&mut self.buffer, Vec::with_capacity(STREAM_PART_SIZE));
        self.send_parts(memory::fill(reservation, buffer))
    }

    fn send_parts(&self, mut rest: Bytes) -> Result<()> {
        while !rest.is_empty() {
            let part = rest.split_to(rest.len().min(2 * STREAM_PART_SIZE));
            self.send(BodyPart::Bytes(part))?;
        }
        Ok(())
    }

    /// Waits while the reader does not take what was sent before.
    fn send(&self, part: BodyPart) -> Result<()> {
        let gone = || Error::from(database::Error::Canceled);
        let SinkState::Sending { sender, .. } = &self.state else { return Err(gone()) };
        if self.caller.is_gone() {
            return Err(gone());
        }
        let part = match sender.try_send(part) {
            Ok(()) => return Ok(()),
            Err(mpsc::error::TrySendError::Full(part)) => part,
            Err(mpsc::error::TrySendError::Closed(_)) => return Err(gone()),
        };
        tokio::runtime::Handle::current().block_on(async {
            tokio::select! {
                biased;
                () = self.caller.cut.bell.notified() => Err(gone()),
                sent = sender.send(part) => sent.map_err(|_| gone()),
            }
        })
    }

    /// Ends the answer. What is not ended is cut off.
    fn end(mut self, outcome: Result<Option<Reply>>) {
        let outcome = match std::mem::replace(&mut self.state, SinkState::Over) {
            SinkState::Whole { started, head } => {
                let whole = |mut head: Reply| {
                    head.body_mut().set_whole(Bytes::from(std::mem::take(&mut self.buffer)));
                    head
                };
                let reply = outcome.map(|reply| reply.or_else(|| head.map(whole)));
                let reply = reply.and_then(|reply| {
                    reply.ok_or_else(|| Error::Panicked("an answer ended before it began".to_owned()))
                });
                // Whoever has the answer finds the thread free. Nobody may wait for it any more.
                drop(self.permit.take());
                return drop(started.send(reply));
            }
            state => {
                self.state = state;
                outcome.and_then(|_| self.flush()).and_then(|()| self.send(BodyPart::End))
            }
        };
        match outcome {
            // The reader went away, or whoever cut it off has said so.
            Ok(()) | Err(Error::Database(database::Error::Canceled) | Error::QueryEnded) => {}
            Err(error) => tracing::warn!(%error, url = self.url, "a streamed answer was cut off"),
        }
    }
}

impl WholeOut for AnswerWriter {
    fn begin(&mut self, head: Reply, snapshot: &Snapshot<'_>) -> Result<()> {
        AnswerWriter::begin(self, head, snapshot)
    }
}

impl Out for AnswerWriter {
    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    fn part_done(&mut self) -> Result<()> {
        if !self.is_sent() {
            if self.buffer.len() < WHOLE_ANSWER_SIZE {
                return Ok(self.reservation.grow(self.buffer.len())?);
            }
            self.send_from_now_on()?;
        }
        if self.buffer.len() < STREAM_PART_SIZE { Ok(()) } else { self.flush() }
    }
}

/// The answers that are being sent.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    open: Mutex<HashMap<u64, Sent>>,
    next_number: AtomicU64,
}

struct Sent {
    database: Arc<Database>,
    transaction: u64,
    url: String,
    since: Instant,
    cut: Arc<Cut>,
}

impl std::fmt::Debug for Sent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sent").field("url", &self.url).field("since", &self.since).finish_non_exhaustive()
    }
}

/// A slot among the streamed answers; dropping it frees the slot.
struct StreamSlot {
    node: Arc<Node>,
    number: u64,
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let sent = self.node.answers.open.lock().remove(&self.number);
        // Perhaps the last to hold its database, which is not closed under the lock.
        drop(sent);
    }
}

impl Answers {
    fn enter(&self, writer: &AnswerWriter) -> StreamSlot {
        let number = self.next_number.fetch_add(1, Relaxed);
        let sent = Sent {
            database: writer.database.clone(),
            transaction: writer.transaction,
            url: writer.url.clone(),
            since: Instant::now(),
            cut: writer.caller.cut.clone(),
        };
        self.open.lock().insert(number, sent);
        StreamSlot { node: writer.node.clone(), number }
    }

    /// Cuts off the answers whose snapshots are the oldest of databases that hold many versions of pages for them: soon their
    /// writers would be refused.
    pub(crate) fn cut_off_where_writers_wait(&self) {
        for sent in self.open.lock().values() {
            let held_for = sent.database.documents().environment().versions_held_for();
            if held_for.is_some_and(|oldest| oldest.0 == sent.transaction) && sent.cut.cut_off() {
                tracing::warn!(
                    database = sent.database.name(),
                    url = sent.url,
                    seconds = sent.since.elapsed().as_secs(),
                    "a streamed answer was cut off: what its snapshot keeps in memory or in the journal exceeds Limits.PageVersionsInMb"
                );
            }
        }
    }
}
