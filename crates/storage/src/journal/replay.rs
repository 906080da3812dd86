//! Reading the journal back after a crash: all records from the checkpoint on, up to the first that does not fit.
//!
//! A record fits if its header and hash are whole, it belongs to this environment, its transaction is the next one, and
//! it names the hash of the record before. The first that does not fit ends the replay. What lies behind it is looked
//! through once more: a whole record there which says that the missing one *was durable* proves damage, not a crash.

use super::files::JournalFile;
use super::record::{Change, HEADER_SIZE, Header, PACKED_ALIGNMENT, next_change, raw_pages};
use crate::error::{Error, Result};
use crate::ids::{PageNumber, TransactionId};
use crate::io::File;
use std::sync::Arc;

/// Where a replay starts and how far it came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReplayState {
    pub transaction: TransactionId,
    pub hash: u128,
    pub number: u64,
    pub offset: u64,
}

/// Replays the records after `state` and hands each change to `apply`; returns the state after the last record.
///
/// * `files`: by rising number.
///
/// # Errors
///
/// [`Error::CorruptFile`] if a durable record is missing or a whole record cannot be understood; those of `apply`.
pub(crate) fn replay(
    files: &[Arc<JournalFile>],
    environment_id: u128,
    mut state: ReplayState,
    mut apply: impl FnMut(TransactionId, PageNumber, Change<'_>) -> Result<()>,
) -> Result<ReplayState> {
    let Some(first) = files.iter().position(|file| file.number >= state.number) else { return Ok(state) };
    let mut index = first;
    if files[first].number != state.number {
        state.offset = 0;
    }
    let mut buffer = Vec::new();
    loop {
        let file = &files[index];
        state.number = file.number;
        while let Some(header) = fitting_record(file, environment_id, &state, &mut buffer)? {
            let damaged = |rule: &str| Error::CorruptFile {
                path: file.file.path().to_path_buf(),
                rule: format!("{rule} (at byte {}, transaction {})", state.offset, header.transaction),
            };
            let raw = raw_pages(&header, &buffer).map_err(damaged)?;
            let mut rest = &raw[..];
            for _ in 0..header.pages {
                let (number, change) = next_change(&mut rest).ok_or_else(|| damaged("a record has a broken page"))?;
                apply(header.transaction, number, change)?;
            }
            state.transaction = header.transaction;
            state.hash = header.hash;
            state.offset += header.padded_size();
        }
        // A record that did not fit into the rest of a file went to a later one.
        let from_start = ReplayState { offset: 0, ..state };
        let mut continued = None;
        for (later, file) in files.iter().enumerate().skip(index + 1) {
            if fitting_record(file, environment_id, &from_start, &mut buffer)?.is_some() {
                continued = Some(later);
                break;
            }
        }
        match continued {
            Some(later) => (index, state.offset) = (later, 0),
            None => break,
        }
    }
    refuse_later_durable_records(&files[index..], environment_id, &state, &mut buffer)?;
    log_torn_record(&files[index], environment_id, &state)?;
    Ok(state)
}

/// The record at the state's offset, if it is the next one; its bytes are in `buffer` then.
fn fitting_record(
    file: &JournalFile,
    environment_id: u128,
    state: &ReplayState,
    buffer: &mut Vec<u8>,
) -> Result<Option<Header>> {
    let fits = |header: &Header| {
        header.environment_id == environment_id
            && header.transaction.0 == state.transaction.0 + 1
            && header.previous_hash == state.hash
    };
    whole_record(file, state.offset, buffer, fits)
}

pub(super) fn whole_record(
    file: &JournalFile,
    offset: u64,
    buffer: &mut Vec<u8>,
    wanted: impl Fn(&Header) -> bool,
) -> Result<Option<Header>> {
    let Some(header) = header_at(file, offset)?.filter(&wanted) else { return Ok(None) };
    if offset.saturating_add(header.padded_size()) > file.size {
        return Ok(None);
    }
    buffer.resize(HEADER_SIZE + header.stored_bytes as usize, 0);
    file.file.read_at(buffer, offset).map_err(|e| Error::io("read", file.file.path(), 0, e))?;
    Ok(header.matches(buffer).then_some(header))
}

/// Says which record the replay ended at, if it is known to have been on its way: its header is there, its hash does not fit.
fn log_torn_record(file: &JournalFile, environment_id: u128, state: &ReplayState) -> Result<()> {
    let Some(header) = header_at(file, state.offset)? else { return Ok(()) };
    if header.environment_id == environment_id && header.transaction.0 == state.transaction.0 + 1 {
        tracing::warn!(
            path = %file.file.path().display(), offset = state.offset, transaction = header.transaction.0,
            "the last record of the journal is torn, was not acknowledged, and is left out"
        );
    }
    Ok(())
}

pub(super) fn header_at(file: &JournalFile, offset: u64) -> Result<Option<Header>> {
    if offset + HEADER_SIZE as u64 > file.size {
        return Ok(None);
    }
    let mut bytes = [0; HEADER_SIZE];
    file.file.read_at(&mut bytes, offset).map_err(|e| Error::io("read", file.file.path(), 0, e))?;
    Ok(Header::decode(&bytes))
}

fn refuse_later_durable_records(
    files: &[Arc<JournalFile>],
    environment_id: u128,
    state: &ReplayState,
    buffer: &mut Vec<u8>,
) -> Result<()> {
    let missing = state.transaction.0 + 1;
    let proves_damage = |header: &Header| header.environment_id == environment_id && header.durable.0 >= missing;
    for (index, file) in files.iter().enumerate() {
        let mut headers = Headers::new(&*file.file, if index == 0 { state.offset } else { 0 });
        while let Some((offset, header)) = headers.next()? {
            if proves_damage(&header) && whole_record(file, offset, buffer, proves_damage)?.is_some() {
                return Err(Error::CorruptFile {
                    path: file.file.path().to_path_buf(),
                    rule: format!(
                        "transaction {missing} is missing or damaged, but was durable when transaction {} was written (at byte {offset})",
                        header.transaction
                    ),
                });
            }
        }
    }
    Ok(())
}

/// What looks like the header of a record, at every place where one can be.
pub(crate) struct Headers<'f> {
    file: &'f dyn File,
    position: u64,
    piece: Vec<u8>,
    piece_start: u64,
}

