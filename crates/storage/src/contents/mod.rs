//! Contents: binary large objects, stored in chunks, staged by uploads and found by their hash.
//!
//! A content never is in memory as a whole, neither when it is written nor when it is read:
//!
//! 1. [`Contents::begin`] starts an upload, and [`Contents::append`] adds a piece to it, each in a transaction of its own. The pieces go
//!    straight to the data file (`transaction/staged.rs`).
//! 2. [`Contents::link`] turns an upload into a content with a hash and one reference, in the transaction that refers to it. Where there
//!    is a content with this hash it gets one more reference, and the upload's chunks are freed.
//! 3. [`Contents::read`] reads a range of a content chunk by chunk.
//! 4. [`Contents::unlink`] removes a reference. The content goes with the last one. The chunks of a large one are freed in steps, so
//!    that no transaction is long: [`Contents::free`].
//!
//! An upload that is never linked is removed when its owner opens the environment, or after a time: [`Contents::remove_uploads`].
//!
//! This crate computes no hashes: the caller says which hash a content has.
//!
//! On disk all of it is one tree, whose keys begin with a letter for the kind of the entry; see `entries.rs`.

mod check;
mod copy;
mod entries;
mod reading;

pub(crate) use check::check;
pub use reading::Reading;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::limits::{
    CONTENT_APPEND_SIZE_MAX, CONTENT_CHUNK_SIZE_MAX, CONTENT_CHUNKS_FREED_AT_ONCE, CONTENT_NAME_SIZE_MAX,
    UPLOADS_REMOVED_AT_ONCE,
};
use crate::page::Kind;
use crate::transaction::sealed::Pages;
use crate::transaction::{Reader, WriteTransaction};
use crate::tree::{Tree, catalog, node};
use entries::{
    CONTENT, ContentEntry, Entry, NEXT, REMOVAL, UPLOAD, UploadEntry, chunk_key, content_key, removal_key, upload_key,
};
use std::ops::Range;

/// A store of contents. A small handle; keep it, it stays valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contents {
    tree: Tree,
}

/// A stored content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Content {
    /// Bytes.
    pub length: u64,
    /// How often it was linked and not unlinked, at least 1.
    pub references: u64,
}

/// The outcome of [`Contents::append`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AppendOutcome {
    /// The piece is stored; the upload has this many bytes now.
    Stored {
        /// Bytes.
        length: u64,
    },
    /// There is no such upload: it was linked or removed. Nothing was changed.
    Missing,
    /// The upload has another length than the caller says: a piece was lost, or came twice. Nothing was changed.
    OtherLength {
        /// Bytes that the upload has.
        length: u64,
    },
}

/// The outcome of [`Contents::link`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkOutcome {
    /// The content with this hash, which has one more reference.
    Linked(Content),
    /// There is no such upload. Nothing was changed.
    Missing,
    /// The content with this hash has another length, so one of the two has another hash. Nothing was changed.
    OtherLength(Content),
}

impl Contents {
    /// The contents with a name, if they were made.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the catalog cannot be read, or the name stands for another kind of structure.
    pub fn open(reader: &impl Reader, name: &[u8]) -> Result<Option<Contents>> {
        Ok(catalog::find(reader, name, Kind::Contents)?.map(|root| Contents { tree: Tree::at(root) }))
    }

    /// The contents with a name, made if they are missing.
    ///
    /// # Errors
    ///
    /// As [`Self::open`], and those of changing an environment.
    pub fn open_or_create(tx: &mut WriteTransaction<'_>, name: &[u8]) -> Result<Contents> {
        if let Some(contents) = Self::open(tx, name)? {
            return Ok(contents);
        }
        let (root, ref mut page) = tx.new_page()?;
        node::initialize(page, 0);
        catalog::add(tx, name, Kind::Contents, root)?;
        Ok(Contents { tree: Tree::at(root) })
    }

    /// Starts an upload. False: there is one with this id, which stays as it is.
    ///
    /// * `upload`: an id that the caller chooses, of at most [`CONTENT_NAME_SIZE_MAX`] bytes.
    /// * `time`: for [`Self::remove_uploads`]; in a unit of the caller.
    ///
    /// # Errors
    ///
    /// [`Error::KeyTooLong`] for an id that is too long; those of changing an environment.
    pub fn begin(&self, tx: &mut WriteTransaction<'_>, upload: &[u8], time: u64) -> Result<bool> {
        let key = upload_key(check_name(upload)?);
        if self.tree.contains(tx, &key)? {
            return Ok(false);
        }
        let number = self.take_number(tx)?;
        self.tree.put(tx, &key, &UploadEntry { number, length: 0, time }.encode())?;
        Ok(true)
    }

