//! Deleting documents: one, by prefix, by collection. Each leaves a tombstone with an etag of its own.

use storage::Location;

use crate::collections::Collection;
use crate::id::{lower, lower_into};
use crate::put::{Existing, location_from};
use crate::record::{self, Head, Kind};
use crate::schema::tombstone_key;
use crate::writing::check_expected;
use crate::{Expected, Flags, Operation, Result, Writing};

impl Writing<'_, '_> {
    /// Deletes a document; false if there was none.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`](crate::Error::Conflict) if the condition does not hold.
    pub fn delete(&mut self, id: &str, expected: &Expected) -> Result<bool> {
        let existing = self.find(id)?;
        if *expected != Expected::Any {
            let actual = existing.as_ref().map(|existing| self.vector_of(existing));
            check_expected(Operation::Delete, id, expected, actual.as_deref())?;
        }
        match existing {
            Some(existing) => self.apply_delete(&existing).map(|()| true),
            None => Ok(false),
        }
    }

    /// Deletes all documents whose id begins with `prefix`; gives how many.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn delete_prefixed(&mut self, prefix: &str) -> Result<u64> {
        let schema = self.store.schema;
        let prefix = lower(prefix);
        let mut count = 0;
        loop {
            let mut keys = Vec::new();
            {
                let mut cursor = schema.by_id.cursor(&*self.tx);
                let mut entry = cursor.seek(&prefix)?;
                while let Some((key, location)) = entry {
                    if !key.starts_with(&prefix) || keys.len() == 1024 {
                        break;
                    }
                    keys.push((key.to_vec(), location_from(location)?));
                    entry = cursor.next()?;
                }
            }
            if keys.is_empty() {
                return Ok(count);
            }
            for (key, location) in keys {
                let existing = self.existing_at(location)?;
                self.key = key;
                self.apply_delete(&existing)?;
                count += 1;
            }
        }
    }

    /// Deletes documents of a collection with etags up to `etag_max`, `count_max` at most; gives how many. Called again
    /// until it gives 0, in transactions of their own.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn delete_collection(&mut self, name: &str, etag_max: crate::Etag, count_max: usize) -> Result<usize> {
        let Some(collection) = Collection::by_name(&self.store.schema, &*self.tx, name)? else { return Ok(0) };
        let documents = collection.documents(&*self.tx)?;
        let mut locations = Vec::new();
        {
            let mut cursor = documents.cursor(&*self.tx);
            let mut entry = cursor.seek(0)?;
            while let Some((etag, location)) = entry {
                if etag > etag_max || locations.len() == count_max {
                    break;
                }
                locations.push(Location(location));
                entry = cursor.next()?;
            }
        }
        for location in &locations {
            let existing = self.existing_at(*location)?;
            let id = {
                let record = self.store.schema.records.get(&*self.tx, *location)?;
                record::id(&existing.head, record)?.to_owned()
            };
            lower_into(&mut self.key, &id);
            self.apply_delete(&existing)?;
        }
        Ok(locations.len())
    }

    fn existing_at(&self, location: Location) -> Result<Existing> {
        let record = self.store.schema.records.get(&*self.tx, location)?;
        let head = Head::decode(record)?;
        let vector = record::vector(&head, record)?.map(str::to_owned);
        Ok(Existing { location, head, size: record.len(), vector })
    }

    /// Removes a document, whose key is in `self.key`, and writes its tombstone.
    pub(crate) fn apply_delete(&mut self, existing: &Existing) -> Result<()> {
        let schema = self.store.schema;
        let etag = self.next_etag();
        let id = {
            let record = schema.records.get(&*self.tx, existing.location)?;
            record::id(&existing.head, record)?.to_owned()
        };
        let vector = existing.vector.as_deref().unwrap_or_default();
        let head = Head {
            etag,
            last_modified: self.now,
            flags: Flags::NONE,
            metadata_size: 0,
            body_size: 0,
            kind: Kind::Tombstone,
            ..existing.head
        };
        let encoded = head.encode();
        let parts = [&encoded[..], id.as_bytes(), vector.as_bytes()];
        let size = parts.iter().map(|part| part.len() as u64).sum::<u64>();
        let place = self.collection_by_number(existing.head.collection)?;
        let documents = self.documents_of(place);
        let tombstones = self.collection(place).tombstones(&*self.tx)?;
        self.change_collection(place, |collection| {
            collection.document_count = collection.document_count.saturating_sub(1);
            collection.document_size = collection.document_size.saturating_sub(existing.size as u64);
            collection.tombstone_count += 1;
            collection.tombstone_size += size;
        });
        schema.by_id.delete(self.tx, &self.key)?;
        schema.by_etag.delete(self.tx, existing.head.etag)?;
        documents.delete(self.tx, existing.head.etag)?;
        schema.records.delete(self.tx, existing.location)?;
        let location = schema.records.insert(self.tx, &parts)?;
        schema.tombstones_by_etag.put(self.tx, etag, location.0)?;
        tombstones.put(self.tx, etag, location.0)?;
        let key = tombstone_key(existing.head.collection, &self.key);
        schema.tombstones_by_id.put(self.tx, &key, &location.0.to_le_bytes())?;
        Ok(())
    }
}
