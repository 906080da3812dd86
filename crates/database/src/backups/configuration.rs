//! What a backup is to be: the configuration of one, and of a task that makes them by the clock.
//!
//! ```text
//! {"Name":"nightly","TaskId":9,"Disabled":false,"FullBackupFrequency":"0 2 * * *","IncrementalBackupFrequency":"*/15 * * * *",
//!  "RetentionPolicy":{"Disabled":false,"MinimumBackupAgeToKeep":"7.00:00:00"},"BackupType":"Backup",
//!  "LocalSettings":{"FolderPath":"/backups"}}
//! ```

use std::fmt;
use std::time::Duration;

use documents::{Feature, base64};
use json::Value;

use super::encryption::{BackupKey, KEY_SIZE};
use super::schedule::Schedule;
use crate::limits::{
    BACKUP_COMPRESSION_LEVEL, BACKUP_OPTIMAL_LEVEL, BACKUP_SMALLEST_LEVEL, BACKUP_TASK_NAME_SIZE_MAX, BACKUP_TASKS_MAX,
};
use crate::time_span::{self, TIME_SPAN};
use crate::{Error, Result};

/// The property of a record that has the tasks.
pub(crate) const PERIODIC_BACKUPS: &str = "PeriodicBackups";
/// The property of a configuration with its key.
pub(super) const ENCRYPTION: &str = "BackupEncryptionSettings";
/// What the names of tasks of the node begin with, in each database.
pub(super) const SERVER_WIDE_PREFIX: &str = "Server Wide Backup, ";
/// The property of a task whose database is archived.
const POINT_IN_TIME: &str = "PointInTime";

/// The property of a configuration that an operator did not make. RavenDB does not have it.
const RESTRICTED: &str = "Restricted";

/// Notes in a configuration whether it is that of someone below operator, whatever it said before. Its places are then restricted to the
/// folder for backups, and to addresses that are neither this machine's nor its link's.
pub fn set_restricted(configuration: &mut Value, is_restricted: bool) {
    configuration.remove(RESTRICTED);
    if is_restricted {
        configuration.set(RESTRICTED, true.into());
    }
}

/// What a backup holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupKind {
    /// A dump: the documents as JSON, with definitions of indexes.
    Backup,
    /// An image of the storage, with that of the indexes, which are then not built again.
    Snapshot,
}

impl BackupKind {
    /// Its name in JSON.
    pub fn wire_name(self) -> &'static str {
        match self {
            BackupKind::Backup => "Backup",
            BackupKind::Snapshot => "Snapshot",
        }
    }
}

/// A kind of place where backups are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DestinationKind {
    /// A folder of the server's machine.
    Local,
    /// A bucket of Amazon S3, or of something that speaks its protocol.
    S3,
    /// A container of Azure Blob Storage.
    Azure,
    /// A bucket of Google Cloud Storage.
    GoogleCloud,
}

impl DestinationKind {
    /// All of them, in the order in which a backup goes to them.
    pub const ALL: [DestinationKind; 4] =
        [DestinationKind::Local, DestinationKind::S3, DestinationKind::Azure, DestinationKind::GoogleCloud];

    /// Its name in lists of destinations, and as the `Type` of a restore.
    pub fn wire_name(self) -> &'static str {
        match self {
            DestinationKind::Local => "Local",
            DestinationKind::S3 => "S3",
            DestinationKind::Azure => "Azure",
            DestinationKind::GoogleCloud => "GoogleCloud",
        }
    }

    /// The property of a configuration with its settings.
    pub fn settings_name(self) -> &'static str {
        match self {
            DestinationKind::Local => "LocalSettings",
            DestinationKind::S3 => "S3Settings",
            DestinationKind::Azure => "AzureSettings",
            DestinationKind::GoogleCloud => "GoogleCloudSettings",
        }
    }
}

/// A place where backups are kept, with what is needed to reach it.
#[derive(Clone, PartialEq)]
pub struct DestinationSettings {
    /// What it is.
    pub kind: DestinationKind,
    /// `{"FolderPath":"/backups"}`, `{"BucketName":"..","AwsRegionName":"..",..}`, ..
    pub settings: Value,
    /// Whether someone below operator chose it: see [`set_restricted`].
    pub is_restricted: bool,
}

