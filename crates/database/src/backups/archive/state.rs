//! How far an archive has come.

use documents::Date;
use json::Value;
use storage::{Position, TransactionId};

use super::super::BackupConfiguration;

/// What the node remembers of the archive of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArchiveState {
    pub task_id: u64,
    /// The folder of the history, below the places.
    pub folder: String,
    /// The places and the key: others have nothing of the history.
    pub places: String,
    /// All up to there is in all places.
    pub position: Position,
    /// That was the last transaction at this time.
    pub time: Date,
}

/// How far the archive of a task has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveStatus {
    /// The folder of its history, below the places; `None` while the first snapshot is missing.
    pub folder: Option<String>,
    /// The last transaction that is in all places.
    pub transaction: u64,
    /// A restore reaches up to here.
    pub time: Option<Date>,
    /// Whether something was written that is not in all places yet.
    pub is_behind: bool,
    /// Why the last attempt failed, and when.
    pub error: Option<(String, Date)>,
}

impl ArchiveState {
    pub fn to_json(&self) -> Value {
        let number = |number: u64| Value::Number(number.to_string());
        let mut state = Value::object();
        state.set("TaskId", number(self.task_id));
        state.set("Folder", self.folder.as_str().into());
        state.set("Places", self.places.as_str().into());
        state.set("Transaction", number(self.position.transaction.0));
        state.set("Hash", Value::String(format!("{:032x}", self.position.hash)));
        state.set("Time", Value::String(self.time.to_string()));
        state
    }

    /// Reads what [`Self::to_json`] made; `None`: it is something else.
    pub fn from_json(value: &Value) -> Option<ArchiveState> {
        let number = |name: &str| u64::try_from(value.get(name)?.as_i64()?).ok();
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        Some(ArchiveState {
            task_id: number("TaskId")?,
            folder: text("Folder")?.to_owned(),
            places: text("Places")?.to_owned(),
            position: Position {
                transaction: TransactionId(number("Transaction")?),
                hash: u128::from_str_radix(text("Hash")?, 16).ok()?,
            },
            time: Date::parse(text("Time")?)?,
        })
    }
}

impl ArchiveStatus {
    /// As clients read it.
    pub fn to_json(&self) -> Value {
        let date = |date: Option<Date>| date.map_or(Value::Null, |date| Value::String(date.to_string()));
        let mut status = Value::object();
        status.set("Folder", self.folder.as_deref().map_or(Value::Null, Value::from));
        status.set("LastTransaction", Value::Number(self.transaction.to_string()));
        status.set("LastTime", date(self.time));
        status.set("IsBehind", self.is_behind.into());
        status.set("Error", self.error.as_ref().map_or(Value::Null, |(text, _)| text.as_str().into()));
        status.set("ErrorAt", date(self.error.as_ref().map(|(_, at)| *at)));
        status
    }
}

/// What tells the places of a task from others, without secrets.
pub(crate) fn places_of(configuration: &BackupConfiguration) -> String {
    const NAMES: [&str; 7] = [
        "FolderPath",
        "BucketName",
        "AwsRegionName",
        "CustomServerUrl",
        "AccountName",
        "StorageContainer",
        "RemoteFolderName",
    ];
    let mut text = String::new();
    for place in &configuration.destinations {
        text.push_str(place.kind.wire_name());
        for part in NAMES.iter().filter_map(|name| place.settings.get(name)?.as_str()) {
            text.push(':');
            text.push_str(part);
        }
        text.push('\n');
    }
    if let Some(key) = &configuration.key {
        text.push_str(&key.fingerprint());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_is_written() {
        let state = ArchiveState {
            task_id: 9,
            folder: "2026-11-27-02-00-00.rookery-Shop-A-archive-9f86d081884c7d65".to_owned(),
            places: "Local:/b\n".to_owned(),
            position: Position { transaction: TransactionId(42), hash: u128::MAX },
            time: Date::parse("2026-11-27T11:49:02.1466189Z").unwrap(),
        };
        assert_eq!(ArchiveState::from_json(&state.to_json()).unwrap(), state);
    }

    #[test]
    fn places_differ_by_what_they_are_and_by_the_key_and_not_by_secrets() {
        let places =
            |text: &str| places_of(&BackupConfiguration::from_json(&Value::parse(text.as_bytes()).unwrap()).unwrap());
        let key = |byte: u8| {
            let key = documents::base64::encode(&[byte; 32]);
            places(&format!(
                r#"{{"LocalSettings":{{"FolderPath":"/b"}},"BackupEncryptionSettings":{{"EncryptionMode":"UseProvidedKey","Key":"{key}"}}}}"#
            ))
        };
        let local = places(r#"{"LocalSettings":{"FolderPath":"/b"}}"#);
        assert_ne!(local, places(r#"{"LocalSettings":{"FolderPath":"/c"}}"#));
        assert!(key(1) != key(2) && key(1) != local && key(1) == key(1));
        let s3 = |secret: &str| places(&format!(r#"{{"S3Settings":{{"BucketName":"b","AwsSecretKey":"{secret}"}}}}"#));
        assert!(s3("one") == s3("two") && s3("one") != local);
    }
}
