//! Writing documents inside one write transaction.
//!
//! "Decide" (`put.rs`, `delete.rs`: does the condition hold, which id, etag, change vector and date) is apart from "apply"
//! (put these bytes), since a replicated group will propose decided commands. What deciding found is handed on, so that one
//! node looks nothing up twice. Each command of a batch is decided and applied before the next, which so sees it.
//!
//! The last etag and the rows of collections are read at the start or on first use, kept here, and written once at the end.

use std::collections::HashMap;
use std::sync::Arc;

use storage::{FixedTree, WriteTransaction};

use crate::commands::command::{Action, Command, Expected};
use crate::commands::patch::Patched;
use crate::commands::put::PutDecision;
use crate::compare_exchange::GuardIndexes;
use crate::constraints::Unique;
use crate::ids::id;
use crate::items::collections::{Collection, ItemCounts};
use crate::items::found::CurrentItem;
use crate::items::kinds::{ItemKind, PerKind};
use crate::limits::COLLECTION_COUNT_MAX;
use crate::{
    Batch, CommandResult, Date, DocumentStore, Error, Etag, Operation, Outcome, Result, RevisionsConfiguration, Stamp,
    WrittenPatch,
};

/// The state of one job in a write transaction.
pub struct Writing<'a, 'e> {
    pub(crate) store: &'a DocumentStore,
    pub(crate) tx: &'a mut WriteTransaction<'e>,
    pub(crate) now: Date,
    /// See [`crate::StoreSettings`].
    pub(crate) id_separator: char,
    /// See [`crate::StoreSettings`].
    pub(crate) revisions: Arc<RevisionsConfiguration>,
    /// Of the batch that runs.
    pub(crate) skips_revisions: bool,
    /// Of the cluster-wide transaction that is applied; empty in any other write.
    pub(crate) guard_indexes: GuardIndexes,
    /// The constraints of documents.
    pub(crate) unique: Unique,
    last_etag: Etag,
    first_etag: Etag,
    collections: Vec<CachedCollection>,
    places_by_name: HashMap<String, usize>,
    places_by_number: HashMap<u32, usize>,
    /// That of the last name that was looked for.
    last_place: usize,
    /// Memory for the next key.
    pub(crate) spare_key: Vec<u8>,
}

struct CachedCollection {
    collection: Collection,
    items: PerKind<Option<FixedTree>>,
    tombstones: PerKind<Option<FixedTree>>,
    is_changed: bool,
}

impl<'a, 'e> Writing<'a, 'e> {
    pub(crate) fn begin(
        store: &'a DocumentStore,
        tx: &'a mut WriteTransaction<'e>,
        stamp: Stamp,
    ) -> Result<Writing<'a, 'e>> {
        let last_etag = store.schema.last_etag(&*tx)?;
        Ok(Writing {
            store,
            tx,
            now: stamp.time,
            id_separator: stamp.id_separator,
            revisions: stamp.revisions,
            skips_revisions: false,
            guard_indexes: GuardIndexes::new(),
            unique: Unique::default(),
            last_etag,
            first_etag: last_etag,
            collections: Vec::new(),
            places_by_name: HashMap::new(),
            places_by_number: HashMap::new(),
            last_place: 0,
            spare_key: Vec::new(),
        })
    }

