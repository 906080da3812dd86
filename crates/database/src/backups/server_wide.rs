//! Backups of all databases of a node: one configuration, and a task in each database.
//!
//! The task has the name `Server Wide Backup, <name>`, and places of its own: the name of the database is appended to each folder.
//!
//! The admin of a database reads its record, and so does everybody who has a backup of it. Therefore the task in the record has no keys:
//! [`LEFT_OUT`] stands in their place, and [`tasks_of`] takes them from the configuration of the node when a task is planned.

use std::sync::Arc;

use json::Value;

use super::configuration::{
    ENCRYPTION, MISSING_DESTINATIONS, PERIODIC_BACKUPS, SERVER_WIDE_PREFIX, bad, server_wide_name,
};
use super::{BackupTask, DestinationKind};
use crate::entry::DatabaseEntry;
use crate::limits::{BACKUP_TASKS_MAX, SERVER_WIDE_EXCLUDED_MAX};
use crate::request_ids::Request;
use crate::{Databases, Error, Result, name};

const EXCLUDED: &str = "ExcludedDatabases";

/// What stands in a record in place of a key, an account or an address of the node.
const LEFT_OUT: &str = "(left out)";
/// The settings of places, and of encryption, that the admin of a database may see.
const VISIBLE: [&str; 6] =
    ["FolderPath", "RemoteFolderName", "BucketName", "AwsRegionName", "StorageContainer", "EncryptionMode"];

/// Whether a task of a database belongs to one of the node.
pub(crate) fn is_server_wide(task: &BackupTask) -> bool {
    task.name.starts_with(SERVER_WIDE_PREFIX)
}

/// The tasks of a record, those of the node with their keys. One whose backup the node does not have is passed over.
///
/// * `all`: the backups of the node.
pub(crate) fn tasks_of(record: &Value, all: &[Value]) -> Vec<BackupTask> {
    let database = record.get("DatabaseName").and_then(Value::as_str).unwrap_or_default();
    let Some(Value::Array(tasks)) = record.get(PERIODIC_BACKUPS) else { return Vec::new() };
    let resolved = tasks.iter().filter_map(|task| match server_wide_name(task) {
        None => BackupTask::from_json(task).ok(),
        Some(name) => BackupTask::from_json(&task_of(all.iter().find(|backup| named(backup, name))?, database)).ok(),
    });
    resolved.collect()
}

/// Removes the keys that former versions stored in records.
pub(crate) fn leave_out_keys(record: &mut Value) {
    let Some(Value::Array(mut tasks)) = record.remove(PERIODIC_BACKUPS) else { return };
    for task in &mut tasks {
        if server_wide_name(task).is_some() {
            *task = without_keys(task);
        }
    }
    record.set(PERIODIC_BACKUPS, Value::Array(tasks));
}

/// A task with [`LEFT_OUT`] in place of all texts of its places and its encryption that are not [`VISIBLE`].
fn without_keys(task: &Value) -> Value {
    let mut task = task.clone();
    // Settings of places that are not served may be stored as long as they are disabled.
    let unserved = MISSING_DESTINATIONS.map(|(settings, _)| settings);
    let places = DestinationKind::ALL.map(DestinationKind::settings_name).into_iter().chain(unserved);
    for part in places.chain([ENCRYPTION]) {
        let Some(Value::Object(members)) = task.get(part) else { continue };
        let mut settings = Value::object();
        for (name, value) in members {
            let is_plain = matches!(value, Value::Null | Value::Bool(_) | Value::Number(_));
            let is_visible = is_plain || VISIBLE.contains(&name.as_str());
            settings.set(name, if is_visible { value.clone() } else { LEFT_OUT.into() });
        }
        task.set(part, settings);
    }
    task
}

