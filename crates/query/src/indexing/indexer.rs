//! Batches: from the documents and tombstones of some sources to entries.

use super::automatic::{self, AutomaticEntries};
use super::automatic_groups::AutomaticGroups;
use super::control::BatchControl;
use super::field_failures::{FieldFailure, FieldFailures};
use super::grouped::{GroupedEntries, ResultField};
use super::limits::{ASKING_AT_ONCE, BATCH_BYTES, BATCH_DOCUMENTS, CHANGES_LOOKED_AT_SHARE, RESULTS_BYTES_MAX};
use super::loaded_ids::{LoadedIds, reference};
use super::map_runner::Loading;
use super::mapped::MappedEntries;
use super::mapped_groups::MappedGroups;
use super::progress::{FAILED, each_after, items_after, progress_of, tombstones_after};
use super::reference_rounds::{Change, Round, Rounds};
use super::step::{BatchResult, Failure, Moment};
use crate::definition::{ArchivedDocuments, Field, IndexDefinition, IndexSource};
use crate::index::{Batch, Entry, Error, Index, IndexSnapshot, Progress, Result};
use crate::mapping::MapError;
use documents::{Document, Snapshot, id};
use std::time::Instant;

/// Brings an index up to date. One thread at a time; it keeps memory between batches.
pub struct Indexer {
    /// Mapped collections first, then the collections that maps load from.
    sources: Vec<IndexSource>,
    has_references: bool,
    archived: ArchivedDocuments,
    makes: Makes,
    /// Documents and tombstones of a batch.
    batch_count_max: u64,
}

/// How documents become entries.
enum Makes {
    /// Each has entries of its own.
    Entries(Box<dyn MakesEntries + Send>),
    /// What is mapped of them is grouped, and groups have entries.
    Groups(Box<GroupedEntries>),
}

/// Makes the entries of documents.
pub(super) trait MakesEntries {
    /// The entries of a document.
    ///
    /// * `failures`: gets the fields that are left out.
    ///
    /// # Errors
    ///
    /// [`Unmapped`]
    fn entries_of(
        &mut self,
        index: &Index,
        document: &Document<'_>,
        loading: Loading<'_>,
        failures: &mut FieldFailures,
    ) -> Result<&mut [Entry], Unmapped>;

    /// Drops most of the memory of the last document: nothing may come for long.
    fn rest(&mut self) {}
}

/// Why a document has no entries.
pub(super) enum Unmapped {
    /// It cannot be indexed: an error of the index, and not of others.
    Failed(String),
    /// Nothing can be indexed now.
    Error(Error),
}

impl From<MapError> for Unmapped {
    fn from(error: MapError) -> Unmapped {
        match error {
            MapError::Interrupted => Unmapped::Error(Error::Interrupted),
            MapError::OverMemory { limit, max_mb } => {
                Unmapped::Error(Error::Storage(storage::Error::OverMemory { limit, max_mb, passes: true }))
            }
            error => Unmapped::Failed(error.to_string()),
        }
    }
}

impl From<Error> for Unmapped {
    fn from(error: Error) -> Unmapped {
        match error {
            Error::TooLarge { .. }
            | Error::LargeBatch { .. }
            | Error::TooManyFields { .. }
            | Error::Shape(_)
            | Error::Vector(_)
            | Error::TooManyVectors => Unmapped::Failed(error.to_string()),
            error => Unmapped::Error(error),
        }
    }
}

impl Indexer {
    /// Prepares the fields of a definition in an index.
    ///
    /// # Errors
    ///
    /// Those of [`Index::field`].
    pub fn new(definition: &IndexDefinition, index: &Index) -> Result<Indexer> {
        let makes = match definition {
            IndexDefinition::Automatic(definition) if !definition.group_by().is_empty() => {
                let kept = definition.fields().iter().zip(automatic::kept_fields(definition, index)?);
                let field = |(field, kept): (&Field, _)| ResultField { name: field.name.path.clone(), kept };
                let groups = Box::new(AutomaticGroups::new(definition));
                Makes::Groups(Box::new(GroupedEntries::new(groups, kept.map(field).collect(), None, None)))
            }
            IndexDefinition::Automatic(definition) => {
                Makes::Entries(Box::new(AutomaticEntries::new(definition, index)?))
            }
            IndexDefinition::Map(definition) => match definition.reduce() {
                None => Makes::Entries(Box::new(MappedEntries::new(definition, index)?)),
                Some(reduce) => {
                    let names = reduce.output_fields().iter();
                    let fields = names.map(|name| ResultField::new(name, definition, index)).collect::<Result<_>>()?;
                    let others = reduce.makes_fields().then(|| definition.clone());
                    let groups = MappedGroups::new(definition, reduce.clone());
                    Makes::Groups(Box::new(GroupedEntries::new(
                        Box::new(groups),
                        fields,
                        others,
                        definition.output().cloned(),
                    )))
                }
            },
        };
        let (sources, has_references) = (definition.sources(), definition.has_references());
        let archived = definition.archived();
        Ok(Indexer { sources, has_references, archived, makes, batch_count_max: BATCH_DOCUMENTS as u64 })
    }

