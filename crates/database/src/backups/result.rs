//! What a backup came to, as its operation tells.

use std::time::Duration;

use super::configuration::DestinationKind;

/// What a backup came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupResult {
    /// Whether it is of all of the database.
    pub is_full: bool,
    /// Its folder, below the destinations.
    pub folder: String,
    /// Its file in that; `None`: nothing had changed since the one before, and no file was written.
    pub file: Option<String>,
    /// The folder that it went to, if one is a destination: absolute.
    pub local_folder: Option<String>,
    /// What went to the other destinations.
    pub uploads: Vec<UploadCounts>,
}

/// What went to one destination that is no folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadCounts {
    /// Its kind.
    pub kind: DestinationKind,
    /// Bytes.
    pub size: u64,
    /// How long it took.
    pub duration: Duration,
}
