//! Rising ids of entries, one at a time or as a set.
//!
//! Everything that finds entries is an [`EntryIds`]: operators over them touch only what they need. Where most of an input is
//! looked at anyway, as for a range of many terms, a set is quicker: [`EntrySet`], compressed bitmaps.

use super::entry::EntryId;
use super::error::Result;
use super::runs::Run;
use roaring::{RoaringTreemap, treemap};
use storage::{FixedCursor, ReadTransaction};

/// Ids of entries, each above the one before.
pub trait EntryIds {
    /// The next id. `None`: there is none, and never will be.
    ///
    /// # Errors
    ///
    /// [`super::Error::Corrupt`], or those of the storage; what is read after that means nothing.
    fn next(&mut self) -> Result<Option<EntryId>>;

    /// The next id, of those after the last one given, that is at or above `at_least`.
    ///
    /// # Errors
    ///
    /// As [`Self::next`].
    fn seek(&mut self, at_least: EntryId) -> Result<Option<EntryId>>;

    /// No more than so many are left, as far as can be told without looking at them.
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

/// A set of entries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntrySet(RoaringTreemap);

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

    /// Adds an entry. False: it was there.
    #[inline]
    pub fn insert(&mut self, id: EntryId) -> bool {
        self.0.insert(id.0)
    }

    /// Adds entries whose ids follow each other.
    #[inline]
    pub(crate) fn insert_run(&mut self, run: Run) {
        match run.first == run.last {
            true => self.0.insert(run.first),
            false => self.0.insert_range(run.first..=run.last) > 0,
        };
    }

    /// Removes an entry. False: it was not there.
    #[inline]
    pub fn remove(&mut self, id: EntryId) -> bool {
        self.0.remove(id.0)
    }

    /// Whether an entry is in it.
    pub fn contains(&self, id: EntryId) -> bool {
        self.0.contains(id.0)
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds those of another set.
    pub fn unite(&mut self, other: &EntrySet) {
        self.0 |= &other.0;
    }

    /// Keeps those that are in another set too.
    pub fn intersect(&mut self, other: &EntrySet) {
        self.0 &= &other.0;
    }

    /// Removes those of another set.
    pub fn subtract(&mut self, other: &EntrySet) {
        self.0 -= &other.0;
    }

    /// Their ids, rising.
    pub fn entries(&self) -> SetEntries<'_> {
        SetEntries { ids: self.0.iter(), left: self.0.len() }
    }
}

impl FromIterator<EntryId> for EntrySet {
    fn from_iter<I: IntoIterator<Item = EntryId>>(ids: I) -> EntrySet {
        EntrySet(ids.into_iter().map(|id| id.0).collect())
    }
}

/// The ids of a set.
pub struct SetEntries<'e> {
    ids: treemap::Iter<'e>,
    /// An upper bound: what was passed over is not counted.
    left: u64,
}

impl EntryIds for SetEntries<'_> {
    fn next(&mut self) -> Result<Option<EntryId>> {
        self.left = self.left.saturating_sub(1);
        Ok(self.ids.next().map(EntryId))
    }
    fn seek(&mut self, at_least: EntryId) -> Result<Option<EntryId>> {
        self.ids.advance_to(at_least.0);
        self.next()
    }
    fn count_max(&self) -> u64 {
        self.left
    }
}

/// All entries of an index.
pub struct AllEntries<'s> {
    pub(crate) cursor: FixedCursor<'s, ReadTransaction<'s>>,
    /// An upper bound, as for [`SetEntries`].
    pub(crate) left: u64,
    /// Above all that was given.
    pub(crate) next: u64,
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
}
