//! The only way in for writes: proposals, in one order, each applied with a stamp.
//!
//! With one node a proposal is applied by the storage's queue, which puts those that wait into one transaction (group commit). A write that
//! fails is rolled back alone. A group of nodes puts the proposals into its log at this place.

use std::sync::Arc;

use documents::{Answer, Batch, Etag, Outcome, Write};
use storage::{Job, Lead, TransactionId, WriteTransaction};

use crate::compaction::ParkedWrite;
use crate::limits::SHORT_WRITE_SIZE;
use crate::queue::Queue;
use crate::{Database, Error, Result};

impl Database {
    /// Proposes a write and calls `done` once when it is durable, or refused; on this thread if it is refused at once. No
    /// thread waits meanwhile.
    ///
    /// A [`Lead`] is returned if no thread is committing the storage's queue: begin it on a thread that must not wait, run it on one
    /// that may, or drop it.
    pub fn propose(self: &Arc<Self>, write: Write, done: impl FnOnce(Result<Answer>) + Send + 'static) -> Option<Lead> {
        match self.gate.moved_to() {
            Some(Some(database)) => return database.propose(write, done),
            Some(None) => {
                done(Err(Error::Reopened { name: self.name().to_owned() }));
                return None;
            }
            None => {}
        }
        let size = write.size();
        self.propose_entered(self.enter(size), size, write, done)
    }

    fn propose_entered(
        self: &Arc<Self>,
        entered: Result<()>,
        size: usize,
        write: Write,
        done: impl FnOnce(Result<Answer>) + Send + 'static,
    ) -> Option<Lead> {
        if let Err(refused) = entered {
            done(Err(refused));
            return None;
        }
        let database = self.clone();
        Proposal { database, size, write, done: Some(done), answer: None, last_etag: None, is_held: false }.submit()
    }

    /// Proposes the commands of a client, as [`propose`](Self::propose) does.
    pub fn submit(self: &Arc<Self>, batch: Batch, done: impl FnOnce(Result<Outcome>) + Send + 'static) -> Option<Lead> {
        let write = Write::batch(batch);
        self.propose(write, move |answer| done(answer.and_then(|answer| Ok(answer.outcome()?))))
    }

    /// The same, with no result for each command. Waits for a place in a full queue.
    pub(crate) fn submit_blocking(self: &Arc<Self>, batch: Batch, done: impl FnOnce(Result<Outcome>) + Send + 'static) {
        let write = Write::silent_batch(batch);
        self.propose_blocking(write, move |answer| done(answer.and_then(|answer| Ok(answer.outcome()?))));
    }

    /// As [`propose`](Self::propose). Waits for a place in a full queue.
    pub(crate) fn propose_blocking(self: &Arc<Self>, write: Write, done: impl FnOnce(Result<Answer>) + Send + 'static) {
        if let Some(Some(database)) = self.gate.moved_to() {
            return database.propose_blocking(write, done);
        }
        let size = write.size();
        self.propose_entered(self.enter_blocking(size), size, write, done);
    }

    /// Applies a batch and returns when it is durable. For threads that may wait.
    ///
    /// # Errors
    ///
    /// The batch is refused, or storage fails.
    pub fn execute(&self, batch: Batch) -> Result<Outcome> {
        Ok(self.write(&Write::batch(batch))?.outcome()?)
    }

    /// Applies a write and returns when it is durable. For threads that may wait.
    ///
    /// # Errors
    ///
    /// The write is refused, the queue is full, or storage fails.
    pub fn write(&self, write: &Write) -> Result<Answer> {
        let size = write.size();
        self.enter(size)?;
        self.write_entered(size, write)
    }

    /// The same for work in many transactions, which must not be refused half-way: waits for a place in a full queue.
    pub(crate) fn write_blocking(&self, write: &Write) -> Result<Answer> {
        let size = write.size();
        self.enter_blocking(size)?;
        self.write_entered(size, write)
    }

