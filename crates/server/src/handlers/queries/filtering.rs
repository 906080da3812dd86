//! The clause `filter`: results are looked at one by one, and the page is one of those that fit.

use query::execute::Row;
use query::plan::{FilterClause, Page};

/// What a filter has seen.
#[derive(Clone, Copy, Default)]
pub(super) struct Filtered {
    /// Results that it looked at.
    pub(super) scanned: u64,
    /// Those that do not fit.
    pub(super) refused: u64,
}

impl Filtered {
    /// Those that fit, before the page and of it.
    pub(super) fn fitting(self) -> u64 {
        self.scanned - self.refused
    }
}

/// What becomes of a result.
pub(super) enum Verdict {
    /// It is one of the page.
    Taken,
    /// It does not fit, or is before the page.
    Left,
    /// It was not looked at: nothing more is wanted.
    Full,
}

/// A filter on its way through results.
pub(super) struct Filtering<'p> {
    clause: &'p FilterClause,
    page: Page,
    memory: Vec<u8>,
    pub(super) seen: Filtered,
}

impl<'p> Filtering<'p> {
    /// * `page`: which of those that fit are wanted.
    pub(super) fn new(clause: &'p FilterClause, page: Page) -> Filtering<'p> {
        Filtering { clause, page, memory: Vec::new(), seen: Filtered::default() }
    }

    /// Of those that fit, how many are of the page.
    pub(super) fn taken(&self) -> u64 {
        self.seen.fitting().saturating_sub(self.page.skip)
    }

    pub(super) fn offer(&mut self, row: &Row<'_>) -> Verdict {
        let is_page_full = self.page.take.is_some_and(|take| self.taken() >= take);
        if is_page_full || self.clause.limit.is_some_and(|limit| self.seen.scanned >= limit) {
            return Verdict::Full;
        }
        self.seen.scanned += 1;
        if !self.clause.holds(row, &mut self.memory) {
            self.seen.refused += 1;
            return Verdict::Left;
        }
        if self.taken() == 0 { Verdict::Left } else { Verdict::Taken }
    }
}
