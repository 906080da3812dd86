//! What a place has of archives, and the way to a time: a snapshot, and the segments behind it.

use std::collections::BTreeSet;
use std::io::{self, Read};

use documents::Date;
use json::Value;
use storage::TransactionId;

use super::super::configuration::bad;
use super::super::encryption::BackupKey;
use super::super::file;
use super::super::spool::PARTIAL;
use super::super::survey::{Survey, files_of, of_each};
use super::super::{Contents, Destination, DestinationError, StoredFile};
use super::names::{ArchiveFile, HistoryName, days_around, is_day, last_part};
use super::segment::{Head, Mark};
use crate::limits::{BASE_SIZE_MAX, LISTS_AT_ONCE_MAX};
use crate::{Error, Result};

/// Days that are listed before it is known whether more are needed: the one before the base, its own, and the next.
const DAYS_AT_FIRST: usize = 3;

/// The state that a restore goes back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The last one at this time. Times are known to the second.
    Time(Date),
    /// That of this transaction of the storage.
    Transaction(u64),
}

/// A run of states that can be restored: all from one to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// The database.
    pub database: String,
    /// The tag of the node that wrote it.
    pub node_tag: String,
    /// Its folder, below the place.
    pub folder: String,
    /// The earliest time.
    pub from: Date,
    /// The last time.
    pub until: Date,
    /// The first transaction.
    pub first: u64,
    /// The last transaction.
    pub last: u64,
    /// Whether it can be restored only with a key.
    pub is_encrypted: bool,
    /// Bytes of the segments that can be restored.
    pub size: u64,
}

impl Archive {
    /// All that a place has, the newest first. One without a snapshot is left out.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`]
    pub fn all(place: &dyn Destination) -> Result<Vec<Archive>> {
        let mut found = Vec::new();
        for history in Timeline::read(place, &Survey::of(place)?.archives)?.histories.into_iter().rev() {
            let Some(base) = history.bases.first() else { continue };
            let chain = history.chain(place, base, |_| false)?;
            found.push(Archive {
                from: base.time,
                until: chain.time,
                first: base.transaction.0,
                last: chain.end.0,
                is_encrypted: chain.segments.iter().any(|segment| segment.is_encrypted),
                size: chain.segments.iter().map(|segment| segment.size).sum(),
                folder: history.path,
                database: history.name.database,
                node_tag: history.name.node_tag,
            });
        }
        Ok(found)
    }
}

/// A snapshot that a history can be restored from.
#[derive(Clone, Debug)]
pub(crate) struct BaseFile {
    pub path: String,
    pub transaction: TransactionId,
    pub time: Date,
}

/// A file with records.
#[derive(Clone, Copy, Debug)]
struct SegmentFile {
    pub after: TransactionId,
    pub until: TransactionId,
    pub time: Date,
    pub is_encrypted: bool,
    pub size: u64,
}

/// A run of transactions without a gap.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub path: String,
    pub name: HistoryName,
    /// By transaction.
    pub bases: Vec<BaseFile>,
    /// The paths of the folders with segments, rising. Each has those of one day.
    days: Vec<String>,
    /// The paths of files that a crash cut off, but for those of segments.
    pub rests: Vec<String>,
}

/// Segments behind a base, each from where the one before it ends.
struct Chain {
    segments: Vec<SegmentFile>,
    /// The transaction that it ends with.
    end: TransactionId,
    /// That was the last one at this time.
    time: Date,
    /// Where the next segment begins, if there is one that does not begin at the end.
    next: Option<TransactionId>,
}

/// Histories, the oldest first.
pub(crate) struct Timeline {
    histories: Vec<History>,
}

/// The way to a state.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The snapshot that it begins with.
    pub snapshot: String,
    /// The folder of the history.
    folder: String,
    segments: Vec<SegmentFile>,
    until: Until,
    /// The state of the snapshot.
    begin: Mark,
    is_past_end: bool,
}

impl Timeline {
    /// * `folders`: those of histories.
    fn read(place: &dyn Destination, folders: &[String]) -> Result<Timeline> {
        let found = of_each(folders, |folder| History::read(place, folder))?;
        let mut histories: Vec<History> = found.into_iter().flatten().collect();
        histories.sort_by(|one, other| (one.begin(), &one.path).cmp(&(other.begin(), &other.path)));
        Ok(Timeline { histories })
    }

