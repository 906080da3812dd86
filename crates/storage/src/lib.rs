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

pub mod archive;
mod checkpoint;
pub mod contents;
mod environment;
mod error;
mod heap;
mod ids;
pub mod image;
mod inspection;
pub mod io;
mod journal;
pub mod limits;
pub mod memory;
mod page;
mod page_set;
mod pager;
#[cfg(feature = "planted-bugs")]
pub mod planted;
#[cfg(not(feature = "planted-bugs"))]
mod planted;
mod space;
mod sync;
mod threads;
mod transaction;
mod tree;

pub use contents::Contents;
pub use environment::{Durability, Environment, Options};
pub use error::{Error, Result};
pub use heap::records::{Location, Records};
pub use heap::tables::{Key, Table};
pub use ids::{PageNumber, Position, TransactionId};
pub use inspection::statistics::{Gauges, Journal, Statistics};
pub use inspection::structures::Structure;
pub use inspection::verify::{Report, Shape};
pub use inspection::{counters, inspect};
pub use journal::latency::JournalWrites;
pub use transaction::{Job, Lead, ReadTransaction, Reader, WriteTransaction};
pub use tree::fixed::{FixedCursor, FixedTree};
pub use tree::{Cursor, Tree};
