//! Notes times, and begins segments.
//!
//! One thread for all databases of a node: every [`ARCHIVE_MARK_EVERY`] it asks each archived database that is open for its last
//! transaction, which costs that nothing, and every [`ARCHIVE_EVERY`] it has what is new archived, on a thread for that run. There
//! are [`ARCHIVES_AT_ONCE_MAX`] of these at most. It exists while there is an enabled task with `PointInTime`.
//!
//! A place that cannot be reached is tried again after [`BACKUP_RETRY_MIN`], then after twice that, up to [`BACKUP_RETRY_MAX`]. Meanwhile
//! the environment keeps its journal, up to [`ARCHIVE_WAITING_BYTES_MAX`]. Where that was not enough, a new history begins.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use documents::Date;
use parking_lot::{Condvar, Mutex};
use storage::TransactionId;

use super::super::IsEnded;
use super::super::configuration::{BackupTask, bad};
use super::host::Host;
use super::segment::Mark;
use super::state::{ArchiveStatus, places_of};
use super::work::Work;
use crate::clock::{Clock, later};
use crate::limits::{
    ARCHIVE_EVERY, ARCHIVE_MARK_EVERY, ARCHIVE_MARKS_MAX, ARCHIVE_REST_TIME_MAX, ARCHIVES_AT_ONCE_MAX,
    BACKUP_RETRY_MAX, BACKUP_RETRY_MIN,
};
use crate::threads::{OnDemandThread, join_others};
use crate::{Error, Result};

/// The archives of a node.
pub(crate) struct Archiver {
    shared: Arc<Shared>,
    thread: OnDemandThread,
}

struct Shared {
    clock: Arc<dyn Clock>,
    node: OnceLock<Weak<dyn Host>>,
    state: Mutex<State>,
    /// Notified when anything of the state changes, and when the clock is moved by hand.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// By the lower-cased name of the database.
    archives: BTreeMap<String, Archiving>,
    running: usize,
    workers: Vec<JoinHandle<()>>,
    has_thread: bool,
    is_closed: bool,
    /// All that was due up to this time was begun.
    begun_until: Date,
}

/// The archive of a database.
struct Archiving {
    task: Arc<BackupTask>,
    /// Of what is not archived yet, rising.
    marks: Vec<Mark>,
    /// All up to this transaction is archived, as far as is known.
    archived: TransactionId,
    /// Whether something may be there that is not archived. So it is at the beginning.
    is_behind: bool,
    is_running: bool,
    has_run: bool,
    /// Not before this time.
    next: Date,
    /// Runs in a row that archived nothing although they should have.
    failures: u32,
    error: Option<(String, Date)>,
}

impl Archiver {
    pub fn new(clock: Arc<dyn Clock>) -> Archiver {
        let shared =
            Arc::new(Shared { clock, node: OnceLock::new(), state: Mutex::default(), changed: Condvar::new() });
        let moved = Arc::downgrade(&shared);
        shared.clock.on_move(Box::new(move || moved.upgrade().iter().for_each(|shared| shared.catch_up())));
        Archiver { shared, thread: OnDemandThread::default() }
    }

    /// Begins. Before this nothing is archived.
    pub fn start(&self, node: Weak<dyn Host>) {
        _ = self.shared.node.set(node);
        self.ensure_thread();
    }

    /// Sets the task by which a database is archived; `None`: it is not.
    pub fn configure(&self, database: &str, task: Option<BackupTask>) {
        let database = database.to_lowercase();
        {
            let mut state = self.shared.state.lock();
            match task {
                None => _ = state.archives.remove(&database),
                Some(task) => match state.archives.get_mut(&database).filter(|known| known.goes_on_with(&task)) {
                    Some(known) => (known.task, known.next) = (Arc::new(task), Date::default()),
                    None => _ = state.archives.insert(database, Archiving::new(task)),
                },
            }
        }
        self.shared.changed.notify_all();
        self.ensure_thread();
    }

    /// A snapshot has reached the places: what follows it is archived soon, although places could not be reached before.
    pub fn resume(&self, database: &str) {
        if let Some(archiving) = self.shared.state.lock().archives.get_mut(&database.to_lowercase()) {
            archiving.run_at_once();
        }
        self.shared.changed.notify_all();
    }

    /// Archives all that is committed now, on this thread, before the journal that has it goes: within [`ARCHIVE_REST_TIME_MAX`], unless
    /// the places cannot be reached anyway. What it cannot archive is missing in the archive, and the log says so.
    pub fn archive_rest(&self, database: &str) {
        let database = database.to_lowercase();
        let deadline = Instant::now() + ARCHIVE_REST_TIME_MAX;
        if self.shared.begin_now(&database, deadline) {
            self.shared.work(&database, Some(deadline));
        }
    }

