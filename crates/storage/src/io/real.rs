//! The operating system's files.

use super::aio::AsyncWrites;
use super::{File, Io, OpenMode, WriteDone};
use crate::limits::PAGE_SIZE;
use crate::pager::map::{self, Mapping};
use parking_lot::Mutex;
use rustix::buffer::spare_capacity;
use rustix::fs::{FallocateFlags, FlockOperation, OFlags};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes to which the memory, the place and the length of a direct write are aligned.
const DIRECT_ALIGNMENT: usize = 4096;

/// Buffers for direct writes that the process keeps, and bytes of the largest. While something runs in the background; at rest none.
const DIRECT_BUFFERS_MAX: usize = 8;
/// See [`DIRECT_BUFFERS_MAX`].
const DIRECT_BUFFER_BYTES_MAX: usize = 1 << 20;

static DIRECT_BUFFERS: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Lets the buffers for direct writes go.
pub(crate) fn give_back_buffers() {
    DIRECT_BUFFERS.lock().clear();
}

/// Buffers that the system takes in one call.
const PARTS_MAX: usize = 1024;

/// The operating system's file system.
pub struct RealIo;

struct RealFile {
    path: PathBuf,
    file: Arc<std::fs::File>,
    /// The file was opened for direct writes, which need aligned memory.
    is_direct: bool,
}

