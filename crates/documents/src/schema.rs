//! The trees of a document environment, by their names in the catalog.

use storage::{Environment, FixedTree, Reader, Records, Tree, WriteTransaction};

use crate::{Error, Result, id};

/// Handles of everything that exists once. Each collection has two more trees, see `collections.rs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schema {
    /// Documents and tombstones, as `record.rs` describes them.
    pub records: Records,
    /// Lower-cased id to location, 8 bytes little-endian.
    pub by_id: Tree,
    /// Etag to location, documents.
    pub by_etag: FixedTree,
    /// Etag to location, tombstones.
    pub tombstones_by_etag: FixedTree,
    /// Number of a collection, 4 bytes big-endian, to its row.
    pub collections: Tree,
    /// Lower-cased name of a collection to its number.
    pub collection_names: Tree,
    /// Lower-cased name of an identity to its value, 8 bytes big-endian.
    pub identities: Tree,
    /// Single values, by name.
    pub state: Tree,
}

/// Names in `state`.
pub(crate) const LAST_ETAG: &[u8] = b"last-etag";
pub(crate) const DATABASE_ID: &[u8] = b"database-id";
const VERSION: &[u8] = b"version";

/// The version of everything this crate keeps in an environment.
const VERSION_NOW: u64 = 1;

const RECORDS: &str = "documents/records";
const BY_ID: &str = "documents/by-id";
const BY_ETAG: &str = "documents/by-etag";
const TOMBSTONES_BY_ETAG: &str = "tombstones/by-etag";
const COLLECTIONS: &str = "collections";
const COLLECTION_NAMES: &str = "collections/names";
const IDENTITIES: &str = "identities";
const STATE: &str = "state";

impl Schema {
    /// Finds the trees, or creates them in a new environment.
    pub fn open(environment: &Environment) -> Result<Schema> {
        let found = Self::find(&environment.read())?;
        match found {
            Some(schema) => Ok(schema),
            None => environment.write(Self::create),
        }
    }

    fn find(reader: &impl Reader) -> Result<Option<Schema>> {
        let Some(state) = reader.catalog_get(STATE)? else { return Ok(None) };
        let root = |name| {
            reader.catalog_get(name)?.ok_or(Error::Corrupt { rule: "all trees of a document environment exist" })
        };
        let schema = Schema {
            records: Records::at(root(RECORDS)?),
            by_id: Tree::at(root(BY_ID)?),
            by_etag: FixedTree::at(root(BY_ETAG)?),
            tombstones_by_etag: FixedTree::at(root(TOMBSTONES_BY_ETAG)?),
            collections: Tree::at(root(COLLECTIONS)?),
            collection_names: Tree::at(root(COLLECTION_NAMES)?),
            identities: Tree::at(root(IDENTITIES)?),
            state: Tree::at(state),
        };
        match schema.state.get(reader, VERSION)?.as_deref() {
            Some(version) if *version == VERSION_NOW.to_be_bytes() => Ok(Some(schema)),
            _ => Err(Error::Corrupt { rule: "the version of the document format is known" }),
        }
    }

    fn create(tx: &mut WriteTransaction) -> Result<Schema> {
        let schema = Schema {
            records: Records::create(tx)?,
            by_id: Tree::create(tx)?,
            by_etag: FixedTree::create(tx)?,
            tombstones_by_etag: FixedTree::create(tx)?,
            collections: Tree::create(tx)?,
            collection_names: Tree::create(tx)?,
            identities: Tree::create(tx)?,
            state: Tree::create(tx)?,
        };
        let mut catalog = tx.catalog();
        catalog.set(RECORDS, schema.records.root())?;
        catalog.set(BY_ID, schema.by_id.root())?;
        catalog.set(BY_ETAG, schema.by_etag.root())?;
        catalog.set(TOMBSTONES_BY_ETAG, schema.tombstones_by_etag.root())?;
        catalog.set(COLLECTIONS, schema.collections.root())?;
        catalog.set(COLLECTION_NAMES, schema.collection_names.root())?;
        catalog.set(IDENTITIES, schema.identities.root())?;
        catalog.set(STATE, schema.state.root())?;
        schema.state.put(tx, VERSION, &VERSION_NOW.to_be_bytes())?;
        schema.state.put(tx, LAST_ETAG, &0u64.to_be_bytes())?;
        schema.state.put(tx, DATABASE_ID, &id::random_bytes())?;
        Ok(schema)
    }

    /// The last etag given out.
    pub fn last_etag(&self, reader: &impl Reader) -> Result<u64> {
        let value = self.state.get(reader, LAST_ETAG)?;
        value.as_deref().and_then(u64_from).ok_or(Error::Corrupt { rule: "the last etag is stored" })
    }
}

/// Eight bytes, big-endian.
pub(crate) fn u64_from(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}
