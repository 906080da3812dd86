//! How words stand in entries: how often, in which order, and with which weight. What scores and phrases rest on.
//!
//! ```text
//!  Frequency, a list:    word | 0x00 | count u16 BE     entries that have the word so often, from twice on
//!  Norm, a list:         norm                           entries whose field is boosted; scored by BM25, those of that length
//!  Sequence, a record:   varint( number ) ...           each word by its place among the sorted texts of the field
//! ```
//!
//! So words that come once, as most do, cost nothing in lists; scoring reads lists alone; and the order, a byte for a word, is read only of
//! entries that have all words of a phrase.
//!
//! Invariant: a sequence has numbers of texts of its record only; a frequency is 2 at least.

use super::key::{self, ListKind};
use super::term::{FieldNumber, Kind, Term};
use super::term_entries::TermEntries;
use crate::index::EntryId;
use crate::index::error::{Result, corrupt};
use crate::index::limits::FREQUENCY_SIZE;
use crate::index::postings::entry_ids::EntryIds;
use crate::index::postings::range::TermRange;
use crate::index::snapshot::{IndexEntry, IndexSnapshot};
use crate::index::sorting::sort::Direction;
use crate::varint;

/// What stands between a word and its count.
const FREQUENCY_MARK: u8 = 0;

/// Appends the count of a word to its bytes.
pub(crate) fn put_frequency(out: &mut Vec<u8>, count: u32) {
    out.push(FREQUENCY_MARK);
    out.extend_from_slice(&u16::try_from(count).unwrap_or(u16::MAX).to_be_bytes());
}

/// The count that a term of the kind ends with.
pub(crate) fn frequency_of(bytes: &[u8]) -> Option<u16> {
    let (_, &[mark, high, low]) = bytes.split_last_chunk::<FREQUENCY_SIZE>()?;
    Some(u16::from_be_bytes([high, low])).filter(|count| mark == FREQUENCY_MARK && *count > 1)
}

/// The weight of a field of one entry: its boost by the root of the number of its words, in eight bits of which three are the
/// mantissa, as Lucene keeps it (`SmallFloat.floatToByte315`).
///
/// Of an index that is scored by BM25 it is the number of the words alone, exact below 40 and with three bits of mantissa above, as Lucene
/// keeps it since version 7 (`SmallFloat.intToByte4`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Norm(pub(crate) u8);

/// Lengths that are bytes themselves; greater ones are kept with an exponent.
const EXACT_LENGTHS: u64 = 24;

/// Bits that are dropped of a single float.
const NORM_SHIFT: u32 = 24 - 3;
/// The first exponent that a norm has.
const NORM_ZERO: u32 = (63 - 15) << 3;

impl Norm {
    /// The norm of a field.
    pub fn of(boost: f32, word_count: usize) -> Norm {
        let value = boost / (word_count.max(1) as f32).sqrt();
        let bits = value.to_bits();
        let small = bits >> NORM_SHIFT;
        Norm(match value {
            value if value.is_nan() || value <= 0.0 => 0,
            _ if small <= NORM_ZERO => 1,
            _ => u8::try_from(small - NORM_ZERO).unwrap_or(u8::MAX),
        })
    }

    /// The length of a field in words.
    pub fn of_length(word_count: usize) -> Norm {
        let length = (word_count as u64).min(u64::from(u32::MAX >> 1));
        let Some(rest) = length.checked_sub(EXACT_LENGTHS) else { return Norm(length as u8) };
        let bits = u64::BITS - rest.leading_zeros();
        let small = match bits {
            0..4 => rest,
            _ => {
                let shift = u64::from(bits) - 4;
                (rest >> shift & 7) | (shift + 1) << 3
            }
        };
        // At most 24 + 231, for a length of 31 bits.
        Norm(u8::try_from(EXACT_LENGTHS + small).unwrap_or(u8::MAX))
    }

    /// The greatest length that is kept so and is not above the one that was given.
    pub fn length(self) -> u64 {
        let Some(small) = u64::from(self.0).checked_sub(EXACT_LENGTHS) else { return self.0.into() };
        EXACT_LENGTHS
            + match small >> 3 {
                0 => small,
                exponent => (small & 7 | 8) << (exponent - 1),
            }
    }

    /// What a score is multiplied by.
    pub fn value(self) -> f32 {
        if self.0 == 0 { 0.0 } else { f32::from_bits((u32::from(self.0) + NORM_ZERO) << NORM_SHIFT) }
    }
}

/// Counts the words of a field and puts down their order.
#[derive(Default)]
pub(crate) struct SequenceWriter {
    counts: Vec<u32>,
    bytes: Vec<u8>,
}

impl SequenceWriter {
    pub fn begin(&mut self, text_count: usize) {
        self.counts.clear();
        self.counts.resize(text_count, 0);
        self.bytes.clear();
    }

    pub fn push(&mut self, number: usize) {
        varint::put(&mut self.bytes, number as u64);
        if let Some(count) = self.counts.get_mut(number) {
            *count += 1;
        }
    }