impl<'f> Headers<'f> {
    /// Bytes that are read at once.
    const PIECE: u64 = 1 << 20;

    pub fn new(file: &'f dyn File, from: u64) -> Self {
        let position = from.next_multiple_of(PACKED_ALIGNMENT as u64);
        Headers { file, position, piece: Vec::new(), piece_start: position }
    }

    /// The next one, and where it is.
    pub fn next(&mut self) -> Result<Option<(u64, Header)>> {
        loop {
            let at = (self.position - self.piece_start) as usize;
            if at + HEADER_SIZE > self.piece.len() && !self.read()? {
                return Ok(None);
            }
            let at = (self.position - self.piece_start) as usize;
            let header = Header::decode(&self.piece[at..]);
            let found = self.position;
            self.position += PACKED_ALIGNMENT as u64;
            if let Some(header) = header {
                return Ok(Some((found, header)));
            }
        }
    }

    /// Goes on behind a record.
    pub fn skip_to(&mut self, position: u64) {
        self.position = position.next_multiple_of(PACKED_ALIGNMENT as u64).max(self.position);
    }

    /// Reads the piece from the position on. False: no header fits into what is left.
    fn read(&mut self) -> Result<bool> {
        let failed = |e| Error::io("read", self.file.path(), 0, e);
        let left = self.file.len().map_err(failed)?.saturating_sub(self.position);
        if left < HEADER_SIZE as u64 {
            return Ok(false);
        }
        self.piece.resize(left.min(Self::PIECE) as usize, 0);
        self.file.read_at(&mut self.piece, self.position).map_err(failed)?;
        self.piece_start = self.position;
        Ok(true)
    }
}
