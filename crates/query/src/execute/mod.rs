//! Execution of a query on one snapshot of an index.
//!
//! [`find`] gives ids of entries; whoever writes the answer loads their documents, from a snapshot of the documents that was
//! opened after that of the index: what an entry names is there then, or was deleted since.

mod best;
mod condition;
mod conditions;
mod explain;
mod facet;
mod filter;
mod highlight;
mod label_order;
mod likeness;
mod loaded_values;
mod loading;
mod order;
mod projection;
mod score;
mod scripted;
mod spatial;
mod suggest;
mod text;
mod vector;

use crate::definition::Fields;
use crate::index::{EntryIds, Error, IndexSnapshot};
use crate::plan::{Condition, IndexQuery, Page, SortBy, SortKey};
use condition::Profiler;
use score::Scores;
use spatial::Distances;

pub use crate::index::EntryId;
pub use explain::{Clock, Operator, explain, short};
pub use facet::{Aggregate, FacetResult, FacetValue, facets};
pub use filter::ResultFilter;
pub use highlight::Highlighter;
pub use loading::{LoadRefused, Loads};
pub use projection::{MissingValue, Row};
pub use scripted::{ScriptFailure, ScriptProjection, ScriptRow, ScriptRows, Scripted};
pub use spatial::Distance;
pub use suggest::suggest;

/// The entries that a query found.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FoundEntries {
    /// The number of all matches, on this page or not.
    pub total: u64,
    /// The entries of the page, in the order of the query.
    pub entries: Vec<EntryId>,
    /// The score of each entry. `None`: the query has no scores.
    pub scores: Option<Vec<f32>>,
    /// The distance of each entry, if they are sorted by it; `None` for an entry without a shape.
    pub distances: Option<Vec<Option<Distance>>>,
    /// The explanation of each score. `None`: not requested.
    pub explanations: Option<Vec<String>>,
}

impl FoundEntries {
    /// Leaves the entries at these places of the page, which rise.
    pub fn keep(&mut self, places: &[usize]) {
        fn kept<T: Clone>(all: &[T], places: &[usize]) -> Vec<T> {
            places.iter().filter_map(|place| all.get(*place).cloned()).collect()
        }
        self.entries = kept(&self.entries, places);
        self.explanations = self.explanations.as_deref().map(|explanations| kept(explanations, places));
        self.scores = self.scores.as_deref().map(|scores| kept(scores, places));
        self.distances = self.distances.as_deref().map(|distances| kept(distances, places));
    }
}

/// Cooperative cancellation: called periodically in long loops; an error stops the query.
pub type CancelCheck<'l, E> = &'l dyn Fn() -> Result<(), E>;

/// Finds the entries of a page.
///
/// # Errors
///
/// [`Error`] if the index cannot be read, [`Error::LongText`], [`Error::Vector`]; that of `check_cancel`.
pub fn find<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    query: &IndexQuery,
    page: Page,
    check_cancel: CancelCheck<'_, E>,
) -> Result<FoundEntries, E> {
    let condition = vector::resolved(index, fields, &query.condition, check_cancel)?;
    page_of(index, fields, query, &condition, page, &condition::NoProfiler, check_cancel)
}

/// A condition with scores returns its matches by score, unless the query has an `order by`.
fn order_of<'q>(fields: &dyn Fields, query: &'q IndexQuery) -> &'q [SortKey] {
    const BY_SCORE: &[SortKey] = &[SortKey { by: SortBy::Score, is_descending: false, absent_last: None }];
    match query.order.is_empty() && fields.boosts() && !matches!(query.condition, Condition::All) {
        true => BY_SCORE,
        false => query.order.as_slice(),
    }
}

