//! The trees of a document environment, by their names in the catalog.

use storage::{Environment, FixedTree, Key, Location, Reader, Records, Table, Tree, WriteTransaction};

use crate::{Error, Etag, Result, id};

/// Handles of everything that exists once. Each collection has two more trees, see `collections.rs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schema {
    /// Documents and tombstones.
    pub records: Table,
    /// Lower-cased id to document.
    pub by_id: Tree,
    /// Etag to document.
    pub by_etag: FixedTree,
    /// Etag to tombstone.
    pub tombstones_by_etag: FixedTree,
    /// [`tombstone_key`] to tombstone.
    pub tombstones_by_id: Tree,
    /// Number of a collection, 4 bytes big-endian, to its row.
    pub collections: Tree,
    /// Lower-cased name of a collection to its number.
    pub collection_names: Tree,
    /// Lower-cased name of an identity, with `|`, to its value: 8 bytes big-endian, signed.
    pub identities: Tree,
    /// Single values by name.
    pub state: Tree,
}

/// Names in `state`. Numbers are 8 bytes big-endian.
pub(crate) const LAST_ETAG: &[u8] = b"last-etag";
pub(crate) const DATABASE_ID: &[u8] = b"database-id";
const IDENTITY_COUNT: &[u8] = b"identity-count";
const VERSION: &[u8] = b"version";

/// The version of everything this crate keeps in an environment.
const VERSION_NOW: u64 = 1;

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
    /// Finds the trees, or creates them in a new environment.
    pub fn open(environment: &Environment) -> Result<Schema> {
        let found = Self::find(&environment.read())?;
        match found {
            Some(schema) => Ok(schema),
            // With trees of ours beside its own it would pass for a database that has no documents, and be treated so.
            None if !environment.is_empty()? => Err(Error::NotDocuments),
            None => environment.write(Self::create),
        }
    }

    fn find(reader: &impl Reader) -> Result<Option<Schema>> {
        let Some(state) = Tree::open(reader, STATE)? else {
            // Begun anew over documents, it would have another id and give their etags out again.
            return match Records::open(reader, RECORDS)? {
                None => Ok(None),
                Some(_) => Err(Error::Corrupt { rule: "documents have their state beside them" }),
            };
        };
        match state.get(reader, VERSION)?.and_then(u64_from) {
            Some(VERSION_NOW) => {}
            Some(found) if found > VERSION_NOW => return Err(Error::NewerFormat { found, known: VERSION_NOW }),
            _ => return Err(Error::Corrupt { rule: "the version of the document format is known" }),
        }
        let missing = || Error::Corrupt { rule: "all trees of a document environment exist" };
        Ok(Some(Schema {
            records: Table::of(Records::open(reader, RECORDS)?.ok_or_else(missing)?),
            by_id: Tree::open(reader, BY_ID)?.ok_or_else(missing)?,
            by_etag: FixedTree::open(reader, BY_ETAG)?.ok_or_else(missing)?,
            tombstones_by_etag: FixedTree::open(reader, TOMBSTONES_BY_ETAG)?.ok_or_else(missing)?,
            tombstones_by_id: Tree::open(reader, TOMBSTONES_BY_ID)?.ok_or_else(missing)?,
            collections: Tree::open(reader, COLLECTIONS)?.ok_or_else(missing)?,
            collection_names: Tree::open(reader, COLLECTION_NAMES)?.ok_or_else(missing)?,
            identities: Tree::open(reader, IDENTITIES)?.ok_or_else(missing)?,
            state,
        }))
    }

    fn create(tx: &mut WriteTransaction<'_>) -> Result<Schema> {
        let schema = Schema {
            records: Table::of(Records::open_or_create(tx, RECORDS)?),
            by_id: Tree::open_or_create(tx, BY_ID)?,
            by_etag: FixedTree::open_or_create(tx, BY_ETAG)?,
            tombstones_by_etag: FixedTree::open_or_create(tx, TOMBSTONES_BY_ETAG)?,
            tombstones_by_id: Tree::open_or_create(tx, TOMBSTONES_BY_ID)?,
            collections: Tree::open_or_create(tx, COLLECTIONS)?,
            collection_names: Tree::open_or_create(tx, COLLECTION_NAMES)?,
            identities: Tree::open_or_create(tx, IDENTITIES)?,
            state: Tree::open_or_create(tx, STATE)?,
        };
        schema.set_number(tx, VERSION, VERSION_NOW)?;
        schema.set_number(tx, LAST_ETAG, 0)?;
        schema.set_number(tx, IDENTITY_COUNT, 0)?;
        schema.state.put(tx, DATABASE_ID, &id::random_bytes())?;
        Ok(schema)
    }

    fn number(&self, reader: &impl Reader, name: &[u8], rule: &'static str) -> Result<u64> {
        self.state.get(reader, name)?.and_then(u64_from).ok_or(Error::Corrupt { rule })
    }

    fn set_number(&self, tx: &mut WriteTransaction<'_>, name: &[u8], value: u64) -> Result<()> {
        Ok(self.state.put(tx, name, &value.to_be_bytes())?)
    }

    /// The last etag given out.
    pub fn last_etag(&self, reader: &impl Reader) -> Result<Etag> {
        self.number(reader, LAST_ETAG, "the last etag is stored")
    }

    pub fn set_last_etag(&self, tx: &mut WriteTransaction<'_>, etag: Etag) -> Result<()> {
        self.set_number(tx, LAST_ETAG, etag)
    }

    /// How many identities there are.
    pub fn identity_count(&self, reader: &impl Reader) -> Result<u64> {
        self.number(reader, IDENTITY_COUNT, "the number of identities is stored")
    }

    pub fn set_identity_count(&self, tx: &mut WriteTransaction<'_>, count: u64) -> Result<()> {
        self.set_number(tx, IDENTITY_COUNT, count)
    }

    /// The ways to a document: its id lower-cased, its etag, and that in its collection.
    pub fn document_keys<'k>(&self, key: &'k [u8], etag: Etag, of_collection: FixedTree) -> [Key<'k>; 3] {
        [Key::Bytes(self.by_id, key), Key::Number(self.by_etag, etag), Key::Number(of_collection, etag)]
    }

    /// The ways to a tombstone: its [`tombstone_key`], its etag, and that in its collection.
    pub fn tombstone_keys<'k>(&self, key: &'k [u8], etag: Etag, of_collection: FixedTree) -> [Key<'k>; 3] {
        [
            Key::Bytes(self.tombstones_by_id, key),
            Key::Number(self.tombstones_by_etag, etag),
            Key::Number(of_collection, etag),
        ]
    }

    /// Where a document is, by its lower-cased id.
    #[inline]
    pub fn location_of(&self, reader: &impl Reader, key: &[u8]) -> Result<Option<Location>> {
        match self.by_id.get(reader, key)? {
            Some(value) => Ok(Some(Table::location(self.by_id, reader, value)?)),
            None => Ok(None),
        }
    }
}

/// Eight bytes, big-endian.
pub(crate) fn u64_from(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}
