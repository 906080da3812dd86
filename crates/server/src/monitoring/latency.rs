//! How long requests take: counts in buckets of durations, reads and writes apart, for percentiles.
//!
//! Buckets are log-linear, as in HdrHistogram (Gil Tene, <https://hdrhistogram.github.io/HdrHistogram/>): each power of two of
//! microseconds is cut into 8 parts, so that a bucket is at most an eighth wider than where it begins. Noting a duration is one
//! atomic addition, without a lock. Counts only rise: who asks twice has those of the time between, and their percentiles.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use json::Writer;

/// Binary digits of a duration that its bucket keeps below the first: 8 buckets a power of two.
const DIGITS: u32 = 3;
const PARTS: usize = 1 << DIGITS;

/// Powers of two of microseconds that have buckets of their own; what takes longer than 2^30 us, 18 minutes, is in the last one.
const POWER_MAX: u32 = 30;

/// Buckets of a histogram.
const BUCKET_COUNT: usize = (POWER_MAX - DIGITS + 1) as usize * PARTS;

/// Durations of one kind of requests.
#[derive(Debug)]
pub(crate) struct Histogram {
    counts: [AtomicU64; BUCKET_COUNT],
}

/// Durations of all requests of a server, from their head to the beginning of their answer.
#[derive(Debug, Default)]
pub(crate) struct Latencies {
    pub(crate) reads: Histogram,
    pub(crate) writes: Histogram,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { counts: [const { AtomicU64::new(0) }; BUCKET_COUNT] }
    }
}

/// The bucket of a duration.
fn bucket(micros: u64) -> usize {
    let micros = micros.min((1 << POWER_MAX) - 1);
    match micros.checked_ilog2() {
        // One bucket for each.
        None | Some(0..DIGITS) => micros as usize,
        Some(power) => {
            let part = (micros >> (power - DIGITS)) as usize & (PARTS - 1);
            (power - DIGITS + 1) as usize * PARTS + part
        }
    }
}

/// Where a bucket ends, in microseconds: its durations are shorter.
fn end(bucket: usize) -> u64 {
    match bucket / PARTS {
        0 => bucket as u64 + 1,
        power => (PARTS + bucket % PARTS + 1) as u64 * (1 << (power - 1)),
    }
}

impl Histogram {
    /// Counts a duration.
    #[inline]
    pub(crate) fn note(&self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self.counts[bucket(micros)].fetch_add(1, Relaxed);
    }

    /// The counts now.
    pub(crate) fn counted(&self) -> HistogramCounts {
        HistogramCounts(self.counts.each_ref().map(|count| count.load(Relaxed)))
    }
}

/// The counts of a histogram at one moment.
pub(crate) struct HistogramCounts([u64; BUCKET_COUNT]);

impl HistogramCounts {
    /// How many durations.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().sum()
    }

    /// All durations together, in seconds, about: each counts as the middle of its bucket, which is a sixteenth off at the most.
    pub(crate) fn sum_seconds(&self) -> f64 {
        let begin = |bucket: usize| bucket.checked_sub(1).map_or(0, end);
        let middle = |bucket| (begin(bucket) + end(bucket)) as f64 / 2e6;
        self.0.iter().enumerate().map(|(bucket, &count)| middle(bucket) * count as f64).sum()
    }

    /// The end of the bucket, in microseconds, that has so many thousandths of all durations in it or before it; 0 if there are none.
    fn percentile(&self, thousandths: u64) -> u64 {
        let needed = (self.count() * thousandths).div_ceil(1000).max(1);
        let mut seen = 0;
        let reached = self.0.iter().position(|count| {
            seen += count;
            seen >= needed
        });
        reached.map_or(0, end)
    }

    /// Durations shorter than a power of two of microseconds.
    pub(crate) fn count_below(&self, power: u32) -> u64 {
        self.0.iter().enumerate().filter(|(bucket, _)| end(*bucket) <= 1 << power).map(|(_, count)| count).sum()
    }

    /// Appends `{Count, P50InMs, P90InMs, P99InMs, P999InMs, Buckets: [[end in microseconds, count], ..]}`, without empty buckets.
    pub(crate) fn write(&self, json: &mut Writer<'_>) {
        json.object(|json| {
            json.name("Count").unsigned(self.count());
            for (name, thousandths) in [("P50InMs", 500), ("P90InMs", 900), ("P99InMs", 990), ("P999InMs", 999)] {
                json.name(name).double(self.percentile(thousandths) as f64 / 1000.0);
            }
            json.name("Buckets").array(|json| {
                for (bucket, &count) in self.0.iter().enumerate().filter(|(_, count)| **count > 0) {
                    json.array(|json| _ = json.unsigned(end(bucket)).unsigned(count));
                }
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_lies_in_its_bucket_and_buckets_follow_each_other() {
        let begin = |bucket: usize| bucket.checked_sub(1).map_or(0, end);
        for micros in (0..2000).chain((11..30).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1])) {
            let bucket = bucket(micros);
            assert!((begin(bucket)..end(bucket)).contains(&micros), "{micros} in {bucket}");
            assert!(end(bucket) - begin(bucket) <= 1.max(begin(bucket) / 8), "{bucket} is too wide");
        }
        assert_eq!(bucket(u64::MAX), BUCKET_COUNT - 1);
        assert_eq!(end(BUCKET_COUNT - 1), 1 << POWER_MAX);
    }

    #[test]
    fn percentiles_are_those_of_what_was_noted() {
        let histogram = Histogram::default();
        assert_eq!(histogram.counted().percentile(500), 0);
        for millis in 1..=100 {
            histogram.note(Duration::from_millis(millis));
        }
        let counted = histogram.counted();
        assert_eq!(counted.count(), 100);
        for (thousandths, millis) in [(500, 50), (900, 90), (990, 99), (999, 100)] {
            let found = counted.percentile(thousandths);
            assert!((millis * 1000..=millis * 1125 + 1).contains(&found), "{thousandths}: {found}");
        }
        let (sum, expected) = (counted.sum_seconds(), 5.05);
        assert!((sum - expected).abs() < expected / 16.0, "{sum}");
        assert_eq!((counted.count_below(10), counted.count_below(14), counted.count_below(30)), (1, 16, 100));
    }
}
