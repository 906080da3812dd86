//! The names of folders and files of backups, as RavenDB has them.

use documents::Date;

/// Ends the name of each folder.
const FOLDER_END: &str = "-backup";
/// Stands between the time and the rest of a name.
const MARK: &str = ".ravendb-";
/// Stands there in names of files that RavenDB cannot read.
const OWN_MARK: &str = ".rookery-";
/// Stands before the kind of a file that is encrypted.
const ENCRYPTED: &str = "encrypted-";
/// Ends the name of a mark.
const MARK_OF_TASK: &str = ".rookery-task";
/// As `2026-11-27-02-00-00`.
pub(super) const TIME_SIZE: usize = 19;

/// What a file of a backup is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A dump of all of a database.
    Full,
    /// An image of the storage of a database.
    Snapshot,
    /// A dump of what changed since the file before.
    Incremental,
}

impl FileKind {
    fn name(self) -> &'static str {
        match self {
            FileKind::Full => "full-backup",
            FileKind::Snapshot => "snapshot",
            FileKind::Incremental => "incremental-backup",
        }
    }
}

/// The name of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupName {
    /// When it was begun, to the second.
    pub time: Date,
    /// What it is.
    pub kind: FileKind,
    /// Whether it can be read only with a key.
    pub is_encrypted: bool,
}

impl BackupName {
    /// The text. What RavenDB cannot read has a mark of our own: what is encrypted, and snapshots.
    pub fn file(self) -> String {
        let mark = if self.is_encrypted || self.kind == FileKind::Snapshot { OWN_MARK } else { MARK };
        let encrypted = if self.is_encrypted { ENCRYPTED } else { "" };
        format!("{}{mark}{encrypted}{}", time_text(self.time), self.kind.name())
    }

    /// Reads a name; `None` for a file that is none of a backup.
    pub fn parse(name: &str) -> Option<BackupName> {
        let (time, rest) = name.split_at_checked(TIME_SIZE)?;
        let rest = rest.strip_prefix(MARK).or_else(|| rest.strip_prefix(OWN_MARK))?;
        let (is_encrypted, rest) = match rest.strip_prefix(ENCRYPTED) {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let kinds = [FileKind::Full, FileKind::Snapshot, FileKind::Incremental];
        let kind = kinds.into_iter().find(|kind| kind.name() == rest)?;
        let parsed = BackupName { time: parse_time(time)?, kind, is_encrypted };
        // So that an encrypted file or a snapshot of RavenDB is not taken for one of ours.
        Some(parsed).filter(|parsed| parsed.file() == name)
    }
}

/// The name of the folder of a full backup with its incremental ones.
pub(crate) fn folder(time: Date, database: &str, node_tag: &str) -> String {
    format!("{}{MARK}{database}-{node_tag}{FOLDER_END}", time_text(time))
}

/// Reads the name of such a folder: time, database, tag of the node.
pub(crate) fn parse_folder(name: &str) -> Option<(Date, &str, &str)> {
    let (time, rest) = name.split_at_checked(TIME_SIZE)?;
    let (database, node_tag) = rest.strip_prefix(MARK)?.strip_suffix(FOLDER_END)?.rsplit_once('-')?;
    Some((parse_time(time)?, database, node_tag))
}

/// Says in the folder of a full backup which task made it, and of whose database. It is the name of a file there, so that a list of names
/// tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Maker {
    /// The id of the database in hexadecimal. That of a copy of it is another one, on another server too.
    pub database_id: String,
    /// The task; 0: none.
    pub task: u64,
}

impl Maker {
    /// * `database_id`: as change vectors have it.
    pub fn new(database_id: &str, task: u64) -> Maker {
        Maker { database_id: database_id.bytes().map(|byte| format!("{byte:02x}")).collect(), task }
    }

    /// The name of the file.
    pub fn file(&self) -> String {
        format!("{}-{}{MARK_OF_TASK}", self.database_id, self.task)
    }

    /// Reads such a name; `None`: it is another one.
    pub fn parse(name: &str) -> Option<Maker> {
        let (database_id, task) = name.strip_suffix(MARK_OF_TASK)?.split_once('-')?;
        let parsed = Maker { database_id: database_id.to_owned(), task: task.parse().ok()? };
        let is_id = !database_id.is_empty() && database_id.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(parsed).filter(|parsed| is_id && parsed.file() == name)
    }
}

pub(super) fn time_text(time: Date) -> String {
    let text = time.to_string();
    text[..TIME_SIZE].replace(['T', ':'], "-")
}

pub(super) fn parse_time(text: &str) -> Option<Date> {
    let mut bytes = text.as_bytes().to_vec();
    if bytes.len() != TIME_SIZE || [10, 13, 16].iter().any(|at| bytes[*at] != b'-') {
        return None;
    }
    (bytes[10], bytes[13], bytes[16]) = (b'T', b':', b':');
    Date::parse(std::str::from_utf8(&bytes).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        let time = Date::parse("2026-11-27T11:49:02").unwrap();
        let kinds = [
            (FileKind::Full, false),
            (FileKind::Incremental, false),
            (FileKind::Full, true),
            (FileKind::Snapshot, false),
        ];
        let expected = [
            "2026-11-27-11-49-02.ravendb-full-backup",
            "2026-11-27-11-49-02.ravendb-incremental-backup",
            "2026-11-27-11-49-02.rookery-encrypted-full-backup",
            "2026-11-27-11-49-02.rookery-snapshot",
        ];
        for ((kind, is_encrypted), expected) in kinds.into_iter().zip(expected) {
            let name = BackupName { time, kind, is_encrypted };
            assert_eq!(name.file(), expected);
            assert_eq!(BackupName::parse(expected), Some(name));
        }
        let folder = folder(time, "my-shop", "A");
        assert_eq!(folder, "2026-11-27-11-49-02.ravendb-my-shop-A-backup");
        assert_eq!(parse_folder(&folder), Some((time, "my-shop", "A")));
    }

    #[test]
    fn a_mark_says_which_task_of_which_database_it_is() {
        let maker = Maker::new("p8bj6J1GrU+BSC84hpfo/A", 17);
        let name = maker.file();
        assert!(name.ends_with("-17.rookery-task") && !name.contains('/') && !name.contains('+'), "{name}");
        assert_eq!(Maker::parse(&name), Some(maker));
        for name in ["", "-17.rookery-task", "aa-+7.rookery-task", "aa-7", "zz-7.rookery-task", "aa-07.rookery-task"] {
            assert_eq!(Maker::parse(name), None, "{name}");
        }
    }

    #[test]
    fn other_names_are_none() {
        for name in [
            "",
            "2026-11-27-11-49-02",
            "2026-11-27-11-49-02.ravendb-snapshot",
            "2026-11-27T11:49:02.ravendb-full-backup",
            "2026-13-27-11-49-02.ravendb-full-backup",
            "2026-11-27-11-49-02.ravendb-full-backup.partial",
            "ä026-11-27-11-49-0.ravendb-full-backup",
        ] {
            assert_eq!(BackupName::parse(name), None, "{name}");
        }
        assert_eq!(parse_folder("2026-11-27-11-49-02.ravendb-shop-backup"), None);
    }
}
