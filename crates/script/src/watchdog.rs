//! The watchdog of a run: it ends the run at its limits, or when its caller stops it.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use rquickjs::qjs;

use crate::error::Error;
use crate::limits::{Limits, STEPS_PER_CHECK};
use crate::{stop, ticker};

/// The engine calls it after each [`STEPS_PER_CHECK`] steps, and long operations call it at each tick of the [`ticker`].
#[derive(Debug, Default)]
pub(crate) struct Watchdog {
    checks_left: Cell<u64>,
    end: Cell<Option<Instant>>,
    limits: Cell<Option<Limits>>,
    /// Why the run was ended.
    ended: RefCell<Option<Error>>,
}

impl Watchdog {
    /// A run begins that has not run before, or begins anew.
    ///
    /// * `spent`: what it took before it began anew.
    pub fn begin(&self, limits: &Limits, spent: Duration) {
        ticker::use_ticks();
        // The counter of the engine goes on from run to run: the first look may come at once.
        self.checks_left.set(limits.steps.div_ceil(STEPS_PER_CHECK));
        self.end.set(Instant::now().checked_add(limits.time.saturating_sub(spent)));
        self.limits.set(Some(*limits));
        self.ended.take();
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
        if self.end.get().is_some_and(|end| Instant::now() >= end) {
            let time = self.limits.get().unwrap_or_default().time;
            return self
                .end_with(Error::Limit { message: format!("The script ran for longer than {} ms", time.as_millis()) });
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
