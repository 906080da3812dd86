//! Where the files of backups go: a folder, or what the program that runs the node opens for the other kinds.

use std::ffi::OsStr;
use std::fmt::Debug;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use documents::Feature;

use super::configuration::DestinationSettings;
use super::failure::DestinationError;
use super::spool::{PARTIAL, Spool};
use super::{archive, names};
use crate::{Error, Result};

/// A file in a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Its path below the destination, with `/`.
    pub path: String,
    /// Bytes.
    pub size: u64,
}

/// What a folder has directly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Its files.
    pub files: Vec<StoredFile>,
    /// The paths of the folders in it, below the destination.
    pub folders: Vec<String>,
}

/// Whether what a place is used for shall end.
pub type IsEnded = Arc<dyn Fn() -> bool + Send + Sync>;

/// A place for the files of backups. All functions may wait for long; [`Destination::ending_when`] bounds that.
pub trait Destination: Send + Sync + Debug {
    /// What people call it, without secrets: `the folder '/backups'`.
    fn place(&self) -> String;

    /// Stores a file under a path; it is there when this returns, whole and durable, and not before.
    ///
    /// * `file`: read from its beginning, `size` bytes.
    /// * `sent`: told how many bytes are stored so far; an error of it ends the upload.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`], or that of `sent`.
    fn put(&self, path: &str, file: &mut File, size: u64, sent: &mut dyn FnMut(u64) -> Result<()>) -> Result<()>;

    /// All files below a folder, in no order; `""`: of the whole destination. A folder that is not there has none. One below it that has
    /// another name than those of backups is left out if it cannot be read.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`]
    fn list(&self, folder: &str) -> Result<Vec<StoredFile>>;

    /// What a folder has directly, in no order; `""`: the destination itself. A folder that is not there has nothing. In a folder of this
    /// machine one with another name than those of backups and archives has nothing either if it cannot be read.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`]
    fn look_into(&self, folder: &str) -> Result<Contents>;

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`]
    fn get(&self, path: &str) -> Result<Box<dyn Read + Send>>;

    /// Removes a file. One that is not there is removed.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`]
    fn remove(&self, path: &str) -> Result<()>;

    /// The same place, where requests end with [`Error::Canceled`] when `is_ended` says so, those that would leave something behind in the
    /// place some seconds later. What [`Destination::get`] gives fails then when it would have to wait.
    fn ending_when(&self, is_ended: IsEnded) -> Arc<dyn Destination>;
}

/// Opens destinations of other kinds than folders.
pub trait OpenDestination: Send + Sync + Debug {
    /// # Errors
    ///
    /// [`Error::NotSupported`], [`Error::BadBackup`] for settings that mean nothing, [`Error::Destination`].
    fn open(&self, settings: &DestinationSettings) -> Result<Arc<dyn Destination>>;
}

/// Opens none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FoldersOnly;

impl OpenDestination for FoldersOnly {
    fn open(&self, settings: &DestinationSettings) -> Result<Arc<dyn Destination>> {
        let what = format!("the backup destination '{}' in this program", settings.kind.wire_name());
        Err(Feature::BackupForms.missing_for(what).into())
    }
}

/// A folder of this machine.
#[derive(Clone, Debug)]
pub struct FolderDestination {
    folder: PathBuf,
}

impl FolderDestination {
    /// The folder, which the first file makes.
    pub fn new(folder: impl Into<PathBuf>) -> FolderDestination {
        FolderDestination { folder: folder.into() }
    }

    fn failed(&self, operation: &'static str, path: &str) -> impl FnOnce(io::Error) -> Error + use<> {
        let (path, place) = (path.to_owned(), self.place());
        move |error| Error::Destination(DestinationError { operation, path, place, reason: error.to_string() })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where a file of this path is, or will be.
    pub(crate) fn path_of(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// Adds what a folder has directly. Names that are no text are left out.
    fn read_into(&self, folder: &Path, contents: &mut Contents) -> io::Result<()> {
        let entries = match entries_of(folder) {
            // Such as `lost+found`. Without one of our own a list would say that its backups are gone.
            Err(error) if folder != self.folder && !is_own_path(folder) => {
                tracing::warn!(folder = %folder.display(), %error, "a folder beside backups cannot be read and is passed over");
                return Ok(());
            }
            entries => entries?,
        };
        for (path, metadata) in entries {
            let Some(path) = path.strip_prefix(&self.folder).ok().and_then(Path::to_str) else { continue };
            match metadata.is_dir() {
                true => contents.folders.push(path.to_owned()),
                false => contents.files.push(StoredFile { path: path.to_owned(), size: metadata.len() }),
            }
        }
        Ok(())
    }
}

/// What a folder has; nothing if it is not there.
fn entries_of(folder: &Path) -> io::Result<Vec<(PathBuf, Metadata)>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        match entry.metadata() {
            // It was removed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            metadata => found.push((entry.path(), metadata?)),
        }
    }
    Ok(found)
}

impl Destination for FolderDestination {
    fn place(&self) -> String {
        format!("the folder '{}'", self.folder.display())
    }

    fn put(&self, path: &str, file: &mut File, _: u64, sent: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        const PIECE: usize = 1 << 20;
        let target = self.path_of(path);
        let mut partial = target.clone().into_os_string();
        partial.push(PARTIAL);
        let failed = |error| self.failed("store", path)(error);
        let folder = target.parent().unwrap_or(&self.folder);
        // What has no room, or was cut off otherwise, goes and takes none.
        let partial = Spool::at(partial.into())?;
        let mut stored = partial.create()?;
        let mut total = 0;
        io::Seek::rewind(file).map_err(failed)?;
        loop {
            let copied = io::copy(&mut Read::by_ref(file).take(PIECE as u64), &mut stored).map_err(failed)?;
            if copied == 0 {
                break;
            }
            total += copied;
            sent(total)?;
        }
        stored.sync_all().map_err(failed)?;
        fs::rename(partial.path(), &target).map_err(failed)?;
        sync_folder(folder).map_err(failed)
    }

