//! A transactional document database in process: JSON documents, indexes, RQL queries, patches in JavaScript. No server, no C library to
//! install, one folder of files.
//!
//! ```
//! use rookerydb::Store;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct User {
//!     name: String,
//!     age: u32,
//! }
//!
//! # fn main() -> rookerydb::Result<()> {
//! let store = Store::in_memory()?; // or Store::open("data")
//! let shop = store.database("Shop")?;
//! let users = shop.collection("Users");
//! users.put("users/1", &User { name: "Ann".into(), age: 31 })?;
//! users.put("users/2", &User { name: "Bob".into(), age: 25 })?;
//!
//! // One document, by its id.
//! let ann: User = shop.get_as("users/1")?.expect("it was just stored");
//! assert_eq!(ann.age, 31);
//!
//! // A query. The index that it needs is created with it.
//! let old: Vec<User> = shop.query("from Users where age > $age").parameter("age", 30).values()?;
//! assert_eq!(old, [ann]);
//!
//! // A change of all documents that a query finds.
//! shop.query("from Users update { this.age++ }").patch()?;
//! assert_eq!(shop.get_as::<User>("users/2")?.map(|bob| bob.age), Some(26));
//! # Ok(())
//! # }
//! ```
//!
//! * A [`Store`] is a folder (or memory) with any number of databases. Its files are those of the server `rookery`.
//! * A [`Database`] reads and writes documents, each write durable when it returns. A [`Batch`] is one transaction; with
//!   [`Expected`] a write succeeds only if nobody else changed the document (optimistic concurrency).
//! * A [`Collection`] stores documents of one kind; queries name it: `from Users`.
//! * [`Attachments`] and [`Counters`] belong to a document, [`Revision`]s are what it was before, [`CompareExchange`] values change only if
//!   they are what the caller expects, a [`UniqueConstraint`] lets no two documents have the same values.
//! * A [`Query`] is text in RQL. Without an index of that name the database creates one that covers the query and keeps it up to date.
//! * An [`IndexDefinition`] is an index of your own: full text, computed fields, map-reduce.
//! * [`Changes`] are the documents that are written, from now on.
//!
//! Indexes follow the documents within milliseconds. A query returns what its index has; [`Rows::is_stale`] says whether something is
//! missing, and [`Query::wait_for_indexing`] waits for it.
//!
//! All functions block and may be called from any thread. In async code, call them through `spawn_blocking` (see the example
//! `web_service`).
//!
//! The crates below this one (`rookery-storage`, `rookery-documents`, `rookery-query`, `rookery-database` and others) carry no promise of
//! stability; this crate is the public face.
#![forbid(unsafe_code)]

mod attachments;
mod batch;
mod bulk_insert;
mod changes;
mod collection;
mod compare_exchange;
mod constraints;
mod counters;
mod database;
mod document;
mod error;
mod index;
mod lifetime;
pub mod limits;
mod patch;
mod query;
mod revisions;
mod rows;
mod statistics;
mod store;

pub use attachments::{Attachment, Attachments};
pub use batch::{Batch, Expected, WriteResult};
pub use bulk_insert::BulkInsert;
pub use changes::{Change, ChangeKind, Changes};
pub use collection::Collection;
pub use compare_exchange::{CompareExchange, Exchangeable};
pub use constraints::UniqueConstraint;
pub use counters::Counters;
pub use database::Database;
pub use document::Document;
pub use error::{Error, Result};
pub use index::{Analysis, IndexDefinition};
pub use lifetime::Lifetime;
pub use patch::{Patch, PatchStatus};
pub use query::{Facet, FacetAggregate, FacetValue, Query, Suggestions};
pub use revisions::Revision;
pub use rows::{Row, Rows};
pub use statistics::{IndexStatistics, Statistics};
pub use store::{Store, StoreOptions};
