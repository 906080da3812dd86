//! Groups of mapped values, kept so that a reduce repeats as little as possible.
//!
//! A group's values are numbered as they come, and lie in nodes of up to [`NODE_ITEMS_MAX`]: leaves (level 0) have mapped values, a node
//! above has what its children were reduced to. A value that changes is reduced again with its neighbours, and so on up to the
//! root; the other nodes stay as they are. What the root gives is an entry of the index, whose document is the group's name.
//!
//! ```text
//!  reduce/groups    group 16                              varint: numbers that were given so far
//!  reduce/nodes     group 16 | level u8 | number u64 BE   location of the node
//!  reduce/records                                         nodes: items, rising by number
//!  reduce/mapped    lower-cased document id               places of its values: group 16 | varint( number ), several
//!  item:            number in the node u8 | varint( length ) | bytes
//! ```
//!
//! A group is named by 128 bits of a hash of its key. Items above the leaves come several times if a child gave several results;
//! [`NO_RESULT`] stands for a child that gave none, an item without bytes for one that could not be reduced.

use crate::index::error::{Result, corrupt};
use crate::index::limits::GROUP_BYTES_KEPT;
use crate::index::snapshot::IndexSnapshot;
use crate::varint;
use documents::id;
use std::ops::Range;
use storage::{Location, Reader, Records, Tree, WriteTransaction};

/// How many children a node has at most, and values a leaf. A change repeats the reduce over so many items a level.
pub const NODE_ITEMS_MAX: u64 = 1 << NODE_ITEMS_BITS;
/// [`NODE_ITEMS_MAX`] as a power of two.
pub const NODE_ITEMS_BITS: u32 = 6;

/// The bytes of an item for a child that gave no result.
pub const NO_RESULT: &[u8] = b"-";

const GROUPS: &[u8] = b"reduce/groups";
const NODES: &[u8] = b"reduce/nodes";
const RECORDS: &[u8] = b"reduce/records";
const MAPPED: &[u8] = b"reduce/mapped";

/// The tree that leads to records, and these.
pub const PLACED: (&[u8], &[u8]) = (NODES, RECORDS);

/// The name of a group: a hash of what its key is, so that equal keys are one group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GroupKey(pub [u8; 16]);

/// A node of a group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeKey {
    /// The group.
    pub group: GroupKey,
    /// 0: a leaf.
    pub level: u8,
    /// Its number on its level.
    pub number: u64,
}

/// Where a mapped value is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Member {
    /// Its group.
    pub group: GroupKey,
    /// Its number in the group.
    pub number: u64,
}

impl GroupKey {
    /// The group of a key.
    ///
    /// * `identity`: bytes that are equal for equal keys only.
    pub fn of(identity: &[u8]) -> GroupKey {
        GroupKey(xxhash_rust::xxh3::xxh3_128(identity).to_be_bytes())
    }

    /// The name by which the index knows the results of the group: 32 hexadecimal digits.
    pub fn name(&self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.0))
    }
}

impl NodeKey {
    fn bytes(&self) -> [u8; 25] {
        let mut bytes = [0; 25];
        bytes[..16].copy_from_slice(&self.group.0);
        bytes[16] = self.level;
        bytes[17..].copy_from_slice(&self.number.to_be_bytes());
        bytes
    }
}

/// Handles of the structures; only indexes with a reduce have them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Groups {
    groups: Tree,
    nodes: Tree,
    records: Records,
    mapped: Tree,
}

impl Groups {
    /// Finds the structures. `None`: there are none.
    pub fn find(reader: &impl Reader) -> Result<Option<Groups>> {
        let Some(groups) = Tree::open(reader, GROUPS)? else { return Ok(None) };
        let missing = || corrupt("all structures of a reduce exist");
        Ok(Some(Groups {
            groups,
            nodes: Tree::open(reader, NODES)?.ok_or_else(missing)?,
            records: Records::open(reader, RECORDS)?.ok_or_else(missing)?,
            mapped: Tree::open(reader, MAPPED)?.ok_or_else(missing)?,
        }))
    }

    pub fn open_or_create(tx: &mut WriteTransaction<'_>) -> Result<Groups> {
        Ok(Groups {
            groups: Tree::open_or_create(tx, GROUPS)?,
            nodes: Tree::open_or_create(tx, NODES)?,
            records: Records::open_or_create(tx, RECORDS)?,
            mapped: Tree::open_or_create(tx, MAPPED)?,
        })
    }