    fn write_entered(&self, size: usize, write: &Write) -> Result<Answer> {
        let place = QueueSlot { queue: &self.queue, size };
        let moved_to = loop {
            let applied = match self.gate.is_shut() {
                true => Err(Blocked::Held),
                // The stamp is made when the transaction has begun, so that dates rise with etags.
                false => self.store.environment().write(|tx| match self.gate.is_shut() {
                    true => Err(Blocked::Held),
                    false => Ok(self.store.apply_in(tx, write, self.store.stamp())?),
                }),
            };
            match applied {
                Ok(applied) => {
                    drop(place);
                    self.note_success();
                    if let Some(last_etag) = applied.last_etag {
                        self.notify_committed(last_etag);
                    }
                    return Ok(applied.answer);
                }
                Err(Blocked::Failed(documents::Error::Storage(storage::Error::Closed))) if self.gate.is_shut() => {}
                Err(Blocked::Failed(error)) => {
                    let error = Error::from(error);
                    self.note_if_failed(&error);
                    return Err(error);
                }
                Err(Blocked::Held) => {}
            }
            if let Some(database) = self.gate.wait(self.name(), self.limits.compaction_write_wait)? {
                break database;
            }
            self.refuse_if_closed()?;
        };
        drop(place);
        moved_to.write_blocking(write)
    }

    fn enter(&self, size: usize) -> Result<()> {
        self.refuse_if_closed()?;
        self.queue.enter(self.name(), size, &self.limits)
    }

    fn enter_blocking(&self, size: usize) -> Result<()> {
        self.queue.enter_blocking(size, &self.limits);
        // It may have been closed meanwhile.
        self.refuse_if_closed().inspect_err(|_| self.queue.leave(size))
    }

    fn refuse_if_closed(&self) -> Result<()> {
        if self.is_closed() { Err(Error::Disabled { name: self.name().to_owned() }) } else { Ok(()) }
    }
}

/// A place in the queue, given back even if the write panics.
struct QueueSlot<'a> {
    queue: &'a Queue,
    size: usize,
}

impl Drop for QueueSlot<'_> {
    fn drop(&mut self) {
        self.queue.leave(self.size);
    }
}

/// Why a write on a thread that may wait was not applied.
enum Blocked {
    /// The gate is shut.
    Held,
    Failed(documents::Error),
}

impl From<storage::Error> for Blocked {
    fn from(error: storage::Error) -> Blocked {
        Blocked::Failed(error.into())
    }
}

impl From<documents::Error> for Blocked {
    fn from(error: documents::Error) -> Blocked {
        Blocked::Failed(error)
    }
}

/// A write on its way through the storage's queue.
struct Proposal<D> {
    database: Arc<Database>,
    size: usize,
    write: Write,
    done: Option<D>,
    answer: Option<documents::Result<Answer>>,
    last_etag: Option<Etag>,
    /// Whether the gate was shut when its turn came.
    is_held: bool,
}

impl<D: FnOnce(Result<Answer>) + Send + 'static> Proposal<D> {
    /// Hands it to the storage, or parks it.
    fn submit(self) -> Option<Lead> {
        let database = self.database.clone();
        if database.gate.is_shut() {
            database.gate.park(database.name(), Box::new(self));
            return None;
        }
        database.store.environment().submit(Box::new(self))
    }

    /// Whether it was not applied because the gate was shut, or its environment given up since.
    fn waits(&self, outcome: &storage::Result<TransactionId>) -> bool {
        let is_given_up = matches!(outcome, Err(storage::Error::Closed)) && self.database.gate.is_shut();
        self.is_held || self.answer.is_none() && is_given_up
    }
}

impl<D: FnOnce(Result<Answer>) + Send + 'static> ParkedWrite<Database> for Proposal<D> {
    fn go_on(mut self: Box<Self>, database: Option<Arc<Database>>) {
        self.is_held = false;
        if let Some(database) = database {
            // Its place is kept: both have one queue.
            release(std::mem::replace(&mut self.database, database));
        }
        match self.database.refuse_if_closed() {
            // A thread of the storage leads.
            Ok(()) => drop(self.submit()),
            Err(error) => self.refuse(error),
        }
    }

    fn refuse(mut self: Box<Self>, error: Error) {
        self.database.queue.leave(self.size);
        if let Some(done) = self.done.take() {
            done(Err(error));
        }
        release(self.database);
    }
}