    /// Makes batches smaller.
    ///
    /// * `count_max`: documents and tombstones of each.
    pub fn set_batches_of(&mut self, count_max: u64) {
        self.batch_count_max = count_max.min(BATCH_DOCUMENTS as u64);
    }

    /// Brings the next documents and tombstones of a snapshot into the index: one batch, one transaction, without notes in its history.
    ///
    /// * `batch`: memory, emptied here.
    ///
    /// # Errors
    ///
    /// Documents cannot be read, or the index not be written. The index is as before.
    pub fn step(&mut self, index: &Index, documents: &Snapshot<'_>, batch: &mut Batch) -> Result<BatchResult> {
        let before = progress_of(&index.read()?, &self.sources)?;
        let filled = self.fill(index, documents, before, batch, &|| true)?;
        filled.write(index, batch)?;
        Ok(filled.step)
    }

    /// The same for several batches, one transaction each, with what the index notes of it: while one is written, another thread fills the
    /// next.
    ///
    /// * `batches`: memory.
    /// * `moment`: asked before each batch is written.
    /// * `done`: told of each batch that was written; an error of it ends this.
    ///
    /// # Errors
    ///
    /// As [`Self::step`], of the first batch that was not written, and those of `done`.
    pub fn run<E: From<Error>>(
        &mut self,
        index: &Index,
        documents: &Snapshot<'_>,
        batches: &mut [Batch; 2],
        moment: &dyn Fn() -> Moment,
        control: &dyn BatchControl,
        mut done: impl FnMut(BatchResult) -> Result<(), E>,
    ) -> Result<(), E> {
        let [batch, next] = batches;
        let before = progress_of(&index.read()?, &self.sources)?;
        let mut filled = self.fill(index, documents, before, batch, control)?;
        while !filled.step.is_done && self.fills_ahead() && control.goes_on() {
            batch.set_notes(filled.step.notes(moment()));
            let ahead = std::thread::scope(|scope| {
                let writer = std::thread::Builder::new().name("index writer".to_owned());
                let Ok(writing) = writer.spawn_scoped(scope, || filled.write(index, batch)) else {
                    // No thread is to be had: one after the other.
                    filled.write(index, batch)?;
                    return Ok(self.fill(index, documents, filled.step.progress.clone(), next, control));
                };
                let ahead = self.fill(index, documents, filled.step.progress.clone(), next, control);
                writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map(|()| ahead)
            })?;
            done(filled.step)?;
            filled = ahead?;
            std::mem::swap(batch, next);
        }
        batch.set_notes(filled.step.notes(moment()));
        filled.write(index, batch)?;
        if filled.step.is_done {
            match &mut self.makes {
                Makes::Groups(groups) => groups.rest(),
                Makes::Entries(entries) => entries.rest(),
            }
        }
        done(filled.step)
    }

    /// Whether what comes next depends on nothing that the index has, but how far it is.
    fn fills_ahead(&self) -> bool {
        !self.has_references && matches!(self.makes, Makes::Entries(_))
    }

    /// Fills a batch with the next documents and tombstones of a snapshot. Where what they change is too much for one, this one and all
    /// that come have fewer.
    ///
    /// * `before`: how far the index is, once what was filled before is written.
    fn fill(
        &mut self,
        index: &Index,
        documents: &Snapshot<'_>,
        before: Vec<Progress>,
        batch: &mut Batch,
        control: &dyn BatchControl,
    ) -> Result<Filled> {
        loop {
            match self.try_to_fill(index, documents, before.clone(), batch, control) {
                Err(Error::LargeBatch { .. }) if self.batch_count_max > 1 => self.batch_count_max /= 2,
                filled => return filled,
            }
        }
    }

