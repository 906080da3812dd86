//! Deleting documents: one, by prefix, by collection. Each leaves a tombstone with an etag of its own.

use storage::{FixedTree, Location};

use crate::collections::Collection;
use crate::found::{Existing, Found};
use crate::id::{lower, lower_into};
use crate::record::{self, Head, Kind};
use crate::schema::tombstone_key;
use crate::{Date, Error, Etag, Expected, Flags, Operation, Result, Writing};

/// Documents that a deletion by prefix looks up at once.
const KEYS_AT_ONCE: usize = 1024;

/// A decided deletion of a document that is there: all that its tombstone holds.
#[derive(Debug)]
pub(crate) struct Delete {
    etag: Etag,
    /// `None`: this database's own entry alone.
    vector: Option<String>,
    last_modified: Date,
}

impl Writing<'_, '_> {
    /// Deletes a document; false if there was none.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] if the condition does not hold.
    pub fn delete(&mut self, id: &str, expected: &Expected) -> Result<bool> {
        let found = self.find(id)?;
        self.check_expected(Operation::Delete, id, expected, found.document.as_ref())?;
        self.delete_found(found)
    }

    /// Deletes a document unless it was written after `etag_max`; false if it was, or there is none.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn delete_until(&mut self, id: &str, etag_max: Etag) -> Result<bool> {
        let found = self.find(id)?;
        match &found.document {
            Some(document) if document.head.etag > etag_max => Ok(false),
            _ => self.delete_found(found),
        }
    }

    fn delete_found(&mut self, mut found: Found) -> Result<bool> {
        let Some(document) = found.document.take() else {
            self.spare_key = found.key;
            return Ok(false);
        };
        let etag = self.next_etag()?;
        let delete = Delete { etag, vector: self.vector_over(Some(&document), etag)?, last_modified: self.now };
        self.apply_delete(&delete, &document, &found.key)?;
        self.applied(etag, found);
        Ok(true)
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
                while let Some((key, value)) = entry {
                    if !key.starts_with(&prefix) || keys.len() == KEYS_AT_ONCE {
                        break;
                    }
                    keys.push((key.to_vec(), storage::Table::location(schema.by_id, &*self.tx, value)?));
                    entry = cursor.next()?;
                }
            }
            if keys.is_empty() {
                return Ok(count);
            }
            for (key, location) in keys {
                let document = Some(Existing::at(&schema, &*self.tx, location)?);
                self.delete_found(Found { key, document, tombstone: None })?;
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
    pub fn delete_collection(&mut self, name: &str, etag_max: Etag, count_max: usize) -> Result<usize> {
        let schema = self.store.schema;
        let Some(collection) = Collection::by_name(&schema, &*self.tx, name)? else { return Ok(0) };
        let locations = due(self, collection.documents(&*self.tx)?, etag_max, count_max)?;
        for location in &locations {
            let document = Existing::at(&schema, &*self.tx, *location)?;
            let mut key = std::mem::take(&mut self.spare_key);
            lower_into(&mut key, record::id(&document.head, schema.records.get(&*self.tx, *location)?)?);
            self.delete_found(Found { key, document: Some(document), tombstone: None })?;
        }
        Ok(locations.len())
    }

    /// Removes a document and writes its tombstone.
    fn apply_delete(&mut self, delete: &Delete, document: &Existing, key: &[u8]) -> Result<()> {
        let schema = self.store.schema;
        let id = record::id(&document.head, schema.records.get(&*self.tx, document.location)?)?.to_owned();
        let vector = delete.vector.as_deref().unwrap_or_default();
        let too_large = || Error::TooLarge { what: "a change vector", size: vector.len(), max: u16::MAX.into() };
        let head = Head {
            etag: delete.etag,
            last_modified: delete.last_modified,
            flags: Flags::NONE,
            vector_size: u16::try_from(vector.len()).map_err(|_| too_large())?,
            metadata_size: 0,
            body_size: 0,
            kind: Kind::Tombstone,
            ..document.head
        };
        let encoded = head.encode();
        let parts = [&encoded[..], id.as_bytes(), vector.as_bytes()];
        let size = parts.iter().map(|part| part.len() as u64).sum::<u64>();
        let place = self.collection_by_number(document.head.collection)?;
        let documents = self.documents_of(place);
        let tombstones = self.tombstones_of(place)?;
        let keys = schema.document_keys(key, document.head.etag, documents);
        schema.records.delete(self.tx, document.location, &keys)?;
        let key = tombstone_key(head.collection, key);
        schema.records.insert(self.tx, &schema.tombstone_keys(&key, delete.etag, tombstones), &parts)?;
        self.change_collection(place, |collection| {
            collection.document_count = collection.document_count.saturating_sub(1);
            collection.document_size = collection.document_size.saturating_sub(document.size as u64);
            collection.tombstone_count = collection.tombstone_count.saturating_add(1);
            collection.tombstone_size = collection.tombstone_size.saturating_add(size);
        });
        Ok(())
    }
}

/// The records with etags up to `etag_max`, `count_max` of them at most.
pub(crate) fn due(
    writing: &Writing<'_, '_>,
    by_etag: FixedTree,
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
