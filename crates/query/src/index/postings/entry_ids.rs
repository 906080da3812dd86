//! Rising ids of entries, one at a time or as a set.
//!
//! Everything that finds entries is an [`EntryIds`]: operators over them touch only what they need. Where most of an input is
//! looked at anyway, as for a range of many terms, a set is quicker: [`EntrySet`].

use super::entry_set::EntrySet;
use super::runs::Run;
use crate::index::entry::EntryId;
use crate::index::error::Result;
use storage::{FixedCursor, ReadTransaction};

/// Ids of entries, each above the one before.
pub trait EntryIds {
    /// The next id. `None`: there is none, and never will be.
    ///
    /// # Errors
    ///
    /// [`crate::index::Error::Corrupt`], or those of the storage; what is read after that means nothing.
    fn next(&mut self) -> Result<Option<EntryId>>;

    /// The next id, of those after the last one given, that is at or above `at_least`.
    ///
    /// # Errors
    ///
    /// As [`Self::next`].
    fn seek(&mut self, at_least: EntryId) -> Result<Option<EntryId>>;

    /// An upper bound of the number of ids that are left, without reading them.
    fn count_max(&self) -> u64;

    /// Adds all that are left to a set.
    ///
    /// # Errors
    ///
    /// As [`Self::next`].
    fn add_to(&mut self, set: &mut EntrySet) -> Result<()> {
        while let Some(id) = self.next()? {
            set.insert(id);
        }
        Ok(())
    }
}

impl<T: EntryIds + ?Sized> EntryIds for Box<T> {
    fn next(&mut self) -> Result<Option<EntryId>> {
        (**self).next()
    }
    fn seek(&mut self, at_least: EntryId) -> Result<Option<EntryId>> {
        (**self).seek(at_least)
    }
    fn count_max(&self) -> u64 {
        (**self).count_max()
    }
    fn add_to(&mut self, set: &mut EntrySet) -> Result<()> {
        (**self).add_to(set)
    }
}

/// All entries of an index.
pub struct AllEntries<'s> {
    pub(crate) cursor: FixedCursor<'s, ReadTransaction<'s>>,
    /// An upper bound: what was passed over is not counted.
    pub(crate) left: u64,
    /// Above all that was given.
    pub(crate) next: u64,
    /// Above all that there are.
    pub(crate) end: u64,
}

impl AllEntries<'_> {
    fn give(&mut self, found: Option<(u64, u64)>) -> Option<EntryId> {
        self.left = self.left.saturating_sub(1);
        self.next = found.map_or(u64::MAX, |(id, _)| id.saturating_add(1));
        found.map(|(id, _)| EntryId(id))
    }
}

impl EntryIds for AllEntries<'_> {
    fn next(&mut self) -> Result<Option<EntryId>> {
        if self.next == u64::MAX {
            return Ok(None);
        }
        let found = self.cursor.next()?;
        Ok(self.give(found))
    }
    fn seek(&mut self, at_least: EntryId) -> Result<Option<EntryId>> {
        if self.next == u64::MAX {
            return Ok(None);
        }
        let found = self.cursor.seek(at_least.0.max(self.next))?;
        Ok(self.give(found))
    }
    fn count_max(&self) -> u64 {
        self.left
    }

    fn add_to(&mut self, set: &mut EntrySet) -> Result<()> {
        // Where none ever went, they are all that were given ids.
        if self.next == 0 && self.left + 1 == self.end {
            set.insert_run(Run { first: 1, last: self.left });
            (self.left, self.next) = (0, u64::MAX);
        }
        let mut run: Option<Run> = None;
        while let Some(EntryId(id)) = self.next()? {
            run = Some(match run {
                Some(run) if run.last + 1 == id => Run { last: id, ..run },
                passed => {
                    passed.into_iter().for_each(|passed| set.insert_run(passed));
                    Run { first: id, last: id }
                }
            });
        }
        run.into_iter().for_each(|run| set.insert_run(run));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Batch, Entry, Index};
    use storage::Options;

    /// As one by one, whether some went or none did, and whatever was given before.
    #[test]
    fn all_entries_are_added_at_once() {
        let index = Index::in_memory(Options::default()).unwrap();
        let write = |numbers: &[u64], entries: &mut [Entry]| {
            let mut batch = Batch::new();
            numbers.iter().for_each(|number| batch.put(&format!("docs/{number}"), 1, entries).unwrap());
            index.write(&batch).unwrap();
        };
        let numbers: Vec<u64> = (1..=5000).collect();
        for gone in [&[][..], &[7], &[1, 64, 65, 66, 5000], &numbers[10..4990], &numbers] {
            write(&numbers, &mut [Entry::new()]);
            write(gone, &mut []);
            let snapshot = index.read().unwrap();
            let mut expected: Vec<EntryId> = Vec::new();
            let mut all = snapshot.all();
            while let Some(id) = all.next().unwrap() {
                expected.push(id);
            }
            assert_eq!(expected.len() as u64, snapshot.entry_count());
            for passed in [0, 1, 3] {
                let (mut all, mut set) = (snapshot.all(), EntrySet::new());
                (0..passed).for_each(|_| _ = all.next().unwrap());
                all.add_to(&mut set).unwrap();
                assert_eq!(set, expected.iter().skip(passed).copied().collect());
                assert_eq!(all.next().unwrap(), None);
            }
        }
    }
}
