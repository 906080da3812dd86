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

mod attachments;
mod change_vector;
mod changes;
mod commands;
mod compare_exchange;
mod constraints;
mod counters;
mod definitions;
mod document;
mod due;
mod error;
mod feature;
mod ids;
mod includes;
mod items;
pub mod limits;
mod maintenance;
mod revisions;
mod settings;
mod snapshot;
mod store;
mod wire;
mod write;
mod writing;

pub use attachments::command::{AttachmentAction, AttachmentCommand, AttachmentDetails};
pub use attachments::content::{NewContent, Upload, UploadId};
pub use attachments::hash::{ContentHash, ContentHasher};
pub use attachments::read::Attachment;
pub use change_vector::{ChangeVector, Order};
pub use changes::{ChangedCounter, Changes, DocumentChange};
pub use commands::attachments::content_length;
pub use commands::batch::Batch;
pub use commands::command::{Command, CommandKind, Expected};
pub use commands::outcome::{CommandResult, NO_DATE, Outcome, WrittenPatch};
pub use commands::patch::{
    JsonPatchRequest, PatchInput, PatchReport, PatchRequest, PatchRun, PatchScript, PatchStatus,
};
pub use commands::resolve::{ScriptRunner, View};
pub use compare_exchange::{
    BulkDocs, ClusterTransaction, CompareExchangeValue, Exchanged, TransactionOutcome, ValueChange, ValuesByPrefix,
    Violation, is_guard,
};
pub use constraints::duplicate::Duplicate;
pub use constraints::{ConstraintChange, UniqueConstraint};
pub use counters::command::{CounterAction, CounterCommand, CounterDetail, CounterOperation};
pub use counters::includes::{ALL_COUNTERS, CounterIncludes, IncludedCounters};
pub use counters::read::Counter;
pub use counters::value::NodeValue;
pub use document::Document;
pub use due::{DueDocument, DueKind, DueTimes};
pub use error::{Actual, Error, Operation, Result};
pub use feature::{Feature, MissingFeature};
pub use ids::hilo::{HiLoRange, HiLoRequest};
pub use ids::id;
pub use ids::wildcard::Wildcards;
pub use includes::IncludePath;
pub use items::collections::{CollectionStatistics, ItemCounts};
pub use items::item::Item;
pub use items::kinds::{ItemKind, PerKind};
pub use maintenance::renewal::renew_database_id;
pub use maintenance::verify::Verification;
pub use revisions::{
    CollectionRevisions, ImportedRevision, IncludedRevision, RevertTo, Reverted, Revision, RevisionAttachment,
    RevisionClause, RevisionIncludes, RevisionPair, RevisionPlace, RevisionsConfiguration, RevisionsOf, RevisionsWrite,
};
pub use settings::StoreSettings;
pub use snapshot::{ByEtag, ByPrefix, LastEtags, PrefixQuery, Snapshot, Statistics};
pub use store::{Applied, DocumentStore, StoreOptions};
pub use wire::base64;
pub use wire::content::FoundMetadata;
pub use wire::date::{DATE_SIZE, Date};
pub use wire::flags::Flags;
pub use wire::results_hash::ResultsHash;
pub use write::{Answer, DefinitionChange, OutputFate, OutputWrite, OutputWrites, Stamp, Write};
pub use writing::Writing;

/// The collection of documents that name none.
pub const EMPTY_COLLECTION: &str = "@empty";
/// The collection of hi-lo documents.
pub const HILO_COLLECTION: &str = "@hilo";

/// The number of a write in its database. Rises with every document and tombstone, never comes twice.
pub type Etag = u64;
