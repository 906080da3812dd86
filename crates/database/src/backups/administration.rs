//! The tasks of databases, and beginning backups: what clients ask of the node.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use documents::Date;
use json::Value;

use super::archive::Host;
use super::configuration::{PERIODIC_BACKUPS, bad};
use super::server_wide::{self, is_server_wide};
use super::spool::IN_PROGRESS;
use super::{
    ArchiveState, ArchiveStatus, BackupConfiguration, BackupStarted, BackupStatus, BackupTask, Destination,
    DestinationKind, DestinationSettings, FolderDestination, RunningBackup,
};
use crate::clock::later;
use crate::limits::{ARCHIVE_WAITING_BYTES_MAX, BACKUP_TASKS_MAX};
use crate::request_ids::Request;
use crate::smuggler::restored_record;
use crate::{Database, DatabaseRecord, Databases, Result};

impl Databases {
    /// The tasks of a database.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`]
    pub fn backup_tasks(&self, name: &str) -> Result<Vec<BackupTask>> {
        Ok(server_wide::tasks_of(&self.record(name)?.value, &self.server_wide_backups()?))
    }

    /// Adds a task to a database, or replaces the one of its `TaskId`; gives the raft index and the id.
    ///
    /// # Errors
    ///
    /// [`Error::BadBackup`] for a configuration that means nothing or has a folder where none may be, [`Error::NotSupported`],
    /// [`Error::Missing`], or storage fails.
    pub fn put_backup_task(&self, name: &str, value: &Value, request_id: Option<&str>) -> Result<(u64, u64)> {
        let given = BackupTask::from_json(value)?;
        self.check_places(&given.configuration)?;
        let request = Request::new("backup-task", &[name, &given.name], request_id)?;
        let _changing = self.changing.lock();
        let tasks = self.backup_tasks(name)?;
        if let Some(record) = self.repeated(&request, name)? {
            let made = || tasks.iter().find(|task| task.id == record.etag);
            let named = || tasks.iter().find(|task| task.name == given.name);
            let id = match given.id {
                0 => made().or_else(named).map_or(0, |task| task.id),
                id => id,
            };
            return Ok((record.etag, id));
        }
        let former = tasks.iter().find(|task| task.id == given.id && given.id != 0);
        former.map_or(Ok(()), refuse_server_wide)?;
        refuse_server_wide(&given)?;
        if former.is_none() && given.id != 0 {
            return Err(bad(format!("database '{name}' has no backup task {}", given.id)));
        }
        if given.is_archived {
            if self.is_in_memory() {
                return Err(bad(
                    "a server that keeps its databases in memory cannot archive them: 'PointInTime' needs a journal",
                ));
            }
            if let Some(other) = tasks.iter().find(|task| task.id != given.id && task.is_archived) {
                return Err(bad(format!(
                    "database '{name}' is archived by the task '{}'. One task with 'PointInTime' is enough for a database",
                    other.name
                )));
            }
        }
        let is_taken =
            |name: &str| tasks.iter().any(|task| task.id != given.id && task.name.eq_ignore_ascii_case(name));
        let task_name = given.free_name(is_taken);
        if is_taken(&task_name) {
            return Err(bad(format!("database '{name}' has another backup task with the name '{task_name}'")));
        }
        if former.is_none() && tasks.len() >= BACKUP_TASKS_MAX {
            return Err(bad(format!(
                "database '{name}' has as many backup tasks as BACKUP_TASKS_MAX allows: {BACKUP_TASKS_MAX}"
            )));
        }
        let created = former.and_then(|task| task.value.get("CreatedAt").cloned()).filter(|at| *at != Value::Null);
        let created = created.unwrap_or_else(|| Value::String(self.clock().now().to_string()));
        let id = std::sync::atomic::AtomicU64::new(given.id);
        let change = |record: &mut Value, index: u64| {
            let own = if given.id == 0 { index } else { given.id };
            id.store(own, std::sync::atomic::Ordering::Relaxed);
            let mut task = given.value.clone();
            task.set("Name", task_name.as_str().into());
            task.set("TaskId", Value::Number(own.to_string()));
            task.set("CreatedAt", created.clone());
            change_tasks(record, |tasks| match tasks.iter_mut().find(|task| id_of(task) == Some(own)) {
                Some(former) => *former = task,
                None => tasks.push(task),
            });
        };
        let index = self.change_records(&request, &[self.entry(name)?], change)?;
        Ok((index, id.into_inner()))
    }

