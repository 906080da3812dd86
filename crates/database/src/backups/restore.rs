//! Restoring: a new database out of the files of a backup, which no client sees before it is whole.
//!
//! The folder is noted as one that is being deleted while it is filled. So whatever is cut off is removed at the next start, and the
//! transaction that makes the database known takes the note away.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use documents::Date;
use json::Value;

use super::archive::{Plan, Timeline};
use super::configuration::bad;
use super::destination::Destination;
use super::encryption::BackupKey;
use super::names::{BackupName, FileKind};
use super::server_wide::is_server_wide;
use super::{BackupTask, Until, file, points, restored_record, snapshot};
use crate::database::DatabaseRef;
use crate::databases::Opening;
use crate::entry::{DatabaseEntry, Previous};
use crate::limits::BACKUP_PIECE_SIZE;
use crate::request_ids::Request;
use crate::smuggler::{ItemType, ItemTypes, SmugglerOptions, SmugglerResult, over_image};
use crate::{
    Database, DatabaseRecord, Databases, Error, Operation, OperationId, OperationResult, OperationStatus, Progress,
    Result, name,
};

/// What is to be restored.
#[derive(Clone)]
pub struct RestoreRequest {
    /// The name of the new database.
    pub name: String,
    /// The folder of the backup: its files are in it, not below.
    pub source: Arc<dyn Destination>,
    /// The last file that is read; `None`: the newest.
    pub last_file: Option<String>,
    /// The state of an archive that is restored, in place of a backup as it is. `source` is then the place with the folders of backups.
    pub until: Option<Until>,
    /// The database whose archive that is; `None`: the only one that `source` has.
    pub of_database: Option<String>,
    /// Whether definitions of indexes are left out.
    pub skips_indexes: bool,
    /// Whether its tasks wait to be enabled.
    pub disables_tasks: bool,
    /// `BackupEncryptionSettings` of the backup.
    pub encryption: Option<Value>,
    /// Whether the database is removed in place of being made known: a proof that the backup can be restored.
    pub is_trial: bool,
}

/// Without the key of the backup.
impl fmt::Debug for RestoreRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("RestoreRequest");
        debug.field("name", &self.name).field("source", &self.source).field("last_file", &self.last_file);
        debug.finish_non_exhaustive()
    }
}

/// A restore that is about to run, which is an operation of the node.
#[derive(Debug)]
pub struct Restore {
    databases: Arc<Databases>,
    operation: Arc<Operation>,
    request: RestoreRequest,
    files: Vec<(BackupName, String)>,
    /// What is done behind the files.
    plan: Option<Plan>,
    key: Option<BackupKey>,
}

impl Databases {
    /// Prepares a restore: looks for the files, and refuses what cannot be.
    ///
    /// * `id`: of the operation, reserved by [`Operations::next_id`](crate::Operations::next_id); None reserves one.
    ///
    /// # Errors
    ///
    /// [`Error::BadName`], [`Error::AlreadyExists`], [`Error::BadBackup`], [`Error::Destination`].
    pub fn restore(self: &Arc<Self>, id: Option<OperationId>, request: RestoreRequest) -> Result<Restore> {
        name::check(&request.name)?;
        if !request.is_trial && self.names.get(&request.name).is_some() {
            return Err(Error::AlreadyExists { name: request.name });
        }
        let key = request.encryption.as_ref().map_or(Ok(None), super::configuration::key)?;
        let place = request.source.place();
        let refused = |rule: String| bad(format!("{place} cannot be restored: {rule}"));
        let (files, plan) = match request.until {
            None => {
                let names = request.source.look_into("")?.files.into_iter().map(|file| file.path);
                (points::chain(names, request.last_file.as_deref()).map_err(&refused)?, None)
            }
            Some(until) => {
                let plan = Timeline::plan(&*request.source, request.of_database.as_deref(), until)?;
                let name = plan.snapshot.rsplit('/').next().and_then(BackupName::parse);
                let name = name.filter(|name| name.kind == FileKind::Snapshot);
                let name = name.ok_or_else(|| refused(format!("'{}' is no snapshot", plan.snapshot)))?;
                (vec![(name, plan.snapshot.clone())], Some(plan))
            }
        };
        let is_encrypted = plan.as_ref().is_some_and(Plan::is_encrypted);
        if key.is_none() && (is_encrypted || files.iter().any(|(backup, _)| backup.is_encrypted)) {
            return Err(refused("the backup is encrypted. Give its key in 'BackupEncryptionSettings'".to_owned()));
        }
        let id = id.unwrap_or_else(|| self.operations().next_id());
        let what = if request.is_trial { "Verify the backup" } else { "Restore" };
        let operation = self.operations().start(id, format!("{what}: {} from {place}", request.name))?;
        let of_source = operation.clone();
        let source = request.source.ending_when(Arc::new(move || of_source.is_killed()));
        let request = RestoreRequest { source, ..request };
        Ok(Restore { databases: self.clone(), operation, request, files, plan, key })
    }
}