/// The settings have keys and tokens, which stay out of logs: their names are shown.
impl fmt::Debug for DestinationSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.settings.members().iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("DestinationSettings").field("kind", &self.kind).field("settings", &names).finish()
    }
}

/// The properties of settings that name destinations which cannot be used.
pub(super) const MISSING_DESTINATIONS: [(&str, &str); 2] =
    [("FtpSettings", "backups to FTP servers"), ("GlacierSettings", "backups to Amazon Glacier")];

/// What a backup is to be.
#[derive(Clone, Debug)]
pub struct BackupConfiguration {
    /// What it holds.
    pub kind: BackupKind,
    /// Where it goes; at least one, but of a disabled task.
    pub destinations: Vec<DestinationSettings>,
    /// The key that it can be read with alone.
    pub(crate) key: Option<BackupKey>,
    /// Documents that are read in a second.
    pub per_second: Option<u64>,
    /// The level of zstd that files are compressed at.
    pub(crate) compression_level: i32,
    /// Whether a snapshot leaves the images of indexes out, which are then built again.
    pub excludes_indexes: bool,
}

/// A task of a database that makes backups by the clock.
#[derive(Clone)]
pub struct BackupTask {
    /// The raft index under which it was made.
    pub id: u64,
    /// What people call it.
    pub name: String,
    /// Whether it waits to be enabled.
    pub is_disabled: bool,
    /// What its backups are.
    pub configuration: BackupConfiguration,
    pub(crate) full: Option<Schedule>,
    pub(crate) incremental: Option<Schedule>,
    /// How old backups must be to be removed; `None`: they stay.
    pub retention: Option<Duration>,
    /// Whether the journal goes to its places too, so that each state since its first snapshot can be restored.
    pub is_archived: bool,
    /// The configuration as clients know it.
    pub value: Value,
}

impl BackupConfiguration {
    /// Reads the configuration of one backup, such as `{"BackupType":"Backup","LocalSettings":{"FolderPath":"/backups"}}`.
    ///
    /// # Errors
    ///
    /// [`Error::BadBackup`] for one that means nothing, [`Error::NotSupported`] for what cannot be served.
    pub fn from_json(value: &Value) -> Result<BackupConfiguration> {
        let read = read(value)?;
        if read.is_archived {
            return Err(bad(format!("'{POINT_IN_TIME}' is an option of backup tasks, not of a single backup")));
        }
        read.configuration.check_destinations()?;
        Ok(read.configuration)
    }

    /// Refuses one without a destination. A task has none while it is disabled: it waits for the rest of its settings.
    fn check_destinations(&self) -> Result<()> {
        match self.destinations.is_empty() {
            true => Err(bad(
                "the backup has no destination. Give it 'LocalSettings', 'S3Settings', 'AzureSettings' or 'GoogleCloudSettings'",
            )),
            false => Ok(()),
        }
    }

    /// Whether its files can be read only with a key.
    pub fn is_encrypted(&self) -> bool {
        self.key.is_some()
    }

    /// Whether it goes anywhere else than to a folder.
    pub fn has_cloud(&self) -> bool {
        self.destinations.iter().any(|place| place.kind != DestinationKind::Local)
    }
}

/// `value` has the settings of destinations, and the key.
impl fmt::Debug for BackupTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("BackupTask");
        debug.field("id", &self.id).field("name", &self.name).field("is_disabled", &self.is_disabled);
        debug.field("configuration", &self.configuration).finish_non_exhaustive()
    }
}

impl BackupTask {
    /// Reads the configuration of a task.
    ///
    /// # Errors
    ///
    /// As [`BackupConfiguration::from_json`].
    pub fn from_json(value: &Value) -> Result<BackupTask> {
        let Read { configuration, name, id, is_disabled, full, incremental, retention, is_archived } = read(value)?;
        if full.is_none() && incremental.is_none() {
            return Err(bad(
                "'FullBackupFrequency' or 'IncrementalBackupFrequency' must have a cron expression, such as '0 2 * * *'",
            ));
        }
        if !is_disabled {
            configuration.check_destinations()?;
        }
        if is_archived && configuration.kind != BackupKind::Snapshot {
            return Err(bad(format!("'{POINT_IN_TIME}' needs the 'BackupType' Snapshot")));
        }
        let name = name.filter(|name| !name.is_empty());
        Ok(BackupTask {
            id,
            name: name.unwrap_or_else(|| default_name(&configuration)),
            is_disabled,
            configuration,
            full,
            incremental,
            retention,
            is_archived,
            value: completed(value),
        })
    }

