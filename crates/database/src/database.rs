//! One open database: its documents, the way writes go in, its operations.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use documents::{Batch, Date, DocumentStore, HiLoRange, HiLoRequest, Outcome, Snapshot, StoreOptions, Writing};
use storage::{Environment, Job, TransactionId, WriteTransaction};

use crate::changes::Listeners;
use crate::queue::Queue;
use crate::tombstones::TombstoneCleaning;
use crate::{ChangeListener, Error, Limits, Operations, Result};

/// One open database. Held as `Arc`; whoever holds it can go on reading, even while it is deleted.
pub struct Database {
    name: String,
    is_in_memory: bool,
    store: DocumentStore,
    limits: Limits,
    queue: Queue,
    listeners: Listeners,
    tombstone_cleaning: TombstoneCleaning,
    operations: Operations,
    /// Set when it is disabled or deleted: nothing is written any more.
    is_closed: AtomicBool,
    /// The separator in ids that the server completes, as a character's number.
    identity_separator: AtomicU32,
}

impl Database {
    pub(crate) fn open(
        name: &str,
        environment: Environment,
        is_in_memory: bool,
        node_tag: &str,
        limits: &Limits,
    ) -> Result<Database> {
        let options = StoreOptions { node_tag: node_tag.to_owned() };
        Ok(Database {
            name: name.to_owned(),
            is_in_memory,
            store: DocumentStore::open(environment, options)?,
            limits: limits.clone(),
            queue: Queue::default(),
            listeners: Listeners::default(),
            tombstone_cleaning: TombstoneCleaning::default(),
            operations: Operations::new(limits.ended_operations_count_max),
            is_closed: AtomicBool::new(false),
            identity_separator: AtomicU32::new(u32::from('/')),
        })
    }

    /// The name as it was first spelled.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is gone with the process.
    pub fn is_in_memory(&self) -> bool {
        self.is_in_memory
    }

    /// The documents, for what is not offered here.
    pub fn documents(&self) -> &DocumentStore {
        &self.store
    }

