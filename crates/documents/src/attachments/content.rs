//! Contents and uploads as commands and writes name them.

use std::sync::Arc;

use super::hash::ContentHash;
use crate::ids::id;

/// The name of an upload: random, so no other upload has it.
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

/// A content that a command stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewContent {
    pub(crate) hash: ContentHash,
    /// Bytes; of [`ContentSource::Known`] unused.
    pub(crate) size: u64,
    pub(crate) source: ContentSource,
}

/// Where a content is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ContentSource {
    /// With the command.
    Inline(Arc<Vec<u8>>),
    /// In an upload.
    Upload(UploadId),
    /// In the database, under its hash.
    Known,
}

impl NewContent {
    /// One that comes with its command.
    ///
    /// * `bytes`: few, for they are held in memory until the command has run. See
    ///   [`INLINE_CONTENT_SIZE_MAX`](crate::limits::INLINE_CONTENT_SIZE_MAX).
    pub fn inline(bytes: impl Into<Vec<u8>>) -> NewContent {
        let bytes = bytes.into();
        let (hash, size) = (ContentHash::of(&bytes), bytes.len() as u64);
        NewContent { hash, size, source: ContentSource::Inline(Arc::new(bytes)) }
    }

    /// One that was uploaded, with the hash and the size of all its pieces.
    pub fn uploaded(id: UploadId, hash: ContentHash, size: u64) -> NewContent {
        NewContent { hash, size, source: ContentSource::Upload(id) }
    }

    /// One that another attachment of the database has.
    pub fn known(hash: ContentHash) -> NewContent {
        NewContent { hash, size: 0, source: ContentSource::Known }
    }

    /// The hash.
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// Bytes that it holds in memory, which are those of a content that comes with its command.
    pub fn inline_size(&self) -> usize {
        match &self.source {
            ContentSource::Inline(bytes) => bytes.len(),
            ContentSource::Upload(_) | ContentSource::Known => 0,
        }
    }
}
