//! Attachments in the lines of `rookery dump`: a line that names one, and then lines with its content.

use anyhow::ensure;
use database::documents::base64;
use json::{Raw, Writer};

use super::rows::Row;
use crate::client::BulkInsert;

/// A line that has to do with attachments.
pub(super) enum AttachmentRow {
    /// An attachment, whose content follows.
    Attachment {
        /// The command that stores it.
        command: Vec<u8>,
        /// Bytes of its content.
        size: u64,
    },
    /// A piece of the content of the attachment before.
    Content(Vec<u8>),
}

impl AttachmentRow {
    /// `None`: the row is something else.
    pub fn of(row: &Row<'_>) -> Option<AttachmentRow> {
        let row = row.object();
        let only = |name: &str| row.get(name).filter(|_| row.members().count() == 1);
        if let Some(content) = only("@content") {
            return base64::decode(&content.as_str()?).map(AttachmentRow::Content);
        }
        let attachment = only("@attachment")?;
        let text = |name: &str| attachment.get(name).and_then(Raw::as_str);
        let (id, name, content_type) = (text("DocumentId")?, text("Name")?, text("ContentType")?);
        let size = attachment.get("Size").and_then(Raw::as_u64)?;
        let mut command = Vec::new();
        Writer::new(&mut command).object(|json| {
            json.name("Id").string(&id).name("Type").string("AttachmentPUT").name("Name").string(&name);
            json.name("ContentType").string(&content_type).name("ContentLength").unsigned(size);
        });
        Some(AttachmentRow::Attachment { command, size })
    }
}

/// Attachments on their way to the server.
#[derive(Default)]
pub(super) struct Attachments {
    /// Those that were begun.
    pub count: u64,
    /// Bytes that are still to come of the one that was begun last.
    left: u64,
}

impl Attachments {
    /// Sends a row. Inner error: it is content of nothing.
    pub fn send(&mut self, row: AttachmentRow, insert: &mut BulkInsert) -> anyhow::Result<Result<(), String>> {
        match row {
            AttachmentRow::Attachment { command, size } => {
                insert.send(&command)?;
                (self.count, self.left) = (self.count + 1, size);
            }
            AttachmentRow::Content(bytes) => match self.left.checked_sub(bytes.len() as u64) {
                None => return Ok(Err("it is content that no attachment before it has".to_owned())),
                Some(left) => {
                    insert.send_raw(&bytes)?;
                    self.left = left;
                }
            },
        }
        Ok(Ok(()))
    }

    /// Whether the next line may be something other than content.
    ///
    /// # Errors
    ///
    /// The content of the last attachment is not complete. Nothing may be skipped there: the server waits for the rest.
    pub fn ensure_complete(&self) -> anyhow::Result<()> {
        ensure!(self.left == 0, "the content of an attachment is cut off: {} bytes are missing in the file", self.left);
        Ok(())
    }
}
