//! The scheduler: runs the enabled tasks of all databases of a node, on one thread.
//!
//! A task runs when its frequency has passed since its last run. Tasks that run at the same time take turns, a bounded write each. The
//! thread begins with the first task and ends with the last, and sleeps in between.
//!
//! A database that was closed because it is idle has nothing due (`Database::is_forgettable`), and no client writes to it, so that it
//! stays closed. One that was not opened since the start, or whose configuration changed, is opened once to look.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use documents::limits::DUE_COUNT_AT_ONCE;
use documents::{Date, DueKind};
use parking_lot::{Condvar, Mutex};

use super::settings::{DueSettings, DueTask};
use crate::clock::{Clock, later, sleep_until};
use crate::threads::OnDemandThread;
use crate::{Database, Result};

/// A task runs first this long after it was enabled or the node was started, unless its frequency is higher. A task that runs once a day
/// would otherwise never run where the node is restarted every day.
const FIRST_RUN_AFTER: Duration = Duration::from_secs(60);

/// Finds a database by its name. With `true` it is opened if it is closed.
type Open = Box<dyn Fn(&str, bool) -> Result<Option<Arc<Database>>> + Send + Sync>;

/// The scheduler of a node.
pub(crate) struct Scheduler {
    shared: Arc<Shared>,
    thread: OnDemandThread,
}

struct Shared {
    clock: Arc<dyn Clock>,
    open: OnceLock<Open>,
    state: Mutex<State>,
    /// Notified when tasks change, when the clock is moved by hand, and when the thread has caught up with the clock.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// By the lower-cased name of the database.
    tasks: BTreeMap<(String, DueKind), Task>,
    has_thread: bool,
    is_closed: bool,
    /// All runs up to this time are done.
    done_until: Date,
}

#[derive(Clone, Copy)]
struct Task {
    settings: DueTask,
    next: Date,
    /// The database has to be opened to look what is due.
    is_unknown: bool,
}

/// A run of a task.
struct Run {
    name: String,
    kind: DueKind,
    until: Date,
    left: u64,
    handled: u64,
    is_unknown: bool,
}

impl Scheduler {
    pub fn new(clock: Arc<dyn Clock>) -> Scheduler {
        let shared =
            Arc::new(Shared { clock, open: OnceLock::new(), state: Mutex::default(), changed: Condvar::new() });
        let moved: Weak<Shared> = Arc::downgrade(&shared);
        shared.clock.on_move(Box::new(move || moved.upgrade().iter().for_each(|shared| shared.catch_up())));
        Scheduler { shared, thread: OnDemandThread::default() }
    }

    /// The clock of the node.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }

    /// Begins. Before this no task runs.
    pub fn start(&self, open: Open) {
        _ = self.shared.open.set(open);
        self.ensure_thread();
    }

    /// Sets the enabled tasks of a database.
    pub fn configure(&self, name: &str, settings: DueSettings) {
        let name = name.to_lowercase();
        let now = self.shared.clock.now();
        {
            let mut state = self.shared.state.lock();
            for kind in DueKind::ALL {
                let key = (name.clone(), kind);
                match settings.get(kind) {
                    None => _ = state.tasks.remove(&key),
                    Some(settings) if state.tasks.get(&key).is_some_and(|task| task.settings == settings) => {}
                    Some(settings) => {
                        let next = later(now, settings.frequency.min(FIRST_RUN_AFTER));
                        // The values of a closed database cannot be seen, so that it is not opened for them.
                        let is_unknown = kind != DueKind::ValueExpiration;
                        state.tasks.insert(key, Task { settings, next, is_unknown });
                    }
                }
            }
        }
        self.shared.changed.notify_all();
        self.ensure_thread();
    }

    /// Ends, and waits for what runs.
    pub fn close(&self) {
        self.shared.state.lock().is_closed = true;
        self.shared.changed.notify_all();
        self.thread.join();
    }

