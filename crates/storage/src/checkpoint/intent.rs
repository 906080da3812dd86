//! The flush intent: pages and checksums that a flush (checkpoint) is about to write, so that recovery can tell torn pages from
//! damaged ones. Two files beside the data file, `flush` and `flush-2`, are written in turn; one is durable before the first page is
//! written.
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
//! * `hash`: XXH3-128 of the header before it and of the list. A list that does not fit belongs to a flush that wrote no page.
//! * In force is the whole one with the higher `transaction`; where both have the same, they describe the same state.
//!
//! # After a flush that was cut short
//!
//! Its torn pages stay in the data file until the next flush has written them, and until then its intent is all that tells them
//! from damaged ones. So the intent of the next flush
//!
//! * goes to the *other* place. A crash that cuts it short leaves the old one, and no page was written since;
//! * lists all that the old one does, with the checksum 0 where it writes nothing. A replay keeps no version of a page that a run
//!   has taken over, so such a page would not be in the list by itself. It is torn, and the next replay begins before it was freed;
//! * waits for the old one to be written once more, to its own place. What a killed process wrote, or one whose sync failed,
//!   may be in the page cache only. If it was durable the same bytes are written again, and no crash can tear that; if it
//!   was not, its flush wrote no page, and the intent before it, in the other place, still holds.

use crate::error::{Error, Result};
use crate::ids::{PageNumber, TransactionId};
use crate::io::{File, Folder, OpenMode};
use crate::planted::{Bug, is_planted};
use crate::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// The places, in the order in which a new environment uses them.
pub(crate) const NAMES: [&str; 2] = ["flush", "flush-2"];
const MAGIC: u64 = u64::from_le_bytes(*b"ROOKFLS1");
const HEADER_SIZE: usize = 56;
const ENTRY_SIZE: usize = 8 + 4 + 16;
/// Room is taken in steps of this many bytes.
const ROOM_STEP: usize = 64 << 10;

/// A page, or a run of pages, that a flush writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct IntentEntry {
    pub number: PageNumber,
    pub pages: u32,
    /// Of what will be written; 0: nothing is, and what the file has does not matter.
    pub checksum: u128,
}

impl IntentEntry {
    fn end(&self) -> u64 {
        self.number.0.saturating_add(u64::from(self.pages))
    }
}

/// The intent of the last flush.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Intent {
    /// The state that the flush brings into the data file.
    pub transaction: TransactionId,
    /// As they were written: those of a flush before come first, and a page may be in both.
    entries: Vec<IntentEntry>,
    checksums: BTreeMap<u64, u128>,
    /// Start and end of what the entries cover, rising and apart.
    covered: Vec<(u64, u64)>,
}

impl Intent {
    fn new(transaction: TransactionId, entries: Vec<IntentEntry>) -> Intent {
        let checksums = entries.iter().map(|entry| (entry.number.0, entry.checksum)).collect();
        let mut ranges: Vec<(u64, u64)> = entries.iter().map(|entry| (entry.number.0, entry.end())).collect();
        ranges.sort_unstable();
        let mut covered: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
        for (start, end) in ranges {
            match covered.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => covered.push((start, end)),
            }
        }
        Intent { transaction, entries, checksums, covered }
    }

    /// Whether the flush may have written to a page.
    pub fn covers(&self, number: PageNumber) -> bool {
        let behind = self.covered.partition_point(|(start, _)| *start <= number.0);
        behind.checked_sub(1).is_some_and(|last| number.0 < self.covered[last].1)
    }

    /// The checksum that a page, or the run that begins there, has in the state that the flush was writing. None: it does not
    /// matter.
    pub fn checksum(&self, number: PageNumber) -> Option<u128> {
        self.checksums.get(&number.0).copied().filter(|checksum| *checksum != 0)
    }
}

fn hash_of(bytes: &[u8]) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&bytes[..40]);
    hash.update(&bytes[HEADER_SIZE..]);
    hash.digest128()
}

