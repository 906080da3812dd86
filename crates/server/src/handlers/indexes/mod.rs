//! `/databases/{name}/indexes`: what indexes there are, how far they are, what they hold; defining them.
//!
//! PUT (also `admin/indexes`): `{"Indexes":[definition]}`; 201. POST `has-changed`: a definition; `{"Changed"}`.
//! GET: `name`, or `start` and `pageSize`, `namesOnly`; 404 for an unknown name. `stats`, `errors`, `status`, `staleness`,
//! `terms`, `debug`, `progress`, `advice`. DELETE: `name`; 204, or 404. RESET: `name`; 204.

mod advice;
mod control;
mod debug;
mod definition;
mod progress;
mod record;
mod sample;
mod state;
mod terms;
mod wait;

use std::sync::Arc;

use database::documents::Feature;
use database::{Database, Index};
use hyper::StatusCode;
use json::Value;
use query::definition::{DefinitionError, IndexSettings, MapIndex, SettingRefused, SettingsOf, check_index_name};

use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::{Exchange, write_origin};

pub(crate) use advice::advice;
pub(crate) use control::{clear_errors, disable, enable, errors, replace, set_lock, set_priority, start, status, stop};
pub(crate) use debug::debug;
pub(crate) use progress::progress;
pub(crate) use record::IndexesOfRecord;
pub(crate) use sample::test;
pub(crate) use state::{ObservedIndex, performance, staleness, statistics};
pub(crate) use terms::{NULL_TERM, terms};
pub(crate) use wait::IndexWait;

/// All, or one by name.
pub(crate) fn list(exchange: &Exchange) -> Result<Reply> {
    let query = exchange.query();
    let (start, count) = (query.page_start()?, query.page_size()?);
    let names_only = query.is_true("namesOnly")?;
    let found = match query.get_nonempty("name") {
        Some(name) => match exchange.database().indexes().by_name(&name) {
            Some(index) => vec![index],
            None => return Ok(reply::empty(StatusCode::NOT_FOUND)),
        },
        None => page(exchange, start, count),
    };
    Ok(reply::object(StatusCode::OK, |json| {
        write_origin(json, exchange);
        json.name("Results").array(|json| {
            for index in &found {
                match names_only {
                    true => _ = json.string(index.name()),
                    false => definition::write(json, exchange.database(), index),
                }
            }
        });
    }))
}

fn page(exchange: &Exchange, start: u64, count: u64) -> Vec<Arc<Index>> {
    let [start, count] = [start, count].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    exchange.database().indexes().all().iter().skip(start).take(count).cloned().collect()
}

/// All, or those by name; an unknown one is an error.
fn named(exchange: &Exchange) -> Result<Vec<Arc<Index>>> {
    let query = exchange.query();
    let (start, count) = (query.page_start()?, query.page_size()?);
    let names: Vec<_> = query.all("name").filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        return Ok(page(exchange, start, count));
    }
    names.iter().map(|name| by_name(exchange.database(), name)).collect()
}

fn by_name(database: &Database, name: &str) -> Result<Arc<Index>> {
    let found = database.indexes().by_name(name);
    found.ok_or_else(|| Error::UnknownIndex { name: name.chars().take(128).collect() })
}

/// Refuses settings of an index that are unknown, malformed, or would have an effect that is not there.
fn check_settings(index: &str, given: &Value) -> Result<()> {
    let settings = match given.get("Configuration") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Object(settings)) => settings,
        Some(_) => return Err(Error::Argument("'Configuration' of an index must be an object".to_owned())),
    };
    for (name, value) in settings {
        SettingsOf::Index.check(name, value).map_err(|refused| match refused {
            SettingRefused::Unknown => Error::IndexDefinition(DefinitionError::Invalid(format!(
                "Could not create index '{index}' because the configuration option key '{name}' is not recognized"
            ))),
            refused => refused_setting(name, value, refused),
        })?;
    }
    Ok(())
}

