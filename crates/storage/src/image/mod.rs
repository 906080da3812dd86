//! Images (snapshot backups): an environment at one transaction as a stream of bytes, written while the environment goes on, and a folder
//! made of such a stream and of archived records behind it (point-in-time recovery).
//!
//! * [`format`]: the form of the stream.
//! * [`source`]: what is copied, piece by piece.
//! * [`mod@write`]: writes an image.
//! * [`pages`]: the data file of a folder that is being made; applies records to it.
//! * [`restore`]: reads an image, and records.
//!
//! ```
//! # fn main() -> storage::image::Result<()> {
//! use std::sync::Arc;
//! use storage::image::{Restore, WriteOptions};
//! use storage::io::simulated::SimulatedIo;
//! use storage::{Environment, Options};
//!
//! let io = Arc::new(SimulatedIo::new());
//! let environment = Environment::open("/birds", Options { io: io.clone(), ..Options::default() })?;
//! let mut image = Vec::new();
//! let summary = environment.write_image(&mut image, &WriteOptions::default(), &mut |_| true)?;
//!
//! let restore = Restore::begin(io.clone(), "/copy".as_ref(), &mut &image[..], &mut |_| true)?;
//! assert_eq!(restore.finish()?, summary.position);
//! let copy = Environment::open("/copy", Options { io, ..Options::default() })?;
//! assert_eq!(copy.id(), environment.id());
//! # Ok(())
//! # }
//! ```

mod error;
pub(crate) mod format;
mod pages;
mod restore;
mod source;
mod write;

pub use error::{Error, Result};
pub use restore::{Restore, verify};
pub use write::WriteOptions;

use crate::ids::{Position, TransactionId};

/// How far an image, or a restore, has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Bytes of the image and of records that were written or read.
    pub bytes: u64,
    /// Pages that were copied, of [`PAGE_SIZE`](crate::limits::PAGE_SIZE) bytes each.
    pub pages: u64,
    /// Pages that were in use when the image was begun: about as many as will be copied.
    pub pages_total: u64,
    /// Records of the journal that were copied or applied.
    pub records: u64,
    /// The last transaction that is in it.
    pub transaction: TransactionId,
}

/// What an image has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Summary {
    /// The id of the environment. One that is restored keeps it.
    pub environment_id: u128,
    /// The state that it has.
    pub position: Position,
    /// Its bytes.
    pub bytes: u64,
    /// Pages that were copied, of [`PAGE_SIZE`](crate::limits::PAGE_SIZE) bytes each.
    pub pages: u64,
    /// Records of the journal that are in it.
    pub records: u64,
}
