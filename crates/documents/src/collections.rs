//! Collections: a number, the name as it was first spelled, counts, and two trees by etag each.
//!
//! ```text
//!  0                          16                        32
//!  +--------------------------+-------------------------+------+
//!  | documents: count, size   | tombstones: count, size | name |
//!  +--------------------------+-------------------------+------+
//! ```
//!
//! Four 64-bit little-endian integers and the name. Counts and sizes change by addition with each write, so a write costs the
//! same whatever the size of the collection. A collection that became empty keeps its row. The trees are found by the names
//! `collections/<number>/documents` and `collections/<number>/tombstones`.

use storage::{FixedTree, Reader, WriteTransaction};

use crate::schema::Schema;
use crate::{Error, Result, id};

const FIELDS: usize = 4;

/// One collection, as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct Collection {
    pub number: u32,
    pub name: String,
    pub document_count: u64,
    pub document_size: u64,
    pub tombstone_count: u64,
    pub tombstone_size: u64,
}

/// What a collection holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionStatistics {
    /// The name as it was first spelled.
    pub name: String,
    /// Documents in it.
    pub document_count: u64,
    /// Bytes of their records.
    pub document_size: u64,
    /// Tombstones in it.
    pub tombstone_count: u64,
    /// Bytes of their records.
    pub tombstone_size: u64,
}

fn documents_name(number: u32) -> Vec<u8> {
    format!("collections/{number}/documents").into_bytes()
}

fn tombstones_name(number: u32) -> Vec<u8> {
    format!("collections/{number}/tombstones").into_bytes()
}

impl Collection {
    /// One without documents.
    pub fn new(number: u32, name: &str) -> Collection {
        let name = name.to_owned();
        Collection { number, name, document_count: 0, document_size: 0, tombstone_count: 0, tombstone_size: 0 }
    }

    pub fn encode(&self) -> Vec<u8> {
        let fields = [self.document_count, self.document_size, self.tombstone_count, self.tombstone_size];
        let mut row = Vec::with_capacity(FIELDS * 8 + self.name.len());
        fields.iter().for_each(|field| row.extend_from_slice(&field.to_le_bytes()));
        row.extend_from_slice(self.name.as_bytes());
        row
    }

    pub fn decode(number: u32, row: &[u8]) -> Result<Collection> {
        let corrupt = Error::Corrupt { rule: "a collection's row has four numbers and a name" };
        let Some((fields, name)) = row.split_at_checked(FIELDS * 8) else { return Err(corrupt) };
        let field = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| fields[at * 8 + byte]));
        Ok(Collection {
            number,
            name: std::str::from_utf8(name).map_err(|_| corrupt)?.to_owned(),
            document_count: field(0),
            document_size: field(1),
            tombstone_count: field(2),
            tombstone_size: field(3),
        })
    }

    pub fn by_number(schema: &Schema, reader: &impl Reader, number: u32) -> Result<Collection> {
        let row = schema.collections.get(reader, &number.to_be_bytes())?;
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

    /// The tree of documents, etag to location.
    pub fn documents(&self, reader: &impl Reader) -> Result<FixedTree> {
        let found = FixedTree::open(reader, &documents_name(self.number))?;
        found.ok_or(Error::Corrupt { rule: "a collection has its trees" })
    }

    /// The tree of tombstones, etag to location.
    pub fn tombstones(&self, reader: &impl Reader) -> Result<FixedTree> {
        let found = FixedTree::open(reader, &tombstones_name(self.number))?;
        found.ok_or(Error::Corrupt { rule: "a collection has its trees" })
    }

    /// Makes the trees of a new collection.
    pub fn create_trees(&self, tx: &mut WriteTransaction<'_>) -> Result<()> {
        FixedTree::open_or_create(tx, &documents_name(self.number))?;
        FixedTree::open_or_create(tx, &tombstones_name(self.number))?;
        Ok(())
    }

    pub fn statistics(&self) -> CollectionStatistics {
        CollectionStatistics {
            name: self.name.clone(),
            document_count: self.document_count,
            document_size: self.document_size,
            tombstone_count: self.tombstone_count,
            tombstone_size: self.tombstone_size,
        }
    }
}