impl<D: FnOnce(Result<Answer>) + Send + 'static> Job for Proposal<D> {
    fn short_size(&self) -> Option<usize> {
        let is_bounded = match &self.write {
            Write::Batch { batch, .. } => !batch.deletes_by_prefix(),
            Write::NextHiLo(_)
            | Write::Exchange(_)
            | Write::ClusterTransaction(_)
            | Write::ReturnHiLo { .. }
            | Write::NextIdentity { .. }
            | Write::SeedIdentity { .. }
            | Write::NewId { .. } => true,
            Write::DeleteUntil { .. }
            | Write::DeleteCollection { .. }
            | Write::CleanTombstones { .. }
            | Write::Definitions(_)
            | Write::Constraint(_)
            | Write::Outputs(_)
            | Write::Exchanges(_)
            | Write::Revisions(_)
            | Write::Upload(_)
            | Write::Due { .. } => false,
        };
        (is_bounded && self.size <= SHORT_WRITE_SIZE).then_some(self.size)
    }

    fn run(&mut self, tx: &mut WriteTransaction<'_>) -> bool {
        self.is_held = self.database.gate.is_shut();
        if self.is_held {
            return false;
        }
        let applied = self.database.store.apply_in(tx, &self.write, self.database.store.stamp());
        let is_kept = applied.is_ok();
        self.last_etag = applied.as_ref().ok().and_then(|applied| applied.last_etag);
        self.answer = Some(applied.map(|applied| applied.answer));
        is_kept
    }

    fn done(mut self: Box<Self>, outcome: storage::Result<TransactionId>) {
        if self.waits(&outcome) {
            let database = self.database.clone();
            database.gate.park(database.name(), self);
            return release(database);
        }
        self.database.queue.leave(self.size);
        let answer = match (self.answer.take(), outcome) {
            // The conflict may be with a document that is lost with the transaction. Its etag will be given to another write, so the client
            // must not learn its change vector.
            (
                Some(Err(
                    documents::Error::Conflict { .. }
                    | documents::Error::AttachmentConflict { .. }
                    | documents::Error::TransactionConflict { .. },
                )),
                Err(failed),
            ) => Err(failed.into()),
            // Any other refusal is final: the write was not applied, whatever became of the transaction.
            (Some(Err(refused)), _) => Err(refused.into()),
            (_, Err(failed)) => Err(failed.into()),
            (Some(Ok(answer)), Ok(_)) => Ok(answer),
            (None, Ok(_)) => Err(documents::Error::Bug { rule: "a write that was committed was applied" }.into()),
        };
        match &answer {
            Ok(_) => self.database.note_success(),
            Err(error) => self.database.note_if_failed(error),
        }
        if let (Ok(_), Some(last_etag)) = (&answer, self.last_etag) {
            self.database.notify_committed(last_etag);
        }
        if let Some(done) = self.done.take() {
            done(answer);
        }
        release(self.database);
    }
}

