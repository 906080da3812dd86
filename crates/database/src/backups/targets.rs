//! The places of one backup. Each is written by itself, the folder first: where one fails, the others have the backup all the same.
//!
//! A place that could not be reached lacks files of the chain. The next backup brings it up to date from another place that has them,
//! before it adds its own file.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;
use std::sync::Arc;

use json::Value;

use super::configuration::{BackupConfiguration, DestinationKind, DestinationSettings, bad};
use super::destination::{Destination, FolderDestination};
use super::names::{BackupName, Maker};
use super::points;
use super::spool::Spool;
use crate::limits::BACKUP_PIECE_SIZE;
use crate::{Error, Operation, Result};

/// A place that a backup goes to.
pub(crate) struct Target {
    pub kind: DestinationKind,
    pub place: Arc<dyn Destination>,
    /// What failed there. Nothing more is tried then.
    pub error: Option<Error>,
    /// The names in the folder of the backup.
    files: Vec<String>,
}

/// All of them, the folder first.
pub(crate) struct Targets {
    pub all: Vec<Target>,
    local: Option<FolderDestination>,
    /// The folder of files on their way from one place to another.
    spool_folder: PathBuf,
}

impl Targets {
    /// Opens the places of a configuration.
    ///
    /// * `folder_of`, `open`: the folder, and another place, of settings.
    ///
    /// # Errors
    ///
    /// [`Error::NotSupported`], or [`Error::BadBackup`] for settings that mean nothing here.
    pub fn open(
        configuration: &BackupConfiguration,
        spool_folder: PathBuf,
        folder_of: impl Fn(&Value) -> Result<FolderDestination>,
        open: impl Fn(&DestinationSettings) -> Result<Arc<dyn Destination>>,
    ) -> Result<Targets> {
        let mut targets = Targets { all: Vec::new(), local: None, spool_folder };
        for settings in &configuration.destinations {
            let place: Arc<dyn Destination> = match settings.kind {
                DestinationKind::Local => {
                    let folder = folder_of(&settings.settings)?;
                    targets.local = Some(folder.clone());
                    Arc::new(folder)
                }
                _ => open(settings)?,
            };
            targets.all.push(Target { kind: settings.kind, place, error: None, files: Vec::new() });
        }
        targets.all.sort_by_key(|target| target.kind != DestinationKind::Local);
        Ok(targets)
    }

    /// The folder of this machine that is among them, if nothing failed there.
    pub fn local(&self) -> Option<&FolderDestination> {
        self.local.as_ref().filter(|_| self.all.first().is_some_and(|target| target.error.is_none()))
    }

    /// Those where nothing failed.
    pub fn healthy(&self) -> impl Iterator<Item = &Target> {
        self.all.iter().filter(|target| target.error.is_none())
    }

    /// What failed, and where.
    pub fn failures(&self) -> Vec<(DestinationKind, Error)> {
        self.all.iter().filter_map(|target| Some((target.kind, target.error.clone()?))).collect()
    }

    /// # Errors
    ///
    /// The first one, if all places failed.
    pub fn require_one(&self) -> Result<()> {
        match self.healthy().next() {
            Some(_) => Ok(()),
            None => Err(self
                .failures()
                .into_iter()
                .next()
                .map_or_else(|| bad("the backup has no destination"), |(_, error)| error)),
        }
    }

    /// Lists a folder in each of them.
    pub fn list(&mut self, folder: &str) {
        for target in self.all.iter_mut().filter(|target| target.error.is_none()) {
            match target.place.list(folder) {
                Ok(files) => {
                    let name = |path: String| path.rsplit('/').next().map(str::to_owned);
                    target.files = files.into_iter().filter_map(|file| name(file.path)).collect();
                }
                Err(error) => target.error = Some(error),
            }
        }
    }

    /// Whether the folder that was listed has anything in one of them.
    pub fn has_files(&self) -> bool {
        self.healthy().any(|target| !target.files.is_empty())
    }

    /// The latest backup in the folder that was listed.
    pub fn last(&self) -> Option<BackupName> {
        let names = self.healthy().flat_map(|target| &target.files);
        names.filter_map(|name| BackupName::parse(name)).max_by_key(|name| name.time)
    }

    /// Whether a chain goes on in the folder that was listed: one place has all of it up to its last file, and none has another one.
    pub fn go_on_from(&self, last_file: &str) -> bool {
        let Some((_, chain)) = self.source(last_file) else { return false };
        let is_other = |name: &String| BackupName::parse(name).is_some() && !chain.contains(name);
        self.healthy().all(|target| !target.files.iter().any(is_other))
    }

