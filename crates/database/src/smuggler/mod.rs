//! Dumps: the contents of a database as one JSON object, `.ravendbdump`, written and read as a stream.
//!
//! ```text
//! snapshot ─► Export ─► transform script ─► sink ─► compressed by the caller
//! caller ─► decompressed bytes ─► DumpReader ─► Import ─► transform script ─► batches, some in flight ─► durable
//! ```
//!
//! ```text
//! {"BuildVersion":71028,"DatabaseRecord":{…},"Docs":[…],"Indexes":[…],"Identities":[…],"Subscriptions":[…]}
//! ```
//!
//! Names and order are RavenDB's. A dump of RavenDB has more sections; those of features that are missing here are passed over and
//! counted. Memory is bounded, whatever the stream has: see [`crate::limits`]. Both run as an [`Operation`](crate::Operation), which
//! tells how far they are and can be killed.

mod attachments;
mod counters;
mod export;
mod import;
mod indexes;
mod kinds;
mod lenient;
mod metadata;
mod options;
mod pace;
mod reader;
mod record;
mod result;
mod subscriptions;
mod transform;
mod values;

pub(crate) use export::DumpWriter;
pub use export::{DumpSink, Export};
pub use import::{Import, Imported};
pub use kinds::{ItemType, ItemTypes};
pub use options::{DumpCompression, SmugglerOptions};
pub use reader::{Behind, DumpError, DumpPlace, DumpReader, Event, Part};
pub(crate) use record::restored as restored_record;
pub use result::{Counts, SmugglerResult};

/// A hash of the definitions of indexes and subscriptions, which changes when one does. Neither has an etag.
///
/// # Errors
///
/// Storage fails.
pub(crate) fn definitions_hash(database: &crate::Database, snapshot: &documents::Snapshot<'_>) -> crate::Result<u64> {
    let mut definitions = Vec::new();
    indexes::write_all(&mut definitions, database);
    subscriptions::write_all(&mut definitions, snapshot)?;
    Ok(xxhash_rust::xxh3::xxh3_64(&definitions))
}
