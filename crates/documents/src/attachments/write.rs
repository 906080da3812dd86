//! Writing attachments inside a write transaction.

use super::command::{AttachmentAction, AttachmentCommand, AttachmentDetails};
use super::content::NewContent;
use super::list;
use super::read::ListedAttachment;
use super::value::Value;
use crate::error::Actual;
use crate::ids::{id, owned};
use crate::items::change::{Deletion, Parts};
use crate::items::found::{CurrentItem, Existing};
use crate::items::kinds::ItemKind;
use crate::items::record::{self, Head, RecordState};
use crate::wire::server_metadata::with_property;
use crate::{CommandResult, Error, Expected, Flags, Operation, Result, Writing};

/// Attachments that the deletion of a document looks up at once.
const KEYS_AT_ONCE: usize = 1024;

/// An attachment that is to be stored.
struct Put<'p> {
    document_id: &'p str,
    name: &'p str,
    content_type: &'p str,
    content: &'p NewContent,
    expected: &'p Expected,
    is_imported: bool,
}

impl Writing<'_, '_> {
    /// Runs a command on an attachment.
    ///
    /// # Errors
    ///
    /// [`Error::NoDocumentForAttachment`], [`Error::MissingAttachment`], [`Error::AttachmentConflict`], [`Error::UploadLost`]. The
    /// transaction must then be rolled back.
    pub(crate) fn run_attachment(&mut self, command: &AttachmentCommand, expected: &Expected) -> Result<CommandResult> {
        let AttachmentCommand { document_id, name, action } = command;
        match action {
            AttachmentAction::Put { content: None, .. } => Err(Error::BadBatch {
                rule: format!(
                    "the content of the attachment '{}' is missing: send the batch as multipart/form-data, with one part for each 'AttachmentPUT' behind the commands",
                    name.escape_debug()
                ),
            }),
            AttachmentAction::Put { content_type, content: Some(content), is_imported } => {
                let is_imported = *is_imported;
                let put = Put { document_id, name, content_type, content, expected, is_imported };
                let details = self.put_attachment(&put)?;
                let document_change_vector = self.list_attachments(&id::lower(document_id), is_imported)?;
                Ok(CommandResult::AttachmentPut { details, document_change_vector })
            }
            AttachmentAction::Delete => {
                let document_key = id::lower(document_id);
                let is_deleted = self.delete_attachment(document_id, name, expected)?;
                let document_change_vector = match is_deleted {
                    true => Some(self.list_attachments(&document_key, false)?),
                    false => self.vector_of_document(&document_key)?,
                };
                Ok(CommandResult::AttachmentDelete {
                    id: document_id.clone(),
                    name: name.clone(),
                    document_change_vector,
                })
            }
            AttachmentAction::Copy { to_id, to_name } => {
                let details = self.copy_attachment(command, expected, (to_id, to_name))?;
                let document_change_vector = self.list_attachments(&id::lower(to_id), false)?;
                Ok(CommandResult::AttachmentCopy { details, document_change_vector })
            }
            AttachmentAction::Move { to_id, to_name } => {
                let details = self.copy_attachment(command, expected, (to_id, to_name))?;
                self.delete_attachment(document_id, name, expected)?;
                let (from_key, to_key) = (id::lower(document_id), id::lower(to_id));
                let to_vector = self.list_attachments(&to_key, false)?;
                let from_vector = match from_key == to_key {
                    true => to_vector.clone(),
                    false => self.list_attachments(&from_key, false)?,
                };
                Ok(CommandResult::AttachmentMove {
                    id: document_id.clone(),
                    name: name.clone(),
                    details,
                    document_change_vector: from_vector,
                    destination_change_vector: to_vector,
                })
            }
        }
    }

    fn vector_of_document(&self, document_key: &[u8]) -> Result<Option<String>> {
        let document = self.find_item(ItemKind::Document, document_key)?;
        Ok(document.map(|document| self.vector_of(&document)))
    }

    /// Stores an attachment with the content of another one, under a name that is free.
    fn copy_attachment(
        &mut self,
        command: &AttachmentCommand,
        expected: &Expected,
        (to_id, to_name): (&str, &str),
    ) -> Result<AttachmentDetails> {
        let AttachmentCommand { document_id, name, .. } = command;
        let key = ItemKind::Attachment.key(&owned::id_of(document_id, name));
        let source = self.find_item(ItemKind::Attachment, &key)?;
        let missing = || Error::MissingAttachment { document_id: document_id.clone(), name: name.clone() };
        let source = source.ok_or_else(missing)?;
        self.check_attachment(Operation::Delete, (document_id, name), expected, Some(&source))?;
        let body = self.body_of(&source)?;
        let value = Value::decode(&body).ok_or(DAMAGED)?;
        let put = Put {
            document_id: to_id,
            name: to_name,
            content_type: value.content_type,
            content: &NewContent::known(value.hash),
            expected: &Expected::Missing,
            is_imported: false,
        };
        self.put_attachment(&put)
    }

