//! Ids and keys of attachments: the id of the document, a NUL character, the name.
//!
//! The key of the item is the id in lower case, so all attachments of a document lie together, in the order of their names.

use crate::limits::ATTACHMENT_NAME_SIZE_MAX;
use crate::{Error, Result};

/// Between the id of the document and the name. No new document, and no attachment, has one in its name.
const SEPARATOR: char = '\0';

/// The id of an attachment.
pub(crate) fn id_of(document_id: &str, name: &str) -> String {
    let mut id = String::with_capacity(document_id.len() + 1 + name.len());
    id.push_str(document_id);
    id.push(SEPARATOR);
    id.push_str(name);
    id
}

/// The id of the document and the name in the id of an attachment.
pub(crate) fn split(id: &str) -> (&str, &str) {
    id.split_once(SEPARATOR).unwrap_or((id, ""))
}

/// The id of the document in the id of an attachment.
pub(crate) fn document_id(id: &str) -> &str {
    split(id).0
}

/// The beginning of the keys of all attachments of a document, made from the document's key.
pub(crate) fn prefix_of(document_key: &[u8]) -> Vec<u8> {
    [document_key, SEPARATOR.encode_utf8(&mut [0; 4]).as_bytes()].concat()
}

/// Checks the id of a stored attachment.
pub(crate) fn check(id: &str) -> Result<()> {
    let (document_id, name) = split(id);
    crate::ids::id::check(document_id)?;
    check_name(name)
}

/// Checks the name of an attachment that is written.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let rule = if name.is_empty() {
        "it is empty"
    } else if name.len() > ATTACHMENT_NAME_SIZE_MAX {
        "it is longer than 512 bytes (the limit ATTACHMENT_NAME_SIZE_MAX)"
    } else if name.contains(SEPARATOR) {
        "it has a NUL character"
    } else {
        return Ok(());
    };
    Err(Error::BadAttachment { name: name.chars().take(80).collect(), rule })
}