    /// Refuses to enable a task that lacks something for it.
    ///
    /// # Errors
    ///
    /// [`Error::BadBackup`]: it has no destination.
    pub(super) fn check_enabled(&self) -> Result<()> {
        self.configuration.check_destinations()
    }

    /// Its name, with a number behind it if the name was made here and others have it.
    ///
    /// * `is_taken`: whether another task has a name.
    pub(super) fn free_name(&self, is_taken: impl Fn(&str) -> bool) -> String {
        let is_given = self.value.get("Name").and_then(Value::as_str).is_some_and(|name| !name.is_empty());
        let numbered = (2..).map(|number| format!("{} #{number}", self.name));
        let mut names = std::iter::once(self.name.clone()).chain(numbered);
        names.find(|name| is_given || !is_taken(name)).unwrap_or_default()
    }

    /// The tasks of a record, which were checked before it was stored. Those of server-wide backups have no keys and cannot run:
    /// [`crate::Databases::backup_tasks`] gives all of them whole.
    pub fn of_record(record: &Value) -> Vec<BackupTask> {
        let Some(Value::Array(tasks)) = record.get(PERIODIC_BACKUPS) else { return Vec::new() };
        tasks.iter().filter_map(|task| read_from_record(task).ok()).collect()
    }
}

/// A task as it can be read from a record alone: one of the node has neither keys nor encryption.
///
/// # Errors
///
/// As [`BackupTask::from_json`].
fn read_from_record(task: &Value) -> Result<BackupTask> {
    match server_wide_name(task) {
        None => BackupTask::from_json(task),
        Some(_) => {
            let mut task = task.clone();
            task.remove(ENCRYPTION);
            BackupTask::from_json(&task)
        }
    }
}

/// The name of the backup of the node that a task belongs to.
pub(super) fn server_wide_name(task: &Value) -> Option<&str> {
    task.get("Name").and_then(Value::as_str).unwrap_or_default().strip_prefix(SERVER_WIDE_PREFIX)
}

/// Refuses tasks in a record that mean nothing.
///
/// # Errors
///
/// As [`BackupConfiguration::from_json`].
pub(crate) fn check_tasks(tasks: &Value) -> Result<()> {
    match tasks {
        Value::Null => Ok(()),
        Value::Array(tasks) if tasks.len() > BACKUP_TASKS_MAX => {
            let count = tasks.len();
            Err(bad(format!(
                "'{PERIODIC_BACKUPS}' has {count} tasks, over the limit BACKUP_TASKS_MAX of {BACKUP_TASKS_MAX}"
            )))
        }
        Value::Array(tasks) => {
            let mut ids = Vec::with_capacity(tasks.len());
            tasks.iter().try_for_each(|task| check_task(task, &mut ids))
        }
        _ => Err(bad(format!("'{PERIODIC_BACKUPS}' must be an array"))),
    }
}

/// Refuses one task of a record.
///
/// * `ids`: of the tasks before it; its own is added.
///
/// # Errors
///
/// As [`check_tasks`].
pub(super) fn check_task(task: &Value, ids: &mut Vec<u64>) -> Result<()> {
    let task = read_from_record(task)?;
    if task.id == 0 || ids.contains(&task.id) {
        return Err(bad(format!("each of '{PERIODIC_BACKUPS}' must have a 'TaskId' of its own")));
    }
    if ids.len() >= BACKUP_TASKS_MAX {
        return Err(bad(format!(
            "'{PERIODIC_BACKUPS}' has more tasks than the limit BACKUP_TASKS_MAX = {BACKUP_TASKS_MAX}"
        )));
    }
    ids.push(task.id);
    Ok(())
}

/// The name of a task that has none, as RavenDB makes it.
fn default_name(configuration: &BackupConfiguration) -> String {
    let kinds: Vec<&str> = configuration.destinations.iter().map(|place| place.kind.wire_name()).collect();
    match kinds.is_empty() {
        true => format!("{} w/o destinations", configuration.kind.wire_name()),
        false => format!("{} to {}", configuration.kind.wire_name(), kinds.join(", ")),
    }
}

