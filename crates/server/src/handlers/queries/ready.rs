//! Making the index of a query ready without holding a thread while it waits.

use std::sync::Arc;
use std::time::Duration;

use database::documents::{Etag, Snapshot};
use database::queries::{Freshness, OpenedIndex, Preparation, PreparationStep, ReadyIndex};
use database::{AutomaticIndexes, Index};
use tokio::sync::oneshot;

use super::request::Request;
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::routing::exchange::Exchange;

/// Makes the index of a query ready. It waits as long as the query says, or for an index that was just created, whose results would mean
/// nothing, as long as a query may run. The query string may have `freshReads`, `disableAutoIndexCreation` and `neverWidenAutoIndexes`.
///
/// # Errors
///
/// [`database::Error::NoSuchIndex`]; the index lacks a field; it cannot be created; it does not have the write in time that the query has
/// to see.
pub(crate) async fn ready(exchange: &Exchange, request: &Request) -> Result<Option<ReadyIndex>> {
    let database = exchange.database();
    let run_time = exchange.node.limits.query_run_time;
    let query = exchange.query();
    let automatic = match (query.is_true("disableAutoIndexCreation")?, query.is_true("neverWidenAutoIndexes")?) {
        (true, _) => AutomaticIndexes::NotCreated,
        (false, true) => AutomaticIndexes::Separate,
        (false, false) => AutomaticIndexes::Widened,
    };
    let reads_fresh = query.get_nonempty("freshReads").map(|_| query.is_true("freshReads")).transpose()?;
    let freshness = Freshness { reads_fresh, ..request.freshness.clone() };
    let preparation = Preparation::new(database, &request.query, &freshness, run_time)?;
    let mut preparation = preparation.restricted_to(automatic);
    loop {
        match preparation.advance()? {
            PreparationStep::Ready(ready) => return Ok(ready),
            PreparationStep::Wait { index, etag, wait } => wait_for(&index, etag, wait).await,
            PreparationStep::Make(needed, automatic) => {
                let database = database.clone();
                let make = move || Ok(database.indexes().covering_or_made(&needed, automatic)?);
                preparation.made(exchange.node.bridge.run(Pool::Short, make).await?);
            }
        }
    }
}

/// Waits until the index has all up to an etag, or the time is up.
pub(crate) async fn wait_for(index: &Arc<Index>, etag: Etag, wait: Duration) {
    let (sender, receiver) = oneshot::channel();
    // The receiver may be gone by then.
    index.when_indexed(etag, wait, move || _ = sender.send(()));
    let _ = tokio::time::timeout(wait, receiver).await;
}

/// Opens the snapshots of a query. An index that turns out to be damaged is built anew.
pub(crate) fn with_snapshots<T>(
    exchange: &Exchange,
    ready: Option<&ReadyIndex>,
    work: impl for<'a> FnOnce(Option<OpenedIndex<'a>>, &'a Snapshot<'a>) -> Result<T>,
) -> Result<T> {
    let outcome = exchange.database().with_snapshots(ready, work);
    outcome.inspect_err(|error| {
        if let (Some(ready), Error::Database(error)) = (ready, error) {
            ready.fail_if_damaged(error);
        }
    })
}
