//! Ranges of terms: as an interval of keys, as a set of entries, and as an estimate for plans.

use super::entry_ids::EntryIds;
use super::entry_set::EntrySet;
use super::list_cursor::ListCursor;
use crate::index::dictionary::key::{self, ListKind};
use crate::index::dictionary::number::Number;
use crate::index::dictionary::term::{FieldNumber, Kind, StoredTerm, Term};
use crate::index::error::Result;
use crate::index::limits::{ESTIMATED_TERMS_MAX, FEW_TERMS_MAX, TERM_SIZE_MAX};
use crate::index::snapshot::IndexSnapshot;
use crate::index::sorting::sort::Direction;
use std::ops::Bound;

/// Terms of one field and kind between two bounds.
///
/// Where a bound, or a prefix, is longer than [`TERM_SIZE_MAX`], texts are compared by what is kept of them: the range then
/// has all that it should, and perhaps texts that share so long a beginning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TermRange {
    pub(crate) field: FieldNumber,
    pub(crate) kind: Kind,
    /// The first key, and the first one that is not in it any more.
    pub(crate) start: Vec<u8>,
    pub(crate) end: Vec<u8>,
}

impl TermRange {
    /// All terms of a kind.
    pub fn all(field: FieldNumber, kind: Kind) -> TermRange {
        let mut start = Vec::new();
        key::put_start(&mut start, field, ListKind::Term(kind));
        TermRange { field, kind, end: key::after_prefix(&start), start }
    }

    /// Texts between two bounds, in the order of their bytes.
    pub fn text(field: FieldNumber, low: Bound<&str>, high: Bound<&str>) -> TermRange {
        let mut range = Self::between(field, Kind::Text, low.map(Term::Text), high.map(Term::Text));
        // The hash of a cut text says nothing about its order: all that share its beginning are in.
        if let Some(long) = long_text(low) {
            range.start = Self::prefix(field, long).start;
        }
        if let Some(long) = long_text(high) {
            range.end = Self::prefix(field, long).end;
        }
        range
    }

    /// Numbers between two bounds.
    pub fn numbers(field: FieldNumber, low: Bound<Number>, high: Bound<Number>) -> TermRange {
        Self::between(field, Kind::Number, low.map(Term::Number), high.map(Term::Number))
    }

    /// Dates between two bounds, in ticks as [`Term::Time`] has them.
    pub fn times(field: FieldNumber, low: Bound<u64>, high: Bound<u64>) -> TermRange {
        Self::between(field, Kind::Time, low.map(Term::Time), high.map(Term::Time))
    }

    /// Texts that begin with a prefix.
    pub fn prefix(field: FieldNumber, prefix: &str) -> TermRange {
        let mut range = Self::all(field, Kind::Text);
        key::put_escaped(&mut range.start, prefix_of(prefix).as_bytes());
        range.end = key::after_prefix(&range.start);
        range
    }

    /// What it is a range of.
    pub fn of(&self) -> (FieldNumber, Kind) {
        (self.field, self.kind)
    }

    /// The terms that are in this range and in another one of the same field and kind.
    pub fn common(&self, other: &TermRange) -> TermRange {
        let start = self.start.as_slice().max(&other.start).to_vec();
        let end = self.end.as_slice().min(&other.end).to_vec();
        TermRange { field: self.field, kind: self.kind, start, end }
    }

    /// Whether a term of its field and kind is in it.
    ///
    /// * `key`: memory.
    pub(crate) fn contains(&self, term: &[u8], key: &mut Vec<u8>) -> bool {
        key.clear();
        key::put_head(key, self.field, ListKind::Term(self.kind), term);
        self.start <= *key && *key < self.end
    }

    fn between(field: FieldNumber, kind: Kind, low: Bound<Term<'_>>, high: Bound<Term<'_>>) -> TermRange {
        let mut range = Self::all(field, kind);
        let key = |term: Term<'_>, after: bool| {
            let (mut bytes, mut key) = (Vec::new(), Vec::new());
            term.encode(&mut bytes);
            key::put_head(&mut key, field, ListKind::Term(kind), &bytes);
            if after {
                key::put_after_blocks(&mut key);
            }
            key
        };
        match low {
            Bound::Included(term) => range.start = key(term, false),
            Bound::Excluded(term) => range.start = key(term, true),
            Bound::Unbounded => {}
        }
        match high {
            Bound::Included(term) => range.end = key(term, true),
            Bound::Excluded(term) => range.end = key(term, false),
            Bound::Unbounded => {}
        }
        range
    }
}

