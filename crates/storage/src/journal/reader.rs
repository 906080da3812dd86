//! Reads the journal while the environment goes on: each published record once, in order, behind the writer.
//!
//! The reader has descriptors of its own and takes the writer's lock only where it goes on to another file. It reads nothing that is not
//! published, so that no record changes while it is read. A hold keeps its files (`holds`).

use super::files::JournalFile;
use super::holds::{self, HoldFrom};
use super::record::{HEADER_SIZE, Header};
use super::replay::{header_at, whole_record};
use crate::environment::{Durability, Inner};
use crate::error::{Error, Result};
use crate::ids::{Position, TransactionId};
use crate::io::{Folder, OpenMode};
use std::sync::atomic::Ordering;

/// Why a reader cannot go on.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The journal behind its position is not kept any more.
    Gone,
    /// The journal goes on from the position's transaction, but not from its record.
    OtherHistory,
    /// The journal cannot be read, or is damaged.
    Storage(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Storage(error)
    }
}

/// Reads records, one after the other.
pub(crate) struct RecordReader<'e> {
    inner: &'e Inner,
    folder: &'e Folder,
    hold: HoldFrom,
    /// The hold is the reader's own and ends with it; else it is the archive's.
    owns_hold: bool,
    /// Behind the last record that was read.
    position: Position,
    /// File and offset of the next record, unless that is in a later file. `None`: they have to be found.
    place: Option<(u64, u64)>,
    file: Option<JournalFile>,
    record: Vec<u8>,
}