    /// Enables or disables a task; gives the raft index. One that was disabled begins with a full backup: deletions are not kept for it.
    ///
    /// # Errors
    ///
    /// [`Error::BadBackup`] if there is no such task, [`Error::Missing`], or storage fails.
    pub fn set_backup_task_disabled(
        &self,
        name: &str,
        id: u64,
        is_disabled: bool,
        request_id: Option<&str>,
    ) -> Result<u64> {
        let request = Request::new("backup-task-state", &[name, &format!("{id} {is_disabled}")], request_id)?;
        let _changing = self.changing.lock();
        let task = self.find_backup_task(name, id)?;
        refuse_server_wide(&task)?;
        if let Some(record) = self.repeated(&request, name)? {
            return Ok(record.etag);
        }
        if !is_disabled {
            task.check_enabled()?;
        }
        if is_disabled && let Some(status) = self.backup_status(name, id)? {
            self.system.put_backup_status(name, &BackupStatus { folder: String::new(), ..status })?;
        }
        let change = |record: &mut Value, _| {
            change_tasks(record, |tasks| {
                let task = tasks.iter_mut().find(|task| id_of(task) == Some(id));
                task.into_iter().for_each(|task| task.set("Disabled", is_disabled.into()));
            });
        };
        self.change_records(&request, &[self.entry(name)?], change)
    }

    /// Removes a task with what is remembered of it; gives the raft index. Its backups stay.
    ///
    /// # Errors
    ///
    /// As [`Self::set_backup_task_disabled`].
    pub fn delete_backup_task(&self, name: &str, id: u64, request_id: Option<&str>) -> Result<u64> {
        let request = Request::new("delete-backup-task", &[name, &id.to_string()], request_id)?;
        let _changing = self.changing.lock();
        if let Some(record) = self.repeated(&request, name)? {
            return Ok(record.etag);
        }
        refuse_server_wide(&self.find_backup_task(name, id)?)?;
        if let Some(running) = self.backups.running(name, id) {
            running.operation.kill();
        }
        let change = |record: &mut Value, _| change_tasks(record, |tasks| tasks.retain(|task| id_of(task) != Some(id)));
        let index = self.change_records(&request, &[self.entry(name)?], change)?;
        self.system.delete_backup_status(name, id)?;
        Ok(index)
    }

    /// A task.
    ///
    /// # Errors
    ///
    /// [`Error::BadBackup`] if there is none of this id, [`Error::Missing`].
    pub fn find_backup_task(&self, name: &str, id: u64) -> Result<BackupTask> {
        let task = self.backup_tasks(name)?.into_iter().find(|task| task.id == id);
        task.ok_or_else(|| bad(format!("database '{name}' has no backup task {id}")))
    }

