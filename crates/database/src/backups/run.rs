//! One backup: from a snapshot to files in all destinations.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use documents::{Date, Etag};

use super::configuration::{BackupConfiguration, BackupKind, DestinationKind};
use super::destination::{self, Destination, FolderDestination, PARTIAL};
use super::file::BackupFile;
use super::names::{self, BackupName, FileKind};
use super::result::{BackupResult, UploadCounts};
use super::snapshot;
use super::status::BackupStatus;
use crate::clock::later;
use crate::smuggler::{DumpWriter, ItemType, SmugglerOptions, SmugglerResult, indexes_hash};
use crate::{Database, DatabaseRecord, Error, Operation, Result, folders};

/// Where a backup goes.
pub(crate) struct Places {
    pub local: Option<FolderDestination>,
    pub others: Vec<(DestinationKind, Arc<dyn Destination>)>,
    /// The folder of files that go to others alone, until they are there.
    pub spool: PathBuf,
}

/// One backup, before it is made.
pub(crate) struct Backup<'a> {
    pub places: Places,
    pub node_tag: &'a str,
    pub database: Arc<Database>,
    pub record: Arc<DatabaseRecord>,
    pub configuration: &'a BackupConfiguration,
    pub operation: &'a Arc<Operation>,
    /// The backup that this one goes on from, if it is incremental.
    pub previous: Option<&'a BackupStatus>,
    pub now: Date,
}

/// What is known of a backup that was made.
pub(crate) struct BackupDone {
    pub counts: SmugglerResult,
    pub result: BackupResult,
    pub last_etag: Etag,
    pub record_etag: u64,
    pub indexes_hash: u64,
    pub change_vector: String,
}

/// Files are named to the second.
const SECOND: Duration = Duration::from_secs(1);

/// The folder of backups that are written for destinations which are no folders, below that of the node.
pub(crate) const IN_PROGRESS: &str = "backups-in-progress";

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
        let (record_etag, indexes_hash) = (self.record.etag, indexes_hash(&self.database));
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
            indexes_hash,
            change_vector,
        };
        let is_unchanged = self.previous.is_some_and(|previous| {
            (previous.last_etag, previous.record_etag, previous.indexes_hash) == (last_etag, record_etag, indexes_hash)
        });
        if is_unchanged {
            return Ok(done);
        }
        let name = BackupName { time, kind, is_encrypted: self.configuration.key.is_some() }.file();
        let path = format!("{}/{name}", done.result.folder);
        let spool = self.spool(&path)?;
        // Whatever happens, what is not whole goes.
        let removal = RemovedAtEnd(&spool);
        let file = destination::create_private(&spool).map_err(|error| Error::io("create", &spool, error))?;
        let (mut file, counts) = match kind {
            FileKind::Snapshot => {
                // An image holds no snapshot for as long as it is written.
                drop(snapshot);
                self.write_snapshot(file, &spool)?
            }
            _ => {
                let written = self.write(file, &spool, &snapshot)?;
                drop(snapshot);
                written
            }
        };
        done.counts = counts;
        let size = file.metadata().map_err(|error| Error::io("read", &spool, error))?.len();
        for (kind, destination) in others {
            let upload = self.upload(*kind, &**destination, &path, &mut file, size)?;
            done.result.uploads.push(upload);
        }
        if local.is_some() {
            let target = spool.with_extension("");
            std::fs::rename(&spool, &target).map_err(|error| Error::io("rename", &spool, error))?;
            let parent = spool.parent().unwrap_or(&spool);
            destination::sync_folder(parent).map_err(|error| Error::io("sync the folder", parent, error))?;
        }
        drop(removal);
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
    fn spool(&self, path: &str) -> Result<PathBuf> {
        let spool = match &self.places.local {
            Some(local) => local.path_of(&format!("{path}{PARTIAL}")),
            None => self.places.spool.join(format!("{}{PARTIAL}", documents::id::random_guid())),
        };
        folders::make(spool.parent().unwrap_or(&spool))?;
        Ok(spool)
    }

    fn write(&self, file: File, path: &Path, snapshot: &documents::Snapshot<'_>) -> Result<(File, SmugglerResult)> {
        let mut options = SmugglerOptions { per_second: self.configuration.per_second, ..SmugglerOptions::default() };
        options.types = options.types.with(ItemType::Tombstones);
        let after = self.previous.map_or(0, |previous| previous.last_etag);
        let record = self.record.value.clone();
        let mut writer = DumpWriter::of_backup(self.database.clone(), self.operation, options, record, after);
        let mut sink = BackupFile::new(file, path, self.configuration, self.operation)?;
        writer.write(snapshot, &mut sink)?;
        Ok((sink.close()?, writer.into_result()))
    }

    fn write_snapshot(&self, file: File, path: &Path) -> Result<(File, SmugglerResult)> {
        let mut sink = BackupFile::new(file, path, self.configuration, self.operation)?;
        let (excludes, record) = (self.configuration.excludes_indexes, &self.record.value);
        let counts = snapshot::write(&self.database, record, excludes, self.operation, &mut sink)?;
        Ok((sink.close()?, counts))
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

/// Removes a file when it is dropped, if the file is still there under this name.
struct RemovedAtEnd<'p>(&'p Path);

impl Drop for RemovedAtEnd<'_> {
    fn drop(&mut self) {
        match std::fs::remove_file(self.0) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(path = %self.0.display(), %error, "the rest of a backup was not removed");
            }
            _ => {}
        }
    }
}
