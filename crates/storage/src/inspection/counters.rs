//! Counters of the cost of searches in tree pages, for benchmarks. They count with the feature `counters`; without it the
//! functions are empty.
//!
//! The numbers are those of the whole process, of all threads.

/// The longest key that has a number of its own in the histogram; longer ones count as this long.
pub const SIZE_MAX: usize = 512;

/// Numbers since the counters were last reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Searches of a page: one on each level of a tree.
    pub searches: u64,
    /// Steps of these searches: each compares the first bytes of a key.
    pub compares: u64,
    /// Compares of keys byte by byte, because the first bytes did not tell, and those of whole keys elsewhere.
    pub full_compares: u64,
    /// Entries that were put into a page.
    pub inserts: u64,
    /// How often a key of this many bytes was looked for in a page.
    pub key_sizes: Vec<u64>,
}

#[cfg(feature = "counters")]
mod counted {
    use super::{Counters, SIZE_MAX};
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    static SEARCHES: [AtomicU64; SIZE_MAX + 1] = [const { AtomicU64::new(0) }; SIZE_MAX + 1];
    static COMPARES: AtomicU64 = AtomicU64::new(0);
    static FULL_COMPARES: AtomicU64 = AtomicU64::new(0);
    static INSERTS: AtomicU64 = AtomicU64::new(0);

    pub(crate) fn note_search(key: &[u8]) {
        SEARCHES[key.len().min(SIZE_MAX)].fetch_add(1, Relaxed);
    }
    pub(crate) fn note_compare() {
        COMPARES.fetch_add(1, Relaxed);
    }
    pub(crate) fn note_full_compare() {
        FULL_COMPARES.fetch_add(1, Relaxed);
    }
    pub(crate) fn note_insert() {
        INSERTS.fetch_add(1, Relaxed);
    }

    /// The numbers now.
    pub fn read() -> Counters {
        let key_sizes: Vec<u64> = SEARCHES.iter().map(|count| count.load(Relaxed)).collect();
        Counters {
            searches: key_sizes.iter().sum(),
            compares: COMPARES.load(Relaxed),
            full_compares: FULL_COMPARES.load(Relaxed),
            inserts: INSERTS.load(Relaxed),
            key_sizes,
        }
    }

    /// Begins anew.
    pub fn reset() {
        let counts = [&COMPARES, &FULL_COMPARES, &INSERTS];
        SEARCHES.iter().chain(counts).for_each(|count| count.store(0, Relaxed));
    }
}
#[cfg(feature = "counters")]
pub(crate) use counted::{note_compare, note_full_compare, note_insert, note_search};
#[cfg(feature = "counters")]
pub use counted::{read, reset};

#[cfg(not(feature = "counters"))]
mod uncounted {
    #[inline(always)]
    pub(crate) fn note_search(_: &[u8]) {}
    #[inline(always)]
    pub(crate) fn note_compare() {}
    #[inline(always)]
    pub(crate) fn note_full_compare() {}
    #[inline(always)]
    pub(crate) fn note_insert() {}
}
#[cfg(not(feature = "counters"))]
pub(crate) use uncounted::{note_compare, note_full_compare, note_insert, note_search};

/// How a tree compares keys, for a benchmark of that alone.
#[doc(hidden)]
#[inline]
pub fn compare_keys(a: &[u8], b: &[u8]) -> std::cmp::Ordering {
    crate::tree::node::compare(a, b)
}
