//! The pager: a page is in the mapped file, or in a version in memory (MVCC). All of the crate's pointers live here.
//!
//! * [`map`]: ranges of mapped addresses.
//! * [`version`]: one version of a page, and what is noted about it.
//! * [`frames`]: the memory that versions live in.
//! * [`table`]: page number to newest version, and from there to the version a snapshot sees.
//! * [`readers`]: the announced snapshots, which bound what may be overwritten or reused.

pub mod changes;
pub mod frames;
pub mod map;
pub mod readers;
pub mod table;
pub mod version;

use crate::limits::PAGE_SIZE;

/// The bytes of one page.
pub type Page = [u8; PAGE_SIZE];
