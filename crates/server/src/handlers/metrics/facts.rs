//! What `/metrics` tells of databases and indexes, read once for all families: each family needs all of them.

use std::time::Duration;

use database::documents::Date;
use database::{Database, DueCounts, Error, Index, IndexingStatus, OperationStatus, Result};
use storage::Gauges;

use crate::handlers::health;
use crate::limits::{METRICS_DATABASES_MAX, METRICS_INDEXES_MAX};
use crate::node::Node;

/// Databases by name, up to the limits.
pub(super) struct Facts {
    pub(super) databases: Vec<DatabaseFacts>,
    /// All databases, those that are left out as well.
    pub(super) database_count: usize,
    pub(super) indexes_left_out: usize,
    pub(super) backups: Vec<BackupFacts>,
}

/// An enabled backup task.
pub(super) struct BackupFacts {
    pub(super) database: String,
    pub(super) task: String,
    /// Whether its last backup failed, or its archive cannot go on.
    pub(super) is_failing: bool,
    /// How long ago its last backup that succeeded began; `None`: none did.
    pub(super) age: Option<Duration>,
}

/// One database.
pub(super) struct DatabaseFacts {
    pub(super) name: String,
    /// `open`, `closed`, `disabled`, `full` or `failed`.
    pub(super) state: &'static str,
    /// `None`: it is not open, or cannot be read.
    pub(super) open: Option<OpenFacts>,
}

/// Numbers of an open database; sizes are in bytes.
pub(super) struct OpenFacts {
    pub(super) documents: u64,
    pub(super) tombstones: u64,
    pub(super) disk_size: u64,
    pub(super) requests: u64,
    pub(super) queued_batches: u64,
    pub(super) running_operations: u64,
    pub(super) storage: Gauges,
    pub(super) due: DueCounts,
    pub(super) due_lag: Duration,
    pub(super) indexes: Vec<IndexFacts>,
    pub(super) index_count: u64,
}

/// Numbers of one index; sizes are in bytes.
pub(super) struct IndexFacts {
    pub(super) name: String,
    /// `normal`, `paused`, `disabled` or `error`.
    pub(super) state: &'static str,
    pub(super) entries: u64,
    /// From the last change that it has to the last one of its collections, in etags.
    pub(super) lag: u64,
    pub(super) is_stale: bool,
    pub(super) errors: u64,
    pub(super) failed: u64,
    pub(super) indexed: u64,
    pub(super) disk_size: u64,
}

impl Facts {
    pub(super) fn of(node: &Node) -> Facts {
        let names = node.databases.names();
        let (database_count, backups) = (names.len(), Vec::new());
        let mut facts = Facts { databases: Vec::new(), database_count, indexes_left_out: 0, backups };
        let (mut room, now) = (METRICS_INDEXES_MAX, node.databases.clock().now());
        for name in names.into_iter().take(METRICS_DATABASES_MAX) {
            let (state, open) = match node.databases.peek(&name) {
                Ok(None) if node.databases.could_not_be_opened(&name) => ("failed", None),
                Ok(None) => ("closed", None),
                Err(Error::Disabled { .. }) => ("disabled", None),
                // It was deleted since it was listed.
                Err(_) => continue,
                Ok(Some(database)) => match OpenFacts::of(&database, room, now) {
                    Ok(open) => {
                        room -= open.indexes.len();
                        facts.indexes_left_out += open.index_count as usize - open.indexes.len();
                        (state_of(node, &database), Some(open))
                    }
                    Err(error) => {
                        tracing::debug!(database = name, %error, "the metrics of a database cannot be read");
                        ("failed", None)
                    }
                },
            };
            if state != "disabled" {
                facts.add_backups(node, &name, now);
            }
            facts.databases.push(DatabaseFacts { name, state, open });
        }
        facts
    }

    /// Adds the enabled backup tasks of a database.
    fn add_backups(&mut self, node: &Node, database: &str, now: Date) {
        // It may have been deleted since it was listed.
        for task in node.databases.backup_tasks(database).unwrap_or_default() {
            if task.is_disabled {
                continue;
            }
            let status = node.databases.backup_status(database, task.id).ok().flatten().unwrap_or_default();
            // Each look at an archive reads the tasks of its database again.
            let archive = task.is_archived.then(|| node.databases.archive_status(database, task.id).ok().flatten());
            let archive = archive.flatten();
            let age = status.last_full.max(status.last_incremental).map(|last| now.since(last));
            let is_failing = status.error.is_some() || archive.is_some_and(|archive| archive.error.is_some());
            self.backups.push(BackupFacts { database: database.to_owned(), task: task.name, is_failing, age });
        }
    }
}

/// The state of an open database.
fn state_of(node: &Node, database: &Database) -> &'static str {
    if database.failure().is_some() {
        return "failed";
    }
    let is_full = database.space_lacking().is_some_and(|needed| !health::has_room(node, needed));
    if is_full { "full" } else { "open" }
}

impl OpenFacts {
    /// * `index_count_max`: indexes to be looked at.
    fn of(database: &Database, index_count_max: usize, now: Date) -> Result<OpenFacts> {
        let statistics = database.read().statistics()?;
        let all = database.indexes().all();
        // One that cannot be read now is damaged: the next batch or query finds that, and it is rebuilt.
        let indexes =
            all.iter().take(index_count_max).filter_map(|index| IndexFacts::of(database, index).ok()).collect();
        let operations = database.operations().all();
        let is_running = |status| matches!(status, OperationStatus::InProgress);
        Ok(OpenFacts {
            documents: statistics.documents().count,
            tombstones: statistics.documents().tombstone_count,
            disk_size: database.size_on_disk(),
            requests: database.request_count(),
            queued_batches: database.queued_count() as u64,
            running_operations: operations.iter().filter(|operation| is_running(operation.status())).count() as u64,
            due: database.due_counts(),
            due_lag: database.due_lag(now)?,
            storage: database.documents().environment().gauges(),
            indexes,
            index_count: all.len() as u64,
        })
    }
}

impl IndexFacts {
    fn of(database: &Database, index: &Index) -> Result<IndexFacts> {
        let statistics = index.statistics()?;
        let has_failed = index.failure().is_some();
        let state = match index.status() {
            _ if has_failed => "error",
            IndexingStatus::Disabled => "disabled",
            IndexingStatus::Paused => "paused",
            IndexingStatus::Running => "normal",
        };
        // That of the index is opened before that of its documents.
        let snapshot = if has_failed { None } else { Some(index.read()?) };
        let documents = database.read();
        let is_stale = snapshot.map_or(Ok(true), |snapshot| index.is_stale(&snapshot, 0, &documents, None))?;
        let mut lag = 0;
        for (source, progress) in index.sources().iter().zip(&statistics.progress) {
            let last = documents.last_etags(source.kind, source.collection.as_deref())?;
            lag = lag.max(last.items.saturating_sub(progress.items));
            lag = lag.max(last.tombstones.saturating_sub(progress.tombstones));
        }
        Ok(IndexFacts {
            name: index.name().to_owned(),
            state,
            entries: statistics.entry_count,
            lag,
            is_stale,
            errors: statistics.error_count,
            failed: statistics.failed_count,
            indexed: statistics.indexed_count,
            disk_size: index.size_on_disk(),
        })
    }
}
