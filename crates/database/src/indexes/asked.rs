//! When an index was last asked.
//!
//! A query only notes it in memory. It is kept in the index with each batch, when the index is closed, and by maintenance where what is
//! kept is older by [`LAST_QUERY_KEPT_EVERY`]; after a crash a somewhat older time is found.
//!
//! Who retires indexes has a clock of its own, which stands still while the database is closed: else the first query after a week's rest
//! would leave all other indexes behind by a week. So there is a second time, the *last use*, which opening moves on.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use documents::Date;
use query::index::History;

use crate::limits::LAST_QUERY_KEPT_EVERY;

/// Both times, in ticks; 0: never.
pub(super) struct Asked {
    query: AtomicU64,
    used: AtomicU64,
}

impl Asked {
    /// As it is kept.
    pub fn new(history: &History) -> Asked {
        let ticks = |date: Option<Date>| AtomicU64::new(date.map_or(0, Date::ticks));
        Asked { query: ticks(history.last_query), used: ticks(history.last_use) }
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

    /// The database was closed for so many ticks.
    pub fn move_on(&self, ticks: u64) {
        // Nobody asks before all are open.
        if let Some(used) = self.last_use() {
            self.used.store(used.ticks().saturating_add(ticks), Relaxed);
        }
    }

    /// Whether what is kept of it is too old.
    pub fn is_due(&self, kept: &History) -> bool {
        let is_old = |used: Date| kept.last_use.is_none_or(|kept| used.since(kept) >= LAST_QUERY_KEPT_EVERY);
        self.last_use().is_some_and(is_old)
    }

    /// Whether it has to be kept when the index is closed.
    pub fn is_due_at_end(&self, kept: &History) -> bool {
        self.last_query() != kept.last_query || self.is_due(kept)
    }
}

fn date(ticks: &AtomicU64) -> Option<Date> {
    let ticks = ticks.load(Relaxed);
    (ticks > 0).then(|| Date::from_ticks(ticks))
}
