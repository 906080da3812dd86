//! Files in memory with one bit flipped: an image is made once, and each case costs one byte written and one put back.
//!
//! Opening copies nothing: what the engine maps is the file itself (`memfd`). What a case changes otherwise is undone
//! by making the files anew.

use parking_lot::Mutex;
use rustix::fs::MemfdFlags;
use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use storage::io::{File, Io, Mapping, OpenMode};

/// A folder of files in memory. Clones are the same folder.
#[derive(Clone)]
pub struct FlippedIo {
    original: Arc<BTreeMap<String, Vec<u8>>>,
    now: Arc<Now>,
}

struct Now {
    files: Mutex<BTreeMap<String, Arc<std::fs::File>>>,
    /// The files or their names are not as they were.
    changed: AtomicBool,
}

struct MemoryFile {
    path: PathBuf,
    file: Arc<std::fs::File>,
    now: Arc<Now>,
}

fn in_memory(bytes: &[u8]) -> Arc<std::fs::File> {
    let file = std::fs::File::from(rustix::fs::memfd_create("flipped", MemfdFlags::CLOEXEC).unwrap());
    file.write_all_at(bytes, 0).unwrap();
    Arc::new(file)
}

fn name_of(path: &Path) -> String {
    path.file_name().expect("files have names").to_string_lossy().into_owned()
}

impl FlippedIo {
    /// The files of a folder.
    pub fn new(original: BTreeMap<String, Vec<u8>>) -> Self {
        let now = Now { files: Mutex::default(), changed: AtomicBool::new(true) };
        let io = FlippedIo { original: Arc::new(original), now: Arc::new(now) };
        io.restore();
        io
    }

    fn restore(&self) {
        if self.now.changed.swap(false, Ordering::Relaxed) {
            let files = self.original.iter().map(|(name, bytes)| (name.clone(), in_memory(bytes)));
            *self.now.files.lock() = files.collect();
        }
    }

    /// Runs a case with one bit of a file flipped; the files are as before afterwards.
    pub fn with_flipped<T>(&self, name: &str, bit: usize, case: impl FnOnce() -> T) -> T {
        let file = self.now.files.lock()[name].clone();
        let byte = self.original[name][bit / 8];
        file.write_all_at(&[byte ^ 1 << (bit % 8)], bit as u64 / 8).unwrap();
        let result = case();
        file.write_all_at(&[byte], bit as u64 / 8).unwrap();
        self.restore();
        result
    }
}

impl Io for FlippedIo {
    fn create_dir(&self, _: &Path) -> Result<()> {
        Ok(())
    }

    fn list(&self, _: &Path) -> Result<Vec<String>> {
        Ok(self.now.files.lock().keys().cloned().collect())
    }

    fn open(&self, path: &Path, mode: OpenMode) -> Result<Arc<dyn File>> {
        let mut files = self.now.files.lock();
        if mode == OpenMode::Create {
            self.now.changed.store(true, Ordering::Relaxed);
            files.insert(name_of(path), in_memory(&[]));
        }
        let file = files.get(&name_of(path)).ok_or_else(|| Error::from(ErrorKind::NotFound))?.clone();
        Ok(Arc::new(MemoryFile { path: path.to_path_buf(), file, now: self.now.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let mut files = self.now.files.lock();
        let file = files.remove(&name_of(from)).ok_or_else(|| Error::from(ErrorKind::NotFound))?;
        files.insert(name_of(to), file);
        self.now.changed.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn remove(&self, path: &Path) -> Result<()> {
        self.now.changed.store(true, Ordering::Relaxed);
        self.now.files.lock().remove(&name_of(path)).map(drop).ok_or_else(|| Error::from(ErrorKind::NotFound))
    }

    fn sync_dir(&self, _: &Path) -> Result<()> {
        Ok(())
    }

    fn lock(&self, _: &Path) -> Result<Option<Box<dyn Send + Sync>>> {
        Ok(Some(Box::new(())))
    }
}

impl File for MemoryFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<()> {
        self.file.read_exact_at(buffer, position)
    }

    fn write_at(&self, buffer: &[u8], position: u64) -> Result<()> {
        self.now.changed.store(true, Ordering::Relaxed);
        self.file.write_all_at(buffer, position)
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn len(&self) -> Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn allocate(&self, position: u64, length: u64) -> Result<()> {
        let end = position + length;
        if end > self.len()? { self.set_len(end) } else { Ok(()) }
    }

    fn set_len(&self, length: u64) -> Result<()> {
        self.now.changed.store(true, Ordering::Relaxed);
        self.file.set_len(length)
    }

    fn punch_hole(&self, _: u64, _: u64) -> Result<bool> {
        Ok(false)
    }

    fn map(&self, position: u64, length: usize) -> Result<Mapping> {
        Mapping::of_file(&self.file, position, length)
    }
    fn bring(&self, _: &[u8], _: u64) -> Result<()> {
        Ok(())
    }
}
