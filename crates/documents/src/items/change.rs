//! Writing items of any kind: storing one in the place of what is there, and removing one, with its tombstone.
//!
//! The caller has decided: which etag, change vector, date, and whether a condition holds. Here the record, its keys and the counts of its
//! collection change together.

use storage::Location;

use super::found::Existing;
use super::kinds::ItemKind;
use super::record::{self, Head, RecordState};
use super::schema::tombstone_key;
use crate::constraints::Changed;
use crate::due::{DueTimes, change_entries};
use crate::{Date, Error, Etag, Flags, Result, Writing};

/// A decided deletion: the fields of its tombstone, without the id.
#[derive(Debug)]
pub(crate) struct Deletion {
    pub etag: Etag,
    /// `None`: this database's own entry alone.
    pub vector: Option<String>,
    pub last_modified: Date,
    /// What stays of the item's body; empty but for attachments.
    pub body: Vec<u8>,
}

/// The parts of a record behind its head.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'p> {
    pub id: &'p str,
    /// Empty: this database's own entry alone.
    pub vector: &'p str,
    pub server_metadata: &'p [u8],
    /// Stored metadata, then body.
    pub content: &'p [u8],
}

impl Parts<'_> {
    /// Makes the sizes of the head fit; those of `content` are set already.
    fn measure(&self, head: Head) -> Result<Head> {
        let too_large = |what, size: usize, max: usize| Error::TooLarge { what, size, max };
        let (id, vector, server) = (self.id.len(), self.vector.len(), self.server_metadata.len());
        Ok(Head {
            id_size: u16::try_from(id).map_err(|_| too_large("an id", id, u16::MAX.into()))?,
            vector_size: u16::try_from(vector).map_err(|_| too_large("a change vector", vector, u16::MAX.into()))?,
            server_size: u32::try_from(server)
                .map_err(|_| too_large("the metadata that the server maintains", server, u32::MAX as usize))?,
            ..head
        })
    }
}

impl Writing<'_, '_> {
    /// Stores an item, in the place of the one that has its key.
    ///
    /// * `head`: but for the sizes of id, change vector and server metadata. Its collection is that at `place`.
    /// * `before`: what has the key; None: nothing, and then `tombstone` is what such an item left in this collection.
    pub(crate) fn store_item(
        &mut self,
        place: usize,
        head: Head,
        parts: Parts<'_>,
        key: &[u8],
        before: Option<&Existing>,
        tombstone: Option<&Existing>,
    ) -> Result<()> {
        let schema = self.store.schema;
        let kind = head.kind;
        let encoded = parts.measure(head)?.encode();
        let bytes = [&encoded[..], parts.id.as_bytes(), parts.vector.as_bytes(), parts.server_metadata, parts.content];
        let size = bytes.iter().map(|part| part.len()).sum();
        let due = kind.due_times(parts.content.get(..head.metadata_size as usize).unwrap_or_default());
        self.change_due(key, before, due)?;
        let body = parts.content.get(head.metadata_size as usize..).unwrap_or_default();
        self.change_unique(kind, &Changed { key, place, before, after: Some((head.flags, body)) })?;
        let items = self.items_of(place, kind)?;
        let keys = schema.item_keys(kind, key, head.etag, items);
        match before {
            Some(before) => {
                let old = schema.item_keys(kind, key, before.head.etag, items);
                schema.records.update(self.tx, before.location, (&old, &keys), &bytes)?;
            }
            None => {
                if let Some(tombstone) = tombstone {
                    self.remove_tombstone(tombstone, key)?;
                }
                schema.records.insert(self.tx, &keys, &bytes)?;
            }
        }
        let counts = self.change_counts(place, kind);
        if let Some(before) = before {
            counts.remove_item(before.size);
        }
        counts.add_item(size);
        Ok(())
    }

    /// Keeps the tree of due times as the metadata of an item have them.
    #[inline]
    fn change_due(&mut self, key: &[u8], before: Option<&Existing>, after: DueTimes) -> Result<()> {
        let before = before.filter(|before| before.may_be_due);
        if before.is_none() && after == DueTimes::NONE {
            return Ok(());
        }
        let schema = &self.store.schema;
        let before = match before {
            Some(Existing { location, head, .. }) => {
                let record = schema.records.get(&*self.tx, *location)?;
                head.kind.due_times(record.get(head.metadata_at()..head.body_at()).unwrap_or_default())
            }
            None => DueTimes::NONE,
        };
        change_entries(schema.due, self.tx, key, before, after)
    }

