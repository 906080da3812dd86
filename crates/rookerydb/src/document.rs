//! A document as it was read.

use database::documents;
use serde::de::DeserializeOwned;

use crate::Result;

/// A document as it was read from one snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    id: String,
    json: String,
    change_vector: String,
    etag: u64,
    collection: Option<String>,
    last_modified: String,
}

impl Document {
    pub(crate) fn of(document: &documents::Document<'_>) -> Document {
        let mut json = Vec::with_capacity(document.wire_size_max());
        document.write_to(&mut json);
        Document {
            id: document.id().to_owned(),
            json: text_of(json),
            change_vector: document.change_vector(),
            etag: document.etag(),
            collection: document.collection().map(std::borrow::Cow::into_owned),
            last_modified: document.last_modified().to_string(),
        }
    }

    /// The id, as it was spelled when the document was created.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The text: a JSON object, with `@metadata`.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The document as a value. Its `@metadata` is ignored unless the type has such a field.
    ///
    /// # Errors
    ///
    /// [`Error::Json`](crate::Error::Json): the document does not fit the type.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T> {
        Ok(serde_json::from_str(&self.json)?)
    }

    /// The version. It changes with every write; pass it to [`Expected::Version`](crate::Expected::Version) to write only if nobody else
    /// did.
    pub fn change_vector(&self) -> &str {
        &self.change_vector
    }

    /// The number of the write that stored this version. Rises with each write to the database.
    pub fn etag(&self) -> u64 {
        self.etag
    }

    /// The collection, if the document has one.
    pub fn collection(&self) -> Option<&str> {
        self.collection.as_deref()
    }

    /// When it was stored: ISO 8601, in UTC.
    pub fn last_modified(&self) -> &str {
        &self.last_modified
    }
}

/// JSON that the database wrote is UTF-8: it was checked when it was stored.
pub(crate) fn text_of(json: Vec<u8>) -> String {
    String::from_utf8(json).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
