//! The databases of a node.
//!
//! ```text
//! <folder>/system/                 the node's own environment
//! <folder>/databases/<name>/       one environment per database, the name lower-cased; in it `indexes`, each in a folder
//! <folder>/databases/<name>~<n>/   the same, when the plain name was still in use
//! ```
//!
//! A database is opened when it is first asked for. Creating makes the folder before the record refers to it; a start after a
//! crash in between removes it. Deleting removes the record and notes the folder in one transaction; the files are removed when
//! the last holder drops the database, or at the next start.
//!
//! A deleted or disabled database can still be held by those who read it. Its environment knows its folder by name, so that
//! folder must not become another database's meanwhile (hence `~<n>`), and must not be opened twice (hence
//! [`DatabaseEntry::previous`]).

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use json::Value;
use parking_lot::{Mutex, RwLock};
use query::analysis::CustomAnalyzers;
use storage::Environment;
use storage::io::aio::AsyncWrites;

use crate::backups::{self, Archiver, BackupTasks, DestinationKind, FoldersOnly, OpenDestination};
use crate::client_configuration::ClientConfiguration;
use crate::clock::{Clock, SystemClock};
use crate::database::DatabaseRef;
use crate::due::Scheduler;
use crate::entry::{DatabaseEntry, Previous};
use crate::indexes::IndexingPool;
use crate::limits::{LOCKED_FOLDER_WAIT, LOCKED_FOLDER_WAITS_MAX};
use crate::names::Names;
use crate::settings::NodeSettings;
use crate::system::System;
use crate::{Database, DatabaseRecord, Error, Limits, Operations, Result, analyzers, compaction, folders};

/// How a node's databases are opened.
#[derive(Clone, Debug)]
pub struct DatabasesOptions {
    /// Where everything is kept; None: in memory.
    pub folder: Option<PathBuf>,
    /// The tag of this node.
    pub node_tag: String,
    /// What may not be exceeded.
    pub limits: Limits,
    /// Lets writes wait for the device without a thread; its owner calls [`AsyncWrites::reap`].
    pub async_writes: Option<Arc<AsyncWrites>>,
    /// The clock by which documents expire, are refreshed and archived.
    pub clock: Arc<dyn Clock>,
    /// Opens the places of backups that are no folders.
    pub destinations: Arc<dyn OpenDestination>,
    /// The folder below which all backups to folders lie; `None`: anywhere.
    pub backup_root: Option<PathBuf>,
    /// The kinds of places that backups may go to; `None`: all.
    pub allowed_destinations: Option<Vec<DestinationKind>>,
}

impl DatabasesOptions {
    /// Kept in a folder, which is made if it is not there.
    pub fn folder(folder: impl Into<PathBuf>) -> DatabasesOptions {
        DatabasesOptions { folder: Some(folder.into()), ..DatabasesOptions::in_memory() }
    }

    /// Kept in memory, and gone at the end.
    pub fn in_memory() -> DatabasesOptions {
        DatabasesOptions {
            folder: None,
            node_tag: "A".to_owned(),
            limits: Limits::default(),
            async_writes: None,
            clock: Arc::new(SystemClock),
            destinations: Arc::new(FoldersOnly),
            backup_root: None,
            allowed_destinations: None,
        }
    }
}

/// The databases of a node. All functions may be called from any thread.
pub struct Databases {
    pub(crate) options: DatabasesOptions,
    pub(crate) system: System,
    pub(crate) names: Names<DatabaseEntry>,
    operations: Operations,
    pub(crate) client_configuration: RwLock<Arc<ClientConfiguration>>,
    /// Those of the node.
    pub(crate) analyzers: RwLock<Arc<CustomAnalyzers>>,
    /// Held by everything that changes which databases there are, and their records.
    pub(crate) changing: Mutex<()>,
    /// Held while the files of deleted databases are removed.
    removing: Mutex<()>,
    /// Databases that were deleted, by folder: some may still be held.
    pub(crate) deleted: Mutex<HashMap<String, DatabaseRef>>,
    /// Folders below `databases` that a restore fills, and that are noted as being deleted meanwhile.
    pub(crate) filling: Mutex<HashSet<String>>,
    /// Lower-cased names of the databases that are compacted.
    pub(crate) compacting: Mutex<HashSet<String>>,
    indexing: Arc<IndexingPool>,
    pub(crate) due: Scheduler,
    pub(crate) backups: BackupTasks,
    pub(crate) archiver: Archiver,
}

