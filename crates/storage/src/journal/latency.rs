//! How long writes of the journal take until they are durable (write with `O_DSYNC`, as an fsync): counts by duration.
//!
//! A bucket holds the durations of one power of two of microseconds. Noting one is three additions of a counter, beside a write
//! to a device. Counts only rise.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Powers of two of microseconds with a bucket of their own; longer ones, from 8 s on, are in the last.
const BUCKETS: usize = 24;

/// Counters of one environment.
#[derive(Default)]
pub(crate) struct JournalLatency {
    counts: [AtomicU64; BUCKETS],
    nanos: AtomicU64,
}

/// The durations of the durable journal writes of an environment since it was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalWrites {
    /// By power of two of microseconds: entry `n` counts those of less than 2^n us that are in no entry before. The last one counts all
    /// others as well.
    pub counts: Vec<u64>,
    /// All of them together.
    pub total: Duration,
}

impl JournalWrites {
    /// How many there were.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How many took less than 2^`power` us.
    pub fn count_below(&self, power: usize) -> u64 {
        self.counts.iter().take(power + 1).sum()
    }
}

impl JournalLatency {
    /// A write took so long.
    pub fn note(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = (u64::BITS - micros.leading_zeros()) as usize;
        self.counts[bucket.min(BUCKETS - 1)].fetch_add(1, Ordering::Relaxed);
        self.nanos.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// The counts now.
    pub fn writes(&self) -> JournalWrites {
        let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        JournalWrites { counts, total: Duration::from_nanos(self.nanos.load(Ordering::Relaxed)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_below_the_next_power_of_two() {
        let latency = JournalLatency::default();
        for micros in [0, 1, 63, 64, 127, 1 << 22, u64::MAX / 2000] {
            latency.note(Duration::from_micros(micros));
        }
        let writes = latency.writes();
        let below = |power| writes.count_below(power);
        assert_eq!((below(0), below(1), below(6), below(7), below(22), below(23)), (1, 2, 3, 5, 5, 7));
        assert_eq!(writes.count(), 7);
    }
}
