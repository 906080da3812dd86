//! The files that records go to: prewritten with zeros, filled one after the other, and used again.
//!
//! A write into a file whose blocks are written and whose length stays costs one trip to the device (67 us here); one
//! that grows a file costs two (142 us). So each file is filled with zeros before it is used, and after a checkpoint it
//! is renamed and used again, old records and all: their transactions are older than any that is looked for.

use super::holds::{HoldFrom, Holds};
use super::newest::{self, Newest};
use super::record::{ALIGNMENT, PACKED_ALIGNMENT};
use crate::error::{Error, Result};
use crate::inspection::statistics::Journal;
use crate::io::{File, Folder, OpenMode};
use crate::limits::{JOURNAL_FILE_SIZE_MAX, JOURNAL_FILE_SIZE_MIN};
use std::collections::VecDeque;
use std::sync::Arc;

/// Finished files that are kept to be used again; more are removed. As many as a checkpoint under load frees, for making one anew
/// (8 MiB of zeros and a sync) keeps all commits waiting. At rest none is kept.
const RECYCLED_MAX: usize = 16;

/// One journal file.
pub(crate) struct JournalFile {
    pub number: u64,
    pub file: Arc<dyn File>,
    pub size: u64,
}

/// Records that follow each other in a file, to be written at once.
pub(crate) struct RecordWrite {
    pub file: Arc<JournalFile>,
    pub position: u64,
    pub bytes: Vec<u8>,
}

/// Records of lazy commits that were not written yet: one write for many.
#[derive(Default)]
pub(crate) struct Unwritten(Option<RecordWrite>);

impl Unwritten {
    /// Bytes that are written at once.
    const WRITE_BYTES: usize = 64 << 10;

    /// Adds a record; gives what is to be written now.
    pub fn add(&mut self, record: RecordWrite) -> Option<RecordWrite> {
        let Some(gathered) = &mut self.0 else {
            self.0 = Some(record);
            return self.take_if_large();
        };
        if !Arc::ptr_eq(&gathered.file, &record.file) {
            return self.0.replace(record);
        }
        assert_eq!(gathered.position + gathered.bytes.len() as u64, record.position, "records follow each other");
        gathered.bytes.extend_from_slice(&record.bytes);
        self.take_if_large()
    }

    fn take_if_large(&mut self) -> Option<RecordWrite> {
        self.0.take_if(|gathered| gathered.bytes.len() >= Self::WRITE_BYTES)
    }

    /// What is left.
    pub fn take(&mut self) -> Option<RecordWrite> {
        self.0.take()
    }
}

impl RecordWrite {
    /// What an error of the write means.
    pub fn failed(&self) -> impl FnOnce(std::io::Error) -> Error + Send + use<> {
        let (file, length) = (self.file.clone(), self.bytes.len() as u64);
        move |e| Error::io("write", file.file.path(), length, e)
    }

    /// # Errors
    ///
    /// Those of the device.
    pub fn run(&self) -> Result<()> {
        self.file.file.write_at(&self.bytes, self.position).map_err(self.failed())
    }
}

/// The journal files of one environment. Behind the writer's lock.
pub(crate) struct JournalFiles {
    folder: Folder,
    environment_id: u128,
    /// Whether each record is durable when its write returns.
    durable: bool,
    current: Option<Arc<JournalFile>>,
    /// Where the next record goes in `current`.
    position: u64,
    next_number: u64,
    next_size: u64,
    /// Whether the file that names the newest journal is as this process wrote it, durably.
    newest_is_durable: bool,
    /// Written before `current`, and still needed until a checkpoint passes them, or held.
    older: VecDeque<Arc<JournalFile>>,
    /// No recovery needs a file before this number.
    needed_from: u64,
    holds: Holds,
    /// Numbers and sizes of finished files.
    recycled: Vec<(u64, u64)>,
}

/// The name of the journal file with a number.
pub(crate) fn name(number: u64) -> String {
    format!("journal-{number:016x}")
}

