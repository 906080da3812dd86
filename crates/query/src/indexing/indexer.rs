//! Batches: from the documents and tombstones of some sources to entries.

use super::automatic::AutomaticEntries;
use super::limits::{BATCH_BYTES, BATCH_DOCUMENTS};
use super::mapped::MappedEntries;
use crate::definition::{IndexDefinition, name_of};
use crate::index::{Batch, Entry, Error, Index, IndexSnapshot, Progress, Result};
use documents::{Document, Etag, Snapshot};

/// Brings an index up to date. One thread at a time; it keeps memory between batches.
pub struct Indexer {
    /// Collections, or `None` alone for all documents.
    sources: Vec<Option<String>>,
    entries: Box<dyn MakesEntries + Send>,
}

/// Makes the entries of documents.
pub(super) trait MakesEntries {
    /// The entries of a document.
    ///
    /// # Errors
    ///
    /// [`Unmapped`]
    fn entries_of(&mut self, index: &Index, document: &Document<'_>) -> Result<&mut [Entry], Unmapped>;
}

/// Why a document has no entries.
pub(super) enum Unmapped {
    /// It cannot be indexed: an error of the index, and not of others.
    Failed(String),
    /// Nothing can be indexed now.
    Error(Error),
}

impl From<Error> for Unmapped {
    fn from(error: Error) -> Unmapped {
        match error {
            Error::TooLarge { .. } | Error::TooManyFields { .. } => Unmapped::Failed(error.to_string()),
            error => Unmapped::Error(error),
        }
    }
}

/// What one batch came to.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Step {
    /// Documents that were indexed, or failed to be.
    pub indexed: u64,
    /// Tombstones that were heeded.
    pub removed: u64,
    /// How far the index is with each of its sources now.
    pub progress: Vec<Progress>,
    /// Documents that could not be indexed, and have no entries now.
    pub failures: Vec<Failure>,
    /// Whether nothing of the snapshot is left.
    pub is_done: bool,
}

/// A document that could not be indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its id.
    pub document: String,
    /// Why.
    pub message: String,
}

impl Indexer {
    /// Prepares the fields of a definition in an index.
    ///
    /// # Errors
    ///
    /// Those of [`Index::field`].
    pub fn new(definition: &IndexDefinition, index: &Index) -> Result<Indexer> {
        let entries: Box<dyn MakesEntries + Send> = match definition {
            IndexDefinition::Automatic(definition) => Box::new(AutomaticEntries::new(definition, index)?),
            IndexDefinition::Map(definition) => Box::new(MappedEntries::new(definition, index)?),
        };
        Ok(Indexer { sources: definition.sources(), entries })
    }

    /// Brings the next documents and tombstones of a snapshot into the index: one batch, one transaction.
    ///
    /// * `batch`: memory, emptied here.
    ///
    /// # Errors
    ///
    /// Documents cannot be read, or the index not be written. The index is as before.
    pub fn step(&mut self, index: &Index, documents: &Snapshot<'_>, batch: &mut Batch) -> Result<Step> {
        batch.clear();
        let before = progress_of(&index.read()?, &self.sources)?;
        let mut progress = before.clone();
        let mut step = Step { is_done: true, ..Step::default() };
        // Tombstones first: where a document is there again under its id, it comes after the last of them.
        for (source, progress) in self.sources.iter().zip(&mut progress) {
            step.is_done &= heed_tombstones(source.as_deref(), documents, batch, &mut step, progress)?;
        }
        if step.is_done {
            let entries = &mut *self.entries;
            for (source, progress) in self.sources.iter().zip(&mut progress) {
                step.is_done &=
                    add_documents(entries, source.as_deref(), index, documents, batch, &mut step, progress)?;
            }
        }
        if progress != before {
            for (source, progress) in self.sources.iter().zip(&progress) {
                batch.set_progress(name_of(source.as_deref()), *progress)?;
            }
            index.write(batch)?;
        }
        step.progress = progress;
        Ok(step)
    }
}

/// How far an index is with each of its sources.
///
/// # Errors
///
/// The index cannot be read.
pub fn progress_of(index: &IndexSnapshot<'_>, sources: &[Option<String>]) -> Result<Vec<Progress>> {
    sources.iter().map(|source| Ok(index.progress(name_of(source.as_deref()))?.unwrap_or_default())).collect()
}

/// Gives whether all were heeded.
fn heed_tombstones(
    source: Option<&str>,
    documents: &Snapshot<'_>,
    batch: &mut Batch,
    step: &mut Step,
    progress: &mut Progress,
) -> Result<bool> {
    let mut tombstones = match source {
        None => documents.tombstones_after(progress.tombstones),
        Some(collection) => documents.collection_tombstones_after(collection, progress.tombstones)?,
    };
    while !is_full(batch, step) {
        let Some(tombstone) = tombstones.next() else { return Ok(true) };
        let tombstone = tombstone?;
        batch.remove(tombstone.id())?;
        progress.tombstones = tombstone.etag();
        step.removed += 1;
    }
    Ok(false)
}

/// Gives whether all were added.
fn add_documents(
    entries: &mut dyn MakesEntries,
    source: Option<&str>,
    index: &Index,
    documents: &Snapshot<'_>,
    batch: &mut Batch,
    step: &mut Step,
    progress: &mut Progress,
) -> Result<bool> {
    let mut documents = match source {
        None => documents.after(progress.documents),
        Some(collection) => documents.collection_after(collection, progress.documents)?,
    };
    while !is_full(batch, step) {
        let Some(document) = documents.next() else { return Ok(true) };
        let document = document?;
        let put = match entries.entries_of(index, &document) {
            Ok(entries) => batch.put(document.id(), entries).map_err(Unmapped::from),
            Err(unmapped) => Err(unmapped),
        };
        match put {
            Ok(()) => {}
            Err(Unmapped::Error(error)) => return Err(error),
            // One that cannot be indexed does not keep the others out.
            Err(Unmapped::Failed(message)) => {
                batch.remove(document.id())?;
                step.failures.push(Failure { document: document.id().to_owned(), message });
            }
        }
        progress.documents = document.etag();
        step.indexed += 1;
    }
    Ok(false)
}

fn is_full(batch: &Batch, step: &Step) -> bool {
    step.indexed + step.removed >= BATCH_DOCUMENTS as u64 || batch.size() >= BATCH_BYTES
}

/// Whether an index that has come so far with a source lacks something of a snapshot.
///
/// * `source`: a collection, or all documents.
/// * `cutoff`: what was written after it does not count. Where a document was written before and again after it, and the index has
///   come to neither, it counts: the index never had it.
///
/// # Errors
///
/// Documents cannot be read.
pub fn is_behind(
    source: Option<&str>,
    progress: Progress,
    documents: &Snapshot<'_>,
    cutoff: Option<Etag>,
) -> Result<bool> {
    let (document, tombstone) = match source {
        None => (documents.after(progress.documents).next(), documents.tombstones_after(progress.tombstones).next()),
        Some(collection) => (
            documents.collection_after(collection, progress.documents)?.next(),
            documents.collection_tombstones_after(collection, progress.tombstones)?.next(),
        ),
    };
    let counts = |reached: Etag| cutoff.is_none_or(|cutoff| reached < cutoff);
    Ok((document.transpose()?.is_some() && counts(progress.documents))
        || (tombstone.transpose()?.is_some() && counts(progress.tombstones)))
}
