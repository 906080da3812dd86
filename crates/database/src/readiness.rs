//! Which databases of a node refuse writes now: load balancers send it no requests meanwhile.
//!
//! A database whose storage failed, or that could not be opened, is opened again when a request asks for it. A load balancer sends no
//! requests to a node that is not ready, so the question for readiness opens these again. What was never opened is not looked at.

use std::sync::Arc;
use std::time::Instant;

use crate::entry::DatabaseEntry;
use crate::limits::REFUSED_OPENING_RETRIED_EVERY;
use crate::{Databases, Error};

/// A database that refuses writes.
#[derive(Debug)]
pub struct RefusingDatabase {
    /// Its name.
    pub name: String,
    /// Why it does.
    pub reason: WriteRefusal,
}

/// Why a database refuses writes.
#[derive(Debug)]
pub enum WriteRefusal {
    /// Its storage failed, or it cannot be opened.
    Failed(Error),
    /// The last write found no room on the device, and needed this many bytes. Reads go on. There may be room by now.
    DiskFull {
        /// Bytes.
        needed: u64,
    },
}

impl Databases {
    /// The databases that refuse writes, by name. Those that are disabled do not belong to them. May open databases, which may take long.
    pub fn refusing_writes(&self) -> Vec<RefusingDatabase> {
        let refusing = |name: String| {
            // It was deleted since it was listed.
            let entry = self.entry(&name).ok()?;
            let reason = self.refusal_of(&entry)?;
            Some(RefusingDatabase { name, reason })
        };
        self.names().into_iter().filter_map(refusing).collect()
    }

    /// Whether the last attempt to open a database failed.
    pub fn could_not_be_opened(&self, name: &str) -> bool {
        self.entry(name).is_ok_and(|entry| entry.last_refusal().is_some())
    }

    fn refusal_of(&self, entry: &Arc<DatabaseEntry>) -> Option<WriteRefusal> {
        if entry.record().is_disabled() {
            return None;
        }
        let now = Instant::now();
        let is_to_be_opened = match entry.open.load_full() {
            Some(database) => database.is_to_be_opened_again(),
            None => entry.refused_before(now, REFUSED_OPENING_RETRIED_EVERY)?,
        };
        if is_to_be_opened && let Err(error) = self.open_entry(entry) {
            return match error {
                Error::Disabled { .. } | Error::Missing { .. } => None,
                error => Some(WriteRefusal::Failed(error)),
            };
        }
        match entry.open.load_full() {
            None => entry.last_refusal().map(WriteRefusal::Failed),
            Some(database) => match database.failure() {
                Some(failure) => Some(WriteRefusal::Failed(failure.clone())),
                None => database.space_lacking().map(|needed| WriteRefusal::DiskFull { needed }),
            },
        }
    }
}