/// The number in a journal file's name.
pub(crate) fn number_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("journal-")?;
    // Another program's file, if it is a number to which nothing can be added.
    (digits.len() == 16).then(|| u64::from_str_radix(digits, 16).ok())?.filter(|number| *number < 1 << 63)
}

impl JournalFiles {
    /// * `existing`: the files of the folder, by rising number; they stay until a checkpoint passes them.
    /// * `first_number`: where the header says that the journal goes on; new files have this number or a higher one.
    pub fn new(
        folder: Folder,
        environment_id: u128,
        durable: bool,
        existing: Vec<Arc<JournalFile>>,
        first_number: u64,
    ) -> Self {
        let next_number = existing.last().map_or(first_number, |file| first_number.max(file.number + 1));
        JournalFiles {
            folder,
            environment_id,
            durable,
            current: None,
            position: 0,
            next_number,
            next_size: JOURNAL_FILE_SIZE_MIN,
            newest_is_durable: false,
            older: existing.into(),
            needed_from: 0,
            holds: Holds::default(),
            recycled: Vec::new(),
        }
    }

    /// Bytes that are left in the current file.
    pub fn left(&self) -> u64 {
        self.current.as_ref().map_or(0, |current| current.size - self.position)
    }

    /// Finds the place for a record of `length` bytes (padded), in a new file if the current one is full.
    ///
    /// # Errors
    ///
    /// [`Error::DiskFull`] or [`Error::Io`] if a new file cannot be made; nothing was promised then.
    pub fn reserve(&mut self, length: u64) -> Result<(Arc<JournalFile>, u64)> {
        let alignment = if self.durable { ALIGNMENT } else { PACKED_ALIGNMENT };
        assert!(length.is_multiple_of(alignment as u64), "records are padded");
        if let Some(current) = &self.current
            && self.position + length <= current.size
        {
            let position = self.position;
            self.position += length;
            return Ok((current.clone(), position));
        }
        let fresh = Arc::new(self.create(length)?);
        let is_durable = std::mem::replace(&mut self.newest_is_durable, false);
        let newest = Newest { number: fresh.number, size: fresh.size };
        newest::note(&self.folder, self.environment_id, newest, is_durable)?;
        self.newest_is_durable = true;
        self.next_number += 1;
        self.next_size = (fresh.size * 2).clamp(JOURNAL_FILE_SIZE_MIN, JOURNAL_FILE_SIZE_MAX);
        if let Some(full) = self.current.replace(fresh.clone()) {
            self.older.push_back(full);
        }
        self.position = length;
        Ok((fresh, 0))
    }

    fn create(&mut self, length: u64) -> Result<JournalFile> {
        let path = self.folder.file(&name(self.next_number));
        let mode = if self.durable { OpenMode::Journal } else { OpenMode::Existing };
        let open = || self.folder.io.open(&path, mode).map_err(|e| Error::io("open", &path, 0, e));
        if let Some(at) = self.recycled.iter().position(|(_, size)| *size >= length.max(self.next_size / 2)) {
            let (number, size) = self.recycled[at];
            let old = self.folder.file(&name(number));
            self.folder.io.rename(&old, &path).map_err(|e| Error::io("rename", &old, 0, e))?;
            self.recycled.swap_remove(at);
            self.sync_dir()?;
            return Ok(JournalFile { number: self.next_number, file: open()?, size });
        }
        let size = self.next_size.max(length);
        let prewritten = self.prewrite(&path, size);
        if let Err(error) = prewritten {
            self.folder.io.remove(&path).ok();
            return Err(error);
        }
        self.sync_dir()?;
        Ok(JournalFile { number: self.next_number, file: open()?, size })
    }

