//! Looking up what an index has found: entries, and their documents.

use documents::{Document, Snapshot};
use query::execute::EntryId;
use query::index::{IndexEntry, IndexSnapshot};

use super::timings::{Stage, Timings, timed};
use crate::Result;

/// Results that are looked up together.
pub(super) const LOOKED_UP_AT_ONCE: usize = 32;

/// What is kept of an entry, and its document if that is asked for.
pub(super) type Row<'a, 's> = (IndexEntry<'s>, Option<Document<'a>>);

/// Looks entries up, and documents if `documents` are given, in their order. `None`: it was deleted after the index was read.
///
/// * `needs`: whether the document of an entry is wanted.
pub(super) fn look_up<'a, 's>(
    ids: &[EntryId],
    snapshot: &'s IndexSnapshot<'_>,
    documents: Option<&'a Snapshot<'_>>,
    needs: impl Fn(&IndexEntry<'s>) -> bool,
    timings: Option<&Timings>,
) -> Result<Vec<Option<Row<'a, 's>>>> {
    let entries = snapshot.entries(ids)?;
    let Some(documents) = documents else {
        return Ok(entries.into_iter().map(|entry| entry.map(|entry| (entry, None))).collect());
    };
    let needed: Vec<bool> = entries.iter().map(|entry| entry.as_ref().is_some_and(&needs)).collect();
    let wanted = entries.iter().zip(&needed).filter_map(|(entry, is_needed)| entry.as_ref().filter(|_| *is_needed));
    let written = wanted.map(|entry| (entry.document(), entry.etag()));
    let mut found = timed(timings, Stage::Load, || documents.get_written(written))?.into_iter();
    let with_document = |(entry, is_needed): (Option<IndexEntry<'s>>, bool)| match (entry?, is_needed) {
        (entry, true) => found.next().flatten().map(|document| (entry, Some(document))),
        (entry, false) => Some((entry, None)),
    };
    Ok(entries.into_iter().zip(needed).map(with_document).collect())
}
