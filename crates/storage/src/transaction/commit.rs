//! The commit queue (group commit). The first thread in the queue is the leader: it runs its own job and all waiting jobs in one
//! transaction and writes one log record for them. Meanwhile the next leader runs the next batch on top of it.
//!
//! A single writer never hands its job to another thread: a caller that blocks leads its own job. Jobs without a blocked caller
//! ([`Queue::submit`]) are led by the caller if it uses the [`Lead`], and by a thread of `background` otherwise. A caller that must not
//! block begins short jobs ([`Lead::begin`]): it hands their record to the kernel, and the thread that reaps publishes and
//! answers them. Log writes are pipelined: up to [`JOURNAL_WRITES_IN_FLIGHT_MAX`] records are in flight at once.

use super::WriteTransaction;
use super::direct::DirectRuns;
use super::job::{JobPointer, StackJob, Wake};
use super::nesting::Nesting;
use crate::checkpoint::pacing::CommitBytes;
use crate::environment::{Durability, Inner, Writer};
use crate::error::{Error, Result};
use crate::ids::{PageNumber, SnapshotWord, TransactionId};
use crate::io::aio::AsyncWrites;
use crate::journal::files::RecordWrite;
use crate::journal::record;
use crate::limits::{
    ASYNC_JOURNAL_WRITES_IN_FLIGHT_MAX, JOBS_PER_TRANSACTION_MAX, JOURNAL_LEFT_MIN, JOURNAL_WRITES_IN_FLIGHT_MAX,
    SHORT_BATCHES_AT_ONCE_MAX, SHORT_JOB_PAGES_SIZE, SHORT_JOBS_PER_TRANSACTION_MAX, SHORT_JOBS_SIZE_MAX,
};
use crate::page;
use crate::pager::changes::Lines;
use crate::planted::{Bug, is_planted};
use crate::sync::{Mutex, MutexGuard};
use crate::threads::tasks::Task;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

/// Work for the writer, submitted without blocking a thread.
pub trait Job: Send {
    /// For a job that a thread which serves others meanwhile may run ([`Lead::begin`]), because it takes a millisecond at most: the bytes
    /// that it writes, without those of the pages that lead to them. `None` for any other job.
    fn short_size(&self) -> Option<usize> {
        None
    }
    /// Runs inside the transaction, which other jobs may share. False rolls back the changes of this call.
    fn run(&mut self, tx: &mut WriteTransaction<'_>) -> bool;
    /// The outcome, given once: the transaction's id when it is durable (also if `run` said false: what it saw is durable).
    /// An error means that nothing of it was applied, or, after a failed write, that this is not known.
    ///
    /// It may run on the thread that reaps, which answers the writes of all environments, or on the thread that leads. It must not
    /// wait: no blocking write, no I/O, and no lock that a thread holds while it writes, closes an environment, or waits for an
    /// answer. It may submit jobs and use their [`Lead`]. Dropping the last handle of an environment closes that, so that the
    /// environment's owner hands such a handle to a thread that may wait. A panic is logged and costs no other job.
    fn done(self: Box<Self>, outcome: Result<TransactionId>);
}

/// A job in the queue.
pub(crate) enum QueuedJob {
    Owned(OwnedJob),
    Waiting(JobPointer),
}

/// A job without a blocked caller.
pub(crate) struct OwnedJob(Option<Box<dyn Job>>);

impl OwnedJob {
    fn answer(&mut self, outcome: Result<TransactionId>) {
        let Some(job) = self.0.take() else { return };
        // A panic in there is a fault of the caller; it must not cost the other jobs their answers, nor the queue its leader.
        if catch_unwind(AssertUnwindSafe(|| job.done(outcome))).is_err() {
            tracing::error!("a job panicked when it was given its outcome");
        }
    }
}

impl Drop for OwnedJob {
    /// A job that is lost (a panic of the engine) is answered all the same: its caller counts on one answer.
    fn drop(&mut self) {
        self.answer(Err(Error::JobPanicked));
    }
}

impl QueuedJob {
    fn short_size(&self) -> Option<usize> {
        match self {
            QueuedJob::Owned(job) => job.0.as_ref()?.short_size(),
            // Its own thread runs it.
            QueuedJob::Waiting(_) => None,
        }
    }

    fn run(&mut self, tx: &mut WriteTransaction<'_>) -> bool {
        match self {
            QueuedJob::Owned(job) => job.0.as_mut().is_some_and(|job| job.run(tx)),
            QueuedJob::Waiting(job) => job.run(tx),
        }
    }

