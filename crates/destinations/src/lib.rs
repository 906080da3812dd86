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
//! * `failure`: what went wrong, as a sentence that says what to do. `secrets`: which text never leaves.
//!
//! A file is in the store whole or not at all: it goes up in one request, or in the parts of a multipart upload, which makes it visible
//! with its last request. Design: `docs/design/destinations.md`.

#![forbid(unsafe_code)]

mod azure;
mod download;
mod failure;
mod google;
pub mod limits;
mod network;
mod s3;
mod secrets;
mod settings;
mod store;
mod upload;

use std::sync::Arc;
use std::time::Duration;

use database::Result;
use database::backups::{Destination, DestinationKind, DestinationSettings, OpenDestination};
use object_store::ObjectStore;
use secrets::Secrets;

/// Opens object stores as destinations of backups.
#[derive(Clone, Debug)]
pub struct ObjectStores {
    /// How long a request that fails for a while is tried again, and a download without progress:
    /// [`limits::RETRY_TIME_MAX`], less in tests.
    pub retry_time_max: Duration,
    /// How long a connection may stand still: [`limits::IDLE_TIME_MAX`], less in tests.
    pub idle_time_max: Duration,
    /// The address of an account of Azure in place of `https://<account>.blob.core.windows.net`, for emulators.
    pub azure_endpoint: Option<String>,
}

impl Default for ObjectStores {
    fn default() -> ObjectStores {
        ObjectStores {
            retry_time_max: limits::RETRY_TIME_MAX,
            idle_time_max: limits::IDLE_TIME_MAX,
            azure_endpoint: None,
        }
    }
}

/// An object store as its settings describe it.
struct Opened {
    store: Arc<dyn ObjectStore>,
    /// What people call it, without secrets.
    place: String,
    /// The folder below which all files are; empty: none.
    root: String,
    secrets: Secrets,
}

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