impl Restore {
    /// The operation that it is.
    pub fn operation(&self) -> &Arc<Operation> {
        &self.operation
    }

    /// Restores. Takes as long as it takes: call it on a thread of its own.
    ///
    /// # Errors
    ///
    /// Those that the state of the operation has then. Nothing of the database is left.
    pub fn run(self) -> Result<()> {
        let began = Instant::now();
        let restored = self.restore().map_err(|error| self.operation.failure(error));
        // What was not made known is gone now, and so are its files.
        self.databases.remove_deleted_soon();
        let name = self.request.name.as_str();
        self.operation.end(match &restored {
            Ok(counts) => {
                let (total, documents) = (counts.read_count(), counts.counts(ItemType::Documents).read);
                let took = began.elapsed();
                tracing::info!(database = name, documents, ?took, trial = self.request.is_trial, "database restored");
                OperationStatus::Completed(OperationResult {
                    total,
                    documents_processed: documents,
                    message: format!("Restored {total} items."),
                    transfer: Some(Arc::new(counts.clone())),
                    ..OperationResult::default()
                })
            }
            Err(Error::Canceled) => OperationStatus::Canceled,
            Err(error) => {
                tracing::error!(database = name, %error, "a database was not restored");
                OperationStatus::Faulted(Arc::new(error.clone()))
            }
        });
        restored.map(drop)
    }

    fn restore(&self) -> Result<SmugglerResult> {
        let snapshot = self.files.first().filter(|(backup, _)| backup.kind == FileKind::Snapshot);
        let mut counts = SmugglerResult::default();
        let (unfinished, mut record) = match snapshot {
            Some((_, file)) => self.read_snapshot(file, &mut counts)?,
            None => (Unfinished::make(&self.databases, &self.request.name)?, Value::object()),
        };
        if snapshot.is_some() {
            let count = unfinished.database.read().statistics()?.documents().count;
            counts.count(ItemType::Documents, count, 0);
        }
        let is_over_image = snapshot.is_some() && self.files.len() > 1;
        if is_over_image {
            over_image::prepare(&unfinished.database)?;
        }
        for (number, (_, file)) in self.files.iter().enumerate().skip(usize::from(snapshot.is_some())) {
            let is_last = number + 1 == self.files.len();
            let before = number.checked_sub(1).and_then(|before| Some(self.files.get(before)?.1.as_str()));
            let (read, dumped) = self.read_file(&unfinished.database, file, before, is_last)?;
            counts.add(&read);
            record = dumped.unwrap_or(record);
        }
        if is_over_image {
            over_image::remove_orphaned_guards(&unfinished.database)?;
        }
        if snapshot.is_some() && self.request.skips_indexes {
            unfinished.database.indexes().retain(|_| false)?;
        }
        let record = restored_record::acceptable(&record, &mut counts);
        if !self.request.is_trial {
            let tasks = BackupTask::of_record(&record);
            let own = tasks.iter().filter(|task| !task.is_disabled && !is_server_wide(task));
            let enabled: Vec<&str> = own.map(|task| task.name.as_str()).collect();
            if !enabled.is_empty() && !self.request.disables_tasks {
                let names = enabled.join("', '");
                counts.warn(&format!(
                    "The backup tasks of the original are enabled, and write to its places: '{names}'."
                ));
            }
            let missing = self.databases.missing_server_wide_backups(&record, &self.request.name)?;
            if !missing.is_empty() {
                counts.warn(&format!(
                    "The server-wide backups of the original do not cover the database on this server: '{}'. Define them here, or give the \
                     database a backup task of its own.",
                    missing.join("', '")
                ));
            }
            unfinished.make_known(&self.request, record)?;
        }
        counts.finish();
        Ok(counts)
    }