/// What a configuration says, of one backup or of a task.
struct Read {
    configuration: BackupConfiguration,
    name: Option<String>,
    id: u64,
    is_disabled: bool,
    full: Option<Schedule>,
    incremental: Option<Schedule>,
    retention: Option<Duration>,
    is_archived: bool,
}

fn read(value: &Value) -> Result<Read> {
    let Value::Object(members) = value else { return Err(bad("the configuration of a backup must be an object")) };
    let configuration = BackupConfiguration {
        kind: BackupKind::Backup,
        destinations: Vec::new(),
        key: None,
        per_second: None,
        compression_level: BACKUP_COMPRESSION_LEVEL,
        excludes_indexes: false,
    };
    let mut read = Read {
        configuration,
        name: None,
        id: 0,
        is_disabled: false,
        full: None,
        incremental: None,
        retention: None,
        is_archived: false,
    };
    for (name, value) in members.iter().filter(|(_, value)| *value != Value::Null) {
        read_property(&mut read, name, value)?;
    }
    let is_restricted = value.get(RESTRICTED).and_then(Value::as_bool) == Some(true);
    read.configuration.destinations.iter_mut().for_each(|place| place.is_restricted = is_restricted);
    let order = |place: &DestinationSettings| DestinationKind::ALL.iter().position(|kind| *kind == place.kind);
    read.configuration.destinations.sort_by_key(order);
    Ok(read)
}

fn read_property(read: &mut Read, name: &str, value: &Value) -> Result<()> {
    let configuration = &mut read.configuration;
    match name {
        "Name" => {
            let text = text(name, value)?;
            if text.len() > BACKUP_TASK_NAME_SIZE_MAX {
                let size = text.len();
                return Err(bad(format!(
                    "'Name' has {size} bytes, over the limit BACKUP_TASK_NAME_SIZE_MAX of {BACKUP_TASK_NAME_SIZE_MAX}"
                )));
            }
            read.name = Some(text.to_owned());
        }
        "TaskId" => read.id = count(name, value)?,
        "Disabled" => read.is_disabled = flag(name, value)?,
        "FullBackupFrequency" => read.full = schedule(name, value)?,
        "IncrementalBackupFrequency" => read.incremental = schedule(name, value)?,
        "RetentionPolicy" => read.retention = retention(value)?,
        POINT_IN_TIME => read.is_archived = flag(name, value)?,
        "BackupType" => match text(name, value)? {
            "Backup" => configuration.kind = BackupKind::Backup,
            "Snapshot" => configuration.kind = BackupKind::Snapshot,
            _ => return Err(bad("'BackupType' must be Backup or Snapshot")),
        },
        "BackupUploadMode" => match text(name, value)? {
            "Default" => {}
            "DirectUpload" => {
                return Err(Feature::BackupForms.missing_for("'BackupUploadMode': 'DirectUpload'").into());
            }
            _ => return Err(bad("'BackupUploadMode' must be Default or DirectUpload")),
        },
        ENCRYPTION => configuration.key = key(value)?,
        "MaxReadOpsPerSecond" => configuration.per_second = Some(count(name, value)?).filter(|count| *count > 0),
        "SnapshotSettings" => snapshot_settings(configuration, value)?,
        // Of the one node that there is.
        "MentorNode" => _ = text(name, value)?,
        "PinToMentorNode" => _ = flag(name, value)?,
        "CreatedAt" => _ = text(name, value)?,
        RESTRICTED => _ = flag(name, value)?,
        // What the client for Java and the one for Python send of properties that they only read.
        "BackupDestinations" if matches!(value, Value::Array(_)) => {}
        "NamePrefix" => _ = text(name, value)?,
        _ => {
            if let Some((_, what)) = MISSING_DESTINATIONS.iter().find(|(settings, _)| *settings == name) {
                return if is_disabled(value) { Ok(()) } else { Err(Feature::BackupForms.missing_for(*what).into()) };
            }
            let Some(kind) = DestinationKind::ALL.into_iter().find(|kind| kind.settings_name() == name) else {
                let name: String = name.chars().take(NAME_LENGTH_SHOWN).collect();
                return Err(bad(format!(
                    "the configuration of a backup has no '{name}'. Remove it, or correct its name"
                )));
            };
            if !matches!(value, Value::Object(_)) {
                return Err(bad(format!("'{name}' must be an object")));
            }
            if !is_disabled(value) {
                configuration.destinations.push(destination(kind, value)?);
            }
        }
    }
    Ok(())
}