    pub fn done(self, outcome: Result<TransactionId>) {
        match self {
            QueuedJob::Owned(mut job) => job.answer(outcome),
            QueuedJob::Waiting(job) => job.done(outcome),
        }
    }
}

/// The queue.
pub(crate) struct Queue {
    state: Mutex<QueueState>,
}

#[derive(Default)]
struct QueueState {
    entries: VecDeque<QueuedJob>,
    /// True while a thread runs jobs or has been chosen to.
    leading: bool,
    in_flight: usize,
    /// Batches of one job that were taken one after the other.
    lone_batches: u32,
}

/// After this many batches of one job each, a single client is assumed.
const LONE_BATCHES_MIN: u32 = 8;

/// The right to lead a queue that has a job and no leader. Begin it on a thread that must not wait, run it on one that may, or
/// drop it: then a thread of the pool leads.
pub struct Lead {
    /// Taken by [`Lead::run`].
    inner: Option<Arc<Inner>>,
    is_alone: bool,
}

impl Lead {
    /// True if no other batch is in flight or was recently; then leading on the calling thread has the lowest latency. Beside other
    /// batches, later jobs would wait until this thread leads again.
    pub fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Leads without waiting: runs the jobs in the queue, as long as they are short, and hands their record to `writes`. Jobs are
    /// answered in [`AsyncWrites::reap`]. A thread of the pool leads if this thread would have to wait.
    pub fn begin(mut self, writes: &Arc<AsyncWrites>) {
        if let Some(inner) = self.inner.take() {
            Task::new(&inner).run(|inner| inner.queue.lead_without_waiting(inner, writes));
        }
    }

    /// Leads: runs the job and waits for the device.
    pub fn run(mut self) {
        if let Some(inner) = self.inner.take() {
            // Whoever closes the environment waits for it from here on.
            Task::new(&inner).run(|inner| inner.queue.lead(inner, false));
        }
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        if let Some(inner) = &self.inner {
            Queue::lead_in_background(inner);
        }
    }
}

/// The parts of the data file that must be durable before the batch's log record, which refers to them, is written.
#[derive(Default)]
struct Ahead {
    runs: DirectRuns,
    /// How many staged runs were written until the batch was sealed, if it has any.
    staged: Option<u64>,
}

impl Ahead {
    fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.staged.is_none()
    }
}

/// The outcome of a batch.
enum Batch {
    /// Its pages are final and its place in the journal is taken.
    Sealed {
        id: TransactionId,
        /// Nothing in an in-memory environment, nor where commits are lazy.
        write: Option<RecordWrite>,
        ahead: Ahead,
    },
    /// It changed nothing. What it saw is there when this transaction is durable.
    Unchanged { seen: TransactionId },
}

impl Queue {
    pub fn new() -> Self {
        Queue { state: Mutex::new(QueueState::default()) }
    }

    /// Runs a job and waits until it is durable.
    pub fn run(&self, inner: &Arc<Inner>, job: StackJob<'_>) -> Result<TransactionId> {
        // Others hold pointers to the job until it is done. If leading panics (an invariant of ours is broken), unwinding
        // would free it under their hands.
        struct AbortOnUnwind;
        impl Drop for AbortOnUnwind {
            fn drop(&mut self) {
                std::process::abort();
            }
        }
        let guard = AbortOnUnwind;
        if self.push(QueuedJob::Waiting(job.pointer())) {
            self.lead(inner, false);
        }
        while job.wait() == Wake::Lead {
            self.lead(inner, false);
        }
        std::mem::forget(guard);
        job.into_outcome().unwrap_or(Err(Error::Closed))
    }

    /// Adds a job without blocking; returns the lead if the queue has no leader.
    pub fn submit(&self, inner: &Arc<Inner>, job: Box<dyn Job>) -> Option<Lead> {
        let is_alone = {
            let state = self.state.lock();
            state.entries.is_empty() && state.in_flight == 0 && state.lone_batches >= LONE_BATCHES_MIN
        };
        self.push(QueuedJob::Owned(OwnedJob(Some(job)))).then(|| Lead { inner: Some(inner.clone()), is_alone })
    }

    fn lead_in_background(inner: &Arc<Inner>) {
        inner.in_background(|inner| inner.queue.lead(inner, true));
    }

