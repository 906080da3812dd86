//! Storing a document: decide, then apply.

use std::borrow::Cow;

use storage::{Location, Reader};

use crate::command::Command;
use crate::content::Content;
use crate::id::{Completion, completion, lower_into};
use crate::record::{self, Head, Kind};
use crate::schema::Schema;
use crate::writing::check_expected;
use crate::{Batch, Date, EMPTY_COLLECTION, Error, Etag, Expected, Flags, Operation, Result, Writing};

/// What is stored under an id, as far as writing needs it.
#[derive(Clone, Debug)]
pub(crate) struct Existing {
    pub location: Location,
    pub head: Head,
    pub size: usize,
    /// Only if it is not this database's own entry alone.
    pub vector: Option<String>,
}

/// A decided put: applying it looks nothing up and decides nothing.
#[derive(Debug)]
pub(crate) struct Put<'a> {
    pub id: Cow<'a, str>,
    pub etag: Etag,
    /// Only if it is not this database's own entry alone.
    pub vector: Option<String>,
    pub last_modified: Date,
    /// False: equal to what is stored, and not to be written again.
    pub is_changed: bool,
    flags: Flags,
    /// Place among the collections of the job.
    collection: usize,
    content: Content,
    /// Stored metadata, then body.
    parts: &'a [u8],
    existing: Option<Existing>,
    /// What an earlier document of this id left in this collection.
    tombstone: Option<Location>,
}

/// Finds what is stored under a key.
pub(crate) fn find(schema: &Schema, reader: &impl Reader, key: &[u8]) -> Result<Option<Existing>> {
    let Some(location) = schema.by_id.get(reader, key)? else { return Ok(None) };
    let location = location_from(location)?;
    let record = schema.records.get(reader, location)?;
    let head = Head::decode(record)?;
    let vector = record::vector(&head, record)?.map(str::to_owned);
    Ok(Some(Existing { location, head, size: record.len(), vector }))
}

pub(crate) fn location_from(bytes: &[u8]) -> Result<Location> {
    let bytes = <[u8; 8]>::try_from(bytes).map_err(|_| Error::Corrupt { rule: "an id leads to a location" })?;
    Ok(Location(u64::from_le_bytes(bytes)))
}

impl Writing<'_, '_> {
    /// What is stored under an id. Leaves its key in `self.key`.
    pub(crate) fn find(&mut self, id: &str) -> Result<Option<Existing>> {
        lower_into(&mut self.key, id);
        find(&self.store.schema, &*self.tx, &self.key)
    }

    /// The change vector of what is stored.
    pub(crate) fn vector_of(&self, existing: &Existing) -> String {
        existing.vector.clone().unwrap_or_else(|| self.store.names.vector(existing.head.etag))
    }

