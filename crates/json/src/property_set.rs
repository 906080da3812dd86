//! Finds a property that occurs twice in one object, without an allocation per property.
//!
//! Each open object has a run of entries at the end of one vector. Few properties are compared with each other when
//! they come; from [`SCAN_COUNT_MAX`] on an object is sorted once when it closes, so that no input makes it quadratic.

use crate::limits::KEPT_BUFFER_SIZE_MAX;

/// Entries compared one by one; beyond, sorting is cheaper.
const SCAN_COUNT_MAX: usize = 32;

/// One property: a 64-bit fingerprint of its name, and where the name is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PropertyEntry {
    pub(crate) fingerprint: u64,
    /// Where the stored name begins in the output.
    pub(crate) start: u32,
    pub(crate) size: u32,
    /// Where the name begins in the input, for errors.
    pub(crate) place: u32,
}

#[derive(Default, Debug)]
pub(crate) struct PropertySet {
    entries: Vec<PropertyEntry>,
}

impl PropertySet {
    pub(crate) fn clear(&mut self) {
        if self.entries.capacity() > KEPT_BUFFER_SIZE_MAX / size_of::<PropertyEntry>() {
            self.entries = Vec::new();
        }
        self.entries.clear();
    }

    /// To be given to [`close`](Self::close) when the object ends.
    pub(crate) fn open(&self) -> usize {
        self.entries.len()
    }

    /// Adds a name to the object opened at `from`; gives those entries that could be the same name.
    #[inline]
    pub(crate) fn add(&mut self, from: usize, entry: PropertyEntry) -> Option<&[PropertyEntry]> {
        let object = self.entries.get(from..).unwrap_or_default();
        let suspect =
            object.len() < SCAN_COUNT_MAX && object.iter().any(|other| other.fingerprint == entry.fingerprint);
        self.entries.push(entry);
        if suspect { self.entries.get(from..) } else { None }
    }

    /// Ends the object opened at `from`. `same` compares two names that have one fingerprint.
    pub(crate) fn close(&mut self, from: usize, name: impl Fn(&PropertyEntry) -> Vec<u8>) -> Option<PropertyEntry> {
        let object = self.entries.get_mut(from..).unwrap_or_default();
        let mut twice = None;
        if object.len() > SCAN_COUNT_MAX {
            object.sort_unstable_by_key(|entry| (entry.fingerprint, entry.place));
            for run in object.chunk_by(|left, right| left.fingerprint == right.fingerprint).filter(|run| run.len() > 1)
            {
                let mut names: Vec<(Vec<u8>, u32)> = run.iter().map(|entry| (name(entry), entry.place)).collect();
                names.sort();
                let place = names.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1).min();
                if let Some(entry) = run.iter().find(|entry| Some(entry.place) == place) {
                    twice = Some(*entry);
                    break;
                }
            }
        }
        self.entries.truncate(from);
        twice
    }
}

/// 64 bits of a name: equal names have equal ones, others rarely.
#[inline]
pub(crate) fn fingerprint(name: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut value = name.len() as u64;
    let mut rest = name;
    while let Some((chunk, more)) = rest.split_first_chunk::<8>() {
        value = (value ^ u64::from_le_bytes(*chunk)).wrapping_mul(FACTOR).rotate_left(29);
        rest = more;
    }
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        value = (value ^ u64::from_le_bytes(last)).wrapping_mul(FACTOR).rotate_left(29);
    }
    value
}
