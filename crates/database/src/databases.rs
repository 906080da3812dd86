//! The databases of a node.
//!
//! ```text
//! <folder>/system/                 the node's own environment
//! <folder>/databases/<name>/       one environment per database, the name lower-cased
//! <folder>/databases/<name>~<n>/   the same, when the plain name was still in use
//! ```
//!
//! A database is opened when it is first asked for. Creating makes the folder before the record refers to it. Deleting
//! removes the record and notes the folder in one transaction, then the files; a start after a crash in between ends it.
//!
//! A deleted or disabled database can still be held by those who read it. Its environment knows its folder by name, so that
//! folder must not become another database's meanwhile (hence `~<n>`), and must not be opened twice (hence
//! [`Entry::previous`]).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use arc_swap::ArcSwapOption;
use documents::Date;
use json::Value;
use parking_lot::{Mutex, RwLock};
use storage::Environment;

use crate::client_configuration::ClientConfiguration;
use crate::limits::{LOCKED_FOLDER_WAIT, LOCKED_FOLDER_WAITS_MAX};
use crate::names::Names;
use crate::request_ids::RequestIds;
use crate::system::System;
use crate::{Database, DatabaseRecord, Error, Limits, LockMode, Operations, Result, name};

/// How a node's databases are opened.
#[derive(Clone, Debug)]
pub struct DatabasesOptions {
    /// Where everything is kept; None: in memory.
    pub folder: Option<PathBuf>,
    /// The tag of this node.
    pub node_tag: String,
    /// What may not be exceeded.
    pub limits: Limits,
}

impl DatabasesOptions {
    /// Kept in a folder, which is made if it is not there.
    pub fn folder(folder: impl Into<PathBuf>) -> DatabasesOptions {
        DatabasesOptions { folder: Some(folder.into()), node_tag: "A".to_owned(), limits: Limits::default() }
    }

    /// Kept in memory, and gone at the end.
    pub fn in_memory() -> DatabasesOptions {
        DatabasesOptions { folder: None, node_tag: "A".to_owned(), limits: Limits::default() }
    }
}

/// The databases of a node. All functions may be called from any thread.
pub struct Databases {
    options: DatabasesOptions,
    system: System,
    names: Names<Entry>,
    requests: RequestIds,
    operations: Operations,
    client_configuration: RwLock<ClientConfiguration>,
    /// Held by everything that changes which databases there are, and their records.
    changing: Mutex<()>,
    /// Databases that were deleted, by folder: some may still be held.
    deleted: Mutex<HashMap<String, Weak<Database>>>,
}

/// One database, open or not.
struct Entry {
    record: RwLock<Arc<DatabaseRecord>>,
    /// The name of its folder.
    folder: String,
    open: ArcSwapOption<Database>,
    /// Held while it is opened or closed.
    previous: Mutex<Previous>,
    client_configuration: RwLock<ClientConfiguration>,
}

/// What was open before, and is opened again if somebody still holds it: a folder cannot be opened twice.
#[derive(Default)]
enum Previous {
    #[default]
    None,
    /// Gone when nobody holds it.
    OnDisk(Weak<Database>),
    /// Only here while it is disabled.
    InMemory(Arc<Database>),
}

impl Previous {
    fn take(&mut self) -> Option<Arc<Database>> {
        match std::mem::take(self) {
            Previous::None => None,
            Previous::OnDisk(database) => database.upgrade(),
            Previous::InMemory(database) => Some(database),
        }
    }
}

/// What a deletion came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// The raft index of the last deletion; None if nothing was deleted.
    pub raft_index: Option<u64>,
    /// The databases that were deleted, by their names.
    pub deleted: Vec<String>,
}

impl Entry {
    fn new(record: DatabaseRecord, folder: String) -> Entry {
        let configuration = configuration_of(&record);
        Entry {
            record: RwLock::new(Arc::new(record)),
            folder,
            open: ArcSwapOption::empty(),
            previous: Mutex::default(),
            client_configuration: RwLock::new(configuration),
        }
    }

