//! Looking through a place for folders of backups and of archives, wherever in it they are. An archive has thousands of files a day: none
//! is listed by the way.

use std::io;
use std::thread::{self, Builder, ScopedJoinHandle};

use super::archive;
use super::destination::{Contents, Destination, StoredFile};
use super::failure::DestinationError;
use super::names::{self, BackupName};
use crate::limits::{FOLDERS_SURVEYED_MAX, LISTS_AT_ONCE_MAX};
use crate::{Error, Result};

/// What a place has.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Files of backups outside of the folders of such.
    pub files: Vec<StoredFile>,
    /// The paths of folders of backups.
    pub backups: Vec<String>,
    /// The paths of folders of archives.
    pub archives: Vec<String>,
}

impl Survey {
    /// Of a whole place: a backup of all databases has a folder for each of them, and those of their backups below.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`], also for a place with more than [`FOLDERS_SURVEYED_MAX`] other folders.
    pub fn of(place: &dyn Destination) -> Result<Survey> {
        let mut survey = Survey::default();
        let (mut next, mut count) = (vec![String::new()], 0);
        while !next.is_empty() {
            count += next.len();
            if count > FOLDERS_SURVEYED_MAX {
                let reason = format!(
                    "it has more folders than FOLDERS_SURVEYED_MAX allows: {FOLDERS_SURVEYED_MAX}. Give backups a folder of their own"
                );
                let (path, place) = (String::new(), place.place());
                return Err(Error::Destination(DestinationError { operation: "list", path, place, reason }));
            }
            let found = of_each(&std::mem::take(&mut next), |folder| place.look_into(folder))?;
            for contents in found {
                next.append(&mut survey.add(contents));
            }
        }
        Ok(survey)
    }

    /// Of what a place has directly. Other folders in it are passed over.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`]
    pub fn of_top(place: &dyn Destination) -> Result<Survey> {
        let mut survey = Survey::default();
        survey.add(place.look_into("")?);
        Ok(survey)
    }

    /// Gives the other folders.
    fn add(&mut self, mut contents: Contents) -> Vec<String> {
        contents.files.retain(|file| BackupName::parse(name_of(&file.path)).is_some());
        self.files.append(&mut contents.files);
        let mut others = Vec::new();
        for path in contents.folders {
            let kind = match (names::parse_folder(name_of(&path)), archive::is_folder(name_of(&path))) {
                (Some(_), _) => &mut self.backups,
                (None, true) => &mut self.archives,
                (None, false) => &mut others,
            };
            kind.push(path);
        }
        others
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Does the same for each of some paths, for [`LISTS_AT_ONCE_MAX`] at once; gives what came of it in the same order.
pub(super) fn of_each<T: Send>(paths: &[String], work: impl Fn(&str) -> Result<T> + Sync) -> Result<Vec<T>> {
    if let [path] = paths {
        return Ok(vec![work(path)?]);
    }
    let mut done = Vec::with_capacity(paths.len());
    for paths in paths.chunks(LISTS_AT_ONCE_MAX) {
        let results: Vec<Result<T>> = thread::scope(|scope| {
            let work = &work;
            let begin = |path| Builder::new().spawn_scoped(scope, move || work(path));
            let begun: Vec<_> = paths.iter().map(|path| (path, begin(path))).collect();
            let end = |(path, thread): (&String, io::Result<ScopedJoinHandle<'_, Result<T>>>)| match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                // The machine has no thread to give.
                Err(_) => work(path),
            };
            begun.into_iter().map(end).collect()
        });
        for result in results {
            done.push(result?);
        }
    }
    Ok(done)
}

/// The files in some folders, and below them.
///
/// # Errors
///
/// [`Error::Destination`]
pub(super) fn files_of(place: &dyn Destination, folders: &[String]) -> Result<Vec<StoredFile>> {
    Ok(of_each(folders, |folder| place.list(folder))?.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::backups::FolderDestination;

    #[test]
    fn folders_are_found_wherever_they_are_and_are_not_looked_into() {
        const BACKUP: &str = "2026-11-27-02-00-00.ravendb-Shop-A-backup";
        const FILE: &str = "2026-11-27-02-00-00.ravendb-full-backup";
        const ARCHIVE: &str = "2026-11-27-02-00-00.rookery-Shop-A-archive-0000000000000001";
        let folder = tempfile::tempdir().unwrap();
        for path in [BACKUP, ARCHIVE, "all/Shop"] {
            fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        for path in [BACKUP, ARCHIVE] {
            fs::create_dir_all(folder.path().join("all/Shop").join(path).join("within")).unwrap();
            fs::write(folder.path().join("all/Shop").join(path).join("file"), "x").unwrap();
        }
        fs::write(folder.path().join("all/note"), "x").unwrap();
        fs::write(folder.path().join("all").join(FILE), "x").unwrap();
        let place = FolderDestination::new(folder.path());
        let mut survey = Survey::of(&place).unwrap();
        survey.backups.sort();
        survey.archives.sort();
        assert_eq!(survey.backups, [BACKUP.to_owned(), format!("all/Shop/{BACKUP}")]);
        assert_eq!(survey.archives, [ARCHIVE.to_owned(), format!("all/Shop/{ARCHIVE}")]);
        assert_eq!(survey.files, [StoredFile { path: format!("all/{FILE}"), size: 1 }]);
        let top = Survey::of_top(&place).unwrap();
        assert_eq!((top.backups, top.archives, top.files), (vec![BACKUP.to_owned()], vec![ARCHIVE.to_owned()], vec![]));
        let files = files_of(&place, &survey.backups).unwrap();
        assert_eq!(files, [StoredFile { path: format!("all/Shop/{BACKUP}/file"), size: 1 }]);
    }

    #[test]
    fn a_place_with_too_many_other_folders_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..FOLDERS_SURVEYED_MAX {
            fs::create_dir(folder.path().join(number.to_string())).unwrap();
        }
        let error = Survey::of(&FolderDestination::new(folder.path())).unwrap_err().to_string();
        assert!(error.contains("FOLDERS_SURVEYED_MAX"), "{error}");
    }
}