/// `{"CompressionAlgorithm":"Zstd","CompressionLevel":"Optimal","ExcludeIndexes":false}`
fn snapshot_settings(configuration: &mut BackupConfiguration, value: &Value) -> Result<()> {
    let Value::Object(members) = value else { return Err(bad("'SnapshotSettings' must be an object")) };
    for (name, value) in members.iter().filter(|(_, value)| *value != Value::Null) {
        match name.as_str() {
            "ExcludeIndexes" => configuration.excludes_indexes = flag(name, value)?,
            "CompressionAlgorithm" if text(name, value)? == "Zstd" => {}
            "CompressionAlgorithm" => {
                return Err(Feature::BackupForms
                    .missing_for("a 'CompressionAlgorithm' of snapshots other than Zstd")
                    .into());
            }
            "CompressionLevel" => {
                configuration.compression_level = match text(name, value)? {
                    "Fastest" | "NoCompression" => BACKUP_COMPRESSION_LEVEL,
                    "Optimal" => BACKUP_OPTIMAL_LEVEL,
                    "SmallestSize" => BACKUP_SMALLEST_LEVEL,
                    _ => return Err(bad("'CompressionLevel' must be Fastest, Optimal, SmallestSize or NoCompression")),
                }
            }
            _ => {
                let name: String = name.chars().take(NAME_LENGTH_SHOWN).collect();
                return Err(bad(format!("'SnapshotSettings' has no '{name}'. Remove it, or correct its name")));
            }
        }
    }
    Ok(())
}

/// Characters of a wrong name that an error repeats.
const NAME_LENGTH_SHOWN: usize = 128;

/// Whether settings of a destination are there and not in force.
fn is_disabled(settings: &Value) -> bool {
    let is_empty = matches!(settings, Value::Null | Value::Object(_)) && settings.members().is_empty();
    is_empty || settings.get("Disabled").and_then(Value::as_bool) == Some(true)
}

impl DestinationSettings {
    /// Reads the settings of a place, such as `{"FolderPath":"/backups"}`.
    ///
    /// # Errors
    ///
    /// [`Error::BadBackup`] if they lack what is needed to reach it; [`Error::NotSupported`].
    pub fn from_json(kind: DestinationKind, settings: &Value) -> Result<DestinationSettings> {
        destination(kind, settings)
    }
}

fn destination(kind: DestinationKind, settings: &Value) -> Result<DestinationSettings> {
    let name = kind.settings_name();
    if settings.get("GetBackupConfigurationScript").is_some_and(|script| *script != Value::Null) {
        return Err(Feature::BackupForms.missing_for(format!("'GetBackupConfigurationScript' in '{name}'")).into());
    }
    let required: &[&str] = match kind {
        DestinationKind::Local => &["FolderPath"],
        DestinationKind::S3 => &["BucketName"],
        DestinationKind::Azure => &["StorageContainer", "AccountName"],
        DestinationKind::GoogleCloud => &["BucketName", "GoogleCredentialsJson"],
    };
    for property in required {
        if settings.get(property).and_then(Value::as_str).is_none_or(str::is_empty) {
            return Err(bad(format!("'{property}' in '{name}' must be given")));
        }
    }
    Ok(DestinationSettings { kind, settings: settings.clone(), is_restricted: false })
}

fn schedule(name: &str, value: &Value) -> Result<Option<Schedule>> {
    match text(name, value)? {
        "" => Ok(None),
        text => Schedule::parse(name, text).map(Some),
    }
}

/// `{"Disabled":false,"MinimumBackupAgeToKeep":"7.00:00:00"}`
fn retention(value: &Value) -> Result<Option<Duration>> {
    if !matches!(value, Value::Object(_)) {
        return Err(bad("'RetentionPolicy' must be an object"));
    }
    if is_disabled(value) {
        return Ok(None);
    }
    let Some(age) = value.get("MinimumBackupAgeToKeep").filter(|age| **age != Value::Null) else { return Ok(None) };
    let age = age.as_str().and_then(time_span::parse).filter(|age| !age.is_zero());
    age.map(Some)
        .ok_or_else(|| bad(format!("'MinimumBackupAgeToKeep' in 'RetentionPolicy' must be {TIME_SPAN}, above 0")))
}

