//! A column: of each entry what it is sorted by in one field, as a number.
//!
//! Sorting what was found needs a value of each entry, and its record is several places in memory away. A column has the
//! first bytes of the value in the order of entries' ids, eight bytes each: a pass over it is a pass over an array. Its ranks
//! leave out what all values of the field begin with, so `users/1` to `users/9999999` differ within them.
//!
//! Invariant: ranks are in the order of the values, but values longer than a rank holds may share one ([`Rank::is_exact`]).
//!
//! Columns are kept in memory alone, made when they are worth it, and shared: a copy costs a pointer for 4,096 entries, and
//! a changed entry the copy of its chunk.

use crate::index::entry::EntryId;
use std::sync::Arc;

/// Entries of a chunk.
const CHUNK: usize = 4096;

/// Bytes of a value, behind the common beginning, that a rank has.
const RANK_BYTES: usize = 7;

/// Where a value stands among those of its field.
///
/// ```text
///  | 7 bytes, zeros behind a shorter value | 0: absent; 1 to 8: 1 + its length; 9: it is longer |
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Rank(u64);

impl Rank {
    /// That of an entry without a value. Below all others.
    pub const ABSENT: Rank = Rank(0);
    const LONGER: u64 = RANK_BYTES as u64 + 2;

    /// The rank of a value from what follows the common beginning.
    fn of(rest: &[u8]) -> Rank {
        let mut bytes = [0; 8];
        let size = rest.len().min(RANK_BYTES);
        bytes[..size].copy_from_slice(&rest[..size]);
        let length = if rest.len() > RANK_BYTES { Rank::LONGER } else { rest.len() as u64 + 1 };
        Rank(u64::from_be_bytes(bytes) | length)
    }

    /// Whether values with this rank are equal.
    pub fn is_exact(self) -> bool {
        self.0 & 0xFF != Rank::LONGER
    }

    /// A number by which ranks rise, or fall if that is asked for. Never 0 nor the greatest.
    pub fn key(self, is_descending: bool) -> u64 {
        if is_descending { !self.0 } else { self.0 }
    }

    /// The rank that a number came from.
    pub fn of_key(key: u64, is_descending: bool) -> Rank {
        Rank(if is_descending { !key } else { key })
    }
}

/// The ranks of all entries in a field.
#[derive(Clone)]
pub(crate) struct Column {
    /// What all values begin with.
    prefix: Arc<[u8]>,
    chunks: Vec<Arc<[Rank; CHUNK]>>,
}

impl Column {
    /// A column in which no entry has a value yet.
    pub fn new(prefix: Arc<[u8]>) -> Column {
        Column { prefix, chunks: Vec::new() }
    }

    /// The rank of a value. `None`: it does not begin as the others do.
    pub fn rank_of(prefix: &[u8], value: Option<&[u8]>) -> Option<Rank> {
        match value {
            Some(value) => value.strip_prefix(prefix).map(Rank::of),
            None => Some(Rank::ABSENT),
        }
    }

    /// What all values begin with.
    pub fn prefix(&self) -> &Arc<[u8]> {
        &self.prefix
    }

    /// The rank of an entry.
    pub fn rank(&self, id: EntryId) -> Rank {
        let (chunk, at) = place(id);
        self.chunks.get(chunk).map_or(Rank::ABSENT, |ranks| ranks[at])
    }

    /// Gives an entry a rank.
    pub fn set(&mut self, id: EntryId, rank: Rank) {
        let (chunk, at) = place(id);
        if chunk >= self.chunks.len() {
            if rank == Rank::ABSENT {
                return;
            }
            self.chunks.resize_with(chunk + 1, || Arc::new([Rank::ABSENT; CHUNK]));
        }
        if let Some(ranks) = self.chunks.get_mut(chunk) {
            Arc::make_mut(ranks)[at] = rank;
        }
    }

    /// Bytes of memory, also of those that are shared.
    pub fn size(&self) -> usize {
        Self::size_for(self.chunks.len() as u64 * CHUNK as u64)
    }

    /// Bytes of memory that another state of the column does not share.
    pub fn size_beside(&self, other: &Column) -> usize {
        let is_shared =
            |at: usize, chunk: &Arc<[Rank; CHUNK]>| other.chunks.get(at).is_some_and(|its| Arc::ptr_eq(its, chunk));
        let own = self.chunks.iter().enumerate().filter(|(at, chunk)| !is_shared(*at, chunk)).count();
        Self::size_for((own * CHUNK) as u64)
    }

    /// Bytes of a column of `entries` entries.
    pub fn size_for(entries: u64) -> usize {
        entries.next_multiple_of(CHUNK as u64) as usize * size_of::<Rank>()
    }
}

fn place(id: EntryId) -> (usize, usize) {
    (id.0 as usize / CHUNK, id.0 as usize % CHUNK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranks_are_in_the_order_of_values(
            a in prop::collection::vec(0u8..3, 0..12),
            b in prop::collection::vec(0u8..3, 0..12),
            prefix in prop::collection::vec(any::<u8>(), 0..3),
        ) {
            let rank = |value: &[u8]| Column::rank_of(&prefix, Some(&[&prefix, value].concat())).unwrap();
            let (x, y) = (rank(&a), rank(&b));
            prop_assert!(x > Rank::ABSENT && y > Rank::ABSENT);
            if x == y && x.is_exact() {
                prop_assert_eq!(&a, &b);
            }
            if x != y {
                prop_assert_eq!(x.cmp(&y), a.cmp(&b));
                prop_assert_eq!(x.key(true).cmp(&y.key(true)), b.cmp(&a));
            }
            for rank in [x, y] {
                for is_descending in [false, true] {
                    prop_assert!(rank.key(is_descending) != 0 && rank.key(is_descending) != u64::MAX);
                    prop_assert_eq!(Rank::of_key(rank.key(is_descending), is_descending), rank);
                }
            }
        }
    }

    #[test]
    fn a_copy_keeps_what_it_was() {
        let mut column = Column::new(Arc::from(&b"a/"[..]));
        let rank = |value: &str| Column::rank_of(b"a/", Some(value.as_bytes()));
        assert_eq!((rank("b/1"), Column::rank_of(b"a/", None)), (None, Some(Rank::ABSENT)));
        let (one, two) = (rank("a/1").unwrap(), rank("a/2").unwrap());
        column.set(EntryId(3), one);
        column.set(EntryId(10_000), two);
        let copy = column.clone();
        column.set(EntryId(3), two);
        column.set(EntryId(90_000), Rank::ABSENT);
        let ranks = |column: &Column| [3, 4, 10_000, 90_000].map(|id| column.rank(EntryId(id)));
        assert_eq!(ranks(&copy), [one, Rank::ABSENT, two, Rank::ABSENT]);
        assert_eq!(ranks(&column), [two, Rank::ABSENT, two, Rank::ABSENT]);
        assert_eq!((copy.size(), Column::size_for(10_001)), (3 * 4096 * 8, 3 * 4096 * 8));
    }
}
