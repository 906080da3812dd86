//! Reading a content, chunk by chunk, into one buffer.

use super::entries::{ContentEntry, chunk_key, chunk_of};
use crate::error::Result;
use crate::ids::PageNumber;
use crate::limits::CONTENT_CHUNK_SIZE_MAX;
use crate::page::{self, RUN_START};
use crate::transaction::Reader;
use crate::tree::Tree;
use crate::tree::node::Payload;
use std::ops::Range;

/// A range of a content, being read. It holds one chunk in memory.
pub struct Reading<'t, R: Reader> {
    tree: Tree,
    reader: &'t R,
    number: u64,
    content_length: u64,
    rest: Range<u64>,
    /// The pages of a chunk.
    buffer: Vec<u8>,
}

/// The storage of a chunk's bytes.
enum ChunkSource<'t> {
    /// In the leaf.
    Inline(&'t [u8]),
    Run {
        first: PageNumber,
        length: usize,
    },
}

impl<'t, R: Reader> Reading<'t, R> {
    pub(super) fn new(tree: Tree, reader: &'t R, entry: &ContentEntry, range: Range<u64>) -> Self {
        let rest = range.start.min(entry.length)..range.end.min(entry.length);
        Reading { tree, reader, number: entry.number, content_length: entry.length, rest, buffer: Vec::new() }
    }

    /// Bytes of the whole content.
    pub fn content_length(&self) -> u64 {
        self.content_length
    }

    /// Bytes that are still to be read.
    pub fn remaining(&self) -> u64 {
        self.rest.end.saturating_sub(self.rest.start)
    }

    /// The next bytes of the range: what it has of one chunk, verified. `None` at its end.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupt`] if the chunk is damaged or missing; [`crate::Error::Io`] if it cannot be read.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend its buffer")]
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        if self.remaining() == 0 {
            return Ok(None);
        }
        let (offset, found) = self.find()?;
        let bytes = match found {
            ChunkSource::Inline(bytes) => bytes,
            ChunkSource::Run { first, length } => {
                self.read(first, length)?;
                &self.buffer[RUN_START..RUN_START + length]
            }
        };
        let start = (self.rest.start - offset) as usize;
        let end = bytes.len().min((self.rest.end - offset) as usize);
        self.rest.start = offset + end as u64;
        Ok(Some(&bytes[start..end]))
    }

    /// The same bytes with the memory that they were read into, for who keeps them: a range of that.
    ///
    /// # Errors
    ///
    /// As those of [`Self::next`].
    pub fn next_owned(&mut self) -> Result<Option<(Vec<u8>, Range<usize>)>> {
        if self.remaining() == 0 {
            return Ok(None);
        }
        let (offset, found) = self.find()?;
        let (memory, begin, length) = match found {
            ChunkSource::Inline(bytes) => (bytes.to_vec(), 0, bytes.len()),
            ChunkSource::Run { first, length } => {
                self.read(first, length)?;
                (std::mem::take(&mut self.buffer), RUN_START, length)
            }
        };
        let start = (self.rest.start - offset) as usize;
        let end = length.min((self.rest.end - offset) as usize);
        self.rest.start = offset + end as u64;
        Ok(Some((memory, begin + start..begin + end)))
    }

    /// Reads the pages of a chunk of `length` bytes, which begins at [`RUN_START`] in them.
    fn read(&mut self, first: PageNumber, length: usize) -> Result<()> {
        self.reader.read_run(first, page::pages_for_run(length), &mut self.buffer)?;
        let has_length = self.buffer.first_chunk().is_some_and(|page| page::run_length(page) == length as u64);
        match has_length && self.buffer.len() >= RUN_START + length {
            true => Ok(()),
            false => Err(self.reader.corrupt(first, "its value is cut")),
        }
    }

    /// The chunk that has the first byte of the rest, and its offset in the content.
    fn find(&self) -> Result<(u64, ChunkSource<'t>)> {
        let missing = || self.reader.corrupt(self.tree.root(), "a chunk of a content is missing");
        let mut cursor = self.tree.cursor(self.reader);
        // The first key behind it; an offset is below the length, so this does not wrap.
        if !cursor.move_below(&chunk_key(self.number, self.rest.start + 1))? {
            return Err(missing());
        }
        let (key, payload) = cursor.place().ok_or_else(missing)?;
        let (number, offset) = chunk_of(key).ok_or_else(missing)?;
        let found = match payload {
            Payload::Inline(bytes) => ChunkSource::Inline(bytes),
            Payload::Run { first, length } => {
                let length = usize::try_from(length).ok().filter(|length| *length <= CONTENT_CHUNK_SIZE_MAX);
                ChunkSource::Run { first, length: length.ok_or_else(missing)? }
            }
        };
        let length = match &found {
            ChunkSource::Inline(bytes) => bytes.len(),
            ChunkSource::Run { length, .. } => *length,
        };
        if number != self.number || self.rest.start - offset >= length as u64 {
            return Err(missing());
        }
        Ok((offset, found))
    }
}
