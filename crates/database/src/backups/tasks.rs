//! Making backups: by the clock, and on request.
//!
//! One thread for all databases of a node knows when which task runs; it exists while there is an enabled task, and sleeps in between. A
//! backup has a thread of its own, [`BACKUPS_AT_ONCE_MAX`] at most, and one for a database at a time; the others wait in a queue.
//!
//! A task whose time passed while the node was down runs when the node is up again. One that failed is tried again after
//! [`BACKUP_RETRY_MIN`], then after twice that, up to [`BACKUP_RETRY_MAX`].

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, OnceLock, Weak};
use std::thread::{self, JoinHandle};

use documents::Date;
use parking_lot::{Condvar, Mutex};

use super::configuration::{BackupConfiguration, BackupTask, DestinationKind, DestinationSettings, bad};
use super::destination::IsEnded;
use super::names::Maker;
use super::run::{Backup, BackupDone};
use super::status::BackupStatus;
use super::targets::Targets;
use super::turns::Turns;
use super::{archive, retention};
use crate::clock::{Clock, later, sleep_until};
use crate::limits::{BACKUP_RETRY_MAX, BACKUP_RETRY_MIN, BACKUPS_AT_ONCE_MAX, BACKUPS_WAITING_MAX};
use crate::threads::{OnDemandThread, join_others};
use crate::tombstones::TombstonesKept;
use crate::{Database, Databases, Error, Operation, OperationResult, OperationStatus, Result};

/// The tasks of a node, and the backups that are made.
pub(crate) struct BackupTasks {
    shared: Arc<Shared>,
    thread: OnDemandThread,
}

/// A backup that was begun, or waits for its turn.
#[derive(Clone, Debug)]
pub struct BackupStarted {
    /// The operation of the database that it is.
    pub operation: Arc<Operation>,
}

/// A backup of a task that is being made, or waits for its turn.
#[derive(Clone, Debug)]
pub struct RunningBackup {
    /// Its operation.
    pub operation: Arc<Operation>,
    /// Whether it is of all of the database.
    pub is_full: bool,
    /// Whether others have to end before it begins.
    pub is_waiting: bool,
}

struct Shared {
    clock: Arc<dyn Clock>,
    node: OnceLock<Weak<Databases>>,
    turns: Turns,
    state: Mutex<State>,
    /// Notified when anything of the state changes, and when the clock is moved by hand.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// By the lower-cased name of the database, and the id.
    tasks: BTreeMap<(String, u64), Planned>,
    waiting: VecDeque<Job>,
    running: Vec<Job>,
    workers: Vec<JoinHandle<()>>,
    has_thread: bool,
    is_closed: bool,
    /// All that was due up to this time was begun.
    begun_until: Date,
    /// What the thread read the clock as, the last time.
    clock_read: Date,
}

struct Planned {
    task: Arc<BackupTask>,
    /// After the last backup.
    status: Option<BackupStatus>,
    next: Option<NextRun>,
    /// Failures in a row.
    failures: u32,
}

/// The next run of a task.
#[derive(Clone, Copy)]
struct NextRun {
    at: Date,
    /// Whether it is of all of the database, if it comes at its time.
    is_full: bool,
    /// When the next full backup is due.
    full_at: Option<Date>,
}

/// A backup that is made, or waits.
#[derive(Clone)]
struct Job {
    /// Lower-cased.
    database: String,
    /// `None`: one that belongs to no task.
    task: Option<Arc<BackupTask>>,
    configuration: Arc<BackupConfiguration>,
    is_full: bool,
    operation: Arc<Operation>,
}