    /// Adds an entry. True: the caller has to see that the queue is led.
    fn push(&self, entry: QueuedJob) -> bool {
        let mut state = self.state.lock();
        state.entries.push_back(entry);
        let lead = !state.leading && state.in_flight < JOURNAL_WRITES_IN_FLIGHT_MAX;
        state.leading |= lead;
        lead
    }

    /// Jobs that wait.
    pub fn len(&self) -> usize {
        self.state.lock().entries.len()
    }

    /// Runs batches. `stay`: until the queue is empty; else one, and then the next in the queue is made to lead.
    fn lead(&self, inner: &Arc<Inner>, stay: bool) {
        let _gone = FailIfPanicking { inner };
        loop {
            inner.wait_for_room();
            let writer = inner.writer.lock();
            let mut batch: Vec<QueuedJob> = {
                let mut state = self.state.lock();
                let count = state.entries.len().min(JOBS_PER_TRANSACTION_MAX);
                state.lone_batches = if count > 1 { 0 } else { state.lone_batches.saturating_add(1) };
                state.entries.drain(..count).collect()
            };
            let sealed = run_batch(inner, writer, &mut batch);
            let (flight, lead_in_background) = self.take_off(inner, &sealed);
            if lead_in_background {
                Self::lead_in_background(inner);
            }
            match sealed {
                Ok(Batch::Sealed { id, write, ahead }) => finish_batch(inner, id, write, ahead, batch),
                Ok(Batch::Unchanged { seen }) => inner.publication.after_earlier(inner, seen, batch),
                Err(error) => batch.into_iter().for_each(|entry| entry.done(Err(error.clone()))),
            }
            let mut state = self.state.lock();
            flight.land(&mut state);
            if state.leading || state.entries.is_empty() {
                return;
            }
            if !stay {
                let lead_in_background = self.promote(&mut state);
                drop(state);
                if lead_in_background {
                    Self::lead_in_background(inner);
                }
                return;
            }
            state.leading = true;
        }
    }

    /// Begins batches on this thread, which has the lead, until the queue is empty or as many records as may be are on their way. After
    /// [`SHORT_BATCHES_AT_ONCE_MAX`] a thread of the pool leads: in memory no record is ever on its way.
    fn lead_without_waiting(&self, inner: &Arc<Inner>, writes: &Arc<AsyncWrites>) {
        let _gone = FailIfPanicking { inner };
        for _ in 0..SHORT_BATCHES_AT_ONCE_MAX {
            if self.leaves_lead() {
                return;
            }
            let Some((writer, mut batch)) = self.take_short(inner) else { break };
            let sealed = run_batch(inner, writer, &mut batch);
            let (flight, mut has_lead) = self.take_off(inner, &sealed);
            match sealed {
                Ok(Batch::Sealed { id, write: Some(write), ahead }) if ahead.is_empty() => {
                    begin_write(inner, writes, flight, id, write, batch);
                }
                Ok(Batch::Sealed { id, write: None, ahead }) if ahead.is_empty() => {
                    inner.publication.finish(inner, id, Ok(()), batch);
                    has_lead |= self.land_and_promote(flight);
                }
                Ok(Batch::Sealed { id, write, ahead }) => inner.in_background(move |inner| {
                    finish_batch(inner, id, write, ahead, batch);
                    if inner.queue.land_and_promote(flight) {
                        Self::lead_in_background(inner);
                    }
                }),
                Ok(Batch::Unchanged { seen }) => {
                    inner.publication.after_earlier(inner, seen, batch);
                    has_lead |= self.land_and_promote(flight);
                }
                Err(error) => {
                    batch.into_iter().for_each(|entry| entry.done(Err(error.clone())));
                    has_lead |= self.land_and_promote(flight);
                }
            }
            if !has_lead {
                return;
            }
        }
        Self::lead_in_background(inner);
    }

    /// A batch is sealed and counts as in flight from now on, so that the next one may begin. True: see [`Self::promote`].
    fn take_off(&self, inner: &Arc<Inner>, sealed: &Result<Batch>) -> (Flight, bool) {
        let sealed = match sealed {
            Ok(Batch::Sealed { id, .. }) => Some(*id),
            Ok(Batch::Unchanged { .. }) | Err(_) => None,
        };
        let flight = Flight { inner: inner.clone(), sealed, has_landed: false };
        let mut state = self.state.lock();
        state.leading = false;
        state.in_flight += 1;
        let lead_in_background = self.promote(&mut state);
        (flight, lead_in_background)
    }

