//! Sets of entries: bits, in chunks of 4,096 that exist only where there is an entry.
//!
//! Ids are dense, so a set of many has mostly full chunks, and adding an id that comes in the order of terms (at random, as
//! ids go) is one access to memory. Compressed bitmaps (`roaring` 0.11) were measured to take sixty times as long for
//! that, as each id is put into the middle of a sorted array, and thirty times as long if they are sorted before.

use super::entry_ids::EntryIds;
use super::runs::Run;
use crate::index::entry::EntryId;
use crate::index::error::Result;
use std::borrow::Borrow;

/// Words of a chunk.
const WORDS: usize = 64;
const CHUNK_BITS: u64 = 64 * WORDS as u64;

type Chunk = [u64; WORDS];

/// A set of entries.
#[derive(Clone, Debug, Default)]
pub struct EntrySet {
    chunks: Vec<Option<Box<Chunk>>>,
    count: u64,
}

/// Chunk, word and bit of an id.
#[inline]
fn place(id: u64) -> (usize, usize, u64) {
    ((id / CHUNK_BITS) as usize, (id % CHUNK_BITS / 64) as usize, 1 << (id % 64))
}

fn count(chunk: &Chunk) -> u64 {
    chunk.iter().map(|word| u64::from(word.count_ones())).sum()
}

impl EntrySet {
    /// The empty set.
    pub fn new() -> EntrySet {
        EntrySet::default()
    }

    /// All of an iterator.
    ///
    /// # Errors
    ///
    /// Those of the iterator.
    pub fn of(mut entries: impl EntryIds) -> Result<EntrySet> {
        let mut set = EntrySet::new();
        entries.add_to(&mut set)?;
        Ok(set)
    }

    #[inline]
    fn chunk_mut(&mut self, chunk: usize) -> &mut Chunk {
        if chunk >= self.chunks.len() {
            self.chunks.resize(chunk + 1, None);
        }
        self.chunks[chunk].get_or_insert_with(|| Box::new([0; WORDS]))
    }

    /// Adds an entry. False: it was there.
    #[inline]
    pub fn insert(&mut self, id: EntryId) -> bool {
        let (chunk, word, bit) = place(id.0);
        let word = &mut self.chunk_mut(chunk)[word];
        let is_new = *word & bit == 0;
        *word |= bit;
        self.count += u64::from(is_new);
        is_new
    }

    /// Adds entries whose ids follow each other.
    pub(crate) fn insert_run(&mut self, run: Run) {
        let mut first = run.first;
        while first <= run.last {
            // Up to the end of the run or of the word.
            let last = run.last.min(first | 63);
            let (chunk, word, _) = place(first);
            let bits = (u64::MAX >> (63 - (last - first))) << (first % 64);
            let word = &mut self.chunk_mut(chunk)[word];
            let added = bits & !*word;
            *word |= bits;
            self.count += u64::from(added.count_ones());
            first = last + 1;
        }
    }

    /// How many of entries whose ids follow each other are in it.
    pub(crate) fn count_run(&self, run: Run) -> u64 {
        let (mut first, mut count) = (run.first, 0);
        while first <= run.last {
            let (chunk, word, _) = place(first);
            let Some(chunk) = self.chunks.get(chunk) else { break };
            let Some(chunk) = chunk else {
                first = (first / CHUNK_BITS + 1) * CHUNK_BITS;
                continue;
            };
            // Up to the end of the run or of the word.
            let last = run.last.min(first | 63);
            let bits = (u64::MAX >> (63 - (last - first))) << (first % 64);
            count += u64::from((chunk[word] & bits).count_ones());
            first = last + 1;
        }
        count
    }

