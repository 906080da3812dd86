//! The clause `filter`: results are looked at one by one, and those that fit are given until the page is full. As in the reference, a page
//! begins behind so many results of the condition, which are not looked at: clients add those that did not fit to where the next page
//! begins.

use documents::Snapshot;
use query::execute::{Found, ResultFilter, Row};
use query::index::IndexSnapshot;
use query::plan::FilterClause;

use super::deadline::Deadline;
use super::lookups::{LOOKED_UP_AT_ONCE, look_up};
use crate::Result;

/// Counts of the results that a filter has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filtered {
    /// All of them.
    pub scanned: u64,
    /// Those that do not fit.
    pub refused: u64,
}

impl Filtered {
    /// Those that fit.
    pub(super) fn fitting(self) -> u64 {
        self.scanned - self.refused
    }
}

/// What becomes of a result.
pub(super) enum Verdict {
    /// It is one of the page.
    Taken,
    /// It does not fit.
    Left,
    /// It was not looked at: nothing more is wanted.
    Full,
}

/// A filter on its way through results.
pub(super) struct Filtering<'p> {
    limit: Option<u64>,
    filter: ResultFilter<'p>,
    take: Option<u64>,
    pub(super) seen: Filtered,
}

impl<'p> Filtering<'p> {
    /// * `take`: how many of those that fit are wanted; `None`: all.
    /// * `limits`: of the functions that it calls.
    pub(super) fn new(clause: &'p FilterClause, take: Option<u64>, limits: script::Limits) -> Result<Filtering<'p>> {
        let filter = ResultFilter::new(clause, limits)?;
        Ok(Filtering { limit: clause.limit, filter, take, seen: Filtered::default() })
    }

    /// * `documents`: where functions load documents from.
    pub(super) fn offer(&mut self, row: &Row<'_>, documents: &Snapshot<'_>) -> Result<Verdict> {
        let is_page_full = self.take.is_some_and(|take| self.seen.fitting() >= take);
        if is_page_full || self.limit.is_some_and(|limit| self.seen.scanned >= limit) {
            return Ok(Verdict::Full);
        }
        self.seen.scanned += 1;
        if self.filter.holds(row, documents)? {
            return Ok(Verdict::Taken);
        }
        self.seen.refused += 1;
        Ok(Verdict::Left)
    }
}

/// Leaves of what an index has found the page of what fits the filter.
///
/// * `documents`: with whether results are documents, rather than groups, which are asked themselves.
pub(super) fn filter(
    mut filtering: Filtering<'_>,
    found: &mut Found,
    snapshot: &IndexSnapshot<'_>,
    (documents, are_documents): (&Snapshot<'_>, bool),
    deadline: &Deadline,
) -> Result<Filtered> {
    let mut kept = Vec::new();
    'all: for (group, ids) in found.entries.chunks(LOOKED_UP_AT_ONCE).enumerate() {
        let rows = look_up(ids, snapshot, are_documents.then_some(documents), |_| true, None)?;
        for (at, row) in rows.into_iter().enumerate() {
            deadline.look()?;
            let Some((entry, document)) = row else { continue };
            match filtering.offer(
                &Row { document: document.as_ref(), entry: Some(entry), is_grouped: !are_documents },
                documents,
            )? {
                Verdict::Taken => kept.push(group * LOOKED_UP_AT_ONCE + at),
                Verdict::Left => {}
                Verdict::Full => break 'all,
            }
        }
    }
    found.keep(&kept);
    Ok(filtering.seen)
}
