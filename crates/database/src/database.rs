//! One open database: its documents, the way writes go in, its operations.

use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use documents::{Batch, Date, DocumentStore, Etag, HiLoRange, HiLoRequest, Outcome, Snapshot, StoreOptions, Writing};
use parking_lot::Mutex;
use storage::{Environment, Job, Lead, TransactionId, WriteTransaction};

use crate::changes::Listeners;
use crate::indexes::IndexingPool;
use crate::queue::Queue;
use crate::tombstones::TombstoneCleaning;
use crate::{ChangeListener, Error, IndexChange, Indexes, Limits, Operations, Result, folders};

/// The folder of its indexes, inside of its own.
const INDEXES: &str = "indexes";

/// One open database. Held as `Arc`; whoever holds it can go on reading, even while it is deleted.
pub struct Database {
    name: String,
    is_in_memory: bool,
    /// Closed before the documents are: who finds those unlocked can open these.
    indexes: Indexes,
    store: DocumentStore,
    limits: Limits,
    queue: Queue,
    listeners: Listeners,
    tombstone_cleaning: TombstoneCleaning,
    operations: Operations,
    /// Set when it is disabled or deleted: nothing is written any more.
    is_closed: AtomicBool,
    /// Requests of it since it was opened.
    request_count: AtomicU64,
    has_failed: AtomicBool,
    /// When it was last noticed that its environment refuses writes until it is opened again.
    failed_at: Mutex<Option<Instant>>,
    /// Why it does.
    failure: OnceLock<Error>,
    /// Dropped after everything above: who sees that it is gone knows that the environment is closed.
    presence: Arc<()>,
}

/// One of the environments that a database keeps its data in.
#[derive(Clone, Debug)]
pub struct StorageArea {
    /// The index whose it is; `None`: the documents.
    pub index: Option<String>,
    /// Its numbers.
    pub statistics: storage::Statistics,
    /// Its journal files, by number.
    pub journals: Vec<storage::Journal>,
}

impl StorageArea {
    fn of(index: Option<String>, environment: &Environment) -> Result<StorageArea> {
        Ok(StorageArea { index, statistics: environment.statistics()?, journals: environment.journals() })
    }
}

/// A database that others may still hold.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    database: Weak<Database>,
    presence: Weak<()>,
}

impl Held {
    pub fn of(database: &Arc<Database>) -> Held {
        Held { database: Arc::downgrade(database), presence: Arc::downgrade(&database.presence) }
    }

    /// The database, if somebody holds it.
    pub fn get(&self) -> Option<Arc<Database>> {
        self.database.upgrade()
    }

    /// Whether its environment is open; also while the last holder lets go of it.
    pub fn is_open(&self) -> bool {
        self.presence.strong_count() > 0
    }
}

impl Database {
    pub(crate) fn open(
        name: &str,
        environment: Environment,
        is_in_memory: bool,
        node_tag: &str,
        limits: &Limits,
        pool: &Arc<IndexingPool>,
    ) -> Result<Arc<Database>> {
        let options = StoreOptions { node_tag: node_tag.to_owned() };
        let indexes = (!is_in_memory).then(|| environment.path().join(INDEXES));
        let database = Arc::new(Database {
            name: name.to_owned(),
            is_in_memory,
            store: DocumentStore::open(environment, options)?,
            limits: limits.clone(),
            queue: Queue::default(),
            listeners: Listeners::default(),
            tombstone_cleaning: TombstoneCleaning::default(),
            operations: Operations::new(limits.ended_operations_count_max),
            indexes: Indexes::new(indexes, pool.clone(), limits),
            is_closed: AtomicBool::new(false),
            request_count: AtomicU64::new(0),
            has_failed: AtomicBool::new(false),
            failed_at: Mutex::default(),
            failure: OnceLock::new(),
            presence: Arc::default(),
        });
        database.indexes.start(&database)?;
        Ok(database)
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

    /// What it may not exceed.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Its operations.
    pub fn operations(&self) -> &Operations {
        &self.operations
    }

    /// Its indexes.
    pub fn indexes(&self) -> &Indexes {
        &self.indexes
    }

    /// Batches that wait or run.
    pub fn queued_count(&self) -> usize {
        self.queue.count()
    }

    /// Somebody asked something of it.
    pub fn note_request(&self) {
        self.request_count.fetch_add(1, Relaxed);
    }

    /// What was noted so, since it was opened.
    pub fn request_count(&self) -> u64 {
        self.request_count.load(Relaxed)
    }

    /// Where its space goes: that of the documents, then that of each index.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn storage_areas(&self) -> Result<Vec<StorageArea>> {
        let mut areas = vec![StorageArea::of(None, self.store.environment())?];
        for index in self.indexes.all().iter() {
            if let Some(environment) = index.environment() {
                areas.push(StorageArea::of(Some(index.name().to_owned()), environment)?);
            }
        }
        Ok(areas)
    }

