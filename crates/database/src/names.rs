//! Finds databases by name without regard to case, by a table of spellings that it has seen.
//!
//! A look-up of a known spelling is one load and one probe of a hash table: no lower-casing, no lock, nothing that other
//! threads write. An unknown spelling is lower-cased, and learnt if there is such a database. Learning copies the table, so it ends when
//! the table is full; what is not learnt is lower-cased each time. What was learnt is forgotten when its database goes.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::RwLock;

use crate::limits::{SPELLINGS_COUNT_MAX, SPELLINGS_PER_DATABASE_MAX};

/// Names to things, in any case.
pub(crate) struct Names<T> {
    spellings: ArcSwap<HashMap<Box<str>, Arc<T>, Seed>>,
    /// Lower-cased names; the truth.
    known: RwLock<HashMap<String, Arc<T>>>,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Names { spellings: ArcSwap::default(), known: RwLock::default() }
    }
}

/// Makes hashes of spellings, eight bytes a step. There are few, all of databases that somebody was allowed to create, so the
/// hash need not withstand more than names that are chosen badly: it begins at random.
#[derive(Clone)]
struct Seed(u64);

impl Default for Seed {
    fn default() -> Seed {
        Seed(RandomState::new().build_hasher().finish())
    }
}

impl BuildHasher for Seed {
    type Hasher = SpellingHasher;

    #[inline]
    fn build_hasher(&self) -> SpellingHasher {
        SpellingHasher(self.0)
    }
}

struct SpellingHasher(u64);

/// Odd, without a pattern in its bits: the golden ratio's.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

impl SpellingHasher {
    /// Multiplies to twice the size, and folds.
    #[inline]
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(MULTIPLIER);
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}

impl Hasher for SpellingHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.mix(u64::from_le_bytes(*word)));
        // What is left over: the last eight bytes, some of them again, or fewer than eight with their number.
        match bytes.last_chunk::<8>() {
            Some(word) if !rest.is_empty() => self.mix(u64::from_le_bytes(*word)),
            Some(_) => {}
            None => self.mix(rest.iter().fold(rest.len() as u64, |word, byte| word << 8 | u64::from(*byte))),
        }
    }

    /// What a text ends with; no spelling is hashed beside another.
    #[inline]
    fn write_u8(&mut self, _: u8) {}

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

impl<T> Names<T> {
    pub fn get(&self, name: &str) -> Option<Arc<T>> {
        self.with(name, Arc::clone)
    }

    /// Looks at what is found without counting a reference to it, which all threads would write.
    #[inline]
    pub fn with<R>(&self, name: &str, look: impl FnOnce(&Arc<T>) -> R) -> Option<R> {
        if let Some(found) = self.spellings.load().get(name) {
            return Some(look(found));
        }
        self.find_and_learn(name).map(|found| look(&found))
    }

    #[cold]
    fn find_and_learn(&self, name: &str) -> Option<Arc<T>> {
        let found = self.known.read().get(&name.to_ascii_lowercase())?.clone();
        if self.spellings.load().len() < SPELLINGS_COUNT_MAX {
            self.learn(name);
        }
        Some(found)
    }

    fn learn(&self, name: &str) {
        // Whoever changes the table of spellings holds the lock.
        let known = self.known.write();
        let Some(found) = known.get(&name.to_ascii_lowercase()) else { return };
        let mut spellings = HashMap::clone(&self.spellings.load());
        let spelling_count = spellings.values().filter(|other| Arc::ptr_eq(other, found)).count();
        if spellings.len() < SPELLINGS_COUNT_MAX && spelling_count < SPELLINGS_PER_DATABASE_MAX {
            spellings.insert(name.into(), found.clone());
            self.spellings.store(Arc::new(spellings));
        }
    }

    /// Adds a name; false if it is there already, in any case.
    pub fn insert(&self, name: &str, value: Arc<T>) -> bool {
        let mut known = self.known.write();
        let lower = name.to_ascii_lowercase();
        if known.contains_key(&lower) {
            return false;
        }
        known.insert(lower, value);
        true
    }

    /// Takes a name away, with all its spellings.
    pub fn remove(&self, name: &str) -> Option<Arc<T>> {
        let mut known = self.known.write();
        let removed = known.remove(&name.to_ascii_lowercase());
        let mut spellings = HashMap::clone(&self.spellings.load());
        spellings.retain(|spelling, _| !spelling.eq_ignore_ascii_case(name));
        self.spellings.store(Arc::new(spellings));
        removed
    }

    pub fn all(&self) -> Vec<Arc<T>> {
        self.known.read().values().cloned().collect()
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
        // The first ones stay: odd spellings do not make the usual one slow.
        assert!(names.spellings.load().contains_key("abcdefghijkl"));
    }

    #[test]
    fn the_table_is_not_copied_for_each_of_many_databases() {
        let names = Names::default();
        for n in 0..SPELLINGS_COUNT_MAX + 10 {
            names.insert(&format!("x{n}"), Arc::new(n));
        }
        for n in 0..SPELLINGS_COUNT_MAX + 10 {
            assert_eq!(names.get(&format!("X{n}")).as_deref(), Some(&n));
        }
        let full = names.spellings.load_full();
        assert_eq!(full.len(), SPELLINGS_COUNT_MAX);
        assert!(names.get(&format!("X{}", SPELLINGS_COUNT_MAX + 1)).is_some());
        assert!(Arc::ptr_eq(&full, &names.spellings.load_full()));
    }
}