    /// The first place that has a chain up to this file, with the files of it.
    fn source(&self, last_file: &str) -> Option<(usize, Vec<String>)> {
        self.all.iter().enumerate().find_map(|(at, target)| {
            let chain = points::chain(target.files.iter().cloned(), None).ok().filter(|_| target.error.is_none())?;
            let is_it = chain.last().is_some_and(|(_, name)| name == last_file);
            is_it.then(|| (at, chain.into_iter().map(|(_, name)| name).collect()))
        })
    }

    /// Gives each place the files of a chain that it lacks.
    ///
    /// # Errors
    ///
    /// [`Error::Canceled`]; no place has the chain.
    pub fn bring_up_to_date(
        &mut self,
        folder: &str,
        last_file: &str,
        maker: &Maker,
        operation: &Operation,
    ) -> Result<()> {
        let lost = || bad(format!("the file '{last_file}' that the backup goes on from was removed"));
        let (source, chain) = self.source(last_file).ok_or_else(lost)?;
        for at in 0..self.all.len() {
            let target = &self.all[at];
            let missing: Vec<&String> = chain.iter().filter(|name| !target.files.contains(name)).collect();
            if target.error.is_some() || missing.is_empty() {
                continue;
            }
            let copy = || {
                if !target.files.contains(&maker.file()) {
                    self.put_mark(at, folder, maker)?;
                }
                missing.iter().try_for_each(|name| self.copy(source, at, &format!("{folder}/{name}"), operation))
            };
            match copy() {
                Ok(()) => tracing::info!(
                    place = target.place.place(),
                    folder,
                    files = missing.len(),
                    "a place of backups was brought up to date"
                ),
                Err(_) if operation.is_killed() => return Err(Error::Canceled),
                Err(error) => self.all[at].error = Some(error),
            }
        }
        Ok(())
    }

    fn copy(&self, from: usize, to: usize, path: &str, operation: &Operation) -> Result<()> {
        let mut sent = |_| operation.check_kill();
        let source = &self.all[from];
        let (_spool, mut file) = match &self.local {
            Some(local) if source.kind == DestinationKind::Local => {
                let path = local.path_of(path);
                (None, File::open(&path).map_err(|error| Error::io("read", &path, error))?)
            }
            _ => {
                let spool = Spool::in_folder(self.spool_folder.clone())?;
                let mut file = spool.create()?;
                let mut contents = source.place.get(path)?;
                loop {
                    let mut piece = Read::by_ref(&mut contents).take(BACKUP_PIECE_SIZE as u64);
                    let size =
                        io::copy(&mut piece, &mut file).map_err(|error| Error::io("copy", spool.path(), error))?;
                    if size == 0 {
                        break;
                    }
                    sent(size)?;
                }
                (Some(spool), file)
            }
        };
        let failed = |error| Error::io("read", path.as_ref(), error);
        let size = file.seek(io::SeekFrom::End(0)).map_err(failed)?;
        self.all[to].place.put(path, &mut file, size, &mut sent)
    }

    /// Notes in a place who made the backup in a folder.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`], [`Error::Io`]
    pub fn put_mark(&self, at: usize, folder: &str, maker: &Maker) -> Result<()> {
        let mut contents = Value::object();
        contents.set("DatabaseId", maker.database_id.as_str().into());
        contents.set("TaskId", Value::Number(maker.task.to_string()));
        let contents = contents.to_vec();
        let spool = Spool::in_folder(self.spool_folder.clone())?;
        let mut file = spool.create()?;
        file.write_all(&contents).map_err(|error| Error::io("write", spool.path(), error))?;
        let path = format!("{folder}/{}", maker.file());
        self.all[at].place.put(&path, &mut file, contents.len() as u64, &mut |_| Ok(()))
    }
}

/// Marks of a full backup that is being made. They go where no file follows.
#[derive(Default)]
pub(crate) struct Marks(Vec<(DestinationKind, Arc<dyn Destination>, String)>);

impl Marks {
    /// Notes who makes the backup.
    ///
    /// # Errors
    ///
    /// As [`Targets::put_mark`].
    pub fn put(&mut self, targets: &Targets, at: usize, folder: &str, maker: &Maker) -> Result<()> {
        targets.put_mark(at, folder, maker)?;
        let target = &targets.all[at];
        self.0.push((target.kind, target.place.clone(), format!("{folder}/{}", maker.file())));
        Ok(())
    }

    /// The file is there.
    pub fn keep(&mut self, kind: DestinationKind) {
        self.0.retain(|(of, ..)| *of != kind);
    }
}

impl Drop for Marks {
    fn drop(&mut self) {
        for (_, place, path) in &self.0 {
            if let Err(error) = place.remove(path) {
                tracing::warn!(%error, "the mark of a backup that failed was not removed");
            }
        }
    }
}
