//! `/databases` and `/admin/databases`: names, records, creating, deleting, switching on and off.

use std::sync::Arc;

use database::documents::Feature;
use database::{Database, DatabaseRecord, LockMode, RECORD_PROPERTIES, RecordProperty};
use hyper::StatusCode;
use hyper::header::{ETAG, HeaderName, HeaderValue};
use json::{Value, Writer};
use query::definition::SettingsOf;

use super::indexes::{IndexesOfRecord, refused_setting};
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

const DATABASE_MISSING: HeaderName = HeaderName::from_static("database-missing");

/// GET `/databases`: `start`, `pageSize`, `namesOnly`. Databases that the caller may not read are left out.
pub(crate) fn names(exchange: &Exchange) -> Result<Reply> {
    let query = exchange.query();
    let bound = |number| usize::try_from(number).unwrap_or(usize::MAX);
    let (start, count) = (bound(query.page_start()?), bound(query.page_size()?));
    let databases = &exchange.node.databases;
    let names = databases.names();
    let visible = names.iter().filter(|name| exchange.peer.identity.sees(name));
    let page = visible.skip(start).take(count);
    let is_names_only = query.is_true("namesOnly")?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Databases").array(|json| {
            for name in page {
                if is_names_only {
                    json.string(name);
                } else if let Ok(record) = databases.record(name) {
                    json.object(|json| write_info(json, exchange, &record));
                }
            }
        });
    }))
}

/// What lists of databases show of one.
fn write_info(json: &mut Writer<'_>, exchange: &Exchange, record: &DatabaseRecord) {
    json.name("Name").string(record.name()).name("Disabled").bool(record.is_disabled());
    json.name("LockMode").string(record.lock_mode().wire_name());
    json.name("IsAdmin").bool(exchange.peer.identity.administers(record.name()));
    json.name("IsEncrypted").bool(false).name("IndexesCount").unsigned(0);
    json.name("NodesTopology").object(|json| {
        json.name("Members").array(|json| {
            json.object(|json| {
                json.name("NodeTag").string(exchange.node.databases.node_tag());
                json.name("NodeUrl").string(&exchange.own_url()).name("ResponsibleNode").null();
            });
        });
        json.name("Promotables").array(|_| {}).name("Rehabs").array(|_| {});
    });
}

/// GET `/admin/databases`: `name`; 404 if there is none.
pub(crate) async fn record(exchange: Exchange) -> Result<Reply> {
    let name = exchange.required("name")?.into_owned();
    let databases = exchange.node.databases.clone();
    // Its database may have to be opened.
    let read = move || match databases.record(&name) {
        Ok(record) => Ok(record_reply(&record, databases.find(&name).ok())),
        Err(database::Error::Missing { .. }) => Ok(missing(&name, StatusCode::NOT_FOUND)),
        Err(error) => Err(error.into()),
    };
    exchange.node.bridge.run(Pool::Short, read).await
}

/// GET `/databases/{name}/admin/record`.
pub(crate) fn own_record(exchange: &Exchange) -> Result<Reply> {
    let database = exchange.database().clone();
    Ok(record_reply(&*exchange.node.databases.record(database.name())?, Some(database)))
}

/// * `database`: `None`: it cannot be opened, so that it tells of no indexes.
fn record_reply(record: &DatabaseRecord, database: Option<Arc<Database>>) -> Reply {
    let indexes = database.map(|database| IndexesOfRecord::of(&database));
    reply::object(StatusCode::OK, |json| {
        for property in &RECORD_PROPERTIES {
            let (name, Some(default)) = (property.name, property.default) else { continue };
            let json = json.name(name);
            // Some clients send `null` for all that they do not set, and cannot read it back.
            match (record.value.get(name).filter(|value| **value != Value::Null), &indexes) {
                (Some(value), _) => value.write(json),
                (None, Some(indexes)) if name == "Indexes" => _ = json.raw(&indexes.defined),
                (None, Some(indexes)) if name == "AutoIndexes" => _ = json.raw(&indexes.automatic),
                (None, Some(indexes)) if name == "IndexesHistory" => _ = json.raw(&indexes.history),
                (None, _) => _ = json.raw(default.as_bytes()),
            }
        }
        for (name, value) in record.value.members() {
            let is_written = |property: &RecordProperty| property.default.is_some() && property.name == name;
            if name != "Etag" && !RECORD_PROPERTIES.iter().any(is_written) {
                value.write(json.name(name));
            }
        }
        json.name("Etag").unsigned(record.etag);
    })
}

/// The answers outside of `/databases/{name}/` about a database that is not there.
pub(crate) fn missing(name: &str, status: StatusCode) -> Reply {
    let mut reply = reply::object(status, |json| {
        json.name("Type").string("Error").name("Message").string(&format!("Database {name} wasn't found"));
    });
    // A name that cannot stand in a header is no name that anybody created.
    if let Ok(name) = HeaderValue::from_str(name) {
        reply.headers_mut().insert(DATABASE_MISSING, name);
    }
    reply
}

