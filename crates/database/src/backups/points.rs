//! What can be restored from a destination.

use documents::Date;

use super::destination::Destination;
use super::names::{self, BackupName, FileKind};
use super::survey::{Survey, files_of};
use crate::Result;

/// A state that a backup can bring back: that after one of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestorePoint {
    /// When the file was begun.
    pub time: Date,
    /// Its folder, below the destination; empty: the destination itself.
    pub folder: String,
    /// The name of the file.
    pub file: String,
    /// Whether it begins with an image of the storage.
    pub is_snapshot: bool,
    /// Whether files before it belong to it.
    pub is_incremental: bool,
    /// Whether it can be read only with a key.
    pub is_encrypted: bool,
    /// Files that are read for it.
    pub file_count: usize,
    /// Bytes of these.
    pub size: u64,
    /// The database, if the name of the folder tells.
    pub database: Option<String>,
    /// The tag of the node that wrote it, if the name of the folder tells.
    pub node_tag: Option<String>,
}

impl RestorePoint {
    /// All points of a destination, the newest first. Files that no full backup precedes are left out.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`](crate::Error::Destination)
    pub fn all(destination: &dyn Destination) -> Result<Vec<RestorePoint>> {
        let mut files: Vec<(String, BackupName, String, u64)> = Vec::new();
        let found = Survey::of(destination)?;
        for file in found.files.into_iter().chain(files_of(destination, &found.backups)?) {
            let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
            if let Some(backup) = BackupName::parse(name) {
                files.push((folder.to_owned(), backup, name.to_owned(), file.size));
            }
        }
        // By folder and time; a full backup comes before an incremental one of the same second.
        files.sort_by(|one, other| (&one.0, &one.2).cmp(&(&other.0, &other.2)));
        files.sort_by(|one, other| {
            (&one.0, one.1.time, one.1.kind as u8).cmp(&(&other.0, other.1.time, other.1.kind as u8))
        });
        let mut points: Vec<RestorePoint> = Vec::with_capacity(files.len());
        for (folder, backup, file, size) in files {
            let is_incremental = backup.kind == FileKind::Incremental;
            let before = points.last().filter(|point| is_incremental && point.folder == folder);
            let (is_snapshot, file_count, total) = match before {
                None if is_incremental => continue,
                None => (backup.kind == FileKind::Snapshot, 1, size),
                Some(before) => (before.is_snapshot, before.file_count + 1, before.size + size),
            };
            let own_name = folder.rsplit('/').next().unwrap_or_default();
            let named = names::parse_folder(own_name).map(|(_, database, tag)| (database.to_owned(), tag.to_owned()));
            let (database, node_tag) = named.unzip();
            points.push(RestorePoint {
                time: backup.time,
                folder,
                file,
                is_snapshot,
                is_incremental,
                is_encrypted: backup.is_encrypted,
                file_count,
                size: total,
                database,
                node_tag,
            });
        }
        points.sort_by_key(|point| std::cmp::Reverse((point.time, point.is_incremental)));
        Ok(points)
    }
}

/// The files of one chain, in the order in which they are read: a full backup and what follows it.
///
/// * `last`: the last file that is read; `None`: all.
///
/// # Errors
///
/// Why there is none, as a sentence.
pub(crate) fn chain(
    names: impl IntoIterator<Item = String>,
    last: Option<&str>,
) -> Result<Vec<(BackupName, String)>, String> {
    let mut files: Vec<(BackupName, String)> =
        names.into_iter().filter_map(|name| Some((BackupName::parse(&name)?, name))).collect();
    files.sort_by_key(|(backup, _)| (backup.time, backup.kind as u8));
    if let Some(last) = last {
        let Some(position) = files.iter().position(|(_, name)| name == last) else {
            return Err(format!("the backup has no file '{last}'"));
        };
        files.truncate(position + 1);
    }
    let full = files.iter().rposition(|(backup, _)| backup.kind != FileKind::Incremental);
    match full {
        Some(full) => Ok(files.split_off(full)),
        None if files.is_empty() => Err("it has no file of a backup".to_owned()),
        None => Err("its incremental backups have no full backup before them".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backups::FolderDestination;

    fn name(time: &str, kind: &str) -> String {
        format!("2026-11-27-{time}.ravendb-{kind}-backup")
    }

    #[test]
    fn a_chain_begins_with_the_last_full_backup_before_its_end() {
        let names = [
            name("03-00-00", "incremental"),
            name("01-00-00", "full"),
            name("04-00-00", "full"),
            name("02-00-00", "incremental"),
            "notes.txt".to_owned(),
        ];
        let chain_of = |last: Option<&str>| {
            chain(names.clone(), last).map(|files| files.into_iter().map(|(_, name)| name).collect::<Vec<_>>())
        };
        assert_eq!(chain_of(None).unwrap(), [name("04-00-00", "full")]);
        let third = name("03-00-00", "incremental");
        let expected = [name("01-00-00", "full"), name("02-00-00", "incremental"), third.clone()];
        assert_eq!(chain_of(Some(&third)).unwrap(), expected);
        assert!(chain_of(Some("zork")).unwrap_err().contains("zork"));
        assert!(chain([name("03-00-00", "incremental")], None).is_err());
        assert!(chain([], None).is_err());
    }

    #[test]
    fn points_are_counted_from_their_full_backup() {
        let place = tempfile::tempdir().unwrap();
        let folder = "2026-11-27-01-00-00.ravendb-my-shop-A-backup";
        std::fs::create_dir_all(place.path().join("x").join(folder)).unwrap();
        for (file, text) in [
            (name("01-00-00", "full"), "12345"),
            (name("02-00-00", "incremental"), "123"),
            (name("02-30-00", "incremental") + ".partial", "1"),
        ] {
            std::fs::write(place.path().join("x").join(folder).join(file), text).unwrap();
        }
        std::fs::write(place.path().join(name("00-00-00", "incremental")), "").unwrap();
        let points = RestorePoint::all(&FolderDestination::new(place.path())).unwrap();
        let found: Vec<_> = points.iter().map(|point| (point.file_count, point.size, point.is_incremental)).collect();
        assert_eq!(found, [(2, 8, true), (1, 5, false)]);
        assert_eq!(
            (points[0].database.as_deref(), points[0].folder.as_str()),
            (Some("my-shop"), &*format!("x/{folder}"))
        );
    }
}
