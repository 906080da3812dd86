//! A cursor over the term dictionary: the heads of posting lists in key order, in either direction. It skips the blocks of long lists.

use super::list::{Content, Head};
use super::range::TermRange;
use crate::index::dictionary::key::{self, PostingKey};
use crate::index::error::{Result, corrupt};
use crate::index::sorting::sort::Direction;
use storage::{Cursor, ReadTransaction, Tree};

/// A cursor over the posting lists in a range of keys.
pub(crate) struct ListCursor<'s> {
    cursor: Cursor<'s, ReadTransaction<'s>>,
    range: TermRange,
    direction: Direction,
    /// The key to seek next; `None`: the neighbour of the last one.
    jump: Option<Vec<u8>>,
    /// The key of the last head, on the way down.
    key: Vec<u8>,
}

impl<'s> ListCursor<'s> {
    pub fn new(tx: &'s ReadTransaction<'s>, tree: Tree, range: TermRange, direction: Direction) -> ListCursor<'s> {
        let start = match direction {
            Direction::Ascending => range.start.clone(),
            Direction::Descending => range.end.clone(),
        };
        ListCursor { cursor: tree.cursor(tx), range, direction, jump: Some(start), key: Vec::new() }
    }

    /// The next list: the key of its head, and the head.
    pub fn next(&mut self) -> Result<Option<(&[u8], Head<'s>)>> {
        match self.direction {
            Direction::Ascending => self.next_ascending(),
            Direction::Descending => self.next_descending(),
        }
    }

    fn next_ascending(&mut self) -> Result<Option<(&[u8], Head<'s>)>> {
        let found = match self.jump.take() {
            Some(jump) => self.cursor.seek(&jump)?,
            None => self.cursor.next()?,
        };
        let Some((key, value)) = found.filter(|(key, _)| *key < &self.range.end[..]) else {
            self.jump = Some(self.range.end.clone());
            return Ok(None);
        };
        if PostingKey::of(key)?.block.is_some() {
            return Err(corrupt("a block has the head of its list before it"));
        }
        let head = Head::of(value)?;
        if let Content::Long { .. } = head.content {
            let mut after = key.to_vec();
            key::put_after_blocks(&mut after);
            self.jump = Some(after);
        }
        Ok(Some((key, head)))
    }

    fn next_descending(&mut self) -> Result<Option<(&[u8], Head<'s>)>> {
        let found = match self.jump.take() {
            Some(jump) => self.cursor.seek_below(&jump)?,
            None => self.cursor.previous()?,
        };
        let Some((key, value)) = found.filter(|(key, _)| *key >= &self.range.start[..]) else {
            self.jump = Some(self.range.start.clone());
            return Ok(None);
        };
        let found = PostingKey::of(key)?;
        self.key.clear();
        self.key.extend_from_slice(found.head);
        let value = match found.block {
            None => Some(value),
            Some(_) => self.cursor.seek(&self.key)?.filter(|(key, _)| *key == self.key).map(|(_, value)| value),
        };
        let value = value.ok_or_else(|| corrupt("a block has the head of its list before it"))?;
        Ok(Some((&self.key, Head::of(value)?)))
    }
}