    /// Writes what was kept in memory, and checks what can be checked at the end alone. Without this nothing else may be committed.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.check_unique()?;
        let schema = &self.store.schema;
        if self.last_etag != self.first_etag {
            schema.set_last_etag(self.tx, self.last_etag)?;
        }
        for cached in self.collections.iter().filter(|cached| cached.is_changed) {
            let collection = &cached.collection;
            schema.collections.put(self.tx, &collection.number.to_be_bytes(), &collection.encode())?;
        }
        Ok(())
    }

    /// The last etag given out, by this job or before it.
    pub fn last_etag(&self) -> Etag {
        self.last_etag
    }

    /// The moment that this job's documents bear.
    pub fn now(&self) -> Date {
        self.now
    }

    /// The last etag before this job. Higher etags are not durable yet and may be rolled back.
    pub(crate) fn first_etag(&self) -> Etag {
        self.first_etag
    }

    pub(crate) fn next_etag(&mut self) -> Result<Etag> {
        let next = self.last_etag.checked_add(1);
        self.last_etag = next.ok_or(Error::Corrupt { rule: "the last etag is one that was given out" })?;
        Ok(self.last_etag)
    }

    /// A decided write with this etag was applied.
    pub(crate) fn applied(&mut self, etag: Etag, found: CurrentItem) {
        self.last_etag = self.last_etag.max(etag);
        self.spare_key = found.key;
    }

    /// The place of a collection among those in use here, if there is such a collection.
    pub(crate) fn find_collection(&mut self, name: &str) -> Result<Option<usize>> {
        // Mostly that of the command before.
        if self.collections.get(self.last_place).is_some_and(|last| last.collection.name == name) {
            return Ok(Some(self.last_place));
        }
        if let Some(place) = self.places_by_name.get(name) {
            self.last_place = *place;
            return Ok(Some(*place));
        }
        let Some(collection) = Collection::by_name(&self.store.schema, &*self.tx, name)? else { return Ok(None) };
        let place = match self.places_by_number.get(&collection.number) {
            // Known by another spelling.
            Some(place) => *place,
            None => self.keep(collection, false),
        };
        self.places_by_name.insert(name.to_owned(), place);
        Ok(Some(place))
    }

    /// The same; a new collection is created.
    pub(crate) fn collection_or_new(&mut self, name: &str) -> Result<usize> {
        if let Some(place) = self.find_collection(name)? {
            return Ok(place);
        }
        let schema = self.store.schema;
        let number = {
            let mut cursor = schema.collections.cursor(&*self.tx);
            let last = cursor.last()?.and_then(|(key, _)| <[u8; 4]>::try_from(key).ok());
            last.map_or(0, u32::from_be_bytes).saturating_add(1)
        };
        if number > COLLECTION_COUNT_MAX {
            return Err(Error::TooManyCollections { name: name.to_owned(), max: COLLECTION_COUNT_MAX });
        }
        let collection = Collection::new(number, name);
        schema.collection_names.put(self.tx, &id::lower(name), &number.to_be_bytes())?;
        // Name and row are written at once: other spellings are looked up there, and its number is the way to the next.
        schema.collections.put(self.tx, &number.to_be_bytes(), &collection.encode())?;
        let place = self.keep(collection, true);
        self.places_by_name.insert(name.to_owned(), place);
        Ok(place)
    }

    pub(crate) fn collection_by_number(&mut self, number: u32) -> Result<usize> {
        if let Some(place) = self.places_by_number.get(&number) {
            return Ok(*place);
        }
        let collection = Collection::by_number(&self.store.schema, &*self.tx, number)?;
        Ok(self.keep(collection, false))
    }

    fn keep(&mut self, collection: Collection, is_changed: bool) -> usize {
        let place = self.collections.len();
        self.places_by_number.insert(collection.number, place);
        self.collections.push(CachedCollection {
            collection,
            items: PerKind::default(),
            tombstones: PerKind::default(),
            is_changed,
        });
        place
    }

    pub(crate) fn collection(&self, place: usize) -> &Collection {
        &self.collections[place].collection
    }

    /// The tree of items of a kind in a collection in use here, made with the first.
    #[inline]
    pub(crate) fn items_of(&mut self, place: usize, kind: ItemKind) -> Result<FixedTree> {
        let cached = &mut self.collections[place];
        match cached.items[kind] {
            Some(tree) => Ok(tree),
            None => Ok(*cached.items[kind].insert(cached.collection.items_or_new(self.tx, kind)?)),
        }
    }

    /// The tree of tombstones of a kind in a collection in use here, made with the first.
    #[inline]
    pub(crate) fn tombstones_of(&mut self, place: usize, kind: ItemKind) -> Result<FixedTree> {
        let cached = &mut self.collections[place];
        match cached.tombstones[kind] {
            Some(tree) => Ok(tree),
            None => Ok(*cached.tombstones[kind].insert(cached.collection.tombstones_or_new(self.tx, kind)?)),
        }
    }

    /// The counts of a kind in a collection in use here, to be changed.
    #[inline]
    pub(crate) fn change_counts(&mut self, place: usize, kind: ItemKind) -> &mut ItemCounts {
        let cached = &mut self.collections[place];
        cached.is_changed = true;
        &mut cached.collection.counts[kind]
    }

    /// Runs all commands of a batch.
    ///
    /// # Errors
    ///
    /// The first command whose condition does not hold, or that storage fails. The transaction must then be rolled back.
    pub fn run(&mut self, batch: &Batch) -> Result<Outcome> {
        self.check_reads(batch)?;
        self.skips_revisions = batch.skips_revisions;
        let mut outcome = Outcome::default();
        for command in &batch.commands {
            let result = self.run_command(batch, command, &mut outcome)?;
            outcome.results.push(result);
        }
        outcome.last_etag = self.last_etag;
        Ok(outcome)
    }

    /// The same without a result for each command: how many documents were written, and the id of the last.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_silently(&mut self, batch: &Batch) -> Result<Outcome> {
        self.check_reads(batch)?;
        self.skips_revisions = batch.skips_revisions;
        let mut outcome = Outcome::default();
        let last_put = batch.commands.iter().rposition(|command| matches!(command.action, Action::Put { .. }));
        for (place, command) in batch.commands.iter().enumerate() {
            match &command.action {
                Action::Put { content, collection, .. } => {
                    let (decision, found) = self.decide_put(batch, command, content, *collection)?;
                    let id = match decision {
                        PutDecision::Write(put) => {
                            outcome.changed_count += 1;
                            outcome.stored_count += 1;
                            self.apply_put(&put, found)?;
                            put.id
                        }
                        PutDecision::Unchanged(id, _) => {
                            self.spare_key = found.key;
                            id
                        }
                    };
                    if last_put == Some(place) {
                        outcome.last_id = Some(id.into_owned());
                    }
                }
                _ => drop(self.run_command(batch, command, &mut outcome)?),
            }
        }
        outcome.last_etag = self.last_etag;
        Ok(outcome)
    }

    pub(crate) fn run_command(
        &mut self,
        batch: &Batch,
        command: &Command,
        outcome: &mut Outcome,
    ) -> Result<CommandResult> {
        match &command.action {
            Action::Put { content, collection, .. } => {
                let (decision, found) = self.decide_put(batch, command, content, *collection)?;
                let collection = collection.and_then(|place| batch.collections.name(place)).map(str::to_owned);
                let (id, change_vector, last_modified, flags) = match decision {
                    PutDecision::Write(put) => {
                        outcome.changed_count += 1;
                        outcome.stored_count += 1;
                        self.apply_put(&put, found)?;
                        let vector = put.vector.unwrap_or_else(|| self.store.names.vector(put.etag));
                        (put.id, vector, put.last_modified, put.flags)
                    }
                    PutDecision::Unchanged(id, document) => {
                        self.spare_key = found.key;
                        (id, self.vector_of(&document), document.head.last_modified, document.head.flags)
                    }
                };
                Ok(CommandResult::Put { id: id.into_owned(), collection, change_vector, last_modified, flags })
            }
            Action::Delete => {
                let deleted = self.delete(&command.id, &command.expected)?;
                outcome.changed_count += u64::from(deleted);
                Ok(CommandResult::Delete { id: command.id.clone(), deleted })
            }
            Action::DeletePrefixed => {
                let count = self.delete_prefixed(&command.id)?;
                outcome.changed_count += count;
                Ok(CommandResult::DeletePrefixed { prefix: command.id.clone(), count })
            }
            Action::Patch(_) => {
                Err(Error::BadBatch { rule: "a batch with patches must be resolved before it is run".to_owned() })
            }
            Action::Patched(patched) => self.run_patched(batch, patched, outcome),
            Action::Attachment(attachment) => {
                let result = self.run_attachment(attachment, &command.expected)?;
                outcome.attachment_count += u64::from(!matches!(result, CommandResult::AttachmentDelete { .. }));
                Ok(result)
            }
            Action::Counters(counters) => {
                let (result, done_count) = self.run_counters(counters)?;
                outcome.counter_count += done_count;
                Ok(result)
            }
            Action::ForceRevision => self.force_revision(&command.id),
            // It was checked before the first command.
            Action::CheckCounters(_) => Ok(CommandResult::TrackChanges),
            Action::TrackChanges(entities) => {
                entities.iter().try_for_each(|(id, vector)| self.check_unchanged(id, vector))?;
                Ok(CommandResult::TrackChanges)
            }
        }
    }

    /// Runs what a patch came to.
    fn run_patched(&mut self, batch: &Batch, patched: &Patched, outcome: &mut Outcome) -> Result<CommandResult> {
        let mut last = None;
        for command in &patched.commands {
            let result = self.run_command(batch, command, outcome)?;
            last = Some(result).filter(|_| !matches!(command.action, Action::CheckCounters(_)));
        }
        let Some(report) = &patched.report else { return Ok(CommandResult::PatchMany) };
        let written = match last {
            Some(CommandResult::Put { change_vector, last_modified, collection, .. }) if report.is_written => {
                Some(WrittenPatch { change_vector, last_modified, collection })
            }
            _ => None,
        };
        Ok(CommandResult::Patch { report: Box::new(report.clone()), written })
    }

    /// Whether all that patches read is still so.
    fn check_reads(&mut self, batch: &Batch) -> Result<()> {
        for (id, vector) in &batch.reads {
            let found = self.find(id)?;
            let is_same = match (&found.document, vector) {
                (None, None) => true,
                (Some(document), Some(vector)) => self.vector_of(document) == *vector,
                _ => false,
            };
            if !is_same {
                return Err(Error::ReadChanged { id: id.clone() });
            }
            self.spare_key = found.key;
        }
        for command in &batch.commands {
            let Action::Patched(patched) = &command.action else { continue };
            for command in &patched.commands {
                if let Action::CheckCounters(reads) = &command.action {
                    self.check_counters(reads)?;
                }
            }
        }
        for (key, index) in &batch.value_reads {
            if self.index_of_value(key)? != *index {
                return Err(Error::ReadChanged { id: key.clone() });
            }
        }
        Ok(())
    }

    fn check_unchanged(&mut self, id: &str, vector: &str) -> Result<()> {
        let found = self.find(id)?;
        let expected = Expected::from_wire(Some(vector));
        self.check_expected(Operation::TrackChanges, id, &expected, found.document.as_ref())?;
        self.spare_key = found.key;
        Ok(())
    }
}
