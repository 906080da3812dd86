//! Copying contents to another environment, for compaction.

use super::entries::{CONTENT, ContentEntry, Entry, content_key};
use super::{Contents, Reading, check};
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::limits::CONTENT_APPEND_SIZE_MAX;
use crate::transaction::Reader;

impl Contents {
    /// Copies all contents, with their hashes and references, into `to` in `target`, which has none. Uploads and what is left to be
    /// freed are not copied. Each transaction copies [`CONTENT_APPEND_SIZE_MAX`] bytes at most.
    ///
    /// * `progress`: called with the bytes that were copied since it was last called.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`]: a content is damaged, or a content is missing whose chunks are still there, so that the copy would be without
    /// it; reading or writing fails on either side.
    pub fn copy_into(
        &self,
        reader: &impl Reader,
        target: &Environment,
        to: Contents,
        mut progress: impl FnMut(u64),
    ) -> Result<()> {
        // The chunks of a content whose entry is lost would be left out without an error.
        let mut is_whole = true;
        check(reader, self.tree, |_| is_whole = false)?;
        if !is_whole {
            return Err(
                reader.corrupt(self.tree.root(), "its contents break a rule, which a check of the database names")
            );
        }
        let mut cursor = self.tree.cursor(reader);
        let mut next = cursor.seek(&content_key(b""))?;
        while let Some((key, value)) = next {
            let Some(Entry::Content { hash, entry }) = self.entry_at(reader, CONTENT, (key, value))? else { break };
            let reading = Reading::new(self.tree, reader, &entry, 0..entry.length);
            copy(reading, target, to, (hash, entry.references), &mut progress)?;
            next = cursor.next()?;
        }
        Ok(())
    }
}

/// Copies one content. It becomes a content of the target when its last piece is there; a copy that was cut short is thrown away as a
/// whole.
fn copy<R: Reader>(
    mut reading: Reading<'_, R>,
    target: &Environment,
    to: Contents,
    (hash, references): (&[u8], u64),
    progress: &mut impl FnMut(u64),
) -> Result<()> {
    let length = reading.content_length();
    let number = target.write(|tx| to.take_number(tx))?;
    let mut copied = 0;
    let mut piece = Vec::new();
    loop {
        let more = reading.next()?;
        let is_full = more.is_none_or(|more| piece.len() + more.len() > CONTENT_APPEND_SIZE_MAX);
        if is_full && !piece.is_empty() {
            copied = target.write(|tx| to.append_chunks(tx, number, copied, &piece))?;
            progress(piece.len() as u64);
            piece.clear();
        }
        let Some(more) = more else { break };
        piece.extend_from_slice(more);
    }
    target.write(|tx| {
        let entry = ContentEntry { number, length, references };
        to.tree.put(tx, &content_key(hash), &entry.encode())?;
        Ok::<_, Error>(())
    })
}
