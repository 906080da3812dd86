//! The cleaner of the revisions bin: removes the revisions of documents that were deleted long ago.
//!
//! It runs with the maintenance of the node, every minute, for databases that are open. One that is closed because it is idle is cleaned
//! when it is opened next.

use std::time::Duration;

use documents::limits::REVISED_DOCUMENTS_AT_ONCE;
use documents::{Date, RevisionsWrite, Write};
use parking_lot::Mutex;

use crate::{Database, Result};

/// The configuration `RevisionsBin` of a record, if it is enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BinCleaner {
    /// How long a document stays in the bin.
    pub age_min: Duration,
    /// The time between two runs.
    pub frequency: Duration,
}

/// The cleaner of a database.
#[derive(Debug, Default)]
pub(crate) struct RevisionsBin(Mutex<BinState>);

#[derive(Debug, Default)]
struct BinState {
    cleaner: Option<BinCleaner>,
    ran_at: Option<Date>,
}

impl RevisionsBin {
    pub fn configure(&self, cleaner: Option<BinCleaner>) {
        self.0.lock().cleaner = cleaner;
    }

    /// The time before which a document must have been deleted, if the cleaner has to run now.
    fn due(&self, now: Date) -> Option<Date> {
        let mut state = self.0.lock();
        let cleaner = state.cleaner?;
        if state.ran_at.is_some_and(|ran_at| now.since(ran_at) < cleaner.frequency && ran_at <= now) {
            return None;
        }
        state.ran_at = Some(now);
        let age = u64::try_from(cleaner.age_min.as_nanos() / 100).unwrap_or(u64::MAX);
        Some(Date::from_ticks(now.ticks().saturating_sub(age)))
    }
}

impl Database {
    /// Cleans the bin, if that is enabled and due; gives how many documents left it.
    ///
    /// # Errors
    ///
    /// Storage fails; what was removed before stays removed.
    pub(crate) fn clean_revisions_bin(&self, now: Date) -> Result<u64> {
        let Some(before) = self.revisions_bin().due(now) else { return Ok(0) };
        let mut cleaned = 0;
        // A look spares most runs a transaction.
        while !self.gate.is_shut() && self.read().has_revisions_bin_before(before)? {
            let write = RevisionsWrite::CleanBin { before, count_max: REVISED_DOCUMENTS_AT_ONCE };
            cleaned += self.write_blocking(&Write::Revisions(write))?.count()?;
        }
        Ok(cleaned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cleaner_runs_when_its_time_has_passed() {
        let bin = RevisionsBin::default();
        let at = |seconds: u64| Date::from_ticks(1_000_000_000_000 + seconds * 10_000_000);
        assert_eq!(bin.due(at(0)), None);
        let cleaner = BinCleaner { age_min: Duration::from_secs(60), frequency: Duration::from_secs(300) };
        bin.configure(Some(cleaner));
        assert_eq!(bin.due(at(100)), Some(at(40)));
        assert_eq!(bin.due(at(399)), None);
        assert_eq!(bin.due(at(400)), Some(at(340)));
        assert_eq!(bin.due(at(50)), Some(Date::from_ticks(at(0).ticks() - 100_000_000)), "the clock went back");
    }
}
