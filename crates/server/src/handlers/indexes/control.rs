//! Stopping, starting and locking indexes; what went wrong in them.
//!
//! POST `admin/indexes/start` and `stop`: `name`, `type` (`map` or `map-reduce`), or all; `enable` and `disable`: `name`, `clusterWide`.
//! POST `set-lock`: `{"IndexNames","Mode"}`; `set-priority`: `{"IndexNames","Priority"}`; `replace`: `name`. 204; 400 for an unknown name.

use std::sync::Arc;

use database::{Database, Index, IndexingStatus, NO_ANALYZER};
use hyper::StatusCode;
use json::Value;
use query::definition::{IndexSettings, LockMode, Priority};
use query::index::IndexError;

use super::{by_name, named};
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::{Exchange, write_origin};

/// Documents that could not be indexed.
pub(crate) async fn errors(exchange: Exchange) -> Result<Reply> {
    let node = exchange.node.clone();
    node.bridge.run(Pool::Reads, move || read_errors(&exchange)).await
}

fn read_errors(exchange: &Exchange) -> Result<Reply> {
    let with_errors = |index: Arc<Index>| index.errors().map(|errors| (index, errors));
    let found = named(exchange)?.into_iter().map(with_errors).collect::<database::Result<Vec<_>>>()?;
    Ok(reply::object(StatusCode::OK, |json| {
        write_origin(json, exchange);
        json.name("Results").array(|json| {
            for (index, errors) in &found {
                json.object(|json| {
                    json.name("Name").string(index.name());
                    json.name("Errors").array(|json| write_errors(json, errors));
                });
            }
        });
    }))
}

pub(super) fn write_errors(json: &mut json::Writer<'_>, errors: &[IndexError]) {
    for error in errors {
        json.object(|json| {
            json.name("Timestamp").string(&error.at.to_string());
            json.name("Document").optional_string(error.document.as_deref());
            let action = match error.document {
                Some(_) => "Map",
                None if error.message.starts_with(NO_ANALYZER) => "Analyzer",
                None => "Reduce",
            };
            json.name("Action").string(action).name("Error").string(&error.message);
        });
    }
}

/// Forgets them.
pub(crate) async fn clear_errors(exchange: Exchange) -> Result<Reply> {
    let found = named(&exchange)?;
    let clear = move || {
        found.iter().try_for_each(|index| index.clear_errors())?;
        Ok(reply::empty(StatusCode::NO_CONTENT))
    };
    exchange.node.bridge.run(Pool::Short, clear).await
}

/// How clients call it.
pub(super) fn status_name(index: &Index) -> &'static str {
    match index.status() {
        IndexingStatus::Running => "Running",
        IndexingStatus::Paused => "Paused",
        IndexingStatus::Disabled => "Disabled",
    }
}

/// Whether indexing goes on.
pub(crate) fn status(exchange: &Exchange) -> Result<Reply> {
    let indexes = exchange.database().indexes();
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Status").string(if indexes.are_paused() { "Paused" } else { "Running" });
        json.name("Indexes").array(|json| {
            for index in indexes.all().iter() {
                json.object(|json| {
                    _ = json.name("Name").string(index.name()).name("Status").string(status_name(index))
                });
            }
        });
    }))
}

pub(crate) async fn stop(exchange: Exchange) -> Result<Reply> {
    pause(exchange, true).await
}

pub(crate) async fn start(exchange: Exchange) -> Result<Reply> {
    pause(exchange, false).await
}

