//! The entries with one term: a posting list as it is read.

use super::key;
use crate::index::entry::EntryId;
use crate::index::error::{Result, corrupt};
use crate::index::postings::entry_ids::EntryIds;
use crate::index::postings::entry_set::EntrySet;
use crate::index::postings::list::{self, Content, Head};
use crate::index::postings::runs::{Run, Runs};
use storage::{Cursor, ReadTransaction, Tree};

/// The ids of a posting list, rising.
pub struct TermEntries<'s> {
    count: u64,
    /// What is left of the run before the other runs.
    run: Option<Run>,
    runs: Runs<'s>,
    /// Of a long list, until its last block is read.
    blocks: Option<Box<Blocks<'s>>>,
    /// The last id of the last run that was read: the next must be above.
    reached: u64,
    /// Above all ids of entries.
    end: u64,
}

/// Where in a long list we are.
struct Blocks<'s> {
    cursor: Cursor<'s, ReadTransaction<'s>>,
    /// The key of the head, then of a block that is searched for.
    key: Vec<u8>,
    head_size: usize,
    /// The first id of the block at the cursor; 0: it was not moved yet.
    first: u64,
    /// The first id of the last block.
    last_block: u64,
}

impl<'s> Blocks<'s> {
    /// Goes to the next block.
    fn next(&mut self) -> Result<Option<Runs<'s>>> {
        let head = self.key.get(..self.head_size).unwrap_or_default();
        if self.first == 0 {
            self.cursor.seek(head)?;
        }
        let found = self.cursor.next()?;
        let block = match found.and_then(|(key, value)| Some((key.strip_prefix(head)?, value))) {
            Some((rest, value)) if !rest.is_empty() => Some((key::block_of(rest)?, value)),
            _ => None,
        };
        match block {
            Some((first, value)) if self.first < first && first <= self.last_block => {
                self.first = first;
                list::block(first, value).map(Some)
            }
            None if self.first == self.last_block => Ok(None),
            _ => Err(corrupt("the blocks of a posting list rise to the one that its head names")),
        }
    }

    /// Goes to the block that an id is in, if it is in any, and that is not the current one.
    fn seek(&mut self, id: u64) -> Result<Option<Runs<'s>>> {
        self.key.truncate(self.head_size);
        key::put_block(&mut self.key, id.saturating_add(1));
        let head = self.key.get(..self.head_size).unwrap_or_default();
        let found = self.cursor.seek_below(&self.key)?;
        let found = found.and_then(|(key, value)| Some((key.strip_prefix(head)?, value)));
        let (rest, value) = found.ok_or_else(|| corrupt("a block has the head of its list before it"))?;
        if rest.is_empty() {
            // It is below the first block.
            self.first = 0;
            return self.next();
        }
        let first = key::block_of(rest)?;
        if first == self.first {
            return self.next();
        }
        self.first = first;
        list::block(first, value).map(Some)
    }
}

impl<'s> TermEntries<'s> {
    pub(crate) fn empty() -> TermEntries<'s> {
        TermEntries { count: 0, run: None, runs: Runs::new(&[], 0), blocks: None, reached: 0, end: 0 }
    }

    /// Reads the list with this head, found under this key. All ids are below `end`.
    pub(crate) fn of(tx: &'s ReadTransaction<'s>, tree: Tree, end: u64, key: &[u8], head: Head<'s>) -> TermEntries<'s> {
        let entries = TermEntries { count: head.count, end, ..TermEntries::empty() };
        match head.content {
            Content::Short(runs) => TermEntries { runs, ..entries },
            Content::Long { last_block } => {
                let (key, head_size) = (key.to_vec(), key.len());
                let blocks = Blocks { cursor: tree.cursor(tx), key, head_size, first: 0, last_block };
                TermEntries { blocks: Some(Box::new(blocks)), ..entries }
            }
        }
    }

    /// How many entries have the term.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The next run of the current block.
    fn run_of_block(&mut self) -> Result<Option<Run>> {
        if let Some(run) = self.run.take() {
            return Ok(Some(run));
        }
        let run = self.runs.next().transpose()?;
        if let Some(run) = run {
            if run.first <= self.reached || run.last >= self.end {
                return Err(corrupt("the ids of a posting list rise, and were given to entries"));
            }
            self.reached = run.last;
        }
        Ok(run)
    }

    pub(crate) fn next_run(&mut self) -> Result<Option<Run>> {
        loop {
            if let Some(run) = self.run_of_block()? {
                return Ok(Some(run));
            }
            let Some(blocks) = &mut self.blocks else { return Ok(None) };
            match blocks.next()? {
                Some(runs) => self.runs = runs,
                None => self.blocks = None,
            }
        }
    }

    /// Gives the first id of a run, and keeps the rest.
    fn give(&mut self, run: Run) -> EntryId {
        self.run = (run.first < run.last).then(|| Run { first: run.first + 1, last: run.last });
        EntryId(run.first)
    }
}

impl EntryIds for TermEntries<'_> {
    fn next(&mut self) -> Result<Option<EntryId>> {
        Ok(self.next_run()?.map(|run| self.give(run)))
    }

    fn seek(&mut self, at_least: EntryId) -> Result<Option<EntryId>> {
        loop {
            while let Some(run) = self.run_of_block()? {
                if run.last >= at_least.0 {
                    return Ok(Some(self.give(Run { first: run.first.max(at_least.0), last: run.last })));
                }
            }
            let Some(blocks) = &mut self.blocks else { return Ok(None) };
            match blocks.seek(at_least.0)? {
                Some(runs) => self.runs = runs,
                None => self.blocks = None,
            }
        }
    }

    fn count_max(&self) -> u64 {
        self.count
    }

    fn add_to(&mut self, set: &mut EntrySet) -> Result<()> {
        while let Some(run) = self.next_run()? {
            set.insert_run(run);
        }
        Ok(())
    }
}