    /// Takes out those of entries whose ids follow each other, the first `count_max` of them, and appends them.
    pub(crate) fn take_run(&mut self, run: Run, count_max: usize, taken: &mut Vec<EntryId>) {
        let (mut first, mut left) = (run.first, count_max);
        while first <= run.last && left > 0 {
            let (chunk, word, _) = place(first);
            let Some(chunk) = self.chunks.get_mut(chunk) else { break };
            let Some(chunk) = chunk else {
                first = (first / CHUNK_BITS + 1) * CHUNK_BITS;
                continue;
            };
            // Up to the end of the run or of the word.
            let last = run.last.min(first | 63);
            let mut bits = chunk[word] & (u64::MAX >> (63 - (last - first))) << (first % 64);
            while bits != 0 && left > 0 {
                let bit = bits & bits.wrapping_neg();
                taken.push(EntryId(first / 64 * 64 + u64::from(bit.trailing_zeros())));
                chunk[word] ^= bit;
                bits ^= bit;
                self.count -= 1;
                left -= 1;
            }
            first = last + 1;
        }
    }

    /// Removes an entry. False: it was not there.
    #[inline]
    pub fn remove(&mut self, id: EntryId) -> bool {
        let (chunk, word, bit) = place(id.0);
        let Some(Some(chunk)) = self.chunks.get_mut(chunk) else { return false };
        let was_there = chunk[word] & bit != 0;
        chunk[word] &= !bit;
        self.count -= u64::from(was_there);
        was_there
    }

    /// Whether an entry is in it.
    #[inline]
    pub fn contains(&self, id: EntryId) -> bool {
        let (chunk, word, bit) = place(id.0);
        matches!(self.chunks.get(chunk), Some(Some(chunk)) if chunk[word] & bit != 0)
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Makes each chunk what `change` makes of it and of that of another set; `None` is one without entries.
    fn combine(&mut self, other: &EntrySet, change: impl Fn(&mut Option<Box<Chunk>>, Option<&Chunk>)) {
        if self.chunks.len() < other.chunks.len() {
            self.chunks.resize(other.chunks.len(), None);
        }
        let others = other.chunks.iter().map(Option::as_deref).chain(std::iter::repeat(None));
        for (chunk, other) in self.chunks.iter_mut().zip(others) {
            change(chunk, other);
        }
        self.count = self.chunks.iter().flatten().map(|chunk| count(chunk)).sum();
    }

    /// Adds those of another set.
    pub fn unite(&mut self, other: &EntrySet) {
        self.combine(other, |chunk, other| match (chunk, other) {
            (Some(chunk), Some(other)) => chunk.iter_mut().zip(other).for_each(|(word, other)| *word |= other),
            (chunk @ None, Some(other)) => *chunk = Some(Box::new(*other)),
            (_, None) => {}
        });
    }

    /// Keeps those that are in another set too.
    pub fn intersect(&mut self, other: &EntrySet) {
        self.combine(other, |chunk, other| match (chunk, other) {
            (Some(chunk), Some(other)) => chunk.iter_mut().zip(other).for_each(|(word, other)| *word &= other),
            (chunk, _) => *chunk = None,
        });
    }

    /// Removes those of another set.
    pub fn subtract(&mut self, other: &EntrySet) {
        self.combine(other, |chunk, other| {
            if let (Some(chunk), Some(other)) = (chunk, other) {
                chunk.iter_mut().zip(other).for_each(|(word, other)| *word &= !other);
            }
        });
    }

    /// Their ids, rising.
    pub fn entries(&self) -> SetEntries<&EntrySet> {
        SetEntries::new(self)
    }

    /// The same, with the set in it.
    pub fn into_entries(self) -> SetEntries<EntrySet> {
        SetEntries::new(self)
    }

    fn word(&self, chunk: usize, word: usize) -> u64 {
        self.chunks.get(chunk).and_then(Option::as_ref).map_or(0, |chunk| chunk[word])
    }
}

impl PartialEq for EntrySet {
    fn eq(&self, other: &EntrySet) -> bool {
        const EMPTY: Chunk = [0; WORDS];
        let chunk = |set: &EntrySet, index: usize| set.chunks.get(index).and_then(Option::as_deref).copied();
        let is_same = |index| chunk(self, index).unwrap_or(EMPTY) == chunk(other, index).unwrap_or(EMPTY);
        self.count == other.count && (0..self.chunks.len().max(other.chunks.len())).all(is_same)
    }
}

impl FromIterator<EntryId> for EntrySet {
    fn from_iter<I: IntoIterator<Item = EntryId>>(ids: I) -> EntrySet {
        let mut set = EntrySet::new();
        ids.into_iter().for_each(|id| _ = set.insert(id));
        set
    }
}

/// A set that [`SetEntries`] refer to or have.
pub trait BorrowedSet: Borrow<EntrySet> {
    /// The set itself, which is empty then. `None`: it is somebody else's.
    fn take(&mut self) -> Option<EntrySet>;
}

impl BorrowedSet for EntrySet {
    fn take(&mut self) -> Option<EntrySet> {
        Some(std::mem::take(self))
    }
}

impl BorrowedSet for &EntrySet {
    fn take(&mut self) -> Option<EntrySet> {
        None
    }
}

/// The ids of a set, which it refers to or has.
pub struct SetEntries<S> {
    set: S,
    /// An upper bound: what was passed over is not counted.
    left: u64,
    chunk: usize,
    word: usize,
    /// Of the word, what was not given yet.
    bits: u64,
}

impl<S: BorrowedSet> SetEntries<S> {
    fn new(set: S) -> SetEntries<S> {
        let (left, bits) = (set.borrow().count, set.borrow().word(0, 0));
        SetEntries { set, left, chunk: 0, word: 0, bits }
    }

