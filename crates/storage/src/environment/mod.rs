//! An environment: a folder with a data file, journals and a lock, opened by one process.

use crate::checkpoint::header::{FORMAT_VERSION, Header};
use crate::checkpoint::intent::{self, Intents};
use crate::checkpoint::pacing::Pacing;
use crate::error::{Error, Result};
use crate::ids::{PageNumber, SnapshotWord, TransactionId};
use crate::io::aio::AsyncWrites;
use crate::io::real::RealIo;
use crate::io::{File, Folder, Io, OpenMode};
use crate::journal::compression::{Compression, Device};
use crate::journal::files::{self, JournalFile, JournalFiles, Unwritten};
use crate::journal::newest;
use crate::journal::replay;
use crate::limits::{
    DATA_FILE_PAGES_MIN, JOURNAL_WRITES_IN_FLIGHT_MAX, PAGE_SIZE, RECORD_BUFFER_BYTES_MAX, data_file_step,
};
use crate::page;
use crate::pager::changes::SavedLine;
use crate::pager::readers::{Older, Readers};
use crate::pager::table::{PageSource, PageTable};
use crate::space::{self, AllocatedChunks, SpaceHints};
use crate::sync::Mutex;
use crate::threads::background;
use crate::threads::tasks::Tasks;
use crate::transaction::commit::{Job, Lead, Queue};
use crate::transaction::job::StackJob;
use crate::transaction::nesting::Nesting;
use crate::transaction::publish::Publication;
use crate::transaction::reclaim::Reclaim;
use crate::transaction::staged::{QuietPages, Staging};
use crate::transaction::{ReadTransaction, WriteTransaction};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Number of pages to be flushed, counted with repetitions, below which duplicates are not removed.
const DIRTY_PAGES_MIN: usize = 1 << 18;

const DATA_FILE: &str = "data";
const NEW_DATA_FILE: &str = "data.new";

/// When a committed transaction is durable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Durability {
    /// Before it is answered. What documents need.
    #[default]
    Durable,
    /// Some time later, in order: after a crash the environment has one of its states, not always the last. What can be
    /// computed again commits so.
    Lazy,
}

/// How an environment is opened.
#[derive(Clone)]
pub struct Options {
    /// When commits are durable.
    pub durability: Durability,
    /// Bytes of journal after which a flush begins; at twice that, writers wait for it.
    pub flush_after_bytes: u64,
    /// Bytes of page versions, in the whole process, from which on a flush begins at the next commit.
    pub version_bytes_max: usize,
    /// Whether flushes run by themselves. Off in tests that say when.
    pub background: bool,
    /// The file system.
    pub io: Arc<dyn Io>,
    /// Keeps the journal for an archive ([`Environment::set_archive`]), up to this number of bytes of files that the environment itself
    /// does not need any more. `None`: it is not archived.
    pub archive_bytes_max: Option<u64>,
    /// Lets commits of short jobs wait for the device without a thread ([`Lead::begin`]). A thread has to call its
    /// [`reap`](AsyncWrites::reap) whenever its event says so. `None`: threads wait.
    pub async_writes: Option<Arc<AsyncWrites>>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            durability: Durability::Durable,
            flush_after_bytes: 64 << 20,
            version_bytes_max: 1 << 30,
            background: true,
            io: Arc::new(RealIo),
            archive_bytes_max: None,
            async_writes: None,
        }
    }
}

/// An open environment. Share it by `Arc` or by reference; dropping the last one closes it.
pub struct Environment {
    pub(crate) inner: Arc<Inner>,
}

/// The state that transactions and background work share.
pub(crate) struct Inner {
    pub id: u128,
    pub path: PathBuf,
    pub options: Options,
    pub folder: Option<Folder>,
    pub data: Option<Arc<dyn File>>,
    /// The data file once more, for writes that are durable when they return; opened when it is first needed.
    direct: OnceLock<Arc<dyn File>>,
    pub staging: Staging,
    pub intents: Option<Intents>,
    pub table: PageTable,
    pub readers: Arc<Readers>,
    pub writer: Mutex<Writer>,
    pub queue: Queue,
    pub publication: Publication,
    /// One flush at a time; the header it wrote last.
    pub flushed: Mutex<Option<Header>>,
    /// This process wrote that header, or wrote it once more; changed by the flush alone.
    pub header_is_durable: AtomicBool,
    /// Another environment has the folder, or may have it: nothing is written there. Set under the lock of `flushed`.
    is_detached: AtomicBool,
    /// The transaction that the data file has: that of the header.
    pub flushed_transaction: AtomicU64,
    pub pacing: Pacing,
    /// The one that the journal is on.
    pub device: Device,
    failure: OnceLock<Error>,
    buffers: Mutex<Vec<Vec<u8>>>,
    growth: Mutex<()>,
    pub tasks: Tasks,
    /// Given back when the environment is closed, whoever else still holds this.
    lock: Mutex<Option<Box<dyn Send + Sync>>>,
}

