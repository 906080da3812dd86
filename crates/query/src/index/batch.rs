//! An indexing batch, the content of one write transaction of an index: documents with their entries, deleted documents, and the
//! progress.

use super::entry::{Entry, EntryVector};
use super::error::{Error, Result};
use super::groups::group::GroupChanges;
use super::groups::outputs::OutputChanges;
use super::history::Notes;
use super::limits::{BATCH_BYTES_KEPT, BATCH_SIZE_MAX, DOCUMENT_ID_SIZE_MAX, NAME_SIZE_MAX, VECTOR_WEIGHT};
use super::references::ReferenceChanges;
use documents::{Etag, id};
use std::collections::BTreeMap;
use std::ops::Range;

/// How far an index has come with one source, such as a collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// The etag of the last item that was indexed.
    pub items: Etag,
    /// The etag of the last tombstone whose item was removed.
    pub tombstones: Etag,
}

/// A document of a batch: it has these entries now, and no others.
pub(crate) struct BatchDocument {
    /// Its lower-cased id, in the bytes.
    pub key: Range<usize>,
    /// Its entries, in the list of all entries.
    pub entries: Range<usize>,
}

/// Changes that become visible, and durable, together. Fill it from one snapshot of the documents, in the order of etags.
#[derive(Default)]
pub struct Batch {
    /// Lower-cased ids and records of entries.
    pub(crate) bytes: Vec<u8>,
    pub(crate) documents: Vec<BatchDocument>,
    /// The vectors of entries, some perhaps several times.
    pub(crate) vectors: Vec<EntryVector>,
    vectors_size: usize,
    /// The record of each entry, in the bytes.
    pub(crate) entries: Vec<Range<usize>>,
    pub(crate) progress: BTreeMap<String, Progress>,
    /// What changes of the groups of a reduce.
    pub groups: GroupChanges,
    /// What groups give now, where that becomes documents.
    pub outputs: OutputChanges,
    /// What its documents asked for.
    pub references: ReferenceChanges,
    pub(crate) resumes: BTreeMap<String, Vec<u8>>,
    pub(crate) notes: Option<Notes>,
    key: Vec<u8>,
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Batch {
        Batch::default()
    }

    /// Forgets everything, and keeps the memory that most batches need.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(BATCH_BYTES_KEPT);
        self.documents.clear();
        self.entries.clear();
        self.vectors.clear();
        self.vectors_size = 0;
        self.progress.clear();
        self.groups.clear();
        self.outputs.clear();
        self.references.clear();
        self.resumes.clear();
        self.notes = None;
    }

    /// Bytes of what was put so far: to end a batch by. Each vector counts for more, since putting it into its graph takes long.
    pub fn size(&self) -> usize {
        self.bytes.len() + self.vectors_size
    }

    /// Entries that were put so far.
    pub fn entry_count(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Gives a document these entries, in place of all that the index has of it; the last call for an id counts.
    ///
    /// * `etag`: that of the document; 0 if it is none.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] if the id is over [`DOCUMENT_ID_SIZE_MAX`]; [`Error::LargeBatch`] if the batch would be over
    /// [`BATCH_SIZE_MAX`]. The batch is as it was before.
    pub fn put(&mut self, document: &str, etag: Etag, entries: &mut [Entry]) -> Result<()> {
        if document.is_empty() || document.len() > DOCUMENT_ID_SIZE_MAX {
            return Err(Error::TooLarge { what: "a document id", size: document.len(), max: DOCUMENT_ID_SIZE_MAX });
        }
        let (start, first, first_vector) = (self.bytes.len(), self.entries.len(), self.vectors.len());
        id::lower_into(&mut self.key, document);
        self.bytes.extend_from_slice(&self.key);
        let key = start..self.bytes.len();
        for entry in entries {
            let at = self.bytes.len();
            entry.write_record(document, etag, &mut self.bytes);
            self.entries.push(at..self.bytes.len());
            self.vectors.extend_from_slice(entry.vectors());
        }
        let new = self.vectors.get(first_vector..).unwrap_or_default();
        let vectors_size = new.iter().map(|vector| vector.stored.len() + VECTOR_WEIGHT).sum::<usize>();
        let size = self.bytes.len() + self.vectors_size + vectors_size;
        if size > BATCH_SIZE_MAX {
            self.bytes.truncate(start);
            self.entries.truncate(first);
            self.vectors.truncate(first_vector);
            return Err(Error::LargeBatch { size, max: BATCH_SIZE_MAX });
        }
        self.vectors_size += vectors_size;
        self.documents.push(BatchDocument { key, entries: first..self.entries.len() });
        Ok(())
    }

    /// Removes all entries of a document, if it has any.
    ///
    /// # Errors
    ///
    /// As [`Self::put`].
    pub fn remove(&mut self, document: &str) -> Result<()> {
        self.put(document, 0, &mut [])
    }

    /// Notes how far the index is with a source once the batch is written.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] if the name is over [`NAME_SIZE_MAX`].
    pub fn set_progress(&mut self, source: &str, progress: Progress) -> Result<()> {
        if source.len() > NAME_SIZE_MAX {
            return Err(Error::TooLarge { what: "the name of a source", size: source.len(), max: NAME_SIZE_MAX });
        }
        self.progress.insert(source.to_owned(), progress);
        Ok(())
    }

    /// Notes where a source is gone on with, within what is next of it; empty: with that from its beginning.
    pub fn set_resume(&mut self, source: &str, at: Vec<u8>) {
        self.resumes.insert(source.to_owned(), at);
    }

    /// Sets the notes that the index stores about itself; the last call counts.
    pub fn set_notes(&mut self, notes: Notes) {
        self.notes = Some(notes);
    }

    pub(crate) fn bytes_of(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }
}