    /// How often each text comes.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// How often entries have a word: asked with rising ids.
pub struct WordFrequencies<'s> {
    /// Those that have it more than once, with how often; the next id of each.
    lists: Vec<(u16, TermEntries<'s>, Option<EntryId>)>,
}

impl WordFrequencies<'_> {
    /// How often any entry has the word at most.
    pub fn most(&self) -> u32 {
        self.lists.iter().map(|(count, ..)| u32::from(*count)).max().unwrap_or(1)
    }

    /// How often an entry has the word that has it. The ids must rise.
    ///
    /// # Errors
    ///
    /// [`crate::index::Error::Corrupt`]; those of the storage.
    pub fn of(&mut self, entry: EntryId) -> Result<u32> {
        for (count, list, next) in &mut self.lists {
            if next.is_some_and(|next| next < entry) {
                *next = list.seek(entry)?;
            }
            if *next == Some(entry) {
                return Ok(u32::from(*count));
            }
        }
        Ok(1)
    }
}

/// The norms of a field: asked with rising ids.
pub struct FieldNorms<'s> {
    lists: Vec<(Norm, TermEntries<'s>, Option<EntryId>)>,
}

impl FieldNorms<'_> {
    /// The weight of a field in an entry. The ids must rise.
    ///
    /// # Errors
    ///
    /// [`crate::index::Error::Corrupt`]; those of the storage.
    pub fn of(&mut self, entry: EntryId) -> Result<f32> {
        Ok(self.norm_of(entry)?.map_or(1.0, Norm::value))
    }

    fn norm_of(&mut self, entry: EntryId) -> Result<Option<Norm>> {
        for (norm, list, next) in &mut self.lists {
            if next.is_some_and(|next| next < entry) {
                *next = list.seek(entry)?;
            }
            if *next == Some(entry) {
                return Ok(Some(*norm));
            }
        }
        Ok(None)
    }
}

/// The lengths of a field in words, of an index that keeps them: asked with rising ids.
pub struct FieldLengths<'s> {
    norms: FieldNorms<'s>,
    average: f64,
}

impl FieldLengths<'_> {
    /// Words of the field in an entry. The ids must rise. `None`: the entry has no words there.
    ///
    /// # Errors
    ///
    /// [`crate::index::Error::Corrupt`]; those of the storage.
    pub fn of(&mut self, entry: EntryId) -> Result<Option<u64>> {
        Ok(self.norms.norm_of(entry)?.map(Norm::length))
    }

    /// Words of the field in the entries that have any, on average: above 0.
    pub fn average(&self) -> f64 {
        self.average
    }
}

/// The words of a field of one entry in their order.
pub struct WordSequence<'s> {
    texts: Vec<&'s [u8]>,
    numbers: Vec<u32>,
}

impl<'s> WordSequence<'s> {
    /// The places of a word, rising.
    pub fn places(&self, word: &[u8]) -> Vec<u32> {
        let Ok(number) = self.texts.binary_search(&word) else { return Vec::new() };
        let places = self.numbers.iter().zip(0u32..).filter(|(other, _)| **other as usize == number);
        places.map(|(_, place)| place).collect()
    }

    /// The words, each with how often it comes.
    pub fn counts(&self) -> Vec<(&'s [u8], u32)> {
        let mut counts = vec![0u32; self.texts.len()];
        for number in &self.numbers {
            if let Some(count) = counts.get_mut(*number as usize) {
                *count += 1;
            }
        }
        self.texts.iter().copied().zip(counts).collect()
    }
}

impl<'s> IndexEntry<'s> {
    /// The words of a field. `None`: it is not kept in words.
    ///
    /// # Errors
    ///
    /// [`crate::index::Error::Corrupt`].
    pub fn sequence(&self, field: FieldNumber) -> Result<Option<WordSequence<'s>>> {
        let mut texts = Vec::new();
        for term in self.record().terms() {
            let term = term?;
            if term.field > field {
                break;
            }
            match term.kind {
                Kind::Text if term.field == field => texts.push(term.bytes),
                Kind::Sequence if term.field == field => {
                    let (mut bytes, mut numbers) = (term.bytes, Vec::new());
                    while !bytes.is_empty() {
                        let number = varint::take(&mut bytes).and_then(|number| u32::try_from(number).ok());
                        let number = number.filter(|number| (*number as usize) < texts.len());
                        numbers.push(number.ok_or_else(|| corrupt("a sequence has numbers of texts"))?);
                    }
                    return Ok(Some(WordSequence { texts, numbers }));
                }
                _ => {}
            }
        }
        Ok(None)
    }
}

