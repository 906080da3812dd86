//! The seam to the operating system: every file access of the engine goes through [`Io`] and [`File`].
//!
//! Two implementations: [`real`], and [`simulated`], a disk in memory that can lose, reorder and tear what was not
//! synced, fail any operation, and hand out the image that a crash would leave. Positions and lengths are in bytes.

pub mod aio;
pub mod real;
pub mod simulated;

pub use crate::pager::map::Mapping;
use std::io::Result;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file system. Every call fails with the error of the system: missing rights, a full or a broken device. Below, each call names the
/// errors that callers tell apart.
pub trait Io: Send + Sync {
    /// Creates a folder and those above it; makes the new entries durable.
    ///
    /// # Errors
    ///
    /// A part of the path is a file.
    fn create_dir(&self, path: &Path) -> Result<()>;
    /// The names in a folder.
    ///
    /// # Errors
    ///
    /// `NotFound`: there is no such folder.
    fn list(&self, path: &Path) -> Result<Vec<String>>;
    /// Opens an existing file, or creates one that must not exist. `mode` says what it is used for.
    ///
    /// # Errors
    ///
    /// `NotFound`: no file is there to be opened as `mode` says.
    fn open(&self, path: &Path, mode: OpenMode) -> Result<Arc<dyn File>>;
    /// Renames a file, or a folder, within a folder; durable after [`Io::sync_dir`].
    ///
    /// # Errors
    ///
    /// `NotFound`: `from` does not exist.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;
    /// Removes a file; durable after [`Io::sync_dir`].
    ///
    /// # Errors
    ///
    /// `NotFound`: there is no such file.
    fn remove(&self, path: &Path) -> Result<()>;
    /// Removes an empty folder; durable after [`Io::sync_dir`] of the folder around it. Where a folder is no more than a part of the names
    /// in it, there is nothing to do.
    ///
    /// # Errors
    ///
    /// `DirectoryNotEmpty`: something is in it.
    fn remove_dir(&self, _path: &Path) -> Result<()> {
        Ok(())
    }
    /// Makes the names in a folder durable.
    ///
    /// # Errors
    ///
    /// The device did not take the names. Whether they are durable is unknown, and a second call may not tell.
    fn sync_dir(&self, path: &Path) -> Result<()>;
    /// Takes the lock on a folder, or `None` when another holder has it. Dropping the guard gives it back.
    ///
    /// # Errors
    ///
    /// The lock file cannot be made or opened. A lock of another holder is `None`, not an error.
    fn lock(&self, path: &Path) -> Result<Option<Box<dyn Send + Sync>>>;
}

/// How a file is opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenMode {
    /// An existing file, for reading and writing.
    Existing,
    /// A new file; an existing one is emptied.
    Create,
    /// An existing, prewritten file: each write is durable when it returns, and is given aligned to 4 KiB.
    Journal,
    /// An existing file: each write is durable when it returns.
    Synced,
}

/// The call-back of a write for which no thread waits.
pub type WriteDone = Box<dyn FnOnce(Result<()>) + Send>;

/// An open file. Short reads and writes are completed by the implementation, and interrupted calls repeated.
pub trait File: Send + Sync {
    /// Where it is.
    fn path(&self) -> &Path;
    /// Reads exactly `buffer.len()` bytes.
    ///
    /// # Errors
    ///
    /// `UnexpectedEof`: the file ends before. The device cannot read the range.
    fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<()>;
    /// Reads exactly `size` bytes in place of what `buffer` has. Memory that is new is not set to zeros first, where that can be spared.
    ///
    /// # Errors
    ///
    /// As those of [`Self::read_at`].
    fn read_into(&self, buffer: &mut Vec<u8>, size: usize, position: u64) -> Result<()> {
        buffer.resize(size, 0);
        self.read_at(buffer, position)
    }
    /// Writes all of `buffer`. For [`OpenMode::Journal`] and [`OpenMode::Synced`] it is durable on return.
    ///
    /// # Errors
    ///
    /// `StorageFull`, or the device failed. Part of the range may be written.
    fn write_at(&self, buffer: &[u8], position: u64) -> Result<()>;
    /// Writes buffers one behind the other, as [`Self::write_at`] writes one.
    ///
    /// # Errors
    ///
    /// As those of [`Self::write_at`].
    fn write_parts_at(&self, parts: &[&[u8]], position: u64) -> Result<()> {
        self.write_at(&parts.concat(), position)
    }
    /// Begins what [`Self::write_at`] does for [`OpenMode::Journal`], without waiting for it: `done` runs in [`aio::AsyncWrites::reap`].
    ///
    /// # Errors
    ///
    /// `done`, unchanged: this file or system has no asynchronous writes, or their queue is full.
    fn begin_write(
        &self,
        _buffer: &[u8],
        _position: u64,
        _writes: &aio::AsyncWrites,
        done: WriteDone,
    ) -> std::result::Result<(), WriteDone> {
        Err(done)
    }
    /// Makes the content durable, and the length.
    ///
    /// # Errors
    ///
    /// The device failed. What it has of earlier writes is unknown from then on, also after a second call that succeeds.
    fn sync(&self) -> Result<()>;
    /// The length.
    ///
    /// # Errors
    ///
    /// The system does not know the file any more.
    fn len(&self) -> Result<u64>;
    /// Whether it has no bytes.
    ///
    /// # Errors
    ///
    /// As those of [`Self::len`].
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Grows to `position + length` with room on the device really taken, so that later writes cannot lack it.
    ///
    /// # Errors
    ///
    /// `StorageFull`: the device has no room. `Unsupported` where the file system cannot reserve.
    fn allocate(&self, position: u64, length: u64) -> Result<()>;
    /// Cuts the file.
    ///
    /// # Errors
    ///
    /// The device failed.
    fn set_len(&self, length: u64) -> Result<()>;
    /// Gives the room of a range back; it reads as zeros. `false` where the file system cannot.
    ///
    /// # Errors
    ///
    /// The device failed. A file system without holes is `false`, not an error.
    fn punch_hole(&self, position: u64, length: u64) -> Result<bool>;
    /// Maps a range for reading. It may reach past the end; what lies there must not be touched.
    ///
    /// # Errors
    ///
    /// The process has no address space left, or too many maps.
    fn map(&self, position: u64, length: usize) -> Result<Mapping>;
    /// Brings bytes of a map of this file into memory, so that touching them does not fail soon: what the device cannot read is an
    /// error here, and a signal that ends the process where it is touched. `mapped` begins at a page of the processor.
    ///
    /// * `position`: of those bytes in the file.
    ///
    /// # Errors
    ///
    /// The device cannot read the range, or memory is short.
    fn bring(&self, mapped: &[u8], position: u64) -> Result<()>;
}

/// Where an environment's files lie.
#[derive(Clone)]
pub struct Folder {
    /// The file system.
    pub io: Arc<dyn Io>,
    /// The folder.
    pub path: PathBuf,
}

impl Folder {
    /// The path of a name in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}
