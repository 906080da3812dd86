//! Collections: a number, the name as it was first spelled, and for each kind of items counts and two trees by etag.
//!
//! ```text
//!  0       1      2       10     18                 26                34
//!  +-------+------+-------+------+------------------+-----------------+-- .. --+------+
//!  | kinds | kind | items | size | tombstone count  | tombstone size  | others | name |
//!  +-------+------+-------+------+------------------+-----------------+-- .. --+------+
//! ```
//!
//! `kinds` is how many kinds follow with a byte and four 64-bit little-endian integers each; a kind without items and tombstones is left
//! out. Counts and sizes change by addition with each write, so a write costs the same whatever the size of the collection. A collection
//! that became empty keeps its row. Kinds come in their order. The trees are made with their first item or tombstone
//! ([`kinds`](super::kinds) has their names).

use storage::{FixedTree, Reader, WriteTransaction};

use super::kinds::{ItemKind, PerKind};
use super::schema::Schema;
use crate::ids::id;
use crate::{Error, Result};

/// The number of the collection of items that have none: without a name, and without a row until its first item.
pub(crate) const NO_COLLECTION: u32 = 0;

const COUNTS_SIZE: usize = 4 * size_of::<u64>();

/// One collection, as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct Collection {
    pub number: u32,
    pub name: String,
    pub counts: PerKind<ItemCounts>,
}

/// How many items of one kind there are, and tombstones of such.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ItemCounts {
    /// Items.
    pub count: u64,
    /// Bytes of their records.
    pub size: u64,
    /// Tombstones.
    pub tombstone_count: u64,
    /// Bytes of their records.
    pub tombstone_size: u64,
}

/// Statistics of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionStatistics {
    /// The name as it was first spelled.
    pub name: String,
    /// Items and tombstones of each kind.
    pub counts: PerKind<ItemCounts>,
}

impl CollectionStatistics {
    /// Its documents, and their tombstones.
    pub fn documents(&self) -> ItemCounts {
        self.counts[ItemKind::Document]
    }

    /// Items and tombstones of all kinds.
    pub fn total(&self) -> ItemCounts {
        self.counts.total()
    }
}

impl ItemCounts {
    fn fields(&self) -> [u64; 4] {
        [self.count, self.size, self.tombstone_count, self.tombstone_size]
    }

    fn of(fields: [u64; 4]) -> ItemCounts {
        let [count, size, tombstone_count, tombstone_size] = fields;
        ItemCounts { count, size, tombstone_count, tombstone_size }
    }

    /// Adds another, up to the largest number.
    pub(crate) fn add(&mut self, other: &ItemCounts) {
        let (left, right) = (self.fields(), other.fields());
        *self = ItemCounts::of(std::array::from_fn(|at| left[at].saturating_add(right[at])));
    }

    pub(crate) fn add_item(&mut self, size: usize) {
        self.count = self.count.saturating_add(1);
        self.size = self.size.saturating_add(size as u64);
    }

    pub(crate) fn remove_item(&mut self, size: usize) {
        self.count = self.count.saturating_sub(1);
        self.size = self.size.saturating_sub(size as u64);
    }

    pub(crate) fn add_tombstone(&mut self, size: usize) {
        self.tombstone_count = self.tombstone_count.saturating_add(1);
        self.tombstone_size = self.tombstone_size.saturating_add(size as u64);
    }

    pub(crate) fn remove_tombstone(&mut self, size: usize) {
        self.tombstone_count = self.tombstone_count.saturating_sub(1);
        self.tombstone_size = self.tombstone_size.saturating_sub(size as u64);
    }
}

impl PerKind<ItemCounts> {
    /// Of all kinds together.
    pub fn total(&self) -> ItemCounts {
        let mut total = ItemCounts::default();
        self.iter().for_each(|(_, counts)| total.add(counts));
        total
    }
}

/// A tree of etags, which may only be missing if nothing is in it.
fn find(reader: &impl Reader, name: &[u8], count: u64) -> Result<Option<FixedTree>> {
    match FixedTree::open(reader, name)? {
        None if count > 0 => Err(Error::Corrupt { rule: "a collection has its trees" }),
        found => Ok(found),
    }
}

impl Collection {
    /// One without items.
    pub fn new(number: u32, name: &str) -> Collection {
        Collection { number, name: name.to_owned(), counts: PerKind::default() }
    }

    pub fn encode(&self) -> Vec<u8> {
        let stored = self.counts.iter().filter(|(_, counts)| **counts != ItemCounts::default());
        let mut row = Vec::with_capacity(1 + (1 + COUNTS_SIZE) + self.name.len());
        row.push(0);
        for (kind, counts) in stored {
            row[0] += 1;
            row.push(kind.number());
            counts.fields().iter().for_each(|field| row.extend_from_slice(&field.to_le_bytes()));
        }
        row.extend_from_slice(self.name.as_bytes());
        row
    }

