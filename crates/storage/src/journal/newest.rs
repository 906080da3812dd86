//! Which journal file was begun last: the file `journals`, so that one that is gone or cut is missed.
//!
//! ```text
//!  0       8                24       32     40     56        4096
//!  +-------+----------------+--------+------+------+---------+-----------------+
//!  | magic | environment id | number | size | hash | zeros   | the same, again |
//!  +-------+----------------+--------+------+------+---------+-----------------+
//! ```
//!
//! * `number`, `size`: of the journal file; number 0: none was begun yet. `hash`: XXH3-128 of the bytes before it.
//! * Written, durably, when a file is there and before its first record is, to the place that is not in force: which is that
//!   with the higher number.
//!
//! The hash chain of the records finds whatever is missing before a record. Nothing follows the last ones: without this file
//! they could vanish with the file that holds them, and the replay would end early and be content.

use crate::error::{Error, Result};
use crate::io::{Folder, OpenMode};
use xxhash_rust::xxh3::xxh3_128;

/// Its name.
pub(crate) const NAME: &str = "journals";
const MAGIC: u64 = u64::from_le_bytes(*b"ROOKNEW1");
const SIZE: usize = 56;
const PLACE: usize = 4096;

/// A journal file that was begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Newest {
    pub number: u64,
    pub size: u64,
}

fn encode(environment_id: u128, newest: Newest) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    bytes[0..8].copy_from_slice(&MAGIC.to_le_bytes());
    bytes[8..24].copy_from_slice(&environment_id.to_le_bytes());
    bytes[24..32].copy_from_slice(&newest.number.to_le_bytes());
    bytes[32..40].copy_from_slice(&newest.size.to_le_bytes());
    let hash = xxh3_128(&bytes[..40]);
    bytes[40..].copy_from_slice(&hash.to_le_bytes());
    bytes
}

/// A place: whose it is, and what it says.
fn decode(bytes: &[u8]) -> Option<(u128, Newest)> {
    let bytes: &[u8; SIZE] = bytes.first_chunk()?;
    let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
    let environment_id = u128::from_le_bytes(std::array::from_fn(|i| bytes[8 + i]));
    let newest = Newest { number: u64_at(24), size: u64_at(32) };
    (*bytes == encode(environment_id, newest)).then_some((environment_id, newest))
}

/// Makes the file for a new environment. Its name is durable when the folder is synced.
///
/// # Errors
///
/// Those of the operating system.
pub(crate) fn create(folder: &Folder, environment_id: u128) -> Result<()> {
    let path = folder.file(NAME);
    let failed = |e| Error::io("create", &path, 2 * PLACE as u64, e);
    let mut bytes = vec![0; 2 * PLACE];
    bytes[..SIZE].copy_from_slice(&encode(environment_id, Newest { number: 0, size: 0 }));
    let file = folder.io.open(&path, OpenMode::Create).map_err(failed)?;
    file.allocate(0, bytes.len() as u64).map_err(failed)?;
    file.write_at(&bytes, 0).map_err(failed)?;
    file.sync().map_err(failed)
}

/// Notes a journal file that is there; durable on return.
///
/// * `is_durable`: this process wrote what is in force. Else a process may have left it in the page cache only, killed before its write
///   was durable: it is written once more to its own place, before the one that a crash could fall back to is written over.
///
/// # Errors
///
/// Those of the operating system.
pub(crate) fn note(folder: &Folder, environment_id: u128, newest: Newest, is_durable: bool) -> Result<()> {
    let path = folder.file(NAME);
    let failed = |e| Error::io("write", &path, 0, e);
    let file = folder.io.open(&path, OpenMode::Synced).map_err(failed)?;
    let mut bytes = vec![0; PLACE + SIZE];
    file.read_at(&mut bytes, 0).map_err(failed)?;
    let number_at = |place: usize| match decode(&bytes[place..]) {
        Some((id, there)) if id == environment_id => Some(there.number),
        _ => None,
    };
    let (in_force, other) = if number_at(0) > number_at(PLACE) { (0, PLACE) } else { (PLACE, 0) };
    if !is_durable && number_at(in_force).is_some() {
        file.write_at(&bytes[in_force..in_force + SIZE], in_force as u64).map_err(failed)?;
    }
    file.write_at(&encode(environment_id, newest), other as u64).map_err(failed)
}

