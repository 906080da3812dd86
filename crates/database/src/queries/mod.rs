//! Queries from their text to their results: for the server, for patches and deletions by query, and in process.
//!
//! ```text
//! text ──Query::parse──► Query ──Preparation──► ReadyIndex ──with_snapshots──► QueryRun ──write_rows──► RowSink
//! ```
//!
//! [`Query`] is a planned text. [`Preparation`] finds or creates the index that answers it and says what to wait for
//! ([`Database::ready`](crate::Database::ready) waits on the thread). [`QueryRun`] is one run on a snapshot of that index and one of the
//! documents: it filters, projects, runs scripts, includes, removes duplicates, counts facets. Rows are appended to the buffer of a
//! [`RowSink`], so that none is copied on its way. [`PreparedChange`] deletes or patches what a query finds.
//!
//! Functions here block and take a [`Deadline`]; they have no threads. [`Database::query`](crate::Database::query) does all of it on the
//! caller's thread:
//!
//! ```
//! use rookery_database::queries::{Deadline, Freshness, Included, Query, RowSink, RunContext};
//! use rookery_database::{Databases, DatabasesOptions, Error, documents};
//! use std::time::Duration;
//!
//! /// Rows with a comma between them.
//! struct Rows(Vec<u8>);
//!
//! impl RowSink for Rows {
//!     type Error = Error;
//!
//!     fn begin_row(&mut self) -> &mut Vec<u8> {
//!         if !self.0.is_empty() {
//!             self.0.push(b',');
//!         }
//!         &mut self.0
//!     }
//! }
//!
//! let databases = Databases::open(DatabasesOptions::in_memory())?;
//! let shop = databases.find_or_create("Shop")?;
//! let mut batch = documents::Batch::new();
//! batch.put("users/1", br#"{"Name":"Ann","Age":7,"@metadata":{"@collection":"Users"}}"#, documents::Expected::Any)?;
//! shop.execute(batch)?;
//!
//! let query = Query::parse("from Users where Age > 5 select Name", None)?;
//! let deadline = Deadline::new(Some(Duration::from_secs(60)), || false);
//! let (memory, script_limits) = (shop.limits().memory.clone(), shop.limits().script);
//! let context = RunContext { memory, deadline: &deadline, script_limits, timings: None };
//! let freshness = Freshness { stale_wait: Some(Duration::from_secs(15)), ..Freshness::default() };
//! let mut rows = Rows(Vec::new());
//! let written = shop.query(&query, &freshness, Duration::from_secs(60), &context, |run| {
//!     run.write_rows(false, &mut Included::new(run, false), &mut rows)
//! })?;
//! assert_eq!(written.counts.total, 1);
//! assert!(rows.0.starts_with(br#"{"Name":"Ann","@metadata":"#));
//! # Ok::<(), Error>(())
//! ```

mod by_query;
mod collection;
mod counts;
mod deadline;
mod error;
mod facets;
mod field_sample;
mod filtering;
mod found_ids;
mod hits;
mod included;
mod included_values;
mod lookups;
mod marks;
mod offered;
mod plans;
mod query;
mod ready;
mod repeats;
mod row;
mod rows;
mod run;
mod scripts;
mod timings;
mod warnings;

pub use by_query::{ByQuery, ByQueryOptions, PreparedChange, QueryChange};
pub use counts::{Counts, examined_count_max};
pub use deadline::Deadline;
pub use error::QueryError;
pub use facets::CountedFacet;
pub use filtering::Filtered;
pub use hits::Hit;
pub use included::Included;
pub use included_values::IncludedValues;
pub use marks::{MarkedTexts, Marks};
pub use offered::BatchSink;
pub(crate) use offered::OfferedQuery;
pub use plans::explain;
pub use query::Query;
pub use ready::{Freshness, OpenedIndex, Preparation, PreparationStep, ReadyIndex, check_fields, wait_for};
pub use rows::{RowCounts, RowSink, WrittenRows};
pub use run::{QueryRun, RunContext};
pub use scripts::ScriptedRow;
pub use timings::{Stage, Timings, timed};
