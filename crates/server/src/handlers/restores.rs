//! Restoring databases from backups: operations of the server.
//!
//! POST `/admin/restore/database`: `{Type, BackupLocation, DatabaseName, LastFileNameToRestore, ..}`, or `Settings` in place of
//! `BackupLocation` for places that are no folders. POST `/admin/restore/verify`: the same, restored and thrown away. POST
//! `/admin/restore/points`: `type`, the settings of a place as the body; what can be restored from there.
//!
//! With `RestoreUntil` (a time) or `RestoreUntilTransaction`, of our own, the state of an archive is restored; the place is then that with
//! the folders of backups, and `SourceDatabaseName` says whose archive, if it has several.

use std::sync::Arc;

use database::Databases;
use database::backups::{
    Archive, Destination, DestinationKind, DestinationSettings, FolderDestination, RestorePoint, RestoreRequest, Until,
};
use database::documents::{Date, Feature};
use hyper::StatusCode;
use json::Value;

use super::begun::begun;
use super::principals::{flag, refuse_unknown, required, text};
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// Begins a restore. 200 `{OperationId, OperationNodeTag}`.
pub(crate) async fn restore(exchange: Exchange) -> Result<Reply> {
    begin(exchange, false).await
}

/// Begins a restore whose database is thrown away. 200 `{OperationId, OperationNodeTag}`.
pub(crate) async fn verify(exchange: Exchange) -> Result<Reply> {
    begin(exchange, true).await
}

async fn begin(mut exchange: Exchange, is_trial: bool) -> Result<Reply> {
    let body = exchange.read_whole_object().await?;
    let databases = exchange.node.databases.clone();
    let prepare = move || {
        let request = request(&databases, &body, is_trial)?;
        Ok(databases.restore(None, request)?)
    };
    // Looking for the files may ask a server elsewhere.
    let restore = exchange.node.bridge.run(Pool::Places, prepare).await?;
    let id = restore.operation().id();
    // As long as it takes, on a thread of its own; its state says how it ended.
    let run = move || drop(restore.run());
    std::thread::Builder::new()
        .name("restore".to_owned())
        .spawn(run)
        .map_err(|error| Error::Panicked(format!("the thread of a restore cannot be started: {error}")))?;
    Ok(begun(&exchange, id))
}

fn request(databases: &Databases, body: &Value, is_trial: bool) -> Result<RestoreRequest> {
    const KNOWN: [&str; 17] = [
        "Type",
        "BackupLocation",
        "Settings",
        "DatabaseName",
        "LastFileNameToRestore",
        RESTORE_UNTIL,
        UNTIL_TRANSACTION,
        SOURCE_DATABASE,
        "DataDirectory",
        "EncryptionKey",
        "DisableOngoingTasks",
        "SkipIndexes",
        "BackupEncryptionSettings",
        "ShardRestoreSettings",
        "ShardRestoreInformation",
        "Topology",
        "JournalsStoragePath",
    ];
    refuse_unknown(body, &KNOWN, "restore")?;
    let is_set = |name: &str| {
        !matches!(body.get(name), None | Some(Value::Null)) && body.get(name).and_then(Value::as_str) != Some("")
    };
    for (name, feature) in [
        ("DataDirectory", Feature::DataDirectories),
        ("JournalsStoragePath", Feature::DataDirectories),
        ("EncryptionKey", Feature::Encryption),
        ("ShardRestoreSettings", Feature::Sharding),
    ] {
        if is_set(name) {
            return Err(feature.missing_for(format!("'{name}' of a restore")).into());
        }
    }
    let name = match is_trial {
        true => text(body, "DatabaseName")?.filter(|name| !name.is_empty()).unwrap_or("verify"),
        false => required(body, "DatabaseName")?,
    };
    let last_file = text(body, "LastFileNameToRestore")?.filter(|file| !file.is_empty());
    let until = until(body)?;
    if until.is_some() && last_file.is_some() {
        return Err(Error::Argument(format!(
            "'LastFileNameToRestore' is of a backup, '{RESTORE_UNTIL}' of an archive. Leave one of them out"
        )));
    }
    let of_database = text(body, SOURCE_DATABASE)?.filter(|name| !name.is_empty());
    if until.is_none() && of_database.is_some() {
        return Err(Error::Argument(format!(
            "'{SOURCE_DATABASE}' has no meaning without '{RESTORE_UNTIL}'. Leave it out"
        )));
    }
    Ok(RestoreRequest {
        name: name.to_owned(),
        source: source(databases, body)?,
        // RavenDB's clients send it with its folder, or without.
        last_file: last_file.map(|file| file.rsplit('/').next().unwrap_or(file).to_owned()),
        until,
        of_database: of_database.map(str::to_owned),
        skips_indexes: flag(body, "SkipIndexes")?,
        disables_tasks: flag(body, "DisableOngoingTasks")?,
        encryption: body.get("BackupEncryptionSettings").filter(|value| **value != Value::Null).cloned(),
        is_trial,
    })
}

const RESTORE_UNTIL: &str = "RestoreUntil";
const UNTIL_TRANSACTION: &str = "RestoreUntilTransaction";
const SOURCE_DATABASE: &str = "SourceDatabaseName";