/// The writer's own state.
pub(crate) struct Writer {
    /// The last transaction that was sealed; published when it is durable.
    pub last_transaction: TransactionId,
    pub last_hash: u128,
    /// Up to here the journal of lazy commits was synced.
    pub synced: TransactionId,
    pub space: SpaceHints,
    pub allocated_chunks: AllocatedChunks,
    /// No page from here on was ever in use since the environment was opened, nor in what it was opened with.
    pub untouched_from: u64,
    /// Pages below that which neither a snapshot nor a state that a crash could lead to has in use.
    pub quiet: QuietPages,
    /// Pages that were freed since holes were last looked for.
    pub freed_pages: u64,
    /// `None`: in memory only.
    pub journal: Option<JournalFiles>,
    /// Records of lazy commits.
    pub unwritten: Unwritten,
    pub reclaim: Reclaim,
    /// Of the running transaction, as it began.
    pub older: Older,
    /// Pages with versions that are not in the data file, some of them more than once.
    pub dirty_since_flush: Vec<PageNumber>,
    /// How many they were when they were last counted.
    dirty_without_repeats: usize,
    /// The end of each transaction since the checkpoint, as a position in the journal.
    pub positions: VecDeque<replay::ReplayState>,
    /// That of the last one before those.
    pub checkpoint: replay::ReplayState,
    pub compression: Compression,
    pub dirty_buffer: Vec<PageNumber>,
    /// Undo data: the old lines of versions that the running job changed and earlier jobs of its transaction made.
    pub saved_lines: Vec<SavedLine>,
    /// The environment is being closed.
    pub closed: bool,
}

impl Writer {
    /// Whether records go to an archive: then they contain all that they name, also values that would go straight to the data file.
    pub fn is_archived(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.archive().is_some())
    }

    /// Pages of a commit are to be flushed. Beside an old snapshot, where no flush is, they gather: each stays once.
    pub fn note_dirty(&mut self, pages: &[PageNumber]) {
        self.dirty_since_flush.extend_from_slice(pages);
        if self.dirty_since_flush.len() > 2 * self.dirty_without_repeats.max(DIRTY_PAGES_MIN) {
            self.dirty_since_flush.sort_unstable();
            self.dirty_since_flush.dedup();
            self.dirty_without_repeats = self.dirty_since_flush.len();
        }
    }
}

