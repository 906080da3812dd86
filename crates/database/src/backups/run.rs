//! One backup: from a snapshot to files in all destinations.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use documents::{Date, Etag};
use json::Value;
use storage::Position;

use super::configuration::{BackupConfiguration, BackupKind, DestinationKind};
use super::destination;
use super::file::{BackupFile, CompressedFile};
use super::names::{self, BackupName, FileKind, Maker};
use super::result::{BackupResult, UploadCounts};
use super::snapshot;
use super::spool::{PARTIAL, Spool};
use super::status::BackupStatus;
use super::targets::{Marks, Target, Targets};
use super::turns::Turns;
use crate::clock::{Clock, later};
use crate::smuggler::{DumpWriter, ItemType, SmugglerOptions, SmugglerResult, hash_without_etags};
use crate::{Database, DatabaseRecord, Error, Operation, Result};

/// One backup, before it is made.
pub(crate) struct Backup<'a> {
    pub node_tag: &'a str,
    /// The folder of files that go to other places than folders.
    pub spool_folder: PathBuf,
    pub clock: &'a dyn Clock,
    pub database: Arc<Database>,
    /// Gives the record of the database.
    pub record: &'a dyn Fn() -> Result<Arc<DatabaseRecord>>,
    pub configuration: &'a BackupConfiguration,
    pub operation: &'a Arc<Operation>,
    pub turns: &'a Turns,
    /// The task that it belongs to; 0: none.
    pub task: u64,
    /// The backup that this one goes on from, if it is incremental.
    pub previous: Option<&'a BackupStatus>,
    /// When it began.
    pub now: Date,
}

/// What is known of a backup that was made.
pub(crate) struct BackupDone {
    pub counts: SmugglerResult,
    pub result: BackupResult,
    pub last_etag: Etag,
    pub record_etag: u64,
    pub definitions_hash: u64,
    pub change_vector: String,
    /// The state that a snapshot has, and a time by which that was the last one.
    pub base: Option<(Position, Date)>,
    /// The places that lack it, and why.
    pub failures: Vec<(DestinationKind, Error)>,
}

/// Files are named to the second.
const SECOND: Duration = Duration::from_secs(1);

/// A file that was written, and what is in it.
struct Written {
    file: File,
    spool: Spool,
    counts: SmugglerResult,
    position: Option<Position>,
}