    /// What is remembered of the backups of a task; `None`: none was tried.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn backup_status(&self, name: &str, id: u64) -> Result<Option<BackupStatus>> {
        self.system.backup_status(name, id)
    }

    pub(crate) fn put_backup_status(&self, name: &str, status: &BackupStatus) -> Result<()> {
        let _changing = self.changing.lock();
        // It may have been deleted meanwhile.
        match self.find_backup_task(name, status.task_id) {
            Ok(_) => self.system.put_backup_status(name, status),
            Err(_) => Ok(()),
        }
    }

    /// When a task runs next, and whether it makes a full backup then; `None`: it is disabled, or runs.
    pub fn next_backup(&self, name: &str, id: u64) -> Option<(Date, bool)> {
        self.backups.next(name, id)
    }

    /// The backup that a task makes now, or waits to make.
    pub fn running_backup(&self, name: &str, id: u64) -> Option<RunningBackup> {
        self.backups.running(name, id)
    }

    /// Has a task make a backup now, which is an operation of the database.
    ///
    /// # Errors
    ///
    /// As [`Self::find_backup_task`], and [`Error::Disabled`].
    pub fn begin_backup_of_task(&self, name: &str, id: u64, is_full: bool) -> Result<BackupStarted> {
        let task = Arc::new(self.find_backup_task(name, id)?);
        let configuration = Arc::new(task.configuration.clone());
        self.backups.begin(&self.find(name)?, Some(task), configuration, is_full)
    }

    /// Makes one full backup, which is an operation of the database.
    ///
    /// # Errors
    ///
    /// [`Error::BadBackup`] for a folder where none may be, [`Error::BackupWaits`], [`Error::Missing`], [`Error::Disabled`].
    pub fn begin_backup(&self, name: &str, configuration: BackupConfiguration) -> Result<BackupStarted> {
        self.check_places(&configuration)?;
        self.backups.begin(&self.find(name)?, None, Arc::new(configuration), true)
    }

    /// Puts the next run of a task off. A backup that it makes now is ended.
    ///
    /// # Errors
    ///
    /// As [`Self::find_backup_task`]; storage fails.
    pub fn delay_backup(&self, name: &str, id: u64, by: Duration) -> Result<()> {
        let now = self.clock().now();
        let until = later(now, by);
        let running = self.running_backup(name, id);
        {
            let _changing = self.changing.lock();
            self.find_backup_task(name, id)?;
            let before = self.backup_status(name, id)?;
            let node_tag = self.node_tag().to_owned();
            let before = before.unwrap_or(BackupStatus { task_id: id, node_tag, ..BackupStatus::default() });
            let original_time =
                before.original_time.or_else(|| self.next_backup(name, id).map(|(at, _)| at)).or(Some(now));
            let status = BackupStatus { delay_until: Some(until), original_time, ..before };
            self.system.put_backup_status(name, &status)?;
            self.configure_backups(name)?;
        }
        if let Some(running) = running {
            running.operation.kill();
        }
        Ok(())
    }

    /// Tells the scheduler which tasks a database has.
    pub(crate) fn configure_backups(&self, name: &str) -> Result<()> {
        let record = self.record(name)?;
        let tasks = if record.is_disabled() { Vec::new() } else { self.backup_tasks(name)? };
        let statuses = if tasks.is_empty() { Vec::new() } else { self.system.backup_statuses(name)? };
        let archived = tasks.iter().find(|task| task.is_archived && !task.is_disabled).cloned();
        if !record.is_disabled()
            && let Some(open) = self.peek(name)?
            && !self.is_in_memory()
        {
            let bytes_max = archived.as_ref().map(|_| ARCHIVE_WAITING_BYTES_MAX);
            open.documents().environment().set_archive(bytes_max)?;
        }
        self.backups.configure(name, tasks, &statuses);
        self.archiver.configure(name, archived);
        Ok(())
    }

    /// How far the archive of a task has come; `None`: the database is not archived by it.
    ///
    /// # Errors
    ///
    /// As [`Self::find_backup_task`]; storage fails.
    pub fn archive_status(&self, name: &str, id: u64) -> Result<Option<ArchiveStatus>> {
        if !self.find_backup_task(name, id)?.is_archived {
            return Ok(None);
        }
        let Some(status) = self.archiver.status(name) else { return Ok(None) };
        let Some(state) = self.archive_state(name, id)? else { return Ok(Some(status)) };
        let (transaction, time) = (state.position.transaction.0, Some(state.time));
        Ok(Some(ArchiveStatus { folder: Some(state.folder), transaction, time, ..status }))
    }

    fn change_archive(&self, name: &str, state: &ArchiveState, change: impl FnOnce() -> Result<()>) -> Result<()> {
        let _changing = self.changing.lock();
        let known = self.archive_state(name, state.task_id)?;
        if known.is_some_and(|known| known.folder == state.folder) { change() } else { Ok(()) }
    }

    pub(crate) fn check_places(&self, configuration: &BackupConfiguration) -> Result<()> {
        for place in &configuration.destinations {
            if place.is_restricted && place.kind == DestinationKind::Local {
                self.check_below_root(&self.backup_folder(&place.settings)?)?;
            }
            // A program that opens no such places says so now, not at night.
            self.open_destination(place)?;
        }
        Ok(())
    }

    /// Refuses a folder outside of the one for backups, which the setting names or which is in the data directory.
    fn check_below_root(&self, place: &FolderDestination) -> Result<()> {
        let root = self.options.backup_root.clone().or_else(|| Some(self.folder()?.join("backups")));
        match root {
            Some(root) if place.folder().starts_with(&root) => Ok(()),
            _ => Err(bad(format!(
                "the folder '{}' of a backup does not lie in the folder for backups, and only operators may choose others. \
                 Give a name such as 'shop', which lies there",
                place.folder().display()
            ))),
        }
    }

    fn check_allowed(&self, kind: DestinationKind) -> Result<()> {
        match &self.options.allowed_destinations {
            Some(allowed) if !allowed.contains(&kind) => Err(bad(format!(
                "'{}' is not among the destinations that the setting Backup.AllowedDestinations allows",
                kind.settings_name()
            ))),
            _ => Ok(()),
        }
    }

    /// Opens a place for backups.
    ///
    /// # Errors
    ///
    /// [`Error::BadBackup`] for a folder where none may be, [`Error::NotSupported`], [`Error::Destination`].
    pub fn open_destination(&self, settings: &DestinationSettings) -> Result<Arc<dyn Destination>> {
        self.check_allowed(settings.kind)?;
        match settings.kind {
            DestinationKind::Local => Ok(Arc::new(self.backup_folder(&settings.settings)?)),
            _ => self.options.destinations.open(settings),
        }
    }

    /// The folder of `LocalSettings`: a relative one lies below the folder that the node allows, or below its data.
    ///
    /// # Errors
    ///
    /// [`Error::BadBackup`]: it lies outside of the folder that the node allows.
    pub fn backup_folder(&self, settings: &Value) -> Result<FolderDestination> {
        self.check_allowed(DestinationKind::Local)?;
        let text = settings.get("FolderPath").and_then(Value::as_str).unwrap_or_default();
        let given = Path::new(text);
        if text.contains(char::is_control) {
            return Err(bad(format!(
                "the folder '{}' of a backup must not have control characters in it",
                text.escape_debug()
            )));
        }
        if given.components().any(|part| part == Component::ParentDir) {
            return Err(bad(format!("the folder '{text}' of a backup must not have '..' in it")));
        }
        let root = self.options.backup_root.as_deref();
        if given.is_absolute() {
            return match root {
                Some(root) if !given.starts_with(root) => Err(bad(format!(
                    "the folder '{text}' of a backup is not below '{}', where the setting Backup.LocalRootPath wants all of them",
                    root.display()
                ))),
                _ => Ok(FolderDestination::new(given)),
            };
        }
        match (root, self.folder()) {
            (Some(root), _) => Ok(FolderDestination::new(root.join(given))),
            (None, Some(folder)) => Ok(FolderDestination::new(folder.join("backups").join(given))),
            (None, None) => {
                Err(bad(format!("the folder '{text}' of a backup must be absolute: this server keeps nothing on disk")))
            }
        }
    }
}

