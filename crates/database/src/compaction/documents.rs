//! The documents of an open database: writes wait at the gate, reads go on, and another `Database` with the copy takes the place of this
//! one.

use std::sync::Arc;

use storage::TransactionId;

use super::copy::{Copy, Step};
use crate::database::DatabaseRef;
use crate::databases::Opening;
use crate::entry::{DatabaseEntry, Previous};
use crate::{Database, Databases, Error, Result};

/// What became of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The copy has taken its place.
    Replaced,
    /// The copy was not smaller, and is gone.
    Dense,
}

/// A database whose writes wait. Dropped, they go on: in this database, unless another one has taken its place.
struct HeldWrites<'d> {
    database: &'d Arc<Database>,
    /// The last transaction before.
    last: TransactionId,
}

impl<'d> HeldWrites<'d> {
    fn begin(database: &'d Arc<Database>) -> Result<HeldWrites<'d>> {
        database.gate.shut();
        let mut held = HeldWrites { database, last: TransactionId(0) };
        let environment = database.documents().environment();
        // Comes behind all that run already. What comes behind this is held back.
        environment.write(|_| Ok::<_, storage::Error>(()))?;
        held.last = environment.read().id();
        Ok(held)
    }
}

impl Drop for HeldWrites<'_> {
    fn drop(&mut self) {
        if !self.database.has_moved() {
            self.database.gate.open(None);
        }
    }
}

impl Databases {
    /// Compacts the documents of a database. Takes long.
    ///
    /// * `goes_on`: called once in a while; false ends the work, and the database stays as it is.
    ///
    /// # Errors
    ///
    /// [`Error::Canceled`] if `goes_on` says so; [`Error::BadCompaction`] while an operation of the database goes on; [`Error::NoRoom`],
    /// [`Error::Disabled`]; storage fails. The database is as it was.
    pub(super) fn compact_documents(&self, name: &str, goes_on: &mut dyn FnMut(Step) -> bool) -> Result<Outcome> {
        let entry = self.entry(name)?;
        let database = self.find(name)?;
        let reason = format!(
            "The documents of database '{}' are being compacted. Operations begin when that has ended; try again then",
            database.name()
        );
        let _no_operations = database.operations().refuse_all(reason).map_err(|running| Error::BadCompaction {
            rule: format!(
                "The documents cannot be compacted while an operation of the database goes on: {} ({}). Wait for it or kill it, and try again",
                running.id(),
                running.description()
            ),
        })?;
        let wait = database.limits().compaction_write_wait;
        std::thread::scope(|scope| {
            let held = HeldWrites::begin(&database)?;
            let late = || database.gate.refuse_late(database.name(), wait);
            std::thread::Builder::new()
                .name("compaction-writes".to_owned())
                .spawn_scoped(scope, late)
                .map_err(|error| Error::io("start a thread for", database.documents().environment().path(), error))?;
            let copy = Copy::of_documents(database.documents(), &mut |step| goes_on(step) && !database.is_closed())?;
            let Some(copy) = copy else {
                return Err(if database.is_closed() { disabled(&database) } else { Error::Canceled });
            };
            if !copy.is_smaller() {
                return Ok(Outcome::Dense);
            }
            // What is done now is not done under the lock of the entry.
            self.archiver.archive_rest(database.name());
            database.documents().environment().flush()?;
            self.put_in_place(&entry, &held, copy)?;
            Ok(Outcome::Replaced)
        })
    }

    fn put_in_place(&self, entry: &DatabaseEntry, held: &HeldWrites<'_>, copy: Copy) -> Result<()> {
        let database = held.database;
        let mut previous = entry.previous.lock();
        let is_open = entry.open.load_full().is_some_and(|open| Arc::ptr_eq(&open, database));
        if !is_open || database.is_closed() {
            return Err(disabled(database));
        }
        let environment = database.documents().environment();
        if environment.read().id() != held.last {
            return Err(documents::Error::Bug { rule: "no write is applied while documents are copied" }.into());
        }
        let put = copy.put_in_place(environment);
        environment.release();
        let reopened = self
            .open_environment(&entry.record(), entry.folder(), Opening::Held)
            .and_then(|environment| database.succeeded_by(environment, self.node_tag()));
        match reopened {
            Ok(next) => {
                entry.store(next.clone());
                database.give_way(&next);
                next.indexes().committed(0);
                self.archiver.rewritten(database.name());
                put
            }
            Err(error) => {
                tracing::error!(database = database.name(), %error, "a database cannot be opened after its compaction");
                entry.open.store(None);
                // It is not given again: its environment takes no writes.
                database.note_failure();
                database.close();
                *previous = Previous::OnDisk(DatabaseRef::of(database));
                put.and(Err(error))
            }
        }
    }
}

fn disabled(database: &Database) -> Error {
    Error::Disabled { name: database.name().to_owned() }
}