fn encode(environment_id: u128, Intent { transaction, entries, .. }: &Intent) -> Vec<u8> {
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
        IntentEntry { number: PageNumber(number), pages, checksum }
    });
    Some(Intent::new(transaction_of(header), entries.collect()))
}

fn transaction_of(header: &[u8; HEADER_SIZE]) -> TransactionId {
    TransactionId(u64::from_le_bytes(std::array::from_fn(|i| header[24 + i])))
}

/// The intents of one environment.
pub(crate) struct Intents {
    folder: Folder,
    places: Mutex<Places>,
}

#[derive(Default)]
struct Places {
    /// Opened at the first flush.
    files: Option<[Arc<dyn File>; 2]>,
    /// The place whose intent is in force; the other one is written next.
    in_force: usize,
    /// The intent in force, if a crash interrupted its flush and no flush has completed since.
    cut_short: Option<Intent>,
    /// `cut_short` is known to be on the device.
    is_durable: bool,
}

impl Intents {
    pub fn new(folder: Folder) -> Self {
        // So that the first place is the first that is written.
        Intents { folder, places: Mutex::new(Places { in_force: 1, ..Places::default() }) }
    }

    /// Reads what the last flush was about to write. Nothing: there was none, or it did not come to writing, or it has ended. A list is
    /// as long as the flush was large, so one that is of no use is not read.
    ///
    /// * `flushed`: the transaction of the header in force.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn read(&self, environment_id: u128, flushed: TransactionId) -> Result<Intent> {
        let mut newest: Option<(usize, Intent)> = None;
        for (place, name) in NAMES.into_iter().enumerate() {
            let intent = self.read_place(name, flushed)?.and_then(|bytes| decode(&bytes, environment_id));
            if let Some(intent) = intent
                && newest.as_ref().is_none_or(|(_, newest)| newest.transaction <= intent.transaction)
            {
                newest = Some((place, intent));
            }
        }
        let Some((place, intent)) = newest else { return Ok(Intent::default()) };
        let mut places = self.places.lock();
        places.in_force = place;
        places.cut_short = Some(intent.clone());
        Ok(intent)
    }

    /// What a place has, if it says that it is of a flush behind `flushed`.
    fn read_place(&self, name: &str, flushed: TransactionId) -> Result<Option<Vec<u8>>> {
        let path = self.folder.file(name);
        let failed = |operation| {
            let path = path.clone();
            move |e| Error::io(operation, &path, 0, e)
        };
        let file = match self.folder.io.open(&path, OpenMode::Existing) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("open")(error)),
        };
        let length = file.len().map_err(failed("measure"))? as usize;
        let mut header = [0; HEADER_SIZE];
        if length < HEADER_SIZE {
            return Ok(None);
        }
        file.read_at(&mut header, 0).map_err(failed("read"))?;
        if transaction_of(&header) <= flushed {
            return Ok(None);
        }
        let mut bytes = vec![0; length];
        file.read_at(&mut bytes, 0).map_err(failed("read"))?;
        Ok(Some(bytes))
    }

    /// Makes an intent durable. Only then may a page be written.
    ///
    /// # Errors
    ///
    /// [`Error::DiskFull`] or [`Error::Io`]; nothing was written to the data file then, and the intent before is still there.
    pub fn write(&self, environment_id: u128, transaction: TransactionId, entries: &[IntentEntry]) -> Result<()> {
        let mut places = self.places.lock();
        let places = &mut *places;
        let files = match &mut places.files {
            Some(files) => files,
            none => none.insert(self.open()?),
        };
        let mut all = Vec::new();
        if let Some(cut_short) = &places.cut_short {
            if !places.is_durable {
                write_durably(&*files[places.in_force], &encode(environment_id, cut_short))?;
                places.is_durable = true;
            }
            let new: BTreeMap<u64, u32> = entries.iter().map(|entry| (entry.number.0, entry.pages)).collect();
            let torn = cut_short.entries.iter().filter(|entry| new.get(&entry.number.0) < Some(&entry.pages));
            all.extend(torn.map(|entry| IntentEntry { checksum: 0, ..*entry }));
        }
        all.extend_from_slice(entries);
        let other = if is_planted(Bug::IntentInPlace) { places.in_force } else { 1 - places.in_force };
        write_durably(&*files[other], &encode(environment_id, &Intent::new(transaction, all)))?;
        places.in_force = other;
        Ok(())
    }

    /// A flush has ended: its header is durable, and no page is torn.
    pub fn ended(&self) {
        self.places.lock().cut_short = None;
    }

    /// Opens both places, and makes them where they are not. Both have room then, so that a flush to the second one does not fail
    /// on a disk that is full by that time; and their names are durable. Those that a killed process made need not be.
    fn open(&self) -> Result<[Arc<dyn File>; 2]> {
        let open = |name: &str| {
            let path = self.folder.file(name);
            let file = match self.folder.io.open(&path, OpenMode::Existing) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    self.folder.io.open(&path, OpenMode::Create)
                }
                opened => opened,
            };
            let file = file.map_err(|e| Error::io("open or create", &path, 0, e))?;
            make_room(&*file, ROOM_STEP)?;
            Ok(file)
        };
        let files = [open(NAMES[0])?, open(NAMES[1])?];
        let folder = &self.folder.path;
        self.folder.io.sync_dir(folder).map_err(|e| Error::io("sync the folder", folder, 0, e))?;
        Ok(files)
    }
}

