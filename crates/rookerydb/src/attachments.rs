//! Attachments of documents: contents of any size beside them.

use std::io::{Read, Write};

use database::ContentReceiver;
use database::documents::{self, AttachmentAction, AttachmentCommand, CommandResult, Expected};

use crate::error::{of_database, of_documents, of_storage};
use crate::{Database, Error, Result};

/// Bytes that are taken of a reader at once.
const PIECE_SIZE: usize = 64 << 10;

/// What is known of an attachment without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The name, as it was spelled when it was stored.
    pub name: String,
    /// The type of the content, such as `image/png`.
    pub content_type: String,
    /// Bytes of the content.
    pub size: u64,
    /// The hash of the content: BLAKE2b with 256 bits, in base64. Equal contents are stored once.
    pub hash: String,
}

impl Attachment {
    fn of(attachment: &documents::Attachment<'_>) -> Attachment {
        Attachment {
            name: attachment.name().to_owned(),
            content_type: attachment.content_type().to_owned(),
            size: attachment.size(),
            hash: attachment.hash().to_string(),
        }
    }
}

/// The attachments of one document. Names are compared in any case. They go with their document.
///
/// ```
/// # fn main() -> rookerydb::Result<()> {
/// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
/// shop.put("users/1", &serde_json::json!({ "Name": "Ann" }))?;
/// let attachments = shop.attachments("users/1");
/// attachments.put("note.txt", "text/plain", &b"hello"[..])?;
/// assert_eq!(attachments.read("NOTE.txt")?.as_deref(), Some(&b"hello"[..]));
/// assert_eq!(attachments.list()?[0].size, 5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Attachments<'d> {
    database: &'d Database,
    document_id: String,
}

impl Database {
    /// The attachments of a document.
    pub fn attachments(&self, document_id: impl Into<String>) -> Attachments<'_> {
        Attachments { database: self, document_id: document_id.into() }
    }
}

impl Attachments<'_> {
    /// Stores a content under a name, in place of the one that it has, and returns when it is durable. The content is read piece by piece,
    /// so that it may be larger than memory.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`]: there is no such document, or the name or the type cannot be one; [`Error::Read`]: the reader fails, and nothing
    /// is stored; [`Error::Busy`], [`Error::Storage`].
    pub fn put(&self, name: &str, content_type: &str, mut content: impl Read) -> Result<Attachment> {
        let database = self.database.open()?;
        let mut receiver = ContentReceiver::new(&database);
        let mut piece = vec![0; PIECE_SIZE];
        loop {
            match content.read(&mut piece) {
                Ok(0) => break,
                Ok(size) => receiver.add(&piece[..size]).map_err(of_database)?,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::Read(error)),
            }
        }
        let (content, upload) = receiver.finish(&mut Default::default()).map_err(of_database)?;
        let command = AttachmentCommand::put(&self.document_id, name, content_type, content).map_err(of_documents)?;
        let result = self.run(&database, command)?;
        if let Some(upload) = upload {
            upload.linked();
        }
        match result {
            CommandResult::AttachmentPut { details, .. } => Ok(Attachment {
                name: details.name,
                content_type: details.content_type,
                size: details.size,
                hash: details.hash.to_string(),
            }),
            _ => unreachable!("the result of a command is of its kind"),
        }
    }

    /// Deletes an attachment. True if there was one.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`]: the id cannot be one; [`Error::Busy`], [`Error::Storage`].
    pub fn delete(&self, name: &str) -> Result<bool> {
        let database = self.database.open()?;
        let stored = database.read().attachment(&self.document_id, name).map_err(of_documents)?.is_some();
        if stored {
            let command = AttachmentCommand::new(&self.document_id, name, AttachmentAction::Delete);
            self.run(&database, command.map_err(of_documents)?)?;
        }
        Ok(stored)
    }

    fn run(&self, database: &database::Database, command: AttachmentCommand) -> Result<CommandResult> {
        let mut batch = documents::Batch::new();
        batch.push_attachment(command, Expected::Any);
        let result = database.execute(batch).map_err(of_database)?.results.pop();
        Ok(result.expect("a batch has one result for each of its commands"))
    }

    /// All of the document, by name.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    pub fn list(&self) -> Result<Vec<Attachment>> {
        let database = self.database.open()?;
        let snapshot = database.read();
        let all = snapshot.attachments(&self.document_id).map_err(of_documents)?;
        Ok(all.iter().map(Attachment::of).collect())
    }

    /// What is known of an attachment. `None`: there is none of this name.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    pub fn get(&self, name: &str) -> Result<Option<Attachment>> {
        let database = self.database.open()?;
        let snapshot = database.read();
        Ok(snapshot.attachment(&self.document_id, name).map_err(of_documents)?.as_ref().map(Attachment::of))
    }

    /// The content, in memory. `None`: there is no attachment of this name.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let mut content = Vec::new();
        Ok(self.copy_to(name, &mut content)?.map(|_| content))
    }

    /// Writes the content to `target`, chunk by chunk; gives its bytes. `None`: there is no attachment of this name.
    ///
    /// # Errors
    ///
    /// [`Error::Read`]: the target fails; [`Error::Storage`].
    pub fn copy_to(&self, name: &str, target: &mut impl Write) -> Result<Option<u64>> {
        let database = self.database.open()?;
        let snapshot = database.read();
        let Some(stored) = snapshot.attachment(&self.document_id, name).map_err(of_documents)? else {
            return Ok(None);
        };
        let content = snapshot.content(stored.hash(), 0..u64::MAX).map_err(of_documents)?;
        let mut content = content.expect("an attachment has its content in the same snapshot");
        let size = content.content_length();
        while let Some(chunk) = content.next().map_err(of_storage)? {
            target.write_all(chunk).map_err(Error::Read)?;
        }
        Ok(Some(size))
    }
}