impl Databases {
    /// Opens the node: its own environment now, databases as they are asked for.
    ///
    /// # Errors
    ///
    /// The folder is in use by another process, cannot be made, or is damaged.
    pub fn open(options: DatabasesOptions) -> Result<Arc<Databases>> {
        let environment = match &options.folder {
            None => Environment::in_memory(storage::Options::default())?,
            Some(folder) => {
                folders::refuse_inside_of_another(folder)?;
                let databases = folder.join("databases");
                folders::make(&databases)?;
                let system = folder.join("system");
                folders::refuse_lost_system(&system, &databases)?;
                Environment::open(system, storage::Options::default())?
            }
        };
        let path_of = |name: &str| Some(options.folder.as_ref()?.join("databases").join(name));
        let system = System::open(environment, |name| path_of(name).is_some_and(|path| path.exists()))?;
        let databases = Databases {
            operations: Operations::new(options.limits.ended_operations_count_max),
            client_configuration: RwLock::new(Arc::new(system.client_configuration()?)),
            analyzers: RwLock::new(Arc::new(analyzers::of(Some(&system.server_wide_analyzers()?), ""))),
            names: Names::default(),
            changing: Mutex::default(),
            removing: Mutex::default(),
            deleted: Mutex::default(),
            filling: Mutex::default(),
            compacting: Mutex::default(),
            indexing: Arc::new(IndexingPool::new(options.limits.indexing_threads_max)),
            due: Scheduler::new(options.clock.clone()),
            // Before the backups, which it asks for.
            archiver: Archiver::new(options.clock.clone()),
            backups: BackupTasks::new(options.clock.clone()),
            system,
            options,
        };
        databases.remove_deleted();
        if let Some(folder) = &databases.options.folder {
            folders::remove(&folder.join(backups::IN_PROGRESS))?;
            folders::sweep(&folder.join("databases"), &databases.system.folders_in_use()?)?;
        }
        for (mut record, folder) in databases.system.records()? {
            backups::leave_out_server_wide_keys(&mut record.value);
            let name = record.name().to_owned();
            databases.add_entry(&name, DatabaseEntry::new(record, folder, Previous::None));
        }
        let databases = Arc::new(databases);
        for name in databases.names() {
            databases.configure_backups(&name)?;
        }
        databases.backups.start(Arc::downgrade(&databases));
        let archived: Arc<dyn backups::ArchiveHost> = databases.clone();
        databases.archiver.start(Arc::downgrade(&archived));
        let node = Arc::downgrade(&databases);
        databases.due.start(Box::new(move |name, is_opened| match node.upgrade() {
            Some(databases) if is_opened => databases.find(name).map(Some),
            Some(databases) => databases.peek(name),
            None => Ok(None),
        }));
        Ok(databases)
    }

    /// The tag of this node.
    pub fn node_tag(&self) -> &str {
        &self.options.node_tag
    }

    /// The id of the cluster of which this node is the only member; a GUID.
    pub fn topology_id(&self) -> &str {
        self.system.topology_id()
    }

    /// The id of this node; a GUID.
    pub fn server_id(&self) -> &str {
        self.system.server_id()
    }

    /// Whether everything is in memory.
    pub fn is_in_memory(&self) -> bool {
        self.options.folder.is_none()
    }

    /// The folder that everything is kept in.
    pub fn folder(&self) -> Option<&Path> {
        self.options.folder.as_deref()
    }

