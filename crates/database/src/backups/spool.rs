//! Files that are being written, until they are where they belong.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::{Error, Result, folders};

/// The folder of files that are written for other places, below that of the node. What is left in it goes when the node is opened.
pub(crate) const IN_PROGRESS: &str = "backups-in-progress";

/// What a file that is not whole yet has behind its name.
pub(crate) const PARTIAL: &str = ".partial";

/// A path of a file that goes when this is dropped, if the file is still there under this name.
pub(crate) struct Spool(PathBuf);

impl Spool {
    /// At a path, whose folder is made.
    pub fn at(path: PathBuf) -> Result<Spool> {
        folders::make_durable(path.parent().unwrap_or(&path)).map_err(with_advice)?;
        Ok(Spool(path))
    }

    /// In a folder, under a name of its own.
    pub fn in_folder(folder: PathBuf) -> Result<Spool> {
        Spool::at(folder.join(format!("{}{PARTIAL}", documents::id::random_guid())))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Makes the file, and its folder once more if that was removed meanwhile because it was empty.
    pub fn create(&self) -> Result<File> {
        let created = match create_private(&self.0) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                folders::make_durable(self.0.parent().unwrap_or(&self.0)).map_err(with_advice)?;
                create_private(&self.0)
            }
            created => created,
        };
        created.map_err(|error| with_advice(Error::io("create", &self.0, error)))
    }
}

/// Adds to an error what allows the server to write there. A service of systemd sees all but its own folders as read-only.
fn with_advice(error: Error) -> Error {
    match error {
        Error::Io { operation, path, source } if source.kind() == std::io::ErrorKind::ReadOnlyFilesystem => {
            let advice = format!("{source}. A service of systemd needs the setting ReadWritePaths for this folder");
            Error::io(operation, &path, std::io::Error::new(source.kind(), advice))
        }
        error => error,
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        match std::fs::remove_file(&self.0) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(path = %self.0.display(), %error, "the rest of a backup was not removed");
            }
            _ => {}
        }
    }
}

/// Makes a file that no other user of this machine reads.
pub(crate) fn create_private(path: &Path) -> std::io::Result<File> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
