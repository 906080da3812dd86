//! The folders of databases: making, removing, and what a creation that did not end leaves.
//!
//! A folder that no record names is removed at start only if nothing can be lost by it: it bears a name that a database
//! can have, has no files but those of an environment, and holds no document. Whoever lost the node's own environment, or put
//! a folder there by hand, finds it as it was.

use std::collections::HashSet;
use std::path::Path;

use documents::{DocumentStore, StoreOptions};
use storage::Environment;

use crate::limits::LOCKED_FOLDER_WAIT;
use crate::{Error, Result, name};

/// The file that every environment has (docs/format.md).
pub(crate) const DATA_FILE: &str = "data";

pub(crate) fn make(folder: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    // Nobody else on this machine is to look into the data.
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| Error::io("create", folder, error))
}

/// Makes a folder, and those above it that are missing; they are there after a power cut, too.
pub(crate) fn make_durable(folder: &Path) -> Result<()> {
    let made: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    make(folder)?;
    for parent in made.iter().filter_map(|folder| folder.parent()).filter(|parent| !parent.as_os_str().is_empty()) {
        let synced = std::fs::File::open(parent).and_then(|parent| parent.sync_all());
        synced.map_err(|error| Error::io("sync the folder", parent, error))?;
    }
    Ok(())
}

/// Opens what is in a folder; while somebody in this process is letting go of it, waits up to `waits_max` times.
pub(crate) fn open_unlocked<T>(waits_max: u32, open: impl Fn() -> Result<T>) -> Result<T> {
    for _ in 0..waits_max {
        match open() {
            Err(Error::Storage(storage::Error::Locked { .. })) => {}
            Err(Error::Index(query::index::Error::Storage(storage::Error::Locked { .. }))) => {}
            opened => return opened,
        }
        std::thread::sleep(LOCKED_FOLDER_WAIT);
    }
    open()
}

/// Bytes of the files in a folder, without those of folders in it.
pub(crate) fn size(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).into_iter().flatten();
    let size = |file: std::fs::DirEntry| file.metadata().ok().filter(std::fs::Metadata::is_file).map(|file| file.len());
    files.filter_map(|file| size(file.ok()?)).sum()
}

/// What a folder that is being removed has behind its name: no database has such a folder, for names have no `~`, and what tells
/// two databases of one name apart is a number.
const REMOVED: &str = "~removed";

/// Whether a folder below `databases` is what is left of a removal: nobody misses anything in it.
pub fn is_being_removed(folder: &str) -> bool {
    folder.ends_with(REMOVED)
}

/// Removes a folder with all that is in it, if it is there. It gets another name first, so that half of a folder, where this
/// is cut off, is never taken for a database that lost files; asked again, it goes on.
pub(crate) fn remove(folder: &Path) -> Result<()> {
    let Some(name) = folder.file_name() else { return Ok(()) };
    let mut removed = name.to_owned();
    removed.push(REMOVED);
    let removed = folder.with_file_name(removed);
    remove_all(&removed)?;
    // A link or file of this name is not ours to move; removing it as a folder says so.
    if std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()) {
        std::fs::rename(folder, &removed).map_err(|error| Error::io("remove", folder, error))?;
        return remove_all(&removed);
    }
    remove_all(folder)
}

fn remove_all(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", folder, error)),
        _ => Ok(()),
    }
}

/// Refuses a data directory inside of that of another node: both would write there, and neither would know of the other.
pub(crate) fn refuse_inside_of_another(folder: &Path) -> Result<()> {
    let folder = std::path::absolute(folder).map_err(|error| Error::io("look into", folder, error))?;
    for parent in folder.ancestors().skip(1) {
        let is_inside = ["system", "databases"].iter().any(|name| folder.starts_with(parent.join(name)));
        if is_inside && is_there(&parent.join("system").join(DATA_FILE))? {
            return Err(Error::InsideOfAnother { folder: folder.clone(), other: parent.to_owned() });
        }
    }
    Ok(())
}

/// Whether a file or folder is there, even if it is a link to nowhere.
///
/// # Errors
///
/// The system does not say, because a folder above it may not be entered, for example.
pub(crate) fn is_there(path: &Path) -> Result<bool> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(error) => Err(Error::io("look for", path, error)),
    }
}

