//! The registry of the indexes of one database, and the choice of an index for a query.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Weak};

use arc_swap::ArcSwap;
use documents::{Date, DefinitionChange, Etag, Write};
use parking_lot::Mutex;
use query::definition::{AutomaticIndex, IndexDefinition, IndexSettings, LockMode, MapIndex};
use query::limits::AUTOMATIC_FIELDS_MAX;
use storage::memory::Memory;

use super::empty::EmptyIndexes;
use super::open::Index;
use super::pool::IndexingPool;
use super::scheduler::RoundPacer;
use super::stored::StoredIndex;
use super::turns::Share;
use crate::limits::{
    AUTOMATIC_INDEX_COUNT_MAX, INDEX_COUNT_MAX, INDEX_DEFINITIONS_KEPT_MAX, INDEX_FLUSH_BYTES, LOCKED_FOLDER_WAITS_MAX,
    Limits, SEPARATE_INDEX_COUNT_MAX,
};
use crate::{AutomaticIndexes, Database, Error, IndexChange, Result, compaction, folders};

/// The indexes of a database.
pub struct Indexes {
    /// Where their folders are; `None`: in memory.
    folder: Option<PathBuf>,
    pub(super) open: ArcSwap<Vec<Arc<Index>>>,
    /// Held by everything that changes which indexes there are.
    pub(super) changing: Mutex<()>,
    pub(super) pool: Arc<IndexingPool>,
    /// By which its indexes share the threads with those of other databases.
    pub(super) share: Arc<Share>,
    /// The database that they are of, once it is open.
    pub(super) owner: Owner,
    /// The last etag that was announced.
    pub(super) last_etag: AtomicU64,
    /// Whether somebody is about to look.
    pub(super) is_announced: AtomicBool,
    pub(super) pace: Mutex<RoundPacer>,
    /// Whether somebody stopped all: new ones do not begin, either.
    pub(super) is_paused: AtomicBool,
    /// Whether one could not be opened, for now. What it has not seen must stay until it can.
    pub(super) lacks_some: AtomicBool,
    /// For how many ticks the database was closed.
    closed_for: AtomicU64,
    /// Bytes that old versions of pages may take.
    version_bytes_max: usize,
    /// What indexing may hold, together with requests.
    memory: Arc<Memory>,
    empty: EmptyIndexes,
}

/// The database that indexes are of now: another one takes its place when its documents are compacted.
#[derive(Clone, Default)]
pub(super) struct Owner(Arc<Mutex<Weak<Database>>>);

impl Owner {
    /// The database, if it is open.
    pub fn get(&self) -> Option<Arc<Database>> {
        self.0.lock().upgrade()
    }
}

/// Which index answers a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Its name.
    pub name: String,
    /// The names of the others, and why they do not.
    pub others: Vec<(String, String)>,
}

impl Indexes {
    pub(crate) fn new(folder: Option<PathBuf>, pool: Arc<IndexingPool>, limits: &Limits) -> Indexes {
        Indexes {
            folder,
            open: ArcSwap::default(),
            changing: Mutex::default(),
            pool,
            share: Arc::default(),
            owner: Owner::default(),
            last_etag: AtomicU64::new(0),
            is_announced: AtomicBool::new(false),
            pace: Mutex::default(),
            is_paused: AtomicBool::new(false),
            lacks_some: AtomicBool::new(false),
            closed_for: AtomicU64::new(0),
            version_bytes_max: limits.page_versions_size,
            memory: limits.memory.clone(),
            empty: EmptyIndexes::default(),
        }
    }

