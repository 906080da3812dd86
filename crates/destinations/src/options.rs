//! What opening an object store takes, and what it gives.

use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;

use crate::secrets::Secrets;

/// Opens object stores as destinations of backups.
#[derive(Clone, Debug)]
pub struct ObjectStores {
    /// How long a request that fails for a while is tried again, and a download without progress:
    /// [`crate::limits::RETRY_TIME_MAX`], less in tests.
    pub retry_time_max: Duration,
    /// How long a connection may stand still: [`crate::limits::IDLE_TIME_MAX`], less in tests.
    pub idle_time_max: Duration,
}

impl Default for ObjectStores {
    fn default() -> ObjectStores {
        ObjectStores { retry_time_max: crate::limits::RETRY_TIME_MAX, idle_time_max: crate::limits::IDLE_TIME_MAX }
    }
}

/// An object store as its settings describe it.
pub(crate) struct Opened {
    pub store: Arc<dyn ObjectStore>,
    /// What people call it, without secrets.
    pub place: String,
    /// The folder below which all files are; empty: none.
    pub root: String,
    pub secrets: Secrets,
}