impl Databases {
    /// The backups of all databases, by name.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn server_wide_backups(&self) -> Result<Vec<Value>> {
        self.system.server_wide_backups()
    }

    /// Adds a backup of all databases but those in `ExcludedDatabases`, or replaces the one of its name; gives its name and the raft index.
    ///
    /// # Errors
    ///
    /// [`Error::BadBackup`] for a configuration that means nothing,
    /// [`Error::NotSupported`], or storage fails.
    pub fn put_server_wide_backup(&self, value: &Value, request_id: Option<&str>) -> Result<(String, u64)> {
        let mut task = value.clone();
        let excluded = excluded(&task)?;
        task.remove(EXCLUDED);
        let given = BackupTask::from_json(&task)?;
        self.check_places(&given.configuration)?;
        let request = Request::new("server-wide-backup", &[&given.name], request_id)?;
        let _changing = self.changing.lock();
        let mut all = self.server_wide_backups()?;
        if let Some(index) = self.system.applied(&request)? {
            let id = Value::Number(index.to_string());
            let made = all.iter().find(|known| known.get("TaskId") == Some(&id));
            let made = made.and_then(|known| known.get("Name")).and_then(Value::as_str);
            return Ok((made.map_or(given.name, str::to_owned), index));
        }
        let name = given.free_name(|name| all.iter().any(|known| named(known, name)));
        let former = all.iter().position(|known| named(known, &name));
        if former.is_none() && all.len() >= BACKUP_TASKS_MAX {
            return Err(bad(format!(
                "there are as many server-wide backups as BACKUP_TASKS_MAX allows: {BACKUP_TASKS_MAX}"
            )));
        }
        let id = match former {
            Some(former) => all[former].get("TaskId").cloned().unwrap_or(0.into()),
            None => Value::Number((self.system.raft_index()? + 1).to_string()),
        };
        let created = former.and_then(|former| all[former].get("CreatedAt").cloned());
        let mut stored = given.value;
        stored.set("Name", name.as_str().into());
        stored.set("TaskId", id);
        stored.set("CreatedAt", created.unwrap_or_else(|| Value::String(self.clock().now().to_string())));
        stored.set(EXCLUDED, Value::Array(excluded.iter().map(|name| name.as_str().into()).collect()));
        match former {
            Some(former) => all[former] = stored,
            None => all.push(stored),
        }
        all.sort_by_key(|known| known.get("Name").and_then(Value::as_str).map(str::to_owned));
        let index = self.change_server_wide(&request, all)?;
        Ok((name, index))
    }

    /// Enables or disables a backup of all databases; gives the raft index.
    ///
    /// # Errors
    ///
    /// As [`Self::delete_server_wide_backup`].
    pub fn set_server_wide_backup_disabled(
        &self,
        name: &str,
        is_disabled: bool,
        request_id: Option<&str>,
    ) -> Result<u64> {
        let request = Request::new("server-wide-backup-state", &[name, &is_disabled.to_string()], request_id)?;
        let _changing = self.changing.lock();
        if let Some(index) = self.system.applied(&request)? {
            return Ok(index);
        }
        let mut all = self.server_wide_backups()?;
        let backup = all.iter_mut().find(|known| named(known, name)).ok_or_else(|| unknown(name))?;
        if !is_disabled {
            let mut task = backup.clone();
            task.remove(EXCLUDED);
            BackupTask::from_json(&task)?.check_enabled()?;
        }
        backup.set("Disabled", is_disabled.into());
        self.change_server_wide(&request, all)
    }

    /// Removes a backup of all databases with its tasks; gives the raft index.
    ///
    /// # Errors
    ///
    /// [`Error::BadBackup`] if there is none of this name, or storage fails.
    pub fn delete_server_wide_backup(&self, name: &str, request_id: Option<&str>) -> Result<u64> {
        let request = Request::new("delete-server-wide-backup", &[name], request_id)?;
        let _changing = self.changing.lock();
        if let Some(index) = self.system.applied(&request)? {
            return Ok(index);
        }
        let mut all = self.server_wide_backups()?;
        let before = all.len();
        all.retain(|known| !named(known, name));
        if all.len() == before {
            return Err(unknown(name));
        }
        self.change_server_wide(&request, all)
    }

    /// The names of the backups of all databases that a record has enabled tasks of, and that back up no database of this name here.
    ///
    /// * `record`: that of another node, or from another time.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub(crate) fn missing_server_wide_backups(&self, record: &Value, database: &str) -> Result<Vec<String>> {
        let Some(Value::Array(tasks)) = record.get(PERIODIC_BACKUPS) else { return Ok(Vec::new()) };
        let all = self.server_wide_backups()?;
        let is_enabled = |task: &&Value| task.get("Disabled") != Some(&Value::Bool(true));
        let names = tasks.iter().filter(is_enabled).filter_map(server_wide_name);
        let covers =
            |backup: &Value, name: &str| named(backup, name) && is_enabled(&backup) && !excludes(backup, database);
        let missing = names.filter(|name| !all.iter().any(|backup| covers(backup, name)));
        Ok(missing.map(str::to_owned).collect())
    }

    /// Stores the backups of all databases, and gives each database its tasks, in one transaction.
    fn change_server_wide(&self, request: &Request, all: Vec<Value>) -> Result<u64> {
        let entries: Vec<Arc<DatabaseEntry>> = self.names.all();
        self.change_records_and(
            request,
            &entries,
            |record, _| set_tasks(record, &all),
            |system, tx| system.put_server_wide_backups(tx, &all),
        )
    }
}