    /// Bytes of the files of this database now; 0 in memory.
    pub fn size_on_disk(&self) -> u64 {
        if self.is_in_memory {
            return 0;
        }
        folders::size(self.store.environment().path()) + self.indexes.size_on_disk()
    }

    /// Bytes of the files of this database; in memory, of the pages that it uses.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn size(&self) -> Result<u64> {
        if !self.is_in_memory {
            return Ok(self.size_on_disk());
        }
        let indexes = self.indexes.all();
        let environments = indexes.iter().filter_map(|index| index.environment());
        std::iter::once(self.store.environment())
            .chain(environments)
            .try_fold(0, |size, environment| Ok(size + environment.used_size()?))
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
        self.is_closed.store(true, SeqCst);
        self.operations.all().iter().for_each(|operation| operation.kill());
        self.listeners.tell_closed();
        self.indexes.rest();
    }

    /// Whether it was disabled or deleted, or is to be opened again: who holds it for long lets go of it.
    pub fn is_closed(&self) -> bool {
        self.is_closed.load(SeqCst)
    }

    /// Whether its environment refuses writes until it is opened again.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Relaxed)
    }

    /// Why its environment refuses writes until it is opened again; `None` while it takes them.
    pub fn failure(&self) -> Option<&Error> {
        self.failure.get()
    }

    /// Whether it failed and the pause after that is over. What is only in memory would be lost.
    pub(crate) fn is_to_be_opened_again(&self) -> bool {
        let is_over = |at: Instant| at.elapsed() >= self.limits.failed_database_pause;
        self.has_failed() && !self.is_in_memory && self.failed_at.lock().is_some_and(is_over)
    }

    /// Begins the pause after a failure.
    pub(crate) fn note_failure(&self) {
        *self.failed_at.lock() = Some(Instant::now());
        self.has_failed.store(true, Relaxed);
    }

    /// Whether nothing is lost when it is closed while nobody holds it.
    pub(crate) fn is_forgettable(&self) -> bool {
        !self.is_in_memory
            && !self.operations.has_any()
            && self.listeners.is_empty()
            && self.tombstone_cleaning.is_without_holders()
            && self.indexes.are_at_rest()
    }

    fn note_if_failed(&self, error: &Error) {
        use storage::Error::Failed;
        let is_failure =
            matches!(error, Error::Storage(Failed { .. }) | Error::Documents(documents::Error::Storage(Failed { .. })));
        if is_failure && !self.has_failed() {
            let _ = self.failure.set(error.clone());
            self.note_failure();
        }
    }

    /// Takes writes again.
    pub(crate) fn open_again(&self) {
        self.is_closed.store(false, SeqCst);
        self.indexes.go_on();
    }

    /// Applies a batch and calls `done` once when it is durable, or refused; on this thread if it is refused at once. No
    /// thread waits meanwhile.
    ///
    /// A [`Lead`] is given where nobody leads the storage's queue: run it on a thread that may wait, or drop it.
    pub fn submit(self: &Arc<Self>, batch: Batch, done: impl FnOnce(Result<Outcome>) + Send + 'static) -> Option<Lead> {
        let size = batch.size();
        self.submit_work(size, move |writing| writing.run(&batch), done)
    }

    /// The same, with no result for each command. Waits for a place in the queue rather than being refused for want of one.
    pub(crate) fn submit_patiently(
        self: &Arc<Self>,
        batch: Batch,
        done: impl FnOnce(Result<Outcome>) + Send + 'static,
    ) {
        let size = batch.size();
        let entered = self.enter_patiently(size);
        self.submit_entered(entered, size, move |writing| writing.run_silently(&batch), done);
    }

    /// Gives a range of hi-lo numbers, as [`submit`](Self::submit) does.
    pub fn submit_hilo(
        self: &Arc<Self>,
        request: HiLoRequest,
        done: impl FnOnce(Result<HiLoRange>) + Send + 'static,
    ) -> Option<Lead> {
        self.submit_work(128, move |writing| writing.next_hilo(&request), done)
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
    ) -> Option<Lead> {
        self.submit_entered(self.enter(size), size, work, done)
    }

    fn submit_entered<T: Send + 'static>(
        self: &Arc<Self>,
        entered: Result<()>,
        size: usize,
        work: impl FnMut(&mut Writing<'_, '_>) -> documents::Result<T> + Send + 'static,
        done: impl FnOnce(Result<T>) + Send + 'static,
    ) -> Option<Lead> {
        if let Err(refused) = entered {
            done(Err(refused));
            return None;
        }
        let database = self.clone();
        let job = WriteJob { database, size, work, done: Some(done), answer: None, last_etag: 0 };
        self.store.environment().submit(Box::new(job))
    }

    /// Applies a batch and returns when it is durable. For threads that may wait.
    ///
    /// # Errors
    ///
    /// The batch is refused, or storage fails.
    pub fn execute(&self, batch: Batch) -> Result<Outcome> {
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
        self.write_entered(size, work)
    }

    /// The same for work in many transactions, which is not to be refused half-way: waits for a place in the queue.
    pub(crate) fn write_patiently<T: Send>(
        &self,
        size: usize,
        work: impl FnOnce(&mut Writing<'_, '_>) -> documents::Result<T> + Send,
    ) -> Result<T> {
        self.enter_patiently(size)?;
        self.write_entered(size, work)
    }

    fn write_entered<T: Send>(
        &self,
        size: usize,
        work: impl FnOnce(&mut Writing<'_, '_>) -> documents::Result<T> + Send,
    ) -> Result<T> {
        let place = Place { queue: &self.queue, size };
        let answer = self.store.write(Date::now(), |writing| {
            let before = writing.last_etag();
            let answer = work(writing)?;
            Ok((answer, writing.last_etag(), before))
        });
        drop(place);
        let (answer, last_etag, before) =
            answer.map_err(Error::from).inspect_err(|error| self.note_if_failed(error))?;
        if last_etag != before {
            self.tell(last_etag);
        }
        Ok(answer)
    }

    /// Tells those who pull changes that there are some.
    fn tell(&self, last_etag: Etag) {
        self.listeners.tell(last_etag);
        self.indexes.committed(last_etag);
    }

    /// Tells those who listen what happened to an index.
    pub(crate) fn tell_of_index(&self, change: IndexChange, name: &str) {
        self.listeners.tell_of_index(change, name);
    }

    fn enter(&self, size: usize) -> Result<()> {
        self.refuse_if_closed()?;
        self.queue.enter(&self.name, size, &self.limits)
    }

    fn enter_patiently(&self, size: usize) -> Result<()> {
        self.queue.enter_patiently(size, &self.limits);
        // It may have been closed meanwhile.
        self.refuse_if_closed().inspect_err(|_| self.queue.leave(size))
    }

    fn refuse_if_closed(&self) -> Result<()> {
        if self.is_closed.load(Relaxed) { Err(Error::Disabled { name: self.name.clone() }) } else { Ok(()) }
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
            // It may have met what is lost with the transaction, and whose etag somebody else gets: nobody may see that.
            (Some(Err(documents::Error::Conflict { .. })), Err(failed)) => Err(failed.into()),
            // What else the work itself refused is known not to be applied, whatever became of the rest.
            (Some(Err(refused)), _) => Err(refused.into()),
            (_, Err(failed)) => Err(failed.into()),
            (Some(Ok(answer)), Ok(_)) => Ok(answer),
            (None, Ok(_)) => Err(Error::Corrupt { rule: "a write that was committed was run" }),
        };
        if let Err(error) = &answer {
            self.database.note_if_failed(error);
        }
        if answer.is_ok() && self.last_etag != 0 {
            self.database.tell(self.last_etag);
        }
        if let Some(done) = self.done.take() {
            done(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::path::Path;
    use std::sync::mpsc;

    use documents::Expected;
    use storage::io::simulated::{Fault, SimulatedIo};

    use super::*;

    fn open(disk: &SimulatedIo) -> Arc<Database> {
        let options = storage::Options { io: Arc::new(disk.clone()), background: false, ..storage::Options::default() };
        let environment = Environment::open(Path::new("/x"), options).unwrap();
        Database::open("x", environment, false, "A", &Limits::default(), &Arc::new(IndexingPool::new(1))).unwrap()
    }

    /// Two clients write a document at once, in one transaction, and the journal cannot be written. The second was told the
    /// change vector of the first, whose etag somebody else's write has after that: it would replace that unseen.
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
}
