//! Looks whether a run may go on.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use crate::limits::{Limits, STEPS_PER_LOOK};

/// Asked by the engine after each [`STEPS_PER_LOOK`] steps.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    looks_left: Cell<u64>,
    end: Cell<Option<Instant>>,
    limits: Cell<Option<Limits>>,
    /// What was exceeded.
    exceeded: RefCell<Option<String>>,
}

impl Watch {
    /// A run begins that has not run before, or begins anew.
    ///
    /// * `spent`: what it took before it began anew.
    pub fn begin(&self, limits: &Limits, spent: Duration) {
        // The counter of the engine goes on from run to run: the first look may come at once.
        self.looks_left.set(limits.steps.div_ceil(STEPS_PER_LOOK));
        self.end.set(Instant::now().checked_add(limits.time.saturating_sub(spent)));
        self.limits.set(Some(*limits));
        self.exceeded.take();
    }

    /// Whether it has to stop.
    pub fn look(&self) -> bool {
        let Some(limits) = self.limits.get() else { return false };
        let left = self.looks_left.get();
        let message = if left == 0 {
            format!(
                "The maximum number of statements executed have been reached - {}. You can configure it by modifying the \
                 configuration option: 'Patching.MaxStepsForScript'.",
                limits.steps
            )
        } else if self.end.get().is_some_and(|end| Instant::now() >= end) {
            format!("The script ran for longer than {} ms", limits.time.as_millis())
        } else {
            self.looks_left.set(left - 1);
            return false;
        };
        self.exceeded.borrow_mut().get_or_insert(message);
        true
    }

    /// What was exceeded since the run began.
    pub fn exceeded(&self) -> Option<String> {
        self.exceeded.borrow().clone()
    }
}