    /// The state as it is now: one snapshot for all reads of a request. Never waits.
    pub fn read(&self) -> Snapshot<'_> {
        self.store.read()
    }

    /// Its operations.
    pub fn operations(&self) -> &Operations {
        &self.operations
    }

    /// Batches that wait or run.
    pub fn queued_count(&self) -> usize {
        self.queue.count()
    }

    /// Bytes of the files of this database now; 0 in memory.
    pub fn size_on_disk(&self) -> u64 {
        if self.is_in_memory {
            return 0;
        }
        let files = std::fs::read_dir(self.store.environment().path()).into_iter().flatten();
        files.filter_map(|file| Some(file.ok()?.metadata().ok()?.len())).sum()
    }

    /// Has a listener told of every commit from now on.
    pub fn add_listener(&self, listener: Arc<dyn ChangeListener>) {
        self.listeners.add(listener);
    }

    /// Ends that.
    pub fn remove_listener(&self, listener: &Arc<dyn ChangeListener>) {
        self.listeners.remove(listener);
    }

    pub(crate) fn tombstone_cleaning(&self) -> &TombstoneCleaning {
        &self.tombstone_cleaning
    }

    /// Refuses writes from now on.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Relaxed);
        self.operations.all().iter().for_each(|operation| operation.kill());
        self.listeners.tell_closed();
    }

    /// Whether it was disabled or deleted: who holds it for long lets go of it.
    pub fn is_closed(&self) -> bool {
        self.is_closed.load(Relaxed)
    }

    /// Takes writes again.
    pub(crate) fn open_again(&self) {
        self.is_closed.store(false, Relaxed);
    }

    pub(crate) fn set_identity_separator(&self, separator: Option<char>) {
        self.identity_separator.store(u32::from(separator.unwrap_or('/')), Relaxed);
    }

    /// The separator in ids that the server completes, from the client configuration; `/` otherwise.
    pub fn identity_separator(&self) -> char {
        char::from_u32(self.identity_separator.load(Relaxed)).unwrap_or('/')
    }

    /// Applies a batch and calls `done` once when it is durable, or refused; on this thread if it is refused at once. No
    /// thread waits meanwhile.
    pub fn submit(self: &Arc<Self>, batch: Batch, done: impl FnOnce(Result<Outcome>) + Send + 'static) {
        let (size, batch) = (batch.size(), batch.separator(self.identity_separator()));
        self.submit_work(size, move |writing| writing.run(&batch), done);
    }

    /// The same, with no result for each command.
    pub(crate) fn submit_silently(self: &Arc<Self>, batch: Batch, done: impl FnOnce(Result<Outcome>) + Send + 'static) {
        let (size, batch) = (batch.size(), batch.separator(self.identity_separator()));
        self.submit_work(size, move |writing| writing.run_silently(&batch), done);
    }

    /// Gives a range of hi-lo numbers, as [`submit`](Self::submit) does.
    pub fn submit_hilo(self: &Arc<Self>, request: HiLoRequest, done: impl FnOnce(Result<HiLoRange>) + Send + 'static) {
        self.submit_work(128, move |writing| writing.next_hilo(&request), done);
    }

    /// Runs any work on documents inside a write transaction, as [`submit`](Self::submit) does. `work` may be run again
    /// from the start if the transaction that it was in had to be taken back.
    ///
    /// * `size`: bytes that the work holds in memory while it waits, about.
    pub fn submit_work<T: Send + 'static>(
        self: &Arc<Self>,
        size: usize,
        work: impl FnMut(&mut Writing<'_, '_>) -> documents::Result<T> + Send + 'static,
        done: impl FnOnce(Result<T>) + Send + 'static,
    ) {
        if let Err(refused) = self.enter(size) {
            return done(Err(refused));
        }
        let database = self.clone();
        let job = WriteJob { database, size, work, done: Some(done), answer: None, last_etag: 0 };
        self.store.environment().submit(Box::new(job));
    }

    /// Applies a batch and returns when it is durable. For threads that may wait.
    ///
    /// # Errors
    ///
    /// The batch is refused, or storage fails.
    pub fn execute(&self, batch: Batch) -> Result<Outcome> {
        let batch = batch.separator(self.identity_separator());
        self.write(batch.size(), |writing| writing.run(&batch))
    }

    /// Runs any work on documents in a write transaction and returns when it is durable. For threads that may wait.
    ///
    /// # Errors
    ///
    /// That of `work`, or of the storage.
    pub fn write<T: Send>(
        &self,
        size: usize,
        work: impl FnOnce(&mut Writing<'_, '_>) -> documents::Result<T> + Send,
    ) -> Result<T> {
        self.enter(size)?;
        let place = Place { queue: &self.queue, size };
        let answer = self.store.write(Date::now(), |writing| {
            let before = writing.last_etag();
            let answer = work(writing)?;
            Ok((answer, writing.last_etag(), before))
        });
        drop(place);
        let (answer, last_etag, before) = answer?;
        if last_etag != before {
            self.listeners.tell(last_etag);
        }
        Ok(answer)
    }

    fn enter(&self, size: usize) -> Result<()> {
        if self.is_closed.load(Relaxed) {
            return Err(Error::Disabled { name: self.name.clone() });
        }
        self.queue.enter(&self.name, size, &self.limits)
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A place in the queue, given back even if the work panics.
struct Place<'a> {
    queue: &'a Queue,
    size: usize,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.queue.leave(self.size);
    }
}

/// Work on its way through the storage's queue.
struct WriteJob<T, W, D> {
    database: Arc<Database>,
    size: usize,
    work: W,
    done: Option<D>,
    answer: Option<documents::Result<T>>,
    last_etag: documents::Etag,
}

impl<T, W, D> Job for WriteJob<T, W, D>
where
    T: Send,
    W: FnMut(&mut Writing<'_, '_>) -> documents::Result<T> + Send,
    D: FnOnce(Result<T>) + Send,
{
    fn run(&mut self, tx: &mut WriteTransaction<'_>) -> bool {
        let work = &mut self.work;
        let last_etag = &mut self.last_etag;
        let answer = self.database.store.write_in(tx, Date::now(), |writing| {
            let before = writing.last_etag();
            let answer = work(writing)?;
            *last_etag = if writing.last_etag() == before { 0 } else { writing.last_etag() };
            Ok(answer)
        });
        let is_kept = answer.is_ok();
        self.answer = Some(answer);
        is_kept
    }

    fn done(mut self: Box<Self>, outcome: storage::Result<TransactionId>) {
        self.database.queue.leave(self.size);
        let answer = match (self.answer.take(), outcome) {
            // What the work itself refused is known not to be applied, whatever became of the rest.
            (Some(Err(refused)), _) => Err(refused.into()),
            (_, Err(failed)) => Err(failed.into()),
            (Some(Ok(answer)), Ok(_)) => Ok(answer),
            (None, Ok(_)) => Err(Error::Corrupt { rule: "a write that was committed was run" }),
        };
        if answer.is_ok() && self.last_etag != 0 {
            self.database.listeners.tell(self.last_etag);
        }
        if let Some(done) = self.done.take() {
            done(answer);
        }
    }
}
