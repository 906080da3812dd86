//! The trees of a document environment, by their names in the catalog.

use storage::{Environment, FixedTree, Key, Location, Reader, Records, Table, Tree, WriteTransaction};

use super::kinds::{ItemKind, PerKind};
use crate::due::DUE;
use crate::ids::{id, owned};
use crate::revisions::RevisionTrees;
use crate::wire::base64;
use crate::{Error, Etag, Result};

/// Handles of everything that exists once. Each collection has more trees, see `collections.rs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schema {
    /// Items and tombstones of all kinds.
    pub records: Table,
    pub kinds: PerKind<KindTrees>,
    /// What revisions have beside the trees of their kind.
    pub revisions: RevisionTrees,
    /// Number of a collection, 4 bytes big-endian, to its row.
    pub collections: Tree,
    /// Lower-cased name of a collection to its number.
    pub collection_names: Tree,
    /// Lower-cased name of an identity, with `|`, to its value: 8 bytes big-endian, signed.
    pub identities: Tree,
    /// See [`crate::due`].
    pub due: Tree,
    /// Single values by name.
    pub state: Tree,
}

/// The trees of one kind of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KindTrees {
    /// Key to item.
    pub by_key: Tree,
    /// Etag to item.
    pub by_etag: FixedTree,
    /// [`tombstone_key`] to tombstone.
    pub tombstones_by_key: Tree,
    /// Etag to tombstone.
    pub tombstones_by_etag: FixedTree,
}

/// Names in `state`. Numbers are 8 bytes big-endian.
pub(crate) const LAST_ETAG: &[u8] = b"last-etag";
pub(crate) const DATABASE_ID: &[u8] = b"database-id";
/// Bytes of an id.
const DATABASE_ID_SIZE: usize = 16;
/// Ids that the database had in earlier places, 16 bytes each; absent until the first.
pub(crate) const FORMER_DATABASE_IDS: &[u8] = b"former-database-ids";
const IDENTITY_COUNT: &[u8] = b"identity-count";
const VERSION: &[u8] = b"version";

/// The kinds that have trees here: a bit for each, by its number.
const KINDS_STORED: &[u8] = b"kinds";

/// The version of everything this crate keeps in an environment.
const VERSION_NOW: u64 = 3;

/// The oldest version that is raised to [`VERSION_NOW`] when it is opened: it has no tree of due times.
const VERSION_RAISED: u64 = 2;

/// The greatest etag of a tombstone that was cleaned; absent until the first.
const TOMBSTONES_CLEANED: &[u8] = b"tombstones-cleaned";

/// The etag up to which documents have their entries in the tree of due times; absent once all have.
pub(crate) const DUE_BUILT: &[u8] = b"due-built";

/// How many contents there are; absent until the first.
const CONTENT_COUNT: &[u8] = b"content-count";

/// How many references contents have; absent until the first, and in a database that was last written by a version that did not count them.
const CONTENT_REFERENCES: &[u8] = b"content-references";

/// The name of the contents of attachments. They are made by what first needs them.
pub(crate) const CONTENTS: &[u8] = b"contents";

const RECORDS: &[u8] = b"records";
const COLLECTIONS: &[u8] = b"collections";
const COLLECTION_NAMES: &[u8] = b"collections/names";
const IDENTITIES: &[u8] = b"identities";
pub(crate) const STATE: &[u8] = b"state";

/// The key of the tombstone of an item in a collection.
pub(crate) fn tombstone_key(collection: u32, key: &[u8]) -> Vec<u8> {
    [&collection.to_be_bytes()[..], key].concat()
}

/// The kinds of this program, as [`KINDS_STORED`] has them.
fn known_kinds() -> u64 {
    ItemKind::all().fold(0, |bits, kind| bits | 1 << kind.number())
}

impl KindTrees {
    fn names(kind: ItemKind) -> [Vec<u8>; 4] {
        ["by-key", "by-etag", "tombstones/by-key", "tombstones/by-etag"]
            .map(|tree| format!("{}/{tree}", kind.name()).into_bytes())
    }