    pub fn decode(number: u32, row: &[u8]) -> Result<Collection> {
        let corrupt = || Error::Corrupt { rule: "a collection's row has counts and a name" };
        let (kinds, mut rest) = row.split_first().ok_or_else(corrupt)?;
        let (mut counts, mut before) = (PerKind::default(), None);
        for _ in 0..*kinds {
            let (kind, more) = rest.split_first().ok_or_else(corrupt)?;
            let (fields, name) = more.split_at_checked(COUNTS_SIZE).ok_or_else(corrupt)?;
            let field = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| fields[at * 8 + byte]));
            let kind = ItemKind::from_number(*kind).ok_or_else(corrupt)?;
            if before >= Some(kind) {
                return Err(corrupt());
            }
            before = Some(kind);
            counts[kind] = ItemCounts::of(std::array::from_fn(field));
            rest = name;
        }
        let name = std::str::from_utf8(rest).map_err(|_| corrupt())?.to_owned();
        Ok(Collection { number, name, counts })
    }

    pub fn by_number(schema: &Schema, reader: &impl Reader, number: u32) -> Result<Collection> {
        let row = match schema.collections.get(reader, &number.to_be_bytes())? {
            None if number == NO_COLLECTION => return Ok(Collection::new(NO_COLLECTION, "")),
            row => row,
        };
        let row = row.ok_or(Error::Corrupt { rule: "the collection of a document exists" })?;
        Collection::decode(number, row)
    }

    pub fn by_name(schema: &Schema, reader: &impl Reader, name: &str) -> Result<Option<Collection>> {
        let Some(number) = schema.collection_names.get(reader, &id::lower(name))? else { return Ok(None) };
        let number = <[u8; 4]>::try_from(number).map_err(|_| Error::Corrupt { rule: "a collection has a number" })?;
        Collection::by_number(schema, reader, u32::from_be_bytes(number)).map(Some)
    }

    pub fn all(schema: &Schema, reader: &impl Reader) -> Result<Vec<Collection>> {
        let mut cursor = schema.collections.cursor(reader);
        let mut entry = cursor.first()?;
        let mut collections = Vec::new();
        while let Some((key, row)) = entry {
            let number = <[u8; 4]>::try_from(key).map_err(|_| Error::Corrupt { rule: "a collection has a number" })?;
            collections.push(Collection::decode(u32::from_be_bytes(number), row)?);
            entry = cursor.next()?;
        }
        Ok(collections)
    }

    /// The name of the tree of items of a kind.
    pub fn items_name(&self, kind: ItemKind) -> Vec<u8> {
        format!("collections/{}/{}", self.number, kind.name()).into_bytes()
    }

    /// The name of the tree of tombstones of a kind.
    pub fn tombstones_name(&self, kind: ItemKind) -> Vec<u8> {
        format!("collections/{}/{}/tombstones", self.number, kind.name()).into_bytes()
    }

    /// The items of a kind, etag to location; None before the first.
    pub fn items(&self, reader: &impl Reader, kind: ItemKind) -> Result<Option<FixedTree>> {
        find(reader, &self.items_name(kind), self.counts[kind].count)
    }

    /// The tombstones of a kind, etag to location; None before the first.
    pub fn tombstones(&self, reader: &impl Reader, kind: ItemKind) -> Result<Option<FixedTree>> {
        find(reader, &self.tombstones_name(kind), self.counts[kind].tombstone_count)
    }

    /// The items of a kind; the tree is made if there is none.
    pub fn items_or_new(&self, tx: &mut WriteTransaction<'_>, kind: ItemKind) -> Result<FixedTree> {
        match self.items(&*tx, kind)? {
            Some(tree) => Ok(tree),
            None => Ok(FixedTree::open_or_create(tx, &self.items_name(kind))?),
        }
    }

    /// The tombstones of a kind; the tree is made if there is none.
    pub fn tombstones_or_new(&self, tx: &mut WriteTransaction<'_>, kind: ItemKind) -> Result<FixedTree> {
        match self.tombstones(&*tx, kind)? {
            Some(tree) => Ok(tree),
            None => Ok(FixedTree::open_or_create(tx, &self.tombstones_name(kind))?),
        }
    }

    pub fn statistics(&self) -> CollectionStatistics {
        CollectionStatistics { name: self.name.clone(), counts: self.counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_row_goes_there_and_back() {
        let mut collection = Collection::new(7, "Users");
        assert_eq!(Collection::decode(7, &collection.encode()).unwrap().counts, collection.counts);
        for (at, kind) in ItemKind::all().enumerate() {
            collection.counts[kind] = ItemCounts::of([1, 2, 3, 4].map(|field| field + 10 * at as u64));
        }
        let found = Collection::decode(7, &collection.encode()).unwrap();
        assert_eq!((found.name, found.counts), ("Users".to_owned(), collection.counts));
    }

    proptest! {
        #[test]
        fn noise_never_panics(row in prop::collection::vec(any::<u8>(), 0..120)) {
            let _ = Collection::decode(1, &row);
        }
    }
}
