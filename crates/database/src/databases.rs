//! The databases of a node.
//!
//! ```text
//! <folder>/system/                 the node's own environment
//! <folder>/databases/<name>/       one environment per database, the name lower-cased
//! ```
//!
//! A database is opened when it is first asked for. Creating makes the folder before the record refers to it. Deleting
//! removes the record and notes the folder in one transaction, then the files; a start after a crash in between ends it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use documents::Date;
use json::Value;
use parking_lot::{Mutex, RwLock};
use storage::Environment;

use crate::client_configuration::ClientConfiguration;
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
}

/// One database, open or not.
struct Entry {
    record: RwLock<Arc<DatabaseRecord>>,
    open: ArcSwapOption<Database>,
    opening: Mutex<()>,
    client_configuration: RwLock<ClientConfiguration>,
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
    fn new(record: DatabaseRecord) -> Entry {
        let configuration = configuration_of(&record);
        Entry {
            record: RwLock::new(Arc::new(record)),
            open: ArcSwapOption::empty(),
            opening: Mutex::default(),
            client_configuration: RwLock::new(configuration),
        }
    }

    fn record(&self) -> Arc<DatabaseRecord> {
        self.record.read().clone()
    }

    fn close(&self) {
        let _opening = self.opening.lock();
        if let Some(database) = self.open.swap(None) {
            database.close();
        }
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
                Environment::open(&folder.join("system"), storage::Options::default())?
            }
        };
        let system = System::open(environment)?;
        let databases = Databases {
            operations: Operations::new(options.limits.ended_operations_count_max),
            client_configuration: RwLock::new(system.client_configuration()?),
            names: Names::default(),
            requests: RequestIds::default(),
            changing: Mutex::default(),
            system,
            options,
        };
        for folder in databases.system.deleting()? {
            databases.remove_folder(&folder)?;
        }
        for record in databases.system.records()? {
            let name = record.name().to_owned();
            databases.names.insert(&name, Arc::new(Entry::new(record)));
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
        let _opening = entry.opening.lock();
        if let Some(database) = entry.open.load_full() {
            return Ok(database);
        }
        let record = entry.record();
        if record.is_disabled() {
            return Err(Error::Disabled { name: record.name().to_owned() });
        }
        let environment = self.environment(&record)?;
        let database = Database::open(record.name(), environment, &self.options.node_tag, &self.options.limits)?;
        let database = Arc::new(database);
        entry.open.store(Some(database.clone()));
        Ok(database)
    }

    fn environment(&self, record: &DatabaseRecord) -> Result<Environment> {
        let options = storage::Options::default();
        Ok(match self.folder_of(record.name()) {
            Some(folder) if !record.is_in_memory() => Environment::open(&folder, options)?,
            _ => Environment::in_memory(options)?,
        })
    }

    fn folder_of(&self, name: &str) -> Option<PathBuf> {
        let folder = self.options.folder.as_ref()?;
        Some(folder.join("databases").join(name.to_ascii_lowercase()))
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
        let made = match self.options.folder {
            Some(_) if !draft.is_in_memory() => {
                let environment = self.environment(&draft)?;
                Some(Database::open(name, environment, node_tag, &self.options.limits)?)
            }
            _ => None,
        };
        let (record, index) = self.system.change(|system, tx, index| {
            let record = DatabaseRecord::new(record, name, node_tag, index, Date::now());
            system.put_record(tx, &record)?;
            Ok(record)
        })?;
        self.requests.insert(request_id, index);
        let is_disabled = record.is_disabled();
        let entry = Arc::new(Entry::new(record));
        if !is_disabled {
            entry.open.store(made.map(Arc::new));
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
            system.put_record(tx, &record)?;
            Ok(record)
        })?;
        let record = Arc::new(record);
        *entry.client_configuration.write() = configuration_of(&record);
        *entry.record.write() = record.clone();
        if record.is_disabled() {
            entry.close();
        }
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
            let folder = record.name().to_ascii_lowercase();
            let has_files = is_hard && self.options.folder.is_some() && !record.is_in_memory();
            let ((), index) = self.system.change(|system, tx, _| {
                system.delete_record(tx, record.name())?;
                if has_files { system.put_deleting(tx, &folder) } else { Ok(()) }
            })?;
            self.names.remove(record.name());
            entry.close();
            deletion.raft_index = Some(index);
            deletion.deleted.push(record.name().to_owned());
            if has_files {
                self.remove_folder(&folder)?;
            }
        }
        if let Some(index) = deletion.raft_index {
            self.requests.insert(request_id, index);
        }
        Ok(deletion)
    }

    /// Removes the files of a database whose record is gone. It is moved aside first, so that its name is free at once
    /// even while someone still reads it.
    fn remove_folder(&self, name: &str) -> Result<()> {
        if let Some(folder) = self.folder_of(name).filter(|folder| folder.exists()) {
            let aside = folder.with_file_name(format!(".deleted-{}", documents::id::random_guid()));
            std::fs::rename(&folder, &aside).map_err(|error| Error::io("rename", &folder, error))?;
            std::fs::remove_dir_all(&aside).map_err(|error| Error::io("remove", &aside, error))?;
        }
        self.system.forget_deleting(name)
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
        let entry = self.entry(name)?;
        let configuration = entry.client_configuration.read();
        Ok(ClientConfiguration::merged(&self.client_configuration.read(), &configuration))
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
    std::fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))
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