    fn try_to_fill(
        &mut self,
        index: &Index,
        documents: &Snapshot<'_>,
        before: Vec<Progress>,
        batch: &mut Batch,
        control: &dyn BatchControl,
    ) -> Result<Filled> {
        batch.clear();
        if let Makes::Groups(groups) = &mut self.makes {
            groups.clear();
        }
        let snapshot = index.read()?;
        let mut progress = before.clone();
        let mut step = BatchResult { is_done: true, ..BatchResult::default() };
        let Indexer { sources, has_references, archived, makes, batch_count_max } = self;
        let (mut loaded, mut field_failures) = (LoadedIds::default(), FieldFailures::default());
        let mut filling = Filling {
            makes,
            index,
            before: &snapshot,
            removed_bytes: 0,
            documents,
            archived: *archived,
            has_references: *has_references,
            count_max: *batch_count_max,
            bytes_max: BATCH_BYTES,
            looked_at_max: *batch_count_max * CHANGES_LOOKED_AT_SHARE,
            loaded: &mut loaded,
            field_failures: &mut field_failures,
            batch: &mut *batch,
            step: &mut step,
            control,
            began: Instant::now(),
        };
        // Nothing was mapped, so nothing asked for anything.
        let is_new =
            |(source, before): (&IndexSource, &Progress)| source.is_referenced || *before == Progress::default();
        if *has_references && sources.iter().zip(&before).all(is_new) {
            for (source, progress) in sources.iter().zip(&mut progress).filter(|(source, _)| source.is_referenced) {
                let last = documents.last_etags(source.kind, source.collection.as_deref())?;
                *progress = Progress { items: last.items, tombstones: last.tombstones };
            }
        }
        let mut is_done = true;
        // Tombstones first: where a document is there again under its id, it comes after the last of them.
        for (source, progress) in sources.iter().zip(&mut progress).filter(|(source, _)| !source.is_referenced) {
            is_done &= filling.heed_tombstones(source, progress)?;
        }
        // Then what was mapped before and asked for what changed since: it may be mapped once more as its own source says. It has half of
        // the room, for it may change again as quickly as it is mapped.
        let has_heeded_tombstones = is_done;
        if has_heeded_tombstones {
            filling.bound_to_half();
            for (source, progress) in sources.iter().zip(&mut progress).filter(|(source, _)| source.is_referenced) {
                is_done &= filling.heed_references(source, &snapshot, sources, progress)?;
            }
            (filling.count_max, filling.bytes_max) = (*batch_count_max, BATCH_BYTES);
            for (source, progress) in sources.iter().zip(&mut progress).filter(|(source, _)| !source.is_referenced) {
                is_done &= filling.add_documents(source, progress)?;
            }
        }
        step.is_done = is_done;
        if let Makes::Groups(groups) = &mut self.makes {
            let results_bytes_max = if self.batch_count_max > 1 { RESULTS_BYTES_MAX } else { usize::MAX };
            groups.finish(index, &snapshot, results_bytes_max, batch, &mut step.failures)?;
            if !step.failures.is_empty() {
                batch.set_resume(FAILED, vec![1]);
            }
        }
        let has_changes = progress != before || !batch.resumes.is_empty();
        if has_changes {
            for (source, progress) in self.sources.iter().zip(&progress) {
                batch.set_progress(&source.progress_name(), *progress)?;
            }
        }
        step.entries = batch.entry_count();
        step.progress = progress;
        Ok(Filled { step, has_changes })
    }
}

/// What a batch that is not written yet comes to.
struct Filled {
    step: BatchResult,
    has_changes: bool,
}

impl Filled {
    fn write(&self, index: &Index, batch: &Batch) -> Result<()> {
        if self.has_changes { index.write(batch) } else { Ok(()) }
    }
}

/// A batch that is being filled.
struct Filling<'f> {
    makes: &'f mut Makes,
    index: &'f Index,
    before: &'f IndexSnapshot<'f>,
    /// Of the entries of deleted documents: all of them are copied and taken out of lists when the batch is written.
    removed_bytes: usize,
    documents: &'f Snapshot<'f>,
    archived: ArchivedDocuments,
    has_references: bool,
    /// The batch is full at this number of documents and tombstones,
    count_max: u64,
    /// or at this number of bytes.
    bytes_max: usize,
    /// The maximum number of changes of a referenced source to examine.
    looked_at_max: u64,
    loaded: &'f mut LoadedIds,
    /// Those of the document at hand.
    field_failures: &'f mut FieldFailures,
    batch: &'f mut Batch,
    step: &'f mut BatchResult,
    control: &'f dyn BatchControl,
    began: Instant,
}

