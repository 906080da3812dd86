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
    /// [`tombstone_key`] to location, 8 bytes little-endian.
    pub tombstones_by_id: Tree,
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

/// The version of everything this crate keeps in an environment; docs/format-documents.md tells what each changed.
const VERSION_NOW: u64 = 2;

const RECORDS: &[u8] = b"documents/records";
const BY_ID: &[u8] = b"documents/by-id";
const BY_ETAG: &[u8] = b"documents/by-etag";
const TOMBSTONES_BY_ETAG: &[u8] = b"tombstones/by-etag";
const TOMBSTONES_BY_ID: &[u8] = b"tombstones/by-id";
const COLLECTIONS: &[u8] = b"collections";
const COLLECTION_NAMES: &[u8] = b"collections/names";
const IDENTITIES: &[u8] = b"identities";
const STATE: &[u8] = b"state";

/// The key of the tombstone of an id, lower-cased, in a collection.
pub(crate) fn tombstone_key(collection: u32, key: &[u8]) -> Vec<u8> {
    [&collection.to_be_bytes()[..], key].concat()
}

impl Schema {
    /// Finds the trees, or creates them in a new environment. One of an older version has them all, but perhaps not yet all
    /// that is in them: see `upgrade.rs`.
    pub fn open(environment: &Environment) -> Result<Schema> {
        let version = Self::version(&environment.read())?;
        match version {
            None => environment.write(Self::create),
            Some(1) => {
                environment.write(|tx| Tree::open_or_create(tx, TOMBSTONES_BY_ID).map(drop))?;
                Self::find(&environment.read())
            }
            Some(VERSION_NOW) => Self::find(&environment.read()),
            Some(_) => Err(Error::Corrupt { rule: "the version of the document format is known" }),
        }
    }

    fn version(reader: &impl Reader) -> Result<Option<u64>> {
        let Some(state) = Tree::open(reader, STATE)? else { return Ok(None) };
        let version = state.get(reader, VERSION)?.and_then(u64_from);
        version.map(Some).ok_or(Error::Corrupt { rule: "the version of the document format is stored" })
    }

    /// Whether everything is as the version of now has it.
    pub fn is_current(&self, reader: &impl Reader) -> Result<bool> {
        Ok(self.state.get(reader, VERSION)?.and_then(u64_from) == Some(VERSION_NOW))
    }

    pub fn set_current(&self, tx: &mut WriteTransaction<'_>) -> Result<()> {
        Ok(self.state.put(tx, VERSION, &VERSION_NOW.to_be_bytes())?)
    }

    fn find(reader: &impl Reader) -> Result<Schema> {
        let missing = || Error::Corrupt { rule: "all trees of a document environment exist" };
        Ok(Schema {
            records: Records::open(reader, RECORDS)?.ok_or_else(missing)?,
            by_id: Tree::open(reader, BY_ID)?.ok_or_else(missing)?,
            by_etag: FixedTree::open(reader, BY_ETAG)?.ok_or_else(missing)?,
            tombstones_by_etag: FixedTree::open(reader, TOMBSTONES_BY_ETAG)?.ok_or_else(missing)?,
            tombstones_by_id: Tree::open(reader, TOMBSTONES_BY_ID)?.ok_or_else(missing)?,
            collections: Tree::open(reader, COLLECTIONS)?.ok_or_else(missing)?,
            collection_names: Tree::open(reader, COLLECTION_NAMES)?.ok_or_else(missing)?,
            identities: Tree::open(reader, IDENTITIES)?.ok_or_else(missing)?,
            state: Tree::open(reader, STATE)?.ok_or_else(missing)?,
        })
    }

    fn create(tx: &mut WriteTransaction<'_>) -> Result<Schema> {
        let schema = Schema {
            records: Records::open_or_create(tx, RECORDS)?,
            by_id: Tree::open_or_create(tx, BY_ID)?,
            by_etag: FixedTree::open_or_create(tx, BY_ETAG)?,
            tombstones_by_etag: FixedTree::open_or_create(tx, TOMBSTONES_BY_ETAG)?,
            tombstones_by_id: Tree::open_or_create(tx, TOMBSTONES_BY_ID)?,
            collections: Tree::open_or_create(tx, COLLECTIONS)?,
            collection_names: Tree::open_or_create(tx, COLLECTION_NAMES)?,
            identities: Tree::open_or_create(tx, IDENTITIES)?,
            state: Tree::open_or_create(tx, STATE)?,
        };
        schema.set_current(tx)?;
        schema.state.put(tx, LAST_ETAG, &0u64.to_be_bytes())?;
        schema.state.put(tx, DATABASE_ID, &id::random_bytes())?;
        Ok(schema)
    }

    /// The last etag given out.
    pub fn last_etag(&self, reader: &impl Reader) -> Result<u64> {
        let value = self.state.get(reader, LAST_ETAG)?;
        value.and_then(u64_from).ok_or(Error::Corrupt { rule: "the last etag is stored" })
    }
}

/// Eight bytes, big-endian.
pub(crate) fn u64_from(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}
