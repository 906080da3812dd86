//! Terms of a field in order, with how many entries have each: for the terms endpoint, facets, suggestions.

use super::key;
use super::term::{Kind, StoredTerm};
use crate::index::error::Result;
use crate::index::postings::entry_set::EntrySet;
use crate::index::postings::list_cursor::ListCursor;
use crate::index::postings::range::TermRange;
use crate::index::snapshot::IndexSnapshot;
use crate::index::sorting::sort::Direction;

/// Terms of a range, in order.
pub struct Terms<'s> {
    list_cursor: ListCursor<'s>,
    kind: Kind,
    bytes: Vec<u8>,
}

impl Terms<'_> {
    /// The next term and the count of its entries.
    ///
    /// # Errors
    ///
    /// [`crate::index::Error::Corrupt`]; those of the storage.
    #[expect(
        clippy::should_implement_trait,
        reason = "as the cursors of the storage: an error does not end a loop unseen"
    )]
    pub fn next(&mut self) -> Result<Option<(StoredTerm, u64)>> {
        let Some((head_key, head)) = self.list_cursor.next()? else { return Ok(None) };
        key::term_into(&mut self.bytes, head_key)?;
        Ok(Some((StoredTerm::decode(self.kind, &self.bytes)?, head.count)))
    }
}

impl IndexSnapshot<'_> {
    /// Calls `each` with the terms of a range, in order, that entries of a set have, and how many of them.
    ///
    /// * `set`: `None` for all entries, which needs no list to be read.
    ///
    /// # Errors
    ///
    /// As [`Terms::next`]; that of `each`.
    pub fn terms_within<E: From<crate::index::Error>>(
        &self,
        range: &TermRange,
        set: Option<&EntrySet>,
        mut each: impl FnMut(StoredTerm, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut list_cursor = self.list_cursor(range.clone(), Direction::Ascending);
        let mut bytes = Vec::new();
        while let Some((key, head)) = list_cursor.next()? {
            let count = match set {
                None => head.count,
                Some(set) => {
                    let mut entries = self.entries_of_list(key, head);
                    let mut count = 0;
                    while let Some(run) = entries.next_run()? {
                        count += set.count_run(run);
                    }
                    count
                }
            };
            if count > 0 {
                key::term_into(&mut bytes, key)?;
                each(StoredTerm::decode(range.kind, &bytes)?, count)?;
            }
        }
        Ok(())
    }

    /// The terms of a range.
    pub fn terms(&self, range: &TermRange, direction: Direction) -> Terms<'_> {
        Terms { kind: range.kind, list_cursor: self.list_cursor(range.clone(), direction), bytes: Vec::new() }
    }
}