/// The entries of a page, of all that are found.
///
/// * `condition`: that of the query, perhaps with what its vectors find; `profiler`: instruments its operators.
fn page_of<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    query: &IndexQuery,
    condition: &Condition,
    page: Page,
    profiler: &impl Profiler,
    check_cancel: CancelCheck<'_, E>,
) -> Result<FoundEntries, E> {
    let order = order_of(fields, query);
    let is_by_score = order.iter().any(|key| key.by == SortBy::Score);
    let is_scored = is_by_score || query.explains || fields.boosts() || condition.is_scoring();
    let scores = || Scores::of(index, fields, condition, check_cancel);
    let (total, entries, sorting) = if matches!(condition, Condition::All) && order.is_empty() {
        (index.entry_count(), page_of_all(index, condition, page, profiler, check_cancel)?, None)
    } else {
        let set = condition::evaluate_profiled(index, fields, condition, profiler, check_cancel)?;
        let (skip, end) = page.places(set.len());
        if skip == end {
            return Ok(FoundEntries { total: set.len(), ..FoundEntries::default() });
        }
        let mut reservation = index.reservation();
        reservation
            .grow(end.min(usize::try_from(set.len()).unwrap_or(usize::MAX)).saturating_mul(size_of::<EntryId>()))
            .map_err(Error::from)?;
        let mut sorting = if is_by_score { Some(scores()?) } else { None };
        let matches = order::Matches { set: &set, condition };
        let mut entries = order::sorted(index, fields, matches, order, sorting.as_mut(), end, check_cancel)?;
        entries.drain(..skip.min(entries.len()));
        (set.len(), entries, sorting)
    };
    if entries.is_empty() {
        return Ok(FoundEntries { total, ..FoundEntries::default() });
    }
    let scores = match sorting {
        Some(mut sorting) => Some(sorting.of_all(&entries, check_cancel)?),
        None if is_scored => Some(scores()?.of_all(&entries, check_cancel)?),
        None => None,
    };
    let distances = distances(index, fields, order, &entries, check_cancel)?;
    let explanations = match query.explains {
        true => Some(score::explain(index, fields, condition, &entries, check_cancel)?),
        false => None,
    };
    Ok(FoundEntries { total, entries, scores, distances, explanations })
}

/// The entries of a page, of all there are: no more are looked at than those up to its end.
///
/// * `condition`: the one that all fit, to be watched.
fn page_of_all<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    condition: &Condition,
    page: Page,
    profiler: &impl Profiler,
    check_cancel: CancelCheck<'_, E>,
) -> Result<Vec<EntryId>, E> {
    let (skip, end) = page.places(index.entry_count());
    let mut entries = Vec::with_capacity(end - skip);
    let mut all = profiler.profile(condition, || Ok::<_, E>(Box::new(index.all())))?;
    for at in 0..end {
        check_cancel()?;
        let Some(id) = all.next()? else { break };
        if at >= skip {
            entries.push(id);
        }
    }
    Ok(entries)
}

/// How far entries are by the first key that is a distance.
fn distances<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    order: &[SortKey],
    entries: &[EntryId],
    check_cancel: CancelCheck<'_, E>,
) -> Result<Option<Vec<Option<Distance>>>, E> {
    let key = order.iter().find_map(|key| match &key.by {
        SortBy::Distance(key) => Some(key),
        _ => None,
    });
    let Some(key) = key else { return Ok(None) };
    let distances = Distances::of(index, fields, key)?;
    let of_entry = |id: &EntryId| {
        check_cancel()?;
        Ok(distances.distance(&index.known_entry(*id)?)?)
    };
    entries.iter().map(of_entry).collect::<Result<_, E>>().map(Some)
}

/// How many entries a query looks at, at most, from the counts of lists alone; `u64::MAX` where those do not tell. So small
/// queries are told from others before they run.
///
/// # Errors
///
/// [`Error`] if the index cannot be read.
pub fn entry_count_max(index: &IndexSnapshot<'_>, fields: &dyn Fields, query: &IndexQuery) -> Result<u64, Error> {
    // These walk through all terms of a field, or through all that is found.
    if !query.suggestions.is_empty() || !query.facets.is_empty() {
        return Ok(u64::MAX);
    }
    condition::entry_count_max(index, fields, &query.condition)
}

/// How many entries fit.
///
/// # Errors
///
/// As [`find`].
pub fn count<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    query: &IndexQuery,
    check_cancel: CancelCheck<'_, E>,
) -> Result<u64, E> {
    match &query.condition {
        Condition::All => Ok(index.entry_count()),
        condition => Ok(condition::evaluate(index, fields, condition, check_cancel)?.len()),
    }
}