    /// Makes the database of the snapshot in a file, with what the plan has behind it, and gives its record.
    fn read_snapshot(&self, file: &str, counts: &mut SmugglerResult) -> Result<(Unfinished<'_>, Value)> {
        let place = self.request.source.place();
        let failed = |reason: String| bad(format!("the file '{file}' in {place} cannot be restored: {reason}"));
        let opened = file::open(self.request.source.get(file)?, self.key.as_ref());
        let mut opened = opened.map_err(|error| failed(error.to_string()))?;
        // That of a file behind the snapshot, which it names.
        let (mut of_replay, mut later_record) = (None, None);
        let made = Unfinished::of_snapshot(&self.databases, &self.request.name, |folder, indexes| {
            snapshot::read(&mut opened, folder, indexes, &self.operation, |documents| {
                let replayed = self.replay(documents, counts).inspect_err(|error| of_replay = Some(error.clone()));
                later_record = replayed?;
                Ok(())
            })
        });
        let is_of_replay = of_replay.is_some();
        let made = made.map(|(unfinished, record)| (unfinished, later_record.unwrap_or(record)));
        made.map_err(|error| match of_replay.unwrap_or(error) {
            Error::Image(storage::image::Error::Cancelled) => Error::Canceled,
            error @ (Error::BadBackup { .. } | Error::Image(_)) if !is_of_replay => failed(error.to_string()),
            error => error,
        })
    }

    /// Takes the documents of a snapshot to the state that was asked for; gives the record of the database that belongs to it, if that is
    /// not the one of the snapshot.
    fn replay(&self, documents: &mut storage::image::Restore, counts: &mut SmugglerResult) -> Result<Option<Value>> {
        let Some(plan) = &self.plan else { return Ok(None) };
        let mut progress = |so_far: storage::image::Progress| {
            let done = Progress { processed: so_far.records, total: so_far.records, ..Progress::default() };
            self.operation.set_progress(done);
            !self.operation.is_killed()
        };
        let (reached, record) = plan.replay(&*self.request.source, self.key.as_ref(), documents, &mut progress)?;
        let end = match plan.is_past_end() {
            true => ". The archive ends there, before the time that was asked for",
            false => "",
        };
        counts.info(&format!("The state is that of transaction {}, of {}{end}.", reached.transaction, reached.time));
        Ok(record)
    }

