//! One database of a node, open or not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use parking_lot::{Mutex, RwLock};

use crate::client_configuration::ClientConfiguration;
use crate::database::DatabaseRef;
use crate::due::DueSettings;
use crate::limits::{IDLE_ROUNDS_MAX, REFUSED_OPENING_LOGGED_EVERY};
use crate::settings::{DatabaseSettings, NodeSettings};
use crate::{Database, DatabaseRecord, Error, Result};

pub(crate) struct DatabaseEntry {
    record: RwLock<Arc<DatabaseRecord>>,
    /// The name of its folder; None: it is in memory. Settled when it is created.
    folder: Option<String>,
    pub open: ArcSwapOption<Database>,
    /// Held while it is opened or closed.
    pub previous: Mutex<Previous>,
    settings: RwLock<Arc<DatabaseSettings>>,
    /// How often [`close_if_idle`](Self::close_if_idle) was called since somebody last asked for it.
    idle_rounds: AtomicU32,
    /// Why the last attempt to open it failed; `None` once it was opened.
    refused: Mutex<Option<RefusedOpening>>,
}

/// A reason for which a database cannot be opened, and how often it was met. Requests that meet it again and again share lines of the log.
struct RefusedOpening {
    error: Error,
    reason: String,
    /// When it was last met.
    last: Instant,
    /// When the log last had it.
    logged: Instant,
    /// Attempts that failed for it, all of them; and those that the log does not have yet.
    count: u64,
    unlogged: u64,
}

/// The previously opened database. It is reused while a request still holds it, because a folder cannot be opened twice.
#[derive(Default)]
pub(crate) enum Previous {
    #[default]
    None,
    /// On disk; gone when the last holder drops it.
    OnDisk(DatabaseRef),
    /// Only here while it is disabled.
    InMemory(Arc<Database>),
    /// The database is deleted: who found it before that must neither open it nor make its folder anew.
    Deleted,
}

impl DatabaseEntry {
    pub fn new(record: DatabaseRecord, folder: Option<String>, previous: Previous) -> DatabaseEntry {
        let settings = DatabaseSettings::of(&record, &NodeSettings::default());
        DatabaseEntry {
            record: RwLock::new(Arc::new(record)),
            folder,
            open: ArcSwapOption::empty(),
            previous: Mutex::new(previous),
            settings: RwLock::new(Arc::new(settings)),
            idle_rounds: AtomicU32::new(0),
            refused: Mutex::default(),
        }
    }

    /// Logs that the database could not be opened: at once for a new reason, and then every [`REFUSED_OPENING_LOGGED_EVERY`].
    pub fn opening_refused(&self, error: &Error, now: Instant) {
        let reason = error.to_string();
        let mut refused = self.refused.lock();
        let same = refused.as_mut().filter(|refused| refused.reason == reason);
        let Some(same) = same else {
            tracing::error!(database = self.record().name(), %error, "a database cannot be opened");
            *refused =
                Some(RefusedOpening { error: error.clone(), reason, last: now, logged: now, count: 1, unlogged: 0 });
            return;
        };
        same.last = now;
        same.count += 1;
        same.unlogged += 1;
        if now.saturating_duration_since(same.logged) >= REFUSED_OPENING_LOGGED_EVERY {
            let attempts = std::mem::take(&mut same.unlogged);
            same.logged = now;
            tracing::error!(database = self.record().name(), %error, attempts, "a database still cannot be opened");
        }
    }

    /// Logs that the database was opened, if it could not be before.
    pub fn opened(&self) {
        let refused = self.refused.lock().take();
        match refused {
            Some(refused) => {
                let attempts = refused.count;
                tracing::info!(database = self.record().name(), attempts, "a database could be opened after all");
            }
            None => tracing::debug!(database = self.record().name(), "database opened"),
        }
    }

    /// Whether its last opening failed so long ago that it is to be tried again; `None` if that did not fail.
    pub fn refused_before(&self, now: Instant, pause: Duration) -> Option<bool> {
        let refused = self.refused.lock();
        refused.as_ref().map(|refused| now.saturating_duration_since(refused.last) >= pause)
    }

    /// Why its last opening failed.
    pub fn last_refusal(&self) -> Option<Error> {
        self.refused.lock().as_ref().map(|refused| refused.error.clone())
    }

    pub fn record(&self) -> Arc<DatabaseRecord> {
        self.record.read().clone()
    }

