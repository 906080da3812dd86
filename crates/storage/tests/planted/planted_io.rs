//! A disk that does not do what the engine asked for: how a bug in the engine's use of files would look from below.

use std::io::Result;
use std::path::Path;
use std::sync::{Arc, Mutex};
use storage::io::simulated::SimulatedIo;
use storage::io::{File, Io, Mapping, OpenMode};

/// Where the pages of the data file begin, behind both headers: bytes.
const PAGES_START: u64 = 2 * 8192;

/// What is asked of the disk wrongly, or not at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskBug {
    /// None: everything is passed on.
    None,
    /// Journal writes are not durable when they return, so neither is what is answered.
    AnswerBeforeSync,
    /// Names are never made durable.
    NoDirectorySync,
    /// As above, but only once there is an environment: the names of its journals.
    NoDirectorySyncForJournals,
    /// A flush writes and syncs the header, and then the pages that it speaks of.
    HeaderBeforeData,
    /// The header moves the checkpoint on although the pages before it were not synced.
    CheckpointBeforeSync,
    /// A failed sync of the data file is repeated, and the success of the second taken for the truth.
    SyncRetried,
}

/// A simulated disk, used wrongly.
#[derive(Clone)]
pub struct PlantedIo {
    pub disk: SimulatedIo,
    pub bug: DiskBug,
}

impl Io for PlantedIo {
    fn create_dir(&self, path: &Path) -> Result<()> {
        self.disk.create_dir(path)
    }

    fn list(&self, path: &Path) -> Result<Vec<String>> {
        self.disk.list(path)
    }

    fn open(&self, path: &Path, mode: OpenMode) -> Result<Arc<dyn File>> {
        let mode = match (self.bug, mode) {
            (DiskBug::AnswerBeforeSync, OpenMode::Journal) => OpenMode::Existing,
            (_, mode) => mode,
        };
        // While it is made the data file has another name; what a flush writes goes to this one.
        let is_data = path.file_name().is_some_and(|name| name == "data");
        let file = self.disk.open(path, mode)?;
        Ok(Arc::new(PlantedFile { file, bug: self.bug, is_data, state: Mutex::default() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        self.disk.remove(path)
    }

    fn sync_dir(&self, path: &Path) -> Result<()> {
        let made = || self.disk.contents(path).keys().any(|name| name.starts_with("journal-"));
        match self.bug {
            DiskBug::NoDirectorySync => Ok(()),
            DiskBug::NoDirectorySyncForJournals if made() => Ok(()),
            _ => self.disk.sync_dir(path),
        }
    }

    fn lock(&self, path: &Path) -> Result<Option<Box<dyn Send + Sync>>> {
        self.disk.lock(path)
    }
}

struct PlantedFile {
    file: Arc<dyn File>,
    bug: DiskBug,
    is_data: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Pages that wait for the header, with their positions.
    held: Vec<(u64, Vec<u8>)>,
    /// The header was written, and not synced yet.
    header_written: bool,
}

impl File for PlantedFile {
    fn path(&self) -> &Path {
        self.file.path()
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<()> {
        self.file.read_at(buffer, position)
    }

    fn write_at(&self, buffer: &[u8], position: u64) -> Result<()> {
        let mut state = self.state.lock().unwrap();
        if self.is_data && position < PAGES_START {
            state.header_written = true;
        } else if self.is_data && self.bug == DiskBug::HeaderBeforeData {
            state.held.push((position, buffer.to_vec()));
            return Ok(());
        }
        self.file.write_at(buffer, position)
    }

    fn sync(&self) -> Result<()> {
        let mut state = self.state.lock().unwrap();
        let is_for_header = std::mem::take(&mut state.header_written);
        match self.bug {
            DiskBug::HeaderBeforeData | DiskBug::CheckpointBeforeSync if self.is_data && !is_for_header => Ok(()),
            DiskBug::HeaderBeforeData => {
                self.file.sync()?;
                for (position, bytes) in std::mem::take(&mut state.held) {
                    self.file.write_at(&bytes, position)?;
                }
                self.file.sync()
            }
            DiskBug::SyncRetried if self.is_data => self.file.sync().or_else(|_| self.file.sync()),
            _ => self.file.sync(),
        }
    }

    fn len(&self) -> Result<u64> {
        self.file.len()
    }

    fn allocate(&self, position: u64, length: u64) -> Result<()> {
        self.file.allocate(position, length)
    }

    fn set_len(&self, length: u64) -> Result<()> {
        self.file.set_len(length)
    }

    fn punch_hole(&self, position: u64, length: u64) -> Result<bool> {
        self.file.punch_hole(position, length)
    }

    fn map(&self, position: u64, length: usize) -> Result<Mapping> {
        self.file.map(position, length)
    }
    fn bring(&self, mapped: &[u8], position: u64) -> Result<()> {
        self.file.bring(mapped, position)
    }
}
