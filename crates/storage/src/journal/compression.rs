//! Adaptive compression of log records: a record is compressed when the device would need longer for the saved bytes than the
//! processor needs to save them.
//!
//! Both costs are measured while the journal is written. The device's cost of a byte is the difference between large and small
//! records; the cost and the gain of compression are those of the last record that it was tried on. It is tried less and less
//! often while it does not pay.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::latency::JournalLatency;

/// Raw bytes below which a record takes a few blocks anyway.
const RECORD_BYTES_MIN: usize = 16 << 10;

/// Records between two tries, at most.
const BACKOFF_MAX: u32 = 256;

/// The writer's own state.
#[derive(Default)]
pub(crate) struct Compression {
    skip: u32,
    backoff: u32,
}

impl Compression {
    /// Whether to compress a record of `raw_bytes`.
    pub fn worth_trying(&mut self, raw_bytes: usize) -> bool {
        if raw_bytes < RECORD_BYTES_MIN {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        true
    }

    /// What it took to bring `raw_bytes` to `stored_bytes`.
    pub fn tried(&mut self, raw_bytes: usize, stored_bytes: usize, took: Duration, device: &Device) {
        let saved = raw_bytes.saturating_sub(stored_bytes) as f64;
        let pays = saved * device.nanos_per_byte() > took.as_nanos() as f64;
        self.backoff = if pays { 0 } else { (self.backoff * 2).clamp(1, BACKOFF_MAX) };
        self.skip = self.backoff;
    }
}

/// How long the device takes over journal writes. Shared by the threads that write; what they lose to each other does not
/// matter.
#[derive(Default)]
pub(crate) struct Device {
    small: Mean,
    large: Mean,
    pub latency: JournalLatency,
}

/// Bytes and nanoseconds of a write, averaged over the last ones; 0: none yet.
#[derive(Default)]
struct Mean {
    bytes: AtomicU64,
    nanos: AtomicU64,
}

impl Device {
    const SMALL_MAX: usize = 8 << 10;
    const LARGE_MIN: usize = 32 << 10;

    /// A write of `bytes` took so long.
    pub fn wrote(&self, bytes: usize, took: Duration) {
        self.latency.note(took);
        if bytes <= Self::SMALL_MAX {
            self.small.add(bytes, took);
        } else if bytes >= Self::LARGE_MIN {
            self.large.add(bytes, took);
        }
    }

    /// What one byte more costs. Before anything large was written, more than compression can cost: so it is tried.
    fn nanos_per_byte(&self) -> f64 {
        let (small_bytes, small_nanos) = self.small.get();
        let (large_bytes, large_nanos) = self.large.get();
        if large_bytes == 0.0 {
            return f64::INFINITY;
        }
        ((large_nanos - small_nanos) / (large_bytes - small_bytes)).max(0.0)
    }
}

impl Mean {
    const WEIGHT: u64 = 8;

    fn add(&self, bytes: usize, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        for (mean, value) in [(&self.bytes, bytes as u64), (&self.nanos, nanos)] {
            let before = mean.load(Ordering::Relaxed);
            let now = if before == 0 { value } else { before - before / Self::WEIGHT + value / Self::WEIGHT };
            mean.store(now, Ordering::Relaxed);
        }
    }

    fn get(&self) -> (f64, f64) {
        (self.bytes.load(Ordering::Relaxed) as f64, self.nanos.load(Ordering::Relaxed) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device with a fixed cost of 70 us a write, and `nanos` for each byte.
    fn device(nanos: u64) -> Device {
        let device = Device::default();
        for bytes in [4 << 10, 64 << 10, 4 << 10, 128 << 10] {
            device.wrote(bytes, Duration::from_nanos(70_000 + bytes as u64 * nanos));
        }
        device
    }

    #[test]
    fn a_slow_device_gains_and_a_fast_one_does_not() {
        // Half of 64 KiB for 100 us of work: 3 ns a byte.
        for (nanos, pays) in [(1, false), (10, true)] {
            let mut compression = Compression::default();
            assert!(compression.worth_trying(64 << 10), "the first large record tells what it saves");
            compression.tried(64 << 10, 32 << 10, Duration::from_micros(100), &device(nanos));
            assert_eq!(compression.worth_trying(64 << 10), pays, "{nanos} ns a byte");
        }
    }

    #[test]
    fn what_never_pays_is_tried_ever_less_often_but_again() {
        let mut compression = Compression::default();
        let device = device(1);
        let mut tries = Vec::new();
        for record in 0..2000 {
            if compression.worth_trying(64 << 10) {
                tries.push(record);
                compression.tried(64 << 10, 64 << 10, Duration::from_micros(10), &device);
            }
        }
        let gaps: Vec<_> = tries.windows(2).map(|pair| pair[1] - pair[0] - 1).collect();
        assert_eq!(gaps[..9], [1, 2, 4, 8, 16, 32, 64, 128, 256]);
        assert!(gaps[9..].iter().all(|gap| *gap == BACKOFF_MAX as usize), "{gaps:?}");
    }

    #[test]
    fn small_records_are_left_as_they_are() {
        assert!(!Compression::default().worth_trying(RECORD_BYTES_MIN - 1));
    }
}
