//! Uploads: contents that arrive in pieces, each in a transaction of its own, before the command that refers to them.
//!
//! What was uploaded and never linked is removed when the database is opened, and when whoever began it gives it up.

use crate::attachments::contents;
use crate::ids::id;
use crate::{Error, Result, Writing};
use storage::contents::AppendOutcome;

/// The name of an upload: random, so that nobody else has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UploadId(pub(crate) [u8; 16]);

impl UploadId {
    /// A new one.
    pub fn random() -> UploadId {
        UploadId(id::random_bytes())
    }
}

/// A step of storing or removing contents.
#[derive(Clone, Debug)]
pub enum Upload {
    /// Adds a piece to an upload, which the first piece begins.
    Append {
        /// The upload.
        id: UploadId,
        /// Bytes that it has already; 0 begins it.
        at: u64,
        /// At most [`CONTENT_PIECE_SIZE_MAX`](crate::limits::CONTENT_PIECE_SIZE_MAX).
        bytes: Vec<u8>,
    },
    /// Removes uploads; those that were linked, or are not there, do not matter.
    Cancel(Vec<UploadId>),
    /// Frees the room of contents that were removed, some of it: `Answer::Count` is 1 if more is left.
    Free,
}

impl Upload {
    /// Bytes that it holds in memory, about.
    pub(crate) fn size(&self) -> usize {
        match self {
            Upload::Append { bytes, .. } => bytes.len(),
            Upload::Cancel(ids) => size_of_val(ids.as_slice()),
            Upload::Free => 0,
        }
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
            Upload::Append { .. } => Some(contents::open_or_create(self.tx)?),
            Upload::Cancel(_) | Upload::Free => contents::open(&*self.tx)?,
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