/// Reads which journal file was begun last. None, if the file is of an environment that this one was put in the place of
/// (`Environment::replace_by`): then this one was closed cleanly, and wrote nothing since.
///
/// # Errors
///
/// [`Error::CorruptFile`] if that cannot be told; those of the operating system.
pub(crate) fn read(folder: &Folder, environment_id: u128) -> Result<Newest> {
    let path = folder.file(NAME);
    let corrupt = |rule: &str| Error::CorruptFile { path: path.clone(), rule: rule.into() };
    let failed = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => corrupt("it is gone"),
        std::io::ErrorKind::UnexpectedEof => corrupt("it is cut"),
        _ => Error::io("read", &path, 0, e),
    };
    let file = folder.io.open(&path, OpenMode::Existing).map_err(failed)?;
    let mut bytes = vec![0; PLACE + SIZE];
    file.read_at(&mut bytes, 0).map_err(failed)?;
    let places = || [&bytes[..], &bytes[PLACE..]].into_iter().filter_map(decode);
    let ours = places().filter(|(id, _)| *id == environment_id).map(|(_, newest)| newest);
    match ours.max_by_key(|newest| newest.number) {
        Some(newest) => Ok(newest),
        None if places().next().is_some() => Ok(Newest { number: 0, size: 0 }),
        None => Err(corrupt("neither place of it is whole")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::simulated::{Fate, Fault, SimulatedIo};
    use std::path::PathBuf;
    use std::sync::Arc;

    fn folder_on(disk: &SimulatedIo) -> Folder {
        Folder { io: Arc::new(disk.clone()), path: PathBuf::from("/journals") }
    }

    fn noted(number: u64) -> Newest {
        Newest { number, size: 8 }
    }

    /// A process is killed in one write of the file, and the next meets a crash of the machine in another.
    #[test]
    fn a_killed_process_and_a_crash_after_it_leave_one_place_whole() {
        let disk = SimulatedIo::new();
        let folder = folder_on(&disk);
        folder.io.create_dir(&folder.path).unwrap();
        create(&folder, 7).unwrap();
        folder.io.sync_dir(&folder.path).unwrap();
        note(&folder, 7, noted(1), false).unwrap();
        note(&folder, 7, noted(2), true).unwrap();
        let fault = |at| Fault { at, for_ever: false, kind: std::io::ErrorKind::Other };
        // Killed in its write: that is in the page cache, and nowhere else.
        let cached = folder.io.open(&folder.file(NAME), OpenMode::Existing).unwrap();
        cached.write_at(&encode(7, noted(3)), PLACE as u64).unwrap();
        let after_kill = disk.kill();
        assert_eq!(read(&folder_on(&after_kill), 7).unwrap(), noted(3));
        assert_eq!(read(&folder_on(&after_kill.crash(|| Fate::Lost)), 7).unwrap(), noted(2));
        for (at, place) in [(0, PLACE), (1, 0)] {
            let again = after_kill.kill();
            again.fail_at(Some(fault(at)));
            assert!(note(&folder_on(&again), 7, noted(4), false).is_err());
            let number_of = |image: &SimulatedIo| read(&folder_on(image), 7).unwrap().number;
            assert!((2..=3).contains(&number_of(&again.crash(|| Fate::Lost))));
            assert!((2..=4).contains(&number_of(&again.crash(|| Fate::Persisted))));
            // The one write that the crash met, torn inside of a sector.
            let torn = again.crash(|| Fate::Lost);
            torn.damage(&folder.file(NAME), |bytes| bytes[place + 20..place + 40].fill(0xEE));
            assert!((2..=3).contains(&number_of(&torn)));
        }
        note(&folder_on(&after_kill), 7, noted(4), false).unwrap();
        assert_eq!(read(&folder_on(&after_kill.crash(|| Fate::Lost)), 7).unwrap(), noted(4));
    }
}