/// Drops a handle on a thread that must not wait. The last handle closes the database, with a flush: on a thread of its own.
fn release(database: Arc<Database>) {
    let Some(database) = Arc::into_inner(database) else { return };
    let closing = std::thread::Builder::new().name("close-database".to_owned()).spawn(move || drop(database));
    if let Err(error) = closing {
        tracing::warn!(%error, "no thread can be started: a database was closed on a thread that answers requests");
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::path::Path;
    use std::sync::mpsc;

    use documents::{BulkDocs, Expected};
    use storage::Environment;
    use storage::io::aio::AsyncWrites;
    use storage::io::simulated::{Fault, SimulatedIo};

    use super::*;
    use crate::Limits;
    use crate::indexes::IndexingPool;

    fn open(disk: &SimulatedIo) -> Arc<Database> {
        let options = storage::Options { io: Arc::new(disk.clone()), background: false, ..storage::Options::default() };
        let environment = Environment::open(Path::new("/x"), options).unwrap();
        Database::open("x", environment, false, "A", &Limits::default(), &Arc::new(IndexingPool::new(1))).unwrap()
    }

    /// Two clients write a document at once, in one transaction, and the journal cannot be written. The second was told the
    /// change vector of the first, whose etag another write has after that: it would replace that unseen.
    #[test]
    fn a_conflict_with_a_write_that_is_lost_does_not_tell_its_vector() {
        let disk = SimulatedIo::new();
        let database = open(&disk);
        let (sender, answers) = mpsc::channel();
        let submit = |database: &Arc<Database>, id: &str, expected| {
            let (mut batch, sender) = (Batch::new(), sender.clone());
            batch.put(id, b"{}", expected).unwrap();
            database.submit(batch, move |answer| sender.send(answer).unwrap())
        };
        let lead = submit(&database, "a", Expected::Any).expect("nobody leads");
        assert!(submit(&database, "a", Expected::Missing).is_none(), "it goes into the same transaction");
        disk.fail_at(Some(Fault { at: disk.operations(), for_ever: true, kind: ErrorKind::Other }));
        lead.run();
        let both: Vec<_> = answers.try_iter().collect();
        assert_eq!(both.len(), 2);
        disk.fail_at(None);
        drop(database);
        let database = open(&disk.crash(|| storage::io::simulated::Fate::Lost));
        submit(&database, "b", Expected::Any).expect("nobody leads").run();
        let vector = database.read().get("b").unwrap().expect("it is there").change_vector();
        for answer in both {
            let error = answer.unwrap_err();
            assert!(!error.to_string().contains(&vector), "{error}");
        }
    }

    #[test]
    fn a_write_without_room_is_noted_until_one_has_room() {
        let disk = SimulatedIo::new();
        let database = open(&disk);
        let put = |size: usize| {
            let mut batch = Batch::new();
            // Which no compression makes much smaller.
            let digits: String =
                (0..size as u64).map(|n| format!("{:016x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
            batch.put("a/", format!("{{\"Text\":\"{digits}\"}}").as_bytes(), Expected::Any).unwrap();
            database.execute(batch)
        };
        put(1).unwrap();
        assert_eq!(database.space_lacking(), None);
        disk.set_capacity(Some(0));
        let full = std::iter::repeat_with(|| put(10_000)).take(10_000).find_map(Result::err).expect("the disk is full");
        assert!(full.to_string().contains("no space left"), "{full}");
        assert!(database.space_lacking().is_some_and(|needed| needed > 0));
        disk.set_capacity(None);
        put(10_000).unwrap();
        assert_eq!(database.space_lacking(), None);
    }

    fn proposal(database: &Arc<Database>, write: Write) -> Proposal<fn(Result<Answer>)> {
        let (database, size) = (database.clone(), write.size());
        Proposal { database, size, write, done: None, answer: None, last_etag: None, is_held: false }
    }

    /// A deletion by prefix has some bytes, and changes as many documents as there are.
    #[test]
    fn a_deletion_by_prefix_is_not_short() {
        let database = open(&SimulatedIo::new());
        let is_short = |write| proposal(&database, write).short_size().is_some();
        let (mut single, mut prefixed) = (Batch::new(), Batch::new());
        single.delete("a/1", Expected::Any).unwrap();
        assert!(is_short(Write::batch(single)));
        prefixed.delete_prefixed("a/").unwrap();
        let mut log = Vec::new();
        Write::batch(prefixed.clone()).encode(&mut log).unwrap();
        assert!(!is_short(Write::decode(&log).unwrap()), "as a log has it");
        prefixed.delete("b", Expected::Any).unwrap();
        assert!(!is_short(Write::batch(prefixed)));
        let body = br#"{"Commands":[{"Id":"a/","Type":"DELETE","IdPrefixed":true}]}"#;
        let BulkDocs::Batch(batch) = BulkDocs::parse(body, true).unwrap() else { panic!("it is a batch") };
        assert!(!is_short(Write::batch(batch)), "as a client sends it");
    }

    /// Threads that answer requests must not close a database: that flushes.
    #[test]
    fn the_last_handle_of_a_database_is_dropped_on_a_thread_that_may_wait() {
        struct Listener(mpsc::Sender<std::thread::ThreadId>);
        impl crate::ChangeListener for Listener {
            fn committed(&self, _: crate::Committed) {}
        }
        impl Drop for Listener {
            fn drop(&mut self) {
                self.0.send(std::thread::current().id()).unwrap();
            }
        }
        let (disk, writes) = (SimulatedIo::new(), Arc::new(AsyncWrites::new().unwrap()));
        let (io, async_writes) = (Arc::new(disk), Some(writes.clone()));
        let options = storage::Options { io, async_writes, background: false, ..storage::Options::default() };
        let environment = Environment::open(Path::new("/x"), options).unwrap();
        let pool = Arc::new(IndexingPool::new(1));
        let database = Database::open("x", environment, false, "A", &Limits::default(), &pool).unwrap();
        let (dropped, closed_on) = mpsc::channel();
        database.add_listener(Arc::new(Listener(dropped)));
        let mut batch = Batch::new();
        batch.put("a", b"{}", Expected::Any).unwrap();
        let (sender, answers) = mpsc::channel();
        let lead = database.submit(batch, move |answer| sender.send(answer.is_ok()).unwrap());
        lead.expect("no thread leads").begin(&writes);
        drop(database);
        while writes.reap() {}
        assert_eq!(answers.try_recv(), Ok(true));
        let closed_on = closed_on.recv_timeout(testing::wait::LONG).unwrap();
        assert_ne!(closed_on, std::thread::current().id());
    }
}