impl Io for RealIo {
    fn create_dir(&self, path: &Path) -> Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            self.create_dir(parent)?;
            DirBuilder::new().recursive(true).mode(0o700).create(path)?;
            return self.sync_dir(parent);
        }
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        self.sync_dir(Path::new("."))
    }

    fn list(&self, path: &Path) -> Result<Vec<String>> {
        let entries = std::fs::read_dir(path)?;
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    fn open(&self, path: &Path, mode: OpenMode) -> Result<Arc<dyn File>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o600);
        let mut is_direct = false;
        let file = match mode {
            OpenMode::Existing => options.open(path)?,
            OpenMode::Synced => options.custom_flags(OFlags::DSYNC.bits() as i32).open(path)?,
            OpenMode::Create => options.create(true).truncate(true).open(path)?,
            OpenMode::Journal => {
                let flags = (OFlags::DIRECT | OFlags::DSYNC).bits() as i32;
                match options.custom_flags(flags).open(path) {
                    Ok(file) => {
                        is_direct = true;
                        file
                    }
                    // Not every file system writes past its cache (tmpfs does not).
                    Err(error) if error.kind() == ErrorKind::InvalidInput => {
                        options.custom_flags(OFlags::DSYNC.bits() as i32).open(path)?
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        Ok(Arc::new(RealFile { path: path.to_path_buf(), file: Arc::new(file), is_direct }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        std::fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        std::fs::remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> Result<()> {
        retry(|| std::fs::File::open(path)?.sync_all())
    }

    fn lock(&self, path: &Path) -> Result<Option<Box<dyn Send + Sync>>> {
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).clone();
        let file = options.open(path.join("lock"))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Box::new(file))),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn retry<T>(mut call: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            other => return other,
        }
    }
}

/// Memory for a direct write with `bytes` in it: (memory, where they begin in it).
fn direct_buffer(bytes: &[u8]) -> (Vec<u8>, usize) {
    let mut buffer = DIRECT_BUFFERS.lock().pop().unwrap_or_default();
    buffer.resize(buffer.len().max(bytes.len() + DIRECT_ALIGNMENT), 0);
    let start = buffer.as_ptr().align_offset(DIRECT_ALIGNMENT);
    buffer[start..start + bytes.len()].copy_from_slice(bytes);
    (buffer, start)
}

/// Keeps the memory of a direct write for another one.
pub(super) fn keep_direct_buffer(buffer: Vec<u8>) {
    let mut kept = DIRECT_BUFFERS.lock();
    if buffer.len() <= DIRECT_BUFFER_BYTES_MAX && kept.len() < DIRECT_BUFFERS_MAX {
        kept.push(buffer);
    }
}

impl RealFile {
    fn write_direct(&self, bytes: &[u8], position: u64) -> Result<()> {
        let (buffer, start) = direct_buffer(bytes);
        let written = self.file.write_all_at(&buffer[start..start + bytes.len()], position);
        keep_direct_buffer(buffer);
        written
    }
}

impl File for RealFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<()> {
        self.file.read_exact_at(buffer, position)
    }

    fn read_into(&self, buffer: &mut Vec<u8>, size: usize, position: u64) -> Result<()> {
        buffer.clear();
        buffer.reserve_exact(size);
        while buffer.len() < size {
            let at = position + buffer.len() as u64;
            // A buffer that had more room may get bytes behind the range, too.
            if retry(|| Ok(rustix::io::pread(&self.file, spare_capacity(buffer), at)?))? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        buffer.truncate(size);
        Ok(())
    }

    fn write_at(&self, buffer: &[u8], position: u64) -> Result<()> {
        if self.is_direct {
            return self.write_direct(buffer, position);
        }
        self.file.write_all_at(buffer, position)
    }

    fn write_parts_at(&self, parts: &[&[u8]], position: u64) -> Result<()> {
        if self.is_direct {
            return self.write_at(&parts.concat(), position);
        }
        let mut slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
        let (mut slices, mut position) = (&mut slices[..], position);
        while !slices.is_empty() {
            let count = slices.len().min(PARTS_MAX);
            let written = retry(|| rustix::io::pwritev(&self.file, &slices[..count], position).map_err(Error::from))?;
            if written == 0 {
                return Err(ErrorKind::WriteZero.into());
            }
            position += written as u64;
            IoSlice::advance_slices(&mut slices, written);
        }
        Ok(())
    }

    fn begin_write(
        &self,
        bytes: &[u8],
        position: u64,
        writes: &AsyncWrites,
        done: WriteDone,
    ) -> std::result::Result<(), WriteDone> {
        if !self.is_direct {
            return Err(done);
        }
        let (buffer, start) = direct_buffer(bytes);
        writes.begin(&self.file, (buffer, start, bytes.len()), position, done).map_err(|(buffer, done)| {
            keep_direct_buffer(buffer);
            done
        })
    }

    fn sync(&self) -> Result<()> {
        retry(|| self.file.sync_data())
    }

    fn len(&self) -> Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn allocate(&self, position: u64, length: u64) -> Result<()> {
        match retry(|| {
            rustix::fs::fallocate(&self.file, FallocateFlags::empty(), position, length).map_err(Error::from)
        }) {
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                const PIECE: u64 = 1 << 20;
                let zeros = vec![0; PIECE.min(length) as usize];
                let end = position + length;
                for at in (position.max(self.len()?)..end).step_by(PIECE as usize) {
                    self.file.write_all_at(&zeros[..PIECE.min(end - at) as usize], at)?;
                }
                Ok(())
            }
            other => other,
        }
    }

    fn set_len(&self, length: u64) -> Result<()> {
        retry(|| self.file.set_len(length))
    }

    fn punch_hole(&self, position: u64, length: u64) -> Result<bool> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match retry(|| rustix::fs::fallocate(&self.file, flags, position, length).map_err(Error::from)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::Unsupported => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn map(&self, position: u64, length: usize) -> Result<Mapping> {
        Mapping::of_file(&self.file, position, length)
    }

    fn bring(&self, mapped: &[u8], position: u64) -> Result<()> {
        match retry(|| map::bring(mapped)) {
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                // What can be read is in the system's memory then, where the map finds it.
                let mut buffer = [0; PAGE_SIZE];
                (0..mapped.len()).step_by(PAGE_SIZE).try_for_each(|at| {
                    let length = PAGE_SIZE.min(mapped.len() - at);
                    self.read_at(&mut buffer[..length], position + at as u64)
                })
            }
            other => other,
        }
    }
}