/// Gives a record the tasks that belong to backups of the node, and takes away those that no longer do.
///
/// * `all`: the backups of the node.
pub(crate) fn set_tasks(record: &mut Value, all: &[Value]) {
    let database = record.get("DatabaseName").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut tasks = match record.remove(PERIODIC_BACKUPS) {
        Some(Value::Array(tasks)) => tasks,
        _ => Vec::new(),
    };
    tasks.retain(|task| server_wide_name(task).is_none());
    let own = all.iter().filter(|backup| !excludes(backup, &database));
    tasks.extend(own.map(|backup| without_keys(&task_of(backup, &database))));
    record.set(PERIODIC_BACKUPS, Value::Array(tasks));
}

/// The task of a database, with its keys.
fn task_of(backup: &Value, database: &str) -> Value {
    let mut task = backup.clone();
    task.remove(EXCLUDED);
    let name = backup.get("Name").and_then(Value::as_str).unwrap_or_default();
    task.set("Name", Value::String(format!("{SERVER_WIDE_PREFIX}{name}")));
    for kind in DestinationKind::ALL {
        let Some(settings @ Value::Object(_)) = backup.get(kind.settings_name()) else { continue };
        let folder = if kind == DestinationKind::Local { "FolderPath" } else { "RemoteFolderName" };
        let before = settings.get(folder).and_then(Value::as_str).unwrap_or_default().trim_end_matches('/');
        let own = if before.is_empty() { database.to_owned() } else { format!("{before}/{database}") };
        let mut settings = settings.clone();
        settings.set(folder, Value::String(own));
        task.set(kind.settings_name(), settings);
    }
    task
}

/// Whether a backup of all databases leaves one out.
fn excludes(backup: &Value, database: &str) -> bool {
    excluded(backup).unwrap_or_default().iter().any(|name| name.eq_ignore_ascii_case(database))
}

fn unknown(name: &str) -> Error {
    bad(format!("there is no server-wide backup '{name}'"))
}

fn named(backup: &Value, name: &str) -> bool {
    backup.get("Name").and_then(Value::as_str).is_some_and(|known| known.eq_ignore_ascii_case(name))
}

fn excluded(backup: &Value) -> Result<Vec<String>> {
    let wrong = || bad(format!("'{EXCLUDED}' must be an array of names of databases"));
    let names = match backup.get(EXCLUDED) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(names)) => names,
        Some(_) => return Err(wrong()),
    };
    if names.len() > SERVER_WIDE_EXCLUDED_MAX {
        let count = names.len();
        return Err(bad(format!(
            "'{EXCLUDED}' has {count} names, over the limit SERVER_WIDE_EXCLUDED_MAX of {SERVER_WIDE_EXCLUDED_MAX}"
        )));
    }
    let names =
        names.iter().map(|name| name.as_str().map(str::to_owned).ok_or_else(wrong)).collect::<Result<Vec<_>>>()?;
    names.iter().try_for_each(|name| name::check(name))?;
    Ok(names)
}
