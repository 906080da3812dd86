//! The index that answers a query: found or made, and waited for as far as the query wants.

use std::sync::Arc;
use std::time::{Duration, Instant};

use database::documents::{ChangeVector, Etag};
use database::{Database, Index};
use query::definition::Field;
use query::plan::{Find, IndexChoice, IndexQuery};
use tokio::sync::oneshot;

use super::request::Request;
use super::timings::Stage;
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::exchange::Exchange;
use crate::limits::STALE_WAIT;

/// An index that may answer now.
#[derive(Clone)]
pub(crate) struct Ready {
    pub(crate) index: Arc<Index>,
    /// If the query waits: it is stale if it lacks something up to here. Else if it lacks anything.
    pub(crate) cutoff: Option<Etag>,
}

impl Ready {
    /// An index that is found to be damaged is built anew.
    pub(crate) fn fail_if_damaged(&self, error: &Error) {
        if let Error::Database(database::Error::Index(error)) = error
            && error.is_damage()
        {
            self.index.fail(error.clone());
        }
    }
}

/// Finds or makes the index of a query, if it needs one, and waits for it: as long as the query says, or for an index that was
/// made just now, whose answers would say nothing, as long as a query may run.
///
/// # Errors
///
/// [`Error::NoSuchIndex`]; the index lacks a field; it cannot be made; it does not have the write in time that the query has to see.
pub(crate) async fn ready(exchange: &Exchange, request: &Request) -> Result<Option<Ready>> {
    let database = exchange.database();
    let arrival = database.read().last_etag()?;
    let written = request.after_write.as_deref().map(|vector| etag_of(vector, database, arrival)).transpose()?;
    let Find::Index(query) = &request.plan.find else { return Ok(None) };
    let note = |stage, start: Instant| {
        if let Some(timings) = &request.timings {
            timings.add(stage, start.elapsed());
        }
    };
    // One that is replaced by another while it is waited for tells nothing any more.
    loop {
        let start = Instant::now();
        let index = choose(exchange, query, &request.text).await?;
        note(Stage::Optimizer, start);
        let start = Instant::now();
        let wait = match request.stale_wait {
            None if !index.was_complete() => Some(exchange.node.limits.query_run_time),
            wait => wait,
        };
        if let Some(wait) = wait {
            wait_for(&index, arrival, wait).await;
        }
        if let Some(etag) = written {
            let wait = request.stale_wait.unwrap_or(STALE_WAIT);
            wait_for(&index, etag, wait).await;
            if index.indexed_to() < etag && !index.is_removed() {
                let indexes = vec![index.name().to_owned()];
                return Err(Error::NotIndexed { etag, wait, indexes, is_written: false });
            }
        }
        note(Stage::Staleness, start);
        if !index.is_removed() {
            return Ok(Some(Ready { index, cutoff: request.stale_wait.map(|_| arrival).or(written) }));
        }
    }
}

/// The etag that this database gave to the write that was answered with a change vector.
///
/// * `last`: the last one that it gave.
fn etag_of(vector: &str, database: &Database, last: Etag) -> Result<Etag> {
    let wrong = |reason: &str| Error::Argument(format!("'WaitForChangeVector' {reason}"));
    let parsed = ChangeVector::parse(vector).map_err(|error| wrong(&format!("is no change vector: {error}")))?;
    match parsed.etag_of(database.documents().database_id()) {
        0 => Err(wrong("is not of a write to this database")),
        etag if etag > last => Err(wrong(&format!("names etag {etag}, and the last of this database is {last}"))),
        etag => Ok(etag),
    }
}

async fn choose(exchange: &Exchange, query: &IndexQuery, text: &str) -> Result<Arc<Index>> {
    let database = exchange.database();
    match &query.index {
        IndexChoice::Named(name, fields) => named(database, name, fields, text),
        IndexChoice::Covering(needed) => match database.indexes().covering(needed) {
            Some(index) => Ok(index),
            None => {
                let (database, needed) = (database.clone(), needed.clone());
                let make = move || Ok(database.indexes().covering_or_new(&needed)?);
                exchange.node.bridge.run(Pool::Short, make).await
            }
        },
    }
}

fn named(database: &Database, name: &str, fields: &[Field], text: &str) -> Result<Arc<Index>> {
    let index = database.indexes().by_name(name).ok_or(Error::NoSuchIndex)?;
    check_fields(&index, fields, text)?;
    Ok(index)
}

/// # Errors
///
/// The index lacks one of the fields.
pub(crate) fn check_fields(index: &Index, fields: &[Field], text: &str) -> Result<()> {
    let definition = index.definition();
    for field in fields.iter().filter(|field| field.needs.is_suggested) {
        let (path, index) = (&field.name.path, index.name());
        if definition.suggests(path) {
            continue;
        }
        if definition.missing(field).is_some() {
            return Err(Error::InvalidOperation(format!("Index '{index}' does not have a field '{path}'.")));
        }
        let message = format!("Index '{index}' does not have suggestions configured for field '{path}'.");
        return Err(Error::InvalidOperation(message));
    }
    // One of which words may be suggested need not be among those that maps give; nothing is marked in one that is not there.
    let mut needed = fields.iter().filter(|field| !field.needs.is_suggested && !field.needs.is_highlighted);
    match needed.find_map(|field| index.definition().missing(field)) {
        None => Ok(()),
        Some(field) => Err(Error::Argument(format!(
            "The field '{field}' is not indexed in '{}', cannot query/sort on fields that are not indexed in query: {text}",
            index.name()
        ))),
    }
}

/// Waits until the index has all up to an etag, or the time is up.
pub(crate) async fn wait_for(index: &Arc<Index>, etag: Etag, wait: Duration) {
    let (sender, receiver) = oneshot::channel();
    // Whoever stops waiting is not missed.
    index.when_indexed(etag, wait, move || _ = sender.send(()));
    let _ = tokio::time::timeout(wait, receiver).await;
}