    /// Opens those that there are. One that cannot be read is built anew: nothing is lost by that but time.
    pub(crate) fn start(&self, database: &Arc<Database>) -> Result<()> {
        self.belong_to(database);
        let stored = StoredIndex::all(&database.read())?;
        if let Some(folder) = &self.folder {
            sweep(folder, &stored);
        }
        let last_etag = database.read().last_etag()?;
        let mut open = Vec::with_capacity(stored.len());
        for stored in stored {
            let name = stored.definition.name();
            match self.open_stored(stored, last_etag) {
                Ok(index) => open.push(index),
                // The documents are there all the same, and the definition stays.
                Err(error) => {
                    self.lacks_some.store(true, SeqCst);
                    tracing::error!(database = database.name(), index = name, %error, "an index cannot be opened; it does not answer queries for now");
                }
            }
        }
        // While the database was closed no index was left behind by others.
        let newest = open.iter().filter_map(|index| index.usage().last_use()).max();
        let closed_for = newest.map_or(0, |newest| Date::now().ticks().saturating_sub(newest.ticks()));
        self.closed_for.store(closed_for, SeqCst);
        open.iter().for_each(|index| index.usage().move_on(closed_for));
        if !open.is_empty() {
            self.open.store(Arc::new(open));
            self.committed(last_etag);
        }
        Ok(())
    }

    /// They are of this database from now on.
    pub(crate) fn belong_to(&self, database: &Arc<Database>) {
        *self.owner.0.lock() = Arc::downgrade(database);
    }

    /// Tries those again that could not be opened: their folders were locked, or there was no descriptor left.
    pub(super) fn open_missing(&self) -> Result<()> {
        if !self.lacks_some.load(SeqCst) {
            return Ok(());
        }
        let _changing = self.changing.lock();
        let database = self.database()?;
        let documents = database.read();
        let (stored, last_etag) = (StoredIndex::all(&documents)?, documents.last_etag()?);
        drop(documents);
        let mut lacks_some = false;
        for stored in stored {
            let name = stored.definition.name();
            if self.open.load().iter().any(|index| stored.is_of(index)) {
                continue;
            }
            match self.open_stored(stored, last_etag) {
                Ok(index) => {
                    index.usage().move_on(self.closed_for.load(SeqCst));
                    index.pause(self.is_paused.load(SeqCst));
                    tracing::info!(database = database.name(), index = name, "an index could be opened after all");
                    self.change_open(|open| open.push(index.clone()));
                    self.give_turn(&index);
                }
                Err(error) => {
                    lacks_some = true;
                    tracing::warn!(database = database.name(), index = name, %error, "an index still cannot be opened");
                }
            }
        }
        self.lacks_some.store(lacks_some, SeqCst);
        Ok(())
    }

    /// * `last_etag`: that of the documents. An index that is past it is of others.
    pub(super) fn open_stored(&self, stored: StoredIndex, last_etag: Etag) -> Result<Arc<Index>> {
        let owner = self.database()?;
        let database = owner.name().to_owned();
        let options = storage::Options {
            flush_after_bytes: INDEX_FLUSH_BYTES,
            version_bytes_max: self.version_bytes_max,
            ..storage::Options::default()
        };
        let Some(folder) = self.folder.as_ref().map(|folder| folder.join(stored.folder())) else {
            let store = query::index::Index::in_memory(options)?.with_memory(self.memory.clone());
            return Ok(Arc::new(Index::new(stored, store, None)?.of_database(&database)));
        };
        let open = || {
            folders::make(&folder)?;
            let store = folders::open_unlocked(LOCKED_FOLDER_WAITS_MAX, || {
                // Documents that were written of it must not be ahead of it.
                let open = match stored.output {
                    None => query::index::Index::open,
                    Some(_) => query::index::Index::open_durable,
                };
                Ok(open(&folder, options.clone())?.with_memory(self.memory.clone()))
            })?;
            compaction::remove_rest(&folder)?;
            let index = Index::new(stored.clone(), store, Some(folder.clone()))?.of_database(&database);
            if index.progress().iter().any(|progress| progress.items.max(progress.tombstones) > last_etag) {
                return Err(query::index::Error::Corrupt { rule: "no index has what its documents have not" }.into());
            }
            index.learn_lacking(&owner.read())?;
            Ok(Arc::new(index))
        };
        match open() {
            Err(Error::Index(error)) if error.is_damage() => {
                let index = stored.definition.name();
                match &error {
                    query::index::Error::OlderFormat { .. } => {
                        tracing::info!(database, index, %error, "an index of an older format is rebuilt")
                    }
                    _ => tracing::error!(database, index, %error, "an index cannot be read; it is rebuilt"),
                }
                folders::remove(&folder)?;
                open()
            }
            opened => opened,
        }
    }