/// Refuses a node's own environment that has lost its data file: opening would make an empty one in its place, and deny
/// the databases that there are.
///
/// The data file is there before the first database is, so a first start that did not end is not refused.
pub(crate) fn refuse_lost_system(system: &Path, databases: &Path) -> Result<()> {
    if is_there(&system.join(DATA_FILE))? {
        return Ok(());
    }
    let failed = |error| Error::io("list", databases, error);
    for entry in std::fs::read_dir(databases).map_err(failed)? {
        if entry.map_err(failed)?.path().join(DATA_FILE).exists() {
            let rule = "the file 'system/data' is gone, but there are databases. Restore the folder 'system', or move the folders out of \
                        'databases' and bring their documents back with `rookery dump` and `rookery import`";
            return Err(Error::Corrupt { rule });
        }
    }
    Ok(())
}

/// Removes what creations that did not end left in `databases`.
pub(crate) fn sweep(databases: &Path, in_use: &HashSet<String>) -> Result<()> {
    let failed = |error| Error::io("list", databases, error);
    for entry in std::fs::read_dir(databases).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let Some(folder) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if in_use.contains(folder) || is_being_removed(folder) {
            continue;
        }
        let removed = is_leftover(&path, folder).and_then(|is_leftover| match is_leftover {
            true => remove(&path).map(|()| true),
            false => Ok(false),
        });
        match removed {
            Ok(true) => tracing::info!(folder, "the rest of an unfinished creation of a database was removed"),
            Ok(false) => {
                tracing::warn!(folder, "a folder that belongs to no database is left alone, since it is not empty")
            }
            Err(error) => tracing::warn!(folder, %error, "a folder that belongs to no database cannot be read"),
        }
    }
    Ok(())
}

fn is_leftover(path: &Path, folder: &str) -> Result<bool> {
    let (name, number) = folder.split_once('~').unwrap_or((folder, "0"));
    let is_named_so = name::check(name).is_ok()
        && !name.bytes().any(|byte| byte.is_ascii_uppercase())
        && number.bytes().all(|byte| byte.is_ascii_digit());
    let failed = |error| Error::io("look into", path, error);
    // A link leads to somebody else's files.
    if !is_named_so || !std::fs::symlink_metadata(path).map_err(failed)?.is_dir() {
        return Ok(false);
    }
    let (mut has_data, mut has_journal) = (false, false);
    for file in std::fs::read_dir(path).map_err(failed)? {
        let file = file.map_err(failed)?;
        let is_file = file.file_type().map_err(failed)?.is_file();
        match file.file_name().to_str() {
            Some(DATA_FILE) if is_file => has_data = true,
            Some("data.new" | "flush" | "flush-2" | "journals" | "lock") if is_file => {}
            Some(name) if is_file && is_journal(name) => has_journal = true,
            _ => return Ok(false),
        }
    }
    if !has_data {
        // The data file is there before the first journal is.
        return Ok(!has_journal);
    }
    let environment = Environment::open(path, storage::Options::default())?;
    let store = DocumentStore::open(environment, StoreOptions::default())?;
    let snapshot = store.read();
    Ok(snapshot.last_etag()? == 0 && snapshot.identities()?.is_empty())
}

fn is_journal(name: &str) -> bool {
    let digits = name.strip_prefix("journal-").unwrap_or_default();
    digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removal_that_was_cut_off_goes_on() {
        let parent = tempfile::tempdir().unwrap();
        let (folder, half_of_it) = (parent.path().join("shop"), parent.path().join("shop~removed"));
        let is_empty = || std::fs::read_dir(parent.path()).unwrap().next().is_none();
        for (left, half) in [(false, true), (true, false), (true, true), (false, false)] {
            for (path, is_made) in [(&folder, left), (&half_of_it, half)] {
                if is_made {
                    make(path).unwrap();
                    std::fs::write(path.join(DATA_FILE), b"x").unwrap();
                }
            }
            remove(&folder).unwrap();
            assert!(is_empty(), "{left} {half}");
        }
    }

    #[test]
    fn no_other_database_is_touched() {
        let parent = tempfile::tempdir().unwrap();
        let others = [".shop", "shop~2", "shop-removed", "shop.removed"].map(|other| parent.path().join(other));
        others.iter().for_each(|other| make(other).unwrap());
        make(&parent.path().join("shop")).unwrap();
        remove(&parent.path().join("shop")).unwrap();
        assert!(others.iter().all(|other| other.is_dir()));
        assert!(name::check(&format!("shop{REMOVED}")).is_err(), "no database can have this folder");
    }

    #[test]
    fn what_cannot_be_removed_is_said() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("shop");
        std::fs::write(&file, b"a file").unwrap();
        assert!(remove(&file).is_err(), "it is no folder");
    }
}