    /// The number of changes to the node so far.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn raft_index(&self) -> Result<u64> {
        self.system.raft_index()
    }

    /// The clock by which documents expire, are refreshed and archived.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        self.due.clock()
    }

    /// Operations of the node, such as a compaction.
    pub fn operations(&self) -> &Operations {
        &self.operations
    }

    pub(crate) fn entry(&self, name: &str) -> Result<Arc<DatabaseEntry>> {
        self.names.get(name).ok_or_else(|| Error::Missing { name: name.chars().take(128).collect() })
    }

    pub(crate) fn add_entry(&self, name: &str, entry: DatabaseEntry) {
        entry.configure(&self.node_settings());
        let due = entry.due();
        self.names.insert(name, Arc::new(entry));
        self.due.configure(name, due);
    }

    /// The database of this name, in any case; opened if it is not yet, which may take long.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], [`Error::Disabled`], or it cannot be opened.
    pub fn find(&self, name: &str) -> Result<Arc<Database>> {
        match self.ready(name) {
            Some(database) => Ok(database),
            None => self.open_entry(&*self.entry(name)?),
        }
    }

    /// The database of this name, if it is open: the quick way of all requests.
    fn ready(&self, name: &str) -> Option<Arc<Database>> {
        self.names.with(name, |entry| entry.ready()).flatten()
    }

    /// The database of this name if it is open; None if [`find`](Self::find) has to open it. Never waits.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], [`Error::Disabled`]
    pub fn find_open(&self, name: &str) -> Result<Option<Arc<Database>>> {
        if let Some(database) = self.ready(name) {
            return Ok(Some(database));
        }
        let entry = self.entry(name)?;
        let ready = entry.ready();
        if ready.is_none() && entry.record().is_disabled() {
            return Err(Error::Disabled { name: entry.record().name().to_owned() });
        }
        Ok(ready)
    }

    /// The same without counting as a use: a database that is only looked at in this way is closed when it is idle.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], [`Error::Disabled`]
    pub fn peek(&self, name: &str) -> Result<Option<Arc<Database>>> {
        let entry = self.entry(name)?;
        if entry.record().is_disabled() {
            return Err(Error::Disabled { name: entry.record().name().to_owned() });
        }
        Ok(entry.open.load_full())
    }

    pub(crate) fn open_entry(&self, entry: &DatabaseEntry) -> Result<Arc<Database>> {
        let mut previous = entry.previous.lock();
        let record = entry.record();
        if matches!(*previous, Previous::Deleted) {
            return Err(Error::Missing { name: record.name().to_owned() });
        }
        if let Some(database) = entry.ready() {
            return Ok(database);
        }
        if record.is_disabled() {
            return Err(Error::Disabled { name: record.name().to_owned() });
        }
        if let Some(failed) = entry.open.swap(None) {
            tracing::warn!(
                database = record.name(),
                "the storage of the database failed; it is closed and opened again"
            );
            failed.close();
            *previous = Previous::OnDisk(DatabaseRef::of(&failed));
        }
        let opened = match &*previous {
            Previous::InMemory(database) => Ok(database.clone()),
            Previous::OnDisk(held) => match held.get() {
                Some(database) if !database.has_failed() => Ok(database),
                _ => self.open_again(&record, entry.folder(), held),
            },
            Previous::None | Previous::Deleted => self.open_database(&record, entry.folder(), Opening::Existing),
        };
        let database = match opened {
            Ok(database) => database,
            Err(error) => {
                entry.opening_refused(&error, Instant::now());
                return Err(error);
            }
        };
        entry.opened();
        database.open_again();
        *previous = Previous::None;
        entry.store(database.clone());
        Ok(database)
    }

    /// Opens a database that somebody is letting go of. One whose storage failed is given again while it is held for long: it
    /// can be read, and opening it is tried again after a pause.
    fn open_again(&self, record: &DatabaseRecord, folder: Option<&str>, held: &DatabaseRef) -> Result<Arc<Database>> {
        match self.open_database(record, folder, Opening::Held) {
            Err(error @ Error::Storage(storage::Error::Locked { .. })) => {
                let failed = held.get().ok_or(error)?;
                tracing::warn!(
                    database = record.name(),
                    "the database cannot be opened again while a request still reads it"
                );
                failed.note_failure();
                Ok(failed)
            }
            opened => opened,
        }
    }

    pub(crate) fn open_database(
        &self,
        record: &DatabaseRecord,
        folder: Option<&str>,
        opening: Opening,
    ) -> Result<Arc<Database>> {
        let environment = self.open_environment(record, folder, opening)?;
        let DatabasesOptions { node_tag, limits, .. } = &self.options;
        Database::open(record.name(), environment, folder.is_none(), node_tag, limits, &self.indexing)
    }

    /// Opens the environment of a database's documents.
    ///
    /// * `folder`: `None`: in memory.
    pub(crate) fn open_environment(
        &self,
        record: &DatabaseRecord,
        folder: Option<&str>,
        opening: Opening,
    ) -> Result<Environment> {
        let version_bytes_max = self.options.limits.page_versions_size;
        let async_writes = self.options.async_writes.clone();
        let archive_bytes_max = folder.and_then(|_| backups::archive_bytes_max(record));
        let options =
            storage::Options { version_bytes_max, async_writes, archive_bytes_max, ..storage::Options::default() };
        match folder.and_then(|folder| self.path_of(folder)) {
            None => Ok(Environment::in_memory(options)?),
            Some(path) => {
                let data = path.join(folders::DATA_FILE);
                if opening != Opening::New && !folders::is_there(&data)? {
                    // Opening would make an empty one in its place.
                    return Err(storage::Error::CorruptFile { path: data, rule: "it is gone".to_owned() }.into());
                }
                let waits = if opening == Opening::Held { LOCKED_FOLDER_WAITS_MAX } else { 0 };
                let environment = folders::open_unlocked(waits, || Ok(Environment::open(&path, options.clone())?))?;
                compaction::remove_rest(&path)?;
                Ok(environment)
            }
        }
    }

    pub(crate) fn path_of(&self, folder: &str) -> Option<PathBuf> {
        Some(self.options.folder.as_ref()?.join("databases").join(folder))
    }

    /// A folder for a new database that has none kept: the plain name, or one with a number.
    pub(crate) fn choose_folder(&self, name: &str) -> Result<String> {
        let plain = name.to_ascii_lowercase();
        let first = self.system.raft_index()? + 1;
        let numbered = (first..u64::MAX).map(|number| format!("{plain}~{number}"));
        for folder in std::iter::once(plain.clone()).chain(numbered) {
            let is_there = self.path_of(&folder).is_some_and(|path| std::fs::symlink_metadata(path).is_ok());
            if !is_there && !self.is_held(&folder) && !self.system.is_deleting(&folder)? {
                return Ok(folder);
            }
        }
        Err(Error::Corrupt { rule: "a number is free" })
    }

    /// Whether somebody still has a deleted database open in this folder, or fills it.
    fn is_held(&self, folder: &str) -> bool {
        if self.filling.lock().contains(folder) {
            return true;
        }
        let mut deleted = self.deleted.lock();
        deleted.retain(|_, held| held.is_open());
        deleted.contains_key(folder)
    }

    /// The database of this name, created with an empty record if there is none.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find) and [`create`](Self::create).
    pub fn find_or_create(&self, name: &str) -> Result<Arc<Database>> {
        match self.find(name) {
            Err(Error::Missing { .. }) => {}
            found => return found,
        }
        match self.create(name, Value::object(), None) {
            // Somebody else was quicker, perhaps.
            Ok(_) | Err(Error::AlreadyExists { .. }) => self.find(name),
            Err(error) => Err(error),
        }
    }

    /// Removes the files of deleted databases without holders. A failure is retried later.
    pub(crate) fn remove_deleted(&self) {
        let _removing = self.removing.lock();
        let deleting = {
            // Who deletes notes the folder before it notes who holds it.
            let _changing = self.changing.lock();
            self.system.deleting()
        };
        let warn = |error: &Error| tracing::warn!(%error, "the files of a deleted database were not removed");
        let folders = deleting.inspect_err(warn).unwrap_or_default();
        for folder in folders.iter().filter(|folder| !self.is_held(folder)) {
            let removed = self.path_of(folder).map_or(Ok(()), |path| folders::remove(&path));
            // One that fails does not keep the files of others.
            if let Err(error) = removed.and_then(|()| self.system.forget_deleting(folder)) {
                warn(&error);
            }
        }
    }

    /// The same, and waits for a moment for holders that are just letting go.
    pub(crate) fn remove_deleted_soon(&self) {
        for _ in 0..LOCKED_FOLDER_WAITS_MAX {
            self.remove_deleted();
            if self.deleted.lock().values().all(|held| !held.is_open()) {
                return;
            }
            std::thread::sleep(LOCKED_FOLDER_WAIT);
        }
    }

    /// The record of a database.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`]
    pub fn record(&self, name: &str) -> Result<Arc<DatabaseRecord>> {
        Ok(self.entry(name)?.record())
    }

    /// Names of all databases, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.names.all().iter().map(|entry| entry.record().name().to_owned()).collect();
        names.sort_by_cached_key(|name| name.to_ascii_lowercase());
        names
    }

    /// Housekeeping: removes tombstones that all consumers have read, flushes idle databases, removes the files of deleted ones and closes
    /// unused ones; returns the number of removed tombstones. Call it about every minute, on a thread that may block. A database that
    /// fails is skipped with a warning.
    pub fn maintain(&self) -> u64 {
        self.remove_deleted();
        self.indexing.ensure_workers();
        let mut cleaned = 0;
        for entry in self.names.all() {
            let Some(database) = entry.open.load_full() else { continue };
            let of_backups = self.system.backup_statuses(database.name());
            let kept = of_backups.map(|statuses| self.backups.seen_etag(database.name(), &statuses));
            match kept.and_then(|seen| database.clean_tombstones_seen(seen, self.clock().now())) {
                Ok(count) => cleaned += count,
                Err(error) => tracing::warn!(database = database.name(), %error, "tombstones could not be removed"),
            }
            if let Err(error) = database.free_contents() {
                tracing::warn!(database = database.name(), %error, "the room of removed attachments could not be freed");
            }
            if let Err(error) = database.documents().environment().flush_if_idle() {
                tracing::warn!(database = database.name(), %error, "an idle database could not be flushed");
            }
            database.indexes().maintain();
            if let Err(error) = database.clean_revisions_bin(self.clock().now()) {
                tracing::warn!(database = database.name(), %error, "the revisions bin could not be cleaned");
            }
            drop(database);
            if entry.close_if_idle() {
                tracing::debug!(database = entry.record().name(), "idle database closed");
            }
        }
        cleaned
    }

    /// Closes all databases that are open: notifies their listeners, cancels their operations and refuses further writes. For an owner that
    /// ends while others still hold a database. A database that is asked for after this is opened again, but nothing expires any more.
    pub fn close(&self) {
        self.operations.all().iter().for_each(|operation| operation.kill());
        self.archiver.close();
        self.backups.close();
        self.due.close();
        self.names.all().iter().for_each(|entry| entry.close());
    }

    /// What the node sets for its databases.
    pub(crate) fn node_settings(&self) -> NodeSettings {
        NodeSettings { client: self.client_configuration(), analyzers: self.server_wide_analyzers() }
    }

    /// Hands all databases what the node sets for them now.
    pub(crate) fn configure_all(&self) {
        let node = self.node_settings();
        self.names.all().iter().for_each(|entry| entry.configure(&node));
    }

    /// The client configuration of the node.
    pub fn client_configuration(&self) -> Arc<ClientConfiguration> {
        self.client_configuration.read().clone()
    }

    /// The client configuration of a database, over that of the node.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`]
    pub fn client_configuration_of(&self, name: &str) -> Result<Arc<ClientConfiguration>> {
        Ok(self.entry(name)?.client_configuration())
    }
}

