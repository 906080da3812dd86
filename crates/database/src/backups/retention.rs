//! Removing old backups: a folder goes as a whole, when its last file is old enough and a newer full backup is there.
//!
//! A place may have backups of several tasks, of requests without one, of other servers with a database of this name, and of RavenDB. A
//! task removes only folders with its own [mark](Maker), which stands in the place itself: it is there after a restart, and in a copy of
//! the place. A database that was restored has another id, so that it removes nothing of its original, which may go on.

use std::collections::BTreeMap;
use std::time::Duration;

use documents::Date;

use super::destination::{Destination, IsEnded};
use super::names::{self, BackupName, Maker};
use super::spool::PARTIAL;
use super::survey::{Survey, files_of};
use crate::{Error, Result};

/// Removes what a task made that is older than `age`, and what backups of its database left that did not end.
///
/// * `database`: its name.
/// * `current`: the folder of the last backup, which stays.
/// * `is_ended`: asked before each removal.
///
/// No other backup of the database may run meanwhile.
///
/// # Errors
///
/// [`Error::Destination`], [`Error::Canceled`]; what was removed before stays removed.
pub(crate) fn remove_old(
    destination: &dyn Destination,
    (database, maker): (&str, &Maker),
    current: &str,
    now: Date,
    age: Option<Duration>,
    is_ended: &IsEnded,
) -> Result<u64> {
    let mut folders: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut found = Survey::of_top(destination)?.backups;
    found.retain(|folder| folder != current && names::parse_folder(folder).is_some_and(|(_, of, _)| of == database));
    for file in files_of(destination, &found)? {
        let Some((folder, name)) = file.path.split_once('/') else { continue };
        folders.entry(folder.to_owned()).or_default().push(name.to_owned());
    }
    let mut removed = 0;
    for (folder, files) in &folders {
        // A crash may have cut the mark itself off.
        let maker_of = |file: &str| Maker::parse(file.strip_suffix(PARTIAL).unwrap_or(file));
        let marks: Vec<(&String, Maker)> = files.iter().filter_map(|file| Some((file, maker_of(file)?))).collect();
        if marks.is_empty() || marks.iter().any(|(_, found)| found.database_id != maker.database_id) {
            continue;
        }
        let backups: Vec<(&String, BackupName)> =
            files.iter().filter_map(|file| Some((file, BackupName::parse(file)?))).collect();
        let last = backups.iter().map(|(_, backup)| backup.time).max();
        let is_older = |age| last.is_some_and(|last| now.since(last) > age);
        let is_old = age.is_some_and(is_older) && marks.iter().all(|(_, found)| found == maker);
        let mut gone: Vec<&String> = files.iter().filter(|file| file.ends_with(PARTIAL)).collect();
        if is_old {
            gone.extend(backups.iter().map(|(file, _)| file));
        }
        // The mark last: without it the others would stay.
        if is_old || backups.is_empty() {
            gone.extend(marks.iter().map(|(file, _)| file));
        }
        for file in gone {
            if is_ended() {
                return Err(Error::Canceled);
            }
            destination.remove(&format!("{folder}/{file}"))?;
        }
        removed += u64::from(is_old);
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::backups::FolderDestination;

    fn write(place: &tempfile::TempDir, path: &str) {
        let path = place.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }

    fn goes_on() -> IsEnded {
        Arc::new(|| false)
    }

    fn left(place: &FolderDestination) -> Vec<String> {
        let mut left: Vec<String> = place.list("").unwrap().into_iter().map(|file| file.path).collect();
        left.sort();
        left
    }

    #[test]
    fn a_folder_goes_when_its_last_file_is_old_and_others_stay() {
        let place = tempfile::tempdir().unwrap();
        let maker = Maker::new("an-id", 3);
        let mark = maker.file();
        let old = "2026-11-01-00-00-00.ravendb-shop-A-backup";
        let rest = "2026-11-01-12-00-00.ravendb-shop-A-backup";
        let unmarked = "2026-11-01-13-00-00.ravendb-shop-A-backup";
        let kept = "2026-11-02-00-00-00.ravendb-shop-A-backup";
        let current = "2026-11-27-00-00-00.ravendb-shop-A-backup";
        let going = [
            format!("{old}/{mark}"),
            format!("{old}/2026-11-01-00-00-00.ravendb-full-backup"),
            format!("{old}/2026-11-01-10-00-00.ravendb-incremental-backup"),
            format!("{old}/2026-11-01-11-00-00.ravendb-incremental-backup.partial"),
            format!("{rest}/{mark}"),
            format!("{rest}/2026-11-01-12-00-00.ravendb-full-backup.partial"),
            format!("{unmarked}/{mark}.partial"),
        ];
        let mut staying = vec![
            format!("{kept}/{mark}"),
            format!("{kept}/2026-11-02-00-00-00.ravendb-full-backup"),
            format!("{kept}/2026-11-25-00-00-00.ravendb-incremental-backup"),
            format!("{kept}/notes.txt"),
            format!("{current}/{mark}"),
            format!("{current}/2026-11-27-00-00-00.ravendb-full-backup.partial"),
            format!("2026-11-01-00-00-00.ravendb-shops-A-backup/{mark}"),
            "2026-11-01-00-00-00.ravendb-shops-A-backup/2026-11-01-00-00-00.ravendb-full-backup".to_owned(),
            "other/2026-11-01-00-00-00.ravendb-full-backup".to_owned(),
            format!("2026-11-01-14-00-00.ravendb-shop-A-backup/{}.partial", Maker::new("other-id", 3).file()),
        ];
        staying.sort();
        going.iter().chain(&staying).for_each(|file| write(&place, file));
        let destination = FolderDestination::new(place.path());
        let now = Date::parse("2026-11-27T12:00:00").unwrap();
        let week = Some(Duration::from_secs(7 * 86_400));
        let remove = |age| remove_old(&destination, ("shop", &maker), current, now, age, &goes_on()).unwrap();
        let ended: IsEnded = Arc::new(|| true);
        let refused = remove_old(&destination, ("shop", &maker), current, now, week, &ended);
        assert!(matches!(refused, Err(Error::Canceled)) && left(&destination).len() == going.len() + staying.len());
        assert_eq!(remove(week), 1);
        assert_eq!(left(&destination), staying);
        assert!(!place.path().join(old).exists() && !place.path().join(rest).exists());
        assert_eq!(remove(None), 0);
    }

    /// Another task, a backup of no task, another database of the name, and one of RavenDB or of before there were marks.
    #[test]
    fn a_task_removes_only_what_it_made() {
        let place = tempfile::tempdir().unwrap();
        let maker = Maker::new("an-id", 3);
        let marks = [
            Maker::new("an-id", 4).file(),
            Maker::new("an-id", 0).file(),
            Maker::new("other-id", 3).file(),
            "notes.txt".to_owned(),
        ];
        let mut files = Vec::new();
        for (hour, mark) in marks.iter().enumerate() {
            let folder = format!("2026-11-01-0{hour}-00-00.ravendb-shop-A-backup");
            files.push(format!("{folder}/2026-11-01-0{hour}-00-00.ravendb-full-backup"));
            files.push(format!("{folder}/{mark}"));
        }
        // Another server may be writing it.
        files.push(
            "2026-11-01-02-00-00.ravendb-shop-A-backup/2026-11-01-02-10-00.ravendb-incremental-backup.partial".into(),
        );
        files.sort();
        files.iter().for_each(|file| write(&place, file));
        let destination = FolderDestination::new(place.path());
        let now = Date::parse("2026-11-27T12:00:00").unwrap();
        let second = Some(Duration::from_secs(1));
        assert_eq!(remove_old(&destination, ("shop", &maker), "", now, second, &goes_on()).unwrap(), 0);
        assert_eq!(left(&destination), files);
    }
}
