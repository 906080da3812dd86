//! The tasks of an open database: which are enabled, and what they did.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use arc_swap::ArcSwap;
use documents::DueKind;

use super::settings::DueSettings;

/// Documents that were handled since the database was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DueCounts {
    /// Documents that expired.
    pub expired: u64,
    /// Documents that were refreshed.
    pub refreshed: u64,
    /// Documents that were archived.
    pub archived: u64,
}

/// The enabled tasks of an open database, and counts of what they did.
#[derive(Debug, Default)]
pub(crate) struct DueTasks {
    pub settings: ArcSwap<DueSettings>,
    counts: [AtomicU64; DueKind::ALL.len()],
}

impl DueTasks {
    /// Notes that documents were handled.
    pub fn note(&self, kind: DueKind, count: u64) {
        self.counts[kind as usize].fetch_add(count, Relaxed);
    }

    pub fn counts(&self) -> DueCounts {
        let count = |kind: DueKind| self.counts[kind as usize].load(Relaxed);
        DueCounts {
            expired: count(DueKind::Expiration),
            refreshed: count(DueKind::Refresh),
            archived: count(DueKind::Archival),
        }
    }
}
