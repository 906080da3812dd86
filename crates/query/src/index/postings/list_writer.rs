//! Changing posting lists: one call per term with all that a batch changes of it, in the order of the keys.
//!
//! A short list is one value, read and written once. In a long one only the blocks are touched in which ids come or go; an
//! id above all others goes to the last block, which the head names. A block that grows too large is split: in full ones and
//! a rest if all that came is behind its end, as it is when documents are new; else in equal ones. An empty block goes; one
//! that got small is joined with a neighbour, and a list that is left with one small block becomes short again.

use super::list::{self, Content, Head};
use super::runs::{self, Change, Encoder, Run, Runs};
use crate::index::dictionary::key::{self, ListKind, PostingKey};
use crate::index::dictionary::term::FieldNumber;
use crate::index::error::{Result, corrupt};
use crate::index::limits::{BLOCK_SIZE_AFTER_JOIN_MAX, BLOCK_SIZE_JOINED, BLOCK_SIZE_MAX};
use storage::{Tree, WriteTransaction};

/// Changes lists; keeps its buffers from one to the next.
pub(crate) struct ListWriter {
    tree: Tree,
    /// The key of the head, then sometimes of a block.
    key: Vec<u8>,
    head_size: usize,
    value: Vec<u8>,
    runs: Vec<Run>,
    /// The last list was a new one. Terms of a field are alike: where most are new, asking first whether there is a list
    /// would be a second way down the tree for each.
    expects_new: bool,
}

/// A block of a list, as far as it is known without reading it: ids from `first` to below `end`.
struct BlockRange {
    first: u64,
    end: Option<u64>,
}

impl ListWriter {
    pub fn new(tree: Tree) -> ListWriter {
        ListWriter { tree, key: Vec::new(), head_size: 0, value: Vec::new(), runs: Vec::new(), expects_new: true }
    }

    /// Makes changes to the list of a term. They rise by entry, at least one, none twice.
    ///
    /// # Errors
    ///
    /// [`crate::index::Error::Corrupt`] if the list is damaged, or the changes do not fit to it; those of the storage.
    pub fn change(
        &mut self,
        tx: &mut WriteTransaction<'_>,
        (field, kind, term): (FieldNumber, ListKind, &[u8]),
        changes: &[Change],
    ) -> Result<()> {
        self.key.clear();
        key::put_head(&mut self.key, field, kind, term);
        self.head_size = self.key.len();
        let removed = changes.iter().filter(|change| change.is_removal).count() as u64;
        let added = changes.len() as u64 - removed;
        if self.expects_new && removed == 0 && self.insert_new(tx, changes)? {
            return Ok(());
        }
        let found = self.tree.get(tx, &self.key)?.map(Head::of).transpose()?;
        self.expects_new = found.is_none();
        let count = (found.as_ref().map_or(0, |head| head.count) + added)
            .checked_sub(removed)
            .ok_or_else(|| corrupt("the head of a posting list has the count of its ids"))?;
        let old = match found.map(|head| head.content) {
            None => Runs::new(&[], 0),
            Some(Content::Long { last_block }) => {
                return self.change_blocks(tx, count, last_block, changes, removed > 0);
            }
            Some(Content::Short(runs)) => runs,
        };
        if removed == 0 && append_short(old.clone(), count, changes, &mut self.value)? {
            return Ok(self.tree.put(tx, &self.key, &self.value)?);
        }
        self.runs.clear();
        runs::merge(old, changes, &mut self.runs)?;
        self.put_all(tx, count, true)
    }

    /// Writes a list that has nothing but additions, if it is short and there is none yet.
    fn insert_new(&mut self, tx: &mut WriteTransaction<'_>, additions: &[Change]) -> Result<bool> {
        let is_short = append_short(Runs::new(&[], 0), additions.len() as u64, additions, &mut self.value)?;
        self.expects_new = is_short && self.tree.insert(tx, &self.key, &self.value)?;
        Ok(self.expects_new)
    }

    /// Puts the value of a short list with all runs into the buffer, and gives the size of the runs in it.
    fn encode_short(&mut self, count: u64) -> usize {
        self.value.clear();
        Head::put_short(&mut self.value, count);
        let start = self.value.len();
        let mut encoder = Encoder::new(&mut self.value, 0);
        self.runs.iter().for_each(|run| encoder.push(*run));
        self.value.len() - start
    }

    /// Writes the head and all runs of a list that has no blocks.
    fn put_all(&mut self, tx: &mut WriteTransaction<'_>, count: u64, rises: bool) -> Result<()> {
        if self.runs.is_empty() {
            self.tree.delete(tx, &self.key)?;
            return Ok(());
        }
        if self.encode_short(count) > BLOCK_SIZE_MAX {
            let last_block = self.put_blocks(tx, rises)?;
            self.value.clear();
            Head::put_long(&mut self.value, count, last_block);
        }
        self.key.truncate(self.head_size);
        Ok(self.tree.put(tx, &self.key, &self.value)?)
    }

