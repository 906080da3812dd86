//! The queries that run: those that have a thread of a pool. Queries that are answered at once, in microseconds, are not among them, nor
//! are those that still wait for their index.
//!
//! An operator can end one: its work sees that at its next look at the deadline, or at the clock of its script, and its client gets
//! [`Error::QueryEnded`]; a streamed answer that has begun is cut off. Texts are [shortened](shorten), and parameters are not kept.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;

use super::shortened::shorten;
use crate::error::{Error, Result};

/// One of them.
#[derive(Clone)]
pub(crate) struct RunningQuery {
    pub(crate) id: u64,
    pub(crate) database: String,
    /// The index that answers, or `collection/Orders`.
    pub(crate) index: String,
    pub(crate) text: String,
    /// Results that are left out before the page; results of the page at most.
    pub(crate) skip: u64,
    pub(crate) take: Option<u64>,
    pub(crate) started_at: SystemTime,
    started: Instant,
    /// It is one of `streams/queries`.
    pub(crate) is_stream: bool,
    /// Ends its work.
    end: Arc<dyn Fn() + Send + Sync>,
    is_ended: bool,
}

impl std::fmt::Debug for RunningQueries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningQueries").field("count", &self.open.lock().len()).finish_non_exhaustive()
    }
}

impl RunningQuery {
    pub(crate) fn duration(&self) -> Duration {
        self.started.elapsed()
    }
}

/// All of a server.
#[derive(Default)]
pub(crate) struct RunningQueries {
    open: Mutex<BTreeMap<u64, RunningQuery>>,
    next_id: AtomicU64,
}

/// What a query says of itself when it begins to run.
pub(crate) struct Description<'q> {
    pub(crate) database: &'q str,
    pub(crate) index: String,
    pub(crate) text: &'q str,
    pub(crate) skip: u64,
    pub(crate) take: Option<u64>,
    pub(crate) started: Instant,
    pub(crate) is_stream: bool,
}

impl RunningQueries {
    /// Copies of all, the oldest first; of one database, by its name in any case, or of all.
    pub(crate) fn all(&self, database: Option<&str>) -> Vec<RunningQuery> {
        let is_asked = |query: &&RunningQuery| database.is_none_or(|name| query.database.eq_ignore_ascii_case(name));
        self.open.lock().values().filter(is_asked).cloned().collect()
    }

    /// Ends the query of an id. False: no query of that index and database has it.
    pub(crate) fn end(&self, database: &str, index: &str, id: u64) -> bool {
        let mut open = self.open.lock();
        let Some(query) = open.get_mut(&id) else { return false };
        if !query.database.eq_ignore_ascii_case(database) || !query.index.eq_ignore_ascii_case(index) {
            return false;
        }
        query.is_ended = true;
        (query.end)();
        tracing::info!(database = query.database, id, query = query.text, "a query was ended by an operator");
        true
    }
}

/// A query is among those that run, until this is dropped.
pub(crate) struct Running {
    queries: Arc<RunningQueries>,
    id: u64,
}

impl Running {
    /// A query begins to run.
    ///
    /// * `end`: ends its work.
    pub(crate) fn begin(
        queries: &Arc<RunningQueries>,
        description: Description<'_>,
        end: impl Fn() + Send + Sync + 'static,
    ) -> Running {
        let id = queries.next_id.fetch_add(1, Relaxed) + 1;
        let Description { database, index, text, skip, take, started, is_stream } = description;
        let mut text = text.to_owned();
        shorten(&mut text);
        let started_at = SystemTime::now().checked_sub(started.elapsed()).unwrap_or(SystemTime::UNIX_EPOCH);
        let (database, end, is_ended) = (database.to_owned(), Arc::new(end), false);
        let query =
            RunningQuery { id, database, index, text, skip, take, started_at, started, is_stream, end, is_ended };
        queries.open.lock().insert(id, query);
        Running { queries: queries.clone(), id }
    }

    /// The outcome of the query: if it was ended, that is why it failed.
    pub(crate) fn finish<T>(self, outcome: Result<T>) -> Result<T> {
        let is_ended = self.queries.open.lock().get(&self.id).is_some_and(|query| query.is_ended);
        outcome.map_err(|error| if is_ended { Error::QueryEnded } else { error })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Its text is freed outside of the lock.
        let ended = self.queries.open.lock().remove(&self.id);
        drop(ended);
    }
}