    fn body_of(&self, attachment: &Existing) -> Result<Vec<u8>> {
        let record = self.store.schema.records.get(&*self.tx, attachment.location)?;
        Ok(record.get(attachment.head.body_at()..).unwrap_or_default().to_vec())
    }

    /// Stores an attachment and links its content. The list of its document is not changed yet.
    fn put_attachment(&mut self, put: &Put<'_>) -> Result<AttachmentDetails> {
        let Put { document_id, name, .. } = *put;
        let document = self.find_item(ItemKind::Document, &id::lower(document_id))?;
        let missing = || Error::NoDocumentForAttachment { document_id: document_id.to_owned(), name: name.to_owned() };
        let document = document.ok_or_else(missing)?;
        let key = ItemKind::Attachment.key(&owned::id_of(document_id, name));
        let before = self.find_item(ItemKind::Attachment, &key)?;
        self.check_attachment(Operation::Put, (document_id, name), put.expected, before.as_ref())?;
        // While the document still lists what is replaced.
        self.revise_before_change(&document, &id::lower(document_id), put.is_imported)?;
        // The new content first: if it is the same as before, it is not removed in between.
        let size = self.link_content(put.content)?;
        if let Some(before) = &before {
            self.release_content_of(before)?;
        }
        let record = self.store.schema.records.get(&*self.tx, document.location)?;
        let spelled = owned::id_of(record::id(&document.head, record)?, name);
        let place = self.collection_by_number(document.head.collection)?;
        let collection = self.collection(place);
        let (number, tombstone_count) = (collection.number, collection.counts[ItemKind::Attachment].tombstone_count);
        let tombstone = match before.is_none() && tombstone_count > 0 {
            true => self.find_tombstone(ItemKind::Attachment, number, &key)?,
            false => None,
        };
        let etag = self.next_etag()?;
        let vector = self.vector_over(before.as_ref().or(tombstone.as_ref()), etag)?;
        let body = Value { hash: put.content.hash, size, content_type: put.content_type }.encode();
        let head = Head {
            // A type of bounded length.
            body_size: body.len() as u32,
            ..Head::stored(ItemKind::Attachment, number, etag, self.now)
        };
        let stored = vector.as_deref().unwrap_or_default();
        let parts = Parts { id: &spelled, vector: stored, server_metadata: &[], content: &body };
        self.store_item(place, head, parts, &key, before.as_ref(), tombstone.as_ref())?;
        Ok(AttachmentDetails {
            document_id: document_id.to_owned(),
            name: name.to_owned(),
            change_vector: vector.unwrap_or_else(|| self.store.names.vector(etag)),
            hash: put.content.hash,
            content_type: put.content_type.to_owned(),
            size,
        })
    }

    /// Deletes an attachment; false if there is none. The list of its document is not changed yet.
    fn delete_attachment(&mut self, document_id: &str, name: &str, expected: &Expected) -> Result<bool> {
        let key = ItemKind::Attachment.key(&owned::id_of(document_id, name));
        let attachment = self.find_item(ItemKind::Attachment, &key)?;
        self.check_attachment(Operation::Delete, (document_id, name), expected, attachment.as_ref())?;
        let Some(attachment) = attachment else { return Ok(false) };
        let document_key = id::lower(document_id);
        if let Some(document) = self.find_item(ItemKind::Document, &document_key)? {
            // While its content is there.
            self.revise_before_change(&document, &document_key, false)?;
        }
        self.remove_attachment(&attachment, &key)?;
        Ok(true)
    }

