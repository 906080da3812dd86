//! What a place has of archives, and the way to a time: a snapshot, and the segments behind it.

use std::io::{self, Read};

use documents::Date;
use json::Value;
use storage::TransactionId;

use super::super::configuration::bad;
use super::super::encryption::BackupKey;
use super::super::file;
use super::super::spool::PARTIAL;
use super::super::survey::{Survey, files_of, of_each};
use super::super::{Contents, Destination, StoredFile};
use super::names::{ArchiveFile, HistoryName, day, is_day, last_part};
use super::segment::{Head, Mark};
use crate::limits::{BASE_SIZE_MAX, LISTS_AT_ONCE_MAX};
use crate::{Error, Result};

const TICKS_PER_DAY: u64 = 24 * 60 * 60 * 10_000_000;

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
    /// Whether it can be read only with a key.
    pub is_encrypted: bool,
    /// Bytes of its segments.
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
        for history in Timeline::read(place)?.histories.into_iter().rev() {
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
    pub days: Vec<String>,
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

/// The histories of a place, the oldest first.
pub(crate) struct Timeline {
    pub histories: Vec<History>,
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
    /// All of a place.
    fn read(place: &dyn Destination) -> Result<Timeline> {
        let folders = Survey::of(place)?.archives;
        let found = of_each(&folders, |folder| History::read(place, folder))?;
        let mut histories: Vec<History> = found.into_iter().flatten().collect();
        histories.sort_by(|one, other| (one.name.time, &one.path).cmp(&(other.name.time, &other.path)));
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
        let timeline = Timeline::read(place)?;
        let (history, base) = timeline.find(database, until).map_err(refused)?;
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

    fn find(&self, database: Option<&str>, until: Until) -> Result<(&History, &BaseFile), String> {
        let mut names: Vec<&str> = self.histories.iter().map(|history| history.name.database.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let database = match (database, &names[..]) {
            (_, []) => {
                return Err(
                    "it has no archive. Name the folder of a backup task with 'PointInTime', not one below".to_owned()
                );
            }
            (Some(given), _) if names.iter().any(|name| name.eq_ignore_ascii_case(given)) => given,
            (None, [only]) => only,
            (given, _) => {
                let given = given.map_or_else(String::new, |given| format!("none of '{given}'; "));
                return Err(format!("it has {given}archives of the databases {}. Name one of them", names.join(", ")));
            }
        };
        let is_before = |base: &BaseFile| match until {
            Until::Time(time) => base.time <= time,
            Until::Transaction(id) => base.transaction.0 <= id,
        };
        // Of two histories the newer one: the older one ended before it.
        let mut newest_first = self.of_database(database).rev();
        let found =
            newest_first.find_map(|history| Some((history, history.bases.iter().rev().find(|base| is_before(base))?)));
        found.ok_or_else(|| {
            let first = self.of_database(database).find_map(|history| history.bases.first());
            let first = first.map_or_else(String::new, |base| {
                format!(". The first that can be is that of {}, transaction {}", base.time, base.transaction)
            });
            format!("no snapshot precedes the state{first}")
        })
    }

    fn of_database(&self, name: &str) -> impl DoubleEndedIterator<Item = &History> {
        self.histories.iter().filter(move |known| known.name.database.eq_ignore_ascii_case(name))
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
                let own = self.of_database(&history.name.database);
                let next = own.skip_while(|known| known.path != history.path).nth(1)?.bases.first()?;
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

    /// The segments that follow a base, up to the first that is enough. Later days are not looked at.
    ///
    /// Where one is there twice, from before a crash and after it, the earlier one counts: it knows the times better.
    fn chain(
        &self,
        place: &dyn Destination,
        base: &BaseFile,
        is_enough: impl Fn(&SegmentFile) -> bool,
    ) -> Result<Chain> {
        let mut chain = Chain { segments: Vec::new(), end: base.transaction, time: base.time, next: None };
        // Before a clock that was set back a bit, a day may end with what belongs behind the beginning of the next one.
        let first = day(Date::from_ticks(base.time.ticks().saturating_sub(TICKS_PER_DAY)));
        let days = &self.days[self.days.partition_point(|path| last_part(path) < first.as_str())..];
        let mut waiting: Vec<SegmentFile> = Vec::new();
        for days in days.chunks(LISTS_AT_ONCE_MAX) {
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
        chain.next = waiting.first().map(|segment| segment.after);
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

/// The path of the snapshot of a base.
///
/// # Errors
///
/// [`Error::Destination`], [`Error::BadBackup`].
pub(super) fn base_of(place: &dyn Destination, base: &BaseFile) -> Result<String> {
    let damaged = || bad(format!("the file '{}' in {} is damaged", base.path, place.place()));
    let mut text = Vec::new();
    place.get(&base.path)?.take(BASE_SIZE_MAX).read_to_end(&mut text).map_err(|_| damaged())?;
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
