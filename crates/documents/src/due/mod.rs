//! What is due by the clock: documents whose metadata name a time at which they expire, are refreshed or archived, and compare-exchange
//! values that expire.
//!
//! [`times`] reads the properties of a document's metadata, [`entries`] keeps them in one tree, in the order of time, which every write of
//! a document maintains. [`run`] handles what is due, as one write, and `build` makes the tree for documents of an older format. The crate
//! `database` decides whether and how often that happens, by a configuration and a clock.

mod build;
mod entries;
mod run;
mod times;

pub(crate) use entries::{DUE, change_entries, entry};
pub use run::DueDocument;
pub use times::{DueKind, DueTimes};
pub(crate) use times::{check, is_mentioned};
