//! The storage part of the index engine: which terms lead to which entries, and entries to their documents.
//!
//! An [`Index`] is an environment of its own. It is written in batches, one transaction each: a [`Batch`] has documents with
//! their [`Entry`]s (terms by field, analysed by the caller), and how far the index has come with its sources. An
//! [`IndexSnapshot`] reads it: rising ids of entries for a term, sets of them for ranges, terms in order, sorted results.
//! `docs/design/indexes.md` tells why it is so.
//!
//! Writing goes from a [`mod@batch`] through [`batch_writer`] to [`postings`], reading from a [`snapshot`] through [`sorting`] to
//! [`postings`]. What is found by is in the [`dictionary`], nearest neighbours in the [`graph`], what a reduce works on in [`groups`],
//! which documents asked for which in [`references`], what an index knows of itself in [`history`], what is stored in [`schema`]; [`copy`]
//! writes an index anew.

mod batch;
mod batch_writer;
mod copy;
mod dictionary;
mod entry;
mod error;
mod graph;
mod groups;
mod history;
pub mod limits;
mod postings;
mod references;
mod schema;
mod snapshot;
mod sorting;
mod store;
mod verify;

pub use batch::{Batch, Progress};
pub use copy::HeldIndex;
pub use dictionary::number::Number;
pub use dictionary::term::{FieldNumber, Kind, StoredTerm, Term};
pub use dictionary::term_entries::TermEntries;
pub use dictionary::terms::Terms;
pub use dictionary::words::{FieldLengths, FieldNorms, Norm, WordFrequencies, WordSequence};
pub use entry::{Entry, EntryId};
pub use error::{Error, Result};
pub use groups::group::{
    GroupChanges, GroupKey, Item, Member, NO_RESULT, NODE_ITEMS_BITS, NODE_ITEMS_MAX, NodeKey, items, put_item,
};
pub use groups::outputs::{OutputChanges, Owed};
pub use history::{History, IndexError, Notes};
pub use postings::combine::{Difference, Intersection, Union};
pub use postings::entry_ids::{AllEntries, EntryIds};
pub use postings::entry_set::{EntrySet, SetEntries};
pub use postings::range::{Estimate, TermRange};
pub use references::ReferenceChanges;
pub use snapshot::{FieldContents, IndexEntry, IndexSnapshot};
pub use sorting::sort::{Absent, Direction, Order};
pub use store::Index;
pub use verify::Verification;