    /// Gives the lead up if enough records are on their way: where one of them lands, the queue gets a leader again.
    fn leaves_lead(&self) -> bool {
        let mut state = self.state.lock();
        let leaves = state.in_flight >= ASYNC_JOURNAL_WRITES_IN_FLIGHT_MAX;
        state.leading &= !leaves;
        leaves
    }

    /// Takes the next jobs with the writer, if neither they nor the writer make this thread wait.
    fn take_short<'a>(&self, inner: &'a Arc<Inner>) -> Option<(MutexGuard<'a, Writer>, Vec<QueuedJob>)> {
        if !inner.has_room() {
            return None;
        }
        let writer = inner.writer.try_lock()?;
        let mut size_left = match &writer.journal {
            Some(journal) => journal.left().checked_sub(JOURNAL_LEFT_MIN)?.min(SHORT_JOBS_SIZE_MAX),
            None => SHORT_JOBS_SIZE_MAX,
        };
        let fits = |entry: &&QueuedJob| {
            let rest = entry.short_size().and_then(|size| size_left.checked_sub(size as u64 + SHORT_JOB_PAGES_SIZE));
            rest.map(|rest| size_left = rest).is_some()
        };
        let mut state = self.state.lock();
        let short = state.entries.iter().take(SHORT_JOBS_PER_TRANSACTION_MAX).take_while(fits).count();
        if short == 0 {
            return None;
        }
        state.lone_batches = if short > 1 { 0 } else { state.lone_batches.saturating_add(1) };
        let batch = state.entries.drain(..short).collect();
        Some((writer, batch))
    }

    /// A record has come back from the device, or a batch had none: the batch is not in flight any more. True: this thread has the
    /// lead now.
    #[must_use]
    fn land_and_promote(&self, flight: Flight) -> bool {
        let mut state = self.state.lock();
        flight.land(&mut state);
        if is_planted(Bug::LandingIgnoresQueue) {
            return false;
        }
        self.promote(&mut state)
    }

    /// Makes the first job in the queue the leader, if there is one and another write may be in flight. True: that job has no
    /// blocked caller, so the caller must start a leading thread after it has released the lock.
    #[must_use]
    fn promote(&self, state: &mut MutexGuard<'_, QueueState>) -> bool {
        if state.leading || state.in_flight >= JOURNAL_WRITES_IN_FLIGHT_MAX {
            return false;
        }
        let in_background = match state.entries.front() {
            None => return false,
            Some(QueuedJob::Waiting(job)) => {
                job.lead();
                false
            }
            Some(QueuedJob::Owned(_)) => true,
        };
        state.leading = true;
        in_background
    }
}

/// A batch in flight: between the writer and its publication.
struct Flight {
    inner: Arc<Inner>,
    /// Its transaction, if it has one.
    sealed: Option<TransactionId>,
    has_landed: bool,
}

impl Flight {
    fn land(mut self, state: &mut QueueState) {
        state.in_flight -= 1;
        self.has_landed = true;
    }
}

impl Drop for Flight {
    /// If it has not landed, the engine has panicked: the record may never be written, so nothing may be committed or published on top of
    /// it. The queue gets a leader, which refuses the jobs that wait.
    fn drop(&mut self) {
        if self.has_landed {
            return;
        }
        self.inner.fail(Error::JobPanicked);
        if let Some(id) = self.sealed {
            self.inner.publication.finish(&self.inner, id, Err(Error::JobPanicked), Vec::new());
        }
        let lead_in_background = {
            let mut state = self.inner.queue.state.lock();
            state.in_flight -= 1;
            self.inner.queue.promote(&mut state)
        };
        if lead_in_background {
            Queue::lead_in_background(&self.inner);
        }
    }
}

/// A panic of the engine itself between the queue and the journal: what was sealed may never be written, so nothing may be
/// committed on top of it. Jobs that were taken are answered when they are dropped; those in the queue, here.
struct FailIfPanicking<'a> {
    inner: &'a Arc<Inner>,
}

impl Drop for FailIfPanicking<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        self.inner.fail(Error::JobPanicked);
        let waiting = {
            let mut state = self.inner.queue.state.lock();
            state.leading = false;
            std::mem::take(&mut state.entries)
        };
        waiting.into_iter().for_each(|entry| entry.done(Err(self.inner.refusal())));
    }
}