    fn find(reader: &impl Reader, kind: ItemKind) -> Result<KindTrees> {
        let [by_key, by_etag, tombstones_by_key, tombstones_by_etag] = Self::names(kind);
        let missing = || Error::Corrupt { rule: "all trees of a document environment exist" };
        Ok(KindTrees {
            by_key: Tree::open(reader, &by_key)?.ok_or_else(missing)?,
            by_etag: FixedTree::open(reader, &by_etag)?.ok_or_else(missing)?,
            tombstones_by_key: Tree::open(reader, &tombstones_by_key)?.ok_or_else(missing)?,
            tombstones_by_etag: FixedTree::open(reader, &tombstones_by_etag)?.ok_or_else(missing)?,
        })
    }

    fn create(tx: &mut WriteTransaction<'_>, kind: ItemKind) -> Result<KindTrees> {
        let [by_key, by_etag, tombstones_by_key, tombstones_by_etag] = Self::names(kind);
        Ok(KindTrees {
            by_key: Tree::open_or_create(tx, &by_key)?,
            by_etag: FixedTree::open_or_create(tx, &by_etag)?,
            tombstones_by_key: Tree::open_or_create(tx, &tombstones_by_key)?,
            tombstones_by_etag: FixedTree::open_or_create(tx, &tombstones_by_etag)?,
        })
    }
}

/// What an environment says of its documents.
struct FoundState {
    state: Tree,
    version: u64,
    /// Those that have their trees.
    kinds: u64,
}

impl Schema {
    /// Finds the trees, or creates them in a new environment. Those of kinds that came with this version of the program are added.
    ///
    /// * `new_id`: the database id of a new environment; `None`: one at random.
    pub fn open(environment: &Environment, new_id: Option<[u8; 16]>) -> Result<Schema> {
        let found = Self::find_state(&environment.read())?;
        match found {
            Some(found) if found.version == VERSION_NOW && found.kinds == known_kinds() => {
                Self::find(&environment.read())
            }
            Some(FoundState { state, version, kinds }) => environment.write(|tx| {
                if version == VERSION_RAISED {
                    Tree::open_or_create(tx, DUE)?;
                    state.put(tx, DUE_BUILT, &0_u64.to_be_bytes())?;
                    state.put(tx, VERSION, &VERSION_NOW.to_be_bytes())?;
                }
                for kind in ItemKind::all().filter(|kind| kinds & 1 << kind.number() == 0) {
                    KindTrees::create(tx, kind)?;
                    if kind == ItemKind::Revision {
                        RevisionTrees::create(tx)?;
                    }
                }
                state.put(tx, KINDS_STORED, &known_kinds().to_be_bytes())?;
                Self::find(tx)
            }),
            // With trees of ours beside its own it would pass for a database that has no documents, and be treated so.
            None if !environment.is_empty()? => Err(Error::NotDocuments),
            None => environment.write(|tx| Self::create(tx, new_id.unwrap_or_else(id::random_bytes))),
        }
    }

    /// None if nothing is there.
    fn find_state(reader: &impl Reader) -> Result<Option<FoundState>> {
        let Some(state) = Tree::open(reader, STATE)? else {
            // Begun anew over documents, it would have another id and give their etags out again.
            return match Records::open(reader, RECORDS)? {
                None => Ok(None),
                Some(_) => Err(Error::Corrupt { rule: "documents have their state beside them" }),
            };
        };
        let version = match state.get(reader, VERSION)?.and_then(u64_from) {
            Some(version @ VERSION_RAISED..=VERSION_NOW) => version,
            Some(found) if found > VERSION_NOW => return Err(Error::NewerFormat { found, known: VERSION_NOW }),
            Some(found) if found > 0 => return Err(Error::OlderFormat { found, oldest: VERSION_RAISED }),
            _ => return Err(Error::Corrupt { rule: "the version of the document format is known" }),
        };
        let kinds = state.get(reader, KINDS_STORED)?.and_then(u64_from);
        let kinds = kinds.ok_or(Error::Corrupt { rule: "the kinds of items are stored" })?;
        match kinds & !known_kinds() {
            0 => Ok(Some(FoundState { state, version, kinds })),
            _ => Err(Error::NewerKinds),
        }
    }

