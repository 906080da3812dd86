//! One open database: its documents, its indexes, its operations. How writes go in is in `consensus.rs`.

use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use arc_swap::ArcSwap;
use documents::{DocumentStore, Etag, Snapshot, StoreOptions, UploadId};
use parking_lot::Mutex;
use query::analysis::CustomAnalyzers;
use storage::Environment;

use crate::changes::Listeners;
use crate::compaction::WriteGate;
use crate::due::DueTasks;
use crate::indexes::IndexingPool;
use crate::queue::Queue;
use crate::revisions::RevisionsBin;
use crate::subscriptions::connected::Subscriptions;
use crate::tombstones::TombstoneCleaning;
use crate::{ChangeListener, Error, IndexChange, Indexes, Limits, Operations, QuerySettings, Result, folders};

/// The folder of its indexes, inside of its own.
pub(crate) const INDEXES: &str = "indexes";

/// One open database. Held as `Arc`; whoever holds it can go on reading, even while it is deleted.
pub struct Database {
    name: String,
    is_in_memory: bool,
    /// Closed before the documents are: who finds those unlocked can open these. As what else is shared, it goes over to the database that
    /// takes the place of this one when its documents are compacted.
    indexes: Arc<Indexes>,
    pub(crate) store: DocumentStore,
    pub(crate) limits: Limits,
    query_settings: ArcSwap<QuerySettings>,
    /// The custom analyzers that definitions of indexes may name.
    analyzers: ArcSwap<CustomAnalyzers>,
    pub(crate) queue: Arc<Queue>,
    /// Holds writes back while the documents are compacted.
    pub(crate) gate: WriteGate<Database>,
    listeners: Listeners,
    tombstone_cleaning: Arc<TombstoneCleaning>,
    due_tasks: Arc<DueTasks>,
    revisions_bin: Arc<RevisionsBin>,
    subscriptions: Arc<Subscriptions>,
    operations: Arc<Operations>,
    /// Set when it is disabled or deleted: nothing is written any more.
    is_closed: AtomicBool,
    /// Requests of it since it was opened.
    request_count: AtomicU64,
    has_failed: AtomicBool,
    /// When it was last noticed that its environment refuses writes until it is opened again.
    failed_at: Mutex<Option<Instant>>,
    /// Why it does.
    failure: OnceLock<Error>,
    /// Bytes for which the last write found no room on the device; 0: it found some.
    /// Uploads that were given up while the queue of writes had no room.
    pub(crate) abandoned_uploads: Mutex<Vec<UploadId>>,
    space_lacking: AtomicU64,
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

/// A weak reference to a database that requests may still hold.
#[derive(Clone, Debug)]
pub(crate) struct DatabaseRef {
    database: Weak<Database>,
    presence: Weak<()>,
}

impl DatabaseRef {
    pub fn of(database: &Arc<Database>) -> DatabaseRef {
        DatabaseRef { database: Arc::downgrade(database), presence: Arc::downgrade(&database.presence) }
    }

    /// The database, if it is held.
    pub fn get(&self) -> Option<Arc<Database>> {
        self.database.upgrade()
    }

    /// Alive while the environment is open, also while the last holder drops it.
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
        let options = StoreOptions { node_tag: node_tag.to_owned(), new_database_id: None };
        let indexes = (!is_in_memory).then(|| environment.path().join(INDEXES));
        let database = Arc::new(Database {
            name: name.to_owned(),
            is_in_memory,
            store: DocumentStore::open(environment, options)?,
            limits: limits.clone(),
            query_settings: ArcSwap::from_pointee(limits.queries),
            analyzers: ArcSwap::default(),
            queue: Arc::default(),
            gate: WriteGate::default(),
            listeners: Listeners::default(),
            tombstone_cleaning: Arc::default(),
            due_tasks: Arc::default(),
            revisions_bin: Arc::default(),
            subscriptions: Arc::default(),
            operations: Arc::new(Operations::new(limits.ended_operations_count_max)),
            indexes: Arc::new(Indexes::new(indexes, pool.clone(), limits)),
            is_closed: AtomicBool::new(false),
            request_count: AtomicU64::new(0),
            has_failed: AtomicBool::new(false),
            failed_at: Mutex::default(),
            failure: OnceLock::new(),
            space_lacking: AtomicU64::new(0),
            abandoned_uploads: Mutex::default(),
            presence: Arc::default(),
        });
        database.store.remove_uploads()?;
        database.indexes.start(&database)?;
        Ok(database)
    }

    /// The database that takes the place of this one, with the same documents in another environment. Its indexes are those of this one.
    pub(crate) fn succeeded_by(&self, environment: Environment, node_tag: &str) -> Result<Arc<Database>> {
        let options = StoreOptions { node_tag: node_tag.to_owned(), new_database_id: None };
        let database = Arc::new(Database {
            name: self.name.clone(),
            is_in_memory: self.is_in_memory,
            store: DocumentStore::open(environment, options)?,
            limits: self.limits.clone(),
            query_settings: ArcSwap::new(self.query_settings.load_full()),
            analyzers: ArcSwap::new(self.analyzers.load_full()),
            queue: self.queue.clone(),
            gate: WriteGate::default(),
            listeners: Listeners::default(),
            tombstone_cleaning: self.tombstone_cleaning.clone(),
            due_tasks: self.due_tasks.clone(),
            revisions_bin: self.revisions_bin.clone(),
            subscriptions: self.subscriptions.clone(),
            operations: self.operations.clone(),
            indexes: self.indexes.clone(),
            is_closed: AtomicBool::new(false),
            request_count: AtomicU64::new(self.request_count()),
            has_failed: AtomicBool::new(false),
            failed_at: Mutex::default(),
            failure: OnceLock::new(),
            space_lacking: AtomicU64::new(0),
            abandoned_uploads: Mutex::default(),
            presence: self.presence.clone(),
        });
        self.indexes.belong_to(&database);
        Ok(database)
    }

