//! The commands `AttachmentPUT`, `AttachmentDELETE`, `AttachmentMOVE` and `AttachmentCOPY`, and their outcomes.

use json::Writer;

use super::content::NewContent;
use super::hash::ContentHash;
use crate::ids::{id, owned};
use crate::limits::ATTACHMENT_TYPE_SIZE_MAX;
use crate::{Error, Result};

/// What to do with one attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachmentCommand {
    pub(crate) document_id: String,
    pub(crate) name: String,
    pub(crate) action: AttachmentAction,
}

/// What to do with an attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttachmentAction {
    /// Stores it, in the place of the one that has its name.
    Put {
        /// The type of the content, perhaps empty.
        content_type: String,
        /// `None`: it comes with the body of the batch, and has to be [given](crate::Batch::give_contents) before the batch is run.
        content: Option<NewContent>,
        /// The document comes from elsewhere with its attachments, and keeps its date.
        is_imported: bool,
    },
    /// Deletes it, if there is one.
    Delete,
    /// Gives it to another document, or another name.
    Move {
        /// The document that gets it.
        to_id: String,
        /// Its name there, which no attachment has yet.
        to_name: String,
    },
    /// Has another attachment with the same content.
    Copy {
        /// The document that gets it.
        to_id: String,
        /// Its name there, which no attachment has yet.
        to_name: String,
    },
}

/// A stored attachment, as the results of commands have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachmentDetails {
    /// The document, as the command names it.
    pub document_id: String,
    /// The name.
    pub name: String,
    /// The change vector of the attachment.
    pub change_vector: String,
    /// The hash of the content.
    pub hash: ContentHash,
    /// The type of the content.
    pub content_type: String,
    /// Bytes of the content.
    pub size: u64,
}

impl AttachmentDetails {
    /// Writes `"Name","ChangeVector","Hash","ContentType","Size"`, without braces.
    pub(crate) fn write(&self, json: &mut Writer<'_>) {
        json.name("ChangeVector").string(&self.change_vector).name("Hash").string(&self.hash.to_string());
        json.name("ContentType").string(&self.content_type).name("Size").unsigned(self.size);
    }
}

impl AttachmentCommand {
    /// A command.
    ///
    /// # Errors
    ///
    /// An id cannot be that of a document, or a name that is written not that of an attachment.
    pub fn new(document_id: &str, name: &str, action: AttachmentAction) -> Result<AttachmentCommand> {
        id::check(document_id)?;
        match &action {
            AttachmentAction::Put { content_type, .. } => {
                check_name(name)?;
                check_type(name, content_type)?;
            }
            AttachmentAction::Delete => {}
            AttachmentAction::Move { to_id, to_name } | AttachmentAction::Copy { to_id, to_name } => {
                id::check(to_id)?;
                check_name(to_name)?;
            }
        }
        Ok(AttachmentCommand { document_id: document_id.to_owned(), name: name.to_owned(), action })
    }

    /// Stores an attachment.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn put(document_id: &str, name: &str, content_type: &str, content: NewContent) -> Result<AttachmentCommand> {
        let (content_type, content) = (content_type.to_owned(), Some(content));
        Self::new(document_id, name, AttachmentAction::Put { content_type, content, is_imported: false })
    }

    /// Bytes that it holds in memory, about.
    pub(crate) fn size(&self) -> usize {
        let held = match &self.action {
            AttachmentAction::Put { content_type, content, .. } => {
                content_type.len() + content.as_ref().map_or(0, NewContent::inline_size)
            }
            AttachmentAction::Delete => 0,
            AttachmentAction::Move { to_id, to_name } | AttachmentAction::Copy { to_id, to_name } => {
                to_id.len() + to_name.len()
            }
        };
        size_of::<AttachmentCommand>() + self.document_id.len() + self.name.len() + held
    }
}

fn check_type(name: &str, content_type: &str) -> Result<()> {
    let rule = if content_type.len() > ATTACHMENT_TYPE_SIZE_MAX {
        "its content type is longer than 1024 bytes (the limit ATTACHMENT_TYPE_SIZE_MAX)"
    } else if content_type.contains(|c: char| c.is_control()) {
        "its content type has a control character"
    } else {
        return Ok(());
    };
    Err(Error::BadAttachment { name: name.chars().take(80).collect(), rule })
}

/// Checks the id of an attachment that is stored.
pub(crate) fn check_id(id: &str) -> Result<()> {
    let (document_id, name) = owned::split(id);
    id::check(document_id)?;
    check_name(name)
}

/// Checks the name of an attachment that is written.
pub(crate) fn check_name(name: &str) -> Result<()> {
    owned::check_name(name).map_err(|rule| Error::BadAttachment { name: name.chars().take(80).collect(), rule })
}