    fn find(reader: &impl Reader) -> Result<Schema> {
        let missing = || Error::Corrupt { rule: "all trees of a document environment exist" };
        Ok(Schema {
            records: Table::of(Records::open(reader, RECORDS)?.ok_or_else(missing)?),
            kinds: PerKind::try_of(|kind| KindTrees::find(reader, kind))?,
            revisions: RevisionTrees::find(reader)?,
            collections: Tree::open(reader, COLLECTIONS)?.ok_or_else(missing)?,
            collection_names: Tree::open(reader, COLLECTION_NAMES)?.ok_or_else(missing)?,
            identities: Tree::open(reader, IDENTITIES)?.ok_or_else(missing)?,
            due: Tree::open(reader, DUE)?.ok_or_else(missing)?,
            state: Tree::open(reader, STATE)?.ok_or_else(missing)?,
        })
    }

    fn create(tx: &mut WriteTransaction<'_>, database_id: [u8; 16]) -> Result<Schema> {
        let schema = Schema {
            records: Table::of(Records::open_or_create(tx, RECORDS)?),
            kinds: PerKind::try_of(|kind| KindTrees::create(tx, kind))?,
            revisions: RevisionTrees::create(tx)?,
            collections: Tree::open_or_create(tx, COLLECTIONS)?,
            collection_names: Tree::open_or_create(tx, COLLECTION_NAMES)?,
            identities: Tree::open_or_create(tx, IDENTITIES)?,
            due: Tree::open_or_create(tx, DUE)?,
            state: Tree::open_or_create(tx, STATE)?,
        };
        schema.set_number(tx, VERSION, VERSION_NOW)?;
        schema.set_number(tx, KINDS_STORED, known_kinds())?;
        schema.set_number(tx, LAST_ETAG, 0)?;
        schema.set_number(tx, IDENTITY_COUNT, 0)?;
        schema.state.put(tx, DATABASE_ID, &database_id)?;
        Ok(schema)
    }

    fn number(&self, reader: &impl Reader, name: &[u8], rule: &'static str) -> Result<u64> {
        self.state.get(reader, name)?.and_then(u64_from).ok_or(Error::Corrupt { rule })
    }

    fn set_number(&self, tx: &mut WriteTransaction<'_>, name: &[u8], value: u64) -> Result<()> {
        Ok(self.state.put(tx, name, &value.to_be_bytes())?)
    }

    /// The ids that the database had in earlier places, in base64.
    pub fn former_database_ids(&self, reader: &impl Reader) -> Result<Vec<String>> {
        let (ids, rest) =
            self.state.get(reader, FORMER_DATABASE_IDS)?.unwrap_or_default().as_chunks::<DATABASE_ID_SIZE>();
        match rest {
            [] => Ok(ids.iter().map(|id| base64::encode_unpadded(id)).collect()),
            _ => Err(Error::Corrupt { rule: "former database ids have 16 bytes each" }),
        }
    }

    /// The last etag given out.
    pub fn last_etag(&self, reader: &impl Reader) -> Result<Etag> {
        self.number(reader, LAST_ETAG, "the last etag is stored")
    }

    pub fn set_last_etag(&self, tx: &mut WriteTransaction<'_>, etag: Etag) -> Result<()> {
        self.set_number(tx, LAST_ETAG, etag)
    }

    /// The greatest etag of a tombstone that was cleaned; 0: none was.
    pub fn tombstones_cleaned(&self, reader: &impl Reader) -> Result<Etag> {
        Ok(self.state.get(reader, TOMBSTONES_CLEANED)?.and_then(u64_from).unwrap_or_default())
    }

    /// Raises it.
    pub fn note_tombstone_cleaned(&self, tx: &mut WriteTransaction<'_>, etag: Etag) -> Result<()> {
        if etag <= self.tombstones_cleaned(tx)? {
            return Ok(());
        }
        self.set_number(tx, TOMBSTONES_CLEANED, etag)
    }

