//! An index: one storage environment of its own, with one writer and any number of snapshots.

use super::batch::Batch;
use super::batch_writer;
use super::error::{Error, Result};
use super::groups::Groups;
use super::limits::NAME_SIZE_MAX;
use super::references::References;
use super::schema::Schema;
use super::snapshot::IndexSnapshot;
use super::term::FieldNumber;
use std::path::Path;
use storage::{Durability, Environment, Options};

/// An open index. Documents are the truth: it may be behind them, and can be deleted and built again.
pub struct Index {
    environment: Environment,
    schema: Schema,
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

    /// Makes room for the groups of a reduce, if there is none yet.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn with_groups(mut self) -> Result<Index> {
        if self.schema.groups.is_none() {
            self.schema.groups = Some(self.environment.write(Groups::open_or_create)?);
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
            self.schema.references = Some(self.environment.write(References::open_or_create)?);
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
        Ok(Index { environment, schema })
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
            None => self.environment.write(|tx| self.schema.add_field(tx, name)),
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
        self.environment.write(|tx| batch_writer::write(&self.schema, tx, batch))
    }

    /// Opens a snapshot of the last batch.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the counters of the index are damaged; those of the storage.
    pub fn read(&self) -> Result<IndexSnapshot<'_>> {
        IndexSnapshot::new(self.environment.read(), self.schema)
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
