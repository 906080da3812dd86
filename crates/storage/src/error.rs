//! Why an operation on an environment failed.

use crate::ids::PageNumber;
use rustix::io::Errno;
use std::path::PathBuf;
use std::sync::Arc;

/// The result of an operation on an environment.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation on an environment failed. Cheap to clone: one cause may have to be told to many waiters.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// A file could not be opened, read, or created. Nothing was changed.
    #[error("{operation} '{}': {source}", path.display())]
    Io {
        /// What was attempted, in the infinitive.
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: Arc<std::io::Error>,
    },
    /// No room on the device. Nothing was promised; the environment goes on, and writes succeed when space is back.
    #[error("no space left on the device of '{}': {needed_bytes} bytes are needed", path.display())]
    DiskFull {
        /// The file that could not grow.
        path: PathBuf,
        /// Bytes that the operation asked for.
        needed_bytes: u64,
    },
    /// A write or a sync failed earlier. What was not confirmed may be lost; reads go on; open the environment again to write.
    #[error("the environment '{}' refuses writes until it is opened again, because a write failed: {cause}", path.display())]
    Failed {
        /// The folder of the environment.
        path: PathBuf,
        /// The first failure.
        cause: Arc<Error>,
    },
    /// Bytes on disk are not what was written. The page is not served; restore from a backup or from a replica.
    #[error("page {page} of '{}' is damaged: {rule}", path.display())]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// The page.
        page: PageNumber,
        /// The rule that does not hold.
        rule: &'static str,
    },
    /// A journal or a header is damaged, so that the last durable state cannot be told.
    #[error("'{}' is damaged: {rule}", path.display())]
    CorruptFile {
        /// The damaged file.
        path: PathBuf,
        /// What does not hold, and where.
        rule: String,
    },
    /// Another process has this folder open.
    #[error("'{}' is in use by another process", path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// The folder was written by a newer version.
    #[error("'{}' has format version {found}; this program knows up to {known}", path.display())]
    NewerFormat {
        /// The data file.
        path: PathBuf,
        /// The version found.
        found: u32,
        /// The newest version known.
        known: u32,
    },
    /// A snapshot has been open for so long that the versions kept for it fill the memory given to them. Nothing was
    /// changed; writes go on when it is closed.
    #[error(
        "a snapshot of transaction {oldest} is still open; {version_bytes} bytes of page versions are kept for it, the limit is {max_bytes}"
    )]
    LongReader {
        /// What the oldest open snapshot shows.
        oldest: crate::ids::TransactionId,
        /// Bytes of page versions in the process.
        version_bytes: usize,
        /// Bytes allowed.
        max_bytes: usize,
    },
    /// A key is longer than [`crate::limits::KEY_SIZE_MAX`].
    #[error("a key of {size} bytes is over the limit KEY_SIZE_MAX of {max} bytes")]
    KeyTooLong {
        /// Bytes given.
        size: usize,
        /// Bytes allowed.
        max: usize,
    },
    /// A value is longer than [`crate::limits::VALUE_SIZE_MAX`].
    #[error("a value of {size} bytes is over the limit VALUE_SIZE_MAX of {max} bytes")]
    ValueTooLong {
        /// Bytes given.
        size: usize,
        /// Bytes allowed.
        max: usize,
    },
    /// The environment is as large as its address range allows.
    #[error("the environment has reached its greatest size of {max_bytes} bytes")]
    TooLarge {
        /// Bytes allowed.
        max_bytes: u64,
    },
    /// The code of a job panicked: a fault of ours. Nothing of that job was applied; others are not affected.
    #[error("a change panicked and was rolled back: this is a bug in Rookery")]
    JobPanicked,
    /// A write or a flush was called inside of a write to the same environment, and would wait for itself.
    #[error("a write to '{}' is running on this thread; another one, or a flush, would wait for it", path.display())]
    Nested {
        /// The folder.
        path: PathBuf,
    },
    /// Work needs more memory than a limit leaves to it. Nothing was changed.
    #[error(
        "The work needs more memory than the limit {limit} = {max_mb} (MB) {}",
        if *.passes { "leaves to it beside other requests. Try again later" } else { "allows. Ask for less at once" }
    )]
    OverMemory {
        /// The setting that names the limit.
        limit: &'static str,
        /// The limit in MiB.
        max_mb: usize,
        /// True if other work holds the memory now; false if this work alone is over its limit.
        passes: bool,
    },
    /// The environment was closed.
    #[error("the environment is closed")]
    Closed,
}

impl Error {
    /// An [`Error::Io`], or [`Error::DiskFull`] where the device is full.
    pub(crate) fn io(
        operation: &'static str,
        path: &std::path::Path,
        needed_bytes: u64,
        source: std::io::Error,
    ) -> Self {
        match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                Error::DiskFull { path: path.to_path_buf(), needed_bytes }
            }
            _ => Error::Io { operation, path: path.to_path_buf(), source: Arc::new(source) },
        }
    }

    /// Whether it passes by itself: there is no room, no descriptor, or an old snapshot for now. Nothing was changed.
    pub fn passes(&self) -> bool {
        let passes =
            matches!(self, Error::DiskFull { .. } | Error::LongReader { .. } | Error::OverMemory { passes: true, .. });
        passes || self.is_want_of_descriptors()
    }

    /// Whether the process or the machine has too many files open: nothing was tried, and it passes.
    pub(crate) fn is_want_of_descriptors(&self) -> bool {
        let Error::Io { source, .. } = self else { return false };
        matches!(Errno::from_io_error(source), Some(Errno::MFILE | Errno::NFILE))
    }
}