/// Hands the record of a batch to the device. What follows when it is durable runs in [`AsyncWrites::reap`].
fn begin_write(
    inner: &Arc<Inner>,
    writes: &Arc<AsyncWrites>,
    flight: Flight,
    id: TransactionId,
    write: RecordWrite,
    batch: Vec<QueuedJob>,
) {
    let RecordWrite { file, position, .. } = &write;
    let (task, failed, length, start) = (Task::new(inner), write.failed(), write.bytes.len(), Instant::now());
    let then = writes.clone();
    let done = Box::new(move |written: std::io::Result<()>| {
        task.run(|inner| {
            if written.is_ok() {
                inner.device.wrote(length, start.elapsed());
            }
            inner.publication.finish(inner, id, written.map_err(failed), batch);
            if inner.queue.land_and_promote(flight) {
                inner.queue.lead_without_waiting(inner, &then);
            }
        });
    });
    match file.file.begin_write(&write.bytes, *position, writes, done) {
        Ok(()) => inner.give_back_buffer(write.bytes),
        Err(done) => inner.in_background(move |inner| {
            let written = write.file.file.write_at(&write.bytes, write.position);
            inner.give_back_buffer(write.bytes);
            done(written);
        }),
    }
}

/// Writes what a batch leaves on the device, waits for it, and publishes the batch.
fn finish_batch(inner: &Inner, id: TransactionId, write: Option<RecordWrite>, ahead: Ahead, batch: Vec<QueuedJob>) {
    let written = write_batch(inner, write.as_ref(), ahead);
    if let Some(write) = write {
        inner.give_back_buffer(write.bytes);
    }
    inner.publication.finish(inner, id, written, batch);
}

/// Runs the jobs of a batch in one transaction and seals it.
fn run_batch(inner: &Arc<Inner>, writer: MutexGuard<'_, Writer>, batch: &mut Vec<QueuedJob>) -> Result<Batch> {
    if inner.has_failed() {
        return Err(inner.refusal());
    }
    if writer.closed {
        return Err(Error::Closed);
    }
    inner.refuse_beside_long_reader()?;
    let mut tx = WriteTransaction::begin(inner, writer);
    let mut refused = Vec::new();
    let nesting = Nesting::enter(inner);
    for (index, entry) in batch.iter_mut().enumerate() {
        tx.start_job();
        // A panic in a job is a fault of ours; it costs that job, not the others.
        let ran = catch_unwind(AssertUnwindSafe(|| entry.run(&mut tx)));
        let poisoned = tx.take_poison();
        match (ran, poisoned) {
            (Ok(true), None) => tx.keep_job(),
            (Ok(true), Some(error)) => {
                // A change stopped half-way, for want of room or at a damaged page, and the job went on all the same.
                tx.undo_job()?;
                refused.push((index, error));
            }
            (Ok(false), _) => tx.undo_job()?,
            (Err(_), _) => {
                tx.undo_job()?;
                refused.push((index, Error::JobPanicked));
            }
        }
    }
    drop(nesting);
    let refused: Vec<_> = refused.into_iter().rev().map(|(index, error)| (batch.remove(index), error)).collect();
    let sealed = seal(tx);
    // Not under the writer's lock: a call-back may drop the last handle of the environment, and closing that takes the lock.
    refused.into_iter().for_each(|(entry, error)| entry.done(Err(error)));
    sealed
}

/// Makes the record of a transaction and takes its place in the journal.
fn seal(mut tx: WriteTransaction<'_>) -> Result<Batch> {
    tx.drop_freed_pages()?;
    if tx.dirty().is_empty() {
        return Ok(Batch::Unchanged { seen: tx.writer.last_transaction });
    }
    let inner = tx.inner;
    let id = tx.id();
    let (write, ahead) = match tx.writer.journal {
        None => (None, Ahead::default()),
        Some(_) => journal_record(&mut tx)?,
    };
    let dirty = tx.take_dirty();
    let writer = &mut *tx.writer;
    for number in &dirty {
        // The record is made and has its place, so nothing may fail any more; and nothing can: these pages have versions.
        if let Ok(Some(version)) = inner.table.newest(*number)
            && let Some(previous) = version.previous()
        {
            writer.reclaim.replaced(SnapshotWord::of(id), previous, version);
        }
    }
    writer.last_transaction = id;
    if writer.journal.is_some() {
        writer.note_dirty(&dirty);
    }
    writer.dirty_buffer = dirty;
    writer.dirty_buffer.clear();
    inner.note_if_flush_is_due(writer);
    Ok(Batch::Sealed { id, write, ahead })
}

