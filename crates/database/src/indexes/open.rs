//! One open index: its definition, its storage, its progress, and its waiters.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use documents::{Date, Etag, LastEtags, Snapshot};
use parking_lot::Mutex;
use query::definition::{IndexDefinition, IndexSettings, IndexSource, MapIndex};
use query::index::{History, IndexError, IndexSnapshot, Notes, Progress};
use query::indexing::{BatchControl, BatchResult, Indexer, Moment, has_failed, is_behind, progress_of};

use super::known_fields::KnownFields;
use super::outputs::Outputs;
use super::state::{IndexState, IndexStatistics, IndexingBatch, IndexingStatus, wake, wake_if_stopped};
use super::stored::{FormerDefinition, StoredIndex};
use super::turns::{Scratch, TimeUsed};
use super::usage::Usage;
use crate::{Error, Result, folders};

/// How the error of an index begins that has no analyzer for a field.
pub const NO_ANALYZER: &str = "Could not create analyzer";

/// The prefix of the name of a replacement.
const REPLACEMENT: &str = "ReplacementOf/";

/// An index of a database.
pub struct Index {
    /// The name of its database, for the log; empty for one that only tries a definition.
    database: String,
    name: String,
    /// Its name until it replaces the index of its final name.
    replacement_name: String,
    is_replacement: AtomicBool,
    definition: IndexDefinition,
    /// What it reads, and what its maps load from.
    sources: Vec<IndexSource>,
    generation: u128,
    created: Date,
    /// Dropped before its folder is removed.
    store: Option<query::index::Index>,
    /// `None`: in memory.
    folder: Option<PathBuf>,
    /// Held by the one that indexes.
    indexer: Mutex<Indexer>,
    state: Mutex<IndexState>,
    /// Whether it has a turn coming; set by who gives it one.
    pub(super) has_turn: AtomicBool,
    /// By which it shares the threads with others of its database.
    pub(super) time_used: TimeUsed,
    /// Whether what it stands in for is gone.
    pub(super) has_replaced: AtomicBool,
    /// Whether its last turn ended with what passes by itself, so that it needs another one.
    pub(super) has_failed_turn: AtomicBool,
    /// Held by the one who gives it a turn, and while it is compacted.
    pub(super) turn: Mutex<()>,
    /// Whether it is compacted: it takes no turn.
    pub(super) is_compacted: AtomicBool,
    /// True once it is removed: its folder is deleted when the last holder drops it.
    is_removed: AtomicBool,
    /// Whether another one has its folder, so that it stays. It is removed then, too.
    has_given_way: AtomicBool,
    usage: Usage,
    /// Of an automatic index.
    known_fields: KnownFields,
    /// When it was opened, which counts as a query of one that a query made, if none is kept.
    opened: Date,
    /// Where its results become documents.
    pub(super) outputs: Option<Outputs>,
    history: Arc<[FormerDefinition]>,
}

impl Index {
    pub(super) fn new(stored: StoredIndex, store: query::index::Index, folder: Option<PathBuf>) -> Result<Index> {
        let StoredIndex { definition, settings, is_replacement, generation, created, output, history: former } = stored;
        let store = if definition.is_grouped() { store.with_groups()? } else { store };
        let store = if definition.output().is_some() { store.with_outputs()? } else { store };
        let store = if definition.has_references() { store.with_references()? } else { store };
        let store = if definition.has_vectors() { store.with_vectors()? } else { store };
        let indexer = Indexer::new(&definition, &store)?;
        let sources = definition.sources();
        let (progress, history) = {
            let snapshot = store.read()?;
            (progress_of(&snapshot, &sources)?, snapshot.history()?)
        };
        let state = IndexState {
            progress,
            settings,
            last_indexed: history.last_indexed,
            indexed_count: history.attempted_count,
            failed_count: history.failed_count,
            ..IndexState::default()
        };
        // It stopped, and stays so until it is built anew.
        let lacks_analyzer = definition.as_map().and_then(|map| map.lacks_analyzer());
        let no_analyzer = || lacks_analyzer.map(|lacks| query::index::Error::NoAnalyzer(lacks.to_string()));
        let failure = state.too_many_failures().or_else(no_analyzer);
        let known_fields = KnownFields::new(definition.as_automatic().map_or(0, |automatic| automatic.fields().len()));
        let name = definition.name();
        let outputs = definition.output().zip(output).map(|(output, stored)| Outputs::new(output, stored));
        Ok(Index {
            database: String::new(),
            replacement_name: format!("{REPLACEMENT}{name}"),
            name,
            is_replacement: AtomicBool::new(is_replacement),
            definition,
            sources,
            generation,
            created,
            store: Some(store),
            folder,
            indexer: Mutex::new(indexer),
            state: Mutex::new(IndexState { failure, ..state }),
            has_turn: AtomicBool::new(false),
            time_used: TimeUsed::default(),
            has_replaced: AtomicBool::new(false),
            has_failed_turn: AtomicBool::new(false),
            turn: Mutex::default(),
            is_compacted: AtomicBool::new(false),
            is_removed: AtomicBool::new(false),
            has_given_way: AtomicBool::new(false),
            usage: Usage::new(&history),
            known_fields,
            opened: Date::now(),
            outputs,
            history: former,
        })
    }

