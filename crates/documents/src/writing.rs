//! Writing documents inside one write transaction.
//!
//! "Decide" (`put.rs`, `delete.rs`: does the condition hold, which id, etag, change vector and date) is apart from "apply"
//! (put these bytes), since a replicated group will propose decided commands. Each command of a batch is decided and
//! applied before the next, which so sees it.
//!
//! The last etag and the rows of collections are read at the start or on first use, kept here, and written once at the end.

use storage::{FixedTree, WriteTransaction};

use crate::collections::Collection;
use crate::command::{Action, Command, Expected};
use crate::schema::LAST_ETAG;
use crate::{Batch, CommandResult, Date, DocumentStore, Error, Etag, Operation, Outcome, Result, id};

/// The state of one job in a write transaction.
pub struct Writing<'a, 'e> {
    pub(crate) store: &'a DocumentStore,
    pub(crate) tx: &'a mut WriteTransaction<'e>,
    pub(crate) now: Date,
    last_etag: Etag,
    first_etag: Etag,
    collections: Vec<CachedCollection>,
    /// The key of the document in work; kept for its memory.
    pub(crate) key: Vec<u8>,
}

struct CachedCollection {
    collection: Collection,
    documents: FixedTree,
    is_changed: bool,
}

impl<'a, 'e> Writing<'a, 'e> {
    pub(crate) fn begin(
        store: &'a DocumentStore,
        tx: &'a mut WriteTransaction<'e>,
        now: Date,
    ) -> Result<Writing<'a, 'e>> {
        let last_etag = store.schema.last_etag(&*tx)?;
        Ok(Writing { store, tx, now, last_etag, first_etag: last_etag, collections: Vec::new(), key: Vec::new() })
    }

    /// Writes what was kept in memory. Without this nothing else may be committed.
    pub(crate) fn finish(self) -> Result<()> {
        let schema = &self.store.schema;
        if self.last_etag != self.first_etag {
            schema.state.put(self.tx, LAST_ETAG, &self.last_etag.to_be_bytes())?;
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

    pub(crate) fn next_etag(&mut self) -> Etag {
        self.last_etag += 1;
        self.last_etag
    }

    /// The place of a collection among those in use here; created if it is new.
    pub(crate) fn collection_by_name(&mut self, name: &str) -> Result<usize> {
        if let Some(place) = self.collections.iter().rposition(|cached| cached.collection.name == name) {
            return Ok(place);
        }
        let schema = self.store.schema;
        if let Some(collection) = Collection::by_name(&schema, &*self.tx, name)? {
            // Known by another spelling, perhaps.
            let place = self.collections.iter().position(|cached| cached.collection.number == collection.number);
            return place.map_or_else(|| self.keep(collection, false), Ok);
        }
        let number = {
            let mut cursor = schema.collections.cursor(&*self.tx);
            let last = cursor.last()?.and_then(|(key, _)| <[u8; 4]>::try_from(key).ok());
            last.map_or(0, u32::from_be_bytes) + 1
        };
        let collection = Collection {
            number,
            name: name.to_owned(),
            document_count: 0,
            document_size: 0,
            tombstone_count: 0,
            tombstone_size: 0,
        };
        collection.create_trees(self.tx)?;
        schema.collection_names.put(self.tx, &id::lower(name), &number.to_be_bytes())?;
        // Name and row are written at once: other spellings are looked up there, and its number is the way to the next.
        schema.collections.put(self.tx, &number.to_be_bytes(), &collection.encode())?;
        self.keep(collection, true)
    }

    pub(crate) fn collection_by_number(&mut self, number: u32) -> Result<usize> {
        if let Some(place) = self.collections.iter().rposition(|cached| cached.collection.number == number) {
            return Ok(place);
        }
        let collection = Collection::by_number(&self.store.schema, &*self.tx, number)?;
        self.keep(collection, false)
    }

    fn keep(&mut self, collection: Collection, is_changed: bool) -> Result<usize> {
        let documents = collection.documents(&*self.tx)?;
        self.collections.push(CachedCollection { collection, documents, is_changed });
        Ok(self.collections.len() - 1)
    }

    pub(crate) fn collection(&self, place: usize) -> &Collection {
        &self.collections[place].collection
    }

    /// The tree of documents of a collection in use here.
    pub(crate) fn documents_of(&self, place: usize) -> FixedTree {
        self.collections[place].documents
    }

    pub(crate) fn change_collection(&mut self, place: usize, change: impl FnOnce(&mut Collection)) {
        let cached = &mut self.collections[place];
        cached.is_changed = true;
        change(&mut cached.collection);
    }

    /// Runs all commands of a batch.
    ///
    /// # Errors
    ///
    /// The first command whose condition does not hold, or that storage fails. The transaction must then be taken back.
    pub fn run(&mut self, batch: &Batch) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        for command in &batch.commands {
            let result = self.run_command(batch, command, &mut outcome)?;
            outcome.results.push(result);
        }
        outcome.last_etag = self.last_etag;
        Ok(outcome)
    }

    /// The same without a result for each command: how many documents were written.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_silently(&mut self, batch: &Batch) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        for command in &batch.commands {
            match &command.action {
                Action::Put { content, collection } => {
                    let put = self.decide_put(batch, command, content, *collection)?;
                    if put.is_changed {
                        outcome.changed_count += 1;
                        outcome.stored_count += 1;
                        self.apply_put(&put)?;
                    }
                }
                _ => drop(self.run_command(batch, command, &mut outcome)?),
            }
        }
        outcome.last_etag = self.last_etag;
        Ok(outcome)
    }

    fn run_command(&mut self, batch: &Batch, command: &Command, outcome: &mut Outcome) -> Result<CommandResult> {
        match &command.action {
            Action::Put { content, collection } => {
                let put = self.decide_put(batch, command, content, *collection)?;
                if put.is_changed {
                    outcome.changed_count += 1;
                    outcome.stored_count += 1;
                    self.apply_put(&put)?;
                }
                Ok(CommandResult::Put {
                    id: put.id.into_owned(),
                    collection: collection.and_then(|place| batch.collections.get(place).cloned()),
                    change_vector: put.vector.unwrap_or_else(|| self.store.names.vector(put.etag)),
                    last_modified: put.last_modified,
                })
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
            Action::TrackChanges(entities) => {
                entities.iter().try_for_each(|(id, vector)| self.check_unchanged(id, vector))?;
                Ok(CommandResult::TrackChanges)
            }
        }
    }

    fn check_unchanged(&mut self, id: &str, vector: &str) -> Result<()> {
        let actual = self.find(id)?.map(|existing| self.vector_of(&existing));
        let expected = Expected::from_wire(Some(vector));
        check_expected(Operation::TrackChanges, id, &expected, actual.as_deref())
    }
}

/// Compares a condition with the change vector that a document has, None if there is none.
#[inline]
pub(crate) fn check_expected(operation: Operation, id: &str, expected: &Expected, actual: Option<&str>) -> Result<()> {
    let holds = match (expected, actual) {
        (Expected::Any, _) | (Expected::Missing, None) => true,
        (Expected::Missing, Some(_)) | (Expected::Vector(_), None) => false,
        (Expected::Vector(vector), Some(actual)) => crate::change_vector::is_same(vector, actual),
    };
    if holds {
        return Ok(());
    }
    Err(Error::Conflict {
        id: id.to_owned(),
        operation,
        expected: expected.as_wire().to_owned(),
        actual: actual.map(str::to_owned),
    })
}
