//! `waitForIndexesTimeout`, `waitForIndexThrow` and `waitForSpecificIndex` of a batch: it is answered when indexes have it.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use database::Index;
use database::documents::{CommandResult, Outcome};

use crate::error::{Error, Result};
use crate::handlers::queries::wait_for;
use crate::messages::query_string::QueryString;
use crate::routing::exchange::Exchange;

/// Which indexes a batch waits for, and how long.
pub(crate) struct IndexWait {
    wait: Duration,
    /// Whether it is an error that the time is up.
    throws: bool,
    /// Empty: those of the collections that were written to.
    names: Vec<String>,
}

impl IndexWait {
    /// `None`: it waits for none.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`]
    pub(crate) fn of(query: QueryString<'_>) -> Result<Option<IndexWait>> {
        let Some(wait) = query.time_span("waitForIndexesTimeout")? else { return Ok(None) };
        let throws = query.get_nonempty("waitForIndexThrow").is_none() || query.is_true("waitForIndexThrow")?;
        let names = query.all("waitForSpecificIndex").map(Cow::into_owned).collect();
        Ok(Some(IndexWait { wait, throws, names }))
    }

    /// Waits until they have what a batch wrote.
    ///
    /// # Errors
    ///
    /// [`Error::NotIndexed`] if the time is up and that is to be an error.
    pub(crate) async fn wait(self, exchange: &Exchange, outcome: &Outcome) -> Result<()> {
        let end = Instant::now() + self.wait;
        let mut indexes = self.relevant(exchange, outcome);
        for index in &mut indexes {
            wait_for(index, outcome.last_etag, end.saturating_duration_since(Instant::now())).await;
            // One that is compacted, or built anew, has a successor of its name.
            while index.is_removed()
                && let Some(next) = exchange.database().indexes().by_name(index.name())
                && !Arc::ptr_eq(&next, index)
            {
                *index = next;
                wait_for(index, outcome.last_etag, end.saturating_duration_since(Instant::now())).await;
            }
        }
        // One that was replaced or deleted meanwhile keeps nobody.
        let lacks = |index: &&Arc<Index>| index.indexed_to() < outcome.last_etag && !index.is_removed();
        let late: Vec<String> = indexes.iter().filter(lacks).map(|index| index.name().to_owned()).collect();
        if late.is_empty() || !self.throws {
            return Ok(());
        }
        Err(Error::NotIndexed { etag: outcome.last_etag, wait: self.wait, indexes: late, is_written: true })
    }

    fn relevant(&self, exchange: &Exchange, outcome: &Outcome) -> Vec<Arc<Index>> {
        let mut written: Vec<&str> = Vec::new();
        let mut is_known = true;
        for result in &outcome.results {
            match result {
                CommandResult::Put { collection, .. } => written.extend(collection.as_deref()),
                CommandResult::Patch { written: Some(patch), .. } => written.extend(patch.collection.as_deref()),
                CommandResult::Patch { written: None, .. } | CommandResult::TrackChanges => {}
                // Their collections are not told.
                CommandResult::Delete { .. }
                | CommandResult::DeletePrefixed { .. }
                | CommandResult::PatchMany
                | CommandResult::Revision { .. }
                | CommandResult::AttachmentPut { .. }
                | CommandResult::AttachmentDelete { .. }
                | CommandResult::AttachmentCopy { .. }
                | CommandResult::AttachmentMove { .. }
                | CommandResult::Counters { .. } => {
                    is_known = false;
                }
            }
        }
        let is_relevant = |index: &&Arc<Index>| {
            let is_named = self.names.is_empty() || self.names.iter().any(|name| is_same(name, index.name()));
            let reads = |collection: &str| written.iter().any(|written| is_same(written, collection));
            let mut sources = index.sources().iter();
            is_named && (!is_known || sources.any(|source| source.collection.as_deref().is_none_or(reads)))
        };
        exchange.database().indexes().all().iter().filter(is_relevant).cloned().collect()
    }
}

fn is_same(left: &str, right: &str) -> bool {
    database::documents::id::is_same(left, right)
}
