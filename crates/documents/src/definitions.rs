//! Definitions: what belongs to a database and not to its documents, such as what its indexes are.
//!
//! They are kept beside the documents, by kind and name, because what they define is derived from them: whoever has the
//! documents can build it again. What they say is the business of whoever puts them.
//!
//! ```text
//! definitions:  <kind>/<name, lower-cased>  ->  bytes
//! ```

use storage::Tree;

use crate::{Result, Snapshot, Writing, id};

/// Made with the first definition.
pub(crate) const DEFINITIONS: &[u8] = b"definitions";

fn key(kind: &str, name: &str) -> Vec<u8> {
    [kind.as_bytes(), b"/", &id::lower(name)].concat()
}

impl Writing<'_, '_> {
    /// Puts a definition, in place of one of the same name.
    ///
    /// * `kind`: a word without `/`.
    ///
    /// # Errors
    ///
    /// Storage fails, or the name is too long for a key.
    pub fn put_definition(&mut self, kind: &str, name: &str, definition: &[u8]) -> Result<()> {
        let tree = Tree::open_or_create(self.tx, DEFINITIONS)?;
        Ok(tree.put(self.tx, &key(kind, name), definition)?)
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
    /// All definitions of a kind, by name.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn definitions(&self, kind: &str) -> Result<Vec<Vec<u8>>> {
        let (_, _, tx) = self.parts();
        let Some(tree) = Tree::open(tx, DEFINITIONS)? else { return Ok(Vec::new()) };
        let prefix = key(kind, "");
        let mut definitions = Vec::new();
        let mut cursor = tree.cursor(tx);
        let mut found = cursor.seek(&prefix)?;
        while let Some((_, definition)) = found.filter(|(key, _)| key.starts_with(&prefix)) {
            definitions.push(definition.to_vec());
            found = cursor.next()?;
        }
        Ok(definitions)
    }
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
                writing.put_definition("index", "B", b"1")?;
                writing.put_definition("index", "a", b"2")?;
                writing.put_definition("indexes", "a", b"other")?;
                writing.put_definition("index", "b", b"3")?;
                writing.put_definition("index", "gone", b"4")?;
                writing.delete_definition("index", "GONE")
            })
            .unwrap();
        let expected = [b"2".to_vec(), b"3".to_vec()];
        assert_eq!(store.read().definitions("index").unwrap(), expected);
        let target = Environment::in_memory(Options::default()).unwrap();
        store.copy_into(&target, |_| {}).unwrap();
        let copy = DocumentStore::open(target, StoreOptions::default()).unwrap();
        assert_eq!(copy.read().definitions("index").unwrap(), expected);
    }
}
