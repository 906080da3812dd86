//! Entries: what one result of a map is found by, and the record that keeps it.
//!
//! ```text
//!  record:  varint( etag ) | varint( id length ) | document id | varint( stored length ) | stored values | terms
//!  term:    varint( field * 4 + kind ) | varint( length ) | bytes
//!           varint( field * 4 ) | kind | varint( length ) | bytes      kinds from 4 on: how words stand
//! ```
//!
//! The etag is that which the document had, 0 where there is none: by it the document is found without a way through all ids, unless it was
//! written again since. Stored values are a JSON object, or nothing: what a query gives out without loading the document, and the whole
//! result of a reduce, which has no document. Terms rise by field, kind and bytes, and none comes twice. The record is what removing needs
//! (it names every list that the entry is in), and what sorting and projecting a small result reads.

use super::dictionary::term::{FieldNumber, Kind, Term};
use super::dictionary::words;
use super::error::{Error, Result, corrupt};
use super::graph::vectors::{Hash, hash_of};
use super::limits::{DOCUMENT_ID_SIZE_MAX, ENTRY_SIZE_MAX, TERM_HASH_SIZE, TERM_SIZE_MAX};
use crate::limits::VECTORS_OF_ENTRY_MAX;
use crate::spatial::Shape;
use crate::varint;
use crate::vector::VectorOptions;
use documents::Etag;
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
    /// The terms among them that are words, in their order.
    words: Vec<(FieldNumber, Range<usize>)>,
    is_sorted: bool,
    stored: Vec<u8>,
    vectors: Vec<EntryVector>,
}

/// A vector of an entry: its hash is among the terms, itself beside them.
#[derive(Clone, Debug)]
pub(crate) struct EntryVector {
    pub field: FieldNumber,
    pub hash: Hash,
    pub dimensions: u32,
    pub options: VectorOptions,
    /// As it is kept.
    pub stored: Vec<u8>,
}

/// How far an entry was filled.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    bytes: usize,
    terms: usize,
    words: usize,
    vectors: usize,
}

impl Entry {
    /// An entry without terms: nothing but "all entries" finds it.
    pub fn new() -> Entry {
        Entry::default()
    }

    /// Bytes that it takes in memory.
    pub fn memory_size(&self) -> usize {
        let vectors: usize = self.vectors.iter().map(|vector| size_of::<EntryVector>() + vector.stored.len()).sum();
        size_of::<Entry>()
            + self.bytes.capacity()
            + self.terms.capacity() * size_of::<(FieldNumber, Kind, Range<usize>)>()
            + self.words.capacity() * size_of::<(FieldNumber, Range<usize>)>()
            + self.stored.capacity()
            + vectors
    }

