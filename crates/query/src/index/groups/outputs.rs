//! Output documents of groups: the ids of the documents of each result, and the documents that are still to be written.
//!
//! A batch that changes what a group gives notes so here, in its own transaction. The runner of the index writes the owed documents
//! and then settles the debt. Such an index commits durably: no crash undoes a note that could be read, so a document is owed until it
//! is settled. The content of a document is read from the index when it is written, not from the note, so that writing it twice is
//! harmless (idempotent).
//!
//! ```text
//!  reduce/outputs     group 16                                        varint( results ) | for each varint( size ) | id that names it
//!  reduce/references  u16 BE( size ) | lower-cased id | group 16 | number u32 BE    nothing
//!  reduce/owed        0 | group 16                                    nothing
//!                     1 | lower-cased id                              the id
//!                     2                                               nothing: documents of before may be there
//! ```
//!
//! An id that names a result is empty where there is none.

use super::group::GroupKey;
use crate::index::error::{Result, corrupt};
use crate::varint;
use documents::id;
use std::ops::Range;
use storage::{Reader, Tree, WriteTransaction};

const OUTPUTS: &[u8] = b"reduce/outputs";
const REFERENCES: &[u8] = b"reduce/references";
const OWED: &[u8] = b"reduce/owed";

const GROUP: u8 = 0;
const REFERENCE: u8 = 1;
const SWEEP: &[u8] = &[2];

/// Something that has to be written as documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owed {
    /// The results of a group, or that it has none.
    Group(GroupKey),
    /// The document of this id, which names results, or that it names none.
    Reference(String),
}

impl Owed {
    fn key(&self) -> Vec<u8> {
        match self {
            Owed::Group(group) => [&[GROUP], group.0.as_slice()].concat(),
            Owed::Reference(id) => [&[REFERENCE], id::lower(id).as_slice()].concat(),
        }
    }
}

/// Handles of the structures; only indexes whose results become documents have them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outputs {
    outputs: Tree,
    references: Tree,
    owed: Tree,
}

impl Outputs {
    /// Finds the structures. `None`: there are none.
    pub fn find(reader: &impl Reader) -> Result<Option<Outputs>> {
        let Some(outputs) = Tree::open(reader, OUTPUTS)? else { return Ok(None) };
        let missing = || corrupt("all structures of outputs exist");
        Ok(Some(Outputs {
            outputs,
            references: Tree::open(reader, REFERENCES)?.ok_or_else(missing)?,
            owed: Tree::open(reader, OWED)?.ok_or_else(missing)?,
        }))
    }

    /// Makes them. An index that was built anew knows nothing of the documents that the one before wrote, so these are looked for.
    pub fn create(tx: &mut WriteTransaction<'_>) -> Result<Outputs> {
        let outputs = Outputs {
            outputs: Tree::open_or_create(tx, OUTPUTS)?,
            references: Tree::open_or_create(tx, REFERENCES)?,
            owed: Tree::open_or_create(tx, OWED)?,
        };
        outputs.owed.put(tx, SWEEP, b"")?;
        Ok(outputs)
    }

    /// How many results a group gives.
    pub fn count(&self, reader: &impl Reader, group: &GroupKey) -> Result<u64> {
        Ok(names(self.outputs.get(reader, &group.0)?.unwrap_or_default())?.len() as u64)
    }

    /// The results that a document names: groups, and which of their results.
    pub fn named(&self, reader: &impl Reader, id: &str) -> Result<Vec<(GroupKey, u32)>> {
        let prefix = reference_prefix(id);
        let mut named = Vec::new();
        let mut cursor = self.references.cursor(reader);
        let mut found = cursor.seek(&prefix)?;
        while let Some(rest) = found.and_then(|(key, _)| key.strip_prefix(prefix.as_slice())) {
            let parts = rest.split_first_chunk::<16>();
            let parts = parts.and_then(|(group, number)| Some((*group, <[u8; 4]>::try_from(number).ok()?)));
            let (group, number) = parts.ok_or_else(|| corrupt("a document names numbered results of groups"))?;
            named.push((GroupKey(group), u32::from_be_bytes(number)));
            found = cursor.next()?;
        }
        Ok(named)
    }

    /// What is owed, `count_max` at most: groups before what names their results.
    pub fn owed(&self, reader: &impl Reader, count_max: usize) -> Result<Vec<Owed>> {
        let broken = || corrupt("what is owed is a group or an id");
        let mut owed = Vec::new();
        let mut cursor = self.owed.cursor(reader);
        let mut found = cursor.seek(&[])?;
        while let Some((key, value)) = found.filter(|(key, _)| *key != SWEEP && owed.len() < count_max) {
            owed.push(match key.split_first() {
                Some((&GROUP, group)) => Owed::Group(GroupKey(group.try_into().map_err(|_| broken())?)),
                Some((&REFERENCE, _)) => Owed::Reference(String::from_utf8(value.to_vec()).map_err(|_| broken())?),
                _ => return Err(broken()),
            });
            found = cursor.next()?;
        }
        Ok(owed)
    }

    pub fn is_sweep_due(&self, reader: &impl Reader) -> Result<bool> {
        Ok(self.owed.get(reader, SWEEP)?.is_some())
    }

    pub fn swept(&self, tx: &mut WriteTransaction<'_>) -> Result<()> {
        self.owed.delete(tx, SWEEP)?;
        Ok(())
    }

    pub fn owe(&self, tx: &mut WriteTransaction<'_>, owed: &Owed) -> Result<()> {
        let id = match owed {
            Owed::Group(_) => "",
            Owed::Reference(id) => id,
        };
        Ok(self.owed.put(tx, &owed.key(), id.as_bytes())?)
    }

