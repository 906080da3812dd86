//! Definitions: stored schema objects of a database, such as its indexes.
//!
//! They are kept beside the documents, by kind and name, because what they define is derived from them: whoever has the
//! documents can build it again. What they say is the business of whoever puts them.
//!
//! ```text
//! definitions:  <kind>/<name, lower-cased>  ->  generation (16 bytes), bytes
//! ```
//!
//! Of a name that is too long for a key the beginning stands there, then 0 and its hash (XXH3, 128 bits, in hexadecimal): indexes that
//! queries make are called by all their fields.

use storage::limits::KEY_SIZE_MAX;
use storage::{Reader, Tree};
use xxhash_rust::xxh3::xxh3_128;

use crate::ids::id;
use crate::{Error, Result, Snapshot, Writing};

/// Made with the first definition.
pub(crate) const DEFINITIONS: &[u8] = b"definitions";

fn key(kind: &str, name: &str) -> Vec<u8> {
    let name = id::lower(name);
    let mut key = [kind.as_bytes(), b"/", &name].concat();
    if key.len() > KEY_SIZE_MAX {
        let hash = format!("\0{:032x}", xxh3_128(&name));
        key.truncate(KEY_SIZE_MAX - hash.len());
        key.extend_from_slice(hash.as_bytes());
    }
    key
}

/// The generation of a stored definition, and what it says.
fn split(value: &[u8]) -> Result<(u128, &[u8])> {
    let (generation, definition) =
        value.split_first_chunk().ok_or(Error::Corrupt { rule: "a definition begins with its generation" })?;
    Ok((u128::from_be_bytes(*generation), definition))
}

impl Writing<'_, '_> {
    /// Puts a definition, in place of one of the same name.
    ///
    /// * `kind`: a word without `/`.
    /// * `generation`: a number that what is defined has for as long as it exists, and that another of the same name has not.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn put_definition(&mut self, kind: &str, name: &str, generation: u128, definition: &[u8]) -> Result<()> {
        let tree = Tree::open_or_create(self.tx, DEFINITIONS)?;
        let value = [&generation.to_be_bytes(), definition].concat();
        Ok(tree.put(self.tx, &key(kind, name), &value)?)
    }

    /// The generation of a definition, if it is stored.
    pub(crate) fn definition_generation(&self, kind: &str, name: &str) -> Result<Option<u128>> {
        let Some(tree) = Tree::open(&*self.tx, DEFINITIONS)? else { return Ok(None) };
        let Some(value) = tree.get(&*self.tx, &key(kind, name))? else { return Ok(None) };
        split(value).map(|(generation, _)| Some(generation))
    }

    /// Deletes a definition, if it is there.
    ///
    /// # Errors
    ///
    /// As [`Self::put_definition`].
    pub fn delete_definition(&mut self, kind: &str, name: &str) -> Result<()> {
        if let Some(tree) = Tree::open(&*self.tx, DEFINITIONS)? {
            tree.delete(self.tx, &key(kind, name))?;
        }
        Ok(())
    }
}

impl Snapshot<'_> {
    /// One definition; `None` if there is none of that name.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn definition(&self, kind: &str, name: &str) -> Result<Option<Vec<u8>>> {
        let (_, _, tx) = self.parts();
        let Some(tree) = Tree::open(tx, DEFINITIONS)? else { return Ok(None) };
        let Some(value) = tree.get(tx, &key(kind, name))? else { return Ok(None) };
        Ok(Some(split(value)?.1.to_vec()))
    }

    /// All definitions of a kind, by name.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn definitions(&self, kind: &str) -> Result<Vec<Vec<u8>>> {
        let (_, _, tx) = self.parts();
        match Tree::open(tx, DEFINITIONS)? {
            Some(tree) => all_of(tree, tx, kind),
            None => Ok(Vec::new()),
        }
    }
}

/// What the definitions of a kind say, by name.
pub(crate) fn all_of(tree: Tree, reader: &impl Reader, kind: &str) -> Result<Vec<Vec<u8>>> {
    let prefix = key(kind, "");
    let mut definitions = Vec::new();
    let mut cursor = tree.cursor(reader);
    let mut found = cursor.seek(&prefix)?;
    while let Some((_, definition)) = found.filter(|(key, _)| key.starts_with(&prefix)) {
        definitions.push(split(definition)?.1.to_vec());
        found = cursor.next()?;
    }
    Ok(definitions)
}

#[cfg(test)]
mod tests {
    use storage::{Environment, Options};

    use crate::{Date, DocumentStore, StoreOptions};

    fn store() -> DocumentStore {
        DocumentStore::open(Environment::in_memory(Options::default()).unwrap(), StoreOptions::default()).unwrap()
    }

    #[test]
    fn definitions_are_kept_by_kind_and_name_and_outlive_a_compaction() {
        let store = store();
        assert!(store.read().definitions("index").unwrap().is_empty());
        store
            .write(Date::now(), |writing| {
                writing.put_definition("index", "B", 1, b"1")?;
                writing.put_definition("index", "a", 1, b"2")?;
                writing.put_definition("indexes", "a", 1, b"other")?;
                writing.put_definition("index", "b", 1, b"3")?;
                writing.put_definition("index", "gone", 1, b"4")?;
                writing.delete_definition("index", "GONE")
            })
            .unwrap();
        let expected = [b"2".to_vec(), b"3".to_vec()];
        assert_eq!(store.read().definitions("index").unwrap(), expected);
        assert_eq!(store.read().definition("index", "B").unwrap(), Some(b"3".to_vec()));
        assert_eq!(store.read().definition("index", "gone").unwrap(), None);
        let target = Environment::in_memory(Options::default()).unwrap();
        store.copy_into(&target, |_| true).unwrap();
        let copy = DocumentStore::open(target, StoreOptions::default()).unwrap();
        assert_eq!(copy.read().definitions("index").unwrap(), expected);
    }

    #[test]
    fn names_of_any_length_are_told_apart() {
        let store = store();
        let names: Vec<String> = (2000..2100).map(|size| format!("{}X", "n".repeat(size))).collect();
        let written = store.write(Date::now(), |writing| {
            for name in &names {
                writing.put_definition("index", name, 1, b"old")?;
                writing.put_definition("index", &name.to_lowercase(), 1, name.as_bytes())?;
            }
            writing.delete_definition("index", &names[99].to_uppercase())
        });
        written.unwrap();
        let mut kept = store.read().definitions("index").unwrap();
        kept.sort();
        let mut expected: Vec<Vec<u8>> = names[..99].iter().map(|name| name.clone().into_bytes()).collect();
        expected.sort();
        assert!(kept == expected, "{} definitions", kept.len());
    }
}