    fn ensure_thread(&self) {
        let claim = || {
            let mut state = self.shared.state.lock();
            let is_needed = !state.tasks.is_empty() && self.shared.open.get().is_some();
            is_needed && !state.is_closed && !std::mem::replace(&mut state.has_thread, true)
        };
        let shared = self.shared.clone();
        if !self.thread.ensure("due-documents", claim, move || shared.run()) {
            self.shared.state.lock().has_thread = false;
        }
    }
}

impl Shared {
    fn run(&self) {
        let mut state = self.state.lock();
        loop {
            if state.is_closed || state.tasks.is_empty() {
                state.has_thread = false;
                self.changed.notify_all();
                return;
            }
            let now = self.clock.now();
            for task in state.tasks.values_mut() {
                // The clock went back.
                task.next = task.next.min(later(now, task.settings.frequency));
            }
            let runs: Vec<Run> =
                state.tasks.iter().filter(|(_, task)| task.next <= now).map(|due| Run::of(due, now)).collect();
            if runs.is_empty() {
                state.done_until = now;
                self.changed.notify_all();
                let next = state.tasks.values().map(|task| task.next).min().unwrap_or(now);
                match sleep_until(&*self.clock, next) {
                    Some(time) => _ = self.changed.wait_for(&mut state, time),
                    None => self.changed.wait(&mut state),
                }
                continue;
            }
            drop(state);
            let seen = self.run_all(runs);
            state = self.state.lock();
            for (name, kind, is_unknown) in seen {
                if let Some(task) = state.tasks.get_mut(&(name, kind)) {
                    task.next = later(now, task.settings.frequency);
                    task.is_unknown = is_unknown;
                }
            }
        }
    }

    /// Does all runs, which take turns. Returns for each whether its database is still to be opened to look.
    fn run_all(&self, mut runs: Vec<Run>) -> Vec<(String, DueKind, bool)> {
        let mut ended = Vec::with_capacity(runs.len());
        while !runs.is_empty() {
            runs.retain_mut(|run| {
                let is_going_on = !self.state.lock().is_closed && self.step(run);
                if !is_going_on {
                    ended.push((std::mem::take(&mut run.name), run.kind, run.is_unknown));
                }
                is_going_on
            });
        }
        ended
    }

    /// Does one write of a run. False: the run is over.
    fn step(&self, run: &mut Run) -> bool {
        let Some(open) = self.open.get() else { return false };
        let (kind, name) = (run.kind, run.name.as_str());
        let database = match open(name, run.is_unknown) {
            Ok(Some(database)) => database,
            Ok(None) => return false,
            Err(error) => {
                tracing::debug!(database = name, ?kind, %error, "what is due was not looked for: the database is not open");
                return false;
            }
        };
        run.is_unknown = false;
        let count_max = usize::try_from(run.left).unwrap_or(usize::MAX).min(DUE_COUNT_AT_ONCE);
        match database.run_due(kind, run.until, count_max) {
            Ok(0) => {}
            Ok(count) => {
                run.left = run.left.saturating_sub(count);
                run.handled += count;
                if run.left > 0 {
                    return true;
                }
            }
            Err(error) => {
                tracing::warn!(database = database.name(), ?kind, %error, "documents that are due could not be handled");
            }
        }
        if run.handled > 0 {
            tracing::debug!(
                database = database.name(),
                ?kind,
                documents = run.handled,
                "documents that were due are handled"
            );
        }
        false
    }

    /// Wakes the thread, and waits until it has done what is due by now.
    fn catch_up(&self) {
        let now = self.clock.now();
        let mut state = self.state.lock();
        // Under the lock: the thread has not yet read the clock, or it waits.
        self.changed.notify_all();
        while state.has_thread && !state.is_closed && state.done_until < now {
            self.changed.wait(&mut state);
        }
    }
}

impl Run {
    fn of(((name, kind), task): (&(String, DueKind), &Task), until: Date) -> Run {
        let Task { settings, is_unknown, .. } = *task;
        Run { name: name.clone(), kind: *kind, until, left: settings.count_max, handled: 0, is_unknown }
    }
}
