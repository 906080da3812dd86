//! What an archive needs of the node that it belongs to.

use std::path::PathBuf;
use std::sync::Arc;

use json::Value;

use super::super::{Destination, DestinationSettings};
use super::state::ArchiveState;
use crate::{Database, Result};

/// A node whose databases are archived.
pub(crate) trait Host: Send + Sync {
    fn node_tag(&self) -> &str;

    /// The database of this name, if it is open. It does not count as a request, which would keep it open.
    fn peek_at(&self, name: &str) -> Option<Arc<Database>>;

    /// The database of this name, opened if it is not yet.
    fn find_database(&self, name: &str) -> Result<Arc<Database>>;

    /// The settings of a database, as backups have them.
    fn archived_record(&self, name: &str) -> Result<Value>;

    fn open_place(&self, settings: &DestinationSettings) -> Result<Arc<dyn Destination>>;

    /// The folder of files that are being written.
    fn spool_folder(&self) -> PathBuf;

    /// How far the archive of a task has come.
    fn archive_state(&self, name: &str, task: u64) -> Result<Option<ArchiveState>>;

    /// Remembers a history, in place of the one before.
    fn begin_archive(&self, name: &str, state: &ArchiveState) -> Result<()>;

    /// Has the archive of a database go on at once: its places could be reached just now.
    fn resume_archive(&self, name: &str);

    /// Remembers how far a history has come, if it is still the one that goes on.
    fn advance_archive(&self, name: &str, state: &ArchiveState) -> Result<()>;

    /// Forgets a history that cannot go on.
    fn end_archive(&self, name: &str, state: &ArchiveState) -> Result<()>;

    /// Has the task make a snapshot, unless it makes a backup now.
    fn ask_for_snapshot(&self, name: &str, task: u64) -> Result<()>;
}
