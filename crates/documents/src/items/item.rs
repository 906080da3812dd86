//! An item of any kind, or its tombstone, as a view of its record.

use super::kinds::ItemKind;
use super::record::{self, Head, RecordState};
use crate::store::Names;
use crate::{Date, Document, Etag, Flags, Result};

/// An item, or the tombstone of one, as a snapshot holds it. Reading it copies nothing.
#[derive(Clone, Copy)]
pub struct Item<'t> {
    pub(crate) head: Head,
    pub(crate) record: &'t [u8],
    id: &'t str,
    /// `None`: this database's own entry alone.
    pub(crate) vector: Option<&'t str>,
    pub(crate) names: &'t Names,
}

impl<'t> Item<'t> {
    #[inline]
    pub(crate) fn new(record: &'t [u8], names: &'t Names) -> Result<Item<'t>> {
        let head = Head::decode(record)?;
        Ok(Item { id: record::id(&head, record)?, vector: record::vector(&head, record)?, head, record, names })
    }

    /// Its kind.
    pub fn kind(&self) -> ItemKind {
        self.head.kind
    }

    /// True for a tombstone: the item was deleted.
    pub fn is_deleted(&self) -> bool {
        self.head.state == RecordState::Tombstone
    }

    /// The id as it is spelled.
    pub fn id(&self) -> &'t str {
        self.id
    }

    /// The id of the document that it belongs to; a document belongs to itself.
    pub fn document_id(&self) -> &'t str {
        (self.kind().row().document_id)(self.id)
    }

    /// The number of the write that made it, or of its deletion.
    pub fn etag(&self) -> Etag {
        self.head.etag
    }

    /// When it was written or deleted.
    pub fn last_modified(&self) -> Date {
        self.head.last_modified
    }

    /// What it is or has.
    pub fn flags(&self) -> Flags {
        self.head.flags
    }

    /// The change vector.
    pub fn change_vector(&self) -> String {
        self.vector.map_or_else(|| self.names.vector(self.head.etag), str::to_owned)
    }

    /// Appends the change vector.
    #[inline]
    pub fn write_change_vector(&self, out: &mut Vec<u8>) {
        match self.vector {
            Some(vector) => out.extend_from_slice(vector.as_bytes()),
            None => self.names.write_vector(out, self.head.etag),
        }
    }

    /// Bytes of the record.
    pub fn size(&self) -> usize {
        self.record.len()
    }

    /// Appends it as one line of JSON, without the line's end: of a document what clients get.
    pub fn dump(&self, out: &mut Vec<u8>) {
        (self.kind().row().dump)(self, out);
    }

    /// The document; None if it is a tombstone or of another kind.
    pub fn document(self) -> Option<Document<'t>> {
        self.head.is_stored(ItemKind::Document).then_some(Document { item: self })
    }

    pub(crate) fn part(&self, from: usize, to: usize) -> &'t [u8] {
        self.record.get(from..to).unwrap_or_default()
    }

    /// The body.
    pub(crate) fn body(&self) -> &'t [u8] {
        self.part(self.head.body_at(), self.record.len())
    }

    /// The properties of `@metadata` that clients set, JSON without braces.
    pub(crate) fn stored_metadata(&self) -> &'t [u8] {
        self.part(self.head.metadata_at(), self.head.body_at())
    }
}

impl std::fmt::Debug for Item<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = if self.is_deleted() { "Tombstone" } else { "Item" };
        f.debug_struct(name).field("kind", &self.kind()).field("id", &self.id).field("etag", &self.etag()).finish()
    }
}
