//! Contents of attachments on their way into a database: pieces in transactions of their own, before the command that links them.
//!
//! What is given up before its command has run is removed at once, and what a crash leaves when the database is opened. The room of large
//! contents is freed in steps, by [`Database::free_contents`].

use std::sync::Arc;

use documents::limits::{CONTENT_PIECE_SIZE_MAX, INLINE_CONTENT_SIZE_MAX};
use documents::{ContentHash, ContentHasher, NewContent, Upload, UploadId, Write};
use storage::memory::MemoryReservation;

use crate::{Database, Result};

/// A content that is stored piece by piece. Dropped before it was linked, it is removed.
pub struct ContentUpload {
    database: Arc<Database>,
    id: UploadId,
    size: u64,
    is_linked: bool,
}

impl ContentUpload {
    /// One without a piece. Nothing is written yet.
    pub fn new(database: &Arc<Database>) -> ContentUpload {
        ContentUpload { database: database.clone(), id: UploadId::random(), size: 0, is_linked: false }
    }

    /// Adds a piece, and returns when it is durable. For threads that may wait.
    ///
    /// * `bytes`: at most [`CONTENT_PIECE_SIZE_MAX`].
    ///
    /// # Errors
    ///
    /// The upload is gone because the database was compacted meanwhile; storage fails.
    pub fn append(&mut self, bytes: Vec<u8>) -> Result<()> {
        let (at, size) = (self.size, bytes.len() as u64);
        self.database.write_blocking(&Write::Upload(Upload::Append { id: self.id, at, bytes }))?;
        self.size += size;
        Ok(())
    }

    /// Adds a piece, which may follow others that are not durable yet: an error of one of them is one of all that follow it. Returns when
    /// the piece has a place in the queue of writes. For threads that may wait.
    ///
    /// * `done`: called once, when the piece is durable or refused.
    pub fn append_with(&mut self, bytes: Vec<u8>, done: impl FnOnce(Result<()>) + Send + 'static) {
        let (at, size) = (self.size, bytes.len() as u64);
        self.size += size;
        let append = Write::Upload(Upload::Append { id: self.id, at, bytes });
        self.database.propose_blocking(append, move |answer| done(answer.map(drop)));
    }

    /// The content that a command links.
    ///
    /// * `hash`: of all pieces.
    pub fn content(&self, hash: ContentHash) -> NewContent {
        NewContent::uploaded(self.id, hash, self.size)
    }

    /// The command has run: its content is linked, and there is nothing left to remove.
    pub fn linked(mut self) {
        self.is_linked = true;
    }
}

impl Drop for ContentUpload {
    fn drop(&mut self) {
        if self.is_linked || self.size == 0 {
            return;
        }
        let cancel = Write::Upload(Upload::Cancel(vec![self.id]));
        let (database, id) = (Arc::downgrade(&self.database), self.id);
        let lead = self.database.propose(cancel, move |outcome| {
            // Where the queue had no room, housekeeping does it. What a closed database has goes when it is opened.
            if outcome.is_err()
                && let Some(database) = database.upgrade()
            {
                database.abandoned_uploads.lock().push(id);
            }
        });
        // A thread of the storage leads.
        drop(lead);
    }
}

/// Bytes of contents that may still come with the commands of a batch.
#[derive(Clone, Copy, Debug)]
pub struct InlineRoom(usize);

impl Default for InlineRoom {
    fn default() -> InlineRoom {
        InlineRoom(INLINE_CONTENT_SIZE_MAX)
    }
}

impl InlineRoom {
    /// Room for `size` bytes.
    pub(crate) fn of(size: usize) -> InlineRoom {
        InlineRoom(size)
    }

    /// Takes room for a content; false: there is not so much left.
    ///
    /// * `size`: in bytes.
    pub fn take(&mut self, size: usize) -> bool {
        let left = self.0.checked_sub(size);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// A content that arrives on a thread that may wait.
pub struct ContentReceiver {
    database: Arc<Database>,
    /// Of the pieces that are stored.
    hasher: ContentHasher,
    buffer: Vec<u8>,
    /// The memory of the buffer.
    reservation: MemoryReservation,
    upload: Option<ContentUpload>,
}

impl ContentReceiver {
    /// One without a byte.
    pub fn new(database: &Arc<Database>) -> ContentReceiver {
        let (hasher, reservation) = (ContentHasher::default(), database.limits().bodies.reservation());
        ContentReceiver { database: database.clone(), hasher, buffer: Vec::new(), reservation, upload: None }
    }

    /// Adds the next bytes.
    ///
    /// # Errors
    ///
    /// As [`ContentUpload::append`].
    pub fn add(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(CONTENT_PIECE_SIZE_MAX - self.buffer.len()));
            self.buffer.extend_from_slice(now);
            self.reservation.grow(self.buffer.capacity())?;
            if self.buffer.len() == CONTENT_PIECE_SIZE_MAX {
                self.store()?;
            }
            bytes = later;
        }
        Ok(())
    }

    fn store(&mut self) -> Result<()> {
        self.hasher.update(&self.buffer);
        let upload = self.upload.get_or_insert_with(|| ContentUpload::new(&self.database));
        upload.append(std::mem::take(&mut self.buffer))?;
        self.reservation.clear();
        Ok(())
    }

    /// The content, and its upload if it does not come with its command.
    ///
    /// # Errors
    ///
    /// As [`ContentUpload::append`].
    pub fn finish(mut self, room: &mut InlineRoom) -> Result<(NewContent, Option<ContentUpload>)> {
        if self.upload.is_none() && room.take(self.buffer.len()) {
            return Ok((NewContent::inline(self.buffer), None));
        }
        if !self.buffer.is_empty() || self.upload.is_none() {
            self.store()?;
        }
        let hash = self.hasher.finish();
        Ok(match self.upload {
            Some(upload) => (upload.content(hash), Some(upload)),
            None => (NewContent::inline(self.buffer), None),
        })
    }
}

impl Database {
    /// Removes uploads that were given up, and what is left of contents that were removed, in transactions of bounded size. Call it now
    /// and then.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn free_contents(&self) -> Result<()> {
        // Housekeeping of all databases does not wait for the compaction of one.
        if self.gate.is_shut() {
            return Ok(());
        }
        let abandoned = std::mem::take(&mut *self.abandoned_uploads.lock());
        if !abandoned.is_empty() {
            self.write_blocking(&Write::Upload(Upload::Cancel(abandoned)))?;
        }
        if !self.read().has_contents_to_free()? {
            return Ok(());
        }
        while self.write_blocking(&Write::Upload(Upload::Free))?.count()? > 0 {}
        Ok(())
    }
}

impl std::fmt::Debug for ContentUpload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContentUpload").field("id", &self.id).field("size", &self.size).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ContentReceiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContentReceiver").field("upload", &self.upload).finish_non_exhaustive()
    }
}
