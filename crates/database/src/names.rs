//! Finds databases by name without regard to case, by a table of spellings that it has seen.
//!
//! A look-up of a known spelling is one load and one probe of a hash table: no lower-casing, no lock. An unknown spelling is
//! lower-cased, and learnt if there is such a database. What is learnt is bounded, and forgotten when a database goes.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use crate::limits::SPELLINGS_PER_DATABASE_MAX;

/// Names to things, in any case.
pub(crate) struct Names<T> {
    spellings: ArcSwap<HashMap<Box<str>, Arc<T>>>,
    /// Lower-cased names; the truth.
    known: Mutex<HashMap<String, Arc<T>>>,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Names { spellings: ArcSwap::default(), known: Mutex::default() }
    }
}

impl<T> Names<T> {
    pub fn get(&self, name: &str) -> Option<Arc<T>> {
        if let Some(found) = self.spellings.load().get(name) {
            return Some(found.clone());
        }
        self.learn(name)
    }

    #[cold]
    fn learn(&self, name: &str) -> Option<Arc<T>> {
        let known = self.known.lock();
        let found = known.get(&name.to_ascii_lowercase())?.clone();
        let mut spellings = HashMap::clone(&self.spellings.load());
        if spellings.len() >= known.len() * SPELLINGS_PER_DATABASE_MAX {
            spellings.clear();
        }
        spellings.insert(name.into(), found.clone());
        self.spellings.store(Arc::new(spellings));
        Some(found)
    }

    /// Adds a name; false if it is there already, in any case.
    pub fn insert(&self, name: &str, value: Arc<T>) -> bool {
        let mut known = self.known.lock();
        let lower = name.to_ascii_lowercase();
        if known.contains_key(&lower) {
            return false;
        }
        known.insert(lower, value);
        true
    }

    /// Takes a name away, with all its spellings.
    pub fn remove(&self, name: &str) -> Option<Arc<T>> {
        let mut known = self.known.lock();
        let removed = known.remove(&name.to_ascii_lowercase());
        let mut spellings = HashMap::clone(&self.spellings.load());
        spellings.retain(|spelling, _| !spelling.eq_ignore_ascii_case(name));
        self.spellings.store(Arc::new(spellings));
        removed
    }

    pub fn all(&self) -> Vec<Arc<T>> {
        self.known.lock().values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_finds_and_none_is_left_behind() {
        let names = Names::default();
        assert!(names.insert("Shop", Arc::new(1)) && !names.insert("SHOP", Arc::new(2)));
        for _ in 0..2 {
            assert_eq!(names.get("sHoP").as_deref(), Some(&1));
        }
        assert_eq!(names.get("other"), None);
        assert_eq!(names.remove("shop").as_deref(), Some(&1));
        assert_eq!(names.get("sHoP"), None);
        assert!(names.spellings.load().is_empty());
    }

    #[test]
    fn what_is_learnt_is_bounded() {
        let names = Names::default();
        names.insert("abcdefghijkl", Arc::new(1));
        for bits in 0..4096u32 {
            let flip = |(at, c): (usize, char)| if bits & 1 << at != 0 { c.to_ascii_uppercase() } else { c };
            let spelling: String = "abcdefghijkl".chars().enumerate().map(flip).collect();
            assert!(names.get(&spelling).is_some());
            assert!(names.spellings.load().len() <= SPELLINGS_PER_DATABASE_MAX);
        }
    }
}
