//! Tombstones: that a document was deleted, for everything that pulls changes; and their cleaning.

use storage::Location;

use crate::record::{self, Head, Kind};
use crate::{Date, Error, Etag, Result, Writing};

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
            while let Some((at, location)) = entry.filter(|(at, _)| *at <= etag && due.len() < count_max) {
                due.push((at, location));
                entry = cursor.next()?;
            }
        }
        for (etag, location) in &due {
            let (collection, size) = {
                let record = schema.records.get(&*self.tx, Location(*location))?;
                (Head::decode(record)?.collection, record.len() as u64)
            };
            let row = self.collection_by_number(collection)?;
            let tree = self.collection(row).tombstones(&*self.tx)?;
            self.change_collection(row, |collection| {
                collection.tombstone_count = collection.tombstone_count.saturating_sub(1);
                collection.tombstone_size = collection.tombstone_size.saturating_sub(size);
            });
            tree.delete(self.tx, *etag)?;
            schema.tombstones_by_etag.delete(self.tx, *etag)?;
            schema.records.delete(self.tx, Location(*location))?;
        }
        Ok(due.len())
    }
}