    /// The index, with the name that its database has in the log.
    pub(super) fn of_database(mut self, name: &str) -> Index {
        name.clone_into(&mut self.database);
        self
    }

    /// Keeps among its errors that a field has no analyzer, if that is so.
    pub(super) fn note_lacking_analyzer(&self) -> Result<()> {
        let lacks = self.definition.as_map().and_then(|map| map.lacks_analyzer());
        let Some(lacks) = lacks else { return Ok(()) };
        tracing::error!(database = self.database, index = self.name(), error = %lacks, "an index failed");
        let message = format!("{NO_ANALYZER}: {lacks}");
        let errors = vec![IndexError { at: Date::now(), document: None, message }];
        Ok(self.store()?.note(&Notes { errors, ..Notes::default() })?)
    }

    /// The name of its database.
    pub(super) fn database_name(&self) -> &str {
        &self.database
    }

    /// A temporary index in memory over the first documents of a snapshot, to try a definition. [`Self::errors`] lists failures.
    ///
    /// * `count_max`: documents.
    /// * `goes_on`: called before each document; false ends the work early.
    ///
    /// # Errors
    ///
    /// The documents cannot be read.
    pub fn sample(
        definition: Arc<MapIndex>,
        documents: &Snapshot<'_>,
        count_max: u64,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Index> {
        let store = query::index::Index::in_memory(storage::Options::default())?;
        let definition = IndexDefinition::Map(definition);
        let stored = StoredIndex::new(definition, IndexSettings::default(), false, Date::now());
        let index = Index::new(stored, store, None)?;
        index.indexer.lock().set_batches_of(1);
        let mut scratch = Scratch::default();
        for _ in 0..count_max {
            let is_done = match index.take_turn(documents, &mut scratch, &|| false) {
                Ok((_, is_done)) => is_done,
                Err(Error::Index(query::index::Error::TooManyFailures { .. })) => false,
                Err(error) => return Err(error),
            };
            if is_done || !goes_on() {
                break;
            }
        }
        Ok(index)
    }

    /// Its name; that of a replacement until it replaces.
    pub fn name(&self) -> &str {
        if self.is_replacement() { &self.replacement_name } else { &self.name }
    }

    /// Its name until it replaces, whether it is a replacement or not: `ReplacementOf/` and the name of its definition.
    pub fn replacement_name(&self) -> &str {
        &self.replacement_name
    }

    /// Whether it is built to stand in for the one of its name.
    pub fn is_replacement(&self) -> bool {
        self.is_replacement.load(Relaxed)
    }

    /// It stands in for the one of its name now.
    pub(super) fn has_replaced(&self) {
        self.is_replacement.store(false, Relaxed);
    }

    /// What is kept about it.
    pub(super) fn stored(&self) -> StoredIndex {
        StoredIndex {
            definition: self.definition.clone(),
            settings: self.settings(),
            is_replacement: self.is_replacement(),
            generation: self.generation,
            created: self.created,
            output: self.outputs.as_ref().map(|outputs| outputs.stored().clone()),
            history: self.history.clone(),
        }
    }

    /// The definitions of its name, the newest first, its own among them; none if a query made it.
    pub fn history(&self) -> Vec<FormerDefinition> {
        let own =
            self.definition.as_map().map(|map| FormerDefinition { given: map.given().clone(), created: self.created });
        own.into_iter().chain(self.history.iter().cloned()).collect()
    }

    /// The number in the ids of documents that its results become.
    pub fn output_number(&self) -> Option<u64> {
        self.outputs.as_ref().map(|outputs| outputs.stored().number)
    }

    /// Whether results may not be documents yet. A replacement writes none before it has replaced.
    pub(super) fn owes_outputs(&self) -> bool {
        !self.is_replacement() && self.outputs.as_ref().is_some_and(Outputs::owes)
    }

    /// Results that cannot be documents are errors of the index.
    pub(super) fn notes_of_refused(messages: Vec<String>) -> Notes {
        let at = Date::now();
        let errors = messages.into_iter().map(|message| IndexError { at, document: None, message });
        Notes { errors: errors.collect(), ..Notes::default() }
    }

    /// What it is.
    pub fn definition(&self) -> &IndexDefinition {
        &self.definition
    }

    /// What it reads, and what its maps load from.
    pub fn sources(&self) -> &[IndexSource] {
        &self.sources
    }

    /// When it was made.
    pub fn created(&self) -> Date {
        self.created
    }

    pub(super) fn opened(&self) -> Date {
        self.opened
    }

    /// What may be changed of it without building it anew.
    pub fn settings(&self) -> IndexSettings {
        self.state.lock().settings
    }

    pub(super) fn set_settings(&self, settings: IndexSettings) {
        let mut state = self.state.lock();
        state.settings = settings;
        wake_if_stopped(state);
    }

    /// Stops it, or lets it go on; until the server starts anew.
    pub(super) fn pause(&self, is_paused: bool) {
        let mut state = self.state.lock();
        state.is_paused = is_paused;
        wake_if_stopped(state);
    }

    pub(super) fn is_paused(&self) -> bool {
        self.state.lock().is_paused
    }

    /// Whether it is kept up to date.
    pub fn status(&self) -> IndexingStatus {
        let state = self.state.lock();
        match (state.settings.is_disabled, state.is_paused || state.failure.is_some()) {
            (true, _) => IndexingStatus::Disabled,
            (false, true) => IndexingStatus::Paused,
            (false, false) => IndexingStatus::Running,
        }
    }

    /// Whether it may take a turn.
    pub(super) fn is_running(&self) -> bool {
        self.status() == IndexingStatus::Running && !self.is_compacted.load(Relaxed)
    }

    pub(super) fn store(&self) -> Result<&query::index::Index> {
        self.store.as_ref().ok_or(Error::Corrupt { rule: "an open index has a store" })
    }

    /// A snapshot of its last batch. Open that of the documents after it: what an entry names is there then, or was deleted
    /// since.
    ///
    /// # Errors
    ///
    /// The index is damaged or failed.
    pub fn read(&self) -> Result<IndexSnapshot<'_>> {
        self.refuse_failed()?;
        Ok(self.store()?.read()?)
    }

