//! The definition of an index as it is kept with the documents.
//!
//! ```text
//! {"Collection":"Users","Fields":[{"Name":"Age","IsNameQuoted":false,"IsExact":false}],"Folder":"5f..","Created":"2026-.."}
//! ```

use documents::{Date, Snapshot, Writing, id};
use json::Value;
use query::definition::AutomaticIndex;

use crate::{Error, Result};

/// The kind of definitions.
const KIND: &str = "index";

/// What is kept about an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredIndex {
    pub definition: AutomaticIndex,
    /// The name of its folder: never that of another index, so that what is left of a removed one is not taken for it.
    pub folder: String,
    pub created: Date,
}

impl StoredIndex {
    /// One with a folder of its own.
    pub fn new(definition: AutomaticIndex, created: Date) -> StoredIndex {
        let folder = format!("{:032x}", u128::from_ne_bytes(id::random_bytes()));
        StoredIndex { definition, folder, created }
    }

    pub fn all(documents: &Snapshot<'_>) -> Result<Vec<StoredIndex>> {
        documents.definitions(KIND)?.iter().map(|bytes| Self::read(bytes)).collect()
    }

    fn read(bytes: &[u8]) -> Result<StoredIndex> {
        let value = Value::parse(bytes)?;
        let text = |name| value.get(name).and_then(Value::as_str);
        let read = || {
            let folder = text("Folder").filter(|folder| folder.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
            let definition = AutomaticIndex::from_json(&value)?;
            Some(StoredIndex { definition, folder: folder.to_owned(), created: Date::parse(text("Created")?)? })
        };
        read().ok_or(Error::Corrupt { rule: "the definition of an index can be read" })
    }

    fn bytes(&self) -> Vec<u8> {
        let mut value = self.definition.to_json();
        value.set("Folder", Value::String(self.folder.clone()));
        value.set("Created", Value::String(self.created.to_string()));
        value.to_vec()
    }

    pub fn put(&self, writing: &mut Writing<'_, '_>) -> documents::Result<()> {
        writing.put_definition(KIND, &self.definition.name(), &self.bytes())
    }

    pub fn delete(name: &str, writing: &mut Writing<'_, '_>) -> documents::Result<()> {
        writing.delete_definition(KIND, name)
    }
}

#[cfg(test)]
mod tests {
    use query::definition::{Field, FieldName};

    use super::*;

    #[test]
    fn what_is_kept_comes_back() {
        let name = FieldName { path: "Name".to_owned(), is_quoted: false };
        let definition = AutomaticIndex::new(Some("Users".to_owned()), [Field { name, is_exact: true }]);
        let stored = StoredIndex { definition, folder: "00ff".to_owned(), created: Date::now() };
        assert_eq!(StoredIndex::read(&stored.bytes()).unwrap(), stored);
        let elsewhere = StoredIndex { folder: "../x".to_owned(), ..stored };
        assert!(StoredIndex::read(&elsewhere.bytes()).is_err());
    }
}