    fn take(&mut self) -> Option<EntryId> {
        let set = self.set.borrow();
        while self.bits == 0 {
            self.word += 1;
            let is_missing = set.chunks.get(self.chunk).is_none_or(Option::is_none);
            if self.word == WORDS || is_missing {
                (self.chunk, self.word) = (self.chunk + 1, 0);
            }
            if self.chunk >= set.chunks.len() {
                // Further calls of `next` stay there.
                self.chunk = set.chunks.len();
                return None;
            }
            self.bits = set.word(self.chunk, self.word);
        }
        let bit = self.bits.trailing_zeros();
        self.bits &= self.bits - 1;
        self.left = self.left.saturating_sub(1);
        Some(EntryId(self.chunk as u64 * CHUNK_BITS + self.word as u64 * 64 + u64::from(bit)))
    }
}

impl<S: BorrowedSet> EntryIds for SetEntries<S> {
    #[inline]
    fn next(&mut self) -> Result<Option<EntryId>> {
        Ok(self.take())
    }

    fn seek(&mut self, at_least: EntryId) -> Result<Option<EntryId>> {
        let (chunk, word, bit) = place(at_least.0);
        if (chunk, word) > (self.chunk, self.word) {
            (self.chunk, self.word) = (chunk, word);
            self.bits = self.set.borrow().word(chunk, word);
        }
        if (chunk, word) == (self.chunk, self.word) {
            self.bits &= !(bit - 1);
        }
        Ok(self.take())
    }

    fn count_max(&self) -> u64 {
        self.left
    }