/// PUT `/admin/databases`: `name`; the record in the body. With an etag in the header `ETag` it changes an existing one.
pub(crate) async fn put(mut exchange: Exchange) -> Result<Reply> {
    let mut record = exchange.read_object().await?;
    // It is made of the indexes, whatever a client gives back.
    record.remove("IndexesHistory");
    let asked = exchange.query().get_nonempty("name").map(std::borrow::Cow::into_owned);
    let in_record = record.get("DatabaseName").and_then(Value::as_str).map(str::to_owned);
    let name = asked.or(in_record).unwrap_or_default();
    check_kinds(&record)?;
    let members = record.get("Topology").map_or(Ok(Vec::new()), |topology| strings(topology, "Members"))?;
    let own_tag = exchange.node.databases.node_tag();
    if let Some(node) = members.into_iter().find(|node| node != own_tag) {
        return Err(Error::InvalidOperation(format!("There is no node '{node}' in the cluster, only '{own_tag}'")));
    }
    let replication_factor = exchange.query().number("replicationFactor")?.unwrap_or(1);
    if replication_factor == 0 {
        return Err(Error::Argument("Replication factor must be greater than 0.".to_owned()));
    }
    if replication_factor > 1 {
        return Err(Error::InvalidOperation(
            "Cannot create a database on more nodes than there are in the cluster, which is 1".to_owned(),
        ));
    }
    // A request that names no etag, or rubbish (`"undefined"`), creates.
    let etag = exchange.etag_header(&ETAG).and_then(|etag| u64::try_from(etag).ok());
    let request_id = request_id(&exchange);
    let databases = exchange.node.databases.clone();
    let record = exchange
        .node
        .bridge
        .run(Pool::Short, move || {
            if let Ok(database) = databases.find(&name) {
                IndexesOfRecord::of(&database).take_unchanged(&mut record);
            }
            Ok(match etag {
                Some(etag) => databases.update(&name, &record, Some(etag), request_id.as_deref())?,
                None => databases.create(&name, record, request_id.as_deref())?,
            })
        })
        .await?;
    let url = exchange.own_url();
    Ok(reply::object(StatusCode::CREATED, |json| {
        json.name("RaftCommandIndex").unsigned(record.etag).name("Name").string(record.name());
        match record.value.get("Topology") {
            Some(topology) => topology.write(json.name("Topology")),
            None => {
                json.name("Topology").null();
            }
        }
        json.name("NodesAddedTo")
            .array(|json| {
                json.string(&url);
            })
            .name("ShardsDefined")
            .bool(false);
    }))
}

/// What clients send for what they do not set up.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Object(_) => value.members().is_empty(),
        Value::Array(elements) => elements.is_empty(),
        _ => false,
    }
}

/// What a record has that is of another kind than it has to be, where that would be passed over.
fn check_kinds(record: &Value) -> Result<()> {
    for name in ["Disabled", "Encrypted"] {
        if !matches!(record.get(name), None | Some(Value::Null | Value::Bool(_))) {
            return Err(Error::Argument(format!("'{name}' must be true or false")));
        }
    }
    match record.get("LockMode") {
        None | Some(Value::Null) => {}
        Some(mode) if mode.as_str().and_then(LockMode::from_wire).is_some() => {}
        Some(_) => {
            let message = "'LockMode' must be Unlock, PreventDeletesIgnore or PreventDeletesError";
            return Err(Error::Argument(message.to_owned()));
        }
    }
    match record.get("DatabaseState") {
        None | Some(Value::Null) => {}
        Some(Value::String(state)) if state == "Normal" => {}
        Some(_) => return Err(Error::Argument("'DatabaseState' must be Normal".to_owned())),
    }
    match record.get("Settings") {
        None | Some(Value::Null) => Ok(()),
        Some(settings @ Value::Object(_)) => check_settings(settings),
        Some(_) => Err(Error::Argument("'Settings' must be an object".to_owned())),
    }
}

/// Refuses settings of a database that cannot be obeyed: about where it is kept, malformed, a server's, or of an effect that is not there.
/// Others are kept and given back.
fn check_settings(settings: &Value) -> Result<()> {
    for (name, value) in settings.members() {
        if name.eq_ignore_ascii_case("DataDir") && !is_empty(value) {
            return Err(Feature::DataDirectories.missing_for("the setting 'DataDir' of a database").into());
        }
        let is_truth = |text: &str| ["true", "false"].iter().any(|truth| text.eq_ignore_ascii_case(truth));
        let is_switch = matches!(value, Value::Null | Value::Bool(_)) || value.as_str().is_some_and(is_truth);
        if name.eq_ignore_ascii_case("RunInMemory") && !is_switch {
            return Err(Error::Argument("The setting 'RunInMemory' must be true or false".to_owned()));
        }
        SettingsOf::Database.check(name, value).map_err(|refused| refused_setting(name, value, refused))?;
    }
    Ok(())
}