    /// Gives a document exactly these attachments, whose contents are there.
    pub(crate) fn set_attachments(&mut self, document_id: &str, wanted: &[ListedAttachment]) -> Result<()> {
        let document_key = id::lower(document_id);
        let stored = super::read::all(&self.store.schema, &self.store.names, &*self.tx, &document_key)?;
        let stored: Vec<ListedAttachment> = stored.iter().map(ListedAttachment::of).collect();
        if stored == wanted {
            return Ok(());
        }
        for ListedAttachment { name, .. } in &stored {
            if !wanted.iter().any(|wanted| id::is_same(&wanted.name, name)) {
                self.delete_attachment(document_id, name, &Expected::Any)?;
            }
        }
        for attachment in wanted.iter().filter(|wanted| !stored.contains(wanted)) {
            self.put_attachment(&Put {
                document_id,
                name: &attachment.name,
                content_type: &attachment.content_type,
                content: &NewContent::known(attachment.hash),
                expected: &Expected::Any,
                is_imported: false,
            })?;
        }
        self.list_attachments(&document_key, false)?;
        Ok(())
    }

    fn remove_attachment(&mut self, attachment: &Existing, key: &[u8]) -> Result<()> {
        let body = self.body_of(attachment)?;
        self.release_content(Value::decode(&body).ok_or(DAMAGED)?.hash)?;
        let etag = self.next_etag()?;
        let vector = self.vector_over(Some(attachment), etag)?;
        // Who takes the deletion over deletes this content, and no other one of the name.
        let deletion = Deletion { etag, vector, last_modified: self.now, body };
        self.remove_item(attachment, key, &deletion)
    }

    fn release_content_of(&mut self, attachment: &Existing) -> Result<()> {
        let body = self.body_of(attachment)?;
        let hash = Value::decode(&body).ok_or(DAMAGED)?.hash;
        self.release_content(hash)
    }

    /// Deletes all attachments of a document that is about to be deleted.
    pub(crate) fn delete_attachments_of(&mut self, document: &Existing, document_key: &[u8]) -> Result<()> {
        if !document.head.flags.has_attachments() {
            return Ok(());
        }
        let schema = self.store.schema;
        loop {
            let keys = schema.keys_of_document(&*self.tx, ItemKind::Attachment, document_key, KEYS_AT_ONCE)?;
            if keys.is_empty() {
                return Ok(());
            }
            for (key, location) in keys {
                let attachment = Existing::at(&schema, &*self.tx, location, ItemKind::Attachment, RecordState::Stored)?;
                self.remove_attachment(&attachment, &key)?;
            }
        }
    }

    /// Makes the list of attachments in a document's metadata anew, and its flag; gives its new change vector.
    ///
    /// * `is_imported`: the document keeps its date.
    fn list_attachments(&mut self, document_key: &[u8], is_imported: bool) -> Result<String> {
        let document = self.find_item(ItemKind::Document, document_key)?;
        let document = document.ok_or(Error::Corrupt { rule: "the document of an attachment exists" })?;
        let value = list::value(&self.store.schema, &self.store.names, &*self.tx, document_key)?;
        let record = self.store.schema.records.get(&*self.tx, document.location)?;
        let flags = match &value {
            Some(_) => document.head.flags.with(Flags::HAS_ATTACHMENTS),
            None => document.head.flags.without(Flags::HAS_ATTACHMENTS),
        };
        let server = with_property(record::server_metadata(&document.head, record), list::PROPERTY, value);
        let found = CurrentItem { key: document_key.to_vec(), document: None, tombstone: None };
        let date = if is_imported { document.head.last_modified } else { self.now };
        self.replace_server_metadata(found, &document, &server, flags, date)
    }

    /// Whether the condition of a command holds for an attachment.
    fn check_attachment(
        &self,
        operation: Operation,
        (document_id, name): (&str, &str),
        expected: &Expected,
        attachment: Option<&Existing>,
    ) -> Result<()> {
        let actual = match (expected, attachment) {
            (Expected::Any, _) | (Expected::Missing, None) => return Ok(()),
            (_, attachment) => attachment.map(|attachment| self.vector_of(attachment)),
        };
        if let (Expected::Vector(vector), Some(actual)) = (expected, &actual)
            && crate::change_vector::is_same(vector, actual)
        {
            return Ok(());
        }
        Err(Error::AttachmentConflict {
            document_id: document_id.to_owned(),
            name: name.to_owned(),
            operation,
            expected: expected.as_wire().to_owned(),
            // As for documents: an etag of this job will be reused, so the error must not name it.
            actual: match attachment {
                Some(attachment) if attachment.head.etag > self.first_etag() => Actual::OfThisBatch,
                _ => actual.map_or(Actual::Missing, Actual::Vector),
            },
        })
    }
}

const DAMAGED: Error = Error::Corrupt { rule: "the record of an attachment has hash, size and type of its content" };
