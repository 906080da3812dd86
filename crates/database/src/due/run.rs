//! What one database does by the clock.

use std::sync::Arc;
use std::time::Duration;

use documents::{Date, DueKind, Write};

use super::settings::{DueSettings, DueTask};
use super::tasks::DueCounts;
use crate::{Database, Result};

impl Database {
    /// Handles documents that are due, in one write; returns how many. 0: none is due.
    pub(crate) fn run_due(&self, kind: DueKind, until: Date, count_max: usize) -> Result<u64> {
        // The thread of all databases does not wait for the compaction of one.
        if self.gate.is_shut() {
            return Ok(0);
        }
        // A look at a tree spares most runs a transaction.
        if self.read().next_due(kind)?.is_none_or(|next| next > until) {
            return Ok(0);
        }
        let count = self.write_blocking(&Write::Due { kind, until, count_max })?.count()?;
        self.due_tasks().note(kind, count);
        Ok(count)
    }

    pub(crate) fn set_due_settings(&self, settings: DueSettings) {
        self.due_tasks().settings.store(Arc::new(settings));
    }

    /// The task of a kind, if it is enabled.
    pub fn due_task(&self, kind: DueKind) -> Option<DueTask> {
        self.due_tasks().settings.load().get(kind)
    }

    /// Documents that tasks handled since the database was opened.
    pub fn due_counts(&self) -> DueCounts {
        self.due_tasks().counts()
    }

    /// The longest time that a document has been due for an enabled task that has not handled it yet.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn due_lag(&self, now: Date) -> Result<Duration> {
        let settings = self.due_tasks().settings.load();
        let snapshot = self.read();
        let mut lag = Duration::ZERO;
        for kind in DueKind::ALL.into_iter().filter(|kind| settings.get(*kind).is_some()) {
            lag = lag.max(snapshot.next_due(kind)?.map_or(Duration::ZERO, |due| now.since(due)));
        }
        Ok(lag)
    }

    /// Whether an enabled task has something to do at some time.
    pub(crate) fn waits_for_due(&self) -> bool {
        let settings = self.due_tasks().settings.load();
        let mut enabled = DueKind::ALL.into_iter().filter(|kind| settings.get(*kind).is_some()).peekable();
        if enabled.peek().is_none() {
            return false;
        }
        let snapshot = self.read();
        // Where this fails, so will a run, which is logged.
        enabled.any(|kind| !matches!(snapshot.next_due(kind), Ok(None)))
    }
}