impl Environment {
    /// Opens the environment in a folder, or makes a new one there; recovers what a crash left.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`], [`Error::NewerFormat`], [`Error::CorruptFile`] and [`Error::Corrupt`] touch nothing; others come
    /// from the operating system.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Environment> {
        let path = path.as_ref().to_path_buf();
        let folder = Folder { io: options.io.clone(), path: path.clone() };
        folder.io.create_dir(&path).map_err(|e| Error::io("create the folder", &path, 0, e))?;
        let lock = folder.io.lock(&path).map_err(|e| Error::io("lock", &path, 0, e))?;
        let Some(lock) = lock else { return Err(Error::Locked { path }) };
        let names = folder.io.list(&path).map_err(|e| Error::io("list", &path, 0, e))?;
        if !names.iter().any(|name| name == DATA_FILE) {
            create(&folder, &names)?;
        }
        let mut inner = open_existing(folder, options, lock)?;
        inner.keep_journal_for_archive()?;
        let recovered = !inner.writer.get_mut().dirty_since_flush.is_empty();
        let environment = Environment { inner: Arc::new(inner) };
        environment.make_first_pages()?;
        if recovered && environment.inner.options.background {
            // Or the next start, and each after it, would replay the same again.
            environment.inner.flush_in_background();
        }
        Ok(environment)
    }

    /// Makes an environment in memory; it is gone when it is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if memory cannot be had.
    pub fn in_memory(options: Options) -> Result<Environment> {
        let path = PathBuf::from("(memory)");
        let id = new_id();
        let mut inner = Inner::new(id, path, options, None, None, RecoveredState::default(), None, None)?;
        inner.keep_journal_for_archive()?;
        let environment = Environment { inner: Arc::new(inner) };
        environment.make_first_pages()?;
        Ok(environment)
    }

    /// The bitmap and the root of the catalog, in a new environment.
    fn make_first_pages(&self) -> Result<()> {
        if self.inner.spans(self.inner.readers.published().transaction())? > 0 {
            return Ok(());
        }
        self.write(|tx| {
            crate::tree::node::initialize(&mut tx.first_pages()?, 0);
            Ok(())
        })
    }

    /// The environment's id: 128 random bits, made with it. Every checksum is seeded with it.
    pub fn id(&self) -> u128 {
        self.inner.id
    }

    /// Whether there is no structure in it.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`]
    pub fn is_empty(&self) -> Result<bool> {
        Ok(crate::tree::catalog::CATALOG.cursor(&self.read()).next()?.is_none())
    }

    /// The folder, or `(memory)`.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// The last transaction that is durable. Costs nothing.
    pub fn last_transaction(&self) -> TransactionId {
        self.inner.readers.published().transaction()
    }

    /// Opens a snapshot of what is durable now. Takes some nanoseconds and never waits.
    #[inline]
    pub fn read(&self) -> ReadTransaction<'_> {
        ReadTransaction::open(&self.inner)
    }

    /// Changes the environment. `change` runs once, inside of a transaction that it may share with others; an error from
    /// its changes are rolled back, and only those. Returns when the transaction is durable.
    ///
    /// # Errors
    ///
    /// [`Error::Nested`] inside of a write to the same environment. The error of `change`; or why the transaction could not be made
    /// durable: then nothing of it is visible now, and after [`Error::Failed`] opening the environment again tells whether it was.
    pub fn write<T: Send, E: From<Error> + Send>(
        &self,
        change: impl FnOnce(&mut WriteTransaction<'_>) -> Result<T, E> + Send,
    ) -> Result<T, E> {
        Nesting::refuse(&self.inner)?;
        let mut change = Some(change);
        let mut answer = None;
        let mut run = |tx: &mut WriteTransaction<'_>| {
            answer = change.take().map(|change| change(tx));
            matches!(answer, Some(Ok(_)))
        };
        let outcome = self.inner.queue.run(&self.inner, StackJob::new(&mut run));
        match (outcome, answer) {
            (Ok(_), Some(answer)) => answer,
            (Ok(_), None) => Err(Error::Closed.into()),
            (Err(error), _) => Err(error.into()),
        }
    }

    /// Hands a job to the writer; its `done` is called when the outcome is final, on the thread that leads or on the one that calls
    /// [`AsyncWrites::reap`]. Returns a [`Lead`] if the queue has no leader: begin it on a thread that must not wait, run it on
    /// one that may, or drop it.
    pub fn submit(&self, job: Box<dyn Job>) -> Option<Lead> {
        self.inner.queue.submit(&self.inner, job)
    }

    /// Jobs that wait for the writer.
    pub fn queue_length(&self) -> usize {
        self.inner.queue.len()
    }

    /// The transaction of the oldest snapshot, if that keeps more page versions in memory than there should be: past twice
    /// [`Options::version_bytes_max`] writes are refused until it closes.
    pub fn versions_held_for(&self) -> Option<TransactionId> {
        self.inner.versions_held_for()
    }

    /// Brings all that is durable into the data file, as far as open snapshots allow, and moves the checkpoint.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if it cannot; then the environment refuses writes from now on.
    pub fn flush(&self) -> Result<()> {
        Nesting::refuse(&self.inner)?;
        let _hurry = self.inner.pacing.hurry();
        self.inner.flush(false)?;
        if let Some(journal) = &mut self.inner.writer.lock().journal {
            journal.trim();
        }
        Ok(())
    }

    /// Flushes if nothing was committed since the last call of this, and the data file lacks something: to be called now and
    /// then, so that an environment at rest has nothing to replay and holds no page versions. True: it flushed.
    ///
    /// # Errors
    ///
    /// As [`Self::flush`].
    pub fn flush_if_idle(&self) -> Result<bool> {
        Nesting::refuse(&self.inner)?;
        if !self.inner.is_idle() {
            return Ok(false);
        }
        self.inner.buffers.lock().clear();
        let lacks =
            || self.inner.flushed_transaction.load(Ordering::Relaxed) < self.inner.readers.published().transaction().0;
        if self.inner.data.is_none() || !lacks() || self.inner.is_held_back() || self.inner.has_failed() {
            return Ok(false);
        }
        self.flush()?;
        background::rest_soon();
        Ok(true)
    }

    /// Puts the environment in `compacted`, a folder inside of this one's, which was closed cleanly, in the place of this one. That is one
    /// renaming: a crash leaves the one or the other. Nothing is written to this one any more. Its snapshots can be read as before, for as
    /// long as it is held; the folder can be opened again at once.
    ///
    /// # Errors
    ///
    /// As [`Self::close`]; those of the operating system. Nothing is written any more then either, and the folder is still this one's:
    /// [`Self::release`] it and open it again.
    pub fn replace_by(&self, compacted: &Path) -> Result<()> {
        let Some(folder) = self.inner.folder.clone() else { return Ok(()) };
        self.inner.end_writing();
        self.inner.flush(true)?;
        let from = compacted.join(DATA_FILE);
        let failed = |operation| move |e| Error::io(operation, compacted, 0, e);
        folder.io.sync_dir(compacted).map_err(failed("sync the folder"))?;
        // From here on this one writes nothing into the folder, so that it cannot take what belongs to the other for its own.
        self.inner.detach();
        folder.io.rename(&from, &folder.file(DATA_FILE)).map_err(failed("put in place"))?;
        folder.io.sync_dir(&folder.path).map_err(|e| Error::io("sync the folder", &folder.path, 0, e))?;
        self.release();
        Ok(())
    }

    /// Ends writing and lets others open the folder. Snapshots can be read as before, for as long as this one is held. What lazy commits
    /// have not written yet may be lost.
    pub fn release(&self) {
        self.inner.end_writing();
        self.inner.detach();
        self.inner.lock.lock().take();
    }

    /// Flushes, notes that nothing has to be replayed, and closes.
    ///
    /// # Errors
    ///
    /// As [`Self::flush`]. What was committed is durable in any case.
    pub fn close(self) -> Result<()> {
        self.inner.end_writing();
        self.inner.flush(true)
    }
}

