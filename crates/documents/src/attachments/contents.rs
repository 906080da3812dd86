//! The contents of a database: uploaded in pieces, linked by hash, with references, and counted.
//!
//! What was uploaded and never linked is removed when the database is opened, and when its upload is given up.

use std::ops::Range;

use storage::contents::{AppendOutcome, Content, LinkOutcome, Reading};
use storage::{Contents, ReadTransaction, Reader, WriteTransaction};

use super::content::{ContentSource, NewContent, Upload};
use super::hash::ContentHash;
use crate::items::schema::{CONTENTS, Schema};
use crate::{DocumentStore, Error, Result, Snapshot, Writing};

/// The upload of a content that comes with its command. It is gone at the end of the command.
const INLINE: &[u8] = b"inline";

/// The contents, if there were any yet.
pub(crate) fn open(reader: &impl Reader) -> Result<Option<Contents>> {
    Ok(Contents::open(reader, CONTENTS)?)
}

pub(crate) fn open_or_create(tx: &mut WriteTransaction<'_>) -> Result<Contents> {
    Ok(Contents::open_or_create(tx, CONTENTS)?)
}

/// How many references all contents have: those of attachments, and those of revisions to what their documents had attached.
pub(crate) fn reference_count(schema: &Schema, reader: &impl Reader) -> Result<u64> {
    match schema.content_references(reader)? {
        Some(count) => Ok(count),
        None => sum_of_references(reader),
    }
}

/// The same, by reading each content.
fn sum_of_references(reader: &impl Reader) -> Result<u64> {
    let mut sum = 0;
    if let Some(contents) = open(reader)? {
        contents.for_each(reader, |_, content| {
            sum += content.references;
            Ok::<_, Error>(())
        })?;
    }
    Ok(sum)
}

impl Writing<'_, '_> {
    /// Stores a content, or adds a reference to the one that is there; gives its size. What refers to it is an attachment, or else must be
    /// counted by `verify`.
    ///
    /// # Errors
    ///
    /// [`Error::UploadLost`]: the upload is gone, or there is no content with the hash. The transaction must then be rolled back.
    pub(crate) fn link_content(&mut self, new: &NewContent) -> Result<u64> {
        let contents = open_or_create(self.tx)?;
        let linked = match &new.source {
            ContentSource::Known => contents.add_reference(self.tx, &new.hash.0)?,
            ContentSource::Inline(bytes) => match contents.add_reference(self.tx, &new.hash.0)? {
                Some(content) => Some(content),
                None => {
                    contents.begin(self.tx, INLINE, 0)?;
                    contents.append(self.tx, INLINE, 0, bytes, 0)?;
                    link(contents, self.tx, INLINE, new.hash)?
                }
            },
            ContentSource::Upload(id) => link(contents, self.tx, &id.0, new.hash)?,
        };
        let content = linked.ok_or(Error::UploadLost)?;
        if new.source != ContentSource::Known && content.length != new.size {
            return Err(Error::Corrupt { rule: "contents with one hash have one length" });
        }
        if content.references == 1 {
            self.change_content_count(1)?;
        }
        self.change_reference_count(1)?;
        Ok(content.length)
    }

    /// Removes a reference to a content; the content goes with the last one.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`]: there is no content with this hash.
    pub(crate) fn release_content(&mut self, hash: ContentHash) -> Result<()> {
        let left = match open(&*self.tx)? {
            Some(contents) => contents.unlink(self.tx, &hash.0)?,
            None => None,
        };
        if left.ok_or(Error::Corrupt { rule: "the content of an attachment is stored" })? == 0 {
            self.change_content_count(-1)?;
        }
        self.change_reference_count(-1)
    }

    /// Counts a reference that was added or removed.
    fn change_reference_count(&mut self, by: i64) -> Result<()> {
        let schema = self.store.schema;
        let count = match schema.content_references(&*self.tx)? {
            Some(before) => before.checked_add_signed(by),
            None => Some(sum_of_references(&*self.tx)?),
        };
        let count = count.ok_or(Error::Corrupt { rule: "references to contents are counted" })?;
        schema.set_content_references(self.tx, count)
    }

