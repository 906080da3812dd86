//! What a flush is about to write: a file `flush` beside the data file, durable before the first page is written.
//!
//! ```text
//!  0       8                24            32      40     56
//!  +-------+----------------+-------------+-------+------+---------------------------------------+
//!  | magic | environment id | transaction | count | hash | count x (page u64, pages u32, checksum) |
//!  +-------+----------------+-------------+-------+------+---------------------------------------+
//! ```
//!
//! A crash in a flush leaves torn pages, which the journal's replay makes whole again. Without this file a page that was
//! *damaged* could not be told from one that is torn: the replay would mend some of its bytes and the rest would be served.
//! With it, a page whose checksum does not fit must be in the list, and after the replay up to `transaction` it must
//! have the checksum in the list. A checksum of 0 says that the page was free by then, or covered by a run: it does not matter.
//!
//! * `hash`: XXH3-128 of the header before it and of the list. A file that does not fit belongs to a flush that wrote no page.

use crate::error::{Error, Result};
use crate::ids::{PageNumber, TransactionId};
use crate::io::{File, Folder, OpenMode};
use crate::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

pub(crate) const NAME: &str = "flush";
const MAGIC: u64 = u64::from_le_bytes(*b"ROOKFLS1");
const HEADER_SIZE: usize = 56;
const ENTRY_SIZE: usize = 8 + 4 + 16;

/// A page, or a run of pages, that a flush writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub number: PageNumber,
    pub pages: u32,
    /// Of what will be written; 0: nothing is, and what the file has does not matter.
    pub checksum: u128,
}

/// What the last flush was about to write.
#[derive(Default, PartialEq, Eq, Debug)]
pub(crate) struct Intent {
    /// The state that the flush brings into the data file.
    pub transaction: TransactionId,
    entries: BTreeMap<u64, Entry>,
}

impl Intent {
    /// The entry that covers a page.
    pub fn find(&self, number: PageNumber) -> Option<Entry> {
        let (_, entry) = self.entries.range(..=number.0).next_back()?;
        (number.0 < entry.number.0 + u64::from(entry.pages)).then_some(*entry)
    }
}

fn hash_of(bytes: &[u8]) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&bytes[..40]);
    hash.update(&bytes[HEADER_SIZE..]);
    hash.digest128()
}

fn encode(environment_id: u128, transaction: TransactionId, entries: &[Entry]) -> Vec<u8> {
    let mut bytes = vec![0; HEADER_SIZE];
    bytes[0..8].copy_from_slice(&MAGIC.to_le_bytes());
    bytes[8..24].copy_from_slice(&environment_id.to_le_bytes());
    bytes[24..32].copy_from_slice(&transaction.0.to_le_bytes());
    bytes[32..40].copy_from_slice(&(entries.len() as u64).to_le_bytes());
    for entry in entries {
        bytes.extend_from_slice(&entry.number.0.to_le_bytes());
        bytes.extend_from_slice(&entry.pages.to_le_bytes());
        bytes.extend_from_slice(&entry.checksum.to_le_bytes());
    }
    let hash = hash_of(&bytes);
    bytes[40..HEADER_SIZE].copy_from_slice(&hash.to_le_bytes());
    bytes
}

fn decode(mut bytes: &[u8], environment_id: u128) -> Option<Intent> {
    let header: &[u8; HEADER_SIZE] = bytes.first_chunk()?;
    let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| header[at + i]));
    let u128_at = |at: usize| u128::from_le_bytes(std::array::from_fn(|i| header[at + i]));
    let count = usize::try_from(u64_at(32)).ok()?;
    let end = count.checked_mul(ENTRY_SIZE)?.checked_add(HEADER_SIZE)?;
    // What an earlier, longer list left behind this one does not belong to it.
    bytes = bytes.get(..end)?;
    if u64_at(0) != MAGIC || u128_at(8) != environment_id || u128_at(40) != hash_of(bytes) {
        return None;
    }
    let entries = bytes[HEADER_SIZE..].chunks_exact(ENTRY_SIZE).map(|entry| {
        let number = u64::from_le_bytes(std::array::from_fn(|i| entry[i]));
        let pages = u32::from_le_bytes(std::array::from_fn(|i| entry[8 + i]));
        let checksum = u128::from_le_bytes(std::array::from_fn(|i| entry[12 + i]));
        (number, Entry { number: PageNumber(number), pages, checksum })
    });
    Some(Intent { transaction: TransactionId(u64_at(24)), entries: entries.collect() })
}

/// The file of intents of one environment.
pub(crate) struct IntentFile {
    folder: Folder,
    /// Opened at the first flush.
    file: Mutex<Option<Arc<dyn File>>>,
}

impl IntentFile {
    pub fn new(folder: Folder) -> Self {
        IntentFile { folder, file: Mutex::new(None) }
    }

    /// Reads what the last flush was about to write. Nothing: there was none, or it did not come to writing.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn read(&self, environment_id: u128) -> Result<Intent> {
        let path = self.folder.file(NAME);
        let failed = |operation| {
            let path = path.clone();
            move |e| Error::io(operation, &path, 0, e)
        };
        let file = match self.folder.io.open(&path, OpenMode::Existing) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Intent::default()),
            Err(error) => return Err(failed("open")(error)),
        };
        let mut bytes = vec![0; file.len().map_err(failed("measure"))? as usize];
        file.read_at(&mut bytes, 0).map_err(failed("read"))?;
        *self.file.lock() = Some(file);
        Ok(decode(&bytes, environment_id).unwrap_or_default())
    }

    /// Makes an intent durable. Only then may a page be written.
    ///
    /// # Errors
    ///
    /// [`Error::DiskFull`] or [`Error::Io`]; nothing was written to the data file then.
    pub fn write(&self, environment_id: u128, transaction: TransactionId, entries: &[Entry]) -> Result<()> {
        let bytes = encode(environment_id, transaction, entries);
        let path = self.folder.file(NAME);
        let failed = |operation| {
            let path = path.clone();
            let needed = bytes.len() as u64;
            move |e| Error::io(operation, &path, needed, e)
        };
        let mut file = self.file.lock();
        let file = match &mut *file {
            Some(file) => file,
            none => {
                let created = self.folder.io.open(&path, OpenMode::Create).map_err(failed("create"))?;
                self.folder.io.sync_dir(&self.folder.path).map_err(failed("sync the folder of"))?;
                none.insert(created)
            }
        };
        if file.len().map_err(failed("measure"))? < bytes.len() as u64 {
            file.allocate(0, bytes.len().next_multiple_of(64 << 10) as u64).map_err(failed("make room for"))?;
        }
        file.write_at(&bytes, 0).map_err(failed("write"))?;
        file.sync().map_err(failed("sync"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intent_is_read_as_it_was_written() {
        let entries = [
            Entry { number: PageNumber(7), pages: 1, checksum: 5 },
            Entry { number: PageNumber(10), pages: 4, checksum: 1 << 90 },
        ];
        let mut bytes = encode(3, TransactionId(12), &entries);
        bytes.extend_from_slice(&[9; 100]);
        let intent = decode(&bytes, 3).unwrap();
        assert_eq!(intent.transaction, TransactionId(12));
        assert_eq!(intent.find(PageNumber(7)), Some(entries[0]));
        assert_eq!(intent.find(PageNumber(13)), Some(entries[1]));
        assert_eq!((intent.find(PageNumber(8)), intent.find(PageNumber(14))), (None, None));
        assert_eq!(decode(&bytes, 4), None);
        for bit in 0..bytes.len() * 8 - 800 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&damaged, 3), None, "bit {bit}");
        }
    }
}