/// Why a setting of an index or a database is refused, in the words of the reference.
pub(super) fn refused_setting(name: &str, value: &Value, refused: SettingRefused) -> Error {
    match refused {
        SettingRefused::Unknown => Error::Argument(format!("There is no setting '{name}'")),
        SettingRefused::Malformed(kind) => {
            let value = String::from_utf8_lossy(&value.to_vec()).into_owned();
            let message =
                format!("Could not set '{name}' configuration setting value. It must be {kind}, but is {value}");
            Error::InvalidOperation(message)
        }
        SettingRefused::OfServer => {
            Error::InvalidOperation(format!("Configuration '{name}' can only be set at server level."))
        }
        SettingRefused::NotSupported => Feature::EngineSettings.missing_for(format!("the setting '{name}'")).into(),
    }
}

/// Takes over definitions, all of which must be acceptable.
pub(crate) async fn put(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_object().await?;
    let database = exchange.database().clone();
    // Compiling a map may take an engine of scripts.
    let put = move || {
        let Some(Value::Array(given)) = body.get("Indexes") else {
            return Err(Error::Argument("The body must have an array 'Indexes'".to_owned()));
        };
        put_all(&database, given)
    };
    let names = exchange.node.bridge.run(Pool::Short, put).await?;
    let raft_index = exchange.node.databases.raft_index()?;
    Ok(reply::object(StatusCode::CREATED, |json| {
        json.name("Results").array(|json| {
            for name in &names {
                json.object(|json| _ = json.name("Index").string(name).name("RaftCommandIndex").unsigned(raft_index));
            }
        });
    }))
}

/// Compiles all definitions, then puts them; gives the names.
pub(crate) fn put_all(database: &Database, given: &[Value]) -> Result<Vec<String>> {
    let read = |given| {
        let definition = MapIndex::with_analyzers(given, &database.analyzers())?;
        check_index_name(definition.name())?;
        check_settings(definition.name(), given)?;
        Ok((definition, IndexSettings::from_json(given)?))
    };
    let definitions = given.iter().map(read).collect::<Result<Vec<_>>>()?;
    let names: Vec<String> = definitions.iter().map(|(definition, _)| definition.name().to_owned()).collect();
    definitions.into_iter().try_for_each(|(definition, settings)| database.indexes().put(definition, settings))?;
    Ok(names)
}

/// Whether a definition asks for another index than there is.
pub(crate) async fn has_changed(mut exchange: Exchange) -> Result<Reply> {
    let given = exchange.read_object().await?;
    let name = given.get("Name").and_then(Value::as_str).unwrap_or_default();
    if name.is_empty() {
        return Err(Error::Argument("The definition must have a 'Name'".to_owned()));
    }
    let index = exchange.database().indexes().by_name(name);
    let is_same = index.is_some_and(|index| index.definition().as_map().is_some_and(|map| map.is_same(&given)));
    Ok(reply::object(StatusCode::OK, |json| _ = json.name("Changed").bool(!is_same)))
}

pub(crate) async fn delete(exchange: Exchange) -> Result<Reply> {
    let name = exchange.required("name")?.into_owned();
    let database = exchange.database().clone();
    let is_removed = exchange.node.bridge.run(Pool::Short, move || Ok(database.indexes().remove(&name)?)).await?;
    Ok(reply::empty(if is_removed { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND }))
}

/// Builds an index anew.
pub(crate) async fn reset(exchange: Exchange) -> Result<Reply> {
    if let Some(mode) = exchange.query().get_nonempty("mode").filter(|mode| !mode.eq_ignore_ascii_case("InPlace")) {
        return Err(Error::not_supported(format!("the mode '{mode}' of resetting an index")));
    }
    let name = exchange.required("name")?.into_owned();
    let index = by_name(exchange.database(), &name)?;
    let database = exchange.database().clone();
    exchange.node.bridge.run(Pool::Short, move || Ok(database.indexes().reset(index.name())?)).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}
