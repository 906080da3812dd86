//! The clock of what happens at a time: expiration, refresh and archival of documents. Tests move it by hand.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use documents::Date;
use parking_lot::Mutex;

use crate::limits::CLOCK_CHECK_EVERY;

/// A clock.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The time now.
    fn now(&self) -> Date;

    /// How long a thread that waits for a time has to sleep; `None`: until it is woken by what [`Self::on_move`] was given.
    fn time_until(&self, time: Date) -> Option<Duration>;

    /// Has `moved` called whenever the clock is moved by hand, on the thread that moves it, and after the move.
    fn on_move(&self, moved: Box<dyn Fn() + Send + Sync>);
}

/// A time after another; at most the end of the year 9999.
pub(crate) fn later(time: Date, by: Duration) -> Date {
    let ticks = u64::try_from(by.as_nanos() / 100).unwrap_or(u64::MAX);
    Date::from_ticks(time.ticks().saturating_add(ticks))
}

/// How long a thread that waits for a time sleeps before it reads the clock again: at most [`CLOCK_CHECK_EVERY`], because a clock may be
/// set, and the timer of a sleeping thread stands still while the machine is suspended. `None`: until it is woken, as with
/// [`Clock::time_until`].
pub(crate) fn sleep_until(clock: &dyn Clock, time: Date) -> Option<Duration> {
    clock.time_until(time).map(|left| left.min(CLOCK_CHECK_EVERY))
}

/// The clock of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Date {
        Date::now()
    }

    fn time_until(&self, time: Date) -> Option<Duration> {
        Some(time.since(self.now()))
    }

    fn on_move(&self, _: Box<dyn Fn() + Send + Sync>) {}
}

/// A clock that stands still until it is moved. Moving it returns when everything that is due by then has happened.
#[derive(Clone, Default)]
pub struct ManualClock(Arc<Inner>);

#[derive(Default)]
struct Inner {
    now: Mutex<Date>,
    moved: Mutex<Vec<Arc<dyn Fn() + Send + Sync>>>,
}

impl ManualClock {
    /// A clock that stands at a time.
    pub fn at(now: Date) -> ManualClock {
        ManualClock(Arc::new(Inner { now: Mutex::new(now), moved: Mutex::default() }))
    }

    /// Moves it forward.
    pub fn advance(&self, by: Duration) {
        self.set(later(self.now(), by));
    }

    /// Moves it to a time.
    pub fn set(&self, now: Date) {
        *self.0.now.lock() = now;
        // Called without the lock: they read the clock.
        let moved = self.0.moved.lock().clone();
        moved.iter().for_each(|moved| moved());
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Date {
        *self.0.now.lock()
    }

    fn time_until(&self, _: Date) -> Option<Duration> {
        None
    }

    fn on_move(&self, moved: Box<dyn Fn() + Send + Sync>) {
        self.0.moved.lock().push(Arc::from(moved));
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ManualClock").field(&self.now()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleeping_thread_reads_the_clock_each_minute() {
        let now = Date::now();
        assert_eq!(sleep_until(&SystemClock, later(now, Duration::from_secs(86_400))), Some(CLOCK_CHECK_EVERY));
        assert!(sleep_until(&SystemClock, later(now, Duration::from_secs(5))).unwrap() <= Duration::from_secs(5));
        assert_eq!(sleep_until(&SystemClock, Date::default()), Some(Duration::ZERO));
        assert_eq!(sleep_until(&ManualClock::at(now), later(now, Duration::from_secs(5))), None);
    }
}