/// `{"EncryptionMode":"UseProvidedKey","Key":"<32 bytes in base64>"}`
pub(crate) fn key(value: &Value) -> Result<Option<BackupKey>> {
    const NAME: &str = ENCRYPTION;
    if !matches!(value, Value::Object(_)) {
        return Err(bad(format!("'{NAME}' must be an object")));
    }
    let has_key = value.get("Key").is_some_and(|key| *key != Value::Null && key.as_str() != Some(""));
    match value.get("EncryptionMode").filter(|mode| **mode != Value::Null).map(Value::as_str) {
        // RavenDB writes such backups in clear.
        None | Some(Some("None")) if has_key => Err(bad(format!(
            "'{NAME}' has a 'Key' that would not be used. Set 'EncryptionMode' in it to UseProvidedKey, or remove the key: the backup is not encrypted then"
        ))),
        None | Some(Some("None")) => Ok(None),
        Some(Some("UseProvidedKey")) => {
            let text = value.get("Key").and_then(Value::as_str).unwrap_or_default();
            let key = base64::decode(text).and_then(|bytes| <[u8; KEY_SIZE]>::try_from(bytes).ok());
            let key = key.ok_or_else(|| bad(format!("'Key' in '{NAME}' must be {KEY_SIZE} bytes in base64")))?;
            Ok(Some(BackupKey::new(key)))
        }
        Some(Some("UseDatabaseKey")) => {
            Err(Feature::Encryption.missing_for("'EncryptionMode': 'UseDatabaseKey'").into())
        }
        Some(_) => Err(bad(format!("'EncryptionMode' in '{NAME}' must be None or UseProvidedKey"))),
    }
}

/// The configuration of a task with all its properties, as clients read it in the record.
fn completed(given: &Value) -> Value {
    let defaults: [(&str, Value); 20] = [
        ("Name", Value::Null),
        ("TaskId", 0.into()),
        ("Disabled", false.into()),
        ("MentorNode", Value::Null),
        ("PinToMentorNode", false.into()),
        ("RetentionPolicy", Value::Null),
        ("CreatedAt", Value::Null),
        ("FullBackupFrequency", Value::Null),
        ("IncrementalBackupFrequency", Value::Null),
        ("BackupType", BackupKind::Backup.wire_name().into()),
        ("BackupUploadMode", "Default".into()),
        ("SnapshotSettings", Value::Null),
        (ENCRYPTION, Value::Null),
        ("MaxReadOpsPerSecond", Value::Null),
        ("LocalSettings", Value::Null),
        ("S3Settings", Value::Null),
        ("GlacierSettings", Value::Null),
        ("AzureSettings", Value::Null),
        ("FtpSettings", Value::Null),
        ("GoogleCloudSettings", Value::Null),
    ];
    let mut completed = Value::object();
    set_restricted(&mut completed, given.get(RESTRICTED).and_then(Value::as_bool) == Some(true));
    for (name, default) in defaults {
        completed.set(name, given.get(name).filter(|value| **value != Value::Null).cloned().unwrap_or(default));
    }
    // RavenDB does not have it; its tools see it only where it is used.
    if given.get(POINT_IN_TIME).and_then(Value::as_bool) == Some(true) {
        completed.set(POINT_IN_TIME, true.into());
    }
    completed
}

pub(crate) fn bad(rule: impl Into<String>) -> Error {
    Error::BadBackup { rule: rule.into() }
}

fn wrong(name: &str, kind: &str) -> Error {
    bad(format!("'{name}' in the configuration of a backup must be {kind}"))
}

fn text<'v>(name: &str, value: &'v Value) -> Result<&'v str> {
    value.as_str().ok_or_else(|| wrong(name, "text"))
}

fn flag(name: &str, value: &Value) -> Result<bool> {
    value.as_bool().ok_or_else(|| wrong(name, "true or false"))
}