    /// Completes the id, checks the condition, and says what is to be written. Leaves the key in `self.key`.
    pub(crate) fn decide_put<'b>(
        &mut self,
        batch: &'b Batch,
        command: &'b Command,
        content: &Content,
        collection: Option<usize>,
    ) -> Result<Put<'b>> {
        let id = self.complete(&command.id, batch.separator.unwrap_or('/'))?;
        let existing = self.find(&id)?;
        if command.expected != Expected::Any {
            let actual = existing.as_ref().map(|existing| self.vector_of(existing));
            check_expected(Operation::Put, &id, &command.expected, actual.as_deref())?;
        }
        let name = collection.and_then(|place| batch.collections.get(place)).map_or(EMPTY_COLLECTION, String::as_str);
        let place = self.collection_by_name(name)?;
        let parts = content.bytes(&batch.text);
        let mut put = Put {
            id,
            etag: 0,
            vector: None,
            last_modified: self.now,
            is_changed: true,
            flags: Flags::NONE,
            collection: place,
            content: *content,
            parts,
            existing: None,
            tombstone: None,
        };
        if let Some(existing) = existing {
            if existing.head.collection != self.collection(place).number {
                let from = self.collection_by_number(existing.head.collection)?;
                let from = self.collection(from).name.clone();
                return Err(Error::CollectionMismatch { id: put.id.into_owned(), from, to: name.to_owned() });
            }
            put.flags = existing.head.flags;
            if batch.skip_unchanged && self.is_unchanged(&existing, content, parts)? {
                put.etag = existing.head.etag;
                put.vector = existing.vector;
                put.last_modified = existing.head.last_modified;
                put.is_changed = false;
                return Ok(put);
            }
            put.existing = Some(existing);
        } else {
            put.tombstone = self.find_tombstone(place)?;
        }
        put.etag = self.next_etag();
        if let Some(vector) = put.existing.as_ref().and_then(|existing| existing.vector.as_deref()) {
            let mut vector = crate::ChangeVector::parse(vector)?;
            vector.raise(&self.store.names.node_tag, put.etag, &self.store.names.database_id);
            put.vector = Some(vector.to_string());
        }
        Ok(put)
    }

    /// Completes `users/` with the etag that the write will get, and `users|` with the next number of the identity.
    fn complete<'b>(&mut self, given: &'b str, separator: char) -> Result<Cow<'b, str>> {
        let id = match completion(given, separator) {
            Completion::None => return Ok(Cow::Borrowed(given)),
            Completion::Etag => format!("{given}{:019}-{}", self.last_etag() + 1, self.store.names.node_tag),
            Completion::Identity => loop {
                let value = self.next_identity(given)?;
                let id = format!("{}{separator}{value}", given.trim_end_matches('|'));
                // Somebody may have stored a document under the number by hand.
                if self.find(&id)?.is_none() {
                    break id;
                }
            },
        };
        crate::id::check(&id)?;
        Ok(Cow::Owned(id))
    }

    fn is_unchanged(&self, existing: &Existing, content: &Content, parts: &[u8]) -> Result<bool> {
        if existing.head.metadata_size != content.metadata_size || existing.head.body_size != content.body_size {
            return Ok(false);
        }
        let record = self.store.schema.records.get(&*self.tx, existing.location)?;
        Ok(record.get(existing.head.metadata_at()..) == Some(parts))
    }

    /// Puts the bytes of a decided document. Its key is in `self.key`.
    pub(crate) fn apply_put(&mut self, put: &Put<'_>) -> Result<()> {
        let schema = self.store.schema;
        let vector = put.vector.as_deref().unwrap_or_default();
        let too_large = |what, size, max| Error::TooLarge { what, size, max };
        let head = Head {
            etag: put.etag,
            last_modified: put.last_modified,
            flags: put.flags,
            collection: self.collection(put.collection).number,
            id_size: u16::try_from(put.id.len()).map_err(|_| too_large("an id", put.id.len(), u16::MAX.into()))?,
            vector_size: u16::try_from(vector.len())
                .map_err(|_| too_large("a change vector", vector.len(), u16::MAX.into()))?,
            metadata_size: put.content.metadata_size,
            body_size: put.content.body_size,
            kind: Kind::Document,
        };
        let encoded = head.encode();
        let parts = [&encoded[..], put.id.as_bytes(), vector.as_bytes(), put.parts];
        let size = parts.iter().map(|part| part.len() as u64).sum::<u64>();

        if let Some(tombstone) = put.tombstone {
            self.remove_tombstone(tombstone)?;
        }
        let documents = self.documents_of(put.collection);
        self.change_collection(put.collection, |collection| {
            match &put.existing {
                Some(existing) => {
                    collection.document_size = collection.document_size.saturating_sub(existing.size as u64);
                }
                None => collection.document_count += 1,
            }
            collection.document_size = collection.document_size.saturating_add(size);
        });
        let location = match &put.existing {
            Some(existing) => {
                schema.by_etag.delete(self.tx, existing.head.etag)?;
                documents.delete(self.tx, existing.head.etag)?;
                schema.records.update(self.tx, existing.location, &parts)?
            }
            None => schema.records.insert(self.tx, &parts)?,
        };
        if put.existing.as_ref().is_none_or(|existing| existing.location != location) {
            schema.by_id.put(self.tx, &self.key, &location.0.to_le_bytes())?;
        }
        schema.by_etag.put(self.tx, put.etag, location.0)?;
        documents.put(self.tx, put.etag, location.0)?;
        Ok(())
    }
}