    /// Imports one file. The record and definitions of indexes and subscriptions count as the last one has them.
    ///
    /// * `before`: the file before it. It must be the one that this one goes on from, if it says so: one between them was lost otherwise.
    fn read_file(
        &self,
        database: &Arc<Database>,
        file: &str,
        before: Option<&str>,
        is_last: bool,
    ) -> Result<(SmugglerResult, Option<Value>)> {
        let place = self.request.source.place();
        let failed = |reason: String| bad(format!("the file '{file}' in {place} cannot be restored: {reason}"));
        let mut options =
            SmugglerOptions { includes_artificial: true, skips_revisions: true, ..SmugglerOptions::default() };
        options.types = options.types.with(ItemType::Tombstones).with(ItemType::CompareExchangeTombstones);
        if !is_last {
            let defining = [ItemType::Indexes, ItemType::Subscriptions, ItemType::DatabaseRecord];
            options.types = defining.into_iter().fold(options.types, ItemTypes::without);
        } else if self.request.skips_indexes {
            options.types = options.types.without(ItemType::Indexes);
        }
        let opened = file::open(self.request.source.get(file)?, self.key.as_ref());
        let mut dump = opened.map_err(|error| failed(error.to_string()))?;
        let mut import = database.import(None, options, &[])?;
        if is_last && before.is_some() {
            import.replace_definitions()?;
        }
        let mut piece = vec![0; BACKUP_PIECE_SIZE];
        let mut is_closed = false;
        let fed = loop {
            if self.operation.is_killed() {
                break Err(Error::Canceled);
            }
            match dump.read(&mut piece) {
                // All of it is read, also behind the dump: the checksum stands at the end.
                Ok(0) if is_closed => break Ok(()),
                Ok(0) => break Err(failed(import.cut_off().to_string())),
                Ok(size) => match import.feed(&piece[..size]) {
                    Ok(closed) => is_closed = closed,
                    Err(error) => break Err(failed(error.to_string())),
                },
                // RavenDB leaves the end of its frames out, and writes no checksum either.
                Err(error)
                    if is_closed && error.kind() == std::io::ErrorKind::UnexpectedEof && !dump.has_checksum() =>
                {
                    break Ok(());
                }
                Err(error) => break Err(failed(error.to_string())),
            }
            if let Some(progress) = import.operation().progress() {
                self.operation.set_progress(progress);
            }
        };
        match fed.and_then(|()| import.finish()) {
            Ok(imported) => {
                import.end(imported.result.clone());
                let before = before.and_then(|before| before.rsplit('/').next());
                if let Some(wanted) = imported.goes_on_from.filter(|wanted| before != Some(wanted)) {
                    let reason = format!(
                        "it goes on from the file '{wanted}', which is not there. Restore the state of a file before that one"
                    );
                    return Err(failed(reason));
                }
                Ok((imported.result, imported.record))
            }
            Err(error) => {
                import.fail(error.clone());
                Err(error)
            }
        }
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        self.operation.end(OperationStatus::Canceled);
    }
}

/// What the folder of indexes is called while that of their database is not there yet.
const OF_INDEXES: &str = "~indexes";
/// What the storage appends to the name of a folder that it makes.
const PARTIAL: &str = "~partial";

/// A folder of the node that is being filled, with those beside it. They are noted as being deleted, and are kept as long as this lives.
struct Filling<'d> {
    databases: &'d Databases,
    folder: String,
    names: [String; 3],
}

impl<'d> Filling<'d> {
    fn begin(databases: &'d Databases, name: &str) -> Result<Filling<'d>> {
        let _changing = databases.changing.lock();
        let folder = databases.choose_folder(name)?;
        let names = [folder.clone(), format!("{folder}{OF_INDEXES}"), format!("{folder}{PARTIAL}")];
        databases.filling.lock().extend(names.iter().cloned());
        let filling = Filling { databases, folder, names };
        for name in &filling.names {
            databases.system.note_deleting(name)?;
        }
        Ok(filling)
    }
}

impl Drop for Filling<'_> {
    fn drop(&mut self) {
        let mut filling = self.databases.filling.lock();
        self.names.iter().for_each(|name| _ = filling.remove(name));
    }
}

/// A database that no record names yet. Dropped, it is removed.
struct Unfinished<'d> {
    databases: &'d Arc<Databases>,
    database: Arc<Database>,
    /// `None`: in memory.
    folder: Option<String>,
    /// It has a record now, and stays.
    is_known: bool,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.is_known {
            // Its indexes let go of it.
            self.database.close();
        }
    }
}

