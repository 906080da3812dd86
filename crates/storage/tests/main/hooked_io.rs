//! The simulated disk with a hook before some of its calls: it can wait, fail, or do something else meanwhile.

use std::io::Result;
use std::path::Path;
use std::sync::Arc;
use storage::io::aio::AsyncWrites;
use storage::io::simulated::SimulatedIo;
use storage::io::{File, Io, Mapping, OpenMode, WriteDone};

/// What is about to be called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    Open,
    Write,
    BeginWrite,
    PunchHole,
    /// Of a page of a map, when it is touched for the first time.
    Read,
    /// Of a part of a file into a buffer.
    ReadAt,
}

/// Is told the call and its file. An error fails the call.
pub type Hook = Arc<dyn Fn(Call, &Path) -> Result<()> + Send + Sync>;

/// A simulated disk with a hook.
#[derive(Clone)]
pub struct HookedIo {
    pub disk: SimulatedIo,
    pub hook: Hook,
}

struct HookedFile {
    file: Arc<dyn File>,
    hook: Hook,
}

impl HookedIo {
    /// A disk of whose calls those of one kind have a hook.
    pub fn before(
        hooked: Call,
        disk: &SimulatedIo,
        hook: impl Fn(&Path) -> Result<()> + Send + Sync + 'static,
    ) -> Arc<HookedIo> {
        let hook: Hook = Arc::new(move |call, path| if call == hooked { hook(path) } else { Ok(()) });
        Arc::new(HookedIo { disk: disk.clone(), hook })
    }
}

impl Io for HookedIo {
    fn create_dir(&self, path: &Path) -> Result<()> {
        self.disk.create_dir(path)
    }
    fn list(&self, path: &Path) -> Result<Vec<String>> {
        self.disk.list(path)
    }
    fn open(&self, path: &Path, mode: OpenMode) -> Result<Arc<dyn File>> {
        (self.hook)(Call::Open, path)?;
        Ok(Arc::new(HookedFile { file: self.disk.open(path, mode)?, hook: self.hook.clone() }))
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
        (self.hook)(Call::ReadAt, self.file.path())?;
        self.file.read_at(buffer, position)
    }
    fn write_at(&self, buffer: &[u8], position: u64) -> Result<()> {
        (self.hook)(Call::Write, self.file.path())?;
        self.file.write_at(buffer, position)
    }
    fn begin_write(
        &self,
        buffer: &[u8],
        position: u64,
        writes: &AsyncWrites,
        done: WriteDone,
    ) -> std::result::Result<(), WriteDone> {
        match (self.hook)(Call::BeginWrite, self.file.path()) {
            Ok(()) => self.file.begin_write(buffer, position, writes, done),
            Err(_) => Err(done),
        }
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
        (self.hook)(Call::PunchHole, self.file.path())?;
        self.file.punch_hole(position, length)
    }
    fn map(&self, position: u64, length: usize) -> Result<Mapping> {
        self.file.map(position, length)
    }
    fn bring(&self, mapped: &[u8], position: u64) -> Result<()> {
        (self.hook)(Call::Read, self.file.path())?;
        self.file.bring(mapped, position)
    }
}