/// The part of a text that is kept of a long one.
fn prefix_of(text: &str) -> &str {
    text.get(..text.floor_char_boundary(TERM_SIZE_MAX)).unwrap_or(text)
}

/// The text of a bound, if it is one that would be cut.
fn long_text(bound: Bound<&str>) -> Option<&str> {
    match bound {
        Bound::Included(text) | Bound::Excluded(text) => Some(text).filter(|text| text.len() > TERM_SIZE_MAX),
        Bound::Unbounded => None,
    }
}

/// How many entries there may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Estimate {
    /// Not fewer pairs of a term and an entry; entries may have several terms of a range.
    pub at_least: u64,
    /// Not more pairs, or not more entries: whichever is known.
    pub at_most: u64,
}

impl<'env> IndexSnapshot<'env> {
    /// The entries with any term of a range.
    ///
    /// # Errors
    ///
    /// [`crate::index::Error::Corrupt`]; those of the storage.
    pub fn range(&self, range: &TermRange) -> Result<EntrySet> {
        let mut set = EntrySet::new();
        let mut list_cursor = self.list_cursor(range.clone(), Direction::Ascending);
        while let Some((key, head)) = list_cursor.next()? {
            self.entries_of_list(key, head).add_to(&mut set)?;
        }
        Ok(set)
    }

    /// The same; `None` if the lists of its terms have more than `cost_max` entries together.
    ///
    /// # Errors
    ///
    /// As [`Self::range`].
    pub(crate) fn range_within(&self, range: &TermRange, cost_max: u64) -> Result<Option<EntrySet>> {
        let mut set = EntrySet::new();
        let mut list_cursor = self.list_cursor(range.clone(), Direction::Ascending);
        let mut cost: u64 = 0;
        while let Some((key, head)) = list_cursor.next()? {
            cost = cost.saturating_add(head.count);
            if cost > cost_max {
                return Ok(None);
            }
            self.entries_of_list(key, head).add_to(&mut set)?;
        }
        Ok(Some(set))
    }

    /// The entries with a term of a range that `is_wanted` wants. It is asked once for each term.
    ///
    /// # Errors
    ///
    /// As [`Self::range`]; that of `is_wanted`.
    pub fn matching<E: From<crate::index::Error>>(
        &self,
        range: &TermRange,
        mut is_wanted: impl FnMut(StoredTerm) -> Result<bool, E>,
    ) -> Result<EntrySet, E> {
        let mut set = EntrySet::new();
        let mut list_cursor = self.list_cursor(range.clone(), Direction::Ascending);
        let mut bytes = Vec::new();
        while let Some((key, head)) = list_cursor.next()? {
            key::term_into(&mut bytes, key)?;
            if is_wanted(StoredTerm::decode(range.kind, &bytes)?)? {
                self.entries_of_list(key, head).add_to(&mut set)?;
            }
        }
        Ok(set)
    }

    /// How many entries a range has, from the counts of its first terms: exact as far as terms go if they are few.
    ///
    /// # Errors
    ///
    /// As [`Self::range`].
    pub fn estimate(&self, range: &TermRange) -> Result<Estimate> {
        let (at_least, has_more) = self.count_terms(range, ESTIMATED_TERMS_MAX)?;
        if !has_more {
            return Ok(Estimate { at_least, at_most: at_least });
        }
        let present = self.present(range.field, range.kind)?.count();
        Ok(Estimate { at_least, at_most: present.max(at_least) })
    }

    /// The pairs of a term of a range and an entry. `None`: the range has more than [`FEW_TERMS_MAX`] terms.
    ///
    /// # Errors
    ///
    /// As [`Self::range`].
    pub(crate) fn count_of_few(&self, range: &TermRange) -> Result<Option<u64>> {
        let (count, has_more) = self.count_terms(range, FEW_TERMS_MAX)?;
        Ok((!has_more).then_some(count))
    }

    /// The pairs of the first terms of a range and an entry, and whether there are more terms.
    fn count_terms(&self, range: &TermRange, terms_max: usize) -> Result<(u64, bool)> {
        let mut list_cursor = self.list_cursor(range.clone(), Direction::Ascending);
        let mut count: u64 = 0;
        for _ in 0..terms_max {
            let Some((_, head)) = list_cursor.next()? else { return Ok((count, false)) };
            count = count.saturating_add(head.count);
        }
        Ok((count, list_cursor.next()?.is_some()))
    }

    pub(crate) fn list_cursor(&self, range: TermRange, direction: Direction) -> ListCursor<'_> {
        ListCursor::new(self.tx(), self.schema().postings, range, direction)
    }
}
