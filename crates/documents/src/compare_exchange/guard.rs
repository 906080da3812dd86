//! Atomic guards: for each document that a cluster-wide transaction writes a value, whose index is that of the last such transaction.
//!
//! ```text
//! rvn-atomic/users/1 -> {"Object":{"Id":"users/1"}}        index 68
//! users/1               change vector A:69-<database id>, TRXN:68-<transaction id>
//! ```
//!
//! A write outside of such a transaction keeps the entry `TRXN` of the document that it replaces, and leaves the guard alone, as does a
//! deletion, whose tombstone keeps the entry. Clients send the change vector that they read; its entry `TRXN` is the index that the guard
//! must have, and no entry stands for no guard. The transaction id is made from the database id.
//!
//! When the tombstone of a document is cleaned, a guard goes whose index no change vector names any more, since no transaction could ever
//! write that document again.

use std::collections::HashMap;

use crate::items::found::Existing;
use crate::items::kinds::ItemKind;
use crate::{ChangeVector, Etag, Result, Writing};

/// What the keys of guards begin with.
pub(super) const PREFIX: &str = "rvn-atomic/";

/// The tag of the entry of change vectors that names the index of a guard.
const TAG: &str = "TRXN";

/// The indexes of the guards that a transaction wrote, by the key of their documents.
pub(crate) type GuardIndexes = HashMap<Vec<u8>, Etag>;

/// A change of the guard of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GuardChange {
    /// The document.
    pub id: String,
    /// The index that the guard must have, 0 for no guard; `None`: whatever it has.
    pub index: Option<u64>,
    /// True if the transaction deletes the document; the guard goes with it.
    pub is_deletion: bool,
}

/// Whether a key is that of an atomic guard.
pub fn is_guard(key: &str) -> bool {
    key.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX))
}

/// The key of the guard of a document, as it is spelled.
pub(super) fn key_of(id: &str) -> String {
    format!("{PREFIX}{id}")
}

/// The value of the guard of a document.
pub(super) fn value_of(id: &str) -> Vec<u8> {
    let mut value = Vec::with_capacity(id.len() + 32);
    json::Writer::new(&mut value).object(|json| {
        json.name("Object").object(|json| _ = json.name("Id").string(id));
    });
    value
}

/// The index of a guard that a change vector names; 0: it names none.
///
/// # Errors
///
/// It is no change vector.
pub(super) fn index_in(vector: &str) -> Result<u64> {
    Ok(ChangeVector::parse(vector)?.etag_of_tag(TAG))
}

/// The entry of a change vector that names the index of a guard.
pub(super) fn vector_of(index: Etag, transaction_id: &str) -> String {
    format!("{TAG}:{index}-{transaction_id}")
}

impl Writing<'_, '_> {
    /// The vector of a put over what is there, see [`Self::vector_over`]: if it belongs to a transaction with guards, the vector names the
    /// index of the document's guard.
    #[inline]
    pub(crate) fn vector_of_put(&self, key: &[u8], before: Option<&Existing>, etag: Etag) -> Result<Option<String>> {
        match self.guard_indexes.is_empty() {
            true => self.vector_over(before, etag),
            false => self.vector_with_guard(key, before, etag),
        }
    }

    fn vector_with_guard(&self, key: &[u8], before: Option<&Existing>, etag: Etag) -> Result<Option<String>> {
        let Some(index) = self.guard_indexes.get(key) else { return self.vector_over(before, etag) };
        let names = &self.store.names;
        let before = before.and_then(|before| before.vector.as_deref()).unwrap_or_default();
        let mut vector = ChangeVector::parse(before)?;
        vector.raise(&names.node_tag, etag, &names.database_id);
        vector.raise(TAG, *index, &names.transaction_id);
        Ok(Some(vector.to_string()))
    }

    /// Removes the guard of a document whose tombstone is being removed, unless the change vector of the document names it, or the guard
    /// is newer, so that another tombstone of the document names it.
    ///
    /// * `tombstone`: has been found under `key`.
    pub(crate) fn remove_guard_of(&mut self, tombstone: &Existing, key: &[u8]) -> Result<()> {
        let named_by = |existing: &Existing| existing.vector.as_deref().map_or(Ok(0), index_in);
        let index = named_by(tombstone)?;
        if index == 0 {
            return Ok(());
        }
        if let Some(document) = self.find_item(ItemKind::Document, key)?
            && named_by(&document)? > 0
        {
            return Ok(());
        }
        let key = [PREFIX.as_bytes(), key].concat();
        match self.find_item(ItemKind::CompareExchange, &key)? {
            Some(guard) if guard.head.etag <= index => self.delete_value(&guard, &key).map(drop),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_are_known_by_their_key_in_any_case() {
        assert!(is_guard("rvn-atomic/users/1") && is_guard("RVN-Atomic/") && is_guard(&key_of("é")));
        assert!(!is_guard("rvn-atomic") && !is_guard("é") && !is_guard("") && !is_guard("x/rvn-atomic/"));
    }

    #[test]
    fn a_change_vector_names_the_index_of_a_guard() {
        assert_eq!(index_in("").unwrap(), 0);
        assert_eq!(index_in("A:5-x").unwrap(), 0);
        assert_eq!(index_in(&vector_of(7, "y")).unwrap(), 7);
        assert_eq!(index_in("A:5-x, TRXN:7-y").unwrap(), 7);
        assert_eq!(index_in("RAFT:1-z,TRXN:7-y,TRXN:9-w").unwrap(), 9);
        assert!(index_in("nonsense").is_err());
    }
}