/// Writes what a batch leaves on the device: first what its record names, then the record.
fn write_batch(inner: &Inner, write: Option<&RecordWrite>, ahead: Ahead) -> Result<()> {
    let records = || write.map_or(Ok(()), |write| write_records(inner, write));
    let write_ahead = || {
        ahead.runs.write(inner)?;
        ahead.staged.map_or(Ok(()), |until| inner.sync_staged(until))
    };
    if is_planted(Bug::RecordBeforeRuns) {
        return records().and_then(|()| write_ahead());
    }
    write_ahead()?;
    records()
}

fn write_records(inner: &Inner, write: &RecordWrite) -> Result<()> {
    let start = Instant::now();
    write.run()?;
    inner.device.wrote(write.bytes.len(), start.elapsed());
    Ok(())
}

/// Makes the record of a transaction and takes its place in the journal; gives what is to be written now.
fn journal_record(tx: &mut WriteTransaction<'_>) -> Result<(Option<RecordWrite>, Ahead)> {
    let inner = tx.inner;
    let buffer = inner.take_buffer();
    let mut builder = record::Builder::new(buffer);
    let mut runs = DirectRuns::default();
    for number in tx.dirty() {
        let version = inner.table.newest(*number)?.ok_or_else(|| inner.table.corrupt(*number, "its change is gone"))?;
        if version.direct() {
            builder.direct(*number, version.pages());
            runs.add(*number, version, inner.id);
        } else if version.pages() > 1 {
            let used = page::RUN_START + page::run_length(version.page()) as usize;
            builder.run(*number, version.pages(), version.bytes(), used);
        } else if version.fresh() {
            builder.page(*number, None, version.page(), Lines::ALL);
        } else {
            let base = base_of(inner, *number, version.previous())?;
            builder.page(*number, Some(base), version.page(), version.lines());
        }
    }
    let mut staged = None;
    for (first, pages) in tx.staged.in_use() {
        builder.direct(first, pages);
        staged = Some(inner.staging.written());
    }
    let id = tx.id();
    let writer = &mut *tx.writer;
    let packed = inner.options.durability == Durability::Lazy;
    let about = record::About {
        environment_id: inner.id,
        transaction: id,
        durable: if packed { writer.synced } else { inner.readers.published().transaction() },
        previous_hash: writer.last_hash,
        packed,
    };
    let compress = writer.compression.worth_trying(builder.raw_bytes());
    let raw_bytes = builder.raw_bytes();
    let start = Instant::now();
    let (bytes, hash) = builder.finish(&about, compress);
    if compress {
        writer.compression.tried(raw_bytes, bytes.len(), start.elapsed(), &inner.device);
    }
    let Some(journal) = &mut writer.journal else { return Err(Error::Closed) };
    let length = bytes.len() as u64;
    let (file, position) = journal.reserve(length).inspect_err(|error| {
        // Want of room or of descriptors is not a failure: nothing was promised. But a sync that failed is not tried again.
        if !matches!(error, Error::DiskFull { .. }) && !error.is_want_of_descriptors() {
            inner.fail(error.clone());
        }
    })?;
    writer.last_hash = hash;
    inner.pacing.note_written(CommitBytes {
        journal_bytes: length,
        changed_bytes: raw_bytes as u64,
        direct_bytes: runs.size_bytes(),
    });
    writer.positions.push_back(crate::journal::replay::ReplayState {
        transaction: id,
        hash,
        number: file.number,
        offset: position + length,
    });
    let write = RecordWrite { file, position, bytes };
    if packed {
        // Under the writer's lock: a flush takes what is not gathered any more for written.
        if let Some(gathered) = writer.unwritten.add(write) {
            gathered.run().inspect_err(|error| inner.fail(error.clone()))?;
            inner.give_back_buffer(gathered.bytes);
        }
        return Ok((None, Ahead { runs, staged }));
    }
    Ok((Some(write), Ahead { runs, staged }))
}

fn base_of(
    inner: &Inner,
    number: PageNumber,
    previous: Option<crate::pager::version::VersionPointer>,
) -> Result<&crate::pager::Page> {
    match previous {
        Some(previous) => Ok(previous.page()),
        None => inner.table.file_page_unverified(number),
    }
}

#[cfg(test)]
#[path = "commit_tests.rs"]
mod tests;