    /// Removes an item, and writes its tombstone if its kind leaves one.
    pub(crate) fn remove_item(&mut self, item: &Existing, key: &[u8], deletion: &Deletion) -> Result<()> {
        let schema = self.store.schema;
        let (kind, collection) = (item.head.kind, item.head.collection);
        let id = record::id(&item.head, schema.records.get(&*self.tx, item.location)?)?.to_owned();
        let place = self.collection_by_number(collection)?;
        let body_size = u32::try_from(deletion.body.len())
            .map_err(|_| Error::Corrupt { rule: "the body of a record has a size" })?;
        // Measured before anything changes.
        let head = Head {
            etag: deletion.etag,
            last_modified: deletion.last_modified,
            flags: Flags::NONE,
            metadata_size: 0,
            body_size,
            state: RecordState::Tombstone,
            ..item.head
        };
        let vector = deletion.vector.as_deref().unwrap_or_default();
        let encoded = Parts { id: &id, vector, server_metadata: &[], content: &[] }.measure(head)?.encode();
        self.change_due(key, Some(item), DueTimes::NONE)?;
        self.change_unique(kind, &Changed { key, place, before: Some(item), after: None })?;
        let items = self.items_of(place, kind)?;
        schema.records.delete(self.tx, item.location, &schema.item_keys(kind, key, item.head.etag, items))?;
        self.change_counts(place, kind).remove_item(item.size);
        if !kind.row().leaves_tombstones {
            return Ok(());
        }
        let bytes = [&encoded[..], id.as_bytes(), vector.as_bytes(), &deletion.body];
        let key = tombstone_key(collection, key);
        let tombstones = self.tombstones_of(place, kind)?;
        let keys = schema.tombstone_keys(kind, &key, deletion.etag, tombstones);
        schema.records.insert(self.tx, &keys, &bytes)?;
        self.change_counts(place, kind).add_tombstone(bytes.iter().map(|part| part.len()).sum());
        Ok(())
    }

    /// Removes tombstones up to `etag`, `count_max` of them at most; gives how many. Everyone who pulls changes has seen
    /// them.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn clean_tombstones(&mut self, etag: Etag, count_max: usize) -> Result<usize> {
        let (mut count, mut cleaned) = (0, 0);
        for kind in ItemKind::all() {
            let by_etag = self.store.schema.kinds[kind].tombstones_by_etag;
            for location in due(self, by_etag, etag, count_max - count)? {
                let tombstone = Existing::at(&self.store.schema, &*self.tx, location, kind, RecordState::Tombstone)?;
                let key = kind.key(record::id(&tombstone.head, self.store.schema.records.get(&*self.tx, location)?)?);
                self.remove_tombstone(&tombstone, &key)?;
                if kind == ItemKind::Document {
                    self.remove_guard_of(&tombstone, &key)?;
                }
                cleaned = tombstone.head.etag.max(cleaned);
                count += 1;
            }
        }
        let schema = self.store.schema;
        schema.note_tombstone_cleaned(self.tx, cleaned)?;
        Ok(count)
    }

    /// Removes the tombstone of an item with this key.
    fn remove_tombstone(&mut self, tombstone: &Existing, key: &[u8]) -> Result<()> {
        let schema = self.store.schema;
        let (kind, collection) = (tombstone.head.kind, tombstone.head.collection);
        let place = self.collection_by_number(collection)?;
        let of_collection = self.tombstones_of(place, kind)?;
        let key = tombstone_key(collection, key);
        let keys = schema.tombstone_keys(kind, &key, tombstone.head.etag, of_collection);
        schema.records.delete(self.tx, tombstone.location, &keys)?;
        self.change_counts(place, kind).remove_tombstone(tombstone.size);
        Ok(())
    }
}

/// The records with etags up to `etag_max`, `count_max` of them at most.
pub(crate) fn due(
    writing: &Writing<'_, '_>,
    by_etag: storage::FixedTree,
    etag_max: Etag,
    count_max: usize,
) -> Result<Vec<Location>> {
    let mut cursor = by_etag.cursor(&*writing.tx);
    let mut locations = Vec::new();
    let mut entry = cursor.seek(0)?;
    while let Some((_, location)) = entry.filter(|(etag, _)| *etag <= etag_max && locations.len() < count_max) {
        locations.push(Location(location));
        entry = cursor.next()?;
    }
    Ok(locations)
}