    /// The way to a state of a database.
    ///
    /// * `database`: its name; `None`: the one that the place has archives of.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`]; [`Error::BadBackup`] if the state cannot be restored from what is there, with what can be.
    pub fn plan(place: &dyn Destination, database: Option<&str>, until: Until) -> Result<Plan> {
        let refused = |rule: String| bad(format!("{} cannot be restored to a time: {rule}", place.place()));
        let is_wanted = |folder: &String| database.is_none_or(|name| is_of(folder, name));
        let mut folders = Survey::of_top(place)?.archives;
        // A walk takes long in a place that has much else.
        if !folders.iter().any(is_wanted) {
            folders = Survey::of(place)?.archives;
        }
        let database = database_of(&folders, database).map_err(refused)?;
        folders.retain(|folder| is_of(folder, &database));
        let mut timeline = Timeline::read(place, &folders)?;
        timeline.leave_out_damaged(place, until)?;
        let (history, base) = timeline.find(until).map_err(refused)?;
        let chain = history.chain(place, base, |segment| match until {
            Until::Time(time) => segment.time >= time,
            Until::Transaction(id) => segment.until.0 >= id,
        })?;
        if let Some(rule) = timeline.why_not(history, &chain, until) {
            return Err(refused(rule));
        }
        let is_past_end = matches!(until, Until::Time(time) if time > chain.time);
        let begin = Mark { transaction: base.transaction, time: base.time };
        let (snapshot, folder) = (base_of(place, base)?, history.path.clone());
        Ok(Plan { snapshot, folder, segments: chain.segments, until, begin, is_past_end })
    }

