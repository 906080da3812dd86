//! What is remembered of the backups of a task: when they were, how far they came, and why the last one failed.

use std::time::Duration;

use documents::{Date, Etag};
use json::Value;

/// The state of a task after its last backup. Stored as clients read it, with some properties more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BackupStatus {
    /// The task.
    pub task_id: u64,
    /// The name of the kind of the last full backup; `None` before the first.
    pub kind: Option<String>,
    /// Whether the last backup was of all of the database.
    pub is_full: bool,
    /// The tag of the node that made it.
    pub node_tag: String,
    /// When the last full backup began that succeeded.
    pub last_full: Option<Date>,
    /// When the last incremental backup began that succeeded.
    pub last_incremental: Option<Date>,
    /// The folder of both, below the destinations.
    pub folder: String,
    /// The last etag that is in a backup.
    pub last_etag: Etag,
    /// The etag of the record in the last backup.
    pub record_etag: u64,
    /// The same of the last full backup.
    pub full_record_etag: u64,
    /// A hash of what has no etag, as the last backup has it.
    pub definitions_hash: u64,
    /// The name of the last file that was made.
    pub last_file: String,
    /// What tells the destinations and the key of the last backup from others.
    pub places: String,
    /// The change vector of the database then.
    pub last_change_vector: String,
    /// How long the last backup took.
    pub duration: Duration,
    /// How long the last full backup took.
    pub full_duration: Option<Duration>,
    /// How long the last incremental one took.
    pub incremental_duration: Option<Duration>,
    /// The folder of the last backup, if it went to one: absolute.
    pub local_folder: Option<String>,
    /// Why the last backup failed, and when.
    pub error: Option<(String, Date)>,
    /// Backups so far, those that failed too.
    pub version: u64,
    /// The operation that made the last one.
    pub last_operation_id: Option<u64>,
    /// Whether the last one is encrypted.
    pub is_encrypted: bool,
    /// When the next one runs, if it was delayed.
    pub delay_until: Option<Date>,
    /// When it would have run.
    pub original_time: Option<Date>,
    /// The destinations of the last backup, by the names of their kinds.
    pub destinations: Vec<String>,
}

fn date(date: Option<Date>) -> Value {
    date.map_or(Value::Null, |date| Value::String(date.to_string()))
}

fn number(number: u64) -> Value {
    Value::Number(number.to_string())
}

