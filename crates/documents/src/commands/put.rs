//! Storing a document: decide, then apply.

use std::borrow::Cow;

use super::command::{Action, Command};
use crate::error::Actual;
use crate::ids::id::{Completion, completion};
use crate::items::change::Parts;
use crate::items::found::{CurrentItem, Existing};
use crate::items::kinds::ItemKind;
use crate::items::record::{self, Head};
use crate::revisions::{PutRevisions, Revise, WrittenDocument};
use crate::wire::content::Content;
use crate::{Batch, Date, EMPTY_COLLECTION, Error, Etag, Expected, Flags, Operation, Result, Writing};

/// A decided put: all that is to be stored. Applying it decides nothing, so that every node of a group comes to the same.
#[derive(Debug)]
pub(crate) struct Put<'a> {
    pub id: Cow<'a, str>,
    pub etag: Etag,
    /// `None`: this database's own entry alone.
    pub vector: Option<String>,
    pub last_modified: Date,
    pub flags: Flags,
    revise: Revise,
    collection: &'a str,
    content: Content,
    /// Stored metadata, then body.
    parts: &'a [u8],
}

/// The outcome of a put.
#[derive(Debug)]
pub(crate) enum PutDecision<'a> {
    Write(Put<'a>),
    /// Equal to what is stored, and not to be written again.
    Unchanged(Cow<'a, str>, Existing),
}

impl Writing<'_, '_> {
    /// Completes the id, checks the condition, and says what is to be written.
    pub(crate) fn decide_put<'b>(
        &mut self,
        batch: &'b Batch,
        command: &'b Command,
        content: &Content,
        collection: Option<usize>,
    ) -> Result<(PutDecision<'b>, CurrentItem)> {
        let (has_whole_id, last_modified, unarchives, forces_revision) = match command.action {
            Action::Put { has_whole_id, last_modified, unarchives, forces_revision, .. } => {
                (has_whole_id, last_modified, unarchives, forces_revision)
            }
            _ => (false, None, false, false),
        };
        let (id, etag, mut found) = match batch.ids_are_whole || has_whole_id {
            true => (Cow::Borrowed(command.id.as_str()), None, self.find(&command.id)?),
            false => self.complete(&command.id)?,
        };
        self.check_expected(Operation::Put, &id, &command.expected, found.document.as_ref())?;
        let collection = collection.and_then(|place| batch.collections.name(place)).unwrap_or(EMPTY_COLLECTION);
        let place = self.find_collection(collection)?;
        let number = place.map(|place| self.collection(place).number);
        let parts = content.bytes(&batch.text);
        let before = found.document.as_ref().map_or(Flags::NONE, |document| document.head.flags);
        let mut flags = before.written_by(batch.flags);
        if unarchives {
            flags = flags.without(Flags::ARCHIVED);
        }
        if found.document.is_none() {
            found.tombstone = self.tombstone_in(place, &found.key)?;
        }
        let is_unchanged = match &found.document {
            Some(document) if batch.skip_unchanged || !self.revisions.is_empty() => {
                self.is_unchanged(document, content, parts)?
            }
            _ => false,
        };
        let asked = PutRevisions {
            forces_before: forces_revision,
            is_imported: batch.flags.has(Flags::HAS_REVISIONS),
            is_unchanged,
        };
        let revise = self.decide_revisions((&id, &found), collection, flags, asked)?;
        flags = flags.without(Flags::HAS_REVISIONS);
        if revise.has_revisions {
            flags = flags.with(Flags::HAS_REVISIONS);
        }
        let before = match &found.document {
            Some(document) if Some(document.head.collection) != number => {
                let from = self.collection_by_number(document.head.collection)?;
                let from = self.collection(from).name.clone();
                return Err(Error::CollectionMismatch { id: id.into_owned(), from, to: collection.to_owned() });
            }
            Some(document) if batch.skip_unchanged && document.head.flags == flags && is_unchanged => {
                return Ok((PutDecision::Unchanged(id, document.clone()), found));
            }
            Some(document) => Some(document),
            None => found.tombstone.as_ref(),
        };
        let etag = match etag {
            Some(etag) => etag,
            None => self.next_etag()?,
        };
        let put = Put {
            id,
            etag,
            vector: self.vector_of_put(&found.key, before, etag)?,
            last_modified: last_modified.unwrap_or(self.now),
            flags,
            revise,
            collection,
            content: *content,
            parts,
        };
        Ok((PutDecision::Write(put), found))
    }

    /// Completes `users/` with an etag, which the write then gets, and `users|` with the next number of the identity: one under
    /// which there is nothing, for somebody may have stored a document under it by hand, or copied it here.
    fn complete<'b>(&mut self, given: &'b str) -> Result<(Cow<'b, str>, Option<Etag>, CurrentItem)> {
        let separator = self.id_separator;
        loop {
            let (id, etag) = match completion(given, separator) {
                Completion::None => {
                    let found = self.find(given)?;
                    if found.document.is_none() {
                        crate::ids::id::check_new(given)?;
                    }
                    return Ok((Cow::Borrowed(given), None, found));
                }
                Completion::Etag => {
                    let etag = self.next_etag()?;
                    (format!("{given}{etag:019}-{}", self.store.names.node_tag), Some(etag))
                }
                Completion::Identity => {
                    let value = self.next_identity(given)?;
                    (format!("{}{separator}{value}", given.trim_end_matches('|')), None)
                }
            };
            crate::ids::id::check_new(&id)?;
            let found = self.find(&id)?;
            if found.document.is_none() {
                return Ok((Cow::Owned(id), etag, found));
            }
            self.spare_key = found.key;
        }
    }

    /// A whole id for a document that is put later: its number is an etag that no write has.
    ///
    /// * `given`: ends with `/`.
    ///
    /// # Errors
    ///
    /// The id would be too long, or storage fails.
    pub fn new_id(&mut self, given: &str) -> Result<String> {
        loop {
            let etag = self.next_etag()?;
            let id = format!("{given}{etag:019}-{}", self.store.names.node_tag);
            crate::ids::id::check_new(&id)?;
            let found = self.find(&id)?;
            let is_free = found.document.is_none();
            self.spare_key = found.key;
            if is_free {
                return Ok(id);
            }
        }
    }

    fn is_unchanged(&self, existing: &Existing, content: &Content, parts: &[u8]) -> Result<bool> {
        if existing.head.metadata_size != content.metadata_size || existing.head.body_size != content.body_size {
            return Ok(false);
        }
        let record = self.store.schema.records.get(&*self.tx, existing.location)?;
        Ok(record.get(existing.head.metadata_at()..) == Some(parts))
    }

    /// Stores a decided document in the place of what was found under its id.
    pub(crate) fn apply_put(&mut self, put: &Put<'_>, found: CurrentItem) -> Result<()> {
        self.revise_old(&put.revise, found.document.as_ref(), &found.key)?;
        let place = self.collection_or_new(put.collection)?;
        let head = Head {
            flags: put.flags,
            metadata_size: put.content.metadata_size,
            body_size: put.content.body_size,
            ..Head::stored(ItemKind::Document, self.collection(place).number, put.etag, put.last_modified)
        };
        // What the server maintains stays, whatever clients write.
        let server_metadata = match &found.document {
            Some(document) if document.head.server_size > 0 => {
                let record = self.store.schema.records.get(&*self.tx, document.location)?;
                record::server_metadata(&document.head, record).to_vec()
            }
            _ => Vec::new(),
        };
        let parts = Parts {
            id: &put.id,
            vector: put.vector.as_deref().unwrap_or_default(),
            server_metadata: &server_metadata,
            content: put.parts,
        };
        self.store_item(place, head, parts, &found.key, found.document.as_ref(), found.tombstone.as_ref())?;
        if put.revise.of_new || put.revise.limits.is_some() || found.document.is_none() {
            let vector = put.vector.clone().unwrap_or_else(|| self.store.names.vector(put.etag));
            let written = WrittenDocument {
                id: &put.id,
                vector: &vector,
                head,
                server_metadata: &server_metadata,
                content: put.parts,
            };
            self.revise_new(&put.revise, place, &found.key, &written, found.document.is_none())?;
        }
        self.applied(put.etag, found);
        Ok(())
    }

    /// Replaces what the server maintains in the metadata of a document, which gets a new etag; false if there is no such document.
    ///
    /// * `server_metadata`: properties as JSON without braces, minified, `"@attachments":[…]` for example; a PUT keeps them.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn put_server_metadata(&mut self, id: &str, server_metadata: &[u8]) -> Result<bool> {
        let mut found = self.find(id)?;
        let Some(document) = found.document.take() else {
            self.spare_key = found.key;
            return Ok(false);
        };
        self.replace_server_metadata(found, &document, server_metadata, document.head.flags, self.now)?;
        Ok(true)
    }

    /// Replaces what the server maintains of a document that was found, its flags and its date; gives its new change vector.
    pub(crate) fn replace_server_metadata(
        &mut self,
        found: CurrentItem,
        document: &Existing,
        server_metadata: &[u8],
        flags: Flags,
        last_modified: Date,
    ) -> Result<String> {
        // What is imported keeps the date of its document, and so does the document.
        let revise = self.decide_rewrite(document, last_modified != self.now)?;
        self.revise_old(&revise, Some(document), &found.key)?;
        let flags = if revise.has_revisions { flags.with(Flags::HAS_REVISIONS) } else { flags };
        let key = found.key.clone();
        let vector = self.replace_without_revising(found, document, server_metadata, flags, last_modified)?;
        self.revise_written(&revise, &key)?;
        Ok(vector)
    }

    /// Does the same, and makes no revision.
    pub(crate) fn replace_without_revising(
        &mut self,
        found: CurrentItem,
        document: &Existing,
        server_metadata: &[u8],
        flags: Flags,
        last_modified: Date,
    ) -> Result<String> {
        let record = self.store.schema.records.get(&*self.tx, document.location)?;
        let spelled = record::id(&document.head, record)?.to_owned();
        let content = record.get(document.head.metadata_at()..).unwrap_or_default().to_vec();
        let etag = self.next_etag()?;
        let vector = self.vector_over(Some(document), etag)?;
        let parts =
            Parts { id: &spelled, vector: vector.as_deref().unwrap_or_default(), server_metadata, content: &content };
        let place = self.collection_by_number(document.head.collection)?;
        let head = Head { etag, last_modified, flags, ..document.head };
        self.store_item(place, head, parts, &found.key, Some(document), None)?;
        self.applied(etag, found);
        Ok(vector.unwrap_or_else(|| self.store.names.vector(etag)))
    }

    /// The tombstone of a key in a collection in use here.
    fn tombstone_in(&self, place: Option<usize>, key: &[u8]) -> Result<Option<Existing>> {
        match place.map(|place| self.collection(place)) {
            Some(collection) if collection.counts[ItemKind::Document].tombstone_count > 0 => {
                self.find_tombstone(ItemKind::Document, collection.number, key)
            }
            _ => Ok(None),
        }
    }

    /// Whether the condition of a command holds for what is stored.
    pub(crate) fn check_expected(
        &self,
        operation: Operation,
        id: &str,
        expected: &Expected,
        document: Option<&Existing>,
    ) -> Result<()> {
        let actual = match (expected, document) {
            (Expected::Any, _) | (Expected::Missing, None) => return Ok(()),
            (_, document) => document.map(|document| self.vector_of(document)),
        };
        if let (Expected::Vector(vector), Some(actual)) = (expected, &actual)
            && crate::change_vector::is_same(vector, actual)
        {
            return Ok(());
        }
        Err(Error::Conflict {
            id: id.to_owned(),
            operation,
            expected: expected.as_wire().to_owned(),
            // This job wrote the document and is rolled back now; its etag will be reused, so the error must not name it.
            actual: match document {
                Some(document) if document.head.etag > self.first_etag() => Actual::OfThisBatch,
                _ => actual.map_or(Actual::Missing, Actual::Vector),
            },
        })
    }
}