    /// How many identities there are.
    pub fn identity_count(&self, reader: &impl Reader) -> Result<u64> {
        self.number(reader, IDENTITY_COUNT, "the number of identities is stored")
    }

    pub fn set_identity_count(&self, tx: &mut WriteTransaction<'_>, count: u64) -> Result<()> {
        self.set_number(tx, IDENTITY_COUNT, count)
    }

    /// How many contents there are.
    pub fn content_count(&self, reader: &impl Reader) -> Result<u64> {
        match self.state.get(reader, CONTENT_COUNT)? {
            None => Ok(0),
            Some(bytes) => u64_from(bytes).ok_or(Error::Corrupt { rule: "contents are counted" }),
        }
    }

    pub fn set_content_count(&self, tx: &mut WriteTransaction<'_>, count: u64) -> Result<()> {
        self.set_number(tx, CONTENT_COUNT, count)
    }

    /// How many references contents have. `None`: they were not counted yet.
    pub fn content_references(&self, reader: &impl Reader) -> Result<Option<u64>> {
        let Some(bytes) = self.state.get(reader, CONTENT_REFERENCES)? else { return Ok(None) };
        u64_from(bytes).map(Some).ok_or(Error::Corrupt { rule: "references to contents are counted" })
    }

    pub fn set_content_references(&self, tx: &mut WriteTransaction<'_>, count: u64) -> Result<()> {
        self.set_number(tx, CONTENT_REFERENCES, count)
    }

    /// The keys of an item: its own, its etag, and that in its collection.
    #[inline]
    pub fn item_keys<'k>(&self, kind: ItemKind, key: &'k [u8], etag: Etag, of_collection: FixedTree) -> [Key<'k>; 3] {
        let trees = &self.kinds[kind];
        [Key::Bytes(trees.by_key, key), Key::Number(trees.by_etag, etag), Key::Number(of_collection, etag)]
    }

    /// The keys of a tombstone: its [`tombstone_key`], its etag, and that in its collection.
    pub fn tombstone_keys<'k>(
        &self,
        kind: ItemKind,
        key: &'k [u8],
        etag: Etag,
        of_collection: FixedTree,
    ) -> [Key<'k>; 3] {
        let trees = &self.kinds[kind];
        [
            Key::Bytes(trees.tombstones_by_key, key),
            Key::Number(trees.tombstones_by_etag, etag),
            Key::Number(of_collection, etag),
        ]
    }

    /// The trees of documents.
    #[inline]
    pub fn documents(&self) -> &KindTrees {
        &self.kinds[ItemKind::Document]
    }

    /// Where an item is, by its key.
    #[inline]
    pub fn location_of(&self, reader: &impl Reader, kind: ItemKind, key: &[u8]) -> Result<Option<Location>> {
        let tree = self.kinds[kind].by_key;
        match tree.get(reader, key)? {
            Some(value) => Ok(Some(Table::location(tree, reader, value)?)),
            None => Ok(None),
        }
    }

    /// The keys and places of the items that belong to a document, by key, `count_max` at most. See [`owned`].
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn keys_of_document(
        &self,
        reader: &impl Reader,
        kind: ItemKind,
        document_key: &[u8],
        count_max: usize,
    ) -> Result<Vec<(Vec<u8>, Location)>> {
        let by_key = self.kinds[kind].by_key;
        let prefix = owned::prefix_of(document_key);
        let mut keys = Vec::new();
        let mut cursor = by_key.cursor(reader);
        let mut entry = cursor.seek(&prefix)?;
        while let Some((key, value)) = entry {
            if !key.starts_with(&prefix) || keys.len() == count_max {
                break;
            }
            keys.push((key.to_vec(), Table::location(by_key, reader, value)?));
            entry = cursor.next()?;
        }
        Ok(keys)
    }
}

/// Eight bytes, big-endian.
pub(crate) fn u64_from(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}