impl<'e> RecordReader<'e> {
    /// A reader of what follows the last published transaction.
    ///
    /// * `bytes_max`: of files that are kept for it and for nothing else.
    ///
    /// # Errors
    ///
    /// `None` where there is no journal, in memory.
    pub fn from_now(inner: &'e Inner, bytes_max: u64) -> Option<RecordReader<'e>> {
        let folder = inner.folder.as_ref()?;
        let mut writer = inner.writer.lock();
        let published = inner.readers.published().transaction();
        let behind = writer.positions.partition_point(|state| state.transaction <= published);
        let last = behind.checked_sub(1).and_then(|last| writer.positions.get(last)).copied();
        let state = last.unwrap_or(writer.checkpoint);
        assert_eq!(state.transaction, published, "the place of each transaction since the checkpoint is known");
        let hold = writer.journal.as_mut()?.hold(state.number, bytes_max);
        drop(writer);
        let position = Position { transaction: state.transaction, hash: state.hash };
        let place = Some((state.number, state.offset));
        Some(RecordReader { inner, folder, hold, owns_hold: true, position, place, file: None, record: Vec::new() })
    }

    /// A reader of what follows a position, in the journal that is kept for the archive. `None`: nothing is kept for one.
    ///
    /// # Errors
    ///
    /// [`Failure::OtherHistory`] if the environment was never at the position.
    pub fn archived(inner: &'e Inner, position: Position) -> Result<Option<RecordReader<'e>>, Failure> {
        let Some(folder) = &inner.folder else { return Ok(None) };
        let hold = {
            let writer = inner.writer.lock();
            let last = Position { transaction: writer.last_transaction, hash: writer.last_hash };
            if position.transaction > last.transaction || (position.transaction == last.transaction && position != last)
            {
                return Err(Failure::OtherHistory);
            }
            let Some(hold) = writer.journal.as_ref().and_then(|journal| journal.archive()) else { return Ok(None) };
            hold.clone()
        };
        let mut reader = RecordReader {
            inner,
            folder,
            hold,
            owns_hold: false,
            position,
            place: None,
            file: None,
            record: Vec::new(),
        };
        match reader.find() {
            // It may have been removed when the environment was closed; there is none behind it.
            Err(Failure::Gone) if position.transaction == inner.readers.published().transaction() => {}
            found => found?,
        }
        Ok(Some(reader))
    }

    /// Behind the last record that was read.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The number of the file that the next record is in, or one before.
    pub fn file_number(&self) -> Option<u64> {
        self.place.map(|(number, _)| number)
    }

    /// The record that was read last, without its padding.
    pub fn record(&self) -> &[u8] {
        &self.record
    }

    /// Reads the next record, if its transaction is not behind `until`, which is published.
    ///
    /// # Errors
    ///
    /// [`Failure::Gone`] if its hold was raised beyond its place; others as they are.
    pub fn next(&mut self, until: TransactionId) -> Result<Option<Header>, Failure> {
        if self.position.transaction >= until {
            return Ok(None);
        }
        self.write_gathered()?;
        if self.place.is_none() {
            self.find()?;
        }
        loop {
            if let Some(header) = self.read_here()? {
                return Ok(Some(header));
            }
            if !self.go_to_later_file()? {
                return Err(self.missing());
            }
        }
    }

    /// Records of lazy commits are published before they are written.
    fn write_gathered(&self) -> Result<()> {
        if self.inner.options.durability == Durability::Durable {
            return Ok(());
        }
        let mut writer = self.inner.writer.lock();
        match writer.unwritten.take() {
            Some(write) => write.run().inspect_err(|error| self.inner.fail(error.clone())),
            None => Ok(()),
        }
    }

    /// A published record is not where it has to be.
    fn missing(&self) -> Failure {
        if self.is_lost() {
            return Failure::Gone;
        }
        let rule =
            format!("transaction {} is committed, but its record cannot be read", self.position.transaction.0 + 1);
        Failure::Storage(Error::CorruptFile { path: self.folder.path.clone(), rule })
    }

    fn is_lost(&self) -> bool {
        self.place.is_some_and(|(number, _)| number < self.hold.load(Ordering::Relaxed))
    }

    /// The next record, if it is at the place.
    fn read_here(&mut self) -> Result<Option<Header>, Failure> {
        if self.is_lost() {
            return Err(Failure::Gone);
        }
        let Some((number, offset)) = self.place else { return Ok(None) };
        if self.file.as_ref().is_none_or(|file| file.number != number) {
            self.file = self.open(number)?;
        }
        let Some(file) = &self.file else { return Ok(None) };
        let Some(header) = fitting(file, offset, self.inner.id, self.position, &mut self.record)? else {
            return Ok(None);
        };
        self.record.truncate(HEADER_SIZE + header.stored_bytes as usize);
        self.position = Position { transaction: header.transaction, hash: header.hash };
        self.place = Some((number, offset + header.padded_size()));
        Ok(Some(header))
    }

    /// Goes on where a later file begins with the next record. The files before are not held any more.
    fn go_to_later_file(&mut self) -> Result<bool> {
        let Some((number, _)) = self.place else { return Ok(false) };
        let later = self.file_numbers().into_iter().filter(|later| *later > number);
        for later in later {
            let Some(file) = self.open(later)? else { continue };
            if fitting(&file, 0, self.inner.id, self.position, &mut self.record)?.is_some() {
                self.place = Some((later, 0));
                self.file = Some(file);
                if self.owns_hold {
                    self.raise_hold(later);
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The files before `from` are not needed any more.
    pub fn raise_hold(&self, from: u64) {
        holds::raise(&self.hold, from);
        if let Some(journal) = &mut self.inner.writer.lock().journal {
            journal.hold_was_raised();
        }
    }

    /// Finds the record of the position, or the one behind it, in the newest file that has one of them.
    fn find(&mut self) -> Result<(), Failure> {
        let Position { transaction: last, hash } = self.position;
        let published = self.inner.readers.published().transaction();
        // A record of a transaction that a crash took back may have been left beside the one that came in its place.
        let mut failure = Failure::Gone;
        for number in self.file_numbers().into_iter().rev() {
            let Some(file) = self.open(number)? else { continue };
            let (mut offset, mut expected) = (0, None);
            // Records that follow each other: behind them are those of an earlier use of the file.
            while let Some(header) = header_at(&file, offset)?.filter(|header| header.environment_id == self.inner.id) {
                let transaction = header.transaction;
                // One that is not published may be half written.
                let is_next = expected.is_none_or(|expected| transaction.0 == expected);
                if !is_next || transaction.0 > last.0 + 1 || transaction > published {
                    break;
                }
                let behind = offset.saturating_add(header.padded_size());
                let place = match transaction.0.checked_sub(last.0) {
                    Some(0) if header.hash == hash => Some(behind),
                    Some(1) if header.previous_hash == hash => Some(offset),
                    Some(_) => {
                        failure = Failure::OtherHistory;
                        break;
                    }
                    None => None,
                };
                if let Some(place) = place {
                    (self.place, self.file) = (Some((number, place)), Some(file));
                    return Ok(());
                }
                (expected, offset) = (Some(transaction.0 + 1), behind);
            }
        }
        Err(failure)
    }

    fn file_numbers(&self) -> Vec<u64> {
        let writer = self.inner.writer.lock();
        let files = writer.journal.as_ref().map(|journal| journal.files()).unwrap_or_default();
        files.iter().map(|file| file.number).collect()
    }

    /// Opens a file. `None`: it was let go, or is not there yet.
    fn open(&self, number: u64) -> Result<Option<JournalFile>> {
        let path = self.folder.file(&super::files::name(number));
        let file = match self.folder.io.open(&path, OpenMode::Existing) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("open", &path, 0, error)),
        };
        let size = file.len().map_err(|e| Error::io("measure", &path, 0, e))?;
        Ok(Some(JournalFile { number, file, size }))
    }
}

impl Drop for RecordReader<'_> {
    fn drop(&mut self) {
        if self.owns_hold
            && let Some(journal) = &mut self.inner.writer.lock().journal
        {
            journal.release(&self.hold);
        }
    }
}

fn fitting(
    file: &JournalFile,
    offset: u64,
    environment_id: u128,
    position: Position,
    record: &mut Vec<u8>,
) -> Result<Option<Header>> {
    whole_record(file, offset, record, |header: &Header| {
        header.environment_id == environment_id
            && header.transaction.0 == position.transaction.0 + 1
            && header.previous_hash == position.hash
    })
}