    /// Records a query now, and returns the time.
    pub fn note_query(&self) -> Date {
        let now = Date::now();
        self.note_query_at(now);
        now
    }

    /// Records a query at a given time.
    pub fn note_query_at(&self, at: Date) {
        self.usage.note(at);
    }

    /// The last use on the clock of retirement; for an automatic index without one, its opening. `None`: never.
    pub(super) fn last_use(&self) -> Option<Date> {
        self.usage.last_use().or_else(|| self.definition.as_automatic().map(|_| self.opened))
    }

    pub(super) fn known_fields(&self) -> &KnownFields {
        &self.known_fields
    }

    pub(super) fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Persists the time of the last query, if the stored time is too old.
    pub(super) fn keep_last_query(&self, is_due: impl Fn(&Usage, &History) -> bool) -> Result<()> {
        let has_nothing = self.folder.is_none() || self.usage.last_use().is_none();
        // One that is compacted takes no notes, and its successor does.
        if has_nothing || self.is_removed() || self.is_compacted.load(Relaxed) {
            return Ok(());
        }
        let store = self.store()?;
        let kept = store.read()?.history()?;
        if is_due(&self.usage, &kept) {
            let (last_query, last_use) = (self.usage.last_query(), self.usage.last_use());
            store.note(&Notes { last_query, last_use, ..Notes::default() })?;
        }
        Ok(())
    }

