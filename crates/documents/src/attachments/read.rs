//! Reading attachments: one, or all of a document.

use json::{Minifier, Writer};
use storage::Reader;

use super::hash::ContentHash;
use super::value::Value;
use crate::ids::{id, owned};
use crate::items::kinds::ItemKind;
use crate::items::record::RecordState;
use crate::items::schema::Schema;
use crate::store::Names;
use crate::{Error, Item, Result, Snapshot};

/// An attachment as a snapshot holds it, without its content: see [`Snapshot::content`].
#[derive(Clone, Copy)]
pub struct Attachment<'t> {
    item: Item<'t>,
    value: Value<'t>,
}

/// An attachment of a document, by what makes it another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedAttachment {
    pub name: String,
    pub content_type: String,
    pub hash: ContentHash,
}

impl ListedAttachment {
    pub fn of(attachment: &Attachment<'_>) -> ListedAttachment {
        ListedAttachment {
            name: attachment.name().to_owned(),
            content_type: attachment.content_type().to_owned(),
            hash: attachment.hash(),
        }
    }
}

impl<'t> Attachment<'t> {
    pub(crate) fn new(record: &'t [u8], names: &'t Names) -> Result<Attachment<'t>> {
        Self::of(Item::new(record, names)?)?.ok_or(Error::Corrupt { rule: "the key of an attachment leads to one" })
    }

    fn of(item: Item<'t>) -> Result<Option<Attachment<'t>>> {
        if !item.head.is_stored(ItemKind::Attachment) {
            return Ok(None);
        }
        let damaged = Error::Corrupt { rule: "the record of an attachment has hash, size and type of its content" };
        Ok(Some(Attachment { value: Value::decode(item.body()).ok_or(damaged)?, item }))
    }

    /// The id of its document, as it is spelled.
    pub fn document_id(&self) -> &'t str {
        owned::split(self.item.id()).0
    }

    /// Its name, as it was last put.
    pub fn name(&self) -> &'t str {
        owned::split(self.item.id()).1
    }

    /// The hash of its content.
    pub fn hash(&self) -> ContentHash {
        self.value.hash
    }

    /// Bytes of its content.
    pub fn size(&self) -> u64 {
        self.value.size
    }

    /// The type of its content, as a client named it; perhaps empty.
    pub fn content_type(&self) -> &'t str {
        self.value.content_type
    }

    /// The item.
    pub fn item(&self) -> &Item<'t> {
        &self.item
    }

    /// Writes `{"Name","Hash","ContentType","Size"}`.
    pub fn write(&self, json: &mut Writer<'_>) {
        json.object(|json| self.write_properties(json));
    }

    /// The same without braces.
    pub fn write_properties(&self, json: &mut Writer<'_>) {
        json.name("Name").string(self.name()).name("Hash").string(&self.hash().to_string());
        json.name("ContentType").string(self.content_type()).name("Size").unsigned(self.size());
    }
}

impl<'t> Item<'t> {
    /// The attachment. `None`: it is a tombstone or of another kind.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`]
    pub fn attachment(self) -> Result<Option<Attachment<'t>>> {
        Attachment::of(self)
    }

    /// The name of the attachment that it is, or was. `None`: it is of another kind.
    pub fn attachment_name(&self) -> Option<&'t str> {
        (self.kind() == ItemKind::Attachment).then(|| owned::split(self.id()).1)
    }

    /// Hash and type of the content of a deleted attachment; `None`: the item is something else.
    pub fn deleted_content(&self) -> Option<(ContentHash, &'t str)> {
        let is_one = self.head.kind == ItemKind::Attachment && self.head.state == RecordState::Tombstone;
        let value = is_one.then(|| Value::decode(self.body())).flatten()?;
        Some((value.hash, value.content_type))
    }
}

/// All attachments of a document, by their names in lower case.
pub(crate) fn all<'t>(
    schema: &Schema,
    names: &'t Names,
    reader: &'t impl Reader,
    document_key: &[u8],
) -> Result<Vec<Attachment<'t>>> {
    let keys = schema.keys_of_document(reader, ItemKind::Attachment, document_key, usize::MAX)?;
    keys.into_iter().map(|(_, location)| Attachment::new(schema.records.get(reader, location)?, names)).collect()
}

impl Snapshot<'_> {
    /// An attachment of a document, both named in any case.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn attachment(&self, document_id: &str, name: &str) -> Result<Option<Attachment<'_>>> {
        let (schema, names, tx) = self.parts();
        match schema.location_of(tx, ItemKind::Attachment, &id::lower(&owned::id_of(document_id, name)))? {
            Some(location) => Attachment::new(schema.records.get(tx, location)?, names).map(Some),
            None => Ok(None),
        }
    }

    /// All attachments of a document, by their names in lower case.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn attachments(&self, document_id: &str) -> Result<Vec<Attachment<'_>>> {
        let (schema, names, tx) = self.parts();
        all(schema, names, tx, &id::lower(document_id))
    }
}

/// A line of a dump.
pub(crate) fn dump(item: &Item<'_>, out: &mut Vec<u8>) {
    let Ok(Some(attachment)) = item.attachment() else { return };
    Writer::new(out).object(|json| {
        json.name("@attachment").object(|json| {
            json.name("DocumentId").string(attachment.document_id());
            attachment.write_properties(json);
        });
    });
}

/// Checks what only an attachment knows of itself.
pub(crate) fn check(item: &Item<'_>, _: &str, _: &mut Minifier) -> Result<(), String> {
    let (document_id, name) = owned::split(item.id());
    match Value::decode(item.body()) {
        Some(_) => Ok(()),
        None => Err(format!("the attachment '{name}' of '{document_id}' has no hash, size and type")),
    }
}
