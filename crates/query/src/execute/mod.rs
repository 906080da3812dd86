//! Running a query on one snapshot of an index.
//!
//! [`find`] gives ids of entries; whoever writes the answer loads their documents, from a snapshot of the documents that was
//! opened after that of the index: what an entry names is there then, or was deleted since.

mod condition;
mod order;
mod projection;

use crate::definition::Fields;
use crate::index::{Error, IndexSnapshot};
use crate::plan::{IndexQuery, Page};

pub use crate::index::EntryId;
pub use projection::{MissingValue, Row};

/// What a query found.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Found {
    /// All that fit, on this page or not.
    pub total: u64,
    /// The entries of the page, in the order of the query.
    pub entries: Vec<EntryId>,
}

/// Asked now and then whether to go on.
pub type Look<'l, E> = &'l dyn Fn() -> Result<(), E>;

/// Finds the entries of a page.
///
/// # Errors
///
/// [`Error`] if the index cannot be read, [`Error::LongText`]; that of `look`.
pub fn find<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    query: &IndexQuery,
    page: Page,
    look: Look<'_, E>,
) -> Result<Found, E> {
    let set = condition::evaluate(index, fields, &query.condition, look)?;
    let total = set.len();
    let (skip, end) = (page.skip.min(total), page.end().min(total));
    if skip == end {
        return Ok(Found { total, entries: Vec::new() });
    }
    let mut entries =
        order::sorted(index, fields, &set, &query.order, usize::try_from(end).unwrap_or(usize::MAX), look)?;
    entries.drain(..usize::try_from(skip).unwrap_or(usize::MAX).min(entries.len()));
    Ok(Found { total, entries })
}

/// How many entries a query looks at, at most, from the counts of lists alone; `u64::MAX` where those do not tell. So small
/// queries are told from others before they run.
///
/// # Errors
///
/// [`Error`] if the index cannot be read.
pub fn entry_count_max(index: &IndexSnapshot<'_>, fields: &dyn Fields, query: &IndexQuery) -> Result<u64, Error> {
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
    look: Look<'_, E>,
) -> Result<u64, E> {
    Ok(condition::evaluate(index, fields, &query.condition, look)?.len())
}
