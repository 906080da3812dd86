//! Profiling of the stages of a query: `include timings()`.
//!
//! Nothing is measured unless it is asked for.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A step of a query that is measured by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Finding or making the index.
    Optimizer,
    /// Waiting for it, and telling whether it is stale.
    Staleness,
    /// Finding entries, in their order.
    Search,
    /// What is to be highlighted.
    HighlightSetup,
    /// Cutting fragments.
    Highlight,
    /// Loading documents.
    Load,
    /// Writing whole documents.
    Write,
    /// Writing projected values.
    Project,
    /// Running scripts.
    Script,
    /// Loading documents that are included.
    Include,
}

/// As many as there are stages.
const COUNT: usize = Stage::Include as usize + 1;

/// The time of each stage of one query.
#[derive(Debug, Default)]
pub struct Timings {
    /// Nanoseconds of each stage; 0: it was not reached.
    nanoseconds: [AtomicU64; COUNT],
}

/// Does `work`, and adds its time to a stage if there are timings.
#[inline]
pub fn timed<T>(timings: Option<&Timings>, stage: Stage, work: impl FnOnce() -> T) -> T {
    let Some(timings) = timings else { return work() };
    let start = Instant::now();
    let result = work();
    timings.add(stage, start.elapsed());
    result
}

impl Timings {
    /// Adds to the time of a stage.
    pub fn add(&self, stage: Stage, time: Duration) {
        // One at least: it was reached.
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1);
        self.nanoseconds[stage as usize].fetch_add(nanoseconds, Relaxed);
    }

    /// The time of a stage so far.
    pub fn of(&self, stage: Stage) -> Duration {
        Duration::from_nanos(self.nanoseconds[stage as usize].load(Relaxed))
    }
}
