//! Dependency tracking: which documents loaded which others while they were mapped, so that they are mapped again when those change.
//!
//! ```text
//!  references/asked   u16 BE( size of asked ) | asked | document   nothing
//!  references/by      document                                     u16 BE( size ) | asked, several, rising
//! ```
//!
//! Both are lower-cased ids. An id without a document is recorded too: the document may be stored later.

use super::error::{Result, corrupt};
use std::ops::Range;
use storage::{Reader, Tree, WriteTransaction};

const ASKED: &[u8] = b"references/asked";
const BY: &[u8] = b"references/by";

/// Handles of the structures; only indexes whose maps load documents have them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct References {
    asked: Tree,
    by: Tree,
}

impl References {
    /// Finds the structures. `None`: there are none.
    pub fn find(reader: &impl Reader) -> Result<Option<References>> {
        let Some(asked) = Tree::open(reader, ASKED)? else { return Ok(None) };
        let by = Tree::open(reader, BY)?.ok_or_else(|| corrupt("references are kept both ways"))?;
        Ok(Some(References { asked, by }))
    }

    pub fn open_or_create(tx: &mut WriteTransaction<'_>) -> Result<References> {
        Ok(References { asked: Tree::open_or_create(tx, ASKED)?, by: Tree::open_or_create(tx, BY)? })
    }

    /// The next documents that asked for one, in the order of their ids.
    ///
    /// * `after`: behind this document; empty: from the first.
    pub fn asking(&self, reader: &impl Reader, asked: &[u8], after: &[u8], count_max: usize) -> Result<Vec<Vec<u8>>> {
        let mut prefix = Vec::with_capacity(2 + asked.len());
        put_sized(asked, &mut prefix);
        let start = [&prefix, after].concat();
        let mut found = Vec::new();
        let mut cursor = self.asked.cursor(reader);
        let mut next = cursor.seek(&start)?;
        while let Some(document) = next.and_then(|(key, _)| key.strip_prefix(prefix.as_slice())) {
            if found.len() >= count_max {
                break;
            }
            if after.is_empty() || document != after {
                found.push(document.to_vec());
            }
            next = cursor.next()?;
        }
        Ok(found)
    }

    /// Applies changes.
    pub fn write(&self, tx: &mut WriteTransaction<'_>, changes: &ReferenceChanges) -> Result<()> {
        for (document, asked) in &changes.items {
            let (document, asked) = (changes.bytes_of(document), changes.bytes_of(asked));
            let before = self.by.get(tx, document)?.unwrap_or_default().to_vec();
            if before == asked {
                continue;
            }
            let key = |asked: &[u8]| {
                let mut key = Vec::with_capacity(2 + asked.len() + document.len());
                put_sized(asked, &mut key);
                key.extend_from_slice(document);
                key
            };
            let (old, new) = (list(&before)?, list(asked)?);
            for gone in old.iter().filter(|id| new.binary_search(id).is_err()) {
                self.asked.delete(tx, &key(gone))?;
            }
            for come in new.iter().filter(|id| old.binary_search(id).is_err()) {
                self.asked.put(tx, &key(come), b"")?;
            }
            if asked.is_empty() {
                self.by.delete(tx, document)?;
            } else {
                self.by.put(tx, document, asked)?;
            }
        }
        Ok(())
    }
}

fn put_sized(id: &[u8], out: &mut Vec<u8>) {
    // Ids are bounded far below what two bytes can say.
    out.extend_from_slice(&(id.len() as u16).to_be_bytes());
    out.extend_from_slice(id);
}

fn list(mut bytes: &[u8]) -> Result<Vec<&[u8]>> {
    let broken = || corrupt("a document's references are sized ids that rise");
    let mut ids = Vec::new();
    while let Some((size, rest)) = bytes.split_first_chunk::<2>() {
        let (id, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*size))).ok_or_else(broken)?;
        ids.push(id);
        bytes = rest;
    }
    if bytes.is_empty() && ids.is_sorted() { Ok(ids) } else { Err(broken()) }
}

/// What documents of a batch asked for. Of several changes of one document the last counts.
#[derive(Debug, Default)]
pub struct ReferenceChanges {
    bytes: Vec<u8>,
    items: Vec<(Range<usize>, Range<usize>)>,
}

impl ReferenceChanges {
    /// Forgets everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.items.clear();
    }

    /// A document asks for these now, and for no others.
    ///
    /// * all ids are lower-cased; `asked` has each once, rising.
    pub fn set(&mut self, document: &[u8], asked: &[Vec<u8>]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(document);
        let middle = self.bytes.len();
        asked.iter().for_each(|id| put_sized(id, &mut self.bytes));
        self.items.push((start..middle, middle..self.bytes.len()));
    }

    /// Bytes of all ids.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    fn bytes_of(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }
}
