//! Tombstones: that a document was deleted, for everything that pulls changes; and their cleaning.
//!
//! A document that is written again in its collection takes its tombstone away: who pulls changes of that collection meets the
//! document, with a higher etag. One that comes back in another collection leaves it: the first has to learn that it is gone.

use crate::delete::due;
use crate::found::Existing;
use crate::record::{self, Head, Kind};
use crate::schema::tombstone_key;
use crate::{Date, Error, Etag, Result, Writing, id};

/// The deletion of a document.
pub struct Tombstone<'t> {
    head: Head,
    id: &'t str,
}

impl<'t> Tombstone<'t> {
    pub(crate) fn new(record: &'t [u8]) -> Result<Tombstone<'t>> {
        let head = Head::decode(record)?;
        if head.kind != Kind::Tombstone {
            return Err(Error::Corrupt { rule: "a tombstone's key leads to a tombstone" });
        }
        Ok(Tombstone { id: record::id(&head, record)?, head })
    }

    /// The id of the document, as it was spelled.
    pub fn id(&self) -> &str {
        self.id
    }

    /// The number of the deletion.
    pub fn etag(&self) -> Etag {
        self.head.etag
    }

    /// When it was deleted.
    pub fn last_modified(&self) -> Date {
        self.head.last_modified
    }
}

impl Writing<'_, '_> {
    /// Removes tombstones up to `etag`, `count_max` of them at most; gives how many. Everyone who pulls changes has seen
    /// them.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn clean_tombstones(&mut self, etag: Etag, count_max: usize) -> Result<usize> {
        let due = due(self, self.store.schema.tombstones_by_etag, etag, count_max)?;
        for location in &due {
            let tombstone = Existing::at(&self.store.schema, &*self.tx, *location)?;
            let record = self.store.schema.records.get(&*self.tx, *location)?;
            let key = id::lower(record::id(&tombstone.head, record)?);
            self.remove_tombstone(&tombstone, &key)?;
        }
        Ok(due.len())
    }

    /// Removes the tombstone of a lower-cased id.
    pub(crate) fn remove_tombstone(&mut self, tombstone: &Existing, key: &[u8]) -> Result<()> {
        let schema = self.store.schema;
        let place = self.collection_by_number(tombstone.head.collection)?;
        let key = tombstone_key(tombstone.head.collection, key);
        let keys = schema.tombstone_keys(&key, tombstone.head.etag, self.tombstones_of(place)?);
        schema.records.delete(self.tx, tombstone.location, &keys)?;
        self.change_collection(place, |collection| {
            collection.tombstone_count = collection.tombstone_count.saturating_sub(1);
            collection.tombstone_size = collection.tombstone_size.saturating_sub(tombstone.size as u64);
        });
        Ok(())
    }
}
