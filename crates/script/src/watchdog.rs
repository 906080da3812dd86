//! The watchdog of a run: it ends the run at its limits, or when its caller stops it.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use rquickjs::qjs;
use rustix::time::{ClockId, clock_gettime};

use crate::error::Error;
use crate::limits::{Limits, STEPS_PER_CHECK};
use crate::{stop, ticker};

/// The engine calls it after each [`STEPS_PER_CHECK`] steps, and long operations call it at each tick of the [`ticker`].
///
/// A run is ended for the processor time that its thread took, not for what passed on the clock: a thread that waits for a processor, or
/// for a page of a file, runs no script, and an index must not lose a document for that. The kernel's clock of a thread costs a system
/// call, so that it is read only at a look, which most runs end before.
#[derive(Debug, Default)]
pub(crate) struct Watchdog {
    checks_left: Cell<u64>,
    /// Before it the run cannot have taken too long.
    end: Cell<Option<Instant>>,
    /// The processor time of the thread when it was first read.
    first_read: Cell<Option<Duration>>,
    limits: Cell<Option<Limits>>,
    /// Why the run was ended.
    ended: RefCell<Option<Error>>,
}

impl Watchdog {
    /// A run begins that has not run before.
    pub fn begin(&self, limits: &Limits) {
        self.end.set(Instant::now().checked_add(limits.time));
        self.first_read.set(None);
        self.limits.set(Some(*limits));
        self.begin_steps(limits);
    }

    /// The run begins anew on its thread, with the answer to what it asked. Its time goes on.
    pub fn begin_anew(&self) {
        self.time_taken();
        self.begin_steps(&self.limits.get().unwrap_or_default());
    }

    fn begin_steps(&self, limits: &Limits) {
        ticker::use_ticks();
        // The counter of the engine goes on from run to run: the first look may come at once.
        self.checks_left.set(limits.steps.div_ceil(STEPS_PER_CHECK));
        self.ended.take();
    }

    /// The processor time that the run took since this was first asked.
    fn time_taken(&self) -> Duration {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        let now = Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32);
        let first = self.first_read.get().unwrap_or(now);
        self.first_read.set(Some(first));
        now.saturating_sub(first)
    }

    /// True if the run has to end. The engine calls it.
    pub fn must_end(&self) -> bool {
        let Some(limits) = self.limits.get() else { return false };
        if qjs::is_asking_for_tick() {
            return self.must_end_by_clock();
        }
        let left = self.checks_left.get();
        if left == 0 {
            let mut message =
                format!("The maximum number of statements executed have been reached - {}.", limits.steps);
            if let Some(setting) = limits.steps_setting {
                message += &format!(" You can configure it by modifying the configuration option: '{setting}'.");
            }
            return self.end_with(Error::Limit { message });
        }
        self.checks_left.set(left - 1);
        self.must_end_by_clock()
    }

    /// True if the run has to end for its time, or because its caller stopped it.
    pub fn must_end_by_clock(&self) -> bool {
        ticker::use_ticks();
        let time = self.limits.get().unwrap_or_default().time;
        if self.time_taken() >= time && self.end.get().is_some_and(|end| Instant::now() >= end) {
            return self.end_with(Error::Limit {
                message: format!("The script took more than {} ms of processor time", time.as_millis()),
            });
        }
        stop::is_stopped() && self.end_with(Error::Stopped)
    }

    fn end_with(&self, error: Error) -> bool {
        self.ended.borrow_mut().get_or_insert(error);
        true
    }

    /// Why the run was ended, if it was.
    pub fn ended(&self) -> Option<Error> {
        self.ended.borrow().clone()
    }
}