    /// How many numbers a group gave so far; 0: there is no such group.
    pub fn given(&self, reader: &impl Reader, group: &GroupKey) -> Result<u64> {
        match self.groups.get(reader, &group.0)? {
            None => Ok(0),
            Some(mut value) => {
                varint::take(&mut value).ok_or_else(|| corrupt("a group knows how many numbers it gave"))
            }
        }
    }

    /// The items of a node; empty: there is none.
    pub fn node<'t>(&self, reader: &'t impl Reader, key: &NodeKey) -> Result<&'t [u8]> {
        match self.location(reader, key)? {
            Some(location) => Ok(self.records.get(reader, location)?),
            None => Ok(&[]),
        }
    }

    /// The leaves that a group has, rising by number, and their items.
    pub fn leaves<'t>(&self, reader: &'t impl Reader, group: GroupKey) -> Result<Vec<(u64, &'t [u8])>> {
        let first = NodeKey { group, level: 0, number: 0 }.bytes();
        let (prefix, _) = first.split_at(first.len() - size_of::<u64>());
        let mut leaves = Vec::new();
        let mut cursor = self.nodes.cursor(reader);
        let mut found = cursor.seek(&first)?;
        while let Some((key, value)) = found {
            let Some(number) = key.strip_prefix(prefix) else { break };
            let number = number.try_into().map(u64::from_be_bytes);
            let number = number.map_err(|_| corrupt("a node has a number of eight bytes"))?;
            leaves.push((number, self.records.get(reader, location_of(value)?)?));
            found = cursor.next()?;
        }
        Ok(leaves)
    }

    fn location(&self, reader: &impl Reader, key: &NodeKey) -> Result<Option<Location>> {
        self.nodes.get(reader, &key.bytes())?.map(location_of).transpose()
    }

    /// Where the values of a document are.
    ///
    /// * `document`: the lower-cased id.
    pub fn mapped(&self, reader: &impl Reader, document: &[u8], members: &mut Vec<Member>) -> Result<()> {
        let mut value = self.mapped.get(reader, document)?.unwrap_or_default();
        while !value.is_empty() {
            let broken = || corrupt("the values of a document have places");
            let (group, rest) = value.split_first_chunk::<16>().ok_or_else(broken)?;
            value = rest;
            let number = varint::take(&mut value).ok_or_else(broken)?;
            members.push(Member { group: GroupKey(*group), number });
        }
        Ok(())
    }

    /// Calls `each` with the documents that have values, by their lower-cased ids, until it gives false.
    ///
    /// * `prefix`: only those that begin so; lower-cased.
    pub fn mapped_documents(
        &self,
        reader: &impl Reader,
        prefix: &[u8],
        mut each: impl FnMut(&[u8]) -> bool,
    ) -> Result<()> {
        let mut cursor = self.mapped.cursor(reader);
        let mut found = cursor.seek(prefix)?;
        while let Some((document, _)) = found.filter(|(document, _)| document.starts_with(prefix)) {
            if !each(document) {
                break;
            }
            found = cursor.next()?;
        }
        Ok(())
    }

    /// Applies changes, each kind in the order of its keys.
    pub fn write(&self, tx: &mut WriteTransaction<'_>, changes: &GroupChanges) -> Result<()> {
        let mut value = Vec::new();
        for (group, given) in &changes.given {
            if *given == 0 {
                self.groups.delete(tx, &group.0)?;
            } else {
                value.clear();
                varint::put(&mut value, *given);
                self.groups.put(tx, &group.0, &value)?;
            }
        }
        for (key, node) in &changes.nodes {
            let node = changes.bytes_of(node);
            match (self.location(tx, key)?, node.is_empty()) {
                (None, true) => {}
                (None, false) => {
                    let location = self.records.insert(tx, &[node])?;
                    self.nodes.put(tx, &key.bytes(), &location.0.to_le_bytes())?;
                }
                (Some(location), true) => {
                    self.records.delete(tx, location)?;
                    self.nodes.delete(tx, &key.bytes())?;
                }
                (Some(before), false) => {
                    let location = self.records.update(tx, before, &[node])?;
                    if location != before {
                        self.nodes.put(tx, &key.bytes(), &location.0.to_le_bytes())?;
                    }
                }
            }
        }
        for (document, members) in &changes.mapped {
            let (document, members) = (changes.bytes_of(document), changes.bytes_of(members));
            if members.is_empty() {
                self.mapped.delete(tx, document)?;
            } else {
                self.mapped.put(tx, document, members)?;
            }
        }
        Ok(())
    }
}

/// The place of a node, as the tree of nodes has it.
pub fn location_of(value: &[u8]) -> Result<Location> {
    let location = value.try_into().map(u64::from_le_bytes);
    Ok(Location(location.map_err(|_| corrupt("a node has a location of eight bytes"))?))
}

