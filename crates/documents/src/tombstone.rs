//! Tombstones: that a document was deleted, for everything that pulls changes; and their cleaning.
//!
//! A document that is written again in its collection takes its tombstone away: who pulls changes of that collection meets the
//! document, with a higher etag. One that comes back in another collection leaves it: the first has to learn that it is gone.

use storage::Location;

use crate::put::location_from;
use crate::record::{self, Head, Kind};
use crate::schema::tombstone_key;
use crate::{Date, Error, Etag, Result, Writing, id};

/// The deletion of a document.
pub struct Tombstone<'t> {
    head: Head,
    record: &'t [u8],
}

impl<'t> Tombstone<'t> {
    pub(crate) fn new(record: &'t [u8]) -> Result<Tombstone<'t>> {
        let head = Head::decode(record)?;
        if head.kind != Kind::Tombstone {
            return Err(Error::Corrupt { rule: "a tombstone's key leads to a tombstone" });
        }
        Ok(Tombstone { head, record })
    }

    /// The id of the document, as it was spelled.
    pub fn id(&self) -> &str {
        record::id(&self.head, self.record).unwrap_or_default()
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
        let schema = self.store.schema;
        let mut due = Vec::new();
        {
            let mut cursor = schema.tombstones_by_etag.cursor(&*self.tx);
            let mut entry = cursor.seek(0)?;
            while let Some((_, location)) = entry.filter(|(at, _)| *at <= etag && due.len() < count_max) {
                due.push(Location(location));
                entry = cursor.next()?;
            }
        }
        due.iter().try_for_each(|location| self.remove_tombstone(*location))?;
        Ok(due.len())
    }

    /// The tombstone that a document whose key is in `self.key` left in a collection.
    pub(crate) fn find_tombstone(&self, place: usize) -> Result<Option<Location>> {
        let collection = self.collection(place);
        if collection.tombstone_count == 0 {
            return Ok(None);
        }
        let key = tombstone_key(collection.number, &self.key);
        self.store.schema.tombstones_by_id.get(&*self.tx, &key)?.map(location_from).transpose()
    }

    /// Removes a tombstone with all that leads to it.
    pub(crate) fn remove_tombstone(&mut self, location: Location) -> Result<()> {
        let schema = self.store.schema;
        let (head, key, size) = {
            let record = schema.records.get(&*self.tx, location)?;
            let head = Head::decode(record)?;
            let key = tombstone_key(head.collection, &id::lower(record::id(&head, record)?));
            (head, key, record.len() as u64)
        };
        let row = self.collection_by_number(head.collection)?;
        let tree = self.collection(row).tombstones(&*self.tx)?;
        self.change_collection(row, |collection| {
            collection.tombstone_count = collection.tombstone_count.saturating_sub(1);
            collection.tombstone_size = collection.tombstone_size.saturating_sub(size);
        });
        tree.delete(self.tx, head.etag)?;
        schema.tombstones_by_etag.delete(self.tx, head.etag)?;
        schema.tombstones_by_id.delete(self.tx, &key)?;
        schema.records.delete(self.tx, location)?;
        Ok(())
    }
}