impl IndexSnapshot<'_> {
    /// How often entries have a word.
    ///
    /// # Errors
    ///
    /// [`crate::index::Error::Corrupt`]; those of the storage.
    pub fn word_frequencies(&self, field: FieldNumber, word: &str) -> Result<WordFrequencies<'_>> {
        let mut prefix = Vec::new();
        Term::Text(word).encode(&mut prefix);
        prefix.push(FREQUENCY_MARK);
        let mut range = TermRange::all(field, Kind::Frequency);
        key::put_escaped(&mut range.start, &prefix);
        range.end = key::after_prefix(&range.start);
        let mut lists = Vec::new();
        let mut bytes = Vec::new();
        let mut list_cursor = self.list_cursor(range, Direction::Ascending);
        while let Some((key, head)) = list_cursor.next()? {
            key::term_into(&mut bytes, key)?;
            // Of a longer word that begins with this one and a zero.
            if bytes.len() != prefix.len() + FREQUENCY_SIZE - 1 {
                continue;
            }
            let count = frequency_of(&bytes).ok_or_else(|| corrupt("a frequency ends with a count"))?;
            let mut list = self.entries_of_list(key, head);
            let first = list.next()?;
            lists.push((count, list, first));
        }
        Ok(WordFrequencies { lists })
    }

    /// The norms of a field. `None`: it is boosted in no entry.
    ///
    /// # Errors
    ///
    /// As [`Self::word_frequencies`].
    pub fn field_norms(&self, field: FieldNumber) -> Result<Option<FieldNorms<'_>>> {
        let mut lists = Vec::new();
        let mut bytes = Vec::new();
        let mut list_cursor = self.list_cursor(TermRange::all(field, Kind::Norm), Direction::Ascending);
        while let Some((key, head)) = list_cursor.next()? {
            key::term_into(&mut bytes, key)?;
            let &[norm] = bytes.as_slice() else { return Err(corrupt("a norm is one byte")) };
            let mut list = self.entries_of_list(key, head);
            let first = list.next()?;
            lists.push((Norm(norm), list, first));
        }
        Ok((!lists.is_empty()).then_some(FieldNorms { lists }))
    }

    /// The lengths of a field, of an index that keeps them. `None`: no entry has words there.
    ///
    /// # Errors
    ///
    /// As [`Self::word_frequencies`].
    pub fn field_lengths(&self, field: FieldNumber) -> Result<Option<FieldLengths<'_>>> {
        let Some(norms) = self.field_norms(field)? else { return Ok(None) };
        let (mut entries, mut words) = (0.0, 0.0);
        for (norm, list, _) in &norms.lists {
            entries += list.count() as f64;
            words += list.count() as f64 * norm.length() as f64;
        }
        Ok((words > 0.0).then_some(FieldLengths { norms, average: words / entries }))
    }

    /// How many entries have a text of a field.
    ///
    /// # Errors
    ///
    /// As [`Self::word_frequencies`].
    pub fn count_of(&self, field: FieldNumber, text: &str) -> Result<u64> {
        let mut bytes = Vec::new();
        Term::Text(text).encode(&mut bytes);
        Ok(self.list(field, ListKind::Term(Kind::Text), &bytes)?.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the reference scores fields that are boosted.
    #[test]
    fn norms_are_those_of_lucene() {
        for (boost, words, expected) in
            [(10.0, 2, 7.0), (10.0, 6, 4.0), (1.0, 2, 0.625), (1.0, 1, 1.0), (10.0, 1, 10.0)]
        {
            assert_eq!(Norm::of(boost, words).value(), expected, "{boost} {words}");
        }
        assert_eq!(Norm::of(0.0, 1).value(), 0.0);
        assert_eq!(Norm::of(f32::NAN, 1).value(), 0.0);
        assert!(Norm::of(f32::MIN_POSITIVE, 1).value() > 0.0 && Norm::of(f32::MAX, 1).value() > 1e9);
    }

    /// Rounded down, and by less than an eighth.
    #[test]
    fn lengths_are_those_of_lucene() {
        for length in (0..5000).chain([1 << 20, (1 << 31) - 1]) {
            let kept = Norm::of_length(length).length() as usize;
            assert!(
                kept <= length && (length < 40) <= (kept == length) && length - kept <= length / 8,
                "{length} {kept}"
            );
            assert!(Norm::of_length(length).0 <= Norm::of_length(length + 1).0, "{length}");
            assert_eq!(Norm::of_length(kept), Norm::of_length(length));
        }
        assert_eq!((Norm::of_length(39).0, Norm::of_length(40).0, Norm::of_length(41).0), (39, 40, 40));
        assert_eq!(Norm::of_length(usize::MAX).0, u8::MAX);
        for byte in 0..=u8::MAX {
            assert_eq!(Norm::of_length(Norm(byte).length() as usize), Norm(byte));
        }
    }

    #[test]
    fn frequencies_end_terms() {
        let mut bytes = b"fox".to_vec();
        put_frequency(&mut bytes, 3);
        assert_eq!((frequency_of(&bytes), bytes.len()), (Some(3), 3 + FREQUENCY_SIZE));
        put_frequency(&mut bytes, 1 << 20);
        assert_eq!(frequency_of(&bytes), Some(u16::MAX));
        for wrong in [&b""[..], b"ab", b"x\0\0\x01", b"x\x01\0\x02"] {
            assert_eq!(frequency_of(wrong), None);
        }
    }
}