/// The state to go back to; `None`: that of a backup.
fn until(body: &Value) -> Result<Option<Until>> {
    let time = text(body, RESTORE_UNTIL)?.filter(|time| !time.is_empty());
    let transaction = body.get(UNTIL_TRANSACTION).filter(|value| **value != Value::Null);
    match (time, transaction) {
        (None, None) => Ok(None),
        (Some(time), None) => {
            let date = Date::parse(time)
                .ok_or_else(|| Error::parameter(RESTORE_UNTIL, time, "a time in UTC, such as 2026-11-27T15:30:00Z"))?;
            Ok(Some(Until::Time(date)))
        }
        (None, Some(transaction)) => {
            let id = transaction.as_i64().and_then(|id| u64::try_from(id).ok());
            let wrong = || Error::Argument(format!("'{UNTIL_TRANSACTION}' must be the number of a transaction"));
            Ok(Some(Until::Transaction(id.ok_or_else(wrong)?)))
        }
        (Some(_), Some(_)) => Err(Error::Argument(format!(
            "'{RESTORE_UNTIL}' and '{UNTIL_TRANSACTION}' are both given. Leave one of them out"
        ))),
    }
}

/// The folder of a backup, or the place of an archive.
fn source(databases: &Databases, body: &Value) -> Result<Arc<dyn Destination>> {
    let kind = kind(text(body, "Type")?.unwrap_or("Local"))?;
    if kind == DestinationKind::Local {
        let location = required(body, "BackupLocation")?;
        return local(databases, location);
    }
    let settings = body.get("Settings").cloned().unwrap_or(Value::Null);
    Ok(databases.open_destination(&DestinationSettings::from_json(kind, &settings)?)?)
}

fn local(databases: &Databases, folder: &str) -> Result<Arc<dyn Destination>> {
    let mut settings = Value::object();
    settings.set("FolderPath", folder.into());
    let place: FolderDestination = databases.backup_folder(&settings)?;
    if !place.folder().is_dir() {
        return Err(Error::Argument(format!("Backup location doesn't exist, path: {folder}")));
    }
    Ok(Arc::new(place))
}

fn kind(name: &str) -> Result<DestinationKind> {
    let found = DestinationKind::ALL.into_iter().find(|kind| kind.wire_name().eq_ignore_ascii_case(name));
    found.ok_or_else(|| {
        Error::Argument(format!("'{name}' is no type of a place for backups: Local, S3, Azure or GoogleCloud"))
    })
}

/// `{List, Archives}`: the states that can be restored from a place, the newest first; and the runs of states.
pub(crate) async fn points(mut exchange: Exchange) -> Result<Reply> {
    let kind = kind(&exchange.query().get_nonempty("type").unwrap_or("Local".into()))?;
    let settings = exchange.read_whole_object().await?;
    let databases = exchange.node.databases.clone();
    let list = move || {
        let (place, root) = match kind {
            DestinationKind::Local => {
                let folder = required(&settings, "FolderPath")?;
                (local(&databases, folder)?, format!("{}/", folder.trim_end_matches('/')))
            }
            _ => {
                let settings = DestinationSettings::from_json(kind, &settings)?;
                (databases.open_destination(&settings)?, String::new())
            }
        };
        Ok((RestorePoint::all(&*place)?, Archive::all(&*place)?, root))
    };
    let (points, archives, root) = exchange.node.bridge.run(Pool::Places, list).await?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("List").array(|json| {
            for point in &points {
                let location = format!("{root}{}", point.folder);
                let location = location.trim_end_matches('/');
                json.object(|json| {
                    json.name("DateTime").string(point.time.to_string().trim_end_matches('Z'));
                    json.name("Location")
                        .string(location)
                        .name("FileName")
                        .string(&format!("{location}/{}", point.file));
                    json.name("IsSnapshotRestore").bool(point.is_snapshot).name("IsEncrypted").bool(point.is_encrypted);
                    json.name("IsIncremental").bool(point.is_incremental);
                    json.name("FilesToRestore").unsigned(point.file_count as u64);
                    json.name("SizeInBytes").unsigned(point.size);
                    json.name("DatabaseName").optional_string(point.database.as_deref());
                    json.name("NodeTag").optional_string(point.node_tag.as_deref());
                });
            }
        });
        json.name("Archives").array(|json| {
            for archive in &archives {
                json.object(|json| {
                    json.name("DatabaseName").string(&archive.database).name("NodeTag").string(&archive.node_tag);
                    // The place that a restore is given.
                    let above = archive.folder.rsplit_once('/').map_or("", |(above, _)| above);
                    json.name("Location").string(format!("{root}{above}").trim_end_matches('/'));
                    json.name("From")
                        .string(&archive.from.to_string())
                        .name("Until")
                        .string(&archive.until.to_string());
                    json.name("FirstTransaction").unsigned(archive.first);
                    json.name("LastTransaction").unsigned(archive.last);
                    json.name("IsEncrypted").bool(archive.is_encrypted).name("SizeInBytes").unsigned(archive.size);
                });
            }
        });
    }))
}
