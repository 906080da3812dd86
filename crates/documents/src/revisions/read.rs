//! Reading revisions: of one document, by change vector, at a time, and of deleted documents.

use json::Writer;
use storage::{Key, Location, Reader, Table};

use super::stored::{Form, Sizes, Stored};
use super::trees::vector_key;
use super::{delta, key};
use crate::ids::id;
use crate::items::kinds::ItemKind;
use crate::items::record::{Head, RecordState};
use crate::items::schema::Schema;
use crate::store::Names;
use crate::{Date, Document, Error, Etag, Flags, Item, Result, Snapshot};

/// A former state of a document, put together from its record and its base.
pub struct Revision<'s> {
    /// A record in the form of a document's.
    record: Vec<u8>,
    names: &'s Names,
    etag: Etag,
}

/// Where a revision is stored, in the snapshot that gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RevisionPlace(Location);

/// A document that has revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionsOf {
    /// The document's id, as its last revision spells it.
    pub document_id: String,
    /// The collection of its last revision.
    pub collection: String,
}

impl Revision<'_> {
    /// The state as a document: what clients get.
    ///
    /// # Errors
    ///
    /// The record is damaged.
    pub fn document(&self) -> Result<Document<'_>> {
        Document::new(&self.record, self.names)
    }

    /// The number of the write that stored the revision.
    pub fn etag(&self) -> Etag {
        self.etag
    }

    /// True if it says that the document was deleted.
    pub fn is_deletion(&self) -> bool {
        self.document().is_ok_and(|document| document.flags().has(Flags::DELETE_REVISION))
    }

    /// Bytes that it holds in memory.
    pub fn size(&self) -> usize {
        self.record.len()
    }
}

/// The content of a base.
pub(super) fn base_content<'r>(schema: &Schema, reader: &'r impl Reader, base: Etag) -> Result<&'r [u8]> {
    let found = schema.records.find(reader, Key::Number(schema.revisions.bases, base))?;
    found.map(|(_, content)| content).ok_or(Error::Corrupt { rule: "the base of a revision exists" })
}

/// Appends the content that a revision keeps: server metadata, stored metadata, body.
///
/// * `body`: of its record.
pub(super) fn content_of(schema: &Schema, reader: &impl Reader, body: &[u8], out: &mut Vec<u8>) -> Result<Sizes> {
    let stored = Stored::decode(body)?;
    match stored.form {
        Form::Whole(content) => out.extend_from_slice(content),
        Form::Difference { base, operations } => {
            delta::decode(base_content(schema, reader, base)?, operations, stored.sizes.total(), out)?;
        }
    }
    Ok(stored.sizes)
}

/// Where the revision with a change vector is.
pub(super) fn place_of_vector(schema: &Schema, reader: &impl Reader, vector: &str) -> Result<Option<Location>> {
    let first = vector_key(vector, 0);
    let hash = first.get(..8).unwrap_or_default();
    let mut cursor = schema.revisions.by_vector.cursor(reader);
    let mut entry = cursor.seek(&first)?;
    while let Some((found, _)) = entry {
        let Some(etag) = found.strip_prefix(hash) else { break };
        let corrupt = || Error::Corrupt { rule: "a change vector leads to its revision" };
        let etag = <[u8; 8]>::try_from(etag).map(u64::from_be_bytes).map_err(|_| corrupt())?;
        let location = schema.kinds[ItemKind::Revision].by_etag.get(reader, etag)?.map(Location).ok_or_else(corrupt)?;
        let record = schema.records.get(reader, location)?;
        if crate::items::record::vector(&Head::decode(record)?, record)? == Some(vector) {
            return Ok(Some(location));
        }
        entry = cursor.next()?;
    }
    Ok(None)
}

/// The revision of a document with the highest key below `end`.
pub(super) fn revision_below(
    schema: &Schema,
    reader: &impl Reader,
    document_key: &[u8],
    end: &[u8],
) -> Result<Option<(Vec<u8>, Location)>> {
    let by_key = schema.kinds[ItemKind::Revision].by_key;
    let mut cursor = by_key.cursor(reader);
    match cursor.seek_below(end)? {
        Some((found, value)) if found.starts_with(&key::prefix_of(document_key)) => {
            Ok(Some((found.to_vec(), Table::location(by_key, reader, value)?)))
        }
        _ => Ok(None),
    }
}