    fn add_to(&mut self, set: &mut EntrySet) -> Result<()> {
        let is_whole = (self.chunk, self.word, self.bits) == (0, 0, self.set.borrow().word(0, 0));
        if is_whole
            && set.is_empty()
            && let Some(own) = self.set.take()
        {
            *set = own;
            (self.left, self.bits) = (0, 0);
            return Ok(());
        }
        if is_whole {
            let own = self.set.borrow();
            set.unite(own);
            self.chunk = own.chunks.len();
            (self.left, self.bits) = (0, 0);
        }
        while let Some(id) = self.take() {
            set.insert(id);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn ids() -> impl Strategy<Value = BTreeSet<u64>> {
        prop::collection::btree_set(prop_oneof![0u64..200, 4000u64..4200, 0u64..60_000], 0..200)
    }

    fn set_of(ids: &BTreeSet<u64>) -> EntrySet {
        ids.iter().rev().map(|id| EntryId(*id)).collect()
    }

    fn ids_of(set: &EntrySet) -> BTreeSet<u64> {
        let mut entries = set.entries();
        let ids: BTreeSet<u64> = std::iter::from_fn(|| entries.next().unwrap()).map(|id| id.0).collect();
        assert_eq!(ids.len() as u64, set.len());
        assert_eq!(entries.next().unwrap(), None);
        ids
    }

    proptest! {
        #[test]
        fn sets_are_sets(a in ids(), b in ids(), run in (0u64..9000, 0u64..9000)) {
            let (x, y) = (set_of(&a), set_of(&b));
            prop_assert_eq!(ids_of(&x), a.clone());
            let changed = |change: fn(&mut EntrySet, &EntrySet)| {
                let mut set = x.clone();
                change(&mut set, &y);
                set
            };
            prop_assert_eq!(ids_of(&changed(EntrySet::unite)), &a | &b);
            prop_assert_eq!(ids_of(&changed(EntrySet::intersect)), &a & &b);
            prop_assert_eq!(ids_of(&changed(EntrySet::subtract)), &a - &b);
            prop_assert_eq!(x == y, a == b);
            prop_assert!(changed(EntrySet::unite) == set_of(&(&a | &b)));
            let mut z = x.clone();
            let run = Run { first: run.0.min(run.1), last: run.0.max(run.1) };
            prop_assert_eq!(x.count_run(run), a.range(run.first..=run.last).count() as u64);
            for count_max in [0, 1, 7, usize::MAX] {
                let (mut left, mut taken) = (x.clone(), vec![EntryId(0)]);
                left.take_run(run, count_max, &mut taken);
                let expected: Vec<u64> = a.range(run.first..=run.last).take(count_max).copied().collect();
                prop_assert_eq!(taken.iter().skip(1).map(|id| id.0).collect::<Vec<_>>(), expected.clone());
                prop_assert_eq!(ids_of(&left), &a - &expected.into_iter().collect());
            }
            z.insert_run(run);
            let with: BTreeSet<u64> = (run.first..=run.last).chain(a.iter().copied()).collect();
            prop_assert_eq!(ids_of(&z), with);
            for id in &b {
                prop_assert_eq!(x.contains(EntryId(*id)), a.contains(id));
                prop_assert_eq!(z.remove(EntryId(*id)), a.contains(id) || (run.first..=run.last).contains(id));
            }
        }

        #[test]
        fn a_set_that_is_handed_over_is_the_same(a in ids(), b in ids(), given in 0usize..3, sought in 0u64..70_000) {
            for begun in [BTreeSet::new(), b] {
                let mut entries = set_of(&a).into_entries();
                (0..given).for_each(|_| _ = entries.next().unwrap());
                let mut set = set_of(&begun);
                entries.add_to(&mut set).unwrap();
                prop_assert_eq!(ids_of(&set), a.iter().skip(given).chain(&begun).copied().collect());
                prop_assert_eq!((entries.next().unwrap(), entries.count_max()), (None, 0));
                // What was passed over does not come back, whether there is anything behind it or not.
                let (mut entries, mut set) = (set_of(&a).into_entries(), set_of(&begun));
                entries.seek(EntryId(sought)).unwrap();
                entries.add_to(&mut set).unwrap();
                prop_assert_eq!(ids_of(&set), a.range(sought..).skip(1).chain(&begun).copied().collect());
            }
        }

        #[test]
        fn seeking_gives_the_next_at_or_above(a in ids(), steps in prop::collection::vec(0u64..9000, 0..40)) {
            let set = set_of(&a);
            let (mut entries, mut next) = (set.entries(), 0);
            for step in steps {
                let expected = a.range(next + step..).next().copied();
                prop_assert_eq!(entries.seek(EntryId(next + step)).unwrap().map(|id| id.0), expected);
                let Some(found) = expected else { break };
                next = found + 1;
            }
        }
    }
}
