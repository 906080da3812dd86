//! The journal: what was committed since the data file was last flushed.
//!
//! * [`diff`]: what changed in a page.
//! * [`record`]: one transaction.
//! * [`compression`]: whether a record is compressed.
//! * [`files`]: the files that records go to, prewritten and recycled.
//! * [`holds`]: files that are kept for images and archives.
//! * [`latency`]: how long its durable writes take.
//! * [`newest`]: which of them was begun last.
//! * [`reader`]: reading them while the environment goes on.
//! * [`replay`]: reading them back after a crash.

pub mod compression;
pub mod diff;
pub mod files;
pub mod holds;
pub mod latency;
pub mod newest;
pub mod reader;
pub mod record;
pub mod replay;
