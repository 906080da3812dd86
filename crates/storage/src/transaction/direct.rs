//! Large values that a commit writes straight to the data file, so that they are written once, not twice.
//!
//! A run goes this way if no page of it was ever in use since the environment was opened (`Writer::untouched_from`): then no
//! snapshot, and no state that a crash could go back to, has anything there. The record in the journal, which only names the
//! run, is written when the run is durable.
//!
//! The writes go through the page cache, for the value is likely to be read soon, and are durable when they return.

use crate::environment::Inner;
use crate::error::{Error, Result};
use crate::ids::PageNumber;
use crate::limits::PAGE_SIZE;
use crate::page;
use crate::pager::frames::VersionPointer;

/// Bytes that are gathered for one write. A durable write has a price of its own, and copying costs a tenth of it.
const PIECE: usize = 1 << 20;

/// The runs of one transaction, sealed: their versions stay as they are until the transaction is published.
#[derive(Default)]
pub(crate) struct DirectRuns {
    runs: Vec<(PageNumber, VersionPointer)>,
}

impl DirectRuns {
    /// Takes a run of the transaction that is being sealed: nobody else looks at its version.
    pub fn add(&mut self, number: PageNumber, mut version: VersionPointer, environment_id: u128) {
        let checksum = page::checksum(version.bytes(), environment_id);
        page::store_checksum(version.bytes_mut(), checksum);
        self.runs.push((number, version));
    }

    pub fn size_bytes(&self) -> u64 {
        self.runs.iter().map(|(_, version)| version.bytes().len() as u64).sum()
    }

    /// Writes them; durable on return.
    ///
    /// # Errors
    ///
    /// Those of the device.
    pub fn write(mut self, inner: &Inner) -> Result<()> {
        if self.runs.is_empty() {
            return Ok(());
        }
        let Some(file) = inner.direct_file() else { return Err(Error::Closed) };
        self.runs.sort_unstable_by_key(|(number, _)| *number);
        let write = |bytes: &[u8], start: u64| {
            let written = file.write_at(bytes, start * PAGE_SIZE as u64);
            written.map_err(|e| Error::io("write", file.path(), bytes.len() as u64, e))
        };
        let mut piece = inner.take_buffer();
        piece.clear();
        let mut piece_start = 0;
        for (number, version) in &self.runs {
            let mut bytes = version.bytes();
            let follows = piece_start + (piece.len() / PAGE_SIZE) as u64 == number.0;
            if !piece.is_empty() && (!follows || piece.len() + bytes.len() > PIECE) {
                write(&piece, piece_start)?;
                piece.clear();
            }
            if bytes.len() >= PIECE {
                let mut start = number.0;
                while !bytes.is_empty() {
                    let (part, rest) = bytes.split_at(bytes.len().min(PIECE));
                    write(part, start)?;
                    start += (part.len() / PAGE_SIZE) as u64;
                    bytes = rest;
                }
                continue;
            }
            if piece.is_empty() {
                piece_start = number.0;
            }
            piece.extend_from_slice(bytes);
        }
        if !piece.is_empty() {
            write(&piece, piece_start)?;
        }
        inner.give_back_buffer(piece);
        Ok(())
    }
}
