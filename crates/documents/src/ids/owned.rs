//! Ids of items that belong to a document and have a name of their own: attachments and counters.
//!
//! Such an id is the id of the document, a NUL character, and the name. Its key is the id in lower case, so that all of a document lie
//! together, in the order of their names.

use crate::limits::ITEM_NAME_SIZE_MAX;

/// Between the id of the document and the name. No new document has one in its id, and no name has one.
const SEPARATOR: char = '\0';

/// The id of an item.
pub(crate) fn id_of(document_id: &str, name: &str) -> String {
    let mut id = String::with_capacity(document_id.len() + 1 + name.len());
    id.push_str(document_id);
    id.push(SEPARATOR);
    id.push_str(name);
    id
}

/// The id of the document and the name in the id of an item.
pub(crate) fn split(id: &str) -> (&str, &str) {
    id.split_once(SEPARATOR).unwrap_or((id, ""))
}

/// The id of the document in the id of an item.
pub(crate) fn document_id(id: &str) -> &str {
    split(id).0
}

/// The beginning of the keys of all items of a document, made from the document's key.
pub(crate) fn prefix_of(document_key: &[u8]) -> Vec<u8> {
    [document_key, SEPARATOR.encode_utf8(&mut [0; 4]).as_bytes()].concat()
}

/// Checks a name that is written; `Err` says which rule is broken.
pub(crate) fn check_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        Err("it is empty")
    } else if name.len() > ITEM_NAME_SIZE_MAX {
        Err("it is longer than 512 bytes (the limit ITEM_NAME_SIZE_MAX)")
    } else if name.contains(SEPARATOR) {
        Err("it has a NUL character")
    } else {
        Ok(())
    }
}
