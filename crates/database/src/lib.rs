//! A node's databases: found by name, created, deleted, written to through bounded queues, with their operations.
//!
//! ```no_run
//! use rookery_database::{Databases, DatabasesOptions, documents};
//!
//! let databases = Databases::open(DatabasesOptions::folder("data"))?;
//! let shop = databases.find_or_create("Shop")?;
//! let mut batch = documents::Batch::new();
//! batch.put("users/1", br#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#, documents::Expected::Any)?;
//! shop.execute(batch)?;
//! assert!(shop.read().get("USERS/1")?.is_some());
//! # Ok::<(), rookery_database::Error>(())
//! ```
//!
//! A part of the database Rookery. Programs use it through the crate `rookerydb`, which is the public face; this crate carries no promise
//! of stability.
#![forbid(unsafe_code)]

mod administration;
mod analyzers;
mod attachments;
pub mod backups;
mod bulk_insert;
pub mod change_feed;
mod changes;
mod check_report;
mod checking;
mod client_configuration;
mod clock;
pub mod compaction;
mod consensus;
mod database;
mod databases;
mod due;
mod entry;
mod error;
mod flight;
mod folders;
mod indexes;
pub mod limits;
mod name;
mod names;
mod operations;
mod patches;
mod principals;
pub mod queries;
mod query_settings;
mod queue;
mod readiness;
mod record;
mod record_properties;
mod request_ids;
pub mod revisions;
mod sample_data;
mod script_memory;
mod settings;
pub mod smuggler;
pub mod subscriptions;
mod system;
mod threads;
pub mod time_span;
mod tombstones;

pub use administration::Deletion;
pub use attachments::{ContentReceiver, ContentUpload, InlineRoom};
pub use bulk_insert::{BulkInsert, BulkInsertCounts};
pub use changes::{ChangeListener, Committed, IndexChange};
pub use check_report::{CheckReport, CheckedPart};
pub use checking::Check;
pub use client_configuration::ClientConfiguration;
pub use clock::{Clock, ManualClock, SystemClock};
pub use database::{Database, StorageArea};
pub use databases::{Databases, DatabasesOptions};
pub use due::{DueCounts, DueTask};
pub use error::{Error, Result};
pub use folders::is_being_removed;
pub use indexes::wire::{automatic_indexing, write_places, write_vectors};
pub use indexes::{
    Action, Advice, Explanation, FormerDefinition, Index, IndexStatistics, Indexes, IndexingBatch, IndexingStatus,
    NO_ANALYZER, Problem,
};
pub use limits::Limits;
pub use operations::{Operation, OperationDetail, OperationId, OperationResult, OperationStatus, Operations, Progress};
pub use patches::{PatchAttempts, PatchedDocument, QueryPatch};
pub use principals::{ApiKey, Clearance, Permission, Principal, RegisteredCertificate, Rights, check_principal_name};
pub use query_settings::{AutomaticIndexes, QuerySettings, QuerySwitch};
pub use readiness::{RefusingDatabase, WriteRefusal};
pub use record::{DatabaseRecord, LockMode};
pub use record_properties::{RECORD_PROPERTIES, RecordProperty};
pub use script_memory::with_script_memory;
pub use smuggler::SmugglerResult;
pub use tombstones::TombstoneHolder;

pub use documents;
pub use script;
pub use storage::Lead;
pub use storage::io::aio::AsyncWrites;
