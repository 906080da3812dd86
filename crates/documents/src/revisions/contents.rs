//! The contents of attachments that revisions hold: a revision of a document that lists attachments refers to their contents itself, so
//! that they stay when the document loses them.

use json::{Kind, Raw, Writer};

use super::Revision;
use crate::attachments::check::ContentUses;
use crate::attachments::content::NewContent;
use crate::attachments::hash::ContentHash;
use crate::attachments::list::PROPERTY;
use crate::ids::id;
use crate::wire::server_metadata::{property, with_property};
use crate::{Error, Result, Snapshot, Writing};

pub(super) fn hash_of(attachment: Raw<'_>) -> Option<ContentHash> {
    ContentHash::parse(&attachment.get("Hash").and_then(Raw::as_str)?)
}

/// The hashes of the attachments that server metadata list.
fn hashes(server_metadata: &[u8]) -> Vec<ContentHash> {
    let Some(list) = property(server_metadata, PROPERTY) else { return Vec::new() };
    let list = Raw::new(&list);
    if list.kind() != Kind::Array {
        return Vec::new();
    }
    list.elements().filter_map(hash_of).collect()
}

/// Counts the contents that a revision refers to.
pub(super) fn count(server_metadata: &[u8], uses: &mut ContentUses) {
    hashes(server_metadata).into_iter().for_each(|hash| *uses.entry(hash).or_default() += 1);
}

/// An attachment that a document had in a former state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionAttachment {
    /// Its name, as it was written.
    pub name: String,
    /// What it says of its content; empty: nothing.
    pub content_type: String,
    /// The content, which stays as long as the revision does.
    pub hash: ContentHash,
    /// Bytes of the content.
    pub size: u64,
}

impl Revision<'_> {
    /// The attachment with this name, in any case.
    ///
    /// # Errors
    ///
    /// The record is damaged.
    pub fn attachment(&self, name: &str) -> Result<Option<RevisionAttachment>> {
        Ok(self.attachments()?.into_iter().find(|attachment| id::is_same(&attachment.name, name)))
    }

    /// All attachments that the document had, in the order of its list.
    ///
    /// # Errors
    ///
    /// The record is damaged.
    pub fn attachments(&self) -> Result<Vec<RevisionAttachment>> {
        let mut whole = Vec::new();
        self.document()?.write_metadata_only(&mut whole);
        let list = Raw::new(&whole).get("@metadata").and_then(|metadata| metadata.get(PROPERTY));
        let listed = list.filter(|list| list.kind() == Kind::Array).into_iter().flat_map(Raw::elements);
        let text = |attachment: Raw<'_>, name: &str| {
            attachment.get(name).and_then(Raw::as_str).unwrap_or_default().into_owned()
        };
        let attachments = listed.filter_map(|attachment| {
            // An imported list may have neither.
            let (hash, size) = hash_of(attachment).zip(attachment.get("Size").and_then(Raw::as_u64))?;
            let (name, content_type) = (text(attachment, "Name"), text(attachment, "ContentType"));
            Some(RevisionAttachment { name, content_type, hash, size })
        });
        Ok(attachments.collect())
    }
}

impl Snapshot<'_> {
    /// The attachment that a document had in the revision with a change vector. `None`: there is no such revision of the document, or it
    /// has no such attachment.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn revision_attachment(
        &self,
        document_id: &str,
        vector: &str,
        name: &str,
    ) -> Result<Option<RevisionAttachment>> {
        let Some(revision) = self.revision_by_vector(vector)? else { return Ok(None) };
        match id::is_same(revision.document()?.id(), document_id) {
            true => revision.attachment(name),
            false => Ok(None),
        }
    }
}

impl Writing<'_, '_> {
    /// Refers to the contents that server metadata list; gives the metadata with those that there are. Each takes an etag before that of
    /// the revision, as at RavenDB, where the attachments of a revision are items of their own.
    pub(super) fn hold_contents(&mut self, server_metadata: &[u8]) -> Result<Vec<u8>> {
        let Some(list) = property(server_metadata, PROPERTY) else { return Ok(server_metadata.to_vec()) };
        let list = Raw::new(&list);
        let mut held = Vec::new();
        if list.kind() == Kind::Array {
            for attachment in list.elements() {
                let Some(hash) = hash_of(attachment) else { continue };
                match self.link_content(&NewContent::known(hash)) {
                    Ok(_) => {
                        held.push(attachment.bytes());
                        self.next_etag()?;
                    }
                    // It went with the change that is under way, or was never imported.
                    Err(Error::UploadLost) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        let value = (!held.is_empty()).then(|| {
            let mut value = Vec::new();
            Writer::new(&mut value).array(|json| held.iter().for_each(|attachment| _ = json.raw(attachment)));
            value
        });
        Ok(with_property(server_metadata, PROPERTY, value))
    }

    /// Lets the contents go that a revision refers to.
    pub(super) fn release_contents(&mut self, server_metadata: &[u8]) -> Result<()> {
        hashes(server_metadata).into_iter().try_for_each(|hash| self.release_content(hash))
    }
}
