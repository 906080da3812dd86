//! The stored form of a value: the body of its record is the JSON object that the client sent, minified (`{"Object":…,"@metadata":…}`);
//! the metadata of its record are the property `@expires` of that, if it has one, so that due times are read as those of documents are.

use json::{Kind, Minifier, Raw};

use crate::due::{self, DueKind};
use crate::limits::DOCUMENT_SIZE_MAX;
use crate::wire::content::not_an_object;
use crate::{Error, Item, Result};

/// A value to be stored, in its stored form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValueContent {
    pub metadata: Vec<u8>,
    pub body: Vec<u8>,
}

impl ValueContent {
    /// Takes a value apart.
    ///
    /// * `value`: minified.
    ///
    /// # Errors
    ///
    /// It is no object, is too large, or has a time of expiration that is no date.
    pub(super) fn new(value: Raw<'_>) -> Result<ValueContent> {
        if value.kind() != Kind::Object {
            return Err(not_an_object("a compare-exchange value", value));
        }
        let size = value.bytes().len();
        if size > DOCUMENT_SIZE_MAX {
            return Err(Error::TooLarge { what: "a compare-exchange value", size, max: DOCUMENT_SIZE_MAX });
        }
        let metadata = metadata_of(value);
        due::check(&metadata)?;
        Ok(ValueContent { metadata, body: value.bytes().to_vec() })
    }
}

/// The stored metadata of a value: its time of expiration alone.
fn metadata_of(value: Raw<'_>) -> Vec<u8> {
    let metadata = value.get("@metadata").filter(|metadata| metadata.kind() == Kind::Object);
    let expires = metadata.and_then(|metadata| metadata.get(DueKind::Expiration.property()));
    match expires.filter(|expires| !expires.is_null()) {
        Some(expires) => [b"\"", DueKind::Expiration.property().as_bytes(), b"\":", expires.bytes()].concat(),
        None => Vec::new(),
    }
}

/// Checks what only this kind knows of a stored item.
pub(crate) fn check_value(item: &Item<'_>, collection: &str, minifier: &mut Minifier) -> Result<(), String> {
    let key = item.id();
    if !collection.is_empty() {
        return Err(format!("the compare-exchange value '{key}' is in the collection '{collection}'"));
    }
    match minifier.minify(item.body()) {
        Ok(stored) if stored.bytes() != item.body() || stored.kind() != Kind::Object => {
            Err(format!("the compare-exchange value '{key}' is not in stored form"))
        }
        Ok(stored) if metadata_of(stored) != item.stored_metadata() => {
            Err(format!("the compare-exchange value '{key}' has another time of expiration than its record"))
        }
        Ok(_) => Ok(()),
        Err(error) => Err(format!("the compare-exchange value '{key}': {error}")),
    }
}

/// Appends a value as one line of JSON.
pub(crate) fn dump_value(item: &Item<'_>, out: &mut Vec<u8>) {
    json::Writer::new(out).object(|json| {
        json.name("@compare-exchange").object(|json| {
            json.name("Key").string(item.id()).name("Value").raw(item.body());
        });
    });
}