    /// Writes the runs as blocks and gives the first id of the last. `fills`: each is as full as it can be, but the last.
    fn put_blocks(&mut self, tx: &mut WriteTransaction<'_>, fills: bool) -> Result<u64> {
        let runs = std::mem::take(&mut self.runs);
        let base = runs.first().map_or(0, |run| run.first.saturating_sub(1));
        let size = runs::size(&runs, base);
        let size_max = match fills {
            true => BLOCK_SIZE_MAX,
            false => (size / size.div_ceil(BLOCK_SIZE_MAX).max(1) + 16).min(BLOCK_SIZE_MAX),
        };
        let mut last_block = 0;
        let mut rest = &runs[..];
        while let Some(first) = rest.first() {
            self.value.clear();
            let mut encoder = Encoder::new(&mut self.value, first.first.saturating_sub(1));
            let mut size = 0;
            let fitting = rest.iter().take_while(|run| {
                size += encoder.size(**run);
                let fits = size <= size_max;
                if fits {
                    encoder.push(**run);
                }
                fits
            });
            let count = fitting.count();
            last_block = first.first;
            self.set_block_key(last_block);
            self.tree.put(tx, &self.key, &self.value)?;
            rest = rest.get(count..).unwrap_or_default();
        }
        self.runs = runs;
        Ok(last_block)
    }

    fn set_block_key(&mut self, first: u64) {
        self.key.truncate(self.head_size);
        key::put_block(&mut self.key, first);
    }

    fn change_blocks(
        &mut self,
        tx: &mut WriteTransaction<'_>,
        count: u64,
        mut last_block: u64,
        mut changes: &[Change],
        shrinks: bool,
    ) -> Result<()> {
        while let Some(change) = changes.first() {
            let block = match change.entry >= last_block {
                true => BlockRange { first: last_block, end: None },
                false => self.block_of(tx, change.entry)?,
            };
            let here = block.end.map_or(changes.len(), |end| changes.partition_point(|change| change.entry < end));
            let (of_block, rest) = changes.split_at_checked(here.max(1)).unwrap_or((changes, &[]));
            changes = rest;
            if let Some(new_last) = self.change_block(tx, &block, of_block)? {
                last_block = new_last;
            }
        }
        self.key.truncate(self.head_size);
        if (count == 0) != (last_block == 0) {
            return Err(corrupt("a list has blocks if it has ids"));
        }
        if count == 0 {
            self.tree.delete(tx, &self.key)?;
            return Ok(());
        }
        if shrinks && self.becomes_short(tx, last_block)? {
            self.set_block_key(last_block);
            self.tree.delete(tx, &self.key)?;
            self.key.truncate(self.head_size);
            return self.put_all(tx, count, true);
        }
        self.value.clear();
        Head::put_long(&mut self.value, count, last_block);
        self.key.truncate(self.head_size);
        Ok(self.tree.put(tx, &self.key, &self.value)?)
    }

    /// The block of an id that is below the last block: the one it is in or would be in.
    fn block_of(&mut self, tx: &WriteTransaction<'_>, entry: u64) -> Result<BlockRange> {
        self.set_block_key(entry.saturating_add(1));
        let missing = || corrupt("a long posting list has the block that its head names");
        let head = self.key.get(..self.head_size).ok_or_else(missing)?;
        let mut cursor = self.tree.cursor(tx);
        let (found, _) = cursor.seek_below(&self.key)?.ok_or_else(missing)?;
        let found = PostingKey::of(found)?;
        let first = match (found.head == head, found.block) {
            (true, Some(first)) => first,
            // It is below the first block.
            (true, None) => of_list(head, cursor.next()?.map(|(key, _)| key))?.ok_or_else(missing)?,
            (false, _) => return Err(missing()),
        };
        let end = of_list(head, cursor.next()?.map(|(key, _)| key))?;
        Ok(BlockRange { first, end })
    }

    /// The first id of the block before or after the one that begins with `first`.
    fn neighbour(&mut self, tx: &WriteTransaction<'_>, first: u64, before: bool) -> Result<Option<u64>> {
        self.set_block_key(if before { first } else { first.saturating_add(1) });
        let head = self.key.get(..self.head_size).unwrap_or_default();
        let mut cursor = self.tree.cursor(tx);
        let found = if before { cursor.seek_below(&self.key)? } else { cursor.seek(&self.key)? };
        of_list(head, found.map(|(key, _)| key))
    }

    /// Adds what a block has to the runs.
    fn read_block(&mut self, tx: &WriteTransaction<'_>, first: u64, changes: &[Change]) -> Result<()> {
        self.set_block_key(first);
        let missing = || corrupt("a long posting list has the block that its head names");
        let value = self.tree.get(tx, &self.key)?.ok_or_else(missing)?;
        runs::merge(list::block(first, value)?, changes, &mut self.runs)
    }