fn millis(duration: Option<Duration>) -> Value {
    duration.map_or(Value::Null, |duration| number(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

impl BackupStatus {
    /// As clients read it, and as it is stored.
    pub fn to_json(&self) -> Value {
        let error = match &self.error {
            None => Value::Null,
            Some((text, at)) => object([("Exception", text.as_str().into()), ("At", date(Some(*at)))]),
        };
        let exception = self.error.as_ref().map_or(Value::Null, |(text, _)| text.as_str().into());
        let dates = |is_there: bool| {
            let of = |given: Option<Date>| if is_there { date(given) } else { Value::Null };
            let taken = |given: Option<Duration>| if is_there { millis(given) } else { Value::Null };
            [
                ("LastFullBackup", of(self.last_full)),
                ("LastIncrementalBackup", of(self.last_incremental)),
                ("FullBackupDurationInMs", taken(self.full_duration)),
                ("IncrementalBackupDurationInMs", taken(self.incremental_duration)),
                ("Exception", if is_there { exception.clone() } else { Value::Null }),
            ]
        };
        let mut local = object(dates(self.local_folder.is_some()));
        local.set("BackupDirectory", self.local_folder.as_deref().map_or(Value::Null, Value::from));
        local.set("FileName", Value::Null);
        local.set("TempFolderUsed", self.local_folder.is_none().into());
        let upload = |kind: &str| {
            let is_there = self.destinations.iter().any(|name| name == kind);
            let mut upload = object(dates(is_there));
            upload.set("Skipped", (!is_there).into());
            upload
        };
        object([
            ("TaskId", number(self.task_id)),
            ("BackupType", self.kind.as_deref().unwrap_or("Backup").into()),
            ("IsFull", self.is_full.into()),
            ("NodeTag", self.node_tag.as_str().into()),
            ("DelayUntil", date(self.delay_until)),
            ("OriginalBackupTime", date(self.original_time)),
            ("LastFullBackup", date(self.last_full)),
            ("LastIncrementalBackup", date(self.last_incremental)),
            ("LastFullBackupInternal", date(self.last_full)),
            ("LastIncrementalBackupInternal", date(self.last_incremental)),
            ("LocalBackup", local),
            ("UploadToS3", upload("S3")),
            ("UploadToGlacier", upload("Glacier")),
            ("UploadToAzure", upload("Azure")),
            ("UploadToGoogleCloud", upload("GoogleCloud")),
            ("UploadToFtp", upload("FTP")),
            ("LastEtag", number(self.last_etag)),
            (
                "LastRaftIndex",
                object([("LastEtag", number(self.record_etag)), ("LastFullBackupEtag", number(self.full_record_etag))]),
            ),
            ("FolderName", if self.folder.is_empty() { Value::Null } else { self.folder.as_str().into() }),
            ("DurationInMs", millis(Some(self.duration))),
            ("LocalRetentionDurationInMs", Value::Null),
            ("Version", number(self.version)),
            ("Error", error),
            ("LastOperationId", self.last_operation_id.map_or(Value::Null, number)),
            ("LastDatabaseChangeVector", self.last_change_vector.as_str().into()),
            ("IsEncrypted", self.is_encrypted.into()),
            ("IndexesHash", Value::String(self.definitions_hash.to_string())),
            ("LastFile", self.last_file.as_str().into()),
            ("Places", self.places.as_str().into()),
            ("Destinations", Value::Array(self.destinations.iter().map(|name| name.as_str().into()).collect())),
        ])
    }

    /// Reads what [`Self::to_json`] made; `None`: it is something else.
    pub(crate) fn from_json(value: &Value) -> Option<BackupStatus> {
        let unsigned = |name: &str| value.get(name)?.as_i64().and_then(|number| u64::try_from(number).ok());
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let flag = |name: &str| value.get(name).and_then(Value::as_bool);
        let date = |name: &str| value.get(name).and_then(Value::as_str).and_then(Date::parse);
        let local = value.get("LocalBackup")?;
        let raft = |name: &str| {
            let index = value.get("LastRaftIndex")?.get(name)?.as_i64()?;
            u64::try_from(index).ok()
        };
        let millis = |name: &str| {
            let parts = ["LocalBackup", "UploadToS3", "UploadToAzure", "UploadToGoogleCloud"];
            let found = parts.iter().find_map(|part| value.get(part)?.get(name)?.as_i64());
            found.and_then(|millis| u64::try_from(millis).ok()).map(Duration::from_millis)
        };
        let error = value.get("Error").and_then(|error| {
            let text = error.get("Exception")?.as_str()?.to_owned();
            Some((text, Date::parse(error.get("At")?.as_str()?)?))
        });
        let destinations = match value.get("Destinations") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        Some(BackupStatus {
            task_id: unsigned("TaskId")?,
            kind: text("BackupType").filter(|_| date("LastFullBackup").is_some()),
            is_full: flag("IsFull")?,
            node_tag: text("NodeTag")?,
            last_full: date("LastFullBackup"),
            last_incremental: date("LastIncrementalBackup"),
            folder: text("FolderName").unwrap_or_default(),
            last_etag: unsigned("LastEtag")?,
            record_etag: raft("LastEtag")?,
            full_record_etag: raft("LastFullBackupEtag")?,
            definitions_hash: text("IndexesHash")?.parse().ok()?,
            // A status of before has neither, and no backup goes on from it.
            last_file: text("LastFile").unwrap_or_default(),
            places: text("Places").unwrap_or_default(),
            last_change_vector: text("LastDatabaseChangeVector")?,
            duration: Duration::from_millis(unsigned("DurationInMs")?),
            full_duration: millis("FullBackupDurationInMs"),
            incremental_duration: millis("IncrementalBackupDurationInMs"),
            local_folder: local.get("BackupDirectory").and_then(Value::as_str).map(str::to_owned),
            error,
            version: unsigned("Version")?,
            last_operation_id: unsigned("LastOperationId"),
            is_encrypted: flag("IsEncrypted")?,
            delay_until: date("DelayUntil"),
            original_time: date("OriginalBackupTime"),
            destinations,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_as_it_is_written() {
        let now = Date::parse("2026-11-27T11:49:02.1466189Z").unwrap();
        let status = BackupStatus {
            task_id: 9,
            kind: Some("Snapshot".to_owned()),
            is_full: true,
            node_tag: "A".to_owned(),
            last_full: Some(now),
            folder: "2026-11-27-11-49-02.ravendb-bk-A-backup".to_owned(),
            last_etag: 8882,
            record_etag: 9,
            full_record_etag: 9,
            definitions_hash: u64::MAX,
            last_file: "2026-11-27-11-49-02.ravendb-full-backup".to_owned(),
            places: "Local:/b\n".to_owned(),
            last_change_vector: "A:8882-p8bj6J1GrU+BSC84hpfoYA".to_owned(),
            duration: Duration::from_millis(535),
            full_duration: Some(Duration::from_millis(528)),
            local_folder: Some("/b/2026".to_owned()),
            error: Some(("no room".to_owned(), now)),
            version: 3,
            last_operation_id: Some(2),
            destinations: vec!["Local".to_owned()],
            ..BackupStatus::default()
        };
        assert_eq!(BackupStatus::from_json(&status.to_json()).unwrap(), status);
        let empty = BackupStatus { node_tag: "A".to_owned(), ..BackupStatus::default() };
        assert_eq!(BackupStatus::from_json(&empty.to_json()).unwrap(), empty);
    }
}