    /// Adds a piece to an upload. Pieces of some MiB are best: each piece has chunks of its own, and each transaction a sync.
    ///
    /// * `at`: the length that the upload has by the caller's count. Its first piece has 0.
    /// * `bytes`: at most [`CONTENT_APPEND_SIZE_MAX`].
    /// * `time`: as for [`Self::begin`].
    ///
    /// # Errors
    ///
    /// [`Error::ValueTooLong`] for a longer piece; those of changing an environment, and of writing to the data file.
    pub fn append(
        &self,
        tx: &mut WriteTransaction<'_>,
        upload: &[u8],
        at: u64,
        bytes: &[u8],
        time: u64,
    ) -> Result<AppendOutcome> {
        if bytes.len() > CONTENT_APPEND_SIZE_MAX {
            return Err(Error::ValueTooLong { size: bytes.len(), max: CONTENT_APPEND_SIZE_MAX });
        }
        let Some(UploadEntry { number, length, .. }) = self.upload(tx, upload)? else {
            return Ok(AppendOutcome::Missing);
        };
        if length != at {
            return Ok(AppendOutcome::OtherLength { length });
        }
        let length = self.append_chunks(tx, number, at, bytes)?;
        self.tree.put(tx, &upload_key(upload), &UploadEntry { number, length, time }.encode())?;
        Ok(AppendOutcome::Stored { length })
    }

    /// Adds a piece as chunks, and gives the length that the content has then.
    fn append_chunks(&self, tx: &mut WriteTransaction<'_>, number: u64, at: u64, bytes: &[u8]) -> Result<u64> {
        let mut end = at;
        for chunk in bytes.chunks(CONTENT_CHUNK_SIZE_MAX) {
            if !self.tree.insert_staged(tx, &chunk_key(number, end), chunk)? {
                return Err(tx.corrupt(self.tree.root(), "a chunk is there that no content has"));
            }
            end += chunk.len() as u64;
        }
        Ok(end)
    }

    /// Bytes of an upload. `None`: there is none with this id.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`].
    pub fn upload_length(&self, reader: &impl Reader, upload: &[u8]) -> Result<Option<u64>> {
        Ok(self.upload(reader, upload)?.map(|entry| entry.length))
    }

    /// Makes an upload the content with a hash, or adds a reference to the one that is there. The upload is gone then.
    ///
    /// * `hash`: of all bytes of the upload, at most [`CONTENT_NAME_SIZE_MAX`] bytes long.
    ///
    /// # Errors
    ///
    /// [`Error::KeyTooLong`] for a hash that is too long; those of changing an environment.
    pub fn link(&self, tx: &mut WriteTransaction<'_>, upload: &[u8], hash: &[u8]) -> Result<LinkOutcome> {
        check_name(hash)?;
        let Some(UploadEntry { number, length, .. }) = self.upload(tx, upload)? else {
            return Ok(LinkOutcome::Missing);
        };
        match self.entry(tx, hash)? {
            Some(entry) if entry.length != length => Ok(LinkOutcome::OtherLength(entry.content())),
            Some(entry) => {
                self.tree.delete(tx, &upload_key(upload))?;
                self.free_later(tx, number)?;
                self.set_references(tx, hash, entry, entry.references + 1).map(LinkOutcome::Linked)
            }
            None => {
                self.tree.delete(tx, &upload_key(upload))?;
                let entry = ContentEntry { number, length, references: 0 };
                self.set_references(tx, hash, entry, 1).map(LinkOutcome::Linked)
            }
        }
    }

    /// Adds a reference to a content. `None`: there is none with this hash.
    ///
    /// # Errors
    ///
    /// Those of changing an environment.
    pub fn add_reference(&self, tx: &mut WriteTransaction<'_>, hash: &[u8]) -> Result<Option<Content>> {
        let Some(entry) = self.entry(tx, hash)? else { return Ok(None) };
        self.set_references(tx, hash, entry, entry.references + 1).map(Some)
    }