    /// All of them, by name.
    pub fn all(&self) -> Arc<Vec<Arc<Index>>> {
        self.open.load_full()
    }

    /// The one of this name, in any case.
    pub fn by_name(&self, name: &str) -> Option<Arc<Index>> {
        let open = self.open.load();
        let spelled_otherwise = || {
            let wanted = documents::id::lower(name);
            open.iter().find(|index| documents::id::lower(index.name()) == wanted)
        };
        open.iter().find(|index| index.name() == name).or_else(spelled_otherwise).cloned()
    }

    /// Those that queries made over a collection, but for those that a wider one replaces; `None`: over all documents.
    pub fn automatic_of(&self, collection: Option<&str>) -> Vec<Arc<Index>> {
        let open = self.open.load();
        let is_of = |index: &&Arc<Index>| {
            let definition = index.definition().as_automatic();
            definition.is_some_and(|definition| definition.is_over(collection)) && !is_being_replaced(index, &open)
        };
        open.iter().filter(is_of).cloned().collect()
    }

    /// The index that answers what `needed` would: of those that cover it one in which no document failed, then one that is complete, and
    /// of those the widest. One that failed answers only what asks for just its fields: others do not have to share that.
    pub fn covering(&self, needed: &AutomaticIndex) -> Option<Arc<Index>> {
        let open = self.open.load();
        let automatic = open.iter().filter_map(|index| Some((index, index.definition().as_automatic()?)));
        let covering = automatic.filter(|(index, definition)| {
            definition.covers(needed) && (needed.covers(definition) || index.failure().is_none())
        });
        let widest = covering.max_by_key(|(index, definition)| (index.standing(), definition.fields().len()));
        widest.map(|(index, _)| index.clone())
    }

    /// Which index would answer what `needed` does, made if there is none; and why others would not, but for those that a wider one
    /// replaces.
    pub fn explain(&self, needed: &AutomaticIndex) -> Explanation {
        let open = self.open.load();
        let chosen = self.covering(needed);
        let automatic = self
            .database()
            .map_or_else(|_| AutomaticIndexes::default(), |database| database.query_settings().automatic_indexes());
        let mut others = Vec::new();
        let is_chosen = |index: &Arc<Index>| chosen.as_ref().is_some_and(|chosen| Arc::ptr_eq(index, chosen));
        for index in open.iter().filter(|index| !is_chosen(index) && !is_being_replaced(index, &open)) {
            let reason = match index.definition().as_automatic() {
                None => "It is a static index, which only `from index` uses".to_owned(),
                Some(other) if !other.has_source_of(needed) => "It indexes another collection".to_owned(),
                Some(other) => match needed.fields().iter().find_map(|field| other.missing(field)) {
                    Some(missing) => format!("The following field is missing: {missing}"),
                    None if index.failure().is_some() => "It failed".to_owned(),
                    None => "Wasn't the widest index matching this query".to_owned(),
                },
            };
            others.push((index.name().to_owned(), reason));
        }
        let name = chosen.map_or_else(|| new_for(&open, needed, automatic).name(), |chosen| chosen.name().to_owned());
        Explanation { name, others }
    }

    /// The same, but creates the index if there is none, as the settings of the database say.
    ///
    /// # Errors
    ///
    /// As [`Self::covering_or_made`].
    pub fn covering_or_new(&self, needed: &AutomaticIndex) -> Result<Arc<Index>> {
        self.covering_or_made(needed, self.database()?.query_settings().automatic_indexes())
    }

    /// The same, but creates the index if there is none. The new index also has the fields of the widest index of the source, which it
    /// then replaces, unless `automatic` is [`AutomaticIndexes::Separate`]. For a collection that never had a document nothing is created:
    /// an empty index in memory answers.
    ///
    /// # Errors
    ///
    /// There are too many indexes, or storage fails.
    pub fn covering_or_made(&self, needed: &AutomaticIndex, automatic: AutomaticIndexes) -> Result<Arc<Index>> {
        if let Some(index) = self.covering(needed) {
            return Ok(index);
        }
        let database = self.database()?;
        if let Some(name) = &needed.collection
            && database.read().collection(name)?.is_none()
        {
            return self.empty.of(new_for(&self.open.load(), needed, automatic), &self.memory);
        }
        self.ensure_automatic(needed, automatic)
    }