    /// Adds ids behind the end of the last block, if that is all and there is room.
    fn append_to_block(&mut self, tx: &mut WriteTransaction<'_>, first: u64, changes: &[Change]) -> Result<bool> {
        self.set_block_key(first);
        let missing = || corrupt("a long posting list has the block that its head names");
        let value = self.tree.get(tx, &self.key)?.ok_or_else(missing)?;
        self.value.clear();
        let fits =
            runs::append(list::block(first, value)?, changes, &mut self.value)? && self.value.len() <= BLOCK_SIZE_MAX;
        if fits {
            self.tree.put(tx, &self.key, &self.value)?;
        }
        Ok(fits)
    }

    /// Makes changes to one block. Gives the first id of the last block, 0 if none is left, where that may have changed.
    fn change_block(
        &mut self,
        tx: &mut WriteTransaction<'_>,
        block: &BlockRange,
        changes: &[Change],
    ) -> Result<Option<u64>> {
        if block.end.is_none() && self.append_to_block(tx, block.first, changes)? {
            return Ok(Some(block.first));
        }
        self.runs.clear();
        self.read_block(tx, block.first, changes)?;
        let Some(first) = self.runs.first().map(|run| run.first) else {
            self.tree.delete(tx, &self.key)?;
            return match block.end {
                Some(_) => Ok(None),
                None => Ok(Some(self.neighbour(tx, block.first, true)?.unwrap_or(0))),
            };
        };
        if first != block.first {
            self.tree.delete(tx, &self.key)?;
        }
        let size = runs::size(&self.runs, first.saturating_sub(1));
        let shrinks = changes.iter().any(|change| change.is_removal);
        if shrinks && size < BLOCK_SIZE_JOINED {
            return self.join(tx, first, block.end, size);
        }
        let rises = block.end.is_none() && !shrinks;
        let last = self.put_blocks(tx, rises)?;
        Ok(block.end.is_none().then_some(last))
    }

    /// Writes a small block together with a neighbour, if both are small enough. The runs are those of the block; the tree
    /// may have it or not.
    fn join(
        &mut self,
        tx: &mut WriteTransaction<'_>,
        first: u64,
        end: Option<u64>,
        size: usize,
    ) -> Result<Option<u64>> {
        let with = match end {
            Some(next) => Some(next),
            None => self.neighbour(tx, first, true)?,
        };
        let fits = |found: usize| found + size <= BLOCK_SIZE_AFTER_JOIN_MAX;
        let mut is_last = end.is_none();
        if let Some(with) = with {
            self.set_block_key(with);
            if self.tree.get(tx, &self.key)?.is_some_and(|value| fits(value.len())) {
                let own = std::mem::take(&mut self.runs);
                if with < first {
                    self.read_block(tx, with, &[])?;
                    own.iter().for_each(|run| runs::push(&mut self.runs, *run));
                } else {
                    self.runs = own;
                    self.read_block(tx, with, &[])?;
                    is_last = self.neighbour(tx, with, false)?.is_none();
                }
                let gone = first.max(with);
                self.set_block_key(gone);
                self.tree.delete(tx, &self.key)?;
            }
        }
        let last = self.put_blocks(tx, false)?;
        Ok(is_last.then_some(last))
    }

    /// Whether a long list has one block left, and that a small one; then the runs are its ids.
    fn becomes_short(&mut self, tx: &WriteTransaction<'_>, last_block: u64) -> Result<bool> {
        self.set_block_key(last_block);
        let value = self.tree.get(tx, &self.key)?;
        if value.is_none_or(|value| value.len() > BLOCK_SIZE_AFTER_JOIN_MAX)
            || self.neighbour(tx, last_block, true)?.is_some()
        {
            return Ok(false);
        }
        self.runs.clear();
        self.read_block(tx, last_block, &[])?;
        Ok(true)
    }
}

/// Makes the value of a short list of `count` ids that has additions behind its end. False: they are not all behind it, or the list is
/// short no more.
fn append_short(old: Runs<'_>, count: u64, additions: &[Change], value: &mut Vec<u8>) -> Result<bool> {
    value.clear();
    Head::put_short(value, count);
    let head_size = value.len();
    Ok(runs::append(old, additions, value)? && value.len() - head_size <= BLOCK_SIZE_MAX)
}

/// The first id of a block, if the key is that of a block of the list with this head.
fn of_list(head: &[u8], key: Option<&[u8]>) -> Result<Option<u64>> {
    match key.and_then(|key| key.strip_prefix(head)) {
        None | Some([]) => Ok(None),
        Some(rest) => key::block_of(rest).map(Some),
    }
}

#[cfg(test)]
#[path = "list_writer_tests.rs"]
mod tests;