    /// Removes a reference, and the content with the last one; gives how many are left. `None`: there is no content with this hash.
    /// Where it was large, [`Self::free`] has to free what is left of it.
    ///
    /// # Errors
    ///
    /// Those of changing an environment.
    pub fn unlink(&self, tx: &mut WriteTransaction<'_>, hash: &[u8]) -> Result<Option<u64>> {
        let Some(entry) = self.entry(tx, hash)? else { return Ok(None) };
        let references = entry.references - 1;
        if references > 0 {
            self.set_references(tx, hash, entry, references)?;
        } else {
            self.tree.delete(tx, &content_key(hash))?;
            self.free_later(tx, entry.number)?;
        }
        Ok(Some(references))
    }

    /// Removes an upload. False: there is none with this id. As with [`Self::unlink`], there may be chunks left to free.
    ///
    /// # Errors
    ///
    /// Those of changing an environment.
    pub fn cancel(&self, tx: &mut WriteTransaction<'_>, upload: &[u8]) -> Result<bool> {
        let Some(entry) = self.upload(tx, upload)? else { return Ok(false) };
        self.tree.delete(tx, &upload_key(upload))?;
        self.free_later(tx, entry.number)?;
        Ok(true)
    }

    /// Frees chunks of removed contents and uploads, at most [`CONTENT_CHUNKS_FREED_AT_ONCE`]. True: there are more.
    ///
    /// # Errors
    ///
    /// Those of changing an environment.
    pub fn free(&self, tx: &mut WriteTransaction<'_>) -> Result<bool> {
        let mut count_max = CONTENT_CHUNKS_FREED_AT_ONCE;
        while let Some(number) = self.first_removal(tx)? {
            if !self.free_chunks(tx, number, &mut count_max)? {
                return Ok(true);
            }
            self.tree.delete(tx, &removal_key(number))?;
        }
        Ok(false)
    }

    /// Whether [`Self::free`] has something to do.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`].
    pub fn has_chunks_to_free(&self, reader: &impl Reader) -> Result<bool> {
        Ok(self.first_removal(reader)?.is_some())
    }

    /// Removes uploads that were never linked, in transactions of their own, and frees what is left to be freed: when the owner of the
    /// contents opens the environment, and now and then. Gives how many it removed.
    ///
    /// * `before`: those whose last piece came before this time. `None`: all, for none goes on over a restart.
    ///
    /// # Errors
    ///
    /// Those of [`Environment::write`].
    pub fn remove_uploads(&self, environment: &Environment, before: Option<u64>) -> Result<u64> {
        let mut removed = 0;
        loop {
            // A snapshot looks for them, so that an environment without any is not written to.
            let uploads = self.uploads_before(&environment.read(), before)?;
            if uploads.is_empty() {
                break;
            }
            removed += environment.write(|tx| {
                let mut removed = 0;
                for upload in &uploads {
                    // A piece may have come meanwhile.
                    let entry = self.upload(tx, upload)?;
                    if entry.is_some_and(|entry| before.is_none_or(|before| entry.time < before)) {
                        self.cancel(tx, upload)?;
                        removed += 1;
                    }
                }
                Ok::<_, Error>(removed)
            })?;
        }
        while self.has_chunks_to_free(&environment.read())? {
            environment.write(|tx| self.free(tx))?;
        }
        Ok(removed)
    }

    fn uploads_before(&self, reader: &impl Reader, before: Option<u64>) -> Result<Vec<Vec<u8>>> {
        let mut uploads = Vec::new();
        let mut cursor = self.tree.cursor(reader);
        let mut next = cursor.seek(&upload_key(b""))?;
        while let Some((key, value)) = next {
            let Some(Entry::Upload { id, entry }) = self.entry_at(reader, UPLOAD, (key, value))? else { break };
            if before.is_none_or(|before| entry.time < before) {
                uploads.push(id.to_vec());
            }
            if uploads.len() == UPLOADS_REMOVED_AT_ONCE {
                break;
            }
            next = cursor.next()?;
        }
        Ok(uploads)
    }

    /// The content with a hash.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`].
    pub fn find(&self, reader: &impl Reader, hash: &[u8]) -> Result<Option<Content>> {
        Ok(self.entry(reader, hash)?.map(|entry| entry.content()))
    }

