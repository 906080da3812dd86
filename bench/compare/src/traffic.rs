//! A file system that counts the bytes which the engine writes, by what the file was opened for; all else is the real one.
//!
//! Unlike the counter of the device it is undisturbed by other processes; it does not see what the file system adds.
use std::io::Result;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use storage::io::real::RealIo;
use storage::io::{File, Io, Mapping, OpenMode};

/// Bytes written so far.
#[derive(Default)]
pub struct Traffic {
    /// Records of commits.
    pub journal: AtomicU64,
    /// All else: pages, headers, and journal files that are written beforehand.
    pub other: AtomicU64,
}

pub struct CountingIo(pub Arc<Traffic>);

struct CountingFile {
    file: Arc<dyn File>,
    traffic: Arc<Traffic>,
    is_journal: bool,
}

impl Io for CountingIo {
    fn create_dir(&self, path: &Path) -> Result<()> {
        RealIo.create_dir(path)
    }
    fn list(&self, path: &Path) -> Result<Vec<String>> {
        RealIo.list(path)
    }
    fn open(&self, path: &Path, mode: OpenMode) -> Result<Arc<dyn File>> {
        let file = RealIo.open(path, mode)?;
        Ok(Arc::new(CountingFile { file, traffic: self.0.clone(), is_journal: mode == OpenMode::Journal }))
    }
    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        RealIo.rename(from, to)
    }
    fn remove(&self, path: &Path) -> Result<()> {
        RealIo.remove(path)
    }
    fn sync_dir(&self, path: &Path) -> Result<()> {
        RealIo.sync_dir(path)
    }
    fn lock(&self, path: &Path) -> Result<Option<Box<dyn Send + Sync>>> {
        RealIo.lock(path)
    }
}

impl File for CountingFile {
    fn path(&self) -> &Path {
        self.file.path()
    }
    fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<()> {
        self.file.read_at(buffer, position)
    }
    fn write_at(&self, buffer: &[u8], position: u64) -> Result<()> {
        let counter = if self.is_journal { &self.traffic.journal } else { &self.traffic.other };
        counter.fetch_add(buffer.len() as u64, Relaxed);
        self.file.write_at(buffer, position)
    }
    fn sync(&self) -> Result<()> {
        self.file.sync()
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