impl Drop for Environment {
    /// Closes. A failure costs nothing but a replay at the next opening, unless commits are lazy.
    fn drop(&mut self) {
        self.inner.end_writing();
        let flushes = self.inner.options.background && !self.inner.has_failed() && !self.inner.is_detached();
        if flushes && let Err(error) = self.inner.flush(true) {
            tracing::warn!(path = %self.inner.path.display(), %error, "the last flush failed");
        }
        self.inner.lock.lock().take();
    }
}

/// The state of an environment when it is opened.
#[derive(Default)]
struct RecoveredState {
    last: replay::ReplayState,
    existing_journals: Vec<Arc<JournalFile>>,
}

impl Default for replay::ReplayState {
    fn default() -> Self {
        replay::ReplayState { transaction: TransactionId(0), hash: 0, number: 1, offset: 0 }
    }
}

impl Inner {
    #[expect(clippy::too_many_arguments, reason = "the parts of one value, each with its own type")]
    fn new(
        id: u128,
        path: PathBuf,
        options: Options,
        folder: Option<Folder>,
        data: Option<Arc<dyn File>>,
        state: RecoveredState,
        header: Option<Header>,
        lock: Option<Box<dyn Send + Sync>>,
    ) -> Result<Inner> {
        let table = PageTable::new(data.clone(), path.join(DATA_FILE), id, page::verify);
        let durable = options.durability == Durability::Durable;
        let intents = folder.clone().map(Intents::new);
        let journal = folder
            .clone()
            .map(|folder| JournalFiles::new(folder, id, durable, state.existing_journals, state.last.number));
        let writer = Writer {
            last_transaction: state.last.transaction,
            last_hash: state.last.hash,
            synced: state.last.transaction,
            space: SpaceHints::default(),
            allocated_chunks: AllocatedChunks::default(),
            untouched_from: 0,
            quiet: QuietPages::default(),
            freed_pages: 0,
            journal,
            unwritten: Unwritten::default(),
            reclaim: Reclaim::default(),
            older: Older::default(),
            dirty_without_repeats: 0,
            dirty_since_flush: Vec::new(),
            positions: VecDeque::new(),
            checkpoint: state.last,
            compression: Compression::default(),
            dirty_buffer: Vec::new(),
            saved_lines: Vec::new(),
            closed: false,
        };
        Ok(Inner {
            id,
            path,
            options,
            folder,
            data,
            direct: OnceLock::new(),
            staging: Staging::new(),
            intents,
            table,
            readers: Readers::new(SnapshotWord::of(state.last.transaction)),
            writer: Mutex::new(writer),
            queue: Queue::new(),
            publication: Publication::new(),
            flushed: Mutex::new(header),
            header_is_durable: AtomicBool::new(false),
            is_detached: AtomicBool::new(false),
            flushed_transaction: AtomicU64::new(header.map_or(0, |header| header.transaction.0)),
            pacing: Pacing::default(),
            device: Device::default(),
            failure: OnceLock::new(),
            buffers: Mutex::new(Vec::new()),
            growth: Mutex::new(()),
            tasks: Tasks::default(),
            lock: Mutex::new(lock),
        })
    }

