//! Compaction: an index written anew into an empty environment, densely.
//!
//! All structures of the environment are copied as they are, whatever they hold, but for records: these have new places, and the trees that
//! lead to them get those.

use super::error::{Result, corrupt};
use super::graph::vectors::PLACED as VECTORS;
use super::groups::group::{PLACED as GROUPS, location_of};
use super::schema::PLACED as ENTRIES;
use super::store::Index;
use parking_lot::MutexGuard;
use storage::{Environment, FixedTree, Location, ReadTransaction, Records, Structure, Tree, WriteTransaction};

/// Trees whose values are the places of records, and these.
const PLACED: [(&[u8], &[u8]); 3] = [ENTRIES, GROUPS, VECTORS];

/// Entries that one transaction copies at most.
const ENTRIES_AT_ONCE: usize = 2_000;
/// Bytes that one transaction copies at most, but for its last entry.
const BYTES_AT_ONCE: usize = 8 << 20;

/// While this lives nothing is written to an index; who wants to waits.
#[must_use]
pub struct HeldIndex<'i>(#[expect(dead_code, reason = "it is held")] MutexGuard<'i, ()>);

impl<'i> HeldIndex<'i> {
    pub(super) fn new(writing: MutexGuard<'i, ()>) -> HeldIndex<'i> {
        HeldIndex(writing)
    }
}

impl Index {
    /// Copies all that the last batch left into `target`, which must be empty. Gives false if it was cut short: the copy is useless then.
    ///
    /// * `goes_on`: is given how many entries of trees were copied so far; false cuts the copy short.
    ///
    /// # Errors
    ///
    /// Storage fails on either side; the index has records that no tree leads to.
    pub fn copy_into(&self, target: &Environment, goes_on: impl FnMut(u64) -> bool) -> Result<bool> {
        let source = self.environment().read();
        let structures = Structure::all(&source)?;
        let records = |name: &[u8]| -> Result<(Records, Records)> {
            let from = Records::open(&source, name)?.ok_or_else(|| corrupt("a tree of places has its records"))?;
            Ok((from, target.write(|tx| Records::open_or_create(tx, name))?))
        };
        let mut copy = Copy { source: &source, target, copied: 0, goes_on };
        for (name, structure) in structures {
            let name = name.as_slice();
            let placed = PLACED.iter().find(|(tree, _)| *tree == name);
            let placed = placed.map(|(_, name)| records(name)).transpose()?;
            let is_whole = match structure {
                Structure::Tree(from) => {
                    let to = target.write(|tx| Tree::open_or_create(tx, name))?;
                    copy.tree(from, to, placed)?
                }
                Structure::FixedTree(from) => {
                    let to = target.write(|tx| FixedTree::open_or_create(tx, name))?;
                    copy.fixed_tree(from, to, placed)?
                }
                Structure::Records(_) if PLACED.iter().any(|(_, records)| *records == name) => true,
                Structure::Records(_) | Structure::Contents(_) => {
                    return Err(corrupt("all records of an index are found by a tree"));
                }
            };
            if !is_whole {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Keeps what writes to the index waiting, for as long as the result lives.
    pub fn hold(&self) -> HeldIndex<'_> {
        HeldIndex::new(self.writing())
    }
}

struct Copy<'c, G> {
    source: &'c ReadTransaction<'c>,
    target: &'c Environment,
    /// Entries so far.
    copied: u64,
    goes_on: G,
}

impl<G: FnMut(u64) -> bool> Copy<'_, G> {
    fn tree(&mut self, from: Tree, to: Tree, placed: Option<(Records, Records)>) -> Result<bool> {
        let mut cursor = from.cursor(self.source);
        loop {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while batch.len() < ENTRIES_AT_ONCE && bytes < BYTES_AT_ONCE {
                let Some((key, value)) = cursor.next()? else { break };
                let record = match placed {
                    None => None,
                    Some((records, _)) => Some(records.get(self.source, location_of(value)?)?),
                };
                bytes += key.len() + record.unwrap_or(value).len();
                batch.push((key.to_vec(), value, record));
            }
            if batch.is_empty() {
                return Ok(true);
            }
            let put = |tx: &mut WriteTransaction<'_>| {
                batch.iter().try_for_each(|(key, value, record)| match (record, placed) {
                    (Some(record), Some((_, records))) => {
                        let place = records.insert(tx, &[record])?;
                        to.put(tx, key, &place.0.to_le_bytes())
                    }
                    _ => to.put(tx, key, value),
                })
            };
            self.target.write(put)?;
            if !self.goes_on_after(batch.len()) {
                return Ok(false);
            }
        }
    }

    fn fixed_tree(&mut self, from: FixedTree, to: FixedTree, placed: Option<(Records, Records)>) -> Result<bool> {
        let mut cursor = from.cursor(self.source);
        loop {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while batch.len() < ENTRIES_AT_ONCE && bytes < BYTES_AT_ONCE {
                let Some((key, value)) = cursor.next()? else { break };
                let record = match placed {
                    None => None,
                    Some((records, _)) => Some(records.get(self.source, Location(value))?),
                };
                bytes += record.map_or(0, <[u8]>::len);
                batch.push((key, value, record));
            }
            if batch.is_empty() {
                return Ok(true);
            }
            let put = |tx: &mut WriteTransaction<'_>| {
                batch.iter().try_for_each(|(key, value, record)| match (record, placed) {
                    (Some(record), Some((_, records))) => {
                        let place = records.insert(tx, &[record])?;
                        to.put(tx, *key, place.0)
                    }
                    _ => to.put(tx, *key, *value),
                })
            };
            self.target.write(put)?;
            if !self.goes_on_after(batch.len()) {
                return Ok(false);
            }
        }
    }

    fn goes_on_after(&mut self, count: usize) -> bool {
        self.copied += count as u64;
        (self.goes_on)(self.copied)
    }
}
