//! The documents that the maps of one document asked for.

use std::collections::HashSet;

/// Ids up to which they are compared one by one: most maps load one document or two.
const COMPARED_MAX: usize = 32;

/// Lower-cased ids, each once.
#[derive(Debug, Default)]
pub(super) struct LoadedIds {
    ids: Vec<Vec<u8>>,
    /// All of them, where they are more than are compared.
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

    /// Adds one that it does not have.
    pub fn push(&mut self, id: Vec<u8>) {
        if self.ids.len() == COMPARED_MAX {
            self.many.extend(self.ids.iter().cloned());
        }
        if self.ids.len() >= COMPARED_MAX {
            self.many.insert(id.clone());
        }
        self.ids.push(id);
    }

    /// All of them, rising.
    pub fn sorted(&mut self) -> &[Vec<u8>] {
        self.ids.sort_unstable();
        &self.ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_there_once_however_many_they_are() {
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