    fn record(&self) -> Arc<DatabaseRecord> {
        self.record.read().clone()
    }

    /// Refuses writes from now on; gives what was open.
    fn close(&self) -> Option<Arc<Database>> {
        let mut previous = self.previous.lock();
        let database = self.open.swap(None).or_else(|| previous.take())?;
        database.close();
        *previous = match database.is_in_memory() {
            true => Previous::InMemory(database.clone()),
            false => Previous::OnDisk(Arc::downgrade(&database)),
        };
        Some(database)
    }
}

fn configuration_of(record: &DatabaseRecord) -> ClientConfiguration {
    match record.value.get("Client") {
        Some(value @ Value::Object(_)) => {
            let etag = value.get("Etag").and_then(Value::as_i64).unwrap_or(record.etag as i64);
            ClientConfiguration { etag, value: Some(value.clone()) }
        }
        _ => ClientConfiguration::NONE,
    }
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
                let databases = folder.join("databases");
                make_folder(&databases)?;
                Environment::open(folder.join("system"), storage::Options::default())?
            }
        };
        let system = System::open(environment)?;
        let databases = Databases {
            operations: Operations::new(options.limits.ended_operations_count_max),
            client_configuration: RwLock::new(system.client_configuration()?),
            names: Names::default(),
            requests: RequestIds::default(),
            changing: Mutex::default(),
            deleted: Mutex::default(),
            system,
            options,
        };
        for folder in databases.system.deleting()? {
            databases.remove_folder(&folder)?;
        }
        for (record, folder) in databases.system.records()? {
            let name = record.name().to_owned();
            databases.names.insert(&name, Arc::new(Entry::new(record, folder)));
        }
        Ok(Arc::new(databases))
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

    /// Operations of the node, such as a compaction.
    pub fn operations(&self) -> &Operations {
        &self.operations
    }

    fn entry(&self, name: &str) -> Result<Arc<Entry>> {
        self.names.get(name).ok_or_else(|| Error::Missing { name: name.chars().take(128).collect() })
    }

    /// The database of this name, in any case; opened if it is not yet.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], [`Error::Disabled`], or it cannot be opened.
    pub fn find(&self, name: &str) -> Result<Arc<Database>> {
        let entry = self.entry(name)?;
        if let Some(database) = entry.open.load_full() {
            return Ok(database);
        }
        self.open_entry(&entry)
    }

    fn open_entry(&self, entry: &Entry) -> Result<Arc<Database>> {
        let mut previous = entry.previous.lock();
        if let Some(database) = entry.open.load_full() {
            return Ok(database);
        }
        let record = entry.record();
        if record.is_disabled() {
            return Err(Error::Disabled { name: record.name().to_owned() });
        }
        let was_open = !matches!(*previous, Previous::None);
        let database = match previous.take() {
            Some(database) => {
                database.open_again();
                database
            }
            None => Arc::new(self.open_database(&record, &entry.folder, was_open)?),
        };
        database.set_identity_separator(self.merged_configuration(entry).identity_separator());
        entry.open.store(Some(database.clone()));
        Ok(database)
    }

    /// * `was_open`: somebody may just be letting go of it, so that the folder is still locked for a moment.
    fn open_database(&self, record: &DatabaseRecord, folder: &str, was_open: bool) -> Result<Database> {
        let version_bytes_max = self.options.limits.page_versions_size;
        let options = storage::Options { version_bytes_max, ..storage::Options::default() };
        let path = self.path_of(folder).filter(|_| !record.is_in_memory());
        let environment = match &path {
            None => Environment::in_memory(options)?,
            Some(path) => {
                let mut waits = if was_open { LOCKED_FOLDER_WAITS_MAX } else { 0 };
                loop {
                    match Environment::open(path, options.clone()) {
                        Err(storage::Error::Locked { .. }) if waits > 0 => waits -= 1,
                        opened => break opened?,
                    }
                    std::thread::sleep(LOCKED_FOLDER_WAIT);
                }
            }
        };
        let DatabasesOptions { node_tag, limits, .. } = &self.options;
        Database::open(record.name(), environment, path.is_none(), node_tag, limits)
    }

    fn path_of(&self, folder: &str) -> Option<PathBuf> {
        Some(self.options.folder.as_ref()?.join("databases").join(folder))
    }

    /// A folder for a new database: that of a deleted one whose files were kept, the plain name, or one with a number.
    fn choose_folder(&self, name: &str) -> Result<String> {
        if let Some(kept) = self.system.kept(name)? {
            return Ok(kept);
        }
        let plain = name.to_ascii_lowercase();
        let mut deleted = self.deleted.lock();
        deleted.retain(|_, database| database.strong_count() > 0);
        let is_free =
            |folder: &String| !deleted.contains_key(folder) && self.path_of(folder).is_none_or(|path| !path.exists());
        if is_free(&plain) {
            return Ok(plain);
        }
        let first = self.system.raft_index()? + 1;
        let numbered = (first..u64::MAX).map(|number| format!("{plain}~{number}")).find(is_free);
        numbered.ok_or(Error::Corrupt { rule: "a number is free" })
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

    /// Creates a database and gives its record. A request that is repeated gives the record that it made.
    ///
    /// # Errors
    ///
    /// [`Error::BadName`], [`Error::AlreadyExists`], or storage fails.
    pub fn create(&self, name: &str, record: Value, request_id: Option<&str>) -> Result<Arc<DatabaseRecord>> {
        name::check(name)?;
        let _changing = self.changing.lock();
        if let Some(entry) = self.names.get(name) {
            if self.requests.get(request_id) == Some(entry.record().etag) {
                return Ok(entry.record());
            }
            return Err(Error::AlreadyExists { name: name.to_owned() });
        }
        let node_tag = &self.options.node_tag;
        // The environment is made, durably, before a record refers to it. In memory it is made when it is asked for.
        let draft = DatabaseRecord::new(record.clone(), name, node_tag, 0, Date::now());
        let folder = self.choose_folder(name)?;
        let previous = self.deleted.lock().remove(&folder).map_or(Previous::None, Previous::OnDisk);
        let is_held = matches!(&previous, Previous::OnDisk(database) if database.strong_count() > 0);
        let is_made_now = !draft.is_in_memory() && !is_held && self.options.folder.is_some();
        let made = if is_made_now { Some(Arc::new(self.open_database(&draft, &folder, true)?)) } else { None };
        let (record, index) = self.system.change(|system, tx, index| {
            let record = DatabaseRecord::new(record, name, node_tag, index, Date::now());
            system.put_record(tx, &record, &folder)?;
            Ok(record)
        })?;
        self.requests.insert(request_id, index);
        let entry = Arc::new(Entry::new(record, folder));
        *entry.previous.lock() = previous;
        if !entry.record().is_disabled() {
            entry.open.store(made);
            self.tell_configuration(&entry);
        }
        let record = entry.record();
        self.names.insert(name, entry);
        Ok(record)
    }

    /// Replaces parts of a record: every property in `changes` except the name and the topology.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], [`Error::RecordConflict`] if `expected_etag` is given and not the record's, or storage fails.
    pub fn update(&self, name: &str, changes: &Value, expected_etag: Option<u64>) -> Result<Arc<DatabaseRecord>> {
        let _changing = self.changing.lock();
        let entry = self.entry(name)?;
        let now = entry.record();
        if let Some(expected) = expected_etag.filter(|expected| *expected != now.etag) {
            return Err(Error::RecordConflict { name: now.name().to_owned(), expected, actual: now.etag });
        }
        self.change_record(&entry, |record| {
            for (key, value) in changes.members() {
                if key != "DatabaseName" && key != "Topology" && key != "Etag" {
                    record.set(key, value.clone());
                }
            }
        })
    }

    /// Changes a record under the next index. The lock `changing` is held.
    fn change_record(&self, entry: &Entry, change: impl FnOnce(&mut Value)) -> Result<Arc<DatabaseRecord>> {
        let mut record = DatabaseRecord::clone(&entry.record());
        change(&mut record.value);
        let (record, _) = self.system.change(|system, tx, index| {
            record.etag = index;
            system.put_record(tx, &record, &entry.folder)?;
            Ok(record)
        })?;
        let record = Arc::new(record);
        *entry.client_configuration.write() = configuration_of(&record);
        *entry.record.write() = record.clone();
        if record.is_disabled() {
            entry.close();
        }
        self.tell_configuration(entry);
        Ok(record)
    }

    /// Deletes databases; those that do not exist are passed over. Whoever holds one goes on reading what it was.
    ///
    /// * `is_hard`: the files go too. Otherwise they stay, and a database created by the same name has them again.
    ///
    /// # Errors
    ///
    /// [`Error::DeletionLocked`], before anything is deleted; or storage fails.
    pub fn delete(&self, names: &[&str], is_hard: bool, request_id: Option<&str>) -> Result<Deletion> {
        let _changing = self.changing.lock();
        if let Some(index) = self.requests.get(request_id) {
            return Ok(Deletion { raft_index: Some(index), deleted: Vec::new() });
        }
        let entries: Vec<Arc<Entry>> = names.iter().filter_map(|name| self.names.get(name)).collect();
        let is_locked = |entry: &&Arc<Entry>| entry.record().lock_mode() == LockMode::PreventDeletesError;
        if let Some(locked) = entries.iter().find(is_locked) {
            return Err(Error::DeletionLocked { name: locked.record().name().to_owned() });
        }
        let mut deletion = Deletion { raft_index: None, deleted: Vec::new() };
        for entry in entries {
            let record = entry.record();
            if record.lock_mode() == LockMode::PreventDeletesIgnore || self.names.get(record.name()).is_none() {
                continue;
            }
            let folder = &entry.folder;
            let has_files = self.options.folder.is_some() && !record.is_in_memory();
            let ((), index) = self.system.change(|system, tx, _| {
                system.delete_record(tx, record.name())?;
                match (has_files, is_hard) {
                    (true, true) => system.put_deleting(tx, folder),
                    (true, false) => system.put_kept(tx, record.name(), folder),
                    (false, _) => Ok(()),
                }
            })?;
            self.names.remove(record.name());
            if let Some(database) = entry.close() {
                self.deleted.lock().insert(folder.clone(), Arc::downgrade(&database));
            }
            deletion.raft_index = Some(index);
            deletion.deleted.push(record.name().to_owned());
            if has_files && is_hard {
                self.remove_folder(folder)?;
            }
        }
        if let Some(index) = deletion.raft_index {
            self.requests.insert(request_id, index);
        }
        Ok(deletion)
    }

    /// Removes the files of a database whose record is gone. Who still holds it may be making files, so it is tried again.
    fn remove_folder(&self, folder: &str) -> Result<()> {
        const ATTEMPTS: u32 = 10;
        if let Some(path) = self.path_of(folder) {
            for attempt in 1.. {
                match std::fs::remove_dir_all(&path) {
                    Ok(()) => break,
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => break,
                    Err(error) if attempt == ATTEMPTS => return Err(Error::io("remove", &path, error)),
                    Err(_) => {}
                }
            }
        }
        self.system.forget_deleting(folder)
    }

    /// Disables or enables a database; false if it was so already.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], or storage fails.
    pub fn set_disabled(&self, name: &str, is_disabled: bool) -> Result<bool> {
        let _changing = self.changing.lock();
        let entry = self.entry(name)?;
        if entry.record().is_disabled() == is_disabled {
            return Ok(false);
        }
        self.change_record(&entry, |record| record.set("Disabled", is_disabled.into()))?;
        Ok(true)
    }

    /// Locks a database against deletion, or unlocks it.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], or storage fails.
    pub fn set_lock_mode(&self, name: &str, mode: LockMode) -> Result<()> {
        let _changing = self.changing.lock();
        let entry = self.entry(name)?;
        self.change_record(&entry, |record| record.set("LockMode", mode.wire_name().into())).map(drop)
    }

    /// Replaces the settings of a database. They count when it is opened next: disable and enable it.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], or storage fails.
    pub fn put_settings(&self, name: &str, settings: Value) -> Result<Arc<DatabaseRecord>> {
        let _changing = self.changing.lock();
        let entry = self.entry(name)?;
        self.change_record(&entry, |record| record.set("Settings", settings))
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

    /// Does what is due now and then for all open databases: removes tombstones that nobody needs, and flushes those at
    /// rest; gives how many tombstones went. To be called every minute or so, on a thread that may wait. A database that fails is passed over with a warning.
    pub fn maintain(&self) -> u64 {
        let mut cleaned = 0;
        for database in self.names.all().iter().filter_map(|entry| entry.open.load_full()) {
            match database.clean_unneeded_tombstones() {
                Ok(count) => cleaned += count,
                Err(error) => tracing::warn!(database = database.name(), %error, "tombstones were not cleaned"),
            }
            if let Err(error) = database.documents().environment().flush_if_idle() {
                tracing::warn!(database = database.name(), %error, "it is at rest and was not flushed");
            }
        }
        cleaned
    }

    /// The client configuration of the node.
    pub fn client_configuration(&self) -> ClientConfiguration {
        self.client_configuration.read().clone()
    }

    /// The client configuration of a database, over that of the node.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`]
    pub fn client_configuration_of(&self, name: &str) -> Result<ClientConfiguration> {
        Ok(self.merged_configuration(&*self.entry(name)?))
    }

    fn merged_configuration(&self, entry: &Entry) -> ClientConfiguration {
        ClientConfiguration::merged(&self.client_configuration.read(), &entry.client_configuration.read())
    }

    /// Has an open database complete ids as it is configured now.
    fn tell_configuration(&self, entry: &Entry) {
        if let Some(database) = entry.open.load_full() {
            database.set_identity_separator(self.merged_configuration(entry).identity_separator());
        }
    }

    /// Sets the client configuration of the node; gives its raft index, which becomes its etag.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn put_client_configuration(&self, mut value: Value) -> Result<u64> {
        let _changing = self.changing.lock();
        let (configuration, index) = self.system.change(|system, tx, index| {
            value.set("Etag", Value::Number(index.to_string()));
            let configuration = ClientConfiguration { etag: index as i64, value: Some(value) };
            system.put_client_configuration(tx, &configuration)?;
            Ok(configuration)
        })?;
        *self.client_configuration.write() = configuration;
        self.names.all().iter().for_each(|entry| self.tell_configuration(entry));
        Ok(index)
    }

    /// Sets the client configuration of a database; gives its raft index, which becomes its etag.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], or storage fails.
    pub fn put_client_configuration_of(&self, name: &str, mut value: Value) -> Result<u64> {
        let _changing = self.changing.lock();
        let entry = self.entry(name)?;
        let index = self.system.raft_index()? + 1;
        value.set("Etag", Value::Number(index.to_string()));
        let record = self.change_record(&entry, |record| record.set("Client", value))?;
        Ok(record.etag)
    }
}

impl std::fmt::Debug for Databases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Databases").field("folder", &self.options.folder).finish_non_exhaustive()
    }
}

fn make_folder(folder: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    // Nobody else on this machine is to look into the data.
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| Error::io("create", folder, error))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            databases.system.change(change).unwrap();
            assert!(files.exists());
        }
        let databases = Databases::open(DatabasesOptions::folder(folder.path())).unwrap();
        assert!(!files.exists() && databases.names().is_empty() && databases.system.deleting().unwrap().is_empty());
    }
}