    /// Keeps the journal as the options say.
    fn keep_journal_for_archive(&mut self) -> Result<()> {
        let Some(bytes_max) = self.options.archive_bytes_max else { return Ok(()) };
        if let Some(what) = self.without_archive() {
            let error = std::io::Error::new(std::io::ErrorKind::Unsupported, format!("{what} cannot be archived"));
            return Err(Error::io("keep the journal for an archive of", &self.path, 0, error));
        }
        if let Some(journal) = &mut self.writer.get_mut().journal {
            journal.set_archive(Some(bytes_max));
        }
        Ok(())
    }

    /// The kind of the environment, if environments of that kind have no archive.
    pub fn without_archive(&self) -> Option<&'static str> {
        match (&self.folder, self.options.durability) {
            (None, _) => Some("an environment in memory"),
            (_, Durability::Lazy) => Some("an environment whose commits are lazy"),
            (Some(_), Durability::Durable) => None,
        }
    }

    /// The data file for writes that are durable when they return. `None`: large values go to the journal, because the
    /// environment has no data file, or is lazy, or no descriptor is to be had.
    pub fn direct_file(&self) -> Option<&Arc<dyn File>> {
        if self.options.durability == Durability::Lazy {
            return None;
        }
        let (data, folder) = (self.data.as_ref()?, self.folder.as_ref()?);
        if self.direct.get().is_none() {
            let file = folder.io.open(data.path(), OpenMode::Synced).ok()?;
            self.direct.set(file).ok();
        }
        self.direct.get()
    }

    /// Writes nothing into the folder from now on. Writing has ended.
    fn detach(&self) {
        let _no_flush = self.flushed.lock();
        self.is_detached.store(true, Ordering::Relaxed);
        // It would remove files by names that are given again.
        self.writer.lock().journal = None;
    }

    /// Whether another environment has the folder, or may have it.
    pub fn is_detached(&self) -> bool {
        self.is_detached.load(Ordering::Relaxed)
    }

    /// Notes the first failure of a write; from now on writes are refused.
    pub fn fail(&self, error: Error) {
        tracing::error!(path = %self.path.display(), %error, "a write failed; the environment refuses writes until it is opened again");
        self.failure.set(error).ok();
    }

    /// Notes a failure and gives what its caller is answered with.
    pub fn failed(&self, error: Error) -> Error {
        self.fail(error);
        self.refusal()
    }

    pub fn has_failed(&self) -> bool {
        self.failure.get().is_some()
    }

    /// The error that refused writes return.
    pub fn refusal(&self) -> Error {
        match self.failure.get() {
            Some(cause) => Error::Failed { path: self.path.clone(), cause: Arc::new(cause.clone()) },
            None => Error::Closed,
        }
    }

    pub fn take_buffer(&self) -> Vec<u8> {
        self.buffers.lock().pop().unwrap_or_default()
    }

    pub fn give_back_buffer(&self, buffer: Vec<u8>) {
        let mut buffers = self.buffers.lock();
        let kept_bytes: usize = buffers.iter().map(Vec::capacity).sum();
        if buffers.len() < JOURNAL_WRITES_IN_FLIGHT_MAX && kept_bytes + buffer.capacity() <= RECORD_BUFFER_BYTES_MAX {
            buffers.push(buffer);
        }
    }

    /// Gives the data file room for pages below `pages`, and some more.
    pub fn grow(&self, pages: u64) -> Result<()> {
        let _one = self.growth.lock();
        let now = self.table.pages();
        if pages <= now {
            return Ok(());
        }
        let Some(data) = &self.data else {
            return self.table.extend(pages.max(now + 1024));
        };
        let size = PAGE_SIZE as u64;
        let mut target = pages.max(now + data_file_step(now));
        let allocate = |target: u64| data.allocate(now * size, (target - now) * size);
        let mut allocated = allocate(target);
        if allocated.is_err() && target > pages {
            // Perhaps the step was too much for the device; what is really needed may fit.
            target = pages;
            allocated = allocate(target);
        }
        allocated.map_err(|e| Error::io("make room in", data.path(), (target - now) * size, e))?;
        self.table.extend(target)
    }

    /// Spans whose bitmap was made, as the snapshot of `transaction` sees it. The first bitmap counts them; whether that one
    /// was made is told by the header and the journal alone. What a damaged page looks like must not matter here: a bitmap
    /// that is taken for missing is made anew, and pages in use are allocated again.
    ///
    /// The caller has announced the transaction, or has the writer's lock.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the first bitmap is damaged.
    pub fn spans(&self, transaction: TransactionId) -> Result<u64> {
        let first = space::bitmap_page(0);
        let new = self.readers.published() == SnapshotWord::of(TransactionId(0));
        if new && (first.0 >= self.table.pages() || !matches!(self.table.place(first)?, PageSource::Memory(_))) {
            return Ok(0);
        }
        Ok(page::count(self.table.page(first, transaction)?) as u64)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // No transaction is open: each borrows the environment. What waits can go; the page table gives back the rest.
        let everything = SnapshotWord(u64::MAX);
        self.writer.get_mut().reclaim.collect(everything, &self.table.versions);
    }
}

