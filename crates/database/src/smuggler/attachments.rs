//! Attachments in dumps, as the reference writes them: before the first document that has a content stands an element that names it, and
//! then its bytes; the documents say in `@attachments` which contents they have under which names.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use documents::limits::INLINE_CONTENT_SIZE_MAX;
use documents::{Attachment, AttachmentAction, AttachmentCommand, Batch, ContentHash, Expected, NewContent, id};
use json::{Kind, Raw, Writer};

use crate::attachments::{ContentReceiver, ContentUpload, InlineRoom};
use crate::{Database, Result};

/// Between the parts of the key of an attachment in a tombstone.
const KEY_SEPARATOR: char = '\u{1e}';

/// A content, and one of the attachments that have it.
#[derive(Clone, Copy, Debug)]
pub(super) struct DumpedContent<'a> {
    pub document_id: &'a str,
    pub name: &'a str,
    pub content_type: &'a str,
    pub hash: ContentHash,
}

impl<'a> DumpedContent<'a> {
    /// That of an attachment of a document.
    pub fn of(attachment: &Attachment<'a>) -> DumpedContent<'a> {
        DumpedContent {
            document_id: attachment.document_id(),
            name: attachment.name(),
            content_type: attachment.content_type(),
            hash: attachment.hash(),
        }
    }

    /// Writes the element that stands before the bytes.
    ///
    /// * `size`: how many bytes follow.
    pub fn write_head(&self, json: &mut Writer<'_>, size: u64) {
        let hash = self.hash.to_string();
        json.object(|json| {
            json.name("@metadata").object(|json| _ = json.name("@export-type").string("Attachment"));
            json.name("Hash").string(&hash).name("Size").unsigned(size);
            let (document, name) = (id::lower_text(self.document_id), id::lower_text(self.name));
            json.name("Tag").string(&format!("{document}|d|{name}|{hash}|{}", self.content_type));
        });
    }
}

/// The key of a deleted attachment in a tombstone, in lower case but for the hash.
///
/// * `content`: hash and type of its content. `None`: a version of this program deleted it that kept neither.
pub(super) fn tombstone_key(document_id: &str, name: &str, content: Option<(ContentHash, &str)>) -> String {
    let (document, name) = (id::lower_text(document_id), id::lower_text(name));
    let key = format!("{document}{KEY_SEPARATOR}d{KEY_SEPARATOR}{name}{KEY_SEPARATOR}");
    match content {
        Some((hash, content_type)) => format!("{key}{hash}{KEY_SEPARATOR}{}", id::lower_text(content_type)),
        None => key,
    }
}

/// A deleted attachment of a document, as a tombstone says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DeletedAttachment<'k> {
    /// The document.
    pub document_id: &'k str,
    /// The name, in lower case.
    pub name: &'k str,
    /// Hash and type of the content that was deleted: another one under the same name stays. `None`: any.
    pub content: Option<(ContentHash, &'k str)>,
}

impl<'k> DeletedAttachment<'k> {
    /// Reads the key of a tombstone. `None`: it is not of an attachment of a document.
    pub fn of_key(key: &'k str) -> Option<DeletedAttachment<'k>> {
        let mut parts = key.split(KEY_SEPARATOR);
        let (document_id, kind, name) = (parts.next()?, parts.next()?, parts.next()?);
        let content = parts.next().and_then(ContentHash::parse).map(|hash| (hash, parts.next().unwrap_or_default()));
        (kind == "d").then_some(DeletedAttachment { document_id, name, content })
    }

    /// The command that deletes it. `None`: the document cannot exist.
    pub fn command(&self) -> Option<AttachmentCommand> {
        AttachmentCommand::new(self.document_id, self.name, AttachmentAction::Delete).ok()
    }
}

/// The contents of a dump that is imported.
#[derive(Debug)]
pub(super) struct DumpedContents {
    database: Arc<Database>,
    /// The one whose bytes arrive: what is said of it, and how many are to come.
    arriving: Option<(ContentReceiver, Option<ContentHash>, u64)>,
    /// Those that no document had yet.
    waiting: HashMap<ContentHash, (NewContent, Option<ContentUpload>)>,
    /// Bytes of those that wait in memory.
    waiting_size: usize,
    /// Those that a document had.
    given: HashSet<ContentHash>,
    /// Of the batch that is made.
    uploads: Vec<ContentUpload>,
    /// Of the revisions that wait for their write.
    revision_uploads: Vec<ContentUpload>,
}

/// What a document lists as its attachments.
fn listed(document: Raw<'_>) -> impl Iterator<Item = Raw<'_>> {
    let list = document.get("@metadata").and_then(|metadata| metadata.get("@attachments"));
    list.filter(|list| list.kind() == Kind::Array).into_iter().flat_map(Raw::elements)
}

fn hash_of(attachment: Raw<'_>) -> Option<ContentHash> {
    ContentHash::parse(&attachment.get("Hash").and_then(Raw::as_str)?)
}

impl DumpedContents {
    pub fn new(database: &Arc<Database>) -> DumpedContents {
        DumpedContents {
            database: database.clone(),
            arriving: None,
            waiting: HashMap::new(),
            waiting_size: 0,
            given: HashSet::new(),
            uploads: Vec::new(),
            revision_uploads: Vec::new(),
        }
    }

    /// A content begins, whose bytes follow. Gives how many.
    ///
    /// * `head`: the element before it.
    pub fn begin(&mut self, head: Raw<'_>) -> Result<u64> {
        let size = head.get("Size").and_then(Raw::as_u64).unwrap_or(0);
        let hash = head.get("Hash").and_then(Raw::as_str).and_then(|text| ContentHash::parse(&text));
        self.arriving = Some((ContentReceiver::new(&self.database), hash, size));
        if size == 0 {
            self.end()?;
        }
        Ok(size)
    }

    /// Takes the next bytes of the content that arrives. False: they have not the hash that was said of them, and were thrown away.
    pub fn take(&mut self, bytes: &[u8]) -> Result<bool> {
        let Some((receiver, _, left)) = &mut self.arriving else { return Ok(true) };
        receiver.add(bytes)?;
        *left = left.saturating_sub(bytes.len() as u64);
        if *left == 0 { self.end() } else { Ok(true) }
    }

    fn end(&mut self) -> Result<bool> {
        let Some((receiver, said, _)) = self.arriving.take() else { return Ok(true) };
        let mut room = InlineRoom::of(INLINE_CONTENT_SIZE_MAX.saturating_sub(self.waiting_size));
        let (content, upload) = receiver.finish(&mut room)?;
        if said != Some(content.hash()) {
            return Ok(false);
        }
        self.waiting_size += content.inline_size();
        self.waiting.insert(content.hash(), (content, upload));
        Ok(true)
    }

    /// Adds the attachments that the metadata of a document list, behind it. Gives the names of those whose content is neither in the
    /// dump nor in the database.
    pub fn add_to(&mut self, batch: &mut Batch, document_id: &str, document: Raw<'_>) -> Result<Vec<String>> {
        let mut missing = Vec::new();
        for listed in listed(document) {
            let text = |name: &str| listed.get(name).and_then(Raw::as_str).unwrap_or_default();
            let name = text("Name").into_owned();
            let Some(content) = self.content(hash_of(listed))? else {
                missing.push(name);
                continue;
            };
            let content_type = text("ContentType").into_owned();
            let action = AttachmentAction::Put { content_type, content: Some(content), is_imported: true };
            batch.push_attachment(AttachmentCommand::new(document_id, &name, action)?, Expected::Any);
        }
        Ok(missing)
    }

    /// The content with a hash. It comes from the dump once; then the database has it.
    fn content(&mut self, hash: Option<ContentHash>) -> Result<Option<NewContent>> {
        let Some(hash) = hash else { return Ok(None) };
        if let Some((content, upload)) = self.take_waiting(hash) {
            self.uploads.extend(upload);
            return Ok(Some(content));
        }
        let is_there = self.given.contains(&hash) || self.database.read().content_references(hash)? > 0;
        Ok(is_there.then(|| NewContent::known(hash)))
    }

    /// A content that waits for the first that lists it.
    fn take_waiting(&mut self, hash: ContentHash) -> Option<(NewContent, Option<ContentUpload>)> {
        let (content, upload) = self.waiting.remove(&hash)?;
        self.waiting_size -= content.inline_size();
        self.given.insert(hash);
        Some((content, upload))
    }

    /// The contents of a revision that stand before it in the dump, to be stored with it. The database has the others, or they are lost.
    pub fn of_revision(&mut self, revision: Raw<'_>) -> Vec<NewContent> {
        let mut contents = Vec::new();
        for hash in listed(revision).filter_map(hash_of) {
            if let Some((content, upload)) = self.take_waiting(hash) {
                contents.push(content);
                self.revision_uploads.extend(upload);
            }
        }
        contents
    }

    /// The uploads of the revisions that are sent.
    pub fn take_revision_uploads(&mut self) -> Vec<ContentUpload> {
        std::mem::take(&mut self.revision_uploads)
    }

    /// The uploads of the batch that is sent.
    pub fn take_uploads(&mut self) -> Vec<ContentUpload> {
        std::mem::take(&mut self.uploads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_tombstones_say_which_content_was_deleted() {
        let hash = "jnAmMhQGvPUOoGX8yOAQIeiYgti28BZtj0MyalwkrEo=";
        let key = format!("a/1\u{1e}d\u{1e}x.txt\u{1e}{hash}\u{1e}text/plain");
        let deleted = DeletedAttachment::of_key(&key).unwrap();
        assert_eq!((deleted.document_id, deleted.name), ("a/1", "x.txt"));
        assert_eq!(deleted.content, ContentHash::parse(hash).map(|hash| (hash, "text/plain")));
        let own = tombstone_key("A/1", "X.txt", None);
        let any = DeletedAttachment { document_id: "a/1", name: "x.txt", content: None };
        assert_eq!(DeletedAttachment::of_key(&own), Some(any));
        let content = deleted.content.map(|(hash, _)| (hash, "Text/Plain"));
        assert_eq!(tombstone_key("A/1", "X.txt", content), key);
        for other in ["a/1", "a/1\u{1e}r\u{1e}A:1-x\u{1e}x.txt\u{1e}", ""] {
            assert_eq!(DeletedAttachment::of_key(other), None, "{other}");
        }
    }
}
