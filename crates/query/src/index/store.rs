//! An index: one storage environment of its own, with one writer and any number of snapshots.

use super::batch::Batch;
use super::batch_writer;
use super::dictionary::term::FieldNumber;
use super::error::{Error, Result};
use super::graph::vectors::Vectors;
use super::groups::group::Groups;
use super::groups::outputs::{Outputs, Owed};
use super::history::{self, Notes};
use super::limits::NAME_SIZE_MAX;
use super::references::References;
use super::schema::Schema;
use super::snapshot::IndexSnapshot;
use super::sorting::columns::{ColumnChanges, Columns};
use parking_lot::{Mutex, MutexGuard};
use std::path::Path;
use std::sync::Arc;
use storage::memory::{Memory, MemoryReservation};
use storage::{Durability, Environment, Options, WriteTransaction};

/// An open index. Documents are the truth: it may be behind them, and can be deleted and built again.
pub struct Index {
    environment: Environment,
    schema: Schema,
    columns: Columns,
    /// Held by the one who writes, so that columns go from each transaction to the next.
    writing: Mutex<()>,
    /// How many fields there are, once they were counted. Held by the one who adds one.
    field_count: Mutex<Option<usize>>,
    memory: Arc<Memory>,
}

impl Index {
    /// Opens the index in a folder, or makes a new one there. Its commits are lazy, whatever `options` say: after a crash it
    /// is as some batch left it, and [`IndexSnapshot::progress`] tells which, so that indexing goes on from there.
    ///
    /// # Errors
    ///
    /// [`Error::NewerFormat`], [`Error::NotAnIndex`], [`Error::Corrupt`]: nothing was changed. Those of the storage.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Index> {
        Self::of(Environment::open(path, Options { durability: Durability::Lazy, ..options })?)
    }

    /// The same with batches that are durable when they are written: what becomes documents must not be lost after it did.
    ///
    /// # Errors
    ///
    /// As [`Self::open`].
    pub fn open_durable(path: impl AsRef<Path>, options: Options) -> Result<Index> {
        Self::of(Environment::open(path, Options { durability: Durability::Durable, ..options })?)
    }

    /// Makes room for the groups of a reduce, if there is none yet.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn with_groups(mut self) -> Result<Index> {
        if self.schema.groups.is_none() {
            self.schema.groups = Some(self.change(|tx, _| Groups::open_or_create(tx))?);
        }
        Ok(self)
    }

    /// Makes room for what groups are to be as documents, if there is none yet.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn with_outputs(mut self) -> Result<Index> {
        if self.schema.outputs.is_none() {
            self.schema.outputs = Some(self.change(|tx, _| Outputs::create(tx))?);
        }
        Ok(self)
    }

    /// Makes room for references, if there is none yet.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn with_references(mut self) -> Result<Index> {
        if self.schema.references.is_none() {
            self.schema.references = Some(self.change(|tx, _| References::open_or_create(tx))?);
        }
        Ok(self)
    }

    /// Makes room for vectors, if there is none yet.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn with_vectors(mut self) -> Result<Index> {
        if self.schema.vectors.is_none() {
            self.schema.vectors = Some(self.change(|tx, _| Vectors::open_or_create(tx))?);
        }
        Ok(self)
    }

    /// Makes an index in memory; it is gone when it is dropped.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn in_memory(options: Options) -> Result<Index> {
        Self::of(Environment::in_memory(Options { durability: Durability::Lazy, ..options })?)
    }

    fn of(environment: Environment) -> Result<Index> {
        let schema = Schema::open(&environment)?;
        let columns = Columns::new(environment.read().id());
        let (writing, field_count) = (Mutex::new(()), Mutex::new(None));
        Ok(Index { environment, schema, columns, writing, field_count, memory: Memory::unbounded() })
    }

    /// Bounds what indexing may hold in memory, together with all that `memory` bounds.
    pub fn with_memory(mut self, memory: Arc<Memory>) -> Index {
        self.memory = memory;
        self
    }

    /// An empty reservation in the memory that bounds indexing.
    pub(crate) fn reservation(&self) -> MemoryReservation {
        self.memory.reservation()
    }

    /// Held by the one who writes.
    pub(super) fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock()
    }

    /// Changes the index in one transaction, and brings its columns along.
    fn change<T: Send>(
        &self,
        change: impl FnOnce(&mut WriteTransaction<'_>, &mut ColumnChanges) -> Result<T> + Send,
    ) -> Result<T> {
        let _writing = self.writing.lock();
        let before = self.environment.read().id();
        let mut columns = self.columns.changes();
        let outcome = self.environment.write(|tx| change(tx, &mut columns));
        if outcome.is_ok() {
            self.columns.publish(before, self.environment.read().id(), columns);
        }
        outcome
    }

    /// The number of a field, given to it if it has none. Good for this index until it is closed.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] if the name is over [`NAME_SIZE_MAX`]; [`Error::TooManyFields`]; those of the storage.
    pub fn field(&self, name: &str) -> Result<FieldNumber> {
        if name.len() > NAME_SIZE_MAX {
            return Err(Error::TooLarge { what: "the name of a field", size: name.len(), max: NAME_SIZE_MAX });
        }
        let found = self.schema.field(&self.environment.read(), name)?;
        match found {
            Some(number) => Ok(number),
            None => {
                let count = &mut *self.field_count.lock();
                let given = self.change(|tx, _| self.schema.add_field(tx, name, count));
                // What was taken back does not count.
                given.inspect_err(|_| *count = None)
            }
        }
    }

    /// Brings a batch into the index: one transaction, visible when this returns and durable some time later. The batch is
    /// left as it is, to be given again if writing failed.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the index does not agree with itself: build it again. Those of the storage. Nothing of the
    /// batch was applied.
    pub fn write(&self, batch: &Batch) -> Result<()> {
        self.change(|tx, columns| batch_writer::write(&self.schema, tx, batch, columns))
    }

    /// Notes what is of no batch.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn note(&self, notes: &Notes) -> Result<()> {
        self.change(|tx, _| self.schema.note(tx, notes))
    }

    /// Forgets the errors, durably; not how many documents failed.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn clear_errors(&self) -> Result<()> {
        self.change(|tx, _| history::clear_errors(tx))?;
        Ok(self.environment.flush()?)
    }

    /// Notes what has to be written as documents, whether it changed or not.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn owe(&self, owed: &[Owed]) -> Result<()> {
        self.change_outputs(|outputs, tx| owed.iter().try_for_each(|owed| outputs.owe(tx, owed)))
    }

    /// Notes what was written as documents, and what was refused. Only who writes batches may call it: nothing of it may have changed since
    /// it was read.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn settle(&self, owed: &[Owed], notes: &Notes) -> Result<()> {
        self.change_outputs(|outputs, tx| {
            owed.iter().try_for_each(|owed| outputs.settle(tx, owed))?;
            if notes.errors.is_empty() { Ok(()) } else { self.schema.note(tx, notes) }
        })
    }

    /// Notes that no document of before is left.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn swept(&self) -> Result<()> {
        self.change_outputs(Outputs::swept)
    }

    fn change_outputs(
        &self,
        change: impl FnOnce(&Outputs, &mut WriteTransaction<'_>) -> Result<()> + Send,
    ) -> Result<()> {
        match &self.schema.outputs {
            Some(outputs) => self.change(|tx, _| change(outputs, tx)),
            None => Ok(()),
        }
    }

    /// Opens a snapshot of the last batch.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the counters of the index are damaged; those of the storage.
    pub fn read(&self) -> Result<IndexSnapshot<'_>> {
        IndexSnapshot::new(self.environment.read(), self.schema, &self.columns, &self.memory)
    }

    /// The environment below: to flush, to measure, to verify its pages.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Makes all batches durable and closes the index.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn close(self) -> Result<()> {
        Ok(self.environment.close()?)
    }
}