async fn pause(exchange: Exchange, is_paused: bool) -> Result<Reply> {
    let query = exchange.query();
    for key in ["name", "type"] {
        if query.get(key).is_some_and(|value| value.is_empty()) {
            return Err(Error::Argument(format!("Query string value '{key}' must have a non empty value")));
        }
    }
    let (name, kind) = (query.get("name"), query.get("type"));
    if name.is_some() && kind.is_some() {
        return Err(Error::Argument("Query string value 'type' and 'names' are mutually exclusive.".to_owned()));
    }
    let index = name.map(|name| by_name(exchange.database(), &name)).transpose()?;
    let has_groups = match kind {
        None => None,
        Some(kind) if kind.eq_ignore_ascii_case("map") => Some(false),
        Some(kind) if kind.eq_ignore_ascii_case("map-reduce") => Some(true),
        Some(kind) => return Err(Error::parameter("type", &kind, "map or map-reduce")),
    };
    let database = exchange.database().clone();
    // Whoever changes indexes just now may be waiting for the disk.
    let pause = move || {
        let indexes = database.indexes();
        match (&index, has_groups) {
            (Some(index), _) => indexes.pause(index, is_paused),
            (None, Some(has_groups)) => {
                indexes.pause_where(|index| index.definition().is_grouped() == has_groups, is_paused)
            }
            (None, None) => indexes.pause_all(is_paused),
        }
        Ok(reply::empty(StatusCode::NO_CONTENT))
    };
    exchange.node.bridge.run(Pool::Short, pause).await
}

pub(crate) async fn enable(exchange: Exchange) -> Result<Reply> {
    set_disabled(exchange, false).await
}

pub(crate) async fn disable(exchange: Exchange) -> Result<Reply> {
    set_disabled(exchange, true).await
}

async fn set_disabled(exchange: Exchange, is_disabled: bool) -> Result<Reply> {
    // The cluster is this node.
    let is_cluster_wide = exchange.query().is_true("clusterWide")?;
    let index = by_name(exchange.database(), &exchange.required("name")?)?;
    change(exchange, vec![index], move |settings| settings.is_disabled = is_disabled).await?;
    Ok(reply::empty(if is_cluster_wide { StatusCode::OK } else { StatusCode::NO_CONTENT }))
}

pub(crate) async fn set_lock(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_object().await?;
    let mode = LockMode::parse(named_value(&body, "Mode")?)?;
    let indexes = named_indexes(exchange.database(), &body)?;
    if let Some(automatic) = indexes.iter().find(|index| index.definition().as_automatic().is_some()) {
        let message = format!("The lock mode of '{}' cannot be set: a query made it", automatic.name());
        return Err(Error::InvalidOperation(message));
    }
    change(exchange, indexes, move |settings| settings.lock_mode = mode).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

pub(crate) async fn set_priority(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_object().await?;
    let priority = Priority::parse(named_value(&body, "Priority")?)?;
    let indexes = named_indexes(exchange.database(), &body)?;
    change(exchange, indexes, move |settings| settings.priority = priority).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

fn named_value<'v>(body: &'v Value, key: &str) -> Result<&'v str> {
    let value = body.get(key).and_then(Value::as_str);
    value.ok_or_else(|| Error::Argument(format!("The body must have a text '{key}'")))
}

fn named_indexes(database: &Database, body: &Value) -> Result<Vec<Arc<Index>>> {
    let names = match body.get("IndexNames") {
        Some(Value::Array(names)) if !names.is_empty() => names,
        _ => return Err(Error::Argument("The body must have names of indexes in an array 'IndexNames'".to_owned())),
    };
    let name = |name: &Value| match name.as_str() {
        Some(name) => by_name(database, name),
        None => Err(Error::Argument("'IndexNames' must be texts".to_owned())),
    };
    names.iter().map(name).collect()
}

async fn change(
    exchange: Exchange,
    indexes: Vec<Arc<Index>>,
    change: impl Fn(&mut IndexSettings) + Send + 'static,
) -> Result<()> {
    let database = exchange.database().clone();
    let change = move || Ok(indexes.iter().try_for_each(|index| database.indexes().change(index, &change))?);
    exchange.node.bridge.run(Pool::Short, change).await
}

/// Has a definition that is just being built stand in for the one of its name at once.
pub(crate) async fn replace(exchange: Exchange) -> Result<Reply> {
    let name = exchange.required("name")?.into_owned();
    let database = exchange.database().clone();
    let replace = move || match database.indexes().replace_now(&name)? {
        true => Ok(reply::empty(StatusCode::NO_CONTENT)),
        false => Err(Error::UnknownIndex { name: format!("ReplacementOf/{name}").chars().take(128).collect() }),
    };
    exchange.node.bridge.run(Pool::Short, replace).await
}