    pub fn set_record(&self, record: Arc<DatabaseRecord>) {
        *self.record.write() = record;
    }

    pub fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    /// The database, if it is open and need not be opened again.
    pub fn ready(&self) -> Option<Arc<Database>> {
        // Written only when it changes: all threads that serve requests read this line.
        if self.idle_rounds.load(Relaxed) != 0 {
            self.idle_rounds.store(0, Relaxed);
        }
        self.open.load_full().filter(|database| !database.is_to_be_opened_again())
    }

    /// Refuses a record that wants the database elsewhere than it is.
    pub fn refuse_move(&self, changed: &DatabaseRecord) -> Result<()> {
        let (is_in_memory, wanted) = (self.folder.is_none(), changed.run_in_memory());
        // One that was created in memory because the whole node is may go on saying that it would be on disk.
        if wanted.is_some_and(|wanted| wanted != is_in_memory) && wanted != self.record().run_in_memory() {
            return Err(Error::PlaceIsFixed { name: changed.name().to_owned(), is_in_memory });
        }
        Ok(())
    }

    /// The client configuration of the database, over that of the node.
    pub fn client_configuration(&self) -> Arc<ClientConfiguration> {
        self.settings.read().client.clone()
    }

    /// The enabled tasks by the clock.
    pub fn due(&self) -> DueSettings {
        self.settings.read().due
    }

    /// Parses what the record and the node configure now, and hands it to the database if that is open.
    pub fn configure(&self, node: &NodeSettings) {
        let parsed = DatabaseSettings::of(&self.record(), node);
        let mut settings = self.settings.write();
        *settings = Arc::new(parsed);
        if let Some(database) = self.open.load_full() {
            settings.apply(&database);
        }
    }

    /// Offers an opened database to those who look for it.
    pub fn store(&self, database: Arc<Database>) {
        // A change of the configuration comes before this, or finds it open.
        let settings = self.settings.read();
        settings.apply(&database);
        self.open.store(Some(database));
    }

    /// To be called once in a while: closes the database if nobody asked for it for some rounds, nobody holds it, and
    /// nothing is lost by that. The next who asks opens it again.
    pub fn close_if_idle(&self) -> bool {
        if self.idle_rounds.fetch_add(1, Relaxed) < IDLE_ROUNDS_MAX {
            return false;
        }
        let mut previous = self.previous.lock();
        let Some(database) = self.open.swap(None) else { return false };
        // Whoever took it before the swap is counted; whoever comes now waits for the lock.
        if Arc::strong_count(&database) > 1 || !database.is_forgettable() {
            self.open.store(Some(database));
            return false;
        }
        *previous = Previous::OnDisk(DatabaseRef::of(&database));
        drop(previous);
        true
    }

    /// Refuses writes from now on, until it is opened again.
    pub fn close(&self) {
        let mut previous = self.previous.lock();
        let Some(database) = self.open.swap(None) else { return };
        database.close();
        *previous = match database.is_in_memory() {
            true => Previous::InMemory(database.clone()),
            false => Previous::OnDisk(DatabaseRef::of(&database)),
        };
        // Letting go of the database may take a while, and is not done under the lock.
        drop(previous);
    }

    /// The same for ever; gives what is left of it if others hold it, and the database for the caller to drop: closing its indexes may take
    /// a while, and is not done under a lock.
    pub fn delete(&self) -> (Option<DatabaseRef>, Option<Arc<Database>>) {
        let mut previous = self.previous.lock();
        let before = std::mem::replace(&mut *previous, Previous::Deleted);
        let open = self.open.swap(None);
        drop(previous);
        match (open, before) {
            (Some(database), _) => {
                database.close();
                (Some(DatabaseRef::of(&database)), Some(database))
            }
            (None, Previous::OnDisk(held)) => (Some(held), None),
            (None, _) => (None, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Databases, DatabasesOptions};

    #[test]
    fn a_deleted_database_is_closed_by_whoever_deletes_it() {
        let node = Databases::open(DatabasesOptions::in_memory()).unwrap();
        node.create("a", json::Value::object(), None).unwrap();
        assert!(!node.find("a").unwrap().is_closed());
        let (held, open) = node.entry("a").unwrap().delete();
        // Not yet: its environment and those of its indexes are open, and no lock is held while they are closed.
        assert!(held.unwrap().is_open() && open.unwrap().is_closed());
        assert!(node.find("a").is_err());
    }
}