impl BackupTasks {
    pub fn new(clock: Arc<dyn Clock>) -> BackupTasks {
        let shared = Arc::new(Shared {
            clock,
            node: OnceLock::new(),
            turns: Turns::default(),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let moved = Arc::downgrade(&shared);
        shared.clock.on_move(Box::new(move || moved.upgrade().iter().for_each(|shared| shared.catch_up())));
        BackupTasks { shared, thread: OnDemandThread::default() }
    }

    /// Begins. Before this no task runs.
    pub fn start(&self, node: Weak<Databases>) {
        _ = self.shared.node.set(node);
        self.ensure_thread();
    }

    /// Sets the tasks of a database.
    ///
    /// * `statuses`: what is remembered of each that has run.
    pub fn configure(&self, database: &str, tasks: Vec<BackupTask>, statuses: &[BackupStatus]) {
        let database = database.to_lowercase();
        let now = self.shared.clock.now();
        {
            let mut state = self.shared.state.lock();
            let failures = |id: u64| state.tasks.get(&(database.clone(), id)).map_or(0, |planned| planned.failures);
            let planned: Vec<(u64, Planned)> = tasks
                .into_iter()
                .map(|task| {
                    let status = statuses.iter().find(|status| status.task_id == task.id);
                    let next = next_time(&task, status, now);
                    let (failures, status) = (failures(task.id), status.cloned());
                    (task.id, Planned { task: Arc::new(task), status, next, failures })
                })
                .collect();
            state.tasks.retain(|(name, _), _| *name != database);
            state.tasks.extend(planned.into_iter().map(|(id, planned)| ((database.clone(), id), planned)));
        }
        self.shared.changed.notify_all();
        self.ensure_thread();
    }

    /// When a task runs next, and whether it makes a full backup then.
    pub fn next(&self, database: &str, task: u64) -> Option<(Date, bool)> {
        let next = self.shared.state.lock().tasks.get(&(database.to_lowercase(), task))?.next?;
        Some((next.at, next.is_full))
    }

    /// The backup that a task makes now, or waits to make.
    pub fn running(&self, database: &str, task: u64) -> Option<RunningBackup> {
        let database = database.to_lowercase();
        let state = self.shared.state.lock();
        let is_it = |job: &&Job| job.database == database && job.task.as_ref().is_some_and(|of| of.id == task);
        let running = state.running.iter().find(is_it).map(|job| (job, false));
        let (job, is_waiting) = running.or_else(|| Some((state.waiting.iter().find(is_it)?, true)))?;
        Some(RunningBackup { operation: job.operation.clone(), is_full: job.is_full, is_waiting })
    }

    /// Begins a backup, or has it wait for its turn. One of the same task that runs or waits is given in its place.
    ///
    /// # Errors
    ///
    /// [`Error::BackupWaits`]: one of the database that belongs to no task waits, and this is another one. [`Error::BadBackup`]: too many
    /// wait, or the node is being closed.
    pub fn begin(
        &self,
        database: &Arc<Database>,
        task: Option<Arc<BackupTask>>,
        configuration: Arc<BackupConfiguration>,
        is_full: bool,
    ) -> Result<BackupStarted> {
        let started = self.shared.begin(database, task, configuration, is_full);
        self.ensure_thread();
        started
    }

    /// The etag up to which the backups of a database have all deletions, if it has tasks that go on from one backup to the next.
    pub fn seen_etag(&self, database: &str, statuses: &[BackupStatus]) -> Option<documents::Etag> {
        let database = database.to_lowercase();
        let state = self.shared.state.lock();
        let goes_on = |status: &&BackupStatus| {
            let planned = state.tasks.get(&(database.clone(), status.task_id));
            planned.is_some_and(|planned| !planned.task.is_disabled) && !status.folder.is_empty()
        };
        statuses.iter().filter(goes_on).map(|status| status.last_etag).min()
    }

    /// Ends: kills what runs, and waits for it.
    pub fn close(&self) {
        {
            let mut state = self.shared.state.lock();
            state.is_closed = true;
            for job in state.waiting.drain(..) {
                job.operation.end(OperationStatus::Canceled);
            }
            state.running.iter().for_each(|job| job.operation.kill());
        }
        self.shared.changed.notify_all();
        let workers = std::mem::take(&mut self.shared.state.lock().workers);
        self.thread.join();
        join_others(workers);
    }

    fn ensure_thread(&self) {
        let claim = || {
            let mut state = self.shared.state.lock();
            let is_needed = state.is_needed() && self.shared.node.get().is_some();
            is_needed && !state.is_closed && !std::mem::replace(&mut state.has_thread, true)
        };
        let shared = self.shared.clone();
        if !self.thread.ensure("backups", claim, move || shared.run()) {
            self.shared.state.lock().has_thread = false;
        }
    }
}

impl State {
    /// A task that runs is planned again when it ends, so the thread stays for it.
    fn is_needed(&self) -> bool {
        !self.is_at_rest() || self.tasks.values().any(|planned| planned.next.is_some())
    }

    fn has_due(&self, now: Date) -> bool {
        self.tasks.values().any(|planned| planned.next.is_some_and(|next| next.at <= now))
    }

    /// Notes the time. If the clock went back, tasks are planned anew: the times that the wrong clock gave may be far away.
    fn note_time(&mut self, now: Date) {
        if now < std::mem::replace(&mut self.clock_read, now) {
            for planned in self.tasks.values_mut().filter(|planned| planned.next.is_some()) {
                planned.next = next_time(&planned.task, planned.status.as_ref(), now);
            }
        }
    }

    fn is_at_rest(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty()
    }

    fn runs_no_more(&mut self, operation: &Arc<Operation>) {
        self.running.retain(|running| !Arc::ptr_eq(&running.operation, operation));
    }

    /// Takes a job that may run now.
    fn take_job(&mut self) -> Option<Job> {
        if self.running.len() >= BACKUPS_AT_ONCE_MAX {
            return None;
        }
        let is_free = |job: &Job| self.running.iter().all(|running| running.database != job.database);
        let position = self.waiting.iter().position(is_free)?;
        self.waiting.remove(position)
    }
}

impl Shared {
    fn begin(
        &self,
        database: &Arc<Database>,
        task: Option<Arc<BackupTask>>,
        configuration: Arc<BackupConfiguration>,
        is_full: bool,
    ) -> Result<BackupStarted> {
        let name = database.name().to_lowercase();
        let mut state = self.state.lock();
        if state.is_closed {
            return Err(Error::Canceled);
        }
        let id = task.as_ref().map(|task| task.id);
        let is_same = |job: &&Job| id.is_some() && job.database == name && job.task.as_ref().map(|task| task.id) == id;
        if let Some(job) = state.running.iter().chain(&state.waiting).find(is_same) {
            return Ok(BackupStarted { operation: job.operation.clone() });
        }
        // The queue is one for all databases: each has a place in it for what belongs to no task.
        if id.is_none() && state.waiting.iter().any(|job| job.task.is_none() && job.database == name) {
            return Err(Error::BackupWaits { name: database.name().to_owned() });
        }
        if state.waiting.len() >= BACKUPS_WAITING_MAX {
            return Err(bad(format!(
                "{BACKUPS_WAITING_MAX} backups wait for their turn, which is the limit BACKUPS_WAITING_MAX"
            )));
        }
        let description = match &task {
            None => format!("Manual backup for database: {}", database.name()),
            Some(task) => format!("Backup task '{}' for database: {}", task.name, database.name()),
        };
        let operation = database.operations().start(database.operations().next_id(), description)?;
        let started = BackupStarted { operation: operation.clone() };
        state.waiting.push_back(Job { database: name, task, configuration, is_full, operation });
        drop(state);
        self.changed.notify_all();
        Ok(started)
    }

    /// The thread that begins what is due.
    fn run(self: &Arc<Self>) {
        let mut state = self.state.lock();
        loop {
            if state.is_closed || !state.is_needed() {
                state.has_thread = false;
                self.changed.notify_all();
                return;
            }
            while let Some(job) = state.take_job() {
                self.spawn(&mut state, job);
            }
            let now = self.clock.now();
            state.note_time(now);
            let due: Vec<(String, Arc<BackupTask>, bool)> = state
                .tasks
                .iter_mut()
                .filter_map(|((database, _), planned)| {
                    // It is planned anew when it ends.
                    let next = planned.next.take_if(|next| next.at <= now)?;
                    let is_full = next.is_full || next.full_at.is_some_and(|at| at <= now);
                    Some((database.clone(), planned.task.clone(), is_full))
                })
                .collect();
            if !due.is_empty() {
                drop(state);
                for (database, task, is_full) in due {
                    self.begin_due(&database, task, is_full);
                }
                state = self.state.lock();
                continue;
            }
            state.begun_until = now;
            self.changed.notify_all();
            let next = state.tasks.values().filter_map(|planned| planned.next).map(|next| next.at).min();
            match next.map(|next| sleep_until(&*self.clock, next)) {
                Some(Some(time)) => _ = self.changed.wait_for(&mut state, time),
                _ => self.changed.wait(&mut state),
            }
        }
    }

    fn begin_due(&self, database: &str, task: Arc<BackupTask>, is_full: bool) {
        let Some(node) = self.node.get().and_then(Weak::upgrade) else { return };
        let configuration = Arc::new(task.configuration.clone());
        let begun =
            node.find(database).and_then(|database| self.begin(&database, Some(task.clone()), configuration, is_full));
        if let Err(error) = begun {
            tracing::warn!(database, task = task.name, %error, "a backup that is due was not begun");
            let status = node.backup_status(database, task.id).unwrap_or_default();
            drop(node);
            self.plan_again(database, task.id, Some(&error), status, None);
        }
    }

    fn spawn(self: &Arc<Self>, state: &mut State, job: Job) {
        state.running.push(job.clone());
        state.workers.retain(|worker| !worker.is_finished());
        let shared = self.clone();
        let worker = job.clone();
        match thread::Builder::new().name("backup".to_owned()).spawn(move || shared.work(&worker)) {
            Ok(started) => state.workers.push(started),
            Err(error) => {
                tracing::error!(%error, "the thread of a backup cannot be started");
                state.runs_no_more(&job.operation);
                let key = job.task.as_ref().map(|task| (job.database.clone(), task.id));
                if let Some(planned) = key.and_then(|key| state.tasks.get_mut(&key)) {
                    let at = later(self.clock.now(), BACKUP_RETRY_MIN);
                    planned.next = Some(NextRun { at, is_full: job.is_full, full_at: None });
                }
                job.operation.end(OperationStatus::Canceled);
            }
        }
    }

    /// Makes one backup.
    fn work(&self, job: &Job) {
        let node = self.node.get().and_then(Weak::upgrade);
        let outcome = match &node {
            None => Err(Error::Canceled),
            Some(node) => {
                let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.make(node, job)));
                made.unwrap_or_else(|_| Err(bad("the backup failed by a mistake of the server, which its log has")))
            }
        };
        let error = outcome.as_ref().err().cloned();
        let planned = job.task.as_ref().zip(node.as_ref()).map(|(task, node)| {
            let status = node.backup_status(&job.database, task.id).unwrap_or_default();
            (task.id, status)
        });
        // Dropped before the backup counts as ended: a caller that waits for the end may then close the node and open it again. If this is
        // the last handle, the node closes here, and waits for all of its threads but this one.
        drop(node);
        job.operation.end(match outcome {
            Ok(result) => OperationStatus::Completed(result),
            Err(Error::Canceled) => OperationStatus::Canceled,
            Err(error) => OperationStatus::Faulted(Arc::new(error)),
        });
        match planned {
            Some((task, status)) => {
                self.plan_again(&job.database, task, error.as_ref(), status, Some(&job.operation));
            }
            None => {
                self.state.lock().runs_no_more(&job.operation);
                self.changed.notify_all();
            }
        }
    }