impl Drop for Databases {
    /// Waits until the threads of tasks and of indexing hold no database any more; then only callers hold one.
    fn drop(&mut self) {
        self.archiver.close();
        self.backups.close();
        self.due.close();
        self.indexing.close();
    }
}

/// How a folder is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// It is made.
    New,
    /// It is there.
    Existing,
    /// It is there, and somebody may just be letting go of it, so that it is still locked for a moment.
    Held,
}

impl std::fmt::Debug for Databases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Databases").field("folder", &self.options.folder).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request_ids::Request;

    #[test]
    fn who_found_a_database_before_it_was_deleted_does_not_make_it_anew() {
        let folder = tempfile::tempdir().unwrap();
        let databases = Databases::open(DatabasesOptions::folder(folder.path())).unwrap();
        databases.create("X", Value::object(), None).unwrap();
        let found = databases.entry("x").unwrap();
        databases.delete(&["x"], true, None).unwrap();
        assert!(matches!(databases.open_entry(&found), Err(Error::Missing { .. })));
        assert!(!folder.path().join("databases/x").exists());
    }

    #[test]
    fn a_deletion_that_was_cut_short_is_ended_at_the_next_start() {
        let folder = tempfile::tempdir().unwrap();
        let files = folder.path().join("databases/x");
        {
            let databases = Databases::open(DatabasesOptions::folder(folder.path())).unwrap();
            databases.create("X", Value::object(), None).unwrap();
            // The crash comes after the transaction and before the files are removed.
            let change = |system: &System, tx: &mut storage::WriteTransaction<'_>, _| {
                system.delete_record(tx, "X")?;
                system.put_deleting(tx, "x")
            };
            databases.system.change(&Request::new("delete", &["X"], None).unwrap(), change).unwrap();
            assert!(files.exists());
        }
        let databases = Databases::open(DatabasesOptions::folder(folder.path())).unwrap();
        assert!(!files.exists() && databases.names().is_empty() && databases.system.deleting().unwrap().is_empty());
    }
}
