//! Object stores as destinations of backups: Amazon S3 and what speaks its protocol, Azure Blob Storage, Google Cloud Storage.
//!
//! ```text
//! settings ─► s3, azure, google ─► store ─► upload, download ─► network ─► the object store
//! ```
//!
//! * `settings`: what clients write, and the refusal of what they must not.
//! * `s3`, `azure`, `google`: one kind each, from its settings to a client of the crate `object_store`.
//! * `store`: the `Destination` that `database` sees. Its functions block; `upload` and `download` keep their memory bounded.
//! * `network`: the one runtime and HTTP client of the process, with their time limits.
//! * `addresses`: those that only operators may have backups go to.
//! * `options`: what opening one takes, and what it gives.
//! * `failure`: what went wrong, as a sentence that says what to do. `secrets`: which text never leaves.
//!
//! A file is in the store whole or not at all: it goes up in one request, or in the parts of a multipart upload, which makes it visible
//! with its last request. Design: `docs/design/destinations.md`.

#![forbid(unsafe_code)]

mod addresses;
mod azure;
mod download;
mod failure;
mod google;
pub mod limits;
mod network;
mod options;
mod s3;
mod secrets;
mod settings;
mod store;
mod upload;

use std::sync::Arc;

use database::Result;
use database::backups::{Destination, DestinationKind, DestinationSettings, OpenDestination};
pub use options::ObjectStores;

impl OpenDestination for ObjectStores {
    fn open(&self, settings: &DestinationSettings) -> Result<Arc<dyn Destination>> {
        let opened = match settings.kind {
            DestinationKind::S3 => s3::open(settings, self)?,
            DestinationKind::Azure => azure::open(settings, self)?,
            DestinationKind::GoogleCloud => google::open(settings, self)?,
            DestinationKind::Local => return Err(settings::bad("a folder is no object store")),
        };
        Ok(Arc::new(store::ObjectDestination::new(opened, settings.kind, self)?))
    }
}
