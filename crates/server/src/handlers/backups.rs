//! Backups of a database, and of all databases.
//!
//! POST `/databases/{name}/admin/periodic-backup`: a task that makes them by the clock. POST `/databases/{name}/admin/backup/database`:
//! `isFullBackup`, `taskId`, runs one now. POST `/databases/{name}/admin/backup`: one backup without a task. All of them are operations
//! of the database. POST `/admin/backup-task/delay`: `database`, `taskId`, `duration`. GET `/periodic-backup/status`: `name`, `taskId`.
//! PUT `/admin/configuration/server-wide/backup`, GET `.../tasks`, POST `.../state` and DELETE `.../task` (`type=Backup`, `name`): those of
//! all databases.

use database::Databases;
use database::backups::{self, BackupConfiguration, BackupStarted};
use database::documents::Feature;
use database::time_span::{self, TIME_SPAN};
use hyper::StatusCode;
use json::Value;

use super::begun::begun;
use super::databases::request_id;
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// The configuration of a task or of one backup, with a note if its places are to be those for users below operator.
async fn read_configuration(exchange: &mut Exchange) -> Result<Value> {
    let mut value = exchange.read_whole_object().await?;
    backups::set_restricted(&mut value, !exchange.peer.identity.is_operator());
    Ok(value)
}

/// Adds or replaces a task. 200 `{RaftCommandIndex, TaskId}`.
pub(crate) async fn put_task(mut exchange: Exchange) -> Result<Reply> {
    let value = read_configuration(&mut exchange).await?;
    let name = exchange.database().name().to_owned();
    let request_id = request_id(&exchange);
    let databases = exchange.node.databases.clone();
    let put = move || Ok(databases.put_backup_task(&name, &value, request_id.as_deref())?);
    let (index, id) = exchange.node.bridge.run(Pool::Short, put).await?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("RaftCommandIndex").unsigned(index).name("TaskId").unsigned(id);
    }))
}

/// Runs a task now. 200 `{ResponsibleNode, OperationId}`.
pub(crate) async fn start(exchange: Exchange) -> Result<Reply> {
    let id = exchange.required_number("taskId")?;
    let is_full =
        exchange.query().get_nonempty("isFullBackup").is_none() || exchange.query().is_true("isFullBackup")?;
    let name = exchange.database().name().to_owned();
    let databases = exchange.node.databases.clone();
    let begin = move || Ok(databases.begin_backup_of_task(&name, id, is_full)?);
    let BackupStarted { operation } = exchange.node.bridge.run(Pool::Short, begin).await?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("ResponsibleNode").string(exchange.node.databases.node_tag());
        json.name("OperationId").unsigned(operation.id());
    }))
}

/// Makes one backup. 200 `{OperationId, OperationNodeTag}`.
pub(crate) async fn once(mut exchange: Exchange) -> Result<Reply> {
    let value = read_configuration(&mut exchange).await?;
    let name = exchange.database().name().to_owned();
    let databases = exchange.node.databases.clone();
    let begin = move || Ok(databases.begin_backup(&name, BackupConfiguration::from_json(&value)?)?);
    let BackupStarted { operation } = exchange.node.bridge.run(Pool::Short, begin).await?;
    Ok(begun(&exchange, operation.id()))
}