    /// Leaves bases out that are damaged, where one before them leads to the state, too.
    fn leave_out_damaged(&mut self, place: &dyn Destination, until: Until) -> Result<()> {
        let mut first = None;
        while let Ok((_, base)) = self.find(until) {
            let path = base.path.clone();
            match base_of(place, base) {
                Ok(_) => return Ok(()),
                Err(error @ Error::BadBackup { .. }) => {
                    tracing::warn!(%error, "a restore goes on from the snapshot before that");
                    first.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
            self.histories.iter_mut().for_each(|history| history.bases.retain(|base| base.path != path));
        }
        first.map_or(Ok(()), Err)
    }

    fn find(&self, until: Until) -> Result<(&History, &BaseFile), String> {
        let is_before = |base: &BaseFile| match until {
            Until::Time(time) => base.time <= time,
            Until::Transaction(id) => base.transaction.0 <= id,
        };
        // Of two histories the newer one: the older one ended before it.
        let mut newest_first = self.histories.iter().rev();
        let found =
            newest_first.find_map(|history| Some((history, history.bases.iter().rev().find(|base| is_before(base))?)));
        found.ok_or_else(|| {
            let first = self.histories.iter().find_map(|history| history.bases.first());
            let first = first.map_or_else(String::new, |base| {
                format!(". The first that can be is that of {}, transaction {}", base.time, base.transaction)
            });
            format!("no snapshot precedes the state{first}")
        })
    }

    /// Why a chain does not lead to a state; `None`: it does, or nothing was written between its end and the time.
    fn why_not(&self, history: &History, chain: &Chain, until: Until) -> Option<String> {
        let is_reached = match until {
            Until::Time(time) => time <= chain.time,
            Until::Transaction(id) => id <= chain.end.0,
        };
        if is_reached {
            return None;
        }
        if let Some(next) = chain.next {
            return Some(format!("the segment between the transactions {} and {next} is missing", chain.end));
        }
        match until {
            Until::Transaction(_) => {
                Some(format!("the archive ends with transaction {}, of {}", chain.end, chain.time))
            }
            Until::Time(_) => {
                let next =
                    self.histories.iter().skip_while(|known| known.path != history.path).nth(1)?.bases.first()?;
                Some(format!(
                    "an archive ends at {}, and the next one begins at {}; nothing is known of the time between. \
                     Choose one of these times, or one before or after",
                    chain.time, next.time
                ))
            }
        }
    }
}

impl History {
    /// What the folder of a history has, but for the segments; `None`: it is no such folder.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`]
    pub fn read(place: &dyn Destination, folder: &str) -> Result<Option<History>> {
        let Some(name) = HistoryName::parse(last_part(folder)) else { return Ok(None) };
        let (mut bases, mut rests) = (Vec::new(), Vec::new());
        let Contents { files, folders: mut days } = place.look_into(folder)?;
        for file in files {
            if file.path.ends_with(PARTIAL) {
                rests.push(file.path);
            } else if let Some(ArchiveFile::Base { transaction, time }) = ArchiveFile::parse(last_part(&file.path)) {
                bases.push(BaseFile { path: file.path, transaction, time });
            }
        }
        bases.sort_by_key(|base| (base.transaction, base.time));
        days.retain(|path| is_day(last_part(path)));
        days.sort();
        Ok(Some(History { path: folder.to_owned(), name, bases, days, rests }))
    }

    /// When it begins, as far as what is there of it tells: two may have been begun in one second, the first one just before a crash.
    fn begin(&self) -> Date {
        self.bases.first().map_or(self.name.time, |base| base.time)
    }

    /// The folders with the segments up to a day.
    pub fn days_until(&self, until: &str) -> &[String] {
        &self.days[..self.days.partition_point(|path| last_part(path) <= until)]
    }

    /// The folders that may have a segment which a crash cut off: the last one, and the one before it if the clock went back over midnight.
    pub fn last_days(&self) -> &[String] {
        &self.days[self.days.len().saturating_sub(2)..]
    }

    /// The segments that follow a base, up to the first that is enough. Days that are not needed for that are not looked at.
    fn chain(
        &self,
        place: &dyn Destination,
        base: &BaseFile,
        is_enough: impl Fn(&SegmentFile) -> bool,
    ) -> Result<Chain> {
        let first = |base: &BaseFile| days_around(base.time).0;
        let chain = self.chain_from(place, base, &first(base), &is_enough)?;
        if !chain.segments.is_empty() && chain.next.is_none() {
            return Ok(chain);
        }
        // The clock may have been ahead when the base was made: then what follows stands before its day, behind the base before it.
        let before = self.bases.iter().rev().find(|known| known.transaction < base.transaction);
        self.chain_from(place, base, &before.map_or_else(String::new, first), &is_enough)
    }

    /// * `first`: the day to begin with.
    ///
    /// Where a segment is there twice, from before a crash and after it, the earlier one counts: it knows the times better.
    fn chain_from(
        &self,
        place: &dyn Destination,
        base: &BaseFile,
        first: &str,
        is_enough: &dyn Fn(&SegmentFile) -> bool,
    ) -> Result<Chain> {
        let mut chain = Chain { segments: Vec::new(), end: base.transaction, time: base.time, next: None };
        let days = &self.days[self.days.partition_point(|path| last_part(path) < first)..];
        let (soon, rest) = days.split_at(days.len().min(DAYS_AT_FIRST));
        let mut waiting: Vec<SegmentFile> = Vec::new();
        for days in std::iter::once(soon).chain(rest.chunks(LISTS_AT_ONCE_MAX)) {
            let files = files_of(place, days)?;
            waiting.extend(files.iter().filter_map(|file| SegmentFile::of(&self.path, file)));
            waiting.sort_by_key(|segment| (segment.until, segment.time));
            let mut later = Vec::new();
            for segment in waiting {
                if segment.until > chain.end && segment.after <= chain.end {
                    (chain.end, chain.time) = (segment.until, segment.time);
                    chain.segments.push(segment);
                    if is_enough(&segment) {
                        return Ok(chain);
                    }
                } else if segment.after > chain.end {
                    later.push(segment);
                }
            }
            waiting = later;
        }
        chain.next = waiting.iter().map(|segment| segment.after).find(|after| *after > chain.end);
        Ok(chain)
    }
}

impl SegmentFile {
    /// * `folder`: that of its history.
    fn of(folder: &str, file: &StoredFile) -> Option<SegmentFile> {
        let ArchiveFile::Segment { after, until, time, is_encrypted } = ArchiveFile::parse(last_part(&file.path))?
        else {
            return None;
        };
        let segment = SegmentFile { after, until, time, is_encrypted, size: file.size };
        Some(segment).filter(|segment| segment.path(folder) == file.path)
    }

    fn path(self, folder: &str) -> String {
        let SegmentFile { after, until, time, is_encrypted, .. } = self;
        format!("{folder}/{}", ArchiveFile::Segment { after, until, time, is_encrypted }.path())
    }
}

/// Whether a folder of a history is one of a database.
fn is_of(folder: &str, database: &str) -> bool {
    HistoryName::parse(last_part(folder)).is_some_and(|name| name.database.eq_ignore_ascii_case(database))
}

/// The database that is meant, of those that folders of histories are of; the error is a rule.
fn database_of(folders: &[String], given: Option<&str>) -> Result<String, String> {
    let names: BTreeSet<String> =
        folders.iter().filter_map(|folder| Some(HistoryName::parse(last_part(folder))?.database)).collect();
    let list = || names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    match given {
        _ if names.is_empty() => {
            Err("it has no archive. Name the folder of a backup task with 'PointInTime', not one below".to_owned())
        }
        Some(given) if names.iter().any(|name| name.eq_ignore_ascii_case(given)) => Ok(given.to_owned()),
        Some(given) => Err(format!("it has none of '{given}'; archives of the databases {}. Name one of them", list())),
        None if names.len() == 1 => Ok(list()),
        None => Err(format!("it has archives of the databases {}. Name one of them", list())),
    }
}

/// The path of the snapshot of a base.
///
/// # Errors
///
/// [`Error::Destination`], [`Error::BadBackup`].
pub(super) fn base_of(place: &dyn Destination, base: &BaseFile) -> Result<String> {
    let damaged = || bad(format!("the file '{}' in {} is damaged", base.path, place.place()));
    let mut text = Vec::new();
    let unread = |error: io::Error| {
        error.downcast::<Error>().unwrap_or_else(|error| {
            let (path, place, reason) = (base.path.clone(), place.place(), error.to_string());
            Error::Destination(DestinationError { operation: "read", path, place, reason })
        })
    };
    place.get(&base.path)?.take(BASE_SIZE_MAX).read_to_end(&mut text).map_err(unread)?;
    let value = Value::parse(&text).map_err(|_| damaged())?;
    let part = |name: &str| value.get(name).and_then(Value::as_str).filter(|part| !part.contains('/') && *part != "..");
    let (folder, file) = part("Folder").zip(part("File")).ok_or_else(damaged)?;
    let history = base.path.rsplit_once('/').map_or("", |(history, _)| history);
    let root = history.rsplit_once('/').map_or(String::new(), |(root, _)| format!("{root}/"));
    Ok(format!("{root}{folder}/{file}"))
}

impl Plan {
    /// Whether it can be followed only with a key.
    pub fn is_encrypted(&self) -> bool {
        self.segments.iter().any(|segment| segment.is_encrypted)
    }

    /// Whether the archive ends before the time of the state. A database that is not written to for a while is no reason to worry; one
    /// that was is.
    pub fn is_past_end(&self) -> bool {
        self.is_past_end
    }

    /// Applies the segments to what was made of the snapshot; gives the state that was reached, and the record of the database in the last
    /// segment of it.
    ///
    /// * `progress`: called after each record. False cancels.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`], [`Error::BadBackup`] with the file, [`Error::Canceled`].
    pub fn replay(
        &self,
        place: &dyn Destination,
        key: Option<&BackupKey>,
        restore: &mut storage::image::Restore,
        progress: &mut dyn FnMut(storage::image::Progress) -> bool,
    ) -> Result<(Mark, Option<Value>)> {
        let (mut reached, mut record) = (self.begin, None);
        for segment in &self.segments {
            let path = segment.path(&self.folder);
            let failed =
                |reason: String| bad(format!("the file '{path}' in {} cannot be restored: {reason}", place.place()));
            let opened = file::open(place.get(&path)?, key);
            let mut opened = opened.map_err(|error| failed(error.to_string()))?;
            let head = Head::read(&mut opened).map_err(|error| failed(error.to_string()))?;
            let target = match self.until {
                Until::Transaction(id) => {
                    let known = head.marks.iter().find(|mark| mark.transaction.0 >= id);
                    Some(Mark { transaction: TransactionId(id), time: known.map_or(segment.time, |mark| mark.time) })
                }
                Until::Time(time) => head.marks.iter().rev().find(|mark| mark.time <= time).copied(),
            };
            let Some(target) = target else { break };
            let position = restore.position().transaction;
            if target.transaction <= position {
                break;
            }
            let replayed = restore.replay(&mut opened, Some(target.transaction), progress);
            let position = replayed.map_err(|error| match error {
                storage::image::Error::Cancelled => Error::Canceled,
                error => failed(error.to_string()),
            })?;
            // The checksum at the end covers the head, too.
            io::copy(&mut opened, &mut io::sink()).map_err(|error| failed(error.to_string()))?;
            if position.transaction < target.transaction && position.transaction != segment.until {
                return Err(failed(format!("it ends with transaction {}", position.transaction)));
            }
            reached =
                if position.transaction == target.transaction { target } else { Mark { time: segment.time, ..target } };
            reached.transaction = position.transaction;
            record = head.record.or(record);
            // At its end the next one may begin before the time, too.
            if position.transaction == target.transaction && position.transaction < segment.until {
                break;
            }
        }
        Ok((reached, record))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::backups::FolderDestination;

    fn write(place: &tempfile::TempDir, path: &str, text: &str) {
        let path = place.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    const BASE: &str = r#"{"Folder":"folder","File":"snapshot"}"#;

    #[test]
    fn of_two_histories_that_were_begun_in_one_second_the_later_one_counts() {
        let place = tempfile::tempdir().unwrap();
        let folder = |id: u64| format!("2026-11-29-02-10-34.rookery-Shop-A-archive-{id:016x}");
        let (cut_off, whole) = (folder(9), folder(1));
        write(&place, &format!("{cut_off}/00000000000001b3.2026-11-29-02-10-34-104.rookery-base"), BASE);
        write(&place, &format!("{whole}/00000000000001b4.2026-11-29-02-10-34-790.rookery-base"), BASE);
        let segment = "2026-11-29/00000000000001b4-00000000000001b8.2026-11-29-02-10-39-001.rookery-journal";
        write(&place, &format!("{whole}/{segment}"), "x");
        let plan = Timeline::plan(&FolderDestination::new(place.path()), None, Until::Transaction(0x1b8)).unwrap();
        assert_eq!((plan.folder, plan.segments.len()), (whole, 1));
    }

    #[test]
    fn a_chain_goes_over_duplicates_and_days_and_names_the_first_gap() {
        let place = tempfile::tempdir().unwrap();
        let folder = "2026-11-01-02-00-00.rookery-Shop-A-archive-0000000000000001";
        write(&place, &format!("{folder}/0000000000000001.2026-11-01-23-59-00-000.rookery-base"), BASE);
        let segment = |after: u64, until: u64, day: u64, minute: u64| {
            format!(
                "{folder}/2026-11-{day:02}/{after:016x}-{until:016x}.2026-11-{day:02}-00-{minute:02}-00-000.rookery-journal"
            )
        };
        // Before a crash and after it; and after a clock that went back over midnight.
        for (after, until, day, minute) in
            [(1, 3, 2, 1), (1, 5, 2, 2), (3, 5, 2, 3), (5, 8, 3, 1), (8, 9, 2, 59), (9, 10, 20, 1)]
        {
            write(&place, &segment(after, until, day, minute), "x");
        }
        let destination = FolderDestination::new(place.path());
        let plan = |until| {
            Timeline::plan(&destination, None, until)
                .map(|plan| plan.segments.iter().map(|segment| (segment.after.0, segment.until.0)).collect::<Vec<_>>())
        };
        assert_eq!(plan(Until::Transaction(10)).unwrap(), [(1, 3), (1, 5), (5, 8), (8, 9), (9, 10)]);
        assert_eq!(plan(Until::Transaction(4)).unwrap(), [(1, 3), (1, 5)]);
        fs::remove_file(place.path().join(segment(9, 10, 20, 1))).unwrap();
        let error = plan(Until::Transaction(10)).unwrap_err().to_string();
        assert!(error.contains("the archive ends with transaction 9"), "{error}");
        write(&place, &segment(11, 12, 21, 1), "x");
        let error = plan(Until::Transaction(12)).unwrap_err().to_string();
        assert!(error.contains("between the transactions 9 and 11 is missing"), "{error}");
    }
}