    /// The documents of a database have another journal now, whose transactions are numbered anew: the archive is to begin anew, with a
    /// snapshot.
    pub fn rewritten(&self, database: &str) {
        if let Some(archiving) = self.shared.state.lock().archives.get_mut(&database.to_lowercase()) {
            archiving.marks.clear();
            archiving.archived = TransactionId::default();
            archiving.run_at_once();
        }
        self.shared.changed.notify_all();
    }

    /// What is known of the archive of a database, without what the node has stored of it; `None`: it has none.
    pub fn status(&self, database: &str) -> Option<ArchiveStatus> {
        let state = self.shared.state.lock();
        let archiving = state.archives.get(&database.to_lowercase())?;
        let is_behind = archiving.is_behind || !archiving.marks.is_empty();
        Some(ArchiveStatus { is_behind, error: archiving.error.clone(), ..ArchiveStatus::default() })
    }

    /// Ends: what is being written is given up, and waited for.
    pub fn close(&self) {
        self.shared.state.lock().is_closed = true;
        self.shared.changed.notify_all();
        let workers = std::mem::take(&mut self.shared.state.lock().workers);
        self.thread.join();
        join_others(workers);
    }

    fn ensure_thread(&self) {
        let shared = self.shared.clone();
        let is_needed = || {
            let mut state = self.shared.state.lock();
            let is_needed = !state.archives.is_empty() && self.shared.node.get().is_some();
            is_needed && !state.is_closed && !std::mem::replace(&mut state.has_thread, true)
        };
        if !self.thread.ensure("archiver", is_needed, move || shared.run()) {
            self.shared.state.lock().has_thread = false;
        }
    }
}

impl Shared {
    fn run(self: &Arc<Self>) {
        loop {
            let now = self.clock.now();
            let marks = self.marks();
            let mut state = self.state.lock();
            if state.is_closed || state.archives.is_empty() {
                state.has_thread = false;
                self.changed.notify_all();
                return;
            }
            for (database, mark) in marks {
                if let Some(archiving) = state.archives.get_mut(&database) {
                    archiving.note(mark);
                }
            }
            while let Some(database) = state.take_due(now) {
                self.spawn(&mut state, database);
            }
            state.begun_until = now;
            self.changed.notify_all();
            match self.clock.time_until(later(now, ARCHIVE_MARK_EVERY)) {
                Some(time) => _ = self.changed.wait_for(&mut state, time),
                // It was moved while the marks were read.
                None if self.clock.now() != now => {}
                None => self.changed.wait(&mut state),
            }
        }
    }

    /// The last transaction of each archived database that is open. One that is closed was archived before, or will be when it is opened.
    fn marks(&self) -> Vec<(String, Mark)> {
        let Some(node) = self.node.get().and_then(Weak::upgrade) else { return Vec::new() };
        let names: Vec<String> = self.state.lock().archives.keys().cloned().collect();
        let mark = |name: String| {
            let database = node.peek_at(&name)?;
            // The transaction first: it was committed by that time.
            let transaction = database.documents().environment().last_transaction();
            Some((name, Mark { transaction, time: self.clock.now() }))
        };
        names.into_iter().filter_map(mark).collect()
    }

    fn spawn(self: &Arc<Self>, state: &mut State, database: String) {
        state.workers.retain(|worker| !worker.is_finished());
        let shared = self.clone();
        let name = database.clone();
        match thread::Builder::new().name("archive".to_owned()).spawn(move || shared.work(&name, None)) {
            Ok(worker) => state.workers.push(worker),
            Err(error) => {
                tracing::error!(%error, "the thread of an archive cannot be started");
                state.ended(&database, Err(bad(error.to_string())), self.clock.now());
            }
        }
    }

    /// Takes a database out of its turn, as soon as it is not being archived; false: it has no archive, places cannot be reached, or the
    /// time is over.
    fn begin_now(&self, database: &str, deadline: Instant) -> bool {
        let mut state = self.state.lock();
        loop {
            if state.is_closed {
                return false;
            }
            let Some(archiving) = state.archives.get_mut(database).filter(|archiving| archiving.failures == 0) else {
                return false;
            };
            if !archiving.is_running {
                archiving.is_running = true;
                state.running += 1;
                return true;
            }
            if self.changed.wait_until(&mut state, deadline).timed_out() {
                return false;
            }
        }
    }