    pub fn settle(&self, tx: &mut WriteTransaction<'_>, owed: &Owed) -> Result<()> {
        self.owed.delete(tx, &owed.key())?;
        Ok(())
    }

    /// Applies changes, and notes what they make owed.
    pub fn write(&self, tx: &mut WriteTransaction<'_>, changes: &OutputChanges) -> Result<()> {
        for (group, range) in &changes.items {
            let after = changes.bytes.get(range.clone()).unwrap_or_default();
            self.owe(tx, &Owed::Group(*group))?;
            let before = self.outputs.get(tx, &group.0)?.unwrap_or_default().to_vec();
            if before == after {
                continue;
            }
            let (old, new) = (names(&before)?, names(after)?);
            // The only result of a group has no number in its id.
            let are_called_otherwise = (old.len() == 1) != (new.len() == 1);
            for number in 0..old.len().max(new.len()) {
                let name = |names: &[&str]| names.get(number).copied().unwrap_or_default().to_owned();
                let (old, new) = (name(&old), name(&new));
                if old == new && !are_called_otherwise {
                    continue;
                }
                let key =
                    |id: &str| [&reference_prefix(id), group.0.as_slice(), &(number as u32).to_be_bytes()].concat();
                if !old.is_empty() {
                    self.references.delete(tx, &key(&old))?;
                    self.owe(tx, &Owed::Reference(old))?;
                }
                if !new.is_empty() {
                    self.references.put(tx, &key(&new), b"")?;
                    self.owe(tx, &Owed::Reference(new))?;
                }
            }
            if new.is_empty() {
                self.outputs.delete(tx, &group.0)?;
            } else {
                self.outputs.put(tx, &group.0, after)?;
            }
        }
        Ok(())
    }
}

fn reference_prefix(id: &str) -> Vec<u8> {
    let lower = id::lower(id);
    // Ids are bounded far below what two bytes can say.
    [&(lower.len() as u16).to_be_bytes(), lower.as_slice()].concat()
}

/// The ids that name the results of a group.
fn names(mut bytes: &[u8]) -> Result<Vec<&str>> {
    let broken = || corrupt("a group's results are named by ids");
    let mut names = Vec::new();
    while !bytes.is_empty() {
        let size = varint::take(&mut bytes).ok_or_else(broken)?;
        let name = varint::take_bytes(&mut bytes, size).ok_or_else(broken)?;
        names.push(std::str::from_utf8(name).map_err(|_| broken())?);
    }
    Ok(names)
}

/// What groups of a batch give now. Each comes once.
#[derive(Debug, Default)]
pub struct OutputChanges {
    bytes: Vec<u8>,
    items: Vec<(GroupKey, Range<usize>)>,
}

impl OutputChanges {
    /// Forgets everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.items.clear();
    }

    /// A group gives other results now.
    ///
    /// * `names`: for each result the id of the document that is to name it; empty: none is.
    pub fn set<'n>(&mut self, group: GroupKey, names: impl Iterator<Item = &'n str>) {
        let start = self.bytes.len();
        for name in names {
            varint::put(&mut self.bytes, name.len() as u64);
            self.bytes.extend_from_slice(name.as_bytes());
        }
        self.items.push((group, start..self.bytes.len()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Batch, Index};
    use storage::Options;

    fn write(index: &Index, changes: &[(&str, &[&str])]) {
        let mut batch = Batch::new();
        for (group, names) in changes {
            batch.outputs.set(GroupKey::of(group.as_bytes()), names.iter().copied());
        }
        index.write(&batch).unwrap();
    }

    /// What is owed, which is settled by that; groups by the number of their results.
    fn settle(index: &Index) -> Vec<String> {
        let snapshot = index.read().unwrap();
        let owed = snapshot.owed(100).unwrap();
        let told = owed.iter().map(|owed| match owed {
            Owed::Group(group) => format!("{}", snapshot.output_count(group).unwrap()),
            Owed::Reference(id) => {
                let named = snapshot.outputs_named(id).unwrap();
                let numbers: Vec<String> = named.iter().map(|(_, number)| number.to_string()).collect();
                format!("{id}: {}", numbers.join(" "))
            }
        });
        let told = told.collect();
        index.settle(&owed, &crate::index::Notes::default()).unwrap();
        told
    }

    #[test]
    fn what_changes_is_owed_until_it_is_settled() {
        let index = Index::in_memory(Options::default()).unwrap().with_outputs().unwrap();
        assert!(index.read().unwrap().is_sweep_due().unwrap());
        index.swept().unwrap();
        assert!(!index.read().unwrap().is_sweep_due().unwrap());
        write(&index, &[("a", &["X/1"]), ("b", &["x/1"]), ("c", &[""])]);
        let mut owed = settle(&index);
        owed.sort_unstable();
        assert_eq!(owed, ["1", "1", "1", "x/1: 0 0"], "ids are the same in any case");
        assert_eq!(settle(&index), [""; 0]);
        write(&index, &[("a", &["X/1"])]);
        assert_eq!(settle(&index), ["1"], "who names it did not change");
        write(&index, &[("a", &["x/1", "x/2"])]);
        assert_eq!(settle(&index), ["2", "x/1: 0 0", "x/2: 1"], "its first result is called otherwise");
        write(&index, &[("a", &["x/1", "x/3"])]);
        assert_eq!(settle(&index), ["2", "x/2: ", "x/3: 1"]);
        write(&index, &[("a", &[]), ("b", &[])]);
        assert_eq!(settle(&index), ["0", "0", "x/1: ", "x/3: "]);
        index.owe(&[Owed::Reference("y".to_owned())]).unwrap();
        assert_eq!(settle(&index), ["y: "]);
    }
}
