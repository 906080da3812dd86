//! One backup: from a snapshot to files in all destinations.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use documents::{Date, Etag};
use json::Value;
use storage::Position;

use super::configuration::{BackupConfiguration, BackupKind, DestinationKind};
use super::destination::{self, Destination, FolderDestination};
use super::file::{BackupFile, CompressedFile};
use super::names::{self, BackupName, FileKind, Maker};
use super::result::{BackupResult, UploadCounts};
use super::snapshot;
use super::spool::{PARTIAL, Spool};
use super::status::BackupStatus;
use crate::clock::{Clock, later};
use crate::smuggler::{DumpWriter, ItemType, SmugglerOptions, SmugglerResult, hash_without_etags};
use crate::{Database, DatabaseRecord, Error, Operation, Result};

/// Where a backup goes.
pub(crate) struct Places {
    pub local: Option<FolderDestination>,
    pub others: Vec<(DestinationKind, Arc<dyn Destination>)>,
}

/// One backup, before it is made.
pub(crate) struct Backup<'a> {
    pub places: Places,
    pub node_tag: &'a str,
    /// The folder of files that go to other places than folders.
    pub spool_folder: PathBuf,
    pub clock: &'a dyn Clock,
    pub database: Arc<Database>,
    pub record: Arc<DatabaseRecord>,
    pub configuration: &'a BackupConfiguration,
    pub operation: &'a Arc<Operation>,
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
}

/// What says in the places of a full backup who made it. It goes where no file follows.
struct Marks<'p> {
    path: String,
    places: Vec<&'p dyn Destination>,
}

impl<'p> Marks<'p> {
    fn put(&mut self, backup: &Backup<'_>, place: &'p dyn Destination) -> Result<()> {
        let mut contents = Value::object();
        contents.set("Database", backup.database.name().into());
        contents.set("TaskId", Value::Number(backup.task.to_string()));
        let contents = contents.to_vec();
        let spool = Spool::in_folder(backup.spool_folder.clone())?;
        let mut file = spool.create()?;
        file.write_all(&contents).map_err(|error| Error::io("write", spool.path(), error))?;
        self.places.push(place);
        place.put(&self.path, &mut file, contents.len() as u64, &mut |_| Ok(()))
    }
}

impl Drop for Marks<'_> {
    fn drop(&mut self) {
        for place in &self.places {
            if let Err(error) = place.remove(&self.path) {
                tracing::warn!(%error, "the mark of a backup that failed was not removed");
            }
        }
    }
}

/// Files are named to the second.
const SECOND: Duration = Duration::from_secs(1);

