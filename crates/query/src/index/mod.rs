//! The storage part of the index engine: which terms lead to which entries, and entries to their documents.
//!
//! An [`Index`] is an environment of its own. It is written in batches, one transaction each: a [`Batch`] has documents with
//! their [`Entry`]s (terms by field, analysed by the caller), and how far the index has come with its sources. An
//! [`IndexSnapshot`] reads it: rising ids of entries for a term, sets of them for ranges, terms in order, sorted results.
//! `docs/design/indexes.md` tells why it is so.
//!
//! Writing, from the batch down: [`mod@batch`], [`batch_writer`], [`posting_changes`], [`list_writer`]. Reading, from the
//! snapshot down: [`snapshot`], [`sort`] with [`columns`], [`range`], [`list_cursor`], [`term_entries`]; operators over rising ids:
//! [`entry_ids`], [`entry_set`],
//! [`combine`]. What a reduce works on: [`groups`]; which documents its results are to be: [`outputs`]; which documents asked for which:
//! [`references`].
//! What it knows of itself: [`history`]. Vectors: [`vectors`], [`mod@graph`], [`graph_writer`]. What is stored: [`schema`], [`list`],
//! [`key`], [`runs`], [`mod@term`], [`mod@number`],
//! [`mod@entry`], [`words`].

mod batch;
mod batch_writer;
mod column;
mod columns;
mod combine;
mod entry;
mod entry_ids;
mod entry_set;
mod error;
mod graph;
mod graph_limit;
mod graph_verify;
mod graph_writer;
mod groups;
mod history;
mod key;
pub mod limits;
mod list;
mod list_cursor;
mod list_writer;
mod number;
mod outputs;
mod posting_changes;
mod range;
mod references;
mod runs;
mod schema;
mod snapshot;
mod sort;
mod store;
mod term;
mod term_entries;
mod terms;
mod vectors;
mod verify;
mod words;

pub use batch::{Batch, Progress};
pub use combine::{Difference, Intersection, Union};
pub use entry::{Entry, EntryId};
pub use entry_ids::{AllEntries, EntryIds};
pub use entry_set::{EntrySet, SetEntries};
pub use error::{Error, Result};
pub use groups::{
    GroupChanges, GroupKey, Item, Member, NO_RESULT, NODE_ITEMS_BITS, NODE_ITEMS_MAX, NodeKey, items, put_item,
};
pub use history::{History, IndexError, Notes};
pub use number::Number;
pub use outputs::{OutputChanges, Owed};
pub use range::{Estimate, TermRange};
pub use references::ReferenceChanges;
pub use snapshot::{FieldContents, IndexEntry, IndexSnapshot};
pub use sort::{Absent, Direction, Order};
pub use store::Index;
pub use term::{FieldNumber, Kind, StoredTerm, Term};
pub use term_entries::TermEntries;
pub use terms::Terms;
pub use verify::Verification;
pub use words::{FieldNorms, Norm, WordFrequencies, WordSequence};
