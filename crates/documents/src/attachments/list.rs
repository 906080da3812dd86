//! `@attachments`: the attachments of a document in the metadata that the server maintains, by their names in lower case.

use json::Writer;
use storage::Reader;

use super::read;
use crate::items::schema::Schema;
use crate::limits::ATTACHMENT_LIST_SIZE_MAX;
use crate::store::Names;
use crate::{Error, Result};

pub(crate) const PROPERTY: &str = "@attachments";

/// The value of the property, made from the stored attachments. `None`: there are none.
///
/// # Errors
///
/// [`Error::TooLarge`] over [`ATTACHMENT_LIST_SIZE_MAX`]; storage fails.
pub(crate) fn value(
    schema: &Schema,
    names: &Names,
    reader: &impl Reader,
    document_key: &[u8],
) -> Result<Option<Vec<u8>>> {
    let attachments = read::all(schema, names, reader, document_key)?;
    if attachments.is_empty() {
        return Ok(None);
    }
    let mut value = Vec::new();
    Writer::new(&mut value).array(|json| attachments.iter().for_each(|attachment| attachment.write(json)));
    match value.len() <= ATTACHMENT_LIST_SIZE_MAX {
        true => Ok(Some(value)),
        false => {
            let what = "the list of a document's attachments";
            Err(Error::TooLarge { what, size: value.len(), max: ATTACHMENT_LIST_SIZE_MAX })
        }
    }
}
