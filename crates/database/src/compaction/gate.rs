//! The gate that writes of a database wait at while its documents are copied.
//!
//! A write looks whether the gate is shut inside of its transaction. So a write that runs after [`WriteGate::shut`] and one transaction
//! more is held back, and one that ran before is in every snapshot that is opened from then on. Writes that no thread waits for are parked,
//! and are proposed again when the gate opens: to the same database, or to the one that has taken its place.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::{Error, Result};

/// A write that waits without a thread.
pub(crate) trait ParkedWrite<D>: Send {
    /// Proposes it again.
    ///
    /// * `database`: the one that has taken the place of its own, if there is one.
    fn go_on(self: Box<Self>, database: Option<Arc<D>>);

    /// Answers it.
    fn refuse(self: Box<Self>, error: Error);
}

/// Where the writes of a database go.
enum Phase<D> {
    /// Into its environment.
    Open,
    /// They wait.
    Shut,
    /// To the database that has taken its place.
    Moved(Weak<D>),
}

/// The gate of one database, `D`.
pub(crate) struct WriteGate<D> {
    /// A copy of the phase, for those who must not take its lock: not open.
    is_shut: AtomicBool,
    state: Mutex<State<D>>,
    /// Notified when the phase changes, and when a write is parked.
    changed: Condvar,
}

struct State<D> {
    phase: Phase<D>,
    /// In the order in which they came.
    parked: Vec<(Instant, Box<dyn ParkedWrite<D>>)>,
}

impl<D> Default for WriteGate<D> {
    fn default() -> Self {
        let state = State { phase: Phase::Open, parked: Vec::new() };
        WriteGate { is_shut: AtomicBool::new(false), state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl<D> WriteGate<D> {
    /// Whether a write must not be applied here.
    pub fn is_shut(&self) -> bool {
        self.is_shut.load(SeqCst)
    }

    /// Holds writes back from now on. Those that run already are not: a transaction that begins after this comes behind them.
    pub fn shut(&self) {
        let mut state = self.state.lock();
        state.phase = Phase::Shut;
        self.is_shut.store(true, SeqCst);
    }

    /// Lets all writes go on: here, or in the database that has taken the place of this one.
    pub fn open(&self, moved_to: Option<&Arc<D>>) {
        let parked = {
            let mut state = self.state.lock();
            self.is_shut.store(moved_to.is_some(), SeqCst);
            state.phase = moved_to.map_or(Phase::Open, |database| Phase::Moved(Arc::downgrade(database)));
            std::mem::take(&mut state.parked)
        };
        self.changed.notify_all();
        parked.into_iter().for_each(|(_, write)| write.go_on(moved_to.cloned()));
    }

    /// The database that has taken the place of this one. `None` inside: it was closed since.
    pub fn moved_to(&self) -> Option<Option<Arc<D>>> {
        if !self.is_shut() {
            return None;
        }
        match &self.state.lock().phase {
            Phase::Moved(database) => Some(database.upgrade()),
            Phase::Open | Phase::Shut => None,
        }
    }

    /// Parks a write until the gate opens. It goes on at once if the gate is not shut.
    pub fn park(&self, name: &str, write: Box<dyn ParkedWrite<D>>) {
        let moved_to = {
            let mut state = self.state.lock();
            match &state.phase {
                Phase::Shut => {
                    state.parked.push((Instant::now(), write));
                    drop(state);
                    self.changed.notify_all();
                    return;
                }
                Phase::Open => None,
                Phase::Moved(database) => Some(database.upgrade()),
            }
        };
        match moved_to {
            Some(None) => write.refuse(Error::Reopened { name: name.to_owned() }),
            Some(database) => write.go_on(database),
            None => write.go_on(None),
        }
    }

    /// Waits until the gate opens; gives the database that has taken the place of this one.
    ///
    /// # Errors
    ///
    /// [`Error::Compacting`] after `wait`; [`Error::Reopened`].
    pub fn wait(&self, name: &str, wait: Duration) -> Result<Option<Arc<D>>> {
        let end = Instant::now() + wait;
        let mut state = self.state.lock();
        loop {
            match &state.phase {
                Phase::Open => return Ok(None),
                Phase::Moved(database) => {
                    let moved_to = database.upgrade();
                    return moved_to.map(Some).ok_or_else(|| Error::Reopened { name: name.to_owned() });
                }
                Phase::Shut => {}
            }
            if self.changed.wait_until(&mut state, end).timed_out() {
                return Err(Error::Compacting { name: name.to_owned(), wait });
            }
        }
    }

    /// Refuses parked writes that waited for too long, until the gate opens. For a thread of its own.
    pub fn refuse_late(&self, name: &str, wait: Duration) {
        let mut state = self.state.lock();
        while matches!(state.phase, Phase::Shut) {
            let late: Vec<_> = state.parked.extract_if(.., |(since, _)| since.elapsed() >= wait).collect();
            if late.is_empty() {
                match state.parked.first() {
                    Some((since, _)) => {
                        let end = *since + wait;
                        self.changed.wait_until(&mut state, end);
                    }
                    None => self.changed.wait(&mut state),
                }
                continue;
            }
            // Call-backs are not called under the lock.
            drop(state);
            late.into_iter().for_each(|(_, write)| write.refuse(Error::Compacting { name: name.to_owned(), wait }));
            state = self.state.lock();
        }
    }
}
