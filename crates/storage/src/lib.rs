//! The storage engine: pages, journal, transactions, trees. Bytes under keys, durable when they are answered.
//!
//! An [`Environment`] is a folder. [`Environment::read`] opens a snapshot, [`Environment::write`] changes it; both hand out
//! transactions that the structures take: [`Tree`] (bytes to bytes, ordered), [`FixedTree`] (u64 to u64),
//! [`Records`] (values with a stable location), [`Contents`] (large binary values, written and read in pieces).
//!
//! ```
//! # fn main() -> storage::Result<()> {
//! let environment = storage::Environment::in_memory(storage::Options::default())?;
//! let tree = environment.write(|tx| {
//!     let tree = storage::Tree::open_or_create(tx, b"birds")?;
//!     tree.put(tx, b"rook", b"Corvus frugilegus")?;
//!     Ok::<_, storage::Error>(tree)
//! })?;
//! assert_eq!(tree.get(&environment.read(), b"rook")?, Some(&b"Corvus frugilegus"[..]));
//! # Ok(())
//! # }
//! ```
//!
//! `docs/format.md` tells the story of the files.
//!
//! A part of the database Rookery. Programs use it through the crate `rookerydb`, which is the public face; this crate carries no promise
//! of stability.

mod background;
pub mod contents;
pub mod counters;
mod environment;
mod error;
mod fixed_tree;
mod flush;
mod header;
mod ids;
pub mod inspect;
mod intent;
pub mod io;
mod journal;
pub mod limits;
#[cfg(all(test, loom))]
mod loom_tests;
pub mod memory;
mod pacing;
mod page;
mod pager;
#[cfg(feature = "planted-bugs")]
pub mod planted;
#[cfg(not(feature = "planted-bugs"))]
mod planted;
mod records;
mod recovery;
mod scheduling;
#[cfg(all(test, shuttle))]
mod shuttle_tests;
mod space;
mod statistics;
mod sync;
mod tables;
mod tasks;
mod transaction;
mod tree;
mod verify;

pub use contents::Contents;
pub use environment::{Durability, Environment, Options};
pub use error::{Error, Result};
pub use fixed_tree::{FixedCursor, FixedTree};
pub use ids::{PageNumber, TransactionId};
pub use journal::latency::JournalWrites;
pub use records::{Location, Records};
pub use statistics::{Gauges, Journal, Statistics};
pub use tables::{Key, Table};
pub use transaction::{Job, Lead, ReadTransaction, Reader, WriteTransaction};
pub use tree::{Cursor, Tree};
pub use verify::{Report, Shape};