    fn list(&self, folder: &str) -> Result<Vec<StoredFile>> {
        let mut found = self.look_into(folder)?;
        while let Some(below) = found.folders.pop() {
            let path = self.path_of(&below);
            self.read_into(&path, &mut found).map_err(self.failed("list", &below))?;
        }
        Ok(found.files)
    }

    fn look_into(&self, folder: &str) -> Result<Contents> {
        let mut contents = Contents::default();
        let path = if folder.is_empty() { self.folder.clone() } else { self.path_of(folder) };
        self.read_into(&path, &mut contents).map_err(self.failed("list", folder))?;
        Ok(contents)
    }

    fn get(&self, path: &str) -> Result<Box<dyn Read + Send>> {
        Ok(Box::new(open_regular(&self.path_of(path)).map_err(self.failed("read", path))?))
    }

    fn remove(&self, path: &str) -> Result<()> {
        let file = self.path_of(path);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed("remove", path)(error)),
            _ => {
                // The folder of a backup goes with its last file, that of an archive with its last day; one that has others stays.
                let folders = file.ancestors().skip(1).take_while(|folder| *folder != self.folder);
                folders.map(fs::remove_dir).take_while(io::Result::is_ok).for_each(drop);
                Ok(())
            }
        }
    }

    /// The system has no way to end a request.
    fn ending_when(&self, _: IsEnded) -> Arc<dyn Destination> {
        Arc::new(self.clone())
    }
}

/// Opens a file for reading. A pipe or a device is refused: opening or reading it might never end.
fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    // A pipe without a writer is open at once.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits() as i32);
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    Ok(file)
}

pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Whether a folder has the name of one with backups or with an archive, or of a day of an archive.
fn is_own_path(path: &Path) -> bool {
    let is_day =
        || archive::is_day(name_of(path)) && path.parent().is_some_and(|parent| archive::is_folder(name_of(parent)));
    names::parse_folder(name_of(path)).is_some() || archive::is_folder(name_of(path)) || is_day()
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(OsStr::to_str).unwrap_or_default()
}
#[cfg(all(test, unix))]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, OFlags, mkdirat, mknodat, openat};

    use super::*;

    #[test]
    fn a_file_that_is_not_stored_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let place = FolderDestination::new(folder.path());
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, b"contents").unwrap();
        let refused = place.put("a/file", &mut file, 8, &mut |_| Err(Error::Canceled));
        assert!(matches!(refused, Err(Error::Canceled)), "{refused:?}");
        assert_eq!(fs::read_dir(folder.path().join("a")).unwrap().count(), 0);
        place.put("a/file", &mut file, 8, &mut |_| Ok(())).unwrap();
        assert_eq!(fs::read(folder.path().join("a/file")).unwrap(), b"contents");
        // Folders go with what was in them, those with others stay, and so does the place.
        place.put("a/b/c/file", &mut file, 8, &mut |_| Ok(())).unwrap();
        place.remove("a/b/c/file").unwrap();
        assert!(folder.path().join("a").exists() && !folder.path().join("a/b").exists());
        place.remove("a/file").unwrap();
        assert!(folder.path().exists() && !folder.path().join("a").exists());
    }

    /// Makes folders below each other, so that the path of the last one is longer than the system takes: it cannot be read, by root either.
    fn make_too_deep(below: &Path, last: &str) -> rustix::io::Result<()> {
        const PATH_SIZE_MAX: usize = 4096;
        const NAME_SIZE: usize = 200;
        let mut size = below.as_os_str().len();
        let flags = OFlags::DIRECTORY | OFlags::RDONLY;
        let mut at = openat(CWD, below, flags, Mode::empty())?;
        let mut enter = |name: &str| {
            mkdirat(&at, name, Mode::RWXU)?;
            at = openat(&at, name, flags, Mode::empty())?;
            Ok(())
        };
        while size + 1 + last.len() < PATH_SIZE_MAX {
            let name = "d".repeat(NAME_SIZE.min(PATH_SIZE_MAX - 2 - size));
            enter(&name)?;
            size += 1 + name.len();
        }
        enter(last)
    }

    #[test]
    fn a_folder_that_cannot_be_read_is_passed_over_unless_it_is_one_of_backups() {
        const OWN: &str = "2026-11-27-00-00-00.ravendb-shop-A-backup";
        let place = tempfile::tempdir().unwrap();
        let destination = FolderDestination::new(place.path());
        fs::create_dir(place.path().join(OWN)).unwrap();
        fs::write(place.path().join(OWN).join("file"), "x").unwrap();
        make_too_deep(place.path(), "a-folder-that-has-another-name-than-backups").unwrap();
        let files: Vec<String> = destination.list("").unwrap().into_iter().map(|file| file.path).collect();
        assert_eq!(files, [format!("{OWN}/file")]);
        let place = tempfile::tempdir().unwrap();
        make_too_deep(place.path(), OWN).unwrap();
        let refused = FolderDestination::new(place.path()).list("").unwrap_err().to_string();
        assert!(refused.contains("too long"), "{refused}");
    }

    #[test]
    fn a_pipe_in_place_of_a_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        mknodat(CWD, folder.path().join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        fs::write(folder.path().join("file"), "x").unwrap();
        let place = FolderDestination::new(folder.path());
        let refused = place.get("pipe").map(drop).unwrap_err().to_string();
        assert!(refused.contains("no regular file"), "{refused}");
        assert!(place.get(".").is_err() && place.get("file").is_ok());
    }
}
