//! Entries: what one result of a map is found by, and the record that keeps it.
//!
//! ```text
//!  record:  varint( id length ) | document id | varint( stored length ) | stored values | terms
//!  term:    varint( field * 4 + kind ) | varint( length ) | bytes
//! ```
//!
//! Stored values are a JSON object, or nothing: what a query gives out without loading the document, and the whole result of a
//! reduce, which has no document. Terms rise by field, kind and bytes, and none comes twice. The record is what removing needs
//! (it names every list that the entry is in), and what sorting and projecting a small result reads.

use super::error::{Error, Result, corrupt};
use super::limits::{DOCUMENT_ID_SIZE_MAX, ENTRY_SIZE_MAX, TERM_HASH_SIZE, TERM_SIZE_MAX};
use super::term::{FieldNumber, Kind, Term};
use super::varint;
use json::Raw;
use std::ops::Range;

/// The number of an entry in its index. Entries are numbered from 1 in the order in which their documents were indexed
/// first; a document that is indexed again keeps the numbers of its entries, as far as there are as many.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EntryId(pub u64);

/// The terms of an entry as they are gathered. Use one again after [`Self::clear`]: it keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    bytes: Vec<u8>,
    terms: Vec<(FieldNumber, Kind, Range<usize>)>,
    is_sorted: bool,
    stored: Vec<u8>,
}

impl Entry {
    /// An entry without terms: nothing but "all entries" finds it.
    pub fn new() -> Entry {
        Entry::default()
    }

    /// Forgets all terms and stored values.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.terms.clear();
        self.stored.clear();
    }

    /// Keeps values besides the terms: the text of a JSON object.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] if it is over [`ENTRY_SIZE_MAX`].
    pub fn store(&mut self, object: &[u8]) -> Result<()> {
        if object.len() > ENTRY_SIZE_MAX {
            return Err(Error::TooLarge { what: "stored values", size: object.len(), max: ENTRY_SIZE_MAX });
        }
        self.stored.clear();
        self.stored.extend_from_slice(object);
        Ok(())
    }

    /// Adds a term, in any order; one that is there already changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] if the entry would be over [`ENTRY_SIZE_MAX`].
    pub fn add(&mut self, field: FieldNumber, term: Term<'_>) -> Result<()> {
        let start = self.bytes.len();
        if start + TERM_SIZE_MAX + TERM_HASH_SIZE > ENTRY_SIZE_MAX {
            return Err(Error::TooLarge { what: "an index entry", size: start, max: ENTRY_SIZE_MAX });
        }
        term.encode(&mut self.bytes);
        self.terms.push((field, term.kind(), start..self.bytes.len()));
        self.is_sorted = false;
        Ok(())
    }

    /// Appends the record.
    pub(crate) fn write_record(&mut self, document: &str, out: &mut Vec<u8>) {
        if !self.is_sorted {
            let key = |(field, kind, range): &(FieldNumber, Kind, Range<usize>)| {
                (*field, *kind, self.bytes.get(range.clone()).unwrap_or_default())
            };
            self.terms.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
            self.terms.dedup_by(|a, b| key(a) == key(b));
            self.is_sorted = true;
        }
        varint::put(out, document.len() as u64);
        out.extend_from_slice(document.as_bytes());
        varint::put(out, self.stored.len() as u64);
        out.extend_from_slice(&self.stored);
        for (field, kind, range) in &self.terms {
            varint::put(out, u64::from(field.0) << 2 | *kind as u64);
            varint::put(out, range.len() as u64);
            out.extend_from_slice(self.bytes.get(range.clone()).unwrap_or_default());
        }
    }
}

/// A term of a record, without its entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct RecordTerm<'r> {
    pub field: FieldNumber,
    pub kind: Kind,
    pub bytes: &'r [u8],
}

/// The record of an entry.
#[derive(Clone, Copy)]
pub(crate) struct Record<'r> {
    /// The document's id, as it is spelled.
    pub document: &'r str,
    /// The text of a JSON object, or empty.
    stored: &'r [u8],
    terms: &'r [u8],
}