    fn make(&self, node: &Databases, job: &Job) -> Result<OperationResult> {
        let database = node.find(&job.database)?;
        // What is deleted from here on must be in the backup after this one. Once the status of this one is stored, that says so.
        let _kept = TombstonesKept::of(&database);
        let before = match &job.task {
            Some(task) => node.backup_status(&job.database, task.id)?.unwrap_or_default(),
            None => BackupStatus::default(),
        };
        let now = self.clock.now();
        let places = archive::places_of(&job.configuration);
        let spool_folder = archive::Host::spool_folder(node);
        let folder_of = |settings: &json::Value| node.backup_folder(settings);
        let operation = job.operation.clone();
        let is_ended: IsEnded = Arc::new(move || operation.is_killed());
        let open = |settings: &DestinationSettings| Ok(node.open_destination(settings)?.ending_when(is_ended.clone()));
        let mut targets = Targets::open(&job.configuration, spool_folder.clone(), folder_of, open)?;
        let may_go_on = !job.is_full
            && !before.folder.is_empty()
            && before.places == places
            && before.kind.as_deref() == Some(job.configuration.kind.wire_name())
            && has_all_deletions_since(&database, &before)?;
        if may_go_on {
            targets.list(&before.folder);
        }
        let goes_on = may_go_on && targets.go_on_from(&before.last_file);
        let backup = Backup {
            node_tag: node.node_tag(),
            spool_folder,
            clock: &*self.clock,
            database: database.clone(),
            record: &|| node.record(&job.database),
            configuration: &job.configuration,
            operation: &job.operation,
            turns: &self.turns,
            task: job.task.as_ref().map_or(0, |task| task.id),
            previous: goes_on.then_some(&before),
            now,
        };
        let began = std::time::Instant::now();
        let mut made = backup.run(&mut targets);
        if let (Some(task), Ok(done)) = (job.task.as_ref().filter(|task| task.is_archived), &made) {
            let is_archived_in = |places: &str| -> Result<bool> {
                let state = node.system.archive_state(database.name(), task.id)?;
                Ok(state.is_some_and(|state| state.places == places))
            };
            let noted = match done.failures.first() {
                None => note_base(node, &database, task, done, &is_ended),
                // A history is in all places, or the task makes a snapshot again and again.
                Some((_, error)) if !is_archived_in(&places)? => {
                    backup.take_back(&targets, done);
                    Err(error.clone())
                }
                Some(_) => Ok(()),
            };
            made = noted.and(made);
        }
        let duration = began.elapsed();
        let name = job.task.as_ref().map_or("", |task| task.name.as_str());
        let mut status = BackupStatus {
            task_id: job.task.as_ref().map_or(0, |task| task.id),
            is_full: !goes_on,
            node_tag: node.node_tag().to_owned(),
            duration,
            version: before.version + 1,
            last_operation_id: Some(job.operation.id()),
            delay_until: None,
            original_time: None,
            error: None,
            ..before
        };
        match &made {
            Ok(done) => {
                status.folder.clone_from(&done.result.folder);
                (status.last_etag, status.record_etag) = (done.last_etag, done.record_etag);
                status.definitions_hash = done.definitions_hash;
                if let Some(file) = &done.result.file {
                    status.last_file.clone_from(file);
                }
                status.last_change_vector.clone_from(&done.change_vector);
                status.local_folder.clone_from(&done.result.local_folder);
                status.is_encrypted = job.configuration.key.is_some();
                let kinds = job.configuration.destinations.iter().map(|place| place.kind.wire_name().to_owned());
                (status.destinations, status.places) = (kinds.collect(), places);
                if goes_on {
                    (status.last_incremental, status.incremental_duration) = (Some(now), Some(duration));
                } else {
                    (status.last_full, status.full_duration) = (Some(now), Some(duration));
                    (status.last_incremental, status.incremental_duration) = (None, None);
                    status.full_record_etag = done.record_etag;
                    status.kind = Some(job.configuration.kind.wire_name().to_owned());
                }
                for (_, error) in &done.failures {
                    tracing::error!(database = database.name(), task = name, %error, "a place lacks a backup");
                }
                if !done.failures.is_empty() {
                    let reasons: Vec<String> = done.failures.iter().map(|(_, error)| error.to_string()).collect();
                    status.error = Some((reasons.join("; "), now));
                }
                tracing::info!(
                    database = database.name(),
                    task = name,
                    folder = done.result.folder,
                    file = done.result.file.as_deref(),
                    "backup made"
                );
            }
            Err(Error::Canceled) => return Err(Error::Canceled),
            Err(error) => {
                tracing::error!(database = database.name(), task = name, %error, "a backup failed");
                status.error = Some((error.to_string(), now));
            }
        }
        if let Some(task) = &job.task {
            node.put_backup_status(&job.database, &status)?;
            if let Ok(done) = &made {
                self.remove_old((node, &database), task, &status, &done.failures, &is_ended);
            }
        }
        let done = made?;
        if let Some((_, error)) = done.failures.into_iter().next() {
            return Err(error);
        }
        let (total, documents) =
            (done.counts.read_count(), done.counts.counts(crate::smuggler::ItemType::Documents).read);
        Ok(OperationResult {
            total,
            documents_processed: documents,
            attachments_processed: 0,
            counters_processed: 0,
            message: format!("Backed up {total} items."),
            details: Vec::new(),
            transfer: Some(Arc::new(done.counts)),
            backup: Some(Arc::new(done.result)),
            revisions: None,
            compaction: None,
            check: None,
        })
    }