/// The keys and places of the revisions of a document, the oldest first, `count_max` at most.
pub(super) fn keys_of(
    schema: &Schema,
    reader: &impl Reader,
    document_key: &[u8],
    count_max: usize,
) -> Result<Vec<(Vec<u8>, Location)>> {
    let by_key = schema.kinds[ItemKind::Revision].by_key;
    let prefix = key::prefix_of(document_key);
    let mut keys = Vec::new();
    let mut cursor = by_key.cursor(reader);
    let mut entry = cursor.seek(&prefix)?;
    while let Some((found, value)) = entry {
        if !found.starts_with(&prefix) || keys.len() == count_max {
            break;
        }
        keys.push((found.to_vec(), Table::location(by_key, reader, value)?));
        entry = cursor.next()?;
    }
    Ok(keys)
}

impl Snapshot<'_> {
    /// A revision at a place of this snapshot.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn revision_at(&self, place: RevisionPlace) -> Result<Revision<'_>> {
        let (schema, names, tx) = self.parts();
        self.revision_of(&Item::new(schema.records.get(tx, place.0)?, names)?)
    }

    /// The state that an item of the kind revisions keeps.
    ///
    /// # Errors
    ///
    /// It is of another kind; storage fails or is damaged.
    pub fn revision_of(&self, item: &Item<'_>) -> Result<Revision<'_>> {
        let (schema, names, tx) = self.parts();
        if !item.head.is_stored(ItemKind::Revision) {
            return Err(Error::Corrupt { rule: "a revision's key leads to a revision" });
        }
        put_together(schema, names, tx, item)
    }

    /// How many revisions a document has.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn revision_count(&self, document_id: &str) -> Result<u64> {
        let (schema, _, tx) = self.parts();
        let prefix = key::prefix_of(&id::lower(document_id));
        let mut cursor = schema.kinds[ItemKind::Revision].by_key.cursor(tx);
        let (mut count, mut entry) = (0, cursor.seek(&prefix)?);
        while entry.is_some_and(|(found, _)| found.starts_with(&prefix)) {
            count += 1;
            entry = cursor.next()?;
        }
        Ok(count)
    }

    /// Revisions of a document, the newest first, without the first `start`, `count_max` at most.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn revisions(&self, document_id: &str, start: u64, count_max: u64) -> Result<Vec<RevisionPlace>> {
        let (schema, _, tx) = self.parts();
        let document_key = id::lower(document_id);
        let by_key = schema.kinds[ItemKind::Revision].by_key;
        let prefix = key::prefix_of(&document_key);
        let mut cursor = by_key.cursor(tx);
        let (mut passed, mut places) = (0, Vec::new());
        let mut entry = cursor.seek_below(&key::end_of(&document_key))?;
        while let Some((_, value)) = entry.filter(|(found, _)| found.starts_with(&prefix)) {
            if passed >= start {
                if places.len() as u64 == count_max {
                    break;
                }
                places.push(RevisionPlace(Table::location(by_key, tx, value)?));
            }
            passed += 1;
            entry = cursor.previous()?;
        }
        Ok(places)
    }

    /// The revision that was valid at a time: the newest one that is not later.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn revision_before(&self, document_id: &str, time: Date) -> Result<Option<Revision<'_>>> {
        self.revision_place_before(document_id, time)?.map(|place| self.revision_at(place)).transpose()
    }

    /// Where the revision is that was valid at a time.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn revision_place_before(&self, document_id: &str, time: Date) -> Result<Option<RevisionPlace>> {
        let (schema, _, tx) = self.parts();
        let document_key = id::lower(document_id);
        let end = key::key_of(&document_key, Date::from_ticks(time.ticks().saturating_add(1)), 0);
        Ok(revision_below(schema, tx, &document_key, &end)?.map(|(_, location)| RevisionPlace(location)))
    }

    /// The revision with a change vector.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn revision_by_vector(&self, vector: &str) -> Result<Option<Revision<'_>>> {
        self.revision_place_by_vector(vector)?.map(|place| self.revision_at(place)).transpose()
    }

    /// Where the revision with a change vector is.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn revision_place_by_vector(&self, vector: &str) -> Result<Option<RevisionPlace>> {
        let (schema, _, tx) = self.parts();
        Ok(place_of_vector(schema, tx, vector)?.map(RevisionPlace))
    }

    /// The revision of the same document before one.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn revision_preceding(&self, item: &Item<'_>) -> Result<Option<Revision<'_>>> {
        let (schema, _, tx) = self.parts();
        let own = id::lower(item.id());
        match revision_below(schema, tx, key::document_key(&own), &own)? {
            Some((_, location)) => self.revision_at(RevisionPlace(location)).map(Some),
            None => Ok(None),
        }
    }

    /// The revisions of deletions whose document is still deleted, the latest first.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn revisions_bin(&self, start: u64, count_max: u64) -> Result<Vec<RevisionPlace>> {
        let (schema, _, tx) = self.parts();
        let mut cursor = schema.revisions.bin.cursor(tx);
        let (mut passed, mut places) = (0, Vec::new());
        let mut entry = cursor.last()?;
        while let Some((etag, _)) = entry.filter(|_| (places.len() as u64) < count_max) {
            if passed >= start {
                let location = schema.kinds[ItemKind::Revision].by_etag.get(tx, etag)?;
                let location = location.ok_or(Error::Corrupt { rule: "the bin leads to revisions" })?;
                places.push(RevisionPlace(Location(location)));
            }
            passed += 1;
            entry = cursor.previous()?;
        }
        Ok(places)
    }

    /// Whether the bin has a document that was deleted before a time.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn has_revisions_bin_before(&self, time: Date) -> Result<bool> {
        let (schema, names, tx) = self.parts();
        let Some((etag, _)) = schema.revisions.bin.cursor(tx).seek(0)? else { return Ok(false) };
        let found = schema.records.find(tx, Key::Number(schema.kinds[ItemKind::Revision].by_etag, etag))?;
        let (_, record) = found.ok_or(Error::Corrupt { rule: "the bin leads to revisions" })?;
        Ok(Item::new(record, names)?.last_modified() < time)
    }

    /// Documents that have revisions, in the order of their keys.
    ///
    /// * `after`: the last document of the page before.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn documents_with_revisions(&self, after: Option<&str>, count_max: usize) -> Result<Vec<RevisionsOf>> {
        let (schema, names, tx) = self.parts();
        let by_key = schema.kinds[ItemKind::Revision].by_key;
        let mut found = Vec::new();
        let mut from = after.map_or(Vec::new(), |after| key::end_of(&id::lower(after)));
        while found.len() < count_max {
            let mut cursor = by_key.cursor(tx);
            let Some((first, _)) = cursor.seek(&from)? else { break };
            let document_key = key::document_key(first).to_vec();
            from = key::end_of(&document_key);
            let Some((_, location)) = revision_below(schema, tx, &document_key, &from)? else { break };
            let item = Item::new(schema.records.get(tx, location)?, names)?;
            let (document_id, collection) = (item.document_id().to_owned(), self.collection_of(&item)?);
            found.push(RevisionsOf { document_id, collection: collection.to_string() });
        }
        Ok(found)
    }
}