    /// The automatic index that answers, which is created if there is none, whether its collection has documents or not.
    ///
    /// # Errors
    ///
    /// As [`Self::covering_or_made`].
    pub(crate) fn ensure_automatic(&self, needed: &AutomaticIndex, automatic: AutomaticIndexes) -> Result<Arc<Index>> {
        let database = self.database()?;
        let _changing = self.changing.lock();
        if let Some(index) = self.covering(needed) {
            return Ok(index);
        }
        let open = self.open.load();
        // Whoever reads makes them, and they have descriptors and cost each write.
        let count = open.iter().filter(|index| index.definition().as_automatic().is_some()).count();
        if count >= AUTOMATIC_INDEX_COUNT_MAX {
            return Err(Error::TooManyAutomaticIndexes { name: database.name().to_owned() });
        }
        let is_separate = automatic == AutomaticIndexes::Separate && count >= SEPARATE_INDEX_COUNT_MAX;
        let automatic = if is_separate { AutomaticIndexes::Widened } else { automatic };
        let definition = IndexDefinition::Automatic(new_for(&open, needed, automatic));
        self.add(&database, StoredIndex::new(definition, IndexSettings::default(), false, Date::now()))
    }

    /// Keeps a definition and builds its index. The lock `changing` is held.
    fn add(&self, database: &Arc<Database>, stored: StoredIndex) -> Result<Arc<Index>> {
        if self.open.load().len() >= INDEX_COUNT_MAX {
            return Err(Error::TooManyIndexes { name: database.name().to_owned() });
        }
        // First the definition: a folder without one is swept at the next start.
        database.write(&Write::Definitions(vec![stored.put()]))?;
        let (name, is_replacement) = (stored.definition.name(), stored.is_replacement);
        let opened = self.open_stored(stored, Etag::MAX);
        // Without an open index its definition goes again.
        let index = opened.inspect_err(|_| undo(database, StoredIndex::delete(&name, is_replacement)))?;
        index.pause(self.is_paused.load(SeqCst));
        self.change_open(|open| open.push(index.clone()));
        self.give_turn(&index);
        database.tell_of_index(IndexChange::Added, index.name());
        Ok(index)
    }

    /// Changes which indexes there are; they stay sorted by name.
    pub(super) fn change_open(&self, change: impl Fn(&mut Vec<Arc<Index>>)) {
        self.open.rcu(|open| {
            let mut open = Vec::clone(open);
            change(&mut open);
            open.sort_by(|left, right| left.name().cmp(right.name()));
            open
        });
    }

    /// Takes over a definition. If there is an index of its name that is another, that answers until the new one has all that
    /// there is; if it is the same, only its settings change.
    ///
    /// # Errors
    ///
    /// The index of that name is locked; there are too many; storage fails.
    pub fn put(&self, definition: MapIndex, settings: IndexSettings) -> Result<()> {
        let _changing = self.changing.lock();
        let database = self.database()?;
        let name = definition.name().to_owned();
        let now = self.by_name(&name);
        let mut history = Vec::new();
        if let Some(now) = &now {
            let is_same = self::is_same(now, &definition);
            match now.settings().lock_mode {
                LockMode::LockedIgnore => return Ok(()),
                LockMode::LockedError if !is_same || now.settings() != settings => {
                    return Err(Error::IndexLocked { name });
                }
                LockMode::LockedError | LockMode::Unlock => {}
            }
            let replacement = self.replacement_of(now);
            history = replacement.as_ref().unwrap_or(now).history();
            history.truncate(INDEX_DEFINITIONS_KEPT_MAX - 1);
            if let Some(replacement) =
                replacement.filter(|replacement| is_same || !self::is_same(replacement, &definition))
            {
                self.remove_open(&replacement)?;
            }
            if let Some(index) = if is_same { Some(now.clone()) } else { self.replacement_of(now) } {
                return self.change_one(&database, &index, settings);
            }
        }
        let output = self.output_of(&database, &definition, now.as_deref())?;
        let definition = IndexDefinition::Map(Arc::new(definition));
        let stored = StoredIndex::new(definition, settings, now.is_some(), Date::now());
        self.add(&database, StoredIndex { output, history: history.into(), ..stored }).map(drop)
    }

