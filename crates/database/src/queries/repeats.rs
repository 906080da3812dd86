//! Duplicate elimination: documents found through several of their entries are returned once.
//!
//! As in the reference: where results are documents as they are, a page has each once, by the first of its entries, unless the request asks
//! with `SkipDuplicateChecking` for one result of each entry; what a projection makes of entries comes for each. A page begins behind so
//! many entries, and what they lead to does not come again. `TotalResults` counts entries; `SkippedResults` those that were left out, which
//! clients add to where the next page begins.

use std::collections::HashSet;
use std::sync::Arc;

use documents::Etag;
use query::execute::{EntryId, FoundEntries};
use query::index::IndexSnapshot;
use query::plan::{Page, Plan, ScriptClause, ScriptForm};
use storage::memory::Memory;

use super::deadline::Deadline;
use super::lookups::LOOKED_UP_AT_ONCE;
use crate::Result;

/// Whether entries of one document may be found that are to be one result.
///
/// * `has_documents`: whether the results of the index are documents.
pub(super) fn may_repeat(plan: &Plan, snapshot: &IndexSnapshot<'_>, has_documents: bool) -> bool {
    // A patch changes each document once.
    let makes_results = |script: &ScriptClause| !matches!(script.form, ScriptForm::Update(_));
    let are_documents = has_documents && plan.projection.is_none() && !plan.script.as_ref().is_some_and(makes_results);
    are_documents && !plan.keeps_repeats && snapshot.has_several_entries()
}

/// Finds the page, each document once, and how many entries were left out of it.
///
/// * `find`: finds the entries of a page. It is asked for more of them as long as the page is not full.
pub(super) fn find_once(
    snapshot: &IndexSnapshot<'_>,
    page: Page,
    (memory, deadline): (&Arc<Memory>, &Deadline),
    find: &mut dyn FnMut(Page) -> Result<FoundEntries>,
) -> Result<(FoundEntries, u64)> {
    let mut count = page.take.map(|take| page.skip.saturating_add(take));
    loop {
        let mut found = find(Page { skip: 0, take: count, ..page })?;
        let is_all = found.entries.len() as u64 >= found.total;
        let once = Once::of(snapshot, &found.entries, page, (memory, deadline))?;
        // Nothing is asked for, or all that there is was looked at.
        if once.is_full || is_all || count.is_none_or(|count| count == page.skip) {
            found.keep(&once.places);
            return Ok((found, once.repeated));
        }
        count = count.map(|count| count.saturating_mul(2));
    }
}

struct Once {
    /// Those of the page.
    places: Vec<usize>,
    repeated: u64,
    is_full: bool,
}

impl Once {
    fn of(
        snapshot: &IndexSnapshot<'_>,
        entries: &[EntryId],
        page: Page,
        (memory, deadline): (&Arc<Memory>, &Deadline),
    ) -> Result<Once> {
        let mut once = Once { places: Vec::new(), repeated: 0, is_full: false };
        let mut seen: HashSet<Etag> = HashSet::new();
        let mut reservation = memory.reservation();
        for (group, ids) in entries.chunks(LOOKED_UP_AT_ONCE).enumerate() {
            deadline.look()?;
            reservation.grow((group + 1) * LOOKED_UP_AT_ONCE * (3 * size_of::<Etag>() + 2 * size_of::<usize>()))?;
            for (at, entry) in snapshot.entries(ids)?.into_iter().enumerate() {
                let at = group * LOOKED_UP_AT_ONCE + at;
                if page.take.is_some_and(|take| once.places.len() as u64 >= take) {
                    once.is_full = true;
                    return Ok(once);
                }
                // The etag of a document is that of its entries, and of no other document.
                let is_new = entry.is_some_and(|entry| seen.insert(entry.etag()));
                if (at as u64) < page.skip {
                    continue;
                }
                match is_new {
                    true => once.places.push(at),
                    false => once.repeated += 1,
                }
            }
        }
        once.is_full = page.take.is_some_and(|take| once.places.len() as u64 >= take);
        Ok(once)
    }
}
