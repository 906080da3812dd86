//! The documents of one kind.

use serde::Serialize;

use crate::error::of_documents;
use crate::{Database, Error, Expected, Result, WriteResult};

/// The documents of one kind. Queries name it: `from Users`.
#[derive(Clone, Debug)]
pub struct Collection {
    database: Database,
    name: String,
}

impl Collection {
    pub(crate) fn new(database: Database, name: String) -> Collection {
        Collection { database, name }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Stores a value in this collection, in place of the document of the id. An id that ends with `/` is completed with a number.
    ///
    /// ```
    /// # fn main() -> rookerydb::Result<()> {
    /// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
    /// let users = shop.collection("Users");
    /// let written = users.put("users/", &serde_json::json!({ "Name": "Ann" }))?;
    /// assert!(written.id.starts_with("users/0"));
    /// assert_eq!(users.count()?, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Json`]; [`Error::Invalid`]: the value is no object or has `@metadata`, or the id cannot be one; [`Error::Busy`],
    /// [`Error::Storage`].
    pub fn put(&self, id: &str, value: &impl Serialize) -> Result<WriteResult> {
        let written = self.database.batch().put_in(&self.name, id, value, Expected::Any)?.execute()?.pop();
        Ok(written.expect("a batch has one result for each of its commands"))
    }

    /// The number of its documents.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    pub fn count(&self) -> Result<u64> {
        let database = self.database.open()?;
        let snapshot = database.read();
        let collection = snapshot.collection(&self.name).map_err(of_documents)?;
        Ok(collection.map_or(0, |collection| collection.documents().count))
    }
}

/// The text of a value with the metadata that names its collection.
pub(crate) fn json_in(collection: &str, value: &impl Serialize) -> Result<Vec<u8>> {
    let mut text = serde_json::to_vec(value)?;
    if text.last() != Some(&b'}') || text.first() != Some(&b'{') {
        return Err(Error::Invalid("a document must be a JSON object".to_owned()));
    }
    // The name may also occur inside of a text, so that it is parsed then.
    if text.windows(METADATA.len()).any(|window| window == METADATA.as_bytes()) {
        let value: serde_json::Value = serde_json::from_slice(&text)?;
        if value.get("@metadata").is_some() {
            return Err(Error::Invalid("the value has '@metadata': store it with Database::put".to_owned()));
        }
    }
    text.pop();
    let separator = if text.len() > 1 { "," } else { "" };
    text.extend_from_slice(format!("{separator}{METADATA}:{{\"@collection\":").as_bytes());
    serde_json::to_writer(&mut text, collection)?;
    text.extend_from_slice(b"}}");
    Ok(text)
}

const METADATA: &str = "\"@metadata\"";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_collection_is_part_of_the_metadata() {
        let check = |value: serde_json::Value, expected: &str| {
            assert_eq!(String::from_utf8(json_in("U\"s", &value).unwrap()).unwrap(), expected);
        };
        check(json!({}), r#"{"@metadata":{"@collection":"U\"s"}}"#);
        check(json!({"A": 1}), r#"{"A":1,"@metadata":{"@collection":"U\"s"}}"#);
        check(json!({"A": {"@metadata": 1}}), r#"{"A":{"@metadata":1},"@metadata":{"@collection":"U\"s"}}"#);
        assert!(matches!(json_in("Us", &json!({"@metadata": {}})), Err(Error::Invalid(_))));
        assert!(matches!(json_in("Us", &json!([1])), Err(Error::Invalid(_))));
    }
}
