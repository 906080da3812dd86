//! Retirement (garbage collection) of automatic indexes that are no longer used: they are reported as idle first, and removed later.
//!
//! The age of an index is measured by queries, not by the clock: the time from its own last query to the newest query of any index. So an
//! idle server retires nothing, and neither does the time for which a database is closed ([`super::usage`]). An index without a recorded
//! query counts from its opening.

use std::time::Duration;

use documents::Date;

use super::open::Index;
use super::registry::Indexes;
use crate::Result;

impl Indexes {
    /// The last query of any index, or when one that a query made was opened, whichever is newest.
    fn last_query(&self) -> Option<Date> {
        self.open.load().iter().filter_map(|index| index.last_use()).max()
    }

    /// True if an index was unused for so long, while others were used, that it will be retired.
    pub fn is_idle(&self, index: &Index) -> bool {
        self.database()
            .is_ok_and(|database| left_behind(index, self.last_query()) >= database.limits().automatic_index_idle_after)
    }

    /// Removes the indexes that have been idle for too long.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn retire(&self) -> Result<()> {
        let database = self.database()?;
        let limits = database.limits();
        let after = limits.automatic_index_idle_after.saturating_add(limits.idle_index_kept);
        let last = self.last_query();
        if !self.open.load().iter().any(|index| left_behind(index, last) >= after) {
            return Ok(());
        }
        let _changing = self.changing.lock();
        for index in self.open.load_full().iter() {
            let behind = left_behind(index, last);
            // A query that needs it now creates it again.
            if behind >= after {
                let idle_hours = behind.as_secs() / 3600;
                tracing::info!(
                    database = database.name(),
                    index = index.name(),
                    idle_hours,
                    "an idle automatic index is deleted"
                );
                self.remove_open(index)?;
            }
        }
        Ok(())
    }
}

/// By how much the last query of any index is newer than that of one that a query made; 0 for others.
fn left_behind(index: &Index, last: Option<Date>) -> Duration {
    let own = index.definition().as_automatic().and_then(|_| index.last_use());
    own.zip(last).map_or(Duration::ZERO, |(own, last)| last.since(own))
}