    /// The index that is built to stand in for another.
    pub(super) fn replacement_of(&self, index: &Index) -> Option<Arc<Index>> {
        let name = |index: &Index| documents::id::lower(&index.definition().name());
        let wanted = name(index);
        self.open.load().iter().find(|other| other.is_replacement() && name(other) == wanted).cloned()
    }

    /// Puts a replacement, which has all that there is now, in place of the other.
    pub(super) fn replace(&self, replacement: &Arc<Index>) -> Result<()> {
        let _changing = self.changing.lock();
        // Somebody else may have been quicker: what stands in already must not be taken for what it stands in for.
        if replacement.is_removed() || !replacement.is_replacement() {
            return Ok(());
        }
        let name = replacement.definition().name();
        let replaced = self.by_name(&name);
        let stored = StoredIndex { is_replacement: false, ..replacement.stored() };
        let database = self.database()?;
        database.write_blocking(&Write::Definitions(vec![StoredIndex::delete(&name, true), stored.put()]))?;
        replacement.has_replaced();
        // Its name is another now, too.
        self.change_open(|open| open.retain(|other| replaced.as_ref().is_none_or(|old| !Arc::ptr_eq(other, old))));
        if let Some(replaced) = replaced {
            replaced.remove();
        }
        database.tell_of_index(IndexChange::Replaced, replacement.name());
        if replacement.owes_outputs() {
            self.give_turn(replacement);
        }
        Ok(())
    }

