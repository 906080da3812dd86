//! Automatic indexes: each document is one entry, with the fields that the index has.

use super::extract::{Found, Paths};
use super::limits::{BATCH_BYTES, BATCH_DOCUMENTS};
use super::terms;
use crate::definition::{ALL_DOCUMENTS, Analysis, AutomaticIndex};
use crate::index::{Batch, Entry, Error, FieldNumber, Index, Progress, Result};
use documents::{Document, Etag, Snapshot};
use json::Raw;

/// Makes entries of documents. One thread at a time; it keeps memory between batches.
pub struct AutomaticMap {
    source: String,
    is_of_all: bool,
    body: Paths,
    metadata: Paths,
    /// For each field how it is kept.
    stored: Vec<Vec<(Analysis, FieldNumber)>>,
    entry: Entry,
    lower: Vec<u8>,
    metadata_text: Vec<u8>,
}

/// What one batch came to.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Step {
    /// Documents that were indexed.
    pub indexed: u64,
    /// Tombstones that were heeded.
    pub removed: u64,
    /// Documents that could not be indexed, which nothing but "all entries" finds now.
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

const METADATA: &str = "@metadata";

impl AutomaticMap {
    /// Prepares the fields of a definition in an index.
    ///
    /// # Errors
    ///
    /// Those of [`Index::field`].
    pub fn new(definition: &AutomaticIndex, index: &Index) -> Result<AutomaticMap> {
        let (mut body, mut metadata) = (Paths::default(), Paths::default());
        for (number, field) in definition.fields().iter().enumerate() {
            let path = field.name.path.as_str();
            match path.strip_prefix(METADATA).and_then(|rest| rest.strip_prefix('.')) {
                Some(rest) => metadata.add(rest, number),
                None => body.add(path, number),
            };
        }
        let mut stored = vec![Vec::new(); definition.fields().len()];
        for (number, analysis, name) in definition.stored_fields() {
            if let Some(stored) = stored.get_mut(number) {
                stored.push((analysis, index.field(&name)?));
            }
        }
        Ok(AutomaticMap {
            source: definition.source().to_owned(),
            is_of_all: definition.collection.is_none(),
            body,
            metadata,
            stored,
            entry: Entry::new(),
            lower: Vec::new(),
            metadata_text: Vec::new(),
        })
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
        let before = index.read()?.progress(&self.source)?.unwrap_or_default();
        let mut progress = before;
        let mut step = Step::default();
        // Tombstones first: where a document is there again under its id, it comes after the last of them.
        let mut tombstones = match self.is_of_all {
            true => documents.tombstones_after(before.tombstones),
            false => documents.collection_tombstones_after(&self.source, before.tombstones)?,
        };
        while !is_full(batch, &step) {
            let Some(tombstone) = tombstones.next() else {
                step.is_done = true;
                break;
            };
            let tombstone = tombstone?;
            batch.remove(tombstone.id())?;
            progress.tombstones = tombstone.etag();
            step.removed += 1;
        }
        if step.is_done {
            step.is_done = self.add_documents(documents, batch, &mut step, &mut progress)?;
        }
        if progress != before {
            batch.set_progress(&self.source, progress)?;
            index.write(batch)?;
        }
        Ok(step)
    }

    /// Gives whether all were added.
    fn add_documents(
        &mut self,
        documents: &Snapshot<'_>,
        batch: &mut Batch,
        step: &mut Step,
        progress: &mut Progress,
    ) -> Result<bool> {
        let mut documents = match self.is_of_all {
            true => documents.after(progress.documents),
            false => documents.collection_after(&self.source, progress.documents)?,
        };
        while !is_full(batch, step) {
            let Some(document) = documents.next() else { return Ok(true) };
            let document = document?;
            let put = self.put(&document, batch);
            if let Err(error @ Error::TooLarge { .. }) = put {
                // One that cannot be indexed does not keep the others out.
                step.failures.push(Failure { document: document.id().to_owned(), message: error.to_string() });
                self.entry.clear();
                batch.put(document.id(), std::slice::from_mut(&mut self.entry))?;
            } else {
                put?;
            }
            progress.documents = document.etag();
            step.indexed += 1;
        }
        Ok(false)
    }

    fn put(&mut self, document: &Document<'_>, batch: &mut Batch) -> Result<()> {
        self.fill(document)?;
        batch.put(document.id(), std::slice::from_mut(&mut self.entry))
    }

    /// Makes the entry of a document.
    fn fill(&mut self, document: &Document<'_>) -> Result<()> {
        let AutomaticMap { body, metadata, stored, entry, lower, metadata_text, .. } = self;
        entry.clear();
        let mut add = |field: usize, found: Found<'_>| {
            let stored = stored.get(field).map(Vec::as_slice).unwrap_or_default();
            stored.iter().try_for_each(|(analysis, number)| terms::add(entry, *number, *analysis, &found, lower))
        };
        body.visit(document.body(), &mut add)?;
        if !metadata.is_empty() {
            metadata_text.clear();
            metadata_text.push(b'{');
            document.write_metadata(metadata_text, None);
            metadata_text.push(b'}');
            metadata.visit(Raw::new(metadata_text), &mut add)?;
        }
        Ok(())
    }
}

fn is_full(batch: &Batch, step: &Step) -> bool {
    step.indexed + step.removed >= BATCH_DOCUMENTS as u64 || batch.size() >= BATCH_BYTES
}

/// Whether an index that has come so far with its source lacks something of a snapshot, of what has etags up to `etag`.
///
/// # Errors
///
/// Documents cannot be read.
pub fn is_behind(source: &str, progress: Progress, documents: &Snapshot<'_>, etag: Etag) -> Result<bool> {
    let is_all = source == ALL_DOCUMENTS;
    let (document, tombstone) = match is_all {
        true => (documents.after(progress.documents).next(), documents.tombstones_after(progress.tombstones).next()),
        false => (
            documents.collection_after(source, progress.documents)?.next(),
            documents.collection_tombstones_after(source, progress.tombstones)?.next(),
        ),
    };
    let is_new = |found: Option<Etag>| found.is_some_and(|found| found <= etag);
    Ok(is_new(document.transpose()?.map(|document| document.etag()))
        || is_new(tombstone.transpose()?.map(|tombstone| tombstone.etag())))
}
