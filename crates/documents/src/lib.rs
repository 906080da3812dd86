//! Documents on the storage engine: what an id, a collection, an etag and a change vector mean.
//!
//! A [`DocumentStore`] keeps the documents of one database in one storage environment. Reads go through a [`Snapshot`]: one
//! consistent state for as long as it is held. A [`Write`] is a change as a value, applied inside a write transaction
//! ([`DocumentStore::apply`]); a [`Batch`] is the one that clients send, checked and split before the transaction, so that the one
//! writer does as little as possible.
//! Everything else (indexes, subscriptions, replication) pulls "what changed after etag E".
//!
//! A part of the database Rookery. Programs use it through the crate `rookerydb`, which is the public face; this crate carries no promise
//! of stability.
#![forbid(unsafe_code)]

pub mod base64;
mod batch;
mod change_vector;
mod changes;
mod collections;
mod command;
mod compact;
mod content;
mod date;
mod definitions;
mod delete;
mod document;
mod error;
mod feature;
mod flags;
mod found;
mod hilo;
pub mod id;
mod identities;
mod includes;
mod item;
mod items;
mod kinds;
pub mod limits;
mod outcome;
mod patch;
mod put;
mod record;
mod resolve;
mod results_hash;
mod schema;
mod settings;
mod snapshot;
mod store;
mod verify;
mod wildcard;
mod write;
mod writing;

pub use batch::Batch;
pub use change_vector::{ChangeVector, Order};
pub use changes::{Changes, DocumentChange};
pub use collections::{CollectionStatistics, ItemCounts};
pub use command::{Command, CommandKind, Expected};
pub use date::{DATE_SIZE, Date};
pub use document::Document;
pub use error::{Actual, Error, Operation, Result};
pub use feature::{Feature, MissingFeature};
pub use flags::Flags;
pub use hilo::{HiLoRange, HiLoRequest};
pub use includes::IncludePath;
pub use item::Item;
pub use kinds::{ItemKind, PerKind};
pub use outcome::{CommandResult, NO_DATE, Outcome, WrittenPatch};
pub use patch::{PatchInput, PatchReport, PatchRequest, PatchRun, PatchScript, PatchStatus};
pub use resolve::{ScriptRunner, View};
pub use results_hash::ResultsHash;
pub use settings::StoreSettings;
pub use snapshot::{ByEtag, ByPrefix, LastEtags, PrefixQuery, Snapshot, Statistics};
pub use store::{Applied, DocumentStore, StoreOptions};
pub use verify::Verification;
pub use wildcard::Wildcards;
pub use write::{Answer, DefinitionChange, OutputFate, OutputWrite, OutputWrites, Stamp, Write};
pub use writing::Writing;

/// The collection of documents that name none.
pub const EMPTY_COLLECTION: &str = "@empty";
/// The collection of hi-lo documents.
pub const HILO_COLLECTION: &str = "@hilo";

/// The number of a write in its database. Rises with every document and tombstone, never comes twice.
pub type Etag = u64;
