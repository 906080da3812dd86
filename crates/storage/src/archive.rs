//! The archive of the journal (continuous archiving, log shipping): each committed record once, in order, read behind the writer, so that
//! an image and the records behind it restore any transaction ([`crate::image::Restore`]).
//!
//! The caller stores the archive: it reads records, makes them durable somewhere, one behind the other, remembers the [`Position`] behind
//! the last one in the same place, and says so to the reader. The environment notes nothing on disk. It keeps the files of its journal
//! until they are archived, over a clean close and a crash too, up to a bound in bytes. Past the bound it lets the oldest go, and the
//! reader finds a gap. No write waits for an archive.
//!
//! Beside an archive, values that would go straight to the data file (large ones in new room, chunks of contents) go through the journal
//! as others do: they are written twice, and stay in memory until the next flush.

use crate::environment::{Environment, Inner};
use crate::ids::{Position, TransactionId};
use crate::image;
use crate::journal::reader::{Failure, RecordReader};
use crate::journal::record::{self, Change};
use crate::transaction::nesting::Nesting;
use std::collections::VecDeque;

impl Environment {
    /// Keeps the journal for an archive from now on, or changes the bound of that; `None`: keeps none any more. It does not stay when the
    /// environment is closed: `Options::archive_bytes_max` says it from the start, so that nothing is let go before.
    ///
    /// * `bytes_max`: bytes of journal files that the environment itself does not need any more.
    ///
    /// # Errors
    ///
    /// [`image::Error::Unsupported`] in memory and where commits are lazy.
    pub fn set_archive(&self, bytes_max: Option<u64>) -> image::Result<()> {
        refuse_without_archive(&self.inner)?;
        Nesting::refuse(&self.inner)?;
        // Under the writer's lock: no transaction is running, and each that begins sees it.
        if let Some(journal) = &mut self.inner.writer.lock().journal {
            journal.set_archive(bytes_max);
        }
        Ok(())
    }

    /// Reads the committed records behind a position. All up to there has to be in the archive, durably: files of the journal before it
    /// are let go. One reader at a time.
    ///
    /// * `after`: of an image that was written since the archive is kept, or behind the last record of the archive.
    ///
    /// # Errors
    ///
    /// [`image::Error::Gap`] if the records are not there any more, or no journal is kept for an archive: begin anew, with an image.
    /// [`image::Error::OtherHistory`] if the environment was never at the position, because it was restored to an earlier one.
    pub fn archive(&self, after: Position) -> image::Result<Reader<'_>> {
        refuse_without_archive(&self.inner)?;
        Nesting::refuse(&self.inner)?;
        let gap = image::Error::Gap { after, next: None };
        let reader = RecordReader::archived(&self.inner, after).map_err(|failure| failed(failure, after))?;
        let mut reader = Reader { inner: &self.inner, reader: reader.ok_or(gap)?, files: VecDeque::new(), gap: None };
        reader.note_file();
        reader.archived(after);
        Ok(reader)
    }
}

fn refuse_without_archive(inner: &Inner) -> image::Result<()> {
    match inner.without_archive() {
        Some(what) => Err(image::Error::Unsupported { what }),
        None => Ok(()),
    }
}

fn failed(failure: Failure, after: Position) -> image::Error {
    match failure {
        Failure::Gone => image::Error::Gap { after, next: None },
        Failure::OtherHistory => image::Error::OtherHistory { transaction: after.transaction },
        Failure::Storage(error) => error.into(),
    }
}

/// A committed record.
#[derive(Clone, Copy, Debug)]
pub struct Record<'r> {
    /// The position behind it.
    pub position: Position,
    /// What goes to the archive. A stream of records is these bytes, one record behind the other.
    pub bytes: &'r [u8],
}

/// Reads the records of an environment for its archive.
pub struct Reader<'e> {
    inner: &'e Inner,
    reader: RecordReader<'e>,
    /// For each file that was begun and may still be needed: the transaction of the first record that was read in it, and its number.
    files: VecDeque<(TransactionId, u64)>,
    /// The position that the records end at for good.
    gap: Option<Position>,
}

impl Reader<'_> {
    /// The next record. `None`: no more is committed. It costs the writer nothing; where it goes on to another file, it takes the
    /// writer's lock for a moment.
    ///
    /// # Errors
    ///
    /// [`image::Error::Gap`] if the journal behind the position was let go, because more than the bound was waiting, or if a transaction
    /// of the time before the archive left a value out of its record: begin anew, with an image. [`image::Error::Storage`] if the journal
    /// cannot be read.
    pub fn next_record(&mut self) -> image::Result<Option<Record<'_>>> {
        if let Some(after) = self.gap {
            return Err(image::Error::Gap { after, next: None });
        }
        let after = self.reader.position();
        let published = self.inner.readers.published().transaction();
        let header = self.reader.next(published).map_err(|failure| failed(failure, after))?;
        let Some(header) = header else { return Ok(None) };
        if !is_whole(&header, self.reader.record()) {
            self.gap = Some(after);
            return Err(image::Error::Gap { after, next: None });
        }
        self.note_file();
        Ok(Some(Record { position: self.reader.position(), bytes: self.reader.record() }))
    }

    /// The position behind the last record that was read.
    pub fn position(&self) -> Position {
        self.reader.position()
    }

    /// All records up to a position are durable in the archive: the files of the journal before are let go.
    pub fn archived(&mut self, until: Position) {
        // The file of the record behind it is the first that is needed.
        while self.files.get(1).is_some_and(|(first, _)| first.0 <= until.transaction.0.saturating_add(1)) {
            self.files.pop_front();
        }
        if let Some((_, number)) = self.files.front() {
            self.reader.raise_hold(*number);
        }
    }

    /// Notes the file of the record that was read last, or that comes next.
    fn note_file(&mut self) {
        let Some(number) = self.reader.file_number() else { return };
        if self.files.back().is_none_or(|(_, last)| *last < number) {
            self.files.push_back((self.reader.position().transaction, number));
        }
    }
}

/// Whether a record contains all that it names.
fn is_whole(header: &record::Header, bytes: &[u8]) -> bool {
    let Ok(raw) = record::raw_pages(header, bytes) else { return false };
    let mut rest = &raw[..];
    (0..header.pages).all(|_| match record::next_change(&mut rest) {
        None | Some((_, Change::Direct { .. })) => false,
        Some(_) => true,
    })
}