impl<'r> Record<'r> {
    pub fn of(mut bytes: &'r [u8]) -> Result<Record<'r>> {
        let broken = || corrupt("the record of an entry begins with its document's id");
        let length = varint::take(&mut bytes).ok_or_else(broken)?;
        let document = varint::take_bytes(&mut bytes, length).ok_or_else(broken)?;
        let document = std::str::from_utf8(document).map_err(|_| broken())?;
        if document.is_empty() || document.len() > DOCUMENT_ID_SIZE_MAX {
            return Err(broken());
        }
        let broken = || corrupt("the record of an entry has its stored values behind the id");
        let length = varint::take(&mut bytes).ok_or_else(broken)?;
        let stored = varint::take_bytes(&mut bytes, length).ok_or_else(broken)?;
        Ok(Record { document, stored, terms: bytes })
    }

    /// The stored values: an object. `None`: there are none.
    pub fn stored(&self) -> Option<Raw<'r>> {
        (!self.stored.is_empty()).then(|| Raw::new(self.stored))
    }

    /// All terms, rising.
    pub fn terms(&self) -> RecordTerms<'r> {
        RecordTerms { bytes: self.terms, before: None }
    }
}

/// The terms of a record, rising.
pub(crate) struct RecordTerms<'r> {
    bytes: &'r [u8],
    before: Option<RecordTerm<'r>>,
}

impl<'r> RecordTerms<'r> {
    fn take(&mut self) -> Option<RecordTerm<'r>> {
        let word = varint::take(&mut self.bytes)?;
        let length = varint::take(&mut self.bytes)?;
        let field = FieldNumber(u16::try_from(word >> 2).ok()?);
        let kind = Kind::of((word & 3) as u8).ok()?;
        let bytes = varint::take_bytes(&mut self.bytes, length)?;
        let term = RecordTerm { field, kind, bytes };
        let is_right = bytes.len() <= TERM_SIZE_MAX + TERM_HASH_SIZE && self.before.is_none_or(|before| before < term);
        self.before = Some(term);
        is_right.then_some(term)
    }
}

impl<'r> Iterator for RecordTerms<'r> {
    type Item = Result<RecordTerm<'r>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let term = self.take();
        if term.is_none() {
            self.bytes = &[];
        }
        Some(term.ok_or_else(|| corrupt("the record of an entry has rising terms")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn terms_come_back_sorted_and_once() {
        let mut entry = Entry::new();
        for (field, term) in [(7, Term::Text("b")), (2, Term::Null), (7, Term::Text("a")), (7, Term::Text("b"))] {
            entry.add(FieldNumber(field), term).unwrap();
        }
        let mut bytes = Vec::new();
        entry.write_record("Orders/1-A", &mut bytes);
        let record = Record::of(&bytes).unwrap();
        assert_eq!(record.document, "Orders/1-A");
        assert!(record.stored().is_none());
        let found: Vec<_> = record.terms().map(|term| term.map(|term| (term.field.0, term.kind, term.bytes))).collect();
        let found: Result<Vec<_>> = found.into_iter().collect();
        assert_eq!(found.unwrap(), [(2, Kind::Null, &b""[..]), (7, Kind::Text, b"a"), (7, Kind::Text, b"b")]);
        entry.store(br#"{"A":1}"#).unwrap();
        let mut bytes = Vec::new();
        entry.write_record("x", &mut bytes);
        let record = Record::of(&bytes).unwrap();
        assert_eq!(record.stored().map(|stored| stored.bytes()), Some(&br#"{"A":1}"#[..]));
        assert_eq!(record.terms().count(), 3);
        entry.clear();
        let mut bytes = Vec::new();
        entry.write_record("x", &mut bytes);
        let record = Record::of(&bytes).unwrap();
        assert!(record.stored().is_none() && record.terms().count() == 0);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_record_or_an_error(bytes in prop::collection::vec(prop_oneof![0u8..6, any::<u8>()], 0..40)) {
            if let Ok(record) = Record::of(&bytes) {
                record.terms().for_each(drop);
            }
        }
    }
}