/// The state of a revision as a record of a document.
pub(super) fn put_together<'n>(
    schema: &Schema,
    names: &'n Names,
    reader: &impl Reader,
    item: &Item<'_>,
) -> Result<Revision<'n>> {
    let (head, document_id) = (&item.head, item.document_id());
    let mut content = Vec::new();
    let sizes = content_of(schema, reader, item.body(), &mut content)?;
    let vector = item.vector.unwrap_or_default();
    let whole = Head {
        id_size: document_id.len() as u16,
        vector_size: head.vector_size,
        server_size: sizes.server,
        metadata_size: sizes.metadata,
        body_size: sizes.body,
        kind: ItemKind::Document,
        state: RecordState::Stored,
        ..*head
    };
    let record = [&whole.encode()[..], document_id.as_bytes(), vector.as_bytes(), &content].concat();
    Ok(Revision { record, names, etag: head.etag })
}

/// A line of a dump: what the record alone says. [`Snapshot::revision_of`] gives the state.
pub(crate) fn dump(item: &Item<'_>, out: &mut Vec<u8>) {
    Writer::new(out).object(|json| {
        json.name("@revision").object(|json| {
            json.name("DocumentId").string(item.document_id()).name("ChangeVector").string(&item.change_vector());
            json.name("Flags").string(&item.flags().to_string());
            json.name("LastModified").string(&item.last_modified().to_string());
        });
    });
}