    /// * `failures`: places that lack the last backup. What they have stays.
    fn remove_old(
        &self,
        (node, database): (&Databases, &Database),
        task: &BackupTask,
        status: &BackupStatus,
        failures: &[(DestinationKind, Error)],
        is_ended: &IsEnded,
    ) {
        let of = (database.name(), node.node_tag());
        let maker = Maker::new(database.documents().database_id(), task.id);
        let lacks = |kind| failures.iter().any(|(failed, _)| *failed == kind);
        for settings in task.configuration.destinations.iter().filter(|settings| !lacks(settings.kind)) {
            let removed = node.open_destination(settings).and_then(|place| {
                let place = place.ending_when(is_ended.clone());
                let removed = retention::remove_old(
                    &*place,
                    (of.0, &maker),
                    &status.folder,
                    self.clock.now(),
                    task.retention,
                    is_ended,
                )?;
                if task.is_archived {
                    let current = node.system.archive_state(of.0, task.id)?.map(|state| state.folder);
                    archive::prune(&*place, of, current.as_deref(), is_ended)?;
                }
                Ok(removed)
            });
            match removed {
                Ok(0) | Err(Error::Canceled) => {}
                Ok(folders) => tracing::info!(database = of.0, task = task.name, folders, "old backups removed"),
                Err(error) => {
                    tracing::warn!(database = of.0, task = task.name, %error, "old backups were not removed");
                }
            }
        }
    }