/// By which a request that changes the node is known when it is sent again.
pub(crate) fn request_id(exchange: &Exchange) -> Option<String> {
    exchange.query().get_nonempty("raft-request-id").map(std::borrow::Cow::into_owned)
}

/// DELETE `/admin/databases`: body `{"DatabaseNames":[],"HardDelete","FromNodes":[]}`. Names that are not there are passed
/// over. `TimeToWaitForConfirmation` is never used up: a deletion is done when it is answered.
pub(crate) async fn delete(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_object().await?;
    let mut names = strings(&body, "DatabaseNames")?;
    if !matches!(body.get("ShardNumber"), None | Some(Value::Null)) {
        return Err(Feature::Sharding.missing_for("'ShardNumber'").into());
    }
    let own_tag = exchange.node.databases.node_tag();
    if let Some(node) = strings(&body, "FromNodes")?.into_iter().find(|node| node != own_tag) {
        return Err(Error::InvalidOperation(format!("The databases are not on node '{node}', only on '{own_tag}'")));
    }
    names.extend(exchange.query().all("name").map(std::borrow::Cow::into_owned));
    let is_hard =
        body.get("HardDelete").and_then(Value::as_bool) == Some(true) || exchange.query().is_true("hardDelete")?;
    let request_id = request_id(&exchange);
    let databases = exchange.node.databases.clone();
    let deletion = exchange
        .node
        .bridge
        .run(Pool::Short, move || Ok(databases.delete(&borrowed(&names), is_hard, request_id.as_deref())?))
        .await?;
    let index = deletion.raft_index.map_or(-1, u64::cast_signed);
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("RaftCommandIndex").signed(index).name("PendingDeletes").array(|_| {});
    }))
}

/// The strings of the array `name` in a body, where it may be absent; anything else in its place or in it is refused.
pub(crate) fn strings(body: &Value, name: &str) -> Result<Vec<String>> {
    let strings = match body.get(name) {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::Array(elements)) => elements.iter().map(|element| element.as_str().map(str::to_owned)).collect(),
        Some(_) => None,
    };
    strings.ok_or_else(|| Error::Argument(format!("'{name}' must be an array of strings")))
}

/// POST `/admin/databases/enable`: body `{"DatabaseNames":[]}`.
pub(crate) async fn enable(exchange: Exchange) -> Result<Reply> {
    toggle(exchange, false).await
}

/// POST `/admin/databases/disable`: body `{"DatabaseNames":[]}`.
pub(crate) async fn disable(exchange: Exchange) -> Result<Reply> {
    toggle(exchange, true).await
}

async fn toggle(mut exchange: Exchange, is_disabled: bool) -> Result<Reply> {
    let names = strings(&exchange.read_object().await?, "DatabaseNames")?;
    let request_id = request_id(&exchange);
    let databases = exchange.node.databases.clone();
    let toggle = move || {
        let outcome = databases.set_disabled(&borrowed(&names), is_disabled, request_id.as_deref())?;
        Ok(names.into_iter().zip(outcome).collect::<Vec<_>>())
    };
    let outcomes = exchange.node.bridge.run(Pool::Short, toggle).await?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Status").array(|json| {
            for (name, is_there) in &outcomes {
                json.object(|json| {
                    json.name("Name").string(name).name("Success").bool(*is_there);
                    if *is_there {
                        json.name("Disabled").bool(is_disabled);
                    }
                    json.name("Reason").string(match (is_there, is_disabled) {
                        (true, true) => "Database state=True was propagated on the cluster",
                        (true, false) => "Database state=False was propagated on the cluster",
                        (false, _) => "database not found",
                    });
                });
            }
        });
    }))
}

fn borrowed(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// POST `/admin/databases/set-lock`: body `{"DatabaseNames":[],"Mode"}`. 204.
pub(crate) async fn set_lock(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_object().await?;
    let mode = body.get("Mode").and_then(Value::as_str).and_then(LockMode::from_wire);
    let mode = mode.ok_or_else(|| Error::Argument("The body must have a lock mode in 'Mode'".to_owned()))?;
    let names = strings(&body, "DatabaseNames")?;
    let request_id = request_id(&exchange);
    let databases = exchange.node.databases.clone();
    exchange
        .node
        .bridge
        .run(Pool::Short, move || Ok(databases.set_lock_mode(&borrowed(&names), mode, request_id.as_deref())?))
        .await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// PUT `/databases/{name}/admin/configuration/settings`: the settings as one object. 204; they count from the next opening.
pub(crate) async fn put_settings(mut exchange: Exchange) -> Result<Reply> {
    let settings = exchange.read_whole_object().await?;
    check_settings(&settings)?;
    let name = exchange.database().name().to_owned();
    let request_id = request_id(&exchange);
    let databases = exchange.node.databases.clone();
    let change = move || Ok(databases.put_settings(&name, &settings, request_id.as_deref()).map(drop)?);
    exchange.node.bridge.run(Pool::Short, change).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}