impl IndexSnapshot<'_> {
    /// Calls `each` with the documents that have mapped values, by their lower-cased ids, until it gives false.
    ///
    /// * `prefix`: only those whose id begins so, whatever the case.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn mapped_documents(&self, prefix: &str, each: impl FnMut(&[u8]) -> bool) -> Result<()> {
        match &self.schema().groups {
            Some(groups) => groups.mapped_documents(self.tx(), &id::lower(prefix), each),
            None => Ok(()),
        }
    }
}

/// What a batch changes of groups. Each thing comes once, and in the order of its key.
#[derive(Debug, Default)]
pub struct GroupChanges {
    bytes: Vec<u8>,
    given: Vec<(GroupKey, u64)>,
    nodes: Vec<(NodeKey, Range<usize>)>,
    mapped: Vec<(Range<usize>, Range<usize>)>,
}

impl GroupChanges {
    /// Forgets everything, and keeps the memory, unless it is much.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(GROUP_BYTES_KEPT);
        self.given.clear();
        self.nodes.clear();
        self.mapped.clear();
    }

    /// Sets the count of numbers that a group has given out; 0: the group is deleted.
    pub fn set_given(&mut self, group: GroupKey, given: u64) {
        self.given.push((group, given));
    }

    /// A node has these items now; without any it is gone.
    pub fn set_node(&mut self, key: NodeKey, items: &[u8]) {
        let range = self.append(items);
        self.nodes.push((key, range));
    }

    /// The values of a document are at these places now.
    ///
    /// * `document`: the lower-cased id.
    pub fn set_mapped(&mut self, document: &[u8], members: impl Iterator<Item = Member>) {
        let document = self.append(document);
        let start = self.bytes.len();
        for member in members {
            self.bytes.extend_from_slice(&member.group.0);
            varint::put(&mut self.bytes, member.number);
        }
        self.mapped.push((document, start..self.bytes.len()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.given.is_empty() && self.nodes.is_empty() && self.mapped.is_empty()
    }

    /// Bytes of nodes and places.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    fn append(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }

    fn bytes_of(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }
}

/// An item of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item<'n> {
    /// Its number in the node.
    pub number: u8,
    /// The text of a JSON object; [`NO_RESULT`]; empty: it could not be reduced.
    pub bytes: &'n [u8],
}

/// Appends an item to the bytes of a node. Items rise by number.
pub fn put_item(node: &mut Vec<u8>, item: Item<'_>) {
    node.push(item.number);
    varint::put(node, item.bytes.len() as u64);
    node.extend_from_slice(item.bytes);
}

/// The items of a node.
///
/// # Errors
///
/// [`crate::index::Error::Corrupt`].
pub fn items(mut node: &[u8]) -> Result<Vec<Item<'_>>> {
    let broken = || corrupt("a node has items that rise by number");
    let mut items: Vec<Item<'_>> = Vec::new();
    while let Some((number, rest)) = node.split_first() {
        node = rest;
        let length = varint::take(&mut node).ok_or_else(broken)?;
        let bytes = varint::take_bytes(&mut node, length).ok_or_else(broken)?;
        let is_rising = items.last().is_none_or(|last| last.number <= *number);
        if !is_rising || u64::from(*number) >= NODE_ITEMS_MAX {
            return Err(broken());
        }
        items.push(Item { number: *number, bytes });
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn items_come_back() {
        let mut node = Vec::new();
        let given = [(0, &b"{}"[..]), (0, b"{\"A\":1}"), (7, b""), (63, b"{}")];
        let given = given.map(|(number, bytes)| Item { number, bytes });
        given.iter().for_each(|item| put_item(&mut node, *item));
        assert_eq!(items(&node).unwrap(), given);
        assert!(items(&[1, 0, 0, 0]).is_err() && items(&[64, 0]).is_err() && items(&[0, 2, 1]).is_err());
    }

    #[test]
    fn names_of_groups_have_32_digits() {
        assert_eq!(GroupKey([0; 16]).name(), "0".repeat(32));
        assert_ne!(GroupKey::of(b"a"), GroupKey::of(b"b"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_items_or_an_error(bytes in prop::collection::vec(prop_oneof![0u8..6, any::<u8>()], 0..40)) {
            if let Ok(items) = items(&bytes) {
                let mut node = Vec::new();
                items.iter().for_each(|item| put_item(&mut node, *item));
                prop_assert!(node.len() <= bytes.len());
            }
        }
    }
}
