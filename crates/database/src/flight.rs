//! Writes on their way to the disk while the next ones are made: a bounded number of them, and what they came to.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use crate::limits::BULK_BATCHES_IN_FLIGHT_MAX;
use crate::{Error, Result};

/// The writes of one bulk insert or import that are on their way, and the tally of those that have landed.
#[derive(Debug, Default)]
pub(crate) struct Flight<T> {
    state: Mutex<FlightState<T>>,
    landed: Condvar,
}

#[derive(Debug, Default)]
struct FlightState<T> {
    in_flight: usize,
    tally: T,
    failed: Option<Error>,
}

impl<T: Clone + Default> Flight<T> {
    pub fn new() -> Arc<Flight<T>> {
        Arc::default()
    }

    /// Waits for room for one more write, which the caller then submits.
    ///
    /// # Errors
    ///
    /// Why an earlier one failed.
    pub fn begin(&self) -> Result<()> {
        let mut state = self.state.lock();
        while state.in_flight >= BULK_BATCHES_IN_FLIGHT_MAX {
            self.landed.wait(&mut state);
        }
        if let Some(failed) = &state.failed {
            return Err(failed.clone());
        }
        state.in_flight += 1;
        Ok(())
    }

    /// Counts a write that is durable, or was refused.
    pub fn land<A>(&self, outcome: Result<A>, count: impl FnOnce(&mut T, A)) {
        let mut state = self.state.lock();
        state.in_flight -= 1;
        match outcome {
            Ok(answer) => count(&mut state.tally, answer),
            Err(error) => drop(state.failed.get_or_insert(error)),
        }
        self.landed.notify_all();
    }

    /// Waits until none is on its way.
    ///
    /// # Errors
    ///
    /// Why the first that failed did.
    pub fn wait(&self) -> Result<T> {
        let mut state = self.state.lock();
        while state.in_flight > 0 {
            self.landed.wait(&mut state);
        }
        match &state.failed {
            Some(failed) => Err(failed.clone()),
            None => Ok(state.tally.clone()),
        }
    }

    /// The tally so far.
    pub fn tally(&self) -> T {
        self.state.lock().tally.clone()
    }
}