/// Puts the next run of a task off. 204.
pub(crate) async fn delay(exchange: Exchange) -> Result<Reply> {
    let id = exchange.required_number("taskId")?;
    let name = exchange.required("database")?.into_owned();
    let text = exchange.required("duration")?.into_owned();
    let by = time_span::parse(&text).ok_or_else(|| Error::parameter("duration", &text, TIME_SPAN))?;
    let databases = exchange.node.databases.clone();
    exchange.node.bridge.run(Pool::Short, move || Ok(databases.delay_backup(&name, id, by)?)).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// `{IsSharded, Status, Archive}`; the status is null before the first backup, the archive for a task without `PointInTime`. A database
/// that the caller may not read is one that is not there.
pub(crate) fn status(exchange: &Exchange) -> Result<Reply> {
    let id = exchange.required_number("taskId")?;
    let name = exchange.required("name")?;
    let databases = &exchange.node.databases;
    if !exchange.peer.identity.sees(&name) {
        return Err(database::Error::Missing { name: name.chars().take(128).collect() }.into());
    }
    let record = databases.record(&name)?;
    let status = databases.backup_status(record.name(), id)?;
    let archive = match databases.archive_status(record.name(), id) {
        // There is no such task; the status is null then.
        Err(database::Error::BadBackup { .. }) => None,
        found => found?,
    };
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("IsSharded").bool(false);
        match status {
            Some(status) => status.to_json().write(json.name("Status")),
            None => _ = json.name("Status").null(),
        }
        match archive {
            Some(archive) => archive.to_json().write(json.name("Archive")),
            None => _ = json.name("Archive").null(),
        }
    }))
}

/// Adds or replaces a backup of all databases. 200 `{Name, RaftCommandIndex}`.
pub(crate) async fn put_server_wide(mut exchange: Exchange) -> Result<Reply> {
    let value = exchange.read_whole_object().await?;
    let request_id = request_id(&exchange);
    let databases = exchange.node.databases.clone();
    let put = move || Ok(databases.put_server_wide_backup(&value, request_id.as_deref())?);
    let (name, index) = exchange.node.bridge.run(Pool::Short, put).await?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Name").string(&name).name("RaftCommandIndex").unsigned(index);
    }))
}

/// `{Results}`: the backups of all databases, or the one of a name. Of external replications there are none.
pub(crate) fn server_wide_tasks(exchange: &Exchange) -> Result<Reply> {
    let kind = exchange.required("type")?;
    let name = exchange.query().get_nonempty("name");
    let backups = match kind.to_ascii_lowercase().as_str() {
        "backup" => exchange.node.databases.server_wide_backups()?,
        "replication" => Vec::new(),
        _ => return Err(Error::parameter("type", &kind, "Backup or Replication")),
    };
    let is_meant = |backup: &&Value| {
        let own = backup.get("Name").and_then(Value::as_str).unwrap_or_default();
        name.as_ref().is_none_or(|name| own.eq_ignore_ascii_case(name))
    };
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Results").array(|json| backups.iter().filter(is_meant).for_each(|backup| backup.write(json)));
    }))
}

/// Enables or disables a backup of all databases. 200 `{Name, RaftCommandIndex}`.
pub(crate) async fn set_server_wide_state(exchange: Exchange) -> Result<Reply> {
    exchange.required("disable")?;
    let is_disabled = exchange.query().is_true("disable")?;
    change_server_wide(exchange, move |databases, name, request_id| {
        Ok(databases.set_server_wide_backup_disabled(name, is_disabled, request_id)?)
    })
    .await
}

/// Removes a backup of all databases. 200 `{Name, RaftCommandIndex}`.
pub(crate) async fn delete_server_wide(exchange: Exchange) -> Result<Reply> {
    change_server_wide(exchange, |databases, name, request_id| {
        Ok(databases.delete_server_wide_backup(name, request_id)?)
    })
    .await
}

async fn change_server_wide(
    exchange: Exchange,
    change: impl FnOnce(&Databases, &str, Option<&str>) -> Result<u64> + Send + 'static,
) -> Result<Reply> {
    let kind = exchange.required("type")?.into_owned();
    if !kind.eq_ignore_ascii_case("Backup") {
        return Err(Feature::Replication.missing_for(format!("the server-wide task type '{kind}'")).into());
    }
    let name = exchange.required("name")?.into_owned();
    let request_id = request_id(&exchange);
    let databases = exchange.node.databases.clone();
    let run = {
        let name = name.clone();
        move || change(&databases, &name, request_id.as_deref())
    };
    let index = exchange.node.bridge.run(Pool::Short, run).await?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Name").string(&name).name("RaftCommandIndex").unsigned(index);
    }))
}
