//! How many documents an index takes a second, as the mean of the last minute.

use std::time::{Duration, Instant};

/// What the mean is of.
const WINDOW: Duration = Duration::from_secs(60);

/// Counts of two windows that follow each other. The mean weighs the one before by how much of it is less than a window ago: a sliding
/// window by two counters.
#[derive(Clone, Default)]
pub(super) struct Speed {
    /// When the window at hand began.
    began: Option<Instant>,
    count: u64,
    count_before: u64,
}

impl Speed {
    /// So many more were taken.
    pub fn add(&mut self, count: u64, now: Instant) {
        let began = *self.began.get_or_insert(now);
        let age = now.saturating_duration_since(began);
        if age >= WINDOW {
            self.count_before = if age < WINDOW * 2 { self.count } else { 0 };
            self.count = 0;
            // The windows stand side by side, unless nothing came in a whole one.
            self.began = Some(if age < WINDOW * 2 { began + WINDOW } else { now });
        }
        self.count = self.count.saturating_add(count);
    }

    /// Documents a second.
    pub fn per_second(&self, now: Instant) -> f64 {
        let Some(began) = self.began else { return 0.0 };
        let windows = now.saturating_duration_since(began).as_secs_f64() / WINDOW.as_secs_f64();
        let (count, before) = (self.count as f64, self.count_before as f64);
        let counted = match windows {
            ..1.0 => count + before * (1.0 - windows),
            1.0..2.0 => count * (2.0 - windows),
            _ => 0.0,
        };
        counted / WINDOW.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_that_of_the_last_minute() {
        let (mut speed, begin) = (Speed::default(), Instant::now());
        let after = |seconds: u64| begin + Duration::from_secs(seconds);
        assert_eq!(speed.per_second(begin), 0.0);
        speed.add(600, begin);
        assert_eq!(speed.per_second(begin), 10.0);
        assert_eq!(speed.per_second(after(59)), 10.0);
        // A half of the window before counts.
        assert_eq!(speed.per_second(after(90)), 5.0);
        speed.add(60, after(90));
        assert_eq!(speed.per_second(after(90)), 6.0);
        assert_eq!(speed.per_second(after(120)), 1.0);
        assert_eq!(speed.per_second(after(150)), 0.5);
        assert_eq!(speed.per_second(after(180)), 0.0);
        // After a long pause nothing of before counts.
        speed.add(120, after(1000));
        assert_eq!(speed.per_second(after(1000)), 2.0);
        (1..=60).for_each(|second| speed.add(30, after(1000 + second)));
        assert!((speed.per_second(after(1060)) - 32.0).abs() < 1.0, "{}", speed.per_second(after(1060)));
    }
}
