//! Changing one value, if its index is the expected one.

use std::cell::RefCell;

use json::{Minifier, Raw};

use super::key::check_key;
use super::value::ValueContent;
use crate::items::change::{Deletion, Parts};
use crate::items::collections::NO_COLLECTION;
use crate::items::found::Existing;
use crate::items::kinds::ItemKind;
use crate::items::record::Head;
use crate::{Etag, Result, Writing};

thread_local! {
    static MINIFIER: RefCell<Minifier> = RefCell::new(Minifier::new());
}

/// A change of one value: a put or a deletion, with its condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueChange {
    /// As it is spelled.
    pub(crate) key: String,
    /// The index that the value must have, 0 for no value; `None`: whatever there is.
    pub(crate) index: Option<u64>,
    /// `None` deletes the value.
    pub(crate) content: Option<ValueContent>,
}

/// The outcome of a change of one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchanged {
    /// False: the index was another one, and nothing was changed.
    pub is_done: bool,
    /// Of the change; if it was not done, of the stored value, or 0.
    pub index: u64,
    /// What was put, or deleted; if nothing was done, the stored value, if there is one. JSON, an object.
    pub value: Option<Vec<u8>>,
}

impl ValueChange {
    /// Puts a value.
    ///
    /// * `value`: JSON, an object: `{"Object":…}`, and perhaps `@metadata`.
    /// * `index`: the index that the stored value must have, 0 for no value; `None`: whatever there is.
    ///
    /// # Errors
    ///
    /// The key cannot be one, or the value is not acceptable.
    pub fn put(key: &str, value: &[u8], index: Option<u64>) -> Result<ValueChange> {
        let content = MINIFIER.with_borrow_mut(|minifier| ValueContent::new(minifier.minify(value)?))?;
        Self::new(key, index, Some(content))
    }

    /// Deletes a value.
    ///
    /// * `index`: the index that the stored value must have; `None`: whatever it has.
    ///
    /// # Errors
    ///
    /// The key cannot be one.
    pub fn delete(key: &str, index: Option<u64>) -> Result<ValueChange> {
        Self::new(key, index, None)
    }

    pub(super) fn new(key: &str, index: Option<u64>, content: Option<ValueContent>) -> Result<ValueChange> {
        check_key(key)?;
        Ok(ValueChange { key: key.to_owned(), index, content })
    }

    /// The value that is put.
    pub fn value(&self) -> Option<Raw<'_>> {
        self.content.as_ref().map(|content| Raw::new(&content.body))
    }

    /// Bytes that it holds in memory, about.
    pub fn size(&self) -> usize {
        let content = self.content.as_ref().map_or(0, |content| content.metadata.len() + content.body.len());
        size_of::<ValueChange>() + self.key.len() + content
    }
}

/// Whether a condition holds.
///
/// * `stored`: the index of the stored value.
pub(super) fn is_expected(expected: Option<u64>, stored: Option<u64>) -> bool {
    match expected {
        None => true,
        Some(index) => index == stored.unwrap_or(0),
    }
}

impl Writing<'_, '_> {
    /// Changes a value, if its index is the expected one.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn exchange(&mut self, change: &ValueChange) -> Result<Exchanged> {
        let key = ItemKind::CompareExchange.key(&change.key);
        let stored = self.find_item(ItemKind::CompareExchange, &key)?;
        let index = stored.as_ref().map(|stored| stored.head.etag);
        let before = match &stored {
            Some(stored) => {
                let record = self.store.schema.records.get(&*self.tx, stored.location)?;
                Some(record.get(stored.head.body_at()..).unwrap_or_default().to_vec())
            }
            None => None,
        };
        // A deletion of nothing is not done, whatever index it gives.
        if !is_expected(change.index, index) || change.content.is_none() && stored.is_none() {
            return Ok(Exchanged { is_done: false, index: index.unwrap_or(0), value: before });
        }
        let index = self.apply_value(change, &key, stored)?.unwrap_or(0);
        let value = change.content.as_ref().map(|content| content.body.clone()).or(before);
        Ok(Exchanged { is_done: true, index, value })
    }

    /// Changes values, each if its index is the expected one; gives how many changes were done.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn exchange_many(&mut self, changes: &[ValueChange]) -> Result<u64> {
        let mut count = 0;
        for change in changes {
            count += u64::from(self.exchange(change)?.is_done);
        }
        Ok(count)
    }

    /// The index of a value; 0: there is none.
    pub(crate) fn index_of_value(&self, key: &str) -> Result<u64> {
        let key = ItemKind::CompareExchange.key(key);
        Ok(self.find_item(ItemKind::CompareExchange, &key)?.map_or(0, |stored| stored.head.etag))
    }

    /// Puts or deletes a value whose condition holds; gives the etag of that, `None` if there was nothing to be deleted.
    pub(super) fn apply_value(
        &mut self,
        change: &ValueChange,
        key: &[u8],
        stored: Option<Existing>,
    ) -> Result<Option<Etag>> {
        match (&change.content, stored) {
            (Some(content), stored) => self.put_value(&change.key, content, key, stored).map(Some),
            (None, Some(stored)) => self.delete_value(&stored, key).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn put_value(
        &mut self,
        spelled: &str,
        content: &ValueContent,
        key: &[u8],
        stored: Option<Existing>,
    ) -> Result<Etag> {
        let place = self.collection_by_number(NO_COLLECTION)?;
        let etag = self.next_etag()?;
        let tombstone = match stored {
            None => self.find_tombstone(ItemKind::CompareExchange, NO_COLLECTION, key)?,
            Some(_) => None,
        };
        // Both sizes are below the limit of documents.
        let head = Head {
            metadata_size: content.metadata.len() as u32,
            body_size: content.body.len() as u32,
            ..Head::stored(ItemKind::CompareExchange, NO_COLLECTION, etag, self.now)
        };
        let bytes = [&content.metadata[..], &content.body].concat();
        let parts = Parts { id: spelled, vector: "", server_metadata: &[], content: &bytes };
        self.store_item(place, head, parts, key, stored.as_ref(), tombstone.as_ref())?;
        Ok(etag)
    }

    pub(crate) fn delete_value(&mut self, stored: &Existing, key: &[u8]) -> Result<Etag> {
        let etag = self.next_etag()?;
        self.remove_item(stored, key, &Deletion { etag, vector: None, last_modified: self.now, body: Vec::new() })?;
        Ok(etag)
    }
}