impl Backup<'_> {
    /// Makes the backup. When this returns it is, whole, in all places but those that failed: at least in one.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`], [`Error::Io`], [`Error::Canceled`], or storage fails. Files in places may be there.
    pub fn run(&self, targets: &mut Targets) -> Result<BackupDone> {
        self.make(targets).map_err(|error| self.operation.failure(error))
    }

    fn make(&self, targets: &mut Targets) -> Result<BackupDone> {
        let (time, folder) = self.name(targets)?;
        let maker = Maker::new(self.database.documents().database_id(), self.task);
        if let Some(previous) = self.previous {
            // May take long, and holds no snapshot.
            targets.bring_up_to_date(&folder, &previous.last_file, &maker, self.operation)?;
        }
        let turn = self.turns.take(self.operation)?;
        let record = (self.record)()?;
        let snapshot = self.database.read();
        let last_etag = snapshot.last_etag()?;
        let change_vector = snapshot.change_vector()?;
        let (record_etag, definitions_hash) = (record.etag, hash_without_etags(&self.database, &snapshot)?);
        let kind = match (self.previous, self.configuration.kind) {
            (Some(_), _) => FileKind::Incremental,
            (None, BackupKind::Backup) => FileKind::Full,
            (None, BackupKind::Snapshot) => FileKind::Snapshot,
        };
        let result = BackupResult {
            is_full: kind != FileKind::Incremental,
            folder,
            file: None,
            local_folder: None,
            uploads: Vec::new(),
        };
        let mut done = BackupDone {
            counts: SmugglerResult::default(),
            result,
            last_etag,
            record_etag,
            definitions_hash,
            change_vector,
            base: None,
            failures: Vec::new(),
        };
        let is_unchanged = self.previous.is_some_and(|previous| {
            (previous.last_etag, previous.record_etag, previous.definitions_hash)
                == (last_etag, record_etag, definitions_hash)
        });
        if is_unchanged {
            drop((snapshot, turn));
            targets.require_one()?;
            self.end(targets, &mut done);
            return Ok(done);
        }
        let name = BackupName { time, kind, is_encrypted: self.configuration.key.is_some() }.file();
        let path = format!("{}/{name}", done.result.folder);
        // Dropped last: a folder goes with its mark, when nothing else is in it.
        let mut marks = Marks::default();
        // An image holds no snapshot for as long as it is written.
        let snapshot = Some(snapshot).filter(|_| kind != FileKind::Snapshot);
        let (folder, mark) = (done.result.folder.clone(), self.previous.is_none().then_some(&maker));
        let mut written = loop {
            targets.require_one()?;
            let is_local = targets.local().is_some();
            let marked = match mark.filter(|_| is_local) {
                Some(maker) => marks.put(targets, 0, &folder, maker),
                None => Ok(()),
            };
            match marked.and_then(|()| self.write_file(targets, &path, snapshot.as_ref(), &record.value)) {
                Ok(written) => break written,
                // The folder may have no room, and the others all the same.
                Err(error) if is_local && !self.operation.is_killed() => targets.all[0].error = Some(error),
                Err(error) => return Err(error),
            }
        };
        drop((snapshot, turn));
        done.counts = std::mem::take(&mut written.counts);
        done.base = written.position.map(|position| (position, self.clock.now()));
        let is_local = targets.local().is_some();
        for at in 0..targets.all.len() {
            if targets.all[at].error.is_some() {
                continue;
            }
            let kind = targets.all[at].kind;
            let is_local = is_local && at == 0;
            let put = match mark.filter(|_| !is_local) {
                Some(maker) => marks.put(targets, at, &folder, maker),
                None => Ok(()),
            };
            let put = put.and_then(|()| match is_local {
                true => give_name(&written.spool).map(|()| None),
                false => self.upload(&targets.all[at], &path, &mut written.file).map(Some),
            });
            match put {
                Ok(upload) => {
                    marks.keep(kind);
                    done.result.uploads.extend(upload);
                }
                Err(error) if self.operation.is_killed() => return Err(error),
                Err(error) => targets.all[at].error = Some(error),
            }
        }
        // The rest of what failed goes before its mark.
        drop(written);
        targets.require_one()?;
        done.result.file = Some(name);
        self.end(targets, &mut done);
        Ok(done)
    }

    fn end(&self, targets: &Targets, done: &mut BackupDone) {
        let folder = targets.local().map(|local| local.path_of(&done.result.folder).display().to_string());
        done.result.local_folder = folder;
        done.failures = targets.failures();
    }

    /// Removes a backup again from the places that have it, as far as they allow it.
    pub fn take_back(&self, targets: &Targets, done: &BackupDone) {
        let maker = Maker::new(self.database.documents().database_id(), self.task);
        let (folder, mark) = (&done.result.folder, maker.file());
        for target in targets.healthy() {
            for file in done.result.file.iter().chain(Some(&mark).filter(|_| done.result.is_full)) {
                if let Err(error) = target.place.remove(&format!("{folder}/{file}")) {
                    tracing::warn!(%error, "a backup that other places lack was not removed");
                }
            }
        }
    }

    /// The time that names the backup, and its folder. Files are named by the second, and none takes the name of another.
    fn name(&self, targets: &mut Targets) -> Result<(Date, String)> {
        let mut time = self.now;
        loop {
            let folder = match self.previous {
                Some(previous) => previous.folder.clone(),
                None => names::folder(time, self.database.name(), self.node_tag),
            };
            targets.list(&folder);
            targets.require_one()?;
            match (self.previous, targets.last()) {
                (None, _) if targets.has_files() => time = later(time, SECOND),
                (Some(_), Some(last)) => return Ok((time.max(later(last.time, SECOND)), folder)),
                _ => return Ok((time, folder)),
            }
        }
    }

    /// Writes the file: in its folder under another name, or, if no folder is a place of it, beside the databases. Whatever happens, what
    /// is not whole goes.
    ///
    /// * `snapshot`: what is dumped; `None`: an image is written.
    /// * `record`: of the database.
    fn write_file(
        &self,
        targets: &Targets,
        path: &str,
        snapshot: Option<&documents::Snapshot<'_>>,
        record: &Value,
    ) -> Result<Written> {
        let spool = match targets.local() {
            Some(local) => Spool::at(local.path_of(&format!("{path}{PARTIAL}")))?,
            None => Spool::in_folder(self.spool_folder.clone())?,
        };
        let out = CompressedFile::new(spool.create()?, spool.path(), self.configuration)?;
        let (file, counts, position) = match snapshot {
            None => self.write_snapshot(out, record).map(|(file, counts, position)| (file, counts, Some(position)))?,
            Some(snapshot) => self.write(out, snapshot, record).map(|(file, counts)| (file, counts, None))?,
        };
        Ok(Written { file, spool, counts, position })
    }

    fn write(
        &self,
        out: CompressedFile,
        snapshot: &documents::Snapshot<'_>,
        record: &Value,
    ) -> Result<(File, SmugglerResult)> {
        let mut options = SmugglerOptions { per_second: self.configuration.per_second, ..SmugglerOptions::default() };
        options.types = options.types.with(ItemType::Tombstones).with(ItemType::CompareExchangeTombstones);
        let previous = self.previous.map(|previous| (previous.last_etag, previous.last_file.clone()));
        let (database, record) = (self.database.clone(), record.clone());
        let mut writer = DumpWriter::of_backup(database, self.operation, options, record, previous);
        let mut sink = BackupFile::new(out, self.operation);
        writer.write(snapshot, &mut sink)?;
        Ok((sink.into_inner().close()?, writer.into_result()))
    }

    fn write_snapshot(&self, mut out: CompressedFile, record: &Value) -> Result<(File, SmugglerResult, Position)> {
        let excludes = self.configuration.excludes_indexes;
        let (counts, position) = snapshot::write(&self.database, record, excludes, self.operation, &mut out)?;
        Ok((out.close()?, counts, position))
    }

    fn upload(&self, target: &Target, path: &str, file: &mut File) -> Result<UploadCounts> {
        let began = Instant::now();
        let size = file.metadata().map_err(|error| Error::io("read", path.as_ref(), error))?.len();
        let mut sent = |_| self.operation.check_kill();
        target.place.put(path, file, size, &mut sent)?;
        Ok(UploadCounts { kind: target.kind, size, duration: began.elapsed() })
    }
}

/// Gives a file that was written in its folder its name.
fn give_name(spool: &Spool) -> Result<()> {
    let path = spool.path();
    std::fs::rename(path, path.with_extension("")).map_err(|error| Error::io("rename", path, error))?;
    let parent = path.parent().unwrap_or(path);
    destination::sync_folder(parent).map_err(|error| Error::io("sync the folder", parent, error))
}
