//! The references of one document: what its maps loaded, documents by their lower-cased ids, compare-exchange values by their keys.

use std::collections::HashSet;

use documents::{Item, ItemKind, id};

/// Ids up to which they are compared one by one: most maps load one document or two.
const COMPARED_MAX: usize = 32;

/// What the key of a compare-exchange value begins with among the references. No id of a document begins so.
const VALUE: u8 = 0;

/// The reference to an item.
pub(super) fn reference(item: &Item<'_>) -> Vec<u8> {
    match item.kind() {
        ItemKind::Document | ItemKind::Attachment | ItemKind::Counter | ItemKind::Revision => id::lower(item.id()),
        ItemKind::CompareExchange => reference_to_value(item.id()),
    }
}

/// The reference to the compare-exchange value with a key.
pub(super) fn reference_to_value(key: &str) -> Vec<u8> {
    [&[VALUE], &*id::lower(key)].concat()
}

/// References, each once.
#[derive(Debug, Default)]
pub(super) struct LoadedIds {
    ids: Vec<Vec<u8>>,
    /// All of them, once there are more than [`COMPARED_MAX`].
    many: HashSet<Vec<u8>>,
}

impl LoadedIds {
    pub fn clear(&mut self) {
        self.ids.clear();
        self.many.clear();
    }

    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn contains(&self, id: &Vec<u8>) -> bool {
        if self.many.is_empty() { self.ids.contains(id) } else { self.many.contains(id) }
    }

    /// Adds an id that it does not contain.
    pub fn push(&mut self, id: Vec<u8>) {
        if self.ids.len() == COMPARED_MAX {
            self.many.extend(self.ids.iter().cloned());
        }
        if self.ids.len() >= COMPARED_MAX {
            self.many.insert(id.clone());
        }
        self.ids.push(id);
    }

    /// All ids, in rising order.
    pub fn sorted(&mut self) -> &[Vec<u8>] {
        self.ids.sort_unstable();
        &self.ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_id_is_stored_once_in_small_and_large_sets() {
        let mut loaded = LoadedIds::default();
        for count in [3, 1000, COMPARED_MAX, COMPARED_MAX + 1] {
            loaded.clear();
            let ids: Vec<Vec<u8>> = (0..count).map(|number| format!("c/{number:05}").into_bytes()).collect();
            for _ in 0..2 {
                for id in ids.iter().rev() {
                    if !loaded.contains(id) {
                        loaded.push(id.clone());
                    }
                }
                assert_eq!((loaded.len(), loaded.sorted()), (count, ids.as_slice()));
            }
            assert!(!loaded.contains(&b"c/x".to_vec()));
        }
    }
}