impl Filling<'_> {
    /// Processes tombstones. Returns whether all were processed.
    fn heed_tombstones(&mut self, source: &IndexSource, progress: &mut Progress) -> Result<bool> {
        let mut tombstones = tombstones_after(self.documents, source, progress.tombstones)?;
        while !self.is_full() {
            let Some(tombstone) = tombstones.next() else { return Ok(true) };
            let tombstone = tombstone?;
            self.remove(tombstone.id())?;
            self.set_references(tombstone.id(), &[]);
            progress.tombstones = tombstone.etag();
            self.step.removed += 1;
        }
        Ok(false)
    }

    /// Maps again the documents that reference changed or deleted documents of a source. Returns whether all were.
    fn heed_references(
        &mut self,
        source: &IndexSource,
        index: &IndexSnapshot<'_>,
        sources: &[IndexSource],
        progress: &mut Progress,
    ) -> Result<bool> {
        let name = source.progress_name();
        let resume = index.resume(&name)?.unwrap_or_default();
        let mut rounds = Rounds::decode(resume, *progress);
        // Unfinished rounds get half of the batch, and the rest of the other half, so that none starves.
        let whole = (self.count_max, self.bytes_max);
        self.bound_to_half();
        self.go_on_with(&mut rounds, index, sources)?;
        (self.count_max, self.bytes_max) = whole;
        let has_seen_all = self.look_for_changes(source, index, sources, &mut rounds)?;
        self.go_on_with(&mut rounds, index, sources)?;
        *progress = rounds.progress();
        let resume_then = rounds.encode();
        if resume_then != resume {
            self.batch.set_resume(&name, resume_then);
        }
        Ok(has_seen_all && rounds.len() == 0)
    }

    /// Continues rounds, round-robin, until the batch is full.
    fn go_on_with(&mut self, rounds: &mut Rounds, index: &IndexSnapshot<'_>, sources: &[IndexSource]) -> Result<()> {
        while !self.is_full()
            && let Some(round) = rounds.take_first()
        {
            if let Some(round) = self.map_asking(index, round, sources)? {
                rounds.keep(round);
            }
        }
        Ok(())
    }

    /// Starts a round for each changed or deleted document. Returns whether there are no more.
    fn look_for_changes(
        &mut self,
        source: &IndexSource,
        index: &IndexSnapshot<'_>,
        sources: &[IndexSource],
        rounds: &mut Rounds,
    ) -> Result<bool> {
        let all = self.documents;
        let mut looked_at = 0;
        let mut is_over = |filling: &Self, rounds: &Rounds| {
            looked_at += 1;
            filling.is_full() || rounds.are_many() || looked_at > filling.looked_at_max
        };
        let mut tombstones = tombstones_after(all, source, rounds.ahead.tombstones)?;
        while !is_over(self, rounds) {
            let Some(tombstone) = tombstones.next() else { break };
            let tombstone = tombstone?;
            rounds.ahead.tombstones = tombstone.etag();
            self.begin_round(&reference(&tombstone), Change::Deleted(tombstone.etag()), index, sources, rounds)?;
        }
        let mut items = items_after(all, source, rounds.ahead.items)?;
        while !is_over(self, rounds) {
            let Some(item) = items.next() else { return Ok(true) };
            let item = item?;
            rounds.ahead.items = item.etag();
            self.begin_round(&reference(&item), Change::Written(item.etag()), index, sources, rounds)?;
        }
        Ok(false)
    }

    /// Starts the round of a document or value, unless it has one, and runs it until the batch is full.
    ///
    /// * `referenced`: see [`reference`].
    fn begin_round(
        &mut self,
        referenced: &[u8],
        change: Change,
        index: &IndexSnapshot<'_>,
        sources: &[IndexSource],
        rounds: &mut Rounds,
    ) -> Result<()> {
        if let Some(round) = rounds.begin(referenced, change)
            && let Some(round) = self.map_asking(index, round, sources)?
        {
            rounds.keep(round);
        }
        Ok(())
    }

    /// Maps the documents that reference one document. Returns the unfinished round if the batch is full first.
    fn map_asking(
        &mut self,
        index: &IndexSnapshot<'_>,
        mut round: Round,
        sources: &[IndexSource],
    ) -> Result<Option<Round>> {
        let documents = self.documents;
        loop {
            let asking = index.asking(&round.referenced, &round.position, ASKING_AT_ONCE)?;
            if asking.is_empty() && !round.turn() {
                return Ok(None);
            }
            for id in asking {
                if round.is_behind_end(&id) {
                    return Ok(None);
                }
                let (name, mut record) = (String::from_utf8_lossy(&id), Vec::new());
                if let Some(document) = documents.mapped(&name, &mut record)?
                    && self.is_mapped(&document, sources)?
                {
                    self.add(&document)?;
                }
                round.position = id;
                if self.is_full() {
                    return Ok(Some(round));
                }
            }
        }
    }

    /// Whether a document is of a source that is mapped.
    fn is_mapped(&self, document: &Document<'_>, sources: &[IndexSource]) -> Result<bool> {
        for source in sources.iter().filter(|source| !source.is_referenced) {
            match &source.collection {
                None => return Ok(true),
                Some(collection) if self.documents.is_in_collection(document, collection)? => return Ok(true),
                Some(_) => {}
            }
        }
        Ok(false)
    }

    /// Gives whether all were added.
    fn add_documents(&mut self, source: &IndexSource, progress: &mut Progress) -> Result<bool> {
        if self.is_full() {
            return Ok(false);
        }
        each_after(self.documents, source, progress.items, |document| -> Result<bool> {
            // One more, after which the batch was full.
            if self.is_full() {
                return Ok(false);
            }
            self.add(document)?;
            progress.items = document.etag();
            Ok(true)
        })
    }

    /// Adds a document, or what is wrong with it; takes out one that is archived, where the index does not take those.
    fn add(&mut self, document: &Document<'_>) -> Result<()> {
        if !self.archived.takes(document.flags()) {
            self.remove(document.id())?;
            self.set_references(document.id(), &[]);
            self.step.removed += 1;
            return Ok(());
        }
        self.loaded.clear();
        match self.put(document) {
            Ok(()) => {}
            Err(Unmapped::Error(error)) => return Err(error),
            // One that cannot be indexed does not keep the others out.
            Err(Unmapped::Failed(message)) => {
                self.remove(document.id())?;
                self.field_failures.drain().for_each(drop);
                self.step.failures.push(Failure { document: Some(document.id().to_owned()), field: None, message });
            }
        }
        self.step.failures.extend(self.field_failures.drain().map(|FieldFailure { field, message }| Failure {
            document: Some(document.id().to_owned()),
            field: Some(field),
            message,
        }));
        // What failed may work once it finds something else.
        let mut loaded = std::mem::take(self.loaded);
        self.set_references(document.id(), loaded.sorted());
        *self.loaded = loaded;
        self.step.indexed += 1;
        Ok(())
    }

    /// Notes what a document asked for.
    ///
    /// * `loaded`: rising.
    fn set_references(&mut self, document: &str, loaded: &[Vec<u8>]) {
        if self.has_references {
            self.batch.references.set(&id::lower(document), loaded);
        }
    }

    fn put(&mut self, document: &Document<'_>) -> Result<(), Unmapped> {
        let loading = Loading { documents: self.documents, loaded: &mut *self.loaded, control: self.control };
        match self.makes {
            Makes::Entries(entries) => {
                let entries = entries.entries_of(self.index, document, loading, self.field_failures)?;
                Ok(self.batch.put(document.id(), document.etag(), entries)?)
            }
            Makes::Groups(groups) => groups.put(document, loading, self.before),
        }
    }

    fn remove(&mut self, document: &str) -> Result<()> {
        match self.makes {
            Makes::Entries(_) => {
                self.removed_bytes += self.before.record_bytes_of(document)?;
                self.batch.remove(document)
            }
            Makes::Groups(groups) => groups.remove(document, self.before),
        }
    }

    /// Bytes of what the batch has, and takes away.
    fn size(&self) -> usize {
        let gathered = if let Makes::Groups(groups) = &*self.makes { groups.size() } else { 0 };
        self.batch.size() + self.batch.references.size() + gathered + self.removed_bytes
    }

    /// Documents and tombstones of the batch.
    fn count(&self) -> u64 {
        self.step.indexed + self.step.removed
    }

    fn is_full(&self) -> bool {
        let is_full = self.count() >= self.count_max || self.size() >= self.bytes_max;
        // A batch has at least one document, however long that takes.
        is_full || self.count() > 0 && self.control.ends_batch(self.began)
    }

    /// What is full from here on is half of the room that is left.
    fn bound_to_half(&mut self) {
        self.count_max -= self.count_max.saturating_sub(self.count()) / 2;
        self.bytes_max -= self.bytes_max.saturating_sub(self.size()) / 2;
    }
}