/// Makes a place at least as long as `length`, in bytes.
fn make_room(file: &dyn File, length: usize) -> Result<()> {
    let room = length.next_multiple_of(ROOM_STEP) as u64;
    let failed = |operation| move |e| Error::io(operation, file.path(), room, e);
    if file.len().map_err(failed("measure"))? < length as u64 {
        file.allocate(0, room).map_err(failed("make room for"))?;
    }
    Ok(())
}

/// Writes a place in full.
fn write_durably(file: &dyn File, bytes: &[u8]) -> Result<()> {
    let failed = |operation| move |e| Error::io(operation, file.path(), bytes.len() as u64, e);
    make_room(file, bytes.len())?;
    file.write_at(bytes, 0).map_err(failed("write"))?;
    file.sync().map_err(failed("sync"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intent_is_read_as_it_was_written() {
        let entries = [
            IntentEntry { number: PageNumber(7), pages: 1, checksum: 5 },
            IntentEntry { number: PageNumber(10), pages: 4, checksum: 1 << 90 },
        ];
        let mut bytes = encode(3, &Intent::new(TransactionId(12), entries.to_vec()));
        bytes.extend_from_slice(&[9; 100]);
        let intent = decode(&bytes, 3).unwrap();
        assert_eq!(intent.transaction, TransactionId(12));
        assert_eq!(intent.checksum(PageNumber(7)), Some(5));
        assert_eq!(intent.checksum(PageNumber(10)), Some(1 << 90));
        let covered: Vec<u64> = (0..20).filter(|number| intent.covers(PageNumber(*number))).collect();
        assert_eq!(covered, [7, 10, 11, 12, 13]);
        assert_eq!(decode(&bytes, 4), None);
        for bit in 0..bytes.len() * 8 - 800 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&damaged, 3), None, "bit {bit}");
        }
    }

    #[test]
    fn a_page_inside_of_a_run_hides_none_behind_it() {
        let entry = |number, pages, checksum| IntentEntry { number: PageNumber(number), pages, checksum };
        let intent =
            Intent::new(TransactionId(1), vec![entry(4, 5, 0), entry(4, 1, 7), entry(6, 1, 8), entry(9, 1, 0)]);
        assert!((4..10).all(|number| intent.covers(PageNumber(number))));
        assert!(!intent.covers(PageNumber(3)) && !intent.covers(PageNumber(10)));
        let checksums = [4, 5, 6, 9].map(|number| intent.checksum(PageNumber(number)));
        assert_eq!(checksums, [Some(7), None, Some(8), None]);
    }
}
