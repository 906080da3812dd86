//! What a dump says was deleted: documents, and attachments of documents.

use documents::id;
use json::Raw;

use super::ImportWork;
use crate::smuggler::ItemType;
use crate::smuggler::attachments::DeletedAttachment;
use crate::smuggler::reader::Part;
use crate::{Error, Result};

impl ImportWork {
    pub(super) fn tombstone(&mut self, part: Part<'_>, element: Raw<'_>) -> Result<()> {
        let kind = element.get("Type").and_then(Raw::as_str);
        if kind.as_deref() == Some("Attachment") {
            return self.attachment_tombstone(element);
        }
        let is_of_document = kind.is_none_or(|kind| kind == "Document");
        let collection = element.get("Collection").and_then(Raw::as_str).unwrap_or_default();
        if !is_of_document || !self.options.has_collection(&collection) {
            self.result.counts_mut(ItemType::Tombstones).left_out += 1;
            return Ok(());
        }
        let Some(id) = element.get("Key").and_then(Raw::as_str).filter(|id| !id.is_empty()) else {
            return self.refuse(ItemType::Tombstones, part, "the tombstone has no 'Key'".to_owned());
        };
        match self.batch.delete(&id, documents::Expected::Any).map_err(Error::from) {
            Ok(()) => self.send_if_full(),
            Err(error) => self.refuse(ItemType::Tombstones, part, error.to_string()),
        }
    }

    /// The deletion of an attachment of a document. Deletions of attachments of revisions are skipped.
    fn attachment_tombstone(&mut self, element: Raw<'_>) -> Result<()> {
        let key = element.get("Key").and_then(Raw::as_str).unwrap_or_default();
        let deleted = DeletedAttachment::of_key(&key).filter(|_| self.is_stored(ItemType::Attachments));
        let is_meant = match &deleted {
            Some(deleted) => self.is_attached(deleted)?,
            None => false,
        };
        match deleted.and_then(|deleted| deleted.command()).filter(|_| is_meant) {
            Some(command) => {
                self.batch.push_attachment(command, documents::Expected::Any);
                self.send_if_full()
            }
            None => {
                self.result.counts_mut(ItemType::Tombstones).left_out += 1;
                Ok(())
            }
        }
    }

    /// Whether the attachment of a tombstone is to go. RavenDB writes tombstones behind documents, so that the name may have another
    /// content since: then it goes if it has what the dump had before the tombstone. In our dumps tombstones come first, and it goes
    /// whatever it has: it may have been replaced before it was deleted.
    fn is_attached(&mut self, deleted: &DeletedAttachment<'_>) -> Result<bool> {
        if !self.has_begun_documents {
            return Ok(true);
        }
        let Some((hash, content_type)) = deleted.content else { return Ok(true) };
        // Deletions give no attachment a content, so that one wait is enough for all tombstones behind a document.
        if std::mem::take(&mut self.has_new_attachments) {
            self.send_batch()?;
            self.flight.wait()?;
        }
        let snapshot = self.database.read();
        let stored = snapshot.attachment(deleted.document_id, deleted.name).map_err(Error::from)?;
        Ok(stored.is_some_and(|stored| {
            stored.hash() == hash && id::lower_text(stored.content_type()) == id::lower_text(content_type)
        }))
    }
}
