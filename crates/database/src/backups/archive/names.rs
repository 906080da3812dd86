//! The names of folders and files of archives.

use std::time::Duration;

use documents::Date;
use storage::TransactionId;

use super::super::names::{TIME_SIZE, parse_time, time_text};
use crate::clock::later;

const MARK: &str = ".rookery-";
const ARCHIVE: &str = "-archive-";
const JOURNAL: &str = ".rookery-journal";
const ENCRYPTED_JOURNAL: &str = ".rookery-encrypted-journal";
const BASE: &str = ".rookery-base";

/// Ticks of a millisecond: names have no finer times.
const TICKS: u64 = 10_000;
/// As `2026-11-27-02-00-07-120`.
const MILLIS_SIZE: usize = TIME_SIZE + 4;
/// As `2026-11-27`.
const DAY_SIZE: usize = 10;
/// As `000000000000002a`.
const ID_SIZE: usize = 16;

/// The folder of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HistoryName {
    /// When it was begun, to the second.
    pub time: Date,
    pub database: String,
    pub node_tag: String,
    /// Random: a database that is restored to an earlier state counts its transactions on from there.
    pub id: u64,
}

impl HistoryName {
    pub fn folder(&self) -> String {
        let HistoryName { time, database, node_tag, id } = self;
        format!("{}{MARK}{database}-{node_tag}{ARCHIVE}{id:016x}", time_text(*time))
    }

    /// `None`: the folder is none of an archive.
    pub fn parse(folder: &str) -> Option<HistoryName> {
        let (time, rest) = folder.split_at_checked(TIME_SIZE)?;
        let (of, id) = rest.strip_prefix(MARK)?.rsplit_once(ARCHIVE)?;
        let (database, node_tag) = of.rsplit_once('-')?;
        let (database, node_tag) = (database.to_owned(), node_tag.to_owned());
        Some(HistoryName { time: parse_time(time)?, database, node_tag, id: parse_id(id)? })
    }
}

/// A file of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArchiveFile {
    /// Says which snapshot has the state of a transaction, and since when that was the state at least.
    Base { transaction: TransactionId, time: Date },
    /// Records behind one transaction and up to another, all committed by a time.
    Segment { after: TransactionId, until: TransactionId, time: Date, is_encrypted: bool },
}

impl ArchiveFile {
    /// Its path below the folder of its history. Each day has a folder of its own, so that a restore lists the days that it needs.
    pub fn path(self) -> String {
        match self {
            ArchiveFile::Base { .. } => self.name(),
            ArchiveFile::Segment { time, .. } => format!("{}/{}", day(time), self.name()),
        }
    }

    pub fn name(self) -> String {
        match self {
            ArchiveFile::Base { transaction, time } => format!("{:016x}.{}{BASE}", transaction.0, millis_text(time)),
            ArchiveFile::Segment { after, until, time, is_encrypted } => {
                let end = if is_encrypted { ENCRYPTED_JOURNAL } else { JOURNAL };
                format!("{:016x}-{:016x}.{}{end}", after.0, until.0, millis_text(time))
            }
        }
    }

    /// `None`: the file is none of an archive.
    pub fn parse(name: &str) -> Option<ArchiveFile> {
        if let Some(name) = name.strip_suffix(BASE) {
            let (transaction, time) = name.split_once('.')?;
            return Some(ArchiveFile::Base {
                transaction: TransactionId(parse_id(transaction)?),
                time: parse_millis(time)?,
            });
        }
        let (name, is_encrypted) = match name.strip_suffix(JOURNAL) {
            Some(name) => (name, false),
            None => (name.strip_suffix(ENCRYPTED_JOURNAL)?, true),
        };
        let (range, time) = name.split_once('.')?;
        let (after, until) = range.split_once('-')?;
        let (after, until) = (TransactionId(parse_id(after)?), TransactionId(parse_id(until)?));
        Some(ArchiveFile::Segment { after, until, time: parse_millis(time)?, is_encrypted })
    }
}

/// The name of the folder with the segments of a time.
fn day(time: Date) -> String {
    let mut text = millis_text(time);
    text.truncate(DAY_SIZE);
    text
}

/// The days before and after which no segment stands that belongs behind a snapshot of a time, or before it. A day more on both sides: the
/// clock may have been set back.
pub(super) fn days_around(time: Date) -> (String, String) {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    (day(Date::from_ticks(time.ticks().saturating_sub(later(Date::default(), DAY).ticks()))), day(later(time, DAY)))
}