    /// Archives what is new of one database.
    ///
    /// * `deadline`: when it gives up.
    fn work(self: &Arc<Self>, database: &str, deadline: Option<Instant>) {
        let Some(node) = self.node.get().and_then(Weak::upgrade) else { return };
        let known = self.state.lock().archives.get_mut(database).map(|archiving| {
            let is_first = !std::mem::replace(&mut archiving.has_run, true);
            (archiving.task.clone(), archiving.marks.clone(), is_first)
        });
        let archived = match known {
            None => Ok(None),
            Some((task, marks, is_first)) => {
                let shared = self.clone();
                let is_ended: IsEnded = Arc::new(move || {
                    shared.state.lock().is_closed || deadline.is_some_and(|deadline| Instant::now() >= deadline)
                });
                let work = || {
                    let (task, clock, is_ended) = (&*task, &*self.clock, &is_ended);
                    Work { node: &*node, database: node.find_database(database)?, task, clock, is_first, is_ended }
                        .run(marks)
                };
                let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
                worked.unwrap_or_else(|_| Err(bad("the archive failed by a mistake of the server, which its log has")))
            }
        };
        match &archived {
            Err(Error::Missing { .. } | Error::Disabled { .. }) | Ok(_) => {}
            Err(Error::Canceled) if deadline.is_none() => {}
            Err(error) => tracing::warn!(database, %error, "the journal was not archived"),
        }
        // The node may end with this handle; it waits for all threads but its own.
        drop(node);
        self.state.lock().ended(database, archived, self.clock.now());
        self.changed.notify_all();
    }

    /// Wakes the thread, and waits until all that is due by now was begun and is done.
    fn catch_up(&self) {
        let mut state = self.state.lock();
        self.changed.notify_all();
        // The clock may have been moved back, and again meanwhile.
        let is_behind = |state: &State| state.has_thread && state.begun_until != self.clock.now();
        while !state.is_closed && (is_behind(&state) || state.running > 0) {
            self.changed.wait(&mut state);
        }
    }
}

impl State {
    /// Takes a database that has something to archive, and may now.
    fn take_due(&mut self, now: Date) -> Option<String> {
        if self.running >= ARCHIVES_AT_ONCE_MAX {
            return None;
        }
        for archiving in self.archives.values_mut() {
            // The clock went back.
            archiving.next = archiving.next.min(later(now, archiving.pause()));
        }
        let (name, archiving) = self.archives.iter_mut().find(|(_, archiving)| {
            let has_work = archiving.is_behind || !archiving.marks.is_empty();
            has_work && !archiving.is_running && archiving.next <= now
        })?;
        archiving.is_running = true;
        self.running += 1;
        Some(name.clone())
    }

    /// * `archived`: all up to this transaction; `None`: a snapshot has to come first.
    fn ended(&mut self, database: &str, archived: Result<Option<TransactionId>>, now: Date) {
        self.running -= 1;
        let Some(archiving) = self.archives.get_mut(database) else { return };
        archiving.is_running = false;
        match archived {
            Ok(Some(until)) => {
                archiving.marks.retain(|mark| mark.transaction > until);
                archiving.archived = until;
                (archiving.is_behind, archiving.failures, archiving.error) = (false, 0, None);
                archiving.next = later(now, ARCHIVE_EVERY);
            }
            Ok(None) => archiving.wait(now),
            Err(error) => {
                archiving.error = Some((error.to_string(), now));
                archiving.wait(now);
            }
        }
    }
}

impl Archiving {
    fn new(task: BackupTask) -> Archiving {
        Archiving {
            task: Arc::new(task),
            marks: Vec::new(),
            archived: TransactionId::default(),
            is_behind: true,
            is_running: false,
            has_run: false,
            next: Date::default(),
            failures: 0,
            error: None,
        }
    }

    /// Whether a task archives to the places that this one did.
    fn goes_on_with(&self, task: &BackupTask) -> bool {
        self.task.id == task.id && places_of(&self.task.configuration) == places_of(&task.configuration)
    }

    fn run_at_once(&mut self) {
        (self.is_behind, self.failures, self.next) = (true, 0, Date::default());
    }

    fn note(&mut self, mark: Mark) {
        let last = self.marks.last().map_or(self.archived, |last| last.transaction);
        if mark.transaction <= last {
            return;
        }
        if self.marks.len() >= ARCHIVE_MARKS_MAX {
            // Every other second is enough then.
            let mut number = 0;
            self.marks.retain(|_| {
                number += 1;
                number % 2 == 0
            });
        }
        self.marks.push(mark);
    }

    fn wait(&mut self, now: Date) {
        self.failures = self.failures.saturating_add(1);
        self.is_behind = true;
        self.next = later(now, self.pause());
    }

    /// The time between the last run and the next.
    fn pause(&self) -> Duration {
        match self.failures {
            0 => ARCHIVE_EVERY,
            failures => {
                let factor = 1_u32.checked_shl(failures - 1).unwrap_or(u32::MAX);
                BACKUP_RETRY_MIN.saturating_mul(factor).min(BACKUP_RETRY_MAX)
            }
        }
    }
}