    /// When it last took something.
    pub fn last_indexed(&self) -> Option<Date> {
        self.state.lock().last_indexed
    }

    /// Whether a snapshot of the index lacks something of one of the documents.
    ///
    /// * `reached`: [`Self::indexed_to`] as it was before the snapshot of the index was opened.
    /// * `cutoff`: only what was written up to there counts; `None`: all.
    ///
    /// # Errors
    ///
    /// Either cannot be read.
    pub fn is_stale(
        &self,
        index: &IndexSnapshot<'_>,
        reached: Etag,
        documents: &Snapshot<'_>,
        cutoff: Option<Etag>,
    ) -> Result<bool> {
        if cutoff.is_some_and(|cutoff| reached >= cutoff) {
            return Ok(false);
        }
        if self.owes_outputs() {
            return Ok(true);
        }
        for (source, progress) in self.sources.iter().zip(progress_of(index, &self.sources)?) {
            if is_behind(source, progress, documents, cutoff)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Counts and dates.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn statistics(&self) -> Result<IndexStatistics> {
        let (entry_count, error_count) = {
            let snapshot = self.store()?.read()?;
            (snapshot.entry_count(), snapshot.error_count()?)
        };
        let state = self.state.lock();
        Ok(IndexStatistics {
            entry_count,
            error_count,
            progress: state.progress.clone(),
            indexed_count: state.indexed_count,
            indexed_per_second: state.speed.per_second(Instant::now()),
            indexing_time: state.indexing_time,
            failed_count: state.failed_count,
            last_indexed: state.last_indexed,
            last_query: self.usage.last_query(),
        })
    }

    /// The last batches that it wrote since it was opened, the oldest first.
    pub fn last_batches(&self) -> Vec<IndexingBatch> {
        self.state.lock().batches.iter().cloned().collect()
    }

    /// The last documents that it could not take, as they are kept.
    ///
    /// # Errors
    ///
    /// They cannot be read.
    pub fn errors(&self) -> Result<Vec<IndexError>> {
        Ok(self.store()?.read()?.errors()?)
    }

    /// Forgets them durably; not how many they were.
    ///
    /// # Errors
    ///
    /// The index cannot be written.
    pub fn clear_errors(&self) -> Result<()> {
        let store = self.store()?;
        if store.read()?.error_count()? > 0 { Ok(store.clear_errors()?) } else { Ok(()) }
    }

    /// Why nothing is indexed any more; until it is reset.
    pub fn failure(&self) -> Option<query::index::Error> {
        self.state.lock().failure.clone()
    }

    /// Whether it was deleted, or replaced by another: it is not brought up to date any more.
    pub fn is_removed(&self) -> bool {
        self.is_removed.load(Relaxed)
    }

    fn refuse_failed(&self) -> Result<()> {
        self.failure().map_or(Ok(()), |failure| Err(failure.into()))
    }

    /// Whether it once had all that there was: before that its answers say little.
    pub fn was_complete(&self) -> bool {
        self.state.lock().was_complete
    }

    /// The rank of an automatic index when a query chooses among several, most significant first: it is enabled and has not failed, no
    /// document failed in it, and it was complete once. One that is being built says that it is stale; one in which documents failed does
    /// not.
    pub(super) fn standing(&self) -> (bool, bool, bool) {
        let state = self.state.lock();
        (state.failure.is_none() && !state.settings.is_disabled, !state.lacks_documents, state.was_complete)
    }

    /// Whether it takes all documents of its source: it did not fail, and none failed in it. Others may be built on it then.
    pub(super) fn is_sound(&self) -> bool {
        let state = self.state.lock();
        state.failure.is_none() && !state.lacks_documents
    }

    /// Calls `done` once the index has processed all changes up to `etag`, or has failed, or is stopped, paused or disabled; at once if one
    /// of these holds already. After `wait` the waiter times out, and `done` is dropped at some later purge.
    pub fn when_indexed(&self, etag: Etag, wait: Duration, done: impl FnOnce() + Send + 'static) {
        let mut state = self.state.lock();
        let is_over = !state.is_running() || state.is_resting || self.is_removed.load(Relaxed);
        if state.indexed_to >= etag || is_over {
            drop(state);
            return done();
        }
        state.waiting.add(etag, wait, done);
    }

    /// True if it has everything of its own sources that a snapshot has, whatever was written to others.
    ///
    /// * `documents`: opened before the snapshot of the index that is read.
    ///
    /// # Errors
    ///
    /// The documents cannot be read.
    pub fn has_all_of(&self, documents: &Snapshot<'_>) -> Result<bool> {
        let last = self.sources.iter().map(|source| documents.last_etags(source.kind, source.collection.as_deref()));
        Ok(!self.lacks(&last.collect::<Result<Vec<_>, _>>()?))
    }

    /// The etag up to which it has processed all changes.
    pub fn indexed_to(&self) -> Etag {
        self.state.lock().indexed_to
    }

    /// The name of its folder; `None`: it is in memory.
    pub(crate) fn folder_name(&self) -> Option<String> {
        Some(self.folder.as_ref()?.file_name()?.to_str()?.to_owned())
    }

    /// The environment with its data; `None` while it is being removed.
    pub(crate) fn environment(&self) -> Option<&storage::Environment> {
        self.store.as_ref().map(query::index::Index::environment)
    }

    /// Bytes of its files; 0 in memory.
    pub fn size_on_disk(&self) -> u64 {
        self.folder.as_deref().map_or(0, folders::size)
    }

    pub(super) fn progress(&self) -> Vec<Progress> {
        self.state.lock().progress.clone()
    }

    /// * `last`: of each of its sources.
    pub(super) fn lacks(&self, last: &[LastEtags]) -> bool {
        let owes = self.owes_outputs();
        let state = self.state.lock();
        let mut sources = state.progress.iter().zip(last);
        let lacks = |(progress, last): (&Progress, &LastEtags)| {
            progress.items < last.items || progress.tombstones < last.tombstones
        };
        state.failure.is_none() && (owes || sources.any(lacks))
    }

    /// All up to `etag` is in it, as somebody saw who looked at its source.
    pub(super) fn is_current(&self, etag: Etag) {
        let mut state = self.state.lock();
        if state.failure.is_some() {
            return;
        }
        state.was_complete = true;
        state.indexed_to = state.indexed_to.max(etag);
        let reached = state.indexed_to;
        wake(state, |wanted| wanted <= reached);
    }

    /// Runs a batch, and more while the control's `goes_on` holds. Returns whether anything was indexed, and whether the index has all of
    /// the snapshot now. In that case it wakes its waiters, unless its results must become documents first.
    pub(super) fn take_turn(
        &self,
        documents: &Snapshot<'_>,
        scratch: &mut Scratch,
        control: &dyn BatchControl,
    ) -> Result<(bool, bool)> {
        let last_etag = documents.last_etag()?;
        let store = self.store()?;
        if let Some(outputs) = &self.outputs {
            outputs.set_owes(true);
        }
        let (mut has_some, mut is_done) = (false, false);
        let usage = &self.usage;
        let moment = || Moment { now: Date::now(), last_query: usage.last_query(), last_use: usage.last_use() };
        let mut began = Instant::now();
        self.indexer.lock().run(store, documents, &mut scratch.batches, &moment, control, |step| {
            has_some |= step.indexed + step.removed > 0;
            is_done = step.is_done;
            let ended = Instant::now();
            self.note(step, ended - std::mem::replace(&mut began, ended))
        })?;
        if is_done {
            let lacks_documents = self.lacks_documents(documents)?;
            self.state.lock().lacks_documents = lacks_documents;
            if self.outputs.is_none() {
                self.is_current(last_etag);
            }
        } else {
            self.state.lock().waiting.purge(Instant::now());
        }
        Ok((has_some, is_done))
    }

    /// Notes what a batch came to, and how long it took.
    fn note(&self, step: BatchResult, duration: Duration) -> Result<()> {
        self.known_fields.forget();
        let mut state = self.state.lock();
        state.add_batch(&step, duration);
        state.indexed_count += step.indexed;
        state.speed.add(step.indexed, Instant::now());
        state.indexing_time += duration;
        state.failed_count += step.failed_count();
        state.last_indexed = step.indexed_at.or(state.last_indexed);
        if let Some(failure) = state.too_many_failures() {
            // The progress stays: a query that waits must not take the index for a fresh one before its failure is set.
            return Err(failure.into());
        }
        state.progress = step.progress;
        Ok(())
    }

    /// Whether documents of a snapshot, all of which it was given, have no entry in it. Of groups: whether one ever failed.
    fn lacks_documents(&self, documents: &Snapshot<'_>) -> Result<bool> {
        let Some(definition) = self.definition.as_automatic() else { return Ok(false) };
        let index = self.store()?.read()?;
        if !definition.group_by().is_empty() {
            return Ok(has_failed(&index)?);
        }
        let count = match &definition.collection {
            Some(name) => documents.collection(name)?.map_or(0, |collection| collection.documents().count),
            None => documents.statistics()?.documents().count,
        };
        Ok(index.document_count() < count)
    }

    /// Learns whether documents failed in it before it was opened. Until it has all of the snapshot, any of those that it lacks may be one
    /// of them.
    pub(super) fn learn_lacking(&self, documents: &Snapshot<'_>) -> Result<()> {
        let lacks_documents = self.state.lock().failed_count > 0 && self.lacks_documents(documents)?;
        self.state.lock().lacks_documents = lacks_documents;
        Ok(())
    }

    /// Stops indexing after a failure and wakes all waiters. Maintenance rebuilds the index, unless it would fail again.
    pub fn fail(&self, error: query::index::Error) {
        tracing::error!(database = self.database, index = self.name(), %error, "an index failed");
        let mut state = self.state.lock();
        state.failure = Some(error);
        wake(state, |_| true);
    }

    /// Pauses indexing and wakes all waiters.
    pub(super) fn rest(&self) {
        let mut state = self.state.lock();
        state.is_resting = true;
        wake(state, |_| true);
    }

    /// Resumes indexing.
    pub(super) fn go_on(&self) {
        self.state.lock().is_resting = false;
    }

    /// Marks it as removed. Its folder is deleted when the last holder drops it.
    pub(super) fn remove(&self) {
        self.is_removed.store(true, Relaxed);
        wake(self.state.lock(), |_| true);
    }

    /// Marks it as removed, but for its folder, which another one has.
    pub(super) fn give_way(&self) {
        self.has_given_way.store(true, Relaxed);
        self.remove();
    }

    /// Takes over what is known of another one, whose contents it has, and which takes no turn.
    pub(super) fn go_on_from(&mut self, other: &Index) {
        self.opened = other.opened;
        self.usage.take_over(&other.usage);
        for (flag, other) in
            [(&self.has_replaced, &other.has_replaced), (&self.has_failed_turn, &other.has_failed_turn)]
        {
            flag.store(other.load(Relaxed), Relaxed);
        }
        self.state.get_mut().go_on_from(&other.state.lock());
    }

    /// Makes its contents durable.
    pub(super) fn flush(&self) -> Result<Vec<Progress>> {
        let progress = self.progress();
        self.store()?.environment().flush()?;
        Ok(progress)
    }

    pub(super) fn flush_if_idle(&self) -> Result<bool> {
        Ok(self.store()?.environment().flush_if_idle()?)
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        if let Err(error) = self.keep_last_query(Usage::is_due_at_end) {
            tracing::warn!(database = self.database, index = self.name, %error, "the time of the last query of an index could not be stored");
        }
        drop(self.store.take());
        let is_to_go = self.is_removed.load(Relaxed) && !self.has_given_way.load(Relaxed);
        if let (true, Some(folder)) = (is_to_go, &self.folder)
            && let Err(error) = folders::remove(folder)
        {
            // At the next start it goes, since no definition names it.
            tracing::warn!(database = self.database, index = self.name, %error, "the files of a deleted index could not be removed");
        }
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("name", &self.name).finish_non_exhaustive()
    }
}