/// Whether a folder has the name of one with the segments of a day.
pub(in super::super) fn is_day(name: &str) -> bool {
    name.len() == DAY_SIZE && parse_time(&format!("{name}-00-00-00")).is_some()
}

/// Whether a folder has the name of one of an archive.
pub(in super::super) fn is_folder(name: &str) -> bool {
    HistoryName::parse(name).is_some()
}

/// The name at the end of a path.
pub(super) fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn parse_id(text: &str) -> Option<u64> {
    let is_id =
        text.len() == ID_SIZE && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    u64::from_str_radix(text, 16).ok().filter(|_| is_id)
}

/// The end of the millisecond, so that a name never tells an earlier time than that of its contents.
fn millis_text(time: Date) -> String {
    let millis = time.ticks().div_ceil(TICKS);
    format!("{}-{:03}", time_text(Date::from_ticks(millis * TICKS)), millis % 1000)
}

fn parse_millis(text: &str) -> Option<Date> {
    let (second, millis) = text.split_at_checked(TIME_SIZE)?;
    let millis = millis.strip_prefix('-').filter(|_| text.len() == MILLIS_SIZE)?;
    let millis = millis.bytes().all(|byte| byte.is_ascii_digit()).then(|| millis.parse::<u64>().ok())??;
    Some(Date::from_ticks(parse_time(second)?.ticks() + millis * TICKS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        Date::parse(text).unwrap()
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        let history = HistoryName {
            time: date("2026-11-27T02:00:00"),
            database: "my-shop".to_owned(),
            node_tag: "A".to_owned(),
            id: 0x9f86,
        };
        assert_eq!(history.folder(), "2026-11-27-02-00-00.rookery-my-shop-A-archive-0000000000009f86");
        assert_eq!(HistoryName::parse(&history.folder()), Some(history));
        let time = date("2026-11-27T02:00:07.120");
        let (after, until) = (TransactionId(42), TransactionId(49));
        for (file, name) in [
            (ArchiveFile::Base { transaction: after, time }, "000000000000002a.2026-11-27-02-00-07-120.rookery-base"),
            (
                ArchiveFile::Segment { after, until, time, is_encrypted: false },
                "000000000000002a-0000000000000031.2026-11-27-02-00-07-120.rookery-journal",
            ),
            (
                ArchiveFile::Segment { after, until, time, is_encrypted: true },
                "000000000000002a-0000000000000031.2026-11-27-02-00-07-120.rookery-encrypted-journal",
            ),
        ] {
            assert_eq!(file.name(), name);
            assert_eq!(ArchiveFile::parse(name), Some(file));
        }
    }

    #[test]
    fn a_name_tells_no_earlier_time_than_its_own() {
        let time = date("2026-11-27T23:59:59.9990001");
        let file = ArchiveFile::Base { transaction: TransactionId(1), time };
        assert_eq!(file.path(), "0000000000000001.2026-11-28-00-00-00-000.rookery-base");
        let (after, until) = (TransactionId(1), TransactionId(2));
        let file = ArchiveFile::Segment { after, until, time, is_encrypted: false };
        let path = "2026-11-28/0000000000000001-0000000000000002.2026-11-28-00-00-00-000.rookery-journal";
        assert_eq!(file.path(), path);
    }

    #[test]
    fn other_names_are_none() {
        for name in [
            "",
            "2026-11-27-11-49-02.rookery-snapshot",
            "000000000000002a.2026-11-27-02-00-07-120.rookery-journal",
            "000000000000002a-0000000000000031.2026-11-27-02-00-07-120.rookery-journal.partial",
            "000000000000002A-0000000000000031.2026-11-27-02-00-07-120.rookery-journal",
            "000000000000002a.2026-11-27-02-00-07-+12.rookery-base",
            "2a.2026-11-27-02-00-07-120.rookery-base",
        ] {
            assert_eq!(ArchiveFile::parse(name), None, "{name}");
        }
        assert_eq!(HistoryName::parse("2026-11-27-02-00-00.ravendb-Shop-A-backup"), None);
        assert_eq!(HistoryName::parse("2026-11-27-02-00-00.rookery-Shop-A-archive-zork"), None);
        let days = ["2026-11-27", "2026-02-30", "2026-11-2", "2026/11/27", "2026-11-27-02-00-00", "zork-11-27"];
        assert_eq!(days.map(is_day), [true, false, false, false, false, false]);
    }
}
