//! Dumps: the contents of a database as one JSON object, `.ravendbdump`, written and read as a stream.
//!
//! ```text
//! snapshot ─► Export ─► transform script ─► sink ─► compressed by the caller
//! caller ─► decompressed bytes ─► DumpReader ─► Import ─► transform script ─► batches, some in flight ─► durable
//! ```
//!
//! ```text
//! {"BuildVersion":71028,"DatabaseRecord":{…},"Tombstones":[…],"Docs":[…],"Indexes":[…],"Identities":[…]}
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
mod transform;
mod values;

pub(crate) use export::DumpWriter;
pub use export::{DumpSink, Export};
pub use import::{Import, Imported};
pub(crate) use indexes::hash as indexes_hash;
pub use kinds::{ItemType, ItemTypes};
pub use options::{DumpCompression, SmugglerOptions};
pub use reader::{DumpError, DumpPlace, DumpReader, Event, Part};
pub(crate) use record::restored as restored_record;
pub use result::{Counts, SmugglerResult};
