//! The time of the last query of an index.
//!
//! A query records it in memory only. The index persists it with each batch and on closing, and maintenance persists it when the stored
//! time is older by [`LAST_QUERY_KEPT_EVERY`]; after a crash the time may be somewhat older.
//!
//! The retirement of indexes uses a clock of its own, which stops while the database is closed; otherwise the first query after a closed
//! week would make all other indexes a week old. So there is a second time, the *last use*, which is advanced on opening.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use documents::Date;
use query::index::History;

use crate::limits::LAST_QUERY_KEPT_EVERY;

/// Both times, in ticks; 0: never.
pub(super) struct Usage {
    query: AtomicU64,
    used: AtomicU64,
}

impl Usage {
    /// From the stored times.
    pub fn new(history: &History) -> Usage {
        let ticks = |date: Option<Date>| AtomicU64::new(date.map_or(0, Date::ticks));
        Usage { query: ticks(history.last_query), used: ticks(history.last_use) }
    }

    pub fn note(&self, at: Date) {
        self.query.fetch_max(at.ticks(), Relaxed);
        self.used.fetch_max(at.ticks(), Relaxed);
    }

    pub fn last_query(&self) -> Option<Date> {
        date(&self.query)
    }

    pub fn last_use(&self) -> Option<Date> {
        date(&self.used)
    }

    /// Advances the last use by the ticks for which the database was closed.
    pub fn move_on(&self, ticks: u64) {
        // No query runs before all indexes are open.
        if let Some(used) = self.last_use() {
            self.used.store(used.ticks().saturating_add(ticks), Relaxed);
        }
    }

    /// Takes over the times of another index.
    pub fn take_over(&self, other: &Usage) {
        self.query.fetch_max(other.query.load(Relaxed), Relaxed);
        self.used.fetch_max(other.used.load(Relaxed), Relaxed);
    }

    /// True if the stored time is too old.
    pub fn is_due(&self, kept: &History) -> bool {
        let is_old = |used: Date| kept.last_use.is_none_or(|kept| used.since(kept) >= LAST_QUERY_KEPT_EVERY);
        self.last_use().is_some_and(is_old)
    }

    /// True if it must be stored when the index is closed.
    pub fn is_due_at_end(&self, kept: &History) -> bool {
        self.last_query() != kept.last_query || self.is_due(kept)
    }
}

fn date(ticks: &AtomicU64) -> Option<Date> {
    let ticks = ticks.load(Relaxed);
    (ticks > 0).then(|| Date::from_ticks(ticks))
}
