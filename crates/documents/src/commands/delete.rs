//! Deleting documents: one, by prefix, by collection. Each leaves a tombstone with an etag of its own.

use crate::ids::id::{lower, lower_into};
use crate::items::change::{Deletion, due};
use crate::items::collections::Collection;
use crate::items::found::{CurrentItem, Existing};
use crate::items::kinds::ItemKind;
use crate::items::record::{self, RecordState};
use crate::{Etag, Expected, Operation, Result, Writing};

/// Documents that a deletion by prefix looks up at once.
const KEYS_AT_ONCE: usize = 1024;

impl Writing<'_, '_> {
    /// Deletes a document; false if there was none.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Conflict`] if the condition does not hold.
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

    pub(crate) fn delete_found(&mut self, mut found: CurrentItem) -> Result<bool> {
        let Some(document) = found.document.take() else {
            self.spare_key = found.key;
            return Ok(false);
        };
        self.revise_before_deletion(&document, &found.key)?;
        self.delete_attachments_of(&document, &found.key)?;
        self.delete_counters_of(&document, &found.key)?;
        let etag = self.next_etag()?;
        let deletion = Deletion {
            etag,
            vector: self.vector_over(Some(&document), etag)?,
            last_modified: self.now,
            body: Vec::new(),
        };
        let vector = deletion.vector.clone().unwrap_or_else(|| self.store.names.vector(etag));
        self.revise_deletion(&document, &found.key, &vector)?;
        self.remove_item(&document, &found.key, &deletion)?;
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
        let by_key = schema.documents().by_key;
        let prefix = lower(prefix);
        let mut count = 0;
        loop {
            let mut keys = Vec::new();
            {
                let mut cursor = by_key.cursor(&*self.tx);
                let mut entry = cursor.seek(&prefix)?;
                while let Some((key, value)) = entry {
                    if !key.starts_with(&prefix) || keys.len() == KEYS_AT_ONCE {
                        break;
                    }
                    keys.push((key.to_vec(), storage::Table::location(by_key, &*self.tx, value)?));
                    entry = cursor.next()?;
                }
            }
            if keys.is_empty() {
                return Ok(count);
            }
            for (key, location) in keys {
                let document =
                    Some(Existing::at(&schema, &*self.tx, location, ItemKind::Document, RecordState::Stored)?);
                self.delete_found(CurrentItem { key, document, tombstone: None })?;
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
        let Some(documents) = collection.items(&*self.tx, ItemKind::Document)? else { return Ok(0) };
        let locations = due(self, documents, etag_max, count_max)?;
        for location in &locations {
            let document = Existing::at(&schema, &*self.tx, *location, ItemKind::Document, RecordState::Stored)?;
            let mut key = std::mem::take(&mut self.spare_key);
            lower_into(&mut key, record::id(&document.head, schema.records.get(&*self.tx, *location)?)?);
            self.delete_found(CurrentItem { key, document: Some(document), tombstone: None })?;
        }
        Ok(locations.len())
    }
}
