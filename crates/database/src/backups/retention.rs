//! Removing old backups: a folder goes as a whole, when its last file is old enough and a newer full backup is there.

use std::time::Duration;

use documents::Date;

use super::destination::Destination;
use super::names::{self, BackupName};
use super::spool::PARTIAL;
use crate::Result;

/// Removes what is older than `age` of one database and node, and what backups left that did not end.
///
/// * `current`: the folder of the last backup, which stays.
///
/// # Errors
///
/// [`Error::Destination`](crate::Error::Destination); what was removed before stays removed.
pub(crate) fn remove_old(
    destination: &dyn Destination,
    (database, node_tag): (&str, &str),
    current: &str,
    now: Date,
    age: Option<Duration>,
) -> Result<u64> {
    let mut folders: Vec<(String, Vec<String>)> = Vec::new();
    for file in destination.list("")? {
        let Some((folder, name)) = file.path.split_once('/') else { continue };
        let is_own = names::parse_folder(folder).is_some_and(|(_, of, tag)| (of, tag) == (database, node_tag));
        if !is_own {
            continue;
        }
        match folders.iter_mut().find(|(known, _)| known == folder) {
            Some((_, files)) => files.push(name.to_owned()),
            None => folders.push((folder.to_owned(), vec![name.to_owned()])),
        }
    }
    let mut removed = 0;
    for (folder, files) in &folders {
        let backups: Vec<BackupName> = files.iter().filter_map(|file| BackupName::parse(file)).collect();
        let last = backups.iter().map(|backup| backup.time).max();
        let is_older = |age| last.is_some_and(|last| now.since(last) > age);
        let is_old = folder != current && age.is_some_and(is_older);
        for file in files {
            let is_rest = file.ends_with(PARTIAL) && folder != current;
            if is_rest || is_old && BackupName::parse(file).is_some() {
                destination.remove(&format!("{folder}/{file}"))?;
            }
        }
        removed += u64::from(is_old);
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backups::FolderDestination;

    #[test]
    fn a_folder_goes_when_its_last_file_is_old_and_others_stay() {
        let place = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = place.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        };
        let old = "2026-11-01-00-00-00.ravendb-shop-A-backup";
        let kept = "2026-11-02-00-00-00.ravendb-shop-A-backup";
        let current = "2026-11-27-00-00-00.ravendb-shop-A-backup";
        let files = [
            format!("{old}/2026-11-01-00-00-00.ravendb-full-backup"),
            format!("{old}/2026-11-01-10-00-00.ravendb-incremental-backup"),
            format!("{old}/2026-11-01-11-00-00.ravendb-incremental-backup.partial"),
            format!("{kept}/2026-11-02-00-00-00.ravendb-full-backup"),
            format!("{kept}/2026-11-25-00-00-00.ravendb-incremental-backup"),
            format!("{current}/2026-11-27-00-00-00.ravendb-full-backup.partial"),
            "2026-11-01-00-00-00.ravendb-shop-B-backup/2026-11-01-00-00-00.ravendb-full-backup".to_owned(),
            "2026-11-01-00-00-00.ravendb-shops-A-backup/2026-11-01-00-00-00.ravendb-full-backup".to_owned(),
            format!("{kept}/notes.txt"),
            "other/2026-11-01-00-00-00.ravendb-full-backup".to_owned(),
        ];
        files.iter().for_each(|file| write(file));
        let destination = FolderDestination::new(place.path());
        let now = Date::parse("2026-11-27T12:00:00").unwrap();
        let week = Some(Duration::from_secs(7 * 86_400));
        let remove = |age| remove_old(&destination, ("shop", "A"), current, now, age).unwrap();
        assert_eq!(remove(week), 1);
        let left: Vec<String> = destination.list("").unwrap().into_iter().map(|file| file.path).collect();
        let expected: Vec<&String> = files.iter().skip(3).collect();
        assert!(left.len() == expected.len() && expected.iter().all(|file| left.contains(file)), "{left:?}");
        assert!(!place.path().join(old).exists());
        assert_eq!(remove(None), 0);
    }
}
