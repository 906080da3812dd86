//! A position in a tree that moves in key order, both ways.

use super::node::{self, Payload};
use super::{Tree, value};
use crate::error::Result;
use crate::ids::PageNumber;
use crate::limits::TREE_DEPTH_MAX;
use crate::page;
use crate::pager::Page;
use crate::transaction::Reader;

/// A key and its value. The key lives until the cursor moves, the value as long as the transaction.
pub type Entry<'c, 't> = (&'c [u8], &'t [u8]);

/// A position in a tree: before the first key, at a key, or after the last.
pub struct Cursor<'t, R: Reader> {
    tree: Tree,
    reader: &'t R,
    /// From the root to a leaf; in branches the position of the child taken, in the leaf that of the entry.
    steps: [Option<(&'t Page, usize)>; TREE_DEPTH_MAX],
    depth: usize,
    /// The key at the position: the leaf's prefix, then the rest.
    key: Vec<u8>,
    prefix_length: usize,
}

impl<'t, R: Reader> Cursor<'t, R> {
    pub(crate) fn new(tree: Tree, reader: &'t R) -> Self {
        Cursor { tree, reader, steps: [None; TREE_DEPTH_MAX], depth: 0, key: Vec::new(), prefix_length: 0 }
    }

    /// Goes to the first key at or above `key`. `None`: there is none.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupt`] if a page on the way is damaged; as for all moves.
    pub fn seek(&mut self, key: &[u8]) -> Result<Option<Entry<'_, 't>>> {
        if self.move_to(key)? { self.entry() } else { Ok(None) }
    }

    /// As [`Self::seek`], without reading the value. False: there is none.
    pub(crate) fn move_to(&mut self, key: &[u8]) -> Result<bool> {
        self.descend(self.tree.root, |page| node::child_position(page, key))?;
        let Some((leaf, _)) = self.leaf() else { return Ok(false) };
        let (position, _) = node::search(leaf, key);
        self.set_leaf_position(position);
        if position < page::count(leaf) { Ok(true) } else { self.next_leaf() }
    }

    /// Goes to the first key.
    ///
    /// # Errors
    ///
    /// As [`Self::seek`].
    pub fn first(&mut self) -> Result<Option<Entry<'_, 't>>> {
        self.descend(self.tree.root, |_| 0)?;
        let is_there = self.leaf().is_some_and(|(leaf, _)| page::count(leaf) > 0);
        if is_there || self.next_leaf()? { self.entry() } else { Ok(None) }
    }

    /// Goes to the last key.
    ///
    /// # Errors
    ///
    /// As [`Self::seek`].
    pub fn last(&mut self) -> Result<Option<Entry<'_, 't>>> {
        self.descend(self.tree.root, page::count)?;
        if self.at_end_of_leaf()? { self.entry() } else { Ok(None) }
    }

    /// Goes to the last key below `key`. `None`: there is none.
    ///
    /// # Errors
    ///
    /// As [`Self::seek`].
    pub fn seek_below(&mut self, key: &[u8]) -> Result<Option<Entry<'_, 't>>> {
        if self.move_below(key)? { self.entry() } else { Ok(None) }
    }

    /// As [`Self::seek_below`], without reading the value. False: there is none.
    pub(crate) fn move_below(&mut self, key: &[u8]) -> Result<bool> {
        self.descend(self.tree.root, |page| node::child_position(page, key))?;
        let Some((leaf, _)) = self.leaf() else { return Ok(false) };
        let (position, _) = node::search(leaf, key);
        if position == 0 {
            return self.previous_leaf();
        }
        self.set_leaf_position(position - 1);
        Ok(true)
    }

    /// Goes to the next key; to the first, if the cursor has not moved yet.
    ///
    /// # Errors
    ///
    /// As [`Self::seek`].
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend its key")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<Entry<'_, 't>>> {
        let Some((leaf, position)) = self.leaf() else { return self.first() };
        if position + 1 < page::count(leaf) {
            self.steps[self.depth - 1] = Some((leaf, position + 1));
            self.key.truncate(self.prefix_length);
            self.key.extend_from_slice(node::rest(leaf, position + 1));
            return match node::payload(leaf, position + 1) {
                Payload::Inline(bytes) => Ok(Some((&self.key, bytes))),
                run => Ok(Some((&self.key, value(self.reader, run)?))),
            };
        }
        if self.next_leaf()? { self.entry() } else { Ok(None) }
    }

    /// As [`Self::next`], for a cursor at an entry and without reading the value. False: there is none.
    pub(crate) fn move_on(&mut self) -> Result<bool> {
        let Some((leaf, position)) = self.leaf() else { return Ok(false) };
        if position + 1 < page::count(leaf) {
            self.set_leaf_position(position + 1);
            return Ok(true);
        }
        self.next_leaf()
    }

    /// The key at the cursor, and where its value is. `None`: it is at no entry.
    pub(crate) fn place(&mut self) -> Option<(&[u8], Payload<'t>)> {
        let (leaf, position) = self.leaf().filter(|(leaf, position)| *position < page::count(leaf))?;
        self.key.truncate(self.prefix_length);
        self.key.extend_from_slice(node::rest(leaf, position));
        Some((&self.key, node::payload(leaf, position)))
    }

    /// Goes to the previous key; to the last, if the cursor has not moved yet.
    ///
    /// # Errors
    ///
    /// As [`Self::seek`].
    pub fn previous(&mut self) -> Result<Option<Entry<'_, 't>>> {
        let Some((_, position)) = self.leaf() else { return self.last() };
        if position > 0 {
            self.set_leaf_position(position - 1);
            return self.entry();
        }
        if self.previous_leaf()? { self.entry() } else { Ok(None) }
    }

    fn leaf(&self) -> Option<(&'t Page, usize)> {
        self.depth.checked_sub(1).and_then(|last| self.steps[last])
    }

    fn set_leaf_position(&mut self, position: usize) {
        if let Some((_, at)) = self.depth.checked_sub(1).and_then(|last| self.steps[last].as_mut()) {
            *at = position;
        }
    }

    /// Goes down from a page to a leaf, and takes its prefix.
    fn descend(&mut self, from: PageNumber, choose: impl Fn(&Page) -> usize) -> Result<()> {
        if from == self.tree.root {
            self.depth = 0;
        }
        let mut number = from;
        loop {
            let page = self.tree.node(self.reader, number)?;
            if self.depth == TREE_DEPTH_MAX {
                return Err(self.reader.corrupt(number, "the tree is deeper than it can be"));
            }
            let branch = page::level(page) > 0;
            let position = if branch { choose(page) } else { 0 };
            self.steps[self.depth] = Some((page, position));
            self.depth += 1;
            if !branch {
                self.key.clear();
                self.key.extend_from_slice(node::prefix(page));
                self.prefix_length = self.key.len();
                return Ok(());
            }
            number = node::child(page, position);
        }
    }

    fn entry(&mut self) -> Result<Option<Entry<'_, 't>>> {
        let Some((leaf, position)) = self.leaf() else { return Ok(None) };
        self.key.truncate(self.prefix_length);
        self.key.extend_from_slice(node::rest(leaf, position));
        Ok(Some((&self.key, value(self.reader, node::payload(leaf, position))?)))
    }

    #[cold]
    fn next_leaf(&mut self) -> Result<bool> {
        loop {
            let Some(last) = self.depth.checked_sub(1) else { return Ok(false) };
            if last == 0 {
                // At the end: stay behind the last entry.
                let count = self.steps[0].map_or(0, |(page, _)| page::count(page));
                if self.steps[0].is_some_and(|(page, _)| page::level(page) == 0) {
                    self.set_leaf_position(count);
                } else {
                    self.descend(self.tree.root, page::count)?;
                    let count = self.leaf().map_or(0, |(leaf, _)| page::count(leaf));
                    self.set_leaf_position(count);
                }
                return Ok(false);
            }
            self.depth = last;
            let Some((page, position)) = self.steps[last - 1] else { return Ok(false) };
            if position < page::count(page) {
                self.steps[last - 1] = Some((page, position + 1));
                self.descend(node::child(page, position + 1), |_| 0)?;
                if self.leaf().is_some_and(|(leaf, _)| page::count(leaf) > 0) {
                    return Ok(true);
                }
            }
        }
    }

    fn at_end_of_leaf(&mut self) -> Result<bool> {
        match self.leaf().map(|(leaf, _)| page::count(leaf)) {
            Some(count) if count > 0 => {
                self.set_leaf_position(count - 1);
                Ok(true)
            }
            _ => self.previous_leaf(),
        }
    }

    #[cold]
    fn previous_leaf(&mut self) -> Result<bool> {
        loop {
            let Some(last) = self.depth.checked_sub(1) else { return Ok(false) };
            if last == 0 {
                // At the start: the next move begins anew.
                self.depth = 0;
                return Ok(false);
            }
            self.depth = last;
            let Some((page, position)) = self.steps[last - 1] else { return Ok(false) };
            if position > 0 {
                self.steps[last - 1] = Some((page, position - 1));
                self.descend(node::child(page, position - 1), page::count)?;
                if let Some(count) = self.leaf().map(|(leaf, _)| page::count(leaf)).filter(|count| *count > 0) {
                    self.set_leaf_position(count - 1);
                    return Ok(true);
                }
            }
        }
    }
}