impl<'d> Unfinished<'d> {
    fn make(databases: &'d Arc<Databases>, name: &str) -> Result<Unfinished<'d>> {
        let draft = DatabaseRecord::new(Value::object(), name, databases.node_tag(), 0, Date::now());
        let _changing = databases.changing.lock();
        let folder = if databases.is_in_memory() { None } else { Some(databases.choose_folder(name)?) };
        if let Some(folder) = &folder {
            databases.system.note_deleting(folder)?;
        }
        let database = databases.open_database(&draft, folder.as_deref(), Opening::New)?;
        database.set_analyzers(databases.server_wide_analyzers());
        if let Some(folder) = &folder {
            databases.deleted.lock().insert(folder.clone(), DatabaseRef::of(&database));
        }
        Ok(Unfinished { databases, database, folder, is_known: false })
    }

    /// A database whose folder `fill` makes; what that gives is given too.
    ///
    /// * `fill`: is given the folder, and one beside it that may be used meanwhile. Neither is there.
    fn of_snapshot<T>(
        databases: &'d Arc<Databases>,
        name: &str,
        fill: impl FnOnce(&Path, &Path) -> Result<T>,
    ) -> Result<(Unfinished<'d>, T)> {
        let Some(all) = databases.folder().map(|folder| folder.join("databases")) else {
            return Err(bad("a snapshot can be restored only by a server that keeps its databases on disk"));
        };
        let filling = Filling::begin(databases, name)?;
        let (folder, path) = (filling.folder.clone(), all.join(&filling.folder));
        let filled = fill(&path, &all.join(format!("{folder}{OF_INDEXES}")))?;
        let environment = storage::Environment::open(&path, storage::Options::default())?;
        // The original may go on, and give the same etags out.
        documents::renew_database_id(&environment)?;
        environment.close()?;
        let draft = DatabaseRecord::new(Value::object(), name, databases.node_tag(), 0, Date::now());
        let database = databases.open_database(&draft, Some(&folder), Opening::Existing)?;
        databases.deleted.lock().insert(folder.clone(), DatabaseRef::of(&database));
        drop(filling);
        Ok((Unfinished { databases, database, folder: Some(folder), is_known: false }, filled))
    }

    /// Makes the database one of the node, in one transaction.
    ///
    /// * `record`: acceptable.
    fn make_known(mut self, request: &RestoreRequest, mut record: Value) -> Result<()> {
        let (databases, name) = (self.databases, request.name.as_str());
        let now = databases.clock().now();
        let tasks = restored_record::as_new_tasks(record.get(super::PERIODIC_BACKUPS), request.disables_tasks, now);
        record.set(super::PERIODIC_BACKUPS, tasks);
        let change = Request::new("restore", &[name], None)?;
        let _changing = databases.changing.lock();
        if databases.names.get(name).is_some() {
            return Err(Error::AlreadyExists { name: name.to_owned() });
        }
        let server_wide = databases.server_wide_backups()?;
        let (record, _) = databases.system.change(&change, |system, tx, index| {
            let mut record = DatabaseRecord::new(record, name, databases.node_tag(), index, Date::now());
            super::set_server_wide_tasks(&mut record.value, &server_wide);
            system.put_record(tx, &record, self.folder.as_deref())?;
            if let Some(folder) = &self.folder {
                system.delete_deleting(tx, folder)?;
            }
            Ok(record)
        })?;
        if let Some(folder) = &self.folder {
            databases.deleted.lock().remove(folder);
        }
        let entry = DatabaseEntry::new(record, self.folder.clone(), Previous::None);
        entry.store(self.database.clone());
        databases.add_entry(name, entry);
        self.is_known = true;
        databases.configure_backups(name)?;
        tracing::info!(database = name, "database created by a restore");
        Ok(())
    }
}