    /// Sends writes and long-lived holders on to the database that has taken the place of this one.
    pub(crate) fn give_way(&self, to: &Arc<Database>) {
        self.gate.open(Some(to));
        self.listeners.tell_closed();
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

    /// Its limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Does `work`, in which scripts reserve their memory in the account of the node ([`with_script_memory`](crate::with_script_memory)).
    pub fn with_memory<R>(&self, work: impl FnOnce() -> R) -> R {
        crate::with_script_memory(&self.limits.memory, work)
    }

    /// How its queries treat indexes.
    pub fn query_settings(&self) -> QuerySettings {
        **self.query_settings.load()
    }

    /// The custom analyzers that definitions of indexes may name: those of the database, then those of the node.
    pub fn analyzers(&self) -> Arc<CustomAnalyzers> {
        self.analyzers.load_full()
    }

    pub(crate) fn set_analyzers(&self, analyzers: Arc<CustomAnalyzers>) {
        self.analyzers.store(analyzers);
    }

    pub(crate) fn set_query_settings(&self, settings: QuerySettings) {
        self.query_settings.store(Arc::new(settings));
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

    /// Disk space: that of the documents, then that of each index.
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

    pub(crate) fn due_tasks(&self) -> &DueTasks {
        &self.due_tasks
    }

    pub(crate) fn revisions_bin(&self) -> &RevisionsBin {
        &self.revisions_bin
    }

    pub(crate) fn subscriptions_in_memory(&self) -> &Subscriptions {
        &self.subscriptions
    }

    /// Refuses writes from now on.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, SeqCst);
        self.operations.all().iter().for_each(|operation| operation.kill());
        self.listeners.tell_closed();
        self.indexes.rest();
    }

    /// True once the database is disabled, deleted or due to be reopened. Long-lived holders must drop their handle.
    pub fn is_closed(&self) -> bool {
        self.is_closed.load(SeqCst)
    }

    /// True once another one has taken its place, because its documents were compacted: reads of this one see no later write. Long-lived
    /// holders must drop their handle; writes go on to the other one.
    pub fn has_moved(&self) -> bool {
        self.gate.moved_to().is_some()
    }

    /// Whether its environment refuses writes until it is opened again.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Relaxed)
    }

    /// Why its environment refuses writes until it is opened again; `None` while it takes them.
    pub fn failure(&self) -> Option<&Error> {
        self.failure.get()
    }

    /// Bytes for which the last write found no room on the device; `None` if it found some.
    pub fn space_lacking(&self) -> Option<u64> {
        Some(self.space_lacking.load(Relaxed)).filter(|needed| *needed > 0)
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

    /// True if closing it loses no state: it is on disk, idle, and without operations, listeners, tombstone holders and documents that an
    /// enabled task will have to handle.
    pub(crate) fn is_forgettable(&self) -> bool {
        !self.is_in_memory
            && !self.operations.has_any()
            && self.listeners.is_empty()
            && self.tombstone_cleaning.is_without_holders()
            && self.indexes.are_at_rest()
            && !self.waits_for_due()
            // A holder of one whose place it has taken holds its indexes, too.
            && Arc::strong_count(&self.presence) == 1
    }

    /// Notes that a write is durable.
    pub(crate) fn note_success(&self) {
        // All threads that write read this line.
        if self.space_lacking.load(Relaxed) != 0 {
            self.space_lacking.store(0, Relaxed);
        }
    }

    pub(crate) fn note_if_failed(&self, error: &Error) {
        use storage::Error::{DiskFull, Failed};
        let (Error::Storage(cause) | Error::Documents(documents::Error::Storage(cause))) = error else { return };
        if let DiskFull { needed_bytes, .. } = cause {
            self.space_lacking.store((*needed_bytes).max(1), Relaxed);
        }
        if matches!(cause, Failed { .. }) && !self.has_failed() {
            tracing::error!(database = self.name, %error, "the storage of the database failed; it refuses writes until it is opened again");
            let _ = self.failure.set(error.clone());
            self.note_failure();
        }
    }

    /// Takes writes again.
    pub(crate) fn open_again(&self) {
        self.is_closed.store(false, SeqCst);
        self.indexes.go_on();
    }

    /// Notifies the consumers of changes, indexes among them, of a commit.
    pub(crate) fn notify_committed(&self, last_etag: Etag) {
        self.listeners.notify_committed(last_etag);
        self.indexes.committed(last_etag);
    }

    /// Tells those who listen what happened to an index.
    pub(crate) fn tell_of_index(&self, change: IndexChange, name: &str) {
        self.log_index_change(change, name);
        self.listeners.tell_of_index(change, name);
    }
}

impl Database {
    /// Has the log know what happened to an index. Its failure is logged where the reason is known.
    fn log_index_change(&self, change: IndexChange, index: &str) {
        let database = self.name.as_str();
        match change {
            IndexChange::Added => tracing::info!(database, index, "index created"),
            IndexChange::Removed => tracing::info!(database, index, "index deleted"),
            IndexChange::Replaced => tracing::info!(database, index, "index replaced by its new definition"),
            IndexChange::Paused => tracing::info!(database, index, "index paused"),
            IndexChange::Disabled => tracing::info!(database, index, "index disabled"),
            IndexChange::Failed
            | IndexChange::BatchCompleted
            | IndexChange::LockModeChanged
            | IndexChange::PriorityChanged => {}
        }
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("name", &self.name).finish_non_exhaustive()
    }
}
