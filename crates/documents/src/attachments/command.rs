//! The commands `AttachmentPUT`, `AttachmentDELETE`, `AttachmentMOVE` and `AttachmentCOPY`, and their outcomes.

use json::{Minifier, Raw, Writer};

use super::contents::NewContent;
use super::hash::ContentHash;
use super::key;
use crate::commands::batch::text;
use crate::commands::command::{Action, Command, CommandKind};
use crate::ids::id;
use crate::limits::ATTACHMENT_TYPE_SIZE_MAX;
use crate::{Batch, Error, Expected, Feature, Result};

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
        /// `None`: it comes with the body of the batch, and has to be [given](Batch::give_contents) before the batch is run.
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
                key::check_name(name)?;
                check_type(name, content_type)?;
            }
            AttachmentAction::Delete => {}
            AttachmentAction::Move { to_id, to_name } | AttachmentAction::Copy { to_id, to_name } => {
                id::check(to_id)?;
                key::check_name(to_name)?;
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

    /// Reads a command from its form on the wire.
    ///
    /// # Errors
    ///
    /// It is not acceptable, or [`Self::new`] refuses it.
    pub(crate) fn of(kind: CommandKind, command: Raw<'_>) -> Result<AttachmentCommand> {
        let property = |name: &str| match command.get(name) {
            Some(value) => Ok::<_, Error>(text(name, value)?.map(|text| text.into_owned())),
            None => Ok(None),
        };
        let required = |name: &str| {
            let missing = || Error::BadBatch {
                rule: format!("{} command must have a text '{name}' that is not empty", kind.wire_name()),
            };
            property(name)?.filter(|text| !text.is_empty()).ok_or_else(missing)
        };
        if command.get("RemoteParameters").is_some_and(|parameters| !parameters.is_null()) {
            return Err(Feature::RemoteAttachments.missing_for("'RemoteParameters' of an attachment").into());
        }
        let (document_id, name) = (required("Id")?, required("Name")?);
        let action = match kind {
            CommandKind::AttachmentPut => {
                let content_type = property("ContentType")?.unwrap_or_default();
                AttachmentAction::Put { content_type, content: None, is_imported: false }
            }
            CommandKind::AttachmentDelete => AttachmentAction::Delete,
            _ => {
                let (to_id, to_name) = (required("DestinationId")?, required("DestinationName")?);
                match kind {
                    CommandKind::AttachmentMove => AttachmentAction::Move { to_id, to_name },
                    _ => AttachmentAction::Copy { to_id, to_name },
                }
            }
        };
        AttachmentCommand::new(&document_id, &name, action)
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

impl Batch {
    /// Adds a command on an attachment.
    pub fn push_attachment(&mut self, attachment: AttachmentCommand, expected: Expected) {
        self.held_bytes += attachment.size();
        let id = attachment.document_id.clone();
        self.push(Command { action: Action::Attachment(Box::new(attachment)), id, expected });
    }

    /// Whether the last command waits for its content.
    pub fn awaits_last_content(&self) -> bool {
        self.commands.last().is_some_and(|command| awaited(&command.action))
    }

    /// How many contents have to be given, in the order of the commands that store them.
    pub fn awaited_content_count(&self) -> usize {
        self.commands.iter().filter(|command| awaited(&command.action)).count()
    }

    /// Gives the contents that the commands await, in order.
    ///
    /// # Errors
    ///
    /// [`Error::BadBatch`] if there are more or fewer than are awaited.
    pub fn give_contents(&mut self, contents: Vec<NewContent>) -> Result<()> {
        let (expected, given) = (self.awaited_content_count(), contents.len());
        if expected != given {
            let rule = format!(
                "the batch has {expected} commands 'AttachmentPUT', but {given} contents follow it: send one part for each such command, in order"
            );
            return Err(Error::BadBatch { rule });
        }
        let mut contents = contents.into_iter();
        for command in self.commands.iter_mut().filter(|command| awaited(&command.action)) {
            if let Action::Attachment(attachment) = &mut command.action
                && let AttachmentAction::Put { content, .. } = &mut attachment.action
            {
                *content = contents.next();
                self.held_bytes += content.as_ref().map_or(0, NewContent::inline_size);
            }
        }
        Ok(())
    }
}

/// The bytes that follow a command `AttachmentPUT` of a bulk insert.
///
/// # Errors
///
/// [`Error::BadBatch`]: it does not say how many.
pub fn content_length(command: &[u8]) -> Result<u64> {
    let mut minifier = Minifier::new();
    let length = minifier.minify(command)?.get("ContentLength").and_then(Raw::as_i64);
    length.and_then(|length| u64::try_from(length).ok()).ok_or_else(|| Error::BadBatch {
        rule: "AttachmentPUT command of a bulk insert must have a whole number 'ContentLength' from 0 on".to_owned(),
    })
}

/// Whether a command waits for a content.
fn awaited(action: &Action) -> bool {
    match action {
        Action::Attachment(attachment) => matches!(attachment.action, AttachmentAction::Put { content: None, .. }),
        _ => false,
    }
}