    /// Removes the index of this name. False: there is none.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn remove(&self, name: &str) -> Result<bool> {
        let _changing = self.changing.lock();
        let Some(index) = self.by_name(name) else { return self.remove_missing(name) };
        if is_locked(index.settings().lock_mode, index.name())? {
            return Ok(true);
        }
        if let Some(replacement) = self.replacement_of(&index) {
            self.remove_open(&replacement)?;
        }
        self.remove_open(&index)?;
        // Its replacement may be one that could not be opened.
        self.remove_missing(name)?;
        Ok(true)
    }

    /// Removes all whose definitions are not kept, locked or not, and those that could not be opened.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub(crate) fn retain(&self, is_kept: impl Fn(&IndexDefinition) -> bool) -> Result<()> {
        let _changing = self.changing.lock();
        for index in self.open.load_full().iter().filter(|index| !is_kept(index.definition())) {
            self.remove_open(index)?;
        }
        let database = self.database()?;
        for stored in StoredIndex::all(&database.read())?.iter().filter(|stored| !is_kept(&stored.definition)) {
            let deletion = StoredIndex::delete(&stored.definition.name(), stored.is_replacement);
            database.write_blocking(&Write::Definitions(vec![deletion]))?;
        }
        Ok(())
    }

    /// Removes one that could not be opened, and its replacement, open or not. The lock `changing` is held. False: there is none of this
    /// name.
    fn remove_missing(&self, name: &str) -> Result<bool> {
        if !self.lacks_some.load(SeqCst) {
            return Ok(false);
        }
        let database = self.database()?;
        let mut stored = StoredIndex::all(&database.read())?;
        stored.retain(|stored| documents::id::is_same(&stored.definition.name(), name));
        for stored in &stored {
            if is_locked(stored.settings.lock_mode, name)? {
                return Ok(true);
            }
        }
        for stored in &stored {
            if let Some(open) = self.open.load_full().iter().find(|index| stored.is_of(index)) {
                self.remove_open(open)?;
                continue;
            }
            let deletion = StoredIndex::delete(&stored.definition.name(), stored.is_replacement);
            database.write_blocking(&Write::Definitions(vec![deletion]))?;
            database.tell_of_index(IndexChange::Removed, name);
        }
        Ok(!stored.is_empty())
    }

    /// The lock `changing` is held.
    pub(super) fn remove_open(&self, index: &Arc<Index>) -> Result<()> {
        let database = self.database()?;
        let deletion = StoredIndex::delete(&index.definition().name(), index.is_replacement());
        database.write_blocking(&Write::Definitions(vec![deletion]))?;
        self.change_open(|open| open.retain(|other| !Arc::ptr_eq(other, index)));
        index.remove();
        database.tell_of_index(IndexChange::Removed, index.name());
        Ok(())
    }

    /// Builds an index anew, with the custom analyzers that there are now. If one that a field names is gone, the index fails. False: there
    /// is none of this name.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn reset(&self, name: &str) -> Result<bool> {
        self.build_anew(name, true)
    }

    /// * `takes_analyzers`: whether custom analyzers are those that there are now, or stay what they were.
    pub(super) fn build_anew(&self, name: &str, takes_analyzers: bool) -> Result<bool> {
        let _changing = self.changing.lock();
        let Some(index) = self.by_name(name) else { return Ok(false) };
        let database = self.database()?;
        let StoredIndex { definition, settings, is_replacement, created, output, history, .. } = index.stored();
        let definition = if takes_analyzers { with_analyzers_of(definition, &database) } else { definition };
        let stored = StoredIndex { output, history, ..StoredIndex::new(definition, settings, is_replacement, created) };
        database.write(&Write::Definitions(vec![stored.put()]))?;
        // If it fails the old one stays, with its folder.
        let anew = self.open_stored(stored, Etag::MAX).inspect_err(|_| undo(&database, index.stored().put()))?;
        anew.pause(index.is_paused());
        anew.note_lacking_analyzer()?;
        self.change_open(|open| {
            open.retain(|other| !Arc::ptr_eq(other, &index));
            open.push(anew.clone());
        });
        index.remove();
        tracing::info!(database = database.name(), index = anew.name(), "index reset; it is rebuilt");
        self.give_turn(&anew);
        Ok(true)
    }

    pub(super) fn database(&self) -> Result<Arc<Database>> {
        self.owner.get().ok_or(Error::Corrupt { rule: "indexes belong to an open database" })
    }

    /// Up to where no index needs tombstones any more, whatever happens; `None` without indexes.
    pub(crate) fn seen_etag(&self) -> Result<Option<Etag>> {
        if self.lacks_some.load(SeqCst) {
            return Ok(Some(0));
        }
        let mut seen = None;
        for index in self.open.load_full().iter() {
            match index.failure() {
                // It does nothing any more; when it is reset it begins anew. That it failed must not be lost, or it would go on from
                // before.
                Some(query::index::Error::TooManyFailures { .. } | query::index::Error::NoAnalyzer(_)) => {
                    index.flush()?;
                    continue;
                }
                // It goes on from where it is, if ever.
                None | Some(query::index::Error::Bug) => {}
                // It is built anew.
                Some(_) => return Ok(Some(0)),
            }
            if !index.was_complete() {
                return Ok(Some(0));
            }
            let progress = index.flush()?;
            let database = self.database()?;
            let documents = database.read();
            for (source, progress) in index.sources().iter().zip(progress) {
                let last = documents.last_etags(source.kind, source.collection.as_deref())?;
                // One that has all of its source has seen everything up to now.
                let has_all = progress.tombstones >= last.tombstones && progress.items >= last.items;
                let etag = if has_all { Etag::MAX } else { progress.tombstones };
                seen = Some(seen.map_or(etag, |seen: Etag| seen.min(etag)));
            }
        }
        Ok(seen)
    }

    /// Bytes of all files.
    pub fn size_on_disk(&self) -> u64 {
        self.open.load().iter().map(|index| index.size_on_disk()).sum()
    }
}

