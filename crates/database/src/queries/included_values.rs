//! Compare-exchange values that come with an answer: those whose keys results name by a path, and guards of missing documents.

use std::collections::BTreeMap;

use documents::{CompareExchangeValue, IncludePath, ResultsHash, Snapshot};
use json::Raw;

use crate::Result;

/// The included values, by the keys that were asked for.
#[derive(Debug, Default)]
pub struct IncludedValues<'s> {
    found: BTreeMap<String, IncludedValue<'s>>,
    size: usize,
}

/// An included value.
#[derive(Debug)]
struct IncludedValue<'s> {
    /// `None`: there is no such value.
    value: Option<CompareExchangeValue<'s>>,
    /// Of a guard: the change vector that names it.
    change_vector: Option<String>,
}

impl<'s> IncludedValues<'s> {
    /// Adds the value with a key, or that there is none.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn add(&mut self, snapshot: &'s Snapshot<'_>, key: String) -> Result<()> {
        if !self.found.contains_key(&key) {
            let value = snapshot.compare_exchange_value(&key)?;
            self.insert(key, value, None);
        }
        Ok(())
    }

    /// Adds the values whose keys a document, or what is made of it, has at some paths.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn add_all(&mut self, snapshot: &'s Snapshot<'_>, paths: &[IncludePath], json: Raw<'_>) -> Result<()> {
        paths.iter().flat_map(|path| path.ids(json)).try_for_each(|key| self.add(snapshot, key))
    }

    /// Adds the atomic guard of a missing document, if it has one.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn add_guard_of(&mut self, snapshot: &'s Snapshot<'_>, id: &str) -> Result<()> {
        if let Some((value, vector)) = snapshot.guard_of(id)? {
            self.insert(value.key().to_owned(), Some(value), Some(vector));
        }
        Ok(())
    }

    fn insert(&mut self, key: String, value: Option<CompareExchangeValue<'s>>, change_vector: Option<String>) {
        self.size += key.len() + size_of::<(String, IncludedValue<'_>)>();
        self.found.insert(key, IncludedValue { value, change_vector });
    }

    /// Bytes that they hold in memory, about; the values themselves stay where they are stored.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Bytes of the values in an answer, at most.
    pub fn wire_size(&self) -> usize {
        let size = |(key, included): (&String, &IncludedValue<'_>)| {
            12 * key.len() + included.value.map_or(0, |value| value.json().bytes().len()) + 256
        };
        self.found.iter().map(size).sum()
    }

    /// Adds what there is to the hash of an answer.
    pub fn hash_into(&self, hash: &mut ResultsHash) {
        for (key, included) in &self.found {
            hash.add_value(key, included.value.as_ref());
        }
    }

    /// True if nothing was added.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Each of them as a property of `CompareExchangeValueIncludes`: a function that appends it.
    pub fn properties(&self) -> impl Iterator<Item = impl FnOnce(&mut Vec<u8>)> {
        self.found.iter().map(|(key, included)| {
            move |out: &mut Vec<u8>| {
                out.push(b'"');
                json::escape_into(out, key);
                out.extend_from_slice(b"\":");
                json::Writer::new(out).object(|json| {
                    json.name("Key").string(key).name("Index");
                    match &included.value {
                        Some(value) => _ = json.unsigned(value.index()).name("Value").raw(value.json().bytes()),
                        None => _ = json.signed(-1).name("Value").null(),
                    }
                    if let Some(vector) = &included.change_vector {
                        json.name("ChangeVector").string(vector);
                    }
                });
            }
        })
    }
}