    fn change_content_count(&mut self, by: i64) -> Result<()> {
        let schema = self.store.schema;
        let before = schema.content_count(&*self.tx)?;
        let count = before.checked_add_signed(by).ok_or(Error::Corrupt { rule: "contents are counted" })?;
        schema.set_content_count(self.tx, count)
    }
}

impl Writing<'_, '_> {
    /// Runs a step; gives 1 if the room of removed contents is left to be freed.
    ///
    /// # Errors
    ///
    /// [`Error::UploadLost`] for a piece that does not continue its upload. The transaction must then be rolled back.
    pub(crate) fn run_upload(&mut self, upload: &Upload) -> Result<u64> {
        let Some(contents) = (match upload {
            Upload::Append { .. } => Some(open_or_create(self.tx)?),
            Upload::Cancel(_) | Upload::Free => open(&*self.tx)?,
        }) else {
            return Ok(0);
        };
        let time = self.now.ticks();
        match upload {
            Upload::Append { id, at, bytes } => {
                if *at == 0 && !contents.begin(self.tx, &id.0, time)? {
                    return Err(Error::UploadLost);
                }
                match contents.append(self.tx, &id.0, *at, bytes, time)? {
                    AppendOutcome::Stored { .. } => Ok(0),
                    AppendOutcome::Missing | AppendOutcome::OtherLength { .. } => Err(Error::UploadLost),
                }
            }
            Upload::Cancel(ids) => {
                for id in ids {
                    contents.cancel(self.tx, &id.0)?;
                }
                Ok(u64::from(contents.has_chunks_to_free(&*self.tx)?))
            }
            Upload::Free => Ok(u64::from(contents.free(self.tx)?)),
        }
    }
}

fn link(
    contents: Contents,
    tx: &mut WriteTransaction<'_>,
    upload: &[u8],
    hash: ContentHash,
) -> Result<Option<Content>> {
    match contents.link(tx, upload, &hash.0)? {
        LinkOutcome::Linked(content) => Ok(Some(content)),
        LinkOutcome::Missing => Ok(None),
        LinkOutcome::OtherLength(_) => Err(Error::Corrupt { rule: "contents with one hash have one length" }),
    }
}

impl DocumentStore {
    /// Removes the uploads that no command has linked, and frees the room of removed contents: when the database is opened, before anybody
    /// uploads.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn remove_uploads(&self) -> Result<()> {
        let contents = open(&self.environment().read())?;
        if let Some(contents) = contents {
            contents.remove_uploads(self.environment(), None)?;
        }
        Ok(())
    }
}

impl<'s> Snapshot<'s> {
    /// Reads a range of a content, chunk by chunk; what lies past its end is left out. `None`: there is no content with this hash.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn content(&self, hash: ContentHash, range: Range<u64>) -> Result<Option<Reading<'_, ReadTransaction<'s>>>> {
        let (_, _, tx) = self.parts();
        match open(tx)? {
            Some(contents) => Ok(contents.read(tx, &hash.0, range)?),
            None => Ok(None),
        }
    }

    /// How often a content is referred to; 0: there is none with this hash.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn content_references(&self, hash: ContentHash) -> Result<u64> {
        let (_, _, tx) = self.parts();
        match open(tx)? {
            Some(contents) => Ok(contents.find(tx, &hash.0)?.map_or(0, |content| content.references)),
            None => Ok(0),
        }
    }

    /// How many references contents have: those of attachments, and those of revisions to what their documents had attached.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn content_reference_count(&self) -> Result<u64> {
        let (schema, _, tx) = self.parts();
        reference_count(schema, tx)
    }

    /// Whether the room of removed contents is left to be freed.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn has_contents_to_free(&self) -> Result<bool> {
        let (_, _, tx) = self.parts();
        match open(tx)? {
            Some(contents) => Ok(contents.has_chunks_to_free(tx)?),
            None => Ok(false),
        }
    }
}