    /// Plans the next run of a task whose last one ended.
    ///
    /// * `status`: what is stored of it.
    /// * `ended`: the operation of that one, which runs no more from the same moment on: a next run that is due already would be taken for
    ///   it, and never begin.
    fn plan_again(
        &self,
        database: &str,
        task: u64,
        error: Option<&Error>,
        status: Option<BackupStatus>,
        ended: Option<&Arc<Operation>>,
    ) {
        let now = self.clock.now();
        let mut state = self.state.lock();
        if let Some(ended) = ended {
            state.runs_no_more(ended);
        }
        let Some(planned) = state.tasks.get_mut(&(database.to_owned(), task)) else { return };
        planned.failures = match error {
            None => 0,
            Some(_) => planned.failures.saturating_add(1),
        };
        let next = next_time(&planned.task, status.as_ref(), now);
        planned.status = status;
        planned.next = match error {
            None => next,
            Some(_) => {
                let factor = 1_u32.checked_shl(planned.failures - 1).unwrap_or(u32::MAX);
                let pause = BACKUP_RETRY_MIN.saturating_mul(factor).min(BACKUP_RETRY_MAX);
                next.map(|next| NextRun { at: next.at.max(later(now, pause)), ..next })
            }
        };
        drop(state);
        self.changed.notify_all();
    }