    /// Reads a range of a content; what lies past its end is left out. `None`: there is no content with this hash.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`].
    pub fn read<'t, R: Reader>(&self, reader: &'t R, hash: &[u8], range: Range<u64>) -> Result<Option<Reading<'t, R>>> {
        let Some(entry) = self.entry(reader, hash)? else { return Ok(None) };
        Ok(Some(Reading::new(self.tree, reader, &entry, range)))
    }

    /// Hashes and contents, in the order of the hashes.
    ///
    /// # Errors
    ///
    /// That of `each`, and [`Error::Corrupt`].
    pub fn for_each<E: From<Error>>(
        &self,
        reader: &impl Reader,
        mut each: impl FnMut(&[u8], Content) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut cursor = self.tree.cursor(reader);
        let mut next = cursor.seek(&content_key(b""))?;
        while let Some((key, value)) = next {
            let Some(Entry::Content { hash, entry }) = self.entry_at(reader, CONTENT, (key, value))? else { break };
            each(hash, entry.content())?;
            next = cursor.next()?;
        }
        Ok(())
    }

    fn upload(&self, reader: &impl Reader, upload: &[u8]) -> Result<Option<UploadEntry>> {
        let Some(value) = self.tree.get(reader, &upload_key(upload))? else { return Ok(None) };
        UploadEntry::decode(value).map(Some).ok_or_else(|| self.cut(reader))
    }

    fn entry(&self, reader: &impl Reader, hash: &[u8]) -> Result<Option<ContentEntry>> {
        let Some(value) = self.tree.get(reader, &content_key(hash))? else { return Ok(None) };
        ContentEntry::decode(value).map(Some).ok_or_else(|| self.cut(reader))
    }

    /// The entry at a place of a cursor that goes through the entries of one kind. `None`: the place is past the last of them.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`]: the key is of this kind and the entry cannot be decoded, so that the entries after it are not passed over.
    fn entry_at<'e>(
        &self,
        reader: &impl Reader,
        kind: u8,
        (key, value): (&'e [u8], &[u8]),
    ) -> Result<Option<Entry<'e>>> {
        if key.first() != Some(&kind) {
            return Ok(None);
        }
        Entry::decode(key, value).map(Some).ok_or_else(|| self.cut(reader))
    }

    fn cut(&self, reader: &impl Reader) -> Error {
        reader.corrupt(self.tree.root(), "an entry of its contents is cut")
    }

    fn set_references(
        &self,
        tx: &mut WriteTransaction<'_>,
        hash: &[u8],
        entry: ContentEntry,
        references: u64,
    ) -> Result<Content> {
        let entry = ContentEntry { references, ..entry };
        self.tree.put(tx, &content_key(hash), &entry.encode())?;
        Ok(entry.content())
    }

    /// A number for an upload. Never given out again.
    fn take_number(&self, tx: &mut WriteTransaction<'_>) -> Result<u64> {
        let number = match self.tree.get(tx, NEXT)? {
            None => 1,
            Some(bytes) => bytes.try_into().map(u64::from_le_bytes).map_err(|_| self.cut(tx))?,
        };
        self.tree.put(tx, NEXT, &(number + 1).to_le_bytes())?;
        Ok(number)
    }

    /// Frees the chunks of a number that no upload and no content has any more: at once if they are few, else by [`Self::free`].
    fn free_later(&self, tx: &mut WriteTransaction<'_>, number: u64) -> Result<()> {
        if !self.free_chunks(tx, number, &mut { CONTENT_CHUNKS_FREED_AT_ONCE })? {
            self.tree.put(tx, &removal_key(number), b"")?;
        }
        Ok(())
    }

    /// Frees chunks of a number; `count_max` falls with each. True: it has none any more.
    fn free_chunks(&self, tx: &mut WriteTransaction<'_>, number: u64, count_max: &mut usize) -> Result<bool> {
        loop {
            let key = {
                let mut cursor = self.tree.cursor(tx);
                let is_there = cursor.move_to(&chunk_key(number, 0))?;
                cursor.place().filter(|_| is_there).map(|(key, _)| key.to_vec())
            };
            let Some(key) = key.filter(|key| entries::is_chunk_of(key, number)) else { return Ok(true) };
            if *count_max == 0 {
                return Ok(false);
            }
            *count_max -= 1;
            self.tree.delete(tx, &key)?;
        }
    }

    fn first_removal(&self, reader: &impl Reader) -> Result<Option<u64>> {
        let mut cursor = self.tree.cursor(reader);
        let Some(found) = cursor.seek(&[REMOVAL])? else { return Ok(None) };
        Ok(match self.entry_at(reader, REMOVAL, found)? {
            Some(Entry::Removal { number }) => Some(number),
            _ => None,
        })
    }
}

fn check_name(name: &[u8]) -> Result<&[u8]> {
    if name.len() > CONTENT_NAME_SIZE_MAX {
        return Err(Error::KeyTooLong { size: name.len(), max: CONTENT_NAME_SIZE_MAX });
    }
    Ok(name)
}

#[cfg(test)]
mod tests;
