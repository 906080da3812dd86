//! The simulated disk with a hook before each write: it can wait, fail, or do something else meanwhile.

use std::io::Result;
use std::path::Path;
use std::sync::Arc;
use storage::io::simulated::SimulatedIo;
use storage::io::{File, Io, Mapping, OpenMode};

/// Is told the file that is about to be written to. An error fails the write.
pub type Hook = Arc<dyn Fn(&Path) -> Result<()> + Send + Sync>;

/// A simulated disk with a hook.
#[derive(Clone)]
pub struct HookedIo {
    pub disk: SimulatedIo,
    pub before_write: Hook,
}

struct HookedFile {
    file: Arc<dyn File>,
    before_write: Hook,
}

impl Io for HookedIo {
    fn create_dir(&self, path: &Path) -> Result<()> {
        self.disk.create_dir(path)
    }
    fn list(&self, path: &Path) -> Result<Vec<String>> {
        self.disk.list(path)
    }
    fn open(&self, path: &Path, mode: OpenMode) -> Result<Arc<dyn File>> {
        let file = self.disk.open(path, mode)?;
        Ok(Arc::new(HookedFile { file, before_write: self.before_write.clone() }))
    }
    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> Result<()> {
        self.disk.remove(path)
    }
    fn sync_dir(&self, path: &Path) -> Result<()> {
        self.disk.sync_dir(path)
    }
    fn lock(&self, path: &Path) -> Result<Option<Box<dyn Send + Sync>>> {
        self.disk.lock(path)
    }
}

impl File for HookedFile {
    fn path(&self) -> &Path {
        self.file.path()
    }
    fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<()> {
        self.file.read_at(buffer, position)
    }
    fn write_at(&self, buffer: &[u8], position: u64) -> Result<()> {
        (self.before_write)(self.file.path())?;
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
}