impl Host for Databases {
    fn node_tag(&self) -> &str {
        self.node_tag()
    }

    fn peek_at(&self, name: &str) -> Option<Arc<Database>> {
        self.peek(name).ok()?
    }

    fn find_database(&self, name: &str) -> Result<Arc<Database>> {
        self.find(name)
    }

    fn archived_record(&self, name: &str) -> Result<Value> {
        Ok(restored_record(&self.record(name)?.value))
    }

    fn open_place(&self, settings: &DestinationSettings) -> Result<Arc<dyn Destination>> {
        self.open_destination(settings)
    }

    fn spool_folder(&self) -> PathBuf {
        self.folder().map_or_else(std::env::temp_dir, Path::to_path_buf).join(IN_PROGRESS)
    }

    fn archive_state(&self, name: &str, id: u64) -> Result<Option<ArchiveState>> {
        self.system.archive_state(name, id)
    }

    fn begin_archive(&self, name: &str, state: &ArchiveState) -> Result<()> {
        {
            let _changing = self.changing.lock();
            // It may have been deleted meanwhile.
            if self.find_backup_task(name, state.task_id).is_ok() {
                self.system.put_archive_state(name, state)?;
            }
        }
        self.archiver.resume(name);
        Ok(())
    }

    fn resume_archive(&self, name: &str) {
        self.archiver.resume(name);
    }

    fn advance_archive(&self, name: &str, state: &ArchiveState) -> Result<()> {
        self.change_archive(name, state, || self.system.put_archive_state(name, state))
    }

    fn end_archive(&self, name: &str, state: &ArchiveState) -> Result<()> {
        self.change_archive(name, state, || self.system.delete_archive_state(name, state.task_id))
    }

    fn ask_for_snapshot(&self, name: &str, task: u64) -> Result<()> {
        if self.running_backup(name, task).is_none() {
            self.begin_backup_of_task(name, task, true)?;
        }
        Ok(())
    }
}

/// Bytes of the journal that a database keeps for its archive; `None`: it has none.
pub(crate) fn archive_bytes_max(record: &DatabaseRecord) -> Option<u64> {
    let tasks = BackupTask::of_record(&record.value);
    let is_archived = tasks.iter().any(|task| task.is_archived && !task.is_disabled);
    is_archived.then_some(ARCHIVE_WAITING_BYTES_MAX)
}

/// A task that belongs to a backup of all databases is changed with that.
fn refuse_server_wide(task: &BackupTask) -> Result<()> {
    match is_server_wide(task) {
        false => Ok(()),
        true => Err(bad(format!(
            "the task '{}' belongs to a server-wide backup. Change that, or exclude this database from it",
            task.name
        ))),
    }
}

fn id_of(task: &Value) -> Option<u64> {
    task.get("TaskId").and_then(Value::as_i64).and_then(|id| u64::try_from(id).ok())
}

fn change_tasks(record: &mut Value, change: impl FnOnce(&mut Vec<Value>)) {
    let mut tasks = match record.remove(PERIODIC_BACKUPS) {
        Some(Value::Array(tasks)) => tasks,
        _ => Vec::new(),
    };
    change(&mut tasks);
    record.set(PERIODIC_BACKUPS, Value::Array(tasks));
}
