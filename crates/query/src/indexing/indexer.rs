//! Batches: from the documents and tombstones of some sources to entries.

use super::automatic::AutomaticEntries;
use super::automatic_groups::AutomaticGroups;
use super::grouped::{GroupedEntries, ResultField};
use super::limits::{BATCH_BYTES, BATCH_DOCUMENTS};
use super::mapped::MappedEntries;
use super::mapped_groups::MappedGroups;
use crate::definition::{IndexDefinition, name_of};
use crate::index::{Batch, Entry, Error, Index, IndexSnapshot, Progress, Result};
use documents::{Document, Etag, Snapshot};

/// Brings an index up to date. One thread at a time; it keeps memory between batches.
pub struct Indexer {
    /// Collections, or `None` alone for all documents.
    sources: Vec<Option<String>>,
    makes: Makes,
}

/// What becomes of documents.
enum Makes {
    /// Each has entries of its own.
    Entries(Box<dyn MakesEntries + Send>),
    /// What is mapped of them is grouped, and groups have entries.
    Groups(Box<GroupedEntries>),
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
    /// Its id. `None`: what is wrong is a group, whose results are missing now.
    pub document: Option<String>,
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
        let makes = match definition {
            IndexDefinition::Automatic(definition) if !definition.group_by().is_empty() => {
                let mut fields: Vec<ResultField> = Vec::new();
                for field in definition.fields() {
                    fields.push(ResultField { name: field.name.path.clone(), kept: Vec::new() });
                }
                for (number, analysis, name) in definition.stored_fields() {
                    if let Some(field) = fields.get_mut(number) {
                        field.kept.push((index.field(&name)?, analysis));
                    }
                }
                Makes::Groups(Box::new(GroupedEntries::new(Box::new(AutomaticGroups::new(definition)), fields, None)))
            }
            IndexDefinition::Automatic(definition) => {
                Makes::Entries(Box::new(AutomaticEntries::new(definition, index)?))
            }
            IndexDefinition::Map(definition) => match definition.reduce() {
                None => Makes::Entries(Box::new(MappedEntries::new(definition, index)?)),
                Some(reduce) => {
                    let names = reduce.output_fields().iter();
                    let fields = names.map(|name| ResultField::new(name, definition, index)).collect::<Result<_>>()?;
                    let others = reduce.makes_fields().then(|| definition.clone());
                    let groups = MappedGroups::new(definition, reduce.clone());
                    Makes::Groups(Box::new(GroupedEntries::new(Box::new(groups), fields, others)))
                }
            },
        };
        Ok(Indexer { sources: definition.sources(), makes })
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
        if let Makes::Groups(groups) = &mut self.makes {
            groups.clear();
        }
        let before = progress_of(&index.read()?, &self.sources)?;
        let mut progress = before.clone();
        let mut step = Step { is_done: true, ..Step::default() };
        // Tombstones first: where a document is there again under its id, it comes after the last of them.
        for (source, progress) in self.sources.iter().zip(&mut progress) {
            let mut filling = Filling { makes: &mut self.makes, index, batch: &mut *batch, step: &mut step };
            let is_done = filling.heed_tombstones(source.as_deref(), documents, progress)?;
            step.is_done &= is_done;
        }
        if step.is_done {
            for (source, progress) in self.sources.iter().zip(&mut progress) {
                let mut filling = Filling { makes: &mut self.makes, index, batch: &mut *batch, step: &mut step };
                let is_done = filling.add_documents(source.as_deref(), documents, progress)?;
                step.is_done &= is_done;
            }
        }
        if let Makes::Groups(groups) = &mut self.makes {
            groups.finish(index, batch, &mut step.failures)?;
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

/// A batch that is being filled.
struct Filling<'f> {
    makes: &'f mut Makes,
    index: &'f Index,
    batch: &'f mut Batch,
    step: &'f mut Step,
}

impl Filling<'_> {
    /// Gives whether all were heeded.
    fn heed_tombstones(
        &mut self,
        source: Option<&str>,
        documents: &Snapshot<'_>,
        progress: &mut Progress,
    ) -> Result<bool> {
        let mut tombstones = match source {
            None => documents.tombstones_after(progress.tombstones),
            Some(collection) => documents.collection_tombstones_after(collection, progress.tombstones)?,
        };
        while !self.is_full() {
            let Some(tombstone) = tombstones.next() else { return Ok(true) };
            let tombstone = tombstone?;
            self.remove(tombstone.id())?;
            progress.tombstones = tombstone.etag();
            self.step.removed += 1;
        }
        Ok(false)
    }

    /// Gives whether all were added.
    fn add_documents(
        &mut self,
        source: Option<&str>,
        documents: &Snapshot<'_>,
        progress: &mut Progress,
    ) -> Result<bool> {
        let mut documents = match source {
            None => documents.after(progress.documents),
            Some(collection) => documents.collection_after(collection, progress.documents)?,
        };
        while !self.is_full() {
            let Some(document) = documents.next() else { return Ok(true) };
            let document = document?;
            match self.put(&document) {
                Ok(()) => {}
                Err(Unmapped::Error(error)) => return Err(error),
                // One that cannot be indexed does not keep the others out.
                Err(Unmapped::Failed(message)) => {
                    self.remove(document.id())?;
                    self.step.failures.push(Failure { document: Some(document.id().to_owned()), message });
                }
            }
            progress.documents = document.etag();
            self.step.indexed += 1;
        }
        Ok(false)
    }

    fn put(&mut self, document: &Document<'_>) -> Result<(), Unmapped> {
        match self.makes {
            Makes::Entries(entries) => Ok(self.batch.put(document.id(), entries.entries_of(self.index, document)?)?),
            Makes::Groups(groups) => groups.put(document),
        }
    }

    fn remove(&mut self, document: &str) -> Result<()> {
        match self.makes {
            Makes::Entries(_) => self.batch.remove(document),
            Makes::Groups(groups) => {
                groups.remove(document);
                Ok(())
            }
        }
    }

    fn is_full(&self) -> bool {
        let gathered = if let Makes::Groups(groups) = &*self.makes { groups.size() } else { 0 };
        self.step.indexed + self.step.removed >= BATCH_DOCUMENTS as u64 || self.batch.size() + gathered >= BATCH_BYTES
    }
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
