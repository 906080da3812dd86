//! The progress of an index: the last etags that it has processed.

use crate::definition::IndexSource;
use crate::index::{Error, IndexSnapshot, Progress, Result};
use documents::{ByEtag, Changes, Document, Etag, ItemKind, Snapshot};
use xxhash_rust::xxh3::xxh3_64;

/// How far an index is with each of its sources.
///
/// # Errors
///
/// The index cannot be read.
pub fn progress_of(index: &IndexSnapshot<'_>, sources: &[IndexSource]) -> Result<Vec<Progress>> {
    sources.iter().map(|source| Ok(index.progress(&source.progress_name())?.unwrap_or_default())).collect()
}

/// A number that is another one whenever entries may have changed: of how far an index is with each of its sources, and within them.
///
/// # Errors
///
/// The index cannot be read.
pub fn state_hash(index: &IndexSnapshot<'_>, sources: &[IndexSource]) -> Result<u64> {
    let mut words = Vec::with_capacity(3 * sources.len());
    for (source, progress) in sources.iter().zip(progress_of(index, sources)?) {
        words.extend([progress.items, progress.tombstones]);
        // While those who asked for what changed are mapped again, no progress moves.
        if source.is_referenced {
            words.push(index.resume(&source.progress_name())?.map_or(0, xxh3_64));
        }
    }
    let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    Ok(xxh3_64(&bytes))
}

/// What is kept under this name among the resumes, if documents or groups ever failed. No source has it.
pub(super) const FAILED: &str = "@failed";

/// Whether documents or groups of an index of groups ever failed: what it counts may be too little.
///
/// # Errors
///
/// The index cannot be read.
pub fn has_failed(index: &IndexSnapshot<'_>) -> Result<bool> {
    Ok(index.resume(FAILED)?.is_some_and(|failed| !failed.is_empty()))
}

/// Whether an index that has come so far with a source lacks something of a snapshot.
///
/// * `cutoff`: what was written after it does not count. Where a document was written before and again after it, and the index has
///   come to neither, it counts: the index never had it.
///
/// # Errors
///
/// Documents cannot be read.
pub fn is_behind(
    source: &IndexSource,
    progress: Progress,
    documents: &Snapshot<'_>,
    cutoff: Option<Etag>,
) -> Result<bool> {
    let last = documents.last_etags(source.kind, source.collection.as_deref())?;
    let lacks = |reached: Etag, last: Etag| reached < last && cutoff.is_none_or(|cutoff| reached < cutoff);
    Ok(lacks(progress.items, last.items) || lacks(progress.tombstones, last.tombstones))
}

/// What was stored of a source that is loaded, behind an etag.
pub(super) fn items_after<'d>(documents: &'d Snapshot<'_>, source: &IndexSource, etag: Etag) -> Result<Changes<'d>> {
    Ok(documents.items(&[source.kind], source.collection.as_deref(), etag)?)
}

/// What was deleted of a source, behind an etag.
pub(super) fn tombstones_after<'d>(
    documents: &'d Snapshot<'_>,
    source: &IndexSource,
    etag: Etag,
) -> Result<Changes<'d>> {
    Ok(documents.deletions(&[source.kind], source.collection.as_deref(), etag)?)
}

/// The documents of a collection, or all, behind an etag.
fn documents_after<'d>(documents: &'d Snapshot<'_>, collection: Option<&str>, etag: Etag) -> Result<ByEtag<'d>> {
    Ok(match collection {
        None => documents.after(etag),
        Some(collection) => documents.collection_after(collection, etag)?,
    })
}

/// Calls `take` with each document or counter of a source behind an etag, the counters as documents, until it gives false. Gives whether
/// it had all of them.
pub(super) fn each_after<E: From<documents::Error> + From<Error>>(
    documents: &Snapshot<'_>,
    source: &IndexSource,
    etag: Etag,
    mut take: impl FnMut(&Document<'_>) -> Result<bool, E>,
) -> Result<bool, E> {
    match source.kind {
        ItemKind::Document => {
            for document in documents_after(documents, source.collection.as_deref(), etag)? {
                if !take(&document?)? {
                    return Ok(false);
                }
            }
        }
        ItemKind::Counter => {
            for item in documents.items(&[ItemKind::Counter], source.collection.as_deref(), etag)? {
                let mut record = Vec::new();
                if let Some(counter) = item?.counter()
                    && !take(&documents.mapped_counter(&counter, &mut record)?)?
                {
                    return Ok(false);
                }
            }
        }
        ItemKind::Attachment | ItemKind::CompareExchange | ItemKind::Revision => {
            return Err(Error::from(documents::Error::Bug { rule: "an index maps documents or counters" }).into());
        }
    }
    Ok(true)
}