    /// Forgets all terms and stored values.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.terms.clear();
        self.words.clear();
        self.stored.clear();
        self.vectors.clear();
    }

    /// Stores values in addition to the terms: the text of a JSON object.
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

    /// Adds a word of a text behind those that were added before: a text of the field, of which is kept besides how often it
    /// comes and where.
    ///
    /// # Errors
    ///
    /// As [`Self::add`].
    pub fn add_word(&mut self, field: FieldNumber, word: &str) -> Result<()> {
        self.add(field, Term::Text(word))?;
        if let Some((.., range)) = self.terms.last() {
            self.words.push((field, range.clone()));
        }
        Ok(())
    }

    /// Gives a field a weight in all that scores: [`super::Norm`].
    ///
    /// # Errors
    ///
    /// As [`Self::add`].
    pub fn add_norm(&mut self, field: FieldNumber, norm: super::Norm) -> Result<()> {
        let start = self.bytes.len();
        self.bytes.push(norm.0);
        self.terms.push((field, Kind::Norm, start..start + 1));
        self.is_sorted = false;
        Ok(())
    }

    /// Keeps how many words each field in words has: [`super::Norm::of_length`]. To be called once, behind all words.
    ///
    /// # Errors
    ///
    /// As [`Self::add`].
    pub fn add_lengths(&mut self) -> Result<()> {
        let mut fields: Vec<FieldNumber> = self.words.iter().map(|(field, _)| *field).collect();
        fields.sort_unstable();
        for of_one in fields.chunk_by(|one, other| one == other) {
            if let Some(field) = of_one.first() {
                self.add_norm(*field, super::Norm::of_length(of_one.len()))?;
            }
        }
        Ok(())
    }

    /// Keeps the coordinates of a shape beside the terms that it is found by.
    ///
    /// # Errors
    ///
    /// As [`Self::add`].
    pub fn add_shape(&mut self, field: FieldNumber, shape: &Shape) -> Result<()> {
        let start = self.bytes.len();
        shape.encode(&mut self.bytes);
        let size = self.bytes.len();
        if size > ENTRY_SIZE_MAX {
            self.bytes.truncate(start);
            return Err(Error::TooLarge { what: "an index entry", size, max: ENTRY_SIZE_MAX });
        }
        self.terms.push((field, Kind::Shape, start..size));
        self.is_sorted = false;
        Ok(())
    }

    /// Adds a vector to be found by what is near it.
    ///
    /// * `stored`: as [`crate::vector::read`] gives it, with how many components it has.
    ///
    /// # Errors
    ///
    /// As [`Self::add`]; [`Error::TooManyVectors`].
    pub fn add_vector(
        &mut self,
        field: FieldNumber,
        options: &VectorOptions,
        dimensions: usize,
        stored: &[u8],
    ) -> Result<()> {
        let hash = hash_of(stored);
        let start = self.bytes.len();
        if start + hash.len() > ENTRY_SIZE_MAX {
            return Err(Error::TooLarge { what: "an index entry", size: start, max: ENTRY_SIZE_MAX });
        }
        if self.vectors.iter().filter(|vector| vector.field == field).count() >= VECTORS_OF_ENTRY_MAX {
            return Err(Error::TooManyVectors);
        }
        self.bytes.extend_from_slice(&hash);
        self.terms.push((field, Kind::Vector, start..self.bytes.len()));
        self.is_sorted = false;
        let dimensions = u32::try_from(dimensions).unwrap_or(u32::MAX);
        self.vectors.push(EntryVector { field, hash, dimensions, options: *options, stored: stored.to_vec() });
        Ok(())
    }

    /// How far it was filled, to go back there.
    pub(crate) fn mark(&self) -> Mark {
        let Entry { bytes, terms, words, vectors, .. } = self;
        Mark { bytes: bytes.len(), terms: terms.len(), words: words.len(), vectors: vectors.len() }
    }

    /// Forgets what was added since. Nothing was written of it meanwhile.
    pub(crate) fn go_back_to(&mut self, mark: Mark) {
        self.bytes.truncate(mark.bytes);
        self.terms.truncate(mark.terms);
        self.words.truncate(mark.words);
        self.vectors.truncate(mark.vectors);
    }

    /// Its vectors.
    pub(crate) fn vectors(&self) -> &[EntryVector] {
        &self.vectors
    }

    /// How many words a field has so far, each counted as often as it comes.
    pub fn word_count(&self, field: FieldNumber) -> usize {
        self.words.iter().filter(|(other, _)| *other == field).count()
    }

    /// Whether a field has any value.
    pub fn has(&self, field: FieldNumber) -> bool {
        self.terms.iter().any(|(other, ..)| *other == field)
    }

    fn sort(&mut self) {
        let Entry { bytes, terms, .. } = self;
        let key = |(field, kind, range): &(FieldNumber, Kind, Range<usize>)| {
            (*field, *kind, bytes.get(range.clone()).unwrap_or_default())
        };
        terms.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
        terms.dedup_by(|a, b| key(a) == key(b));
        self.is_sorted = true;
    }

    /// Adds what is kept of words besides: how often each comes, and their order.
    fn add_sequences(&mut self) {
        let mut all = std::mem::take(&mut self.words);
        // Stable: those of one field stay in their order.
        all.sort_by_key(|(field, _)| *field);
        let mut sequence = words::SequenceWriter::default();
        // What is added here stands behind, not in its order yet.
        let sorted = self.terms.len();
        for group in all.chunk_by(|a, b| a.0 == b.0) {
            let Some((field, _)) = group.first() else { continue };
            let terms = self.terms.get(..sorted).unwrap_or_default();
            let start = terms.partition_point(|(other, kind, _)| (*other, *kind) < (*field, Kind::Text));
            let end = terms.partition_point(|(other, kind, _)| (*other, *kind) <= (*field, Kind::Text));
            let texts: Vec<Range<usize>> =
                terms.get(start..end).unwrap_or_default().iter().map(|(.., range)| range.clone()).collect();
            let bytes = |range: &Range<usize>| self.bytes.get(range.clone()).unwrap_or_default();
            sequence.begin(texts.len());
            for (_, word) in group {
                // All words are among the texts; the end is the way out that is never taken.
                sequence.push(texts.binary_search_by(|text| bytes(text).cmp(bytes(word))).unwrap_or_default());
            }
            for (text, count) in texts.iter().zip(sequence.counts()).filter(|(_, count)| **count > 1) {
                let at = self.bytes.len();
                self.bytes.extend_from_within(text.clone());
                words::put_frequency(&mut self.bytes, *count);
                self.terms.push((*field, Kind::Frequency, at..self.bytes.len()));
            }
            let at = self.bytes.len();
            self.bytes.extend_from_slice(sequence.bytes());
            self.terms.push((*field, Kind::Sequence, at..self.bytes.len()));
        }
        self.sort();
    }

    /// Appends the record.
    pub(crate) fn write_record(&mut self, document: &str, etag: Etag, out: &mut Vec<u8>) {
        if !self.is_sorted {
            self.sort();
            if !self.words.is_empty() {
                self.add_sequences();
            }
        }
        varint::put(out, etag);
        varint::put(out, document.len() as u64);
        out.extend_from_slice(document.as_bytes());
        varint::put(out, self.stored.len() as u64);
        out.extend_from_slice(&self.stored);
        for (field, kind, range) in &self.terms {
            match kind.is_value() {
                true => varint::put(out, u64::from(field.0) << 2 | *kind as u64),
                false => {
                    varint::put(out, u64::from(field.0) << 2);
                    out.push(*kind as u8);
                }
            }
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
    /// The etag that the document had; 0: none.
    pub etag: Etag,
    /// The text of a JSON object, or empty.
    stored: &'r [u8],
    terms: &'r [u8],
}

impl<'r> Record<'r> {
    pub fn of(mut bytes: &'r [u8]) -> Result<Record<'r>> {
        let broken = || corrupt("the record of an entry begins with its document's etag and id");
        let etag = varint::take(&mut bytes).ok_or_else(broken)?;
        let length = varint::take(&mut bytes).ok_or_else(broken)?;
        let document = varint::take_bytes(&mut bytes, length).ok_or_else(broken)?;
        let document = std::str::from_utf8(document).map_err(|_| broken())?;
        if document.is_empty() || document.len() > DOCUMENT_ID_SIZE_MAX {
            return Err(broken());
        }
        let broken = || corrupt("the record of an entry has its stored values behind the id");
        let length = varint::take(&mut bytes).ok_or_else(broken)?;
        let stored = varint::take_bytes(&mut bytes, length).ok_or_else(broken)?;
        Ok(Record { document, etag, stored, terms: bytes })
    }

    /// Whether another record differs by its etag at most.
    pub fn is_same_but_etag(&self, other: &Record<'_>) -> bool {
        (self.document, self.stored, self.terms) == (other.document, other.stored, other.terms)
    }

    /// The stored values: an object. `None`: there are none.
    pub fn stored(&self) -> Option<Raw<'r>> {
        (!self.stored.is_empty()).then(|| Raw::new(self.stored))
    }

    /// All terms, rising.
    pub fn terms(&self) -> RecordTerms<'r> {
        RecordTerms { bytes: self.terms, before: None }
    }

    /// Whether a field is null, alone or among others.
    pub fn has_null(&self, field: FieldNumber) -> Result<bool> {
        for term in self.terms() {
            let term = term?;
            // They rise, and null comes first of a field.
            if term.field >= field {
                return Ok((term.field, term.kind) == (field, Kind::Null));
            }
        }
        Ok(false)
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
        let field = FieldNumber(u16::try_from(word >> 2).ok()?);
        let kind = match (word & 3) as u8 {
            0 => {
                let (kind, rest) = self.bytes.split_first()?;
                self.bytes = rest;
                Kind::of(*kind).ok().filter(|kind| !kind.is_value())?
            }
            kind => Kind::of(kind).ok()?,
        };
        let length = varint::take(&mut self.bytes)?;
        let bytes = varint::take_bytes(&mut self.bytes, length)?;
        let term = RecordTerm { field, kind, bytes };
        let is_short = match kind {
            Kind::Sequence | Kind::Shape => true,
            Kind::Frequency => words::frequency_of(bytes).is_some(),
            Kind::Norm => bytes.len() == 1,
            Kind::Time => bytes.len() == size_of::<u64>(),
            Kind::Vector => bytes.len() == size_of::<Hash>(),
            Kind::Null | Kind::Text | Kind::Number => bytes.len() <= TERM_SIZE_MAX + TERM_HASH_SIZE,
        };
        let is_right = is_short && self.before.is_none_or(|before| before < term);
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
        entry.write_record("Orders/1-A", 300, &mut bytes);
        let record = Record::of(&bytes).unwrap();
        assert_eq!((record.document, record.etag), ("Orders/1-A", 300));
        assert!(record.stored().is_none());
        let found: Vec<_> = record.terms().map(|term| term.map(|term| (term.field.0, term.kind, term.bytes))).collect();
        let found: Result<Vec<_>> = found.into_iter().collect();
        assert_eq!(found.unwrap(), [(2, Kind::Null, &b""[..]), (7, Kind::Text, b"a"), (7, Kind::Text, b"b")]);
        entry.store(br#"{"A":1}"#).unwrap();
        let mut bytes = Vec::new();
        entry.write_record("x", 0, &mut bytes);
        let record = Record::of(&bytes).unwrap();
        assert_eq!(record.stored().map(|stored| stored.bytes()), Some(&br#"{"A":1}"#[..]));
        assert_eq!(record.terms().count(), 3);
        entry.clear();
        let mut bytes = Vec::new();
        entry.write_record("x", 0, &mut bytes);
        let record = Record::of(&bytes).unwrap();
        assert!(record.stored().is_none() && record.terms().count() == 0);
    }

    /// All terms of an entry whose fields have these words, in their order.
    fn terms_of_words(fields: &[(u16, &str)]) -> Vec<(u16, Kind, Vec<u8>)> {
        let mut entry = Entry::new();
        for (field, words) in fields {
            words.split(' ').for_each(|word| entry.add_word(FieldNumber(*field), word).unwrap());
        }
        let mut bytes = Vec::new();
        entry.write_record("x", 0, &mut bytes);
        let terms = Record::of(&bytes).unwrap().terms();
        terms.map(|term| term.map(|term| (term.field.0, term.kind, term.bytes.to_vec())).unwrap()).collect()
    }

    #[test]
    fn words_of_a_field_do_not_depend_on_other_fields() {
        let fields = [(1, "short fox short fox"), (2, "red fox red b a"), (3, "b a b")];
        let all = terms_of_words(&fields);
        for field in fields {
            let of_field: Vec<_> = all.iter().filter(|term| term.0 == field.0).cloned().collect();
            assert_eq!(of_field, terms_of_words(&[field]), "{field:?}");
        }
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