impl WriteTransaction<'_> {
    /// The first pages of a new environment; returns the catalog's root, still empty.
    fn first_pages(&mut self) -> Result<crate::pager::changes::PageMut<'_>> {
        self.ensure_room(space::CATALOG_ROOT.0 + 1)?;
        // Makes the first bitmap, with the fixed pages marked.
        let first = self.allocate_pages(1)?;
        self.free_pages(first, 1)?;
        self.fresh_page(space::CATALOG_ROOT)
    }
}

fn new_id() -> u128 {
    let mut bytes = [0; 16];
    // The kernel's generator; if it should fail, the address of a local and the time still differ between environments.
    if rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()) != Ok(16) {
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        bytes = (time ^ ((&raw const bytes).addr() as u128) << 64).to_le_bytes();
    }
    u128::from_le_bytes(bytes)
}

/// Whether a file is made when the data file is there, durably, and not before.
fn is_of_a_flush_or_journal(name: &str) -> bool {
    files::number_of(name).is_some() || intent::NAMES.contains(&name)
}

/// Makes the data file of a new environment: complete under another name, then renamed.
fn create(folder: &Folder, names: &[String]) -> Result<()> {
    let path = folder.file(NEW_DATA_FILE);
    let failed = |operation| {
        let path = path.clone();
        move |e| Error::io(operation, &path, 2 * PAGE_SIZE as u64, e)
    };
    let sync_dir = || folder.io.sync_dir(&folder.path).map_err(|e| Error::io("sync the folder", &folder.path, 0, e));
    if let Some(name) = names.iter().find(|name| is_of_a_flush_or_journal(name)) {
        let rule = format!("it is gone, but '{name}' is there");
        return Err(Error::CorruptFile { path: folder.file(DATA_FILE), rule });
    }
    if names.iter().any(|name| name == NEW_DATA_FILE) {
        // Left over from a creation that did not end.
        folder.io.remove(&path).map_err(failed("remove"))?;
    }
    // Names are made durable before anything is built on them: a crash may keep the renaming and lose what came before.
    sync_dir()?;
    let file = folder.io.open(&path, OpenMode::Create).map_err(failed("create"))?;
    let header = Header {
        version: FORMAT_VERSION,
        clean: true,
        environment_id: new_id(),
        sequence: 1,
        transaction: TransactionId(0),
        journal_number: 1,
        journal_offset: 0,
        journal_hash: 0,
    };
    file.allocate(0, DATA_FILE_PAGES_MIN * PAGE_SIZE as u64).map_err(failed("make room for"))?;
    file.write_at(&header.encode(), 0).map_err(failed("write"))?;
    file.write_at(&Header { sequence: 0, ..header }.encode(), PAGE_SIZE as u64).map_err(failed("write"))?;
    file.sync().map_err(failed("sync"))?;
    newest::create(folder, header.environment_id)?;
    sync_dir()?;
    folder.io.rename(&path, &folder.file(DATA_FILE)).map_err(failed("rename"))?;
    sync_dir()
}