    /// Wakes the thread, and waits until all that is due by now was begun and is done.
    fn catch_up(&self) {
        let now = self.clock.now();
        let mut state = self.state.lock();
        self.changed.notify_all();
        // The clock may have been moved back, and again meanwhile.
        let has_begun = |state: &State| state.begun_until == self.clock.now() && !state.has_due(now);
        let is_behind = |state: &State| state.has_thread && !has_begun(state) || !state.is_at_rest();
        while !state.is_closed && is_behind(&state) {
            self.changed.wait(&mut state);
        }
    }
}

/// Whether a database is the one of a backup, and still has all that was deleted since.
fn has_all_deletions_since(database: &Database, before: &BackupStatus) -> Result<bool> {
    let snapshot = database.read();
    let is_of_it = database_id(&before.last_change_vector) == database_id(&snapshot.change_vector()?);
    Ok(is_of_it && snapshot.tombstones_cleaned()? <= before.last_etag)
}

/// Notes the snapshot that a backup is, so that its archive can be restored from there on.
fn note_base(
    node: &Databases,
    database: &Database,
    task: &BackupTask,
    done: &BackupDone,
    is_ended: &IsEnded,
) -> Result<()> {
    let Some(((position, time), file)) = done.base.zip(done.result.file.as_deref()) else { return Ok(()) };
    let base = archive::Base { position, time, folder: &done.result.folder, file };
    archive::note_base(node, database.name(), task, &base, is_ended)
}

/// When a task runs after its last backup.
fn next_time(task: &BackupTask, status: Option<&BackupStatus>, now: Date) -> Option<NextRun> {
    if task.is_disabled {
        return None;
    }
    let created = task.value.get("CreatedAt").and_then(json::Value::as_str).and_then(Date::parse).unwrap_or(now);
    // A time to come is of a clock that went back since: the backup counts as one of now.
    let past = |time: Date| time.min(now);
    let created = past(created);
    let last_full = status.and_then(|status| status.last_full).map(past);
    let last = last_full.max(status.and_then(|status| status.last_incremental).map(past));
    let full = task.full.as_ref().and_then(|schedule| schedule.next(last_full.unwrap_or(created)));
    let incremental = task.incremental.as_ref().and_then(|schedule| schedule.next(last.unwrap_or(created)));
    let (at, is_full) = match (full, incremental) {
        (Some(full), Some(incremental)) if incremental < full => (incremental, last_full.is_none()),
        (Some(full), _) => (full, true),
        (None, incremental) => (incremental?, last_full.is_none()),
    };
    let at = status.and_then(|status| status.delay_until).map_or(at, |until| until.max(at));
    Some(NextRun { at, is_full, full_at: full })
}

/// The id of the database in a change vector such as `A:8882-p8bj6J1GrU+BSC84hpfoYA`.
fn database_id(change_vector: &str) -> Option<&str> {
    change_vector.split_once('-').map(|(_, id)| id)
}
