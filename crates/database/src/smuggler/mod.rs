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
pub(crate) mod over_image;
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

/// A hash of what has no etag: definitions of indexes, subscriptions and unique constraints, and identities. It changes when one of them
/// does.
///
/// # Errors
///
/// Storage fails.
pub(crate) fn hash_without_etags(database: &crate::Database, snapshot: &documents::Snapshot<'_>) -> crate::Result<u64> {
    let mut definitions = Vec::new();
    indexes::write_all(&mut definitions, database);
    subscriptions::write_all(&mut definitions, snapshot)?;
    snapshot.constraints()?.iter().for_each(|constraint| constraint.write(&mut json::Writer::new(&mut definitions)));
    let mut hash = xxhash_rust::xxh3::Xxh3Default::new();
    hash.update(&definitions);
    for (name, value) in &snapshot.identities()? {
        hash.update(&(name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        hash.update(&value.to_le_bytes());
    }
    Ok(hash.digest())
}