fn open_existing(folder: Folder, options: Options, lock: Box<dyn Send + Sync>) -> Result<Inner> {
    let data_path = folder.file(DATA_FILE);
    let failed = |operation| {
        let path = data_path.clone();
        move |e| Error::io(operation, &path, 0, e)
    };
    let data = folder.io.open(&data_path, OpenMode::Existing).map_err(failed("open"))?;
    let header = read_header(&*data)?;
    let journals = open_journals(&folder)?;
    let newest = newest::read(&folder, header.environment_id)?;
    let is_there = |number, size| journals.iter().any(|file| file.number == number && file.size >= size);
    if newest.number == 0 && !header.clean {
        let rule = "it is of another environment, or of an earlier time".to_string();
        return Err(Error::CorruptFile { path: folder.file(newest::NAME), rule });
    }
    if newest.number >= header.journal_number && !is_there(newest.number, newest.size) {
        let rule = "it is gone or cut, and held the last transactions".to_string();
        return Err(Error::CorruptFile { path: folder.file(&files::name(newest.number)), rule });
    }
    if header.journal_offset > 0 && !is_there(header.journal_number, header.journal_offset) {
        let rule = "it is gone or cut, but the data file's header says that the journal goes on in it".to_string();
        return Err(Error::CorruptFile { path: folder.file(&files::name(header.journal_number)), rule });
    }
    let last = replay::ReplayState {
        transaction: header.transaction,
        hash: header.journal_hash,
        number: header.journal_number,
        offset: header.journal_offset,
    };
    let state = RecoveredState { last, existing_journals: journals.clone() };
    let path = folder.path.clone();
    let mut inner = Inner::new(
        header.environment_id,
        path,
        options,
        Some(folder),
        Some(data.clone()),
        state,
        Some(header),
        Some(lock),
    )?;
    inner.table.extend(data.len().map_err(failed("measure"))? / PAGE_SIZE as u64)?;
    inner.recover(&journals, last)?;
    inner.writer.get_mut().untouched_from = inner.table.pages();
    Ok(inner)
}

fn read_header(data: &dyn File) -> Result<Header> {
    let cut = || Error::CorruptFile { path: data.path().to_path_buf(), rule: "it is cut within its headers".into() };
    let mut page = vec![0; PAGE_SIZE];
    let mut copies = Vec::new();
    for copy in 0..2 {
        data.read_at(&mut page, copy * PAGE_SIZE as u64).map_err(|e| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => cut(),
            _ => Error::io("read", data.path(), 0, e),
        })?;
        copies.extend(Header::decode(&page));
    }
    let damaged = || Error::CorruptFile { path: data.path().to_path_buf(), rule: "both headers are damaged".into() };
    let header = copies.into_iter().max_by_key(|header| header.sequence).ok_or_else(damaged)?;
    if header.version > FORMAT_VERSION {
        return Err(Error::NewerFormat {
            path: data.path().to_path_buf(),
            found: header.version,
            known: FORMAT_VERSION,
        });
    }
    Ok(header)
}

fn open_journals(folder: &Folder) -> Result<Vec<Arc<JournalFile>>> {
    let names = folder.io.list(&folder.path).map_err(|e| Error::io("list", &folder.path, 0, e))?;
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| files::number_of(name)).collect();
    numbers.sort_unstable();
    let open = |number: u64| {
        let path = folder.file(&files::name(number));
        let file = folder.io.open(&path, OpenMode::Existing).map_err(|e| Error::io("open", &path, 0, e))?;
        let size = file.len().map_err(|e| Error::io("measure", &path, 0, e))?;
        Ok(Arc::new(JournalFile { number, file, size }))
    };
    numbers.into_iter().map(open).collect()
}

#[cfg(test)]
mod tests;
