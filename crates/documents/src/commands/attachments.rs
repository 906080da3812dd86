//! Commands on attachments among those of a batch: their form on the wire, and the contents that come behind them.

use json::{Minifier, Raw};

use super::batch::text;
use super::command::{Action, Command, CommandKind};
use crate::attachments::content::NewContent;
use crate::{AttachmentAction, AttachmentCommand, Batch, Error, Expected, Feature, Result};

/// Reads a command from its form on the wire.
///
/// # Errors
///
/// It is not acceptable, or [`AttachmentCommand::new`] refuses it.
pub(super) fn attachment_command(kind: CommandKind, command: Raw<'_>) -> Result<AttachmentCommand> {
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