/// Whether a removal is passed over in silence.
fn is_locked(mode: LockMode, name: &str) -> Result<bool> {
    match mode {
        LockMode::Unlock => Ok(false),
        LockMode::LockedIgnore => Ok(true),
        LockMode::LockedError => Err(Error::IndexLocked { name: name.to_owned() }),
    }
}

/// The new index for a query: what it has, under a name that no other has in any case. Names of fields are told apart by it.
fn new_for(open: &[Arc<Index>], needed: &AutomaticIndex, automatic: AutomaticIndexes) -> AutomaticIndex {
    let widened = match automatic {
        AutomaticIndexes::Widened => widened(open, needed),
        _ => needed.clone(),
    };
    let names: HashSet<Vec<u8>> = open.iter().map(|index| documents::id::lower(&index.definition().name())).collect();
    let is_free = |definition: &AutomaticIndex| !names.contains(&documents::id::lower(&definition.name()));
    let mut numbered = (1..).map(|number| widened.clone().numbered(number));
    numbered.find(is_free).unwrap_or(widened)
}

/// The definition of a new index for a query: its fields and those of the widest index of its source, unless they are more than
/// [`AUTOMATIC_FIELDS_MAX`] together. An index in which a document failed is passed over: the document would fail in the new one too.
fn widened(open: &[Arc<Index>], needed: &AutomaticIndex) -> AutomaticIndex {
    let sound = open.iter().filter(|index| index.is_sound());
    let automatic = sound.filter_map(|index| index.definition().as_automatic());
    let same_source = automatic.filter(|definition| definition.has_source_of(needed));
    let widened = same_source.map(|definition| needed.widened_by(definition));
    let widened = widened.filter(|widened| widened.fields().len() <= AUTOMATIC_FIELDS_MAX);
    let widened = widened.max_by_key(|widened| widened.fields().len());
    // One of these fields that failed is there, and keeps its name.
    let is_free = |definition: &AutomaticIndex| {
        let name = definition.name();
        open.iter().all(|index| index.definition().name() != name)
    };
    widened.filter(is_free).unwrap_or_else(|| needed.clone())
}

/// Whether a wider index of a query is there, which takes the place of this one once it has all that there is.
fn is_being_replaced(index: &Index, open: &[Arc<Index>]) -> bool {
    let Some(narrow) = index.definition().as_automatic() else { return false };
    let covers = |wide: &AutomaticIndex| wide.covers(narrow) && !narrow.covers(wide);
    open.iter().any(|other| other.definition().as_automatic().is_some_and(covers) && other.is_sound())
}

/// Whether an index is what a definition asks for.
fn is_same(index: &Index, definition: &MapIndex) -> bool {
    index.definition().as_map().is_some_and(|map| map.is_same(definition.given()))
}

/// A definition with the custom analyzers that its database has now. One that cannot be compiled any more stays as it is.
fn with_analyzers_of(definition: IndexDefinition, database: &Database) -> IndexDefinition {
    let Some(map) = definition.as_map() else { return definition };
    if map.analyzers().is_empty() && map.lacks_analyzer().is_none() {
        return definition;
    }
    match MapIndex::without_some_analyzers(map.given(), &database.analyzers()) {
        Ok(map) => IndexDefinition::Map(Arc::new(map)),
        Err(error) => {
            tracing::error!(database = database.name(), index = map.name(), %error, "an index keeps its analyzers");
            definition
        }
    }
}

/// Stores the definition of before, after an index could not be opened; the error to report is the one of opening.
fn undo(database: &Database, change: DefinitionChange) {
    if let Err(error) = database.write_blocking(&Write::Definitions(vec![change])) {
        tracing::error!(database = database.name(), %error, "the former definition of an index could not be stored");
    }
}

/// Removes the folders that no definition names: those of indexes whose removal or creation was cut off.
fn sweep(folder: &Path, stored: &[StoredIndex]) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_known = stored.iter().any(|stored| stored.folder() == name);
        let is_ours = name
            .split('~')
            .next()
            .is_some_and(|name| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if is_ours
            && !is_known
            && let Err(error) = folders::remove(&path)
        {
            tracing::warn!(folder = name, %error, "the rest of a deleted index could not be removed");
        }
    }
}
