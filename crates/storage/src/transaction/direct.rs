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
use crate::io::File;
use crate::limits::PAGE_SIZE;
use crate::page;
use crate::pager::version::VersionPointer;

/// The runs of one transaction, sealed: their versions stay as they are until the transaction is published.
#[derive(Default)]
pub(crate) struct DirectRuns {
    runs: Vec<(PageNumber, VersionPointer)>,
}

impl DirectRuns {
    /// Takes a run of the transaction that is being sealed. No other thread reads its version yet.
    pub fn add(&mut self, number: PageNumber, mut version: VersionPointer, environment_id: u128) {
        let checksum = page::checksum(version.bytes(), environment_id);
        page::store_checksum(version.bytes_mut(), checksum);
        self.runs.push((number, version));
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
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
        let mut parts: Vec<&[u8]> = Vec::with_capacity(self.runs.len());
        let mut start = 0;
        let mut end = 0;
        for (number, version) in &self.runs {
            if number.0 != end && !parts.is_empty() {
                write(&**file, &parts, start)?;
                parts.clear();
            }
            if parts.is_empty() {
                start = number.0;
            }
            parts.push(version.bytes());
            end = number.0 + u64::from(version.pages());
        }
        write(&**file, &parts, start)
    }
}

/// One durable write for runs that follow each other: each has a price of its own.
fn write(file: &dyn File, parts: &[&[u8]], first: u64) -> Result<()> {
    let size = parts.iter().map(|part| part.len() as u64).sum();
    file.write_parts_at(parts, first * PAGE_SIZE as u64).map_err(|e| Error::io("write", file.path(), size, e))
}