    fn prewrite(&self, path: &std::path::Path, size: u64) -> Result<()> {
        const PIECE: u64 = 1 << 20;
        let file = self.folder.io.open(path, OpenMode::Create).map_err(|e| Error::io("create", path, size, e))?;
        file.allocate(0, size).map_err(|e| Error::io("make room for", path, size, e))?;
        let zeros = vec![0; PIECE.min(size) as usize];
        for position in (0..size).step_by(PIECE as usize) {
            let length = PIECE.min(size - position) as usize;
            file.write_at(&zeros[..length], position).map_err(|e| Error::io("write", path, size, e))?;
        }
        file.sync().map_err(|e| Error::io("sync", path, size, e))
    }

    fn sync_dir(&self) -> Result<()> {
        self.folder.io.sync_dir(&self.folder.path).map_err(|e| Error::io("sync the folder", &self.folder.path, 0, e))
    }

    /// No recovery needs the files before `number` any more: a durable header says so. Those without a hold are removed, or kept to be used
    /// again.
    pub fn retire_before(&mut self, number: u64) {
        self.needed_from = number;
        self.retire();
    }

    fn retire(&mut self) {
        let passed = self.older.iter().map(|file| (file.number, file.size));
        let kept_from = self.holds.kept_from(self.needed_from, passed.filter(|(number, _)| *number < self.needed_from));
        while let Some(file) = self.older.pop_front_if(|file| file.number < kept_from) {
            if self.recycled.len() < RECYCLED_MAX && file.size >= self.next_size / 2 {
                self.recycled.push((file.number, file.size));
            } else {
                // What cannot be removed now is stale, and is tried again at the next opening.
                self.folder.io.remove(&self.folder.file(&name(file.number))).ok();
            }
        }
    }

    /// Keeps the files from number `from` on, until the hold is released.
    ///
    /// * `bytes_max`: of files that no recovery needs.
    pub fn hold(&mut self, from: u64, bytes_max: u64) -> HoldFrom {
        self.holds.add(from, bytes_max)
    }

    /// The reader of a hold has raised it.
    pub fn hold_was_raised(&mut self) {
        self.retire();
    }

    pub fn release(&mut self, hold: &HoldFrom) {
        self.holds.release(hold);
        self.retire();
    }

    /// Keeps all files that are there, and those to come, for an archive. `None` ends it.
    ///
    /// * `bytes_max`: of files that no recovery needs.
    pub fn set_archive(&mut self, bytes_max: Option<u64>) {
        self.holds.set_archive(0, bytes_max);
        self.retire();
    }

    /// The first file that is kept for the archive, if the environment has one.
    pub fn archive(&self) -> Option<&HoldFrom> {
        self.holds.archive()
    }

    /// Removes the files that are only kept to be used again.
    pub fn trim(&mut self) {
        for (number, _) in self.recycled.drain(..) {
            self.folder.io.remove(&self.folder.file(&name(number))).ok();
        }
    }

    /// The number of the file after the current one.
    pub fn next_number(&self) -> u64 {
        self.next_number
    }

    /// Bytes of all files, as the statistics report them.
    pub fn size_bytes(&self) -> u64 {
        let in_use: u64 = self.older.iter().chain(&self.current).map(|file| file.size).sum();
        in_use + self.recycled.iter().map(|(_, size)| size).sum::<u64>()
    }

    /// All files, those kept for use again included, in no order.
    pub fn all(&self) -> Vec<Journal> {
        let in_use = self.older.iter().chain(&self.current);
        let in_use = in_use.map(|file| Journal { number: file.number, size: file.size, is_spare: false });
        let spare = self.recycled.iter().map(|&(number, size)| Journal { number, size, is_spare: true });
        in_use.chain(spare).collect()
    }

    /// The files that hold records.
    pub fn files(&self) -> Vec<Arc<JournalFile>> {
        self.older.iter().chain(&self.current).cloned().collect()
    }

    /// Nothing will have to be replayed: a durable header says so. Files that are held for an archive stay in the folder.
    pub fn remove_all(&mut self) {
        let current = self.current.take();
        self.older.extend(current);
        self.retire_before(self.next_number);
        self.trim();
    }
}