impl Backup<'_> {
    /// Makes the backup. When this returns it is in all destinations, whole.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`], [`Error::Io`], [`Error::Canceled`], or storage fails. Files in other destinations may be there.
    pub fn run(&self) -> Result<BackupDone> {
        let Places { local, others, .. } = &self.places;
        let (time, folder) = self.name()?;
        let snapshot = self.database.read();
        let last_etag = snapshot.last_etag()?;
        let change_vector = snapshot.change_vector()?;
        let (record_etag, definitions_hash) = (self.record.etag, hash_without_etags(&self.database, &snapshot)?);
        let local_folder = local.as_ref().map(|local| local.path_of(&folder).display().to_string());
        let kind = match (self.previous, self.configuration.kind) {
            (Some(_), _) => FileKind::Incremental,
            (None, BackupKind::Backup) => FileKind::Full,
            (None, BackupKind::Snapshot) => FileKind::Snapshot,
        };
        let result = BackupResult {
            is_full: kind != FileKind::Incremental,
            folder,
            file: None,
            local_folder,
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
        };
        let is_unchanged = self.previous.is_some_and(|previous| {
            (previous.last_etag, previous.record_etag, previous.definitions_hash)
                == (last_etag, record_etag, definitions_hash)
        });
        if is_unchanged {
            return Ok(done);
        }
        let name = BackupName { time, kind, is_encrypted: self.configuration.key.is_some() }.file();
        let path = format!("{}/{name}", done.result.folder);
        let maker = Maker::new(snapshot.database_id(), self.task);
        let mut marks = Marks { path: format!("{}/{}", done.result.folder, maker.file()), places: Vec::new() };
        if self.previous.is_none()
            && let Some(local) = local
        {
            marks.put(self, local)?;
        }
        // Whatever happens, what is not whole goes, the file before its mark.
        let spool = self.spool(&path)?;
        let out = CompressedFile::new(spool.create()?, spool.path(), self.configuration)?;
        let mut file = match kind {
            FileKind::Snapshot => {
                // An image holds no snapshot for as long as it is written.
                drop(snapshot);
                let (file, counts, position) = self.write_snapshot(out)?;
                done.counts = counts;
                done.base = Some((position, self.clock.now()));
                file
            }
            _ => {
                let (file, counts) = self.write(out, &snapshot)?;
                drop(snapshot);
                done.counts = counts;
                file
            }
        };
        let size = file.metadata().map_err(|error| Error::io("read", spool.path(), error))?.len();
        for (kind, destination) in others {
            if self.previous.is_none() {
                marks.put(self, &**destination)?;
            }
            let upload = self.upload(*kind, &**destination, &path, &mut file, size)?;
            done.result.uploads.push(upload);
        }
        if local.is_some() {
            let path = spool.path();
            std::fs::rename(path, path.with_extension("")).map_err(|error| Error::io("rename", path, error))?;
            let parent = path.parent().unwrap_or(path);
            destination::sync_folder(parent).map_err(|error| Error::io("sync the folder", parent, error))?;
        }
        marks.places.clear();
        done.result.file = Some(name);
        Ok(done)
    }

    /// The time that names the backup, and its folder. Files are named by the second, and none takes the name of another.
    fn name(&self) -> Result<(Date, String)> {
        let mut time = self.now;
        loop {
            let folder = match self.previous {
                Some(previous) => previous.folder.clone(),
                None => names::folder(time, self.database.name(), self.node_tag),
            };
            let (mut is_taken, mut last) = (false, None);
            let local = self.places.local.as_ref().map(|local| local as &dyn Destination);
            for place in local.into_iter().chain(self.places.others.iter().map(|(_, place)| &**place)) {
                for file in place.list(&folder)? {
                    is_taken = true;
                    let name = file.path.rsplit('/').next().and_then(BackupName::parse);
                    last = last.max(name.map(|name| name.time));
                }
            }
            match (self.previous, last) {
                (None, _) if is_taken => time = later(time, SECOND),
                (Some(_), Some(last)) => return Ok((time.max(later(last, SECOND)), folder)),
                _ => return Ok((time, folder)),
            }
        }
    }

    /// Where the file is written: in its folder under another name, or, if no folder is a destination, beside the databases.
    fn spool(&self, path: &str) -> Result<Spool> {
        match &self.places.local {
            Some(local) => Spool::at(local.path_of(&format!("{path}{PARTIAL}"))),
            None => Spool::in_folder(self.spool_folder.clone()),
        }
    }

    fn write(&self, out: CompressedFile, snapshot: &documents::Snapshot<'_>) -> Result<(File, SmugglerResult)> {
        let mut options = SmugglerOptions { per_second: self.configuration.per_second, ..SmugglerOptions::default() };
        options.types = options.types.with(ItemType::Tombstones).with(ItemType::CompareExchangeTombstones);
        let previous = self.previous.map(|previous| (previous.last_etag, previous.last_file.clone()));
        let record = self.record.value.clone();
        let mut writer = DumpWriter::of_backup(self.database.clone(), self.operation, options, record, previous);
        let mut sink = BackupFile::new(out, self.operation);
        writer.write(snapshot, &mut sink)?;
        Ok((sink.into_inner().close()?, writer.into_result()))
    }

    fn write_snapshot(&self, mut out: CompressedFile) -> Result<(File, SmugglerResult, Position)> {
        let (excludes, record) = (self.configuration.excludes_indexes, &self.record.value);
        let (counts, position) = snapshot::write(&self.database, record, excludes, self.operation, &mut out)?;
        Ok((out.close()?, counts, position))
    }

    fn upload(
        &self,
        kind: DestinationKind,
        destination: &dyn Destination,
        path: &str,
        file: &mut File,
        size: u64,
    ) -> Result<UploadCounts> {
        let began = Instant::now();
        let mut sent = |_| if self.operation.is_killed() { Err(Error::Canceled) } else { Ok(()) };
        destination.put(path, file, size, &mut sent)?;
        Ok(UploadCounts { kind, size, duration: began.elapsed() })
    }
}
