//! Terms of a field in order, with how many entries have each: for the terms endpoint, facets, suggestions.

use super::error::Result;
use super::heads::Heads;
use super::key;
use super::range::TermRange;
use super::snapshot::IndexSnapshot;
use super::sort::Direction;
use super::term::{Kind, StoredTerm};

/// Terms of a range, in order.
pub struct Terms<'s> {
    heads: Heads<'s>,
    kind: Kind,
    bytes: Vec<u8>,
}

impl Terms<'_> {
    /// The next term and the count of its entries.
    ///
    /// # Errors
    ///
    /// [`super::Error::Corrupt`]; those of the storage.
    #[expect(
        clippy::should_implement_trait,
        reason = "as the cursors of the storage: an error does not end a loop unseen"
    )]
    pub fn next(&mut self) -> Result<Option<(StoredTerm, u64)>> {
        let Some((head_key, head)) = self.heads.next()? else { return Ok(None) };
        key::term_into(&mut self.bytes, head_key)?;
        Ok(Some((StoredTerm::decode(self.kind, &self.bytes)?, head.count)))
    }
}

impl IndexSnapshot<'_> {
    /// The terms of a range.
    pub fn terms(&self, range: &TermRange, direction: Direction) -> Terms<'_> {
        Terms { kind: range.kind, heads: self.heads(range.clone(), direction), bytes: Vec::new() }
    }
}
