//! A revision with the one before it, as one document: what subscriptions to revisions send, and ask their conditions about.
//!
//! ```json
//! {"Current":{…},"Previous":{…},"@metadata":{"@change-vector":"…","@flags":"…","@id":"…","@last-modified":"…"}}
//! ```
//!
//! The metadata are those of the current state. `Current` is null in the revision of a deletion, `Previous` in the oldest revision that
//! there is.

use super::Revision;
use super::read::revision_below;
use crate::ids::id;
use crate::items::kinds::ItemKind;
use crate::items::record::{Head, RecordState};
use crate::store::Names;
use crate::{Document, Error, Item, Result, Snapshot};

/// A revision with the one before it.
pub struct RevisionPair<'s> {
    /// A record in the form of a document's.
    record: Vec<u8>,
    names: &'s Names,
}

impl RevisionPair<'_> {
    /// Both as one document.
    ///
    /// # Errors
    ///
    /// The record is damaged.
    pub fn document(&self) -> Result<Document<'_>> {
        Document::new(&self.record, self.names)
    }

    /// Bytes that it holds in memory.
    pub fn size(&self) -> usize {
        self.record.len()
    }
}

impl Snapshot<'_> {
    /// The pair of an item of the kind revisions.
    ///
    /// # Errors
    ///
    /// It is of another kind; storage fails or is damaged; both together are larger than a document can be.
    pub fn revision_pair(&self, item: &Item<'_>) -> Result<RevisionPair<'_>> {
        let current = self.revision_of(item)?;
        let previous = self.revision_preceding(item)?;
        let mut body = b"{\"Current\":".to_vec();
        write(Some(&current).filter(|current| !current.is_deletion()), &mut body)?;
        body.extend_from_slice(b",\"Previous\":");
        write(previous.as_ref(), &mut body)?;
        body.push(b'}');
        let (_, names, _) = self.parts();
        let (document_id, vector) = (item.document_id(), item.vector.unwrap_or_default());
        let too_large = Error::TooLarge { what: "a pair of revisions", size: body.len(), max: u32::MAX as usize };
        let head = Head {
            id_size: document_id.len() as u16,
            vector_size: item.head.vector_size,
            server_size: 0,
            metadata_size: 0,
            body_size: u32::try_from(body.len()).map_err(|_| too_large)?,
            kind: ItemKind::Document,
            state: RecordState::Stored,
            ..item.head
        };
        let record = [&head.encode()[..], document_id.as_bytes(), vector.as_bytes(), &body].concat();
        Ok(RevisionPair { record, names })
    }

    /// The item of the kind revisions that has an id, in any case: one of [`Item::id`].
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn revision_item(&self, revision_id: &str) -> Result<Option<Item<'_>>> {
        let (schema, names, tx) = self.parts();
        let own = id::lower(revision_id);
        // The key itself is the highest one below the next.
        let end = [own.as_slice(), &[0]].concat();
        match revision_below(schema, tx, super::key::document_key(&own), &end)? {
            Some((found, location)) if found == own => Ok(Some(Item::new(schema.records.get(tx, location)?, names)?)),
            _ => Ok(None),
        }
    }

    /// Whether an item of this snapshot is in a collection, whose name is in any case.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn is_item_in_collection(&self, item: &Item<'_>, collection: &str) -> Result<bool> {
        Ok(id::is_same(&self.collection_of(item)?, collection))
    }
}

fn write(revision: Option<&Revision<'_>>, out: &mut Vec<u8>) -> Result<()> {
    match revision {
        Some(revision) => revision.document()?.write_to(out),
        None => out.extend_from_slice(b"null"),
    }
    Ok(())
}