fn count(name: &str, value: &Value) -> Result<u64> {
    let count = value.as_i64().and_then(|count| u64::try_from(count).ok());
    count.ok_or_else(|| wrong(name, "a whole number that is not negative"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(text: &str) -> Result<BackupTask> {
        BackupTask::from_json(&Value::parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn a_task_is_read_with_its_defaults() {
        let task = task(
            r#"{"FullBackupFrequency":"0 2 * * *","LocalSettings":{"FolderPath":"/b"},"S3Settings":{"Disabled":true},
                "RetentionPolicy":{"MinimumBackupAgeToKeep":"7.00:00:00"},"FtpSettings":null,"IncrementalBackupFrequency":"",
                "NamePrefix":"Server Wide Backup"}"#,
        )
        .unwrap();
        assert_eq!(task.name, "Backup to Local");
        assert_eq!(task.retention, Some(Duration::from_secs(7 * 86_400)));
        assert!(task.incremental.is_none() && task.full.is_some() && !task.is_disabled);
        assert_eq!(task.configuration.destinations.len(), 1);
        assert_eq!(task.value.get("BackupUploadMode").and_then(Value::as_str), Some("Default"));
    }

    #[test]
    fn what_means_nothing_is_refused_by_name() {
        let local = r#""LocalSettings":{"FolderPath":"/b"}"#;
        let check = |properties: &str, expected: &str| {
            let text = format!("{{{properties}}}");
            let error = task(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        };
        check(local, "'FullBackupFrequency'");
        check(r#""FullBackupFrequency":"0 2 * * *""#, "no destination");
        let full = |rest: &str| format!(r#""FullBackupFrequency":"0 2 * * *",{rest}"#);
        check(&full(r#""LocalSettings":{"FolderPath":""}"#), "'FolderPath' in 'LocalSettings'");
        check(&full(r#""LocalSettings":1"#), "'LocalSettings' must be an object");
        check(&full(&format!(r#"{local},"BackupType":"Zork""#)), "'BackupType'");
        check(&full(&format!(r#"{local},"Zork":1"#)), "no 'Zork'");
        check(&full(&format!(r#"{local},"NamePrefix":1"#)), "'NamePrefix'");
        check(&full(&format!(r#"{local},"Disabled":1"#)), "'Disabled'");
        check(
            &full(&format!(r#"{local},"RetentionPolicy":{{"MinimumBackupAgeToKeep":"x"}}"#)),
            "MinimumBackupAgeToKeep",
        );
        let key = r#""BackupEncryptionSettings":{"EncryptionMode":"UseProvidedKey","Key":"c2hvcnQ="}"#;
        check(&full(&format!("{local},{key}")), "32 bytes");
        for encryption in [
            r#"{"Key":"c2hvcnQ="}"#,
            r#"{"Key":"c2hvcnQ=","EncryptionMode":"None"}"#,
            r#"{"Key":7,"EncryptionMode":null}"#,
        ] {
            check(&full(&format!(r#"{local},"BackupEncryptionSettings":{encryption}"#)), "UseProvidedKey");
        }
        for encryption in ["{}", r#"{"EncryptionMode":"None"}"#, r#"{"EncryptionMode":null,"Key":""}"#] {
            let text = full(&format!(r#"{local},"BackupEncryptionSettings":{encryption}"#));
            assert!(task(&format!("{{{text}}}")).unwrap().configuration.key.is_none());
        }
        check(&full(&format!(r#"{local},"FtpSettings":{{"Url":"ftp://x"}}"#)), "FTP");
    }

    #[test]
    fn a_secret_is_not_shown() {
        let key = documents::base64::encode(&[7; KEY_SIZE]);
        let text = format!(
            r#"{{"FullBackupFrequency":"0 2 * * *","S3Settings":{{"BucketName":"b","AwsSecretKey":"hush-hush"}},
                "BackupEncryptionSettings":{{"EncryptionMode":"UseProvidedKey","Key":"{key}"}}}}"#
        );
        let shown = format!("{:?}", task(&text).unwrap());
        assert!(shown.contains("AwsSecretKey"), "{shown}");
        assert!(!shown.contains("hush-hush") && !shown.contains(&key), "{shown}");
    }

    #[test]
    fn tasks_of_a_record_have_ids_of_their_own() {
        let task = |id: u64| {
            format!(r#"{{"TaskId":{id},"FullBackupFrequency":"0 2 * * *","LocalSettings":{{"FolderPath":"/b"}}}}"#)
        };
        let check = |ids: &[u64]| {
            let tasks: Vec<String> = ids.iter().map(|id| task(*id)).collect();
            check_tasks(&Value::parse(format!("[{}]", tasks.join(",")).as_bytes()).unwrap())
        };
        assert!(check(&[1, 2]).is_ok());
        assert!(check(&[1, 1]).is_err());
        assert!(check(&[0]).is_err());
    }
}
