//! What a place has of archives, and the way to a time: a snapshot, and the segments behind it.

use std::io::{self, Read};

use documents::Date;
use json::Value;
use storage::TransactionId;

use super::super::configuration::bad;
use super::super::destination::list_wanted;
use super::super::encryption::BackupKey;
use super::super::file;
use super::super::names::parse_folder;
use super::super::{Destination, StoredFile};
use super::names::{ArchiveFile, HistoryName};
use super::segment::{Head, Mark};
use crate::limits::BASE_SIZE_MAX;
use crate::{Error, Result};

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
        let mut timeline = Timeline::read(place)?;
        timeline.histories.reverse();
        let summary = |history: History| {
            let base = history.bases.first()?;
            let chain = chain(&history.segments, base.transaction);
            let last = chain.last();
            Some(Archive {
                from: base.time,
                until: last.map_or(base.time, |last| last.time),
                first: base.transaction.0,
                last: last.map_or(base.transaction, |last| last.until).0,
                is_encrypted: history.segments.iter().any(|segment| segment.is_encrypted),
                size: history.segments.iter().map(|segment| segment.size).sum(),
                folder: history.path,
                database: history.name.database,
                node_tag: history.name.node_tag,
            })
        };
        Ok(timeline.histories.into_iter().filter_map(summary).collect())
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
#[derive(Clone, Debug)]
pub(crate) struct SegmentFile {
    pub path: String,
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
    /// By the last transaction, and of those with the same one the earliest.
    pub segments: Vec<SegmentFile>,
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
    segments: Vec<SegmentFile>,
    until: Until,
    /// The state of the snapshot.
    begin: Mark,
    is_past_end: bool,
}

impl Timeline {
    /// All of a place.
    fn read(place: &dyn Destination) -> Result<Timeline> {
        Ok(Timeline::of(&list_wanted(place, |folder| parse_folder(folder).is_none())?))
    }

    /// * `files`: those of a place that may be of archives.
    pub fn of(files: &[StoredFile]) -> Timeline {
        let mut histories: Vec<History> = Vec::new();
        for file in files {
            let Some((folder, name)) = file.path.rsplit_once('/') else { continue };
            let own = folder.rsplit('/').next().unwrap_or(folder);
            let Some((history, file_name)) = HistoryName::parse(own).zip(ArchiveFile::parse(name)) else { continue };
            let found = histories.iter().position(|known| known.path == folder);
            let at = found.unwrap_or_else(|| {
                let path = folder.to_owned();
                histories.push(History { path, name: history, bases: Vec::new(), segments: Vec::new() });
                histories.len() - 1
            });
            let (path, size) = (file.path.clone(), file.size);
            match file_name {
                ArchiveFile::Base { transaction, time } => {
                    histories[at].bases.push(BaseFile { path, transaction, time });
                }
                ArchiveFile::Segment { after, until, time, is_encrypted } => {
                    histories[at].segments.push(SegmentFile { path, after, until, time, is_encrypted, size });
                }
            }
        }
        for history in &mut histories {
            history.bases.sort_by_key(|base| (base.transaction, base.time));
            history.segments.sort_by_key(|segment| (segment.until, segment.time));
        }
        histories.sort_by(|one, other| (one.name.time, &one.path).cmp(&(other.name.time, &other.path)));
        Timeline { histories }
    }

    /// The way to a state of a database.
    ///
    /// * `database`: its name; `None`: the one that the place has archives of.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`]; [`Error::BadBackup`] if the state cannot be restored from what is there, with what can be.
    pub fn plan(place: &dyn Destination, database: Option<&str>, until: Until) -> Result<Plan> {
        let timeline = Timeline::read(place)?;
        let found = timeline.find(database, until);
        let (history, base) =
            found.map_err(|rule| bad(format!("{} cannot be restored to a time: {rule}", place.place())))?;
        let mut segments = chain(&history.segments, base.transaction);
        let end = segments.last().map_or(base.time, |last| last.time);
        let is_past_end = matches!(until, Until::Time(time) if time > end);
        let needed = match until {
            Until::Time(time) => segments.iter().position(|segment| segment.time >= time),
            Until::Transaction(id) => segments.iter().position(|segment| segment.until.0 >= id),
        };
        segments.truncate(needed.map_or(segments.len(), |last| last + 1));
        let begin = Mark { transaction: base.transaction, time: base.time };
        Ok(Plan { snapshot: base_of(place, base)?, segments, until, begin, is_past_end })
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
        let own = || self.histories.iter().filter(|known| known.name.database.eq_ignore_ascii_case(database));
        let is_before = |base: &BaseFile| match until {
            Until::Time(time) => base.time <= time,
            Until::Transaction(id) => base.transaction.0 <= id,
        };
        // Of two histories the newer one: the older one ended before it.
        let found =
            own().rev().find_map(|history| Some((history, history.bases.iter().rev().find(|base| is_before(base))?)));
        let Some((history, base)) = found else {
            let first = own().find_map(|history| history.bases.first());
            let first = first.map_or_else(String::new, |base| {
                format!(". The first that can be is that of {}, transaction {}", base.time, base.transaction)
            });
            return Err(format!("no snapshot precedes the state{first}"));
        };
        let chain = chain(&history.segments, base.transaction);
        let (last, end) = chain.last().map_or((base.transaction, base.time), |last| (last.until, last.time));
        let is_in_chain = match until {
            Until::Time(time) => time <= end,
            Until::Transaction(id) => id <= last.0,
        };
        if is_in_chain {
            return Ok((history, base));
        }
        if let Some(missing) = history.segments.iter().find(|segment| segment.after > last) {
            return Err(format!("the segment between the transactions {last} and {} is missing", missing.after));
        }
        match until {
            Until::Transaction(_) => Err(format!("the archive ends with transaction {last}, of {end}")),
            Until::Time(_) => {
                let next = own().skip_while(|known| known.path != history.path).nth(1);
                match next.and_then(|next| next.bases.first()) {
                    Some(next) => Err(format!(
                        "an archive ends at {end}, and the next one begins at {}; nothing is known of the time between. \
                         Choose one of these times, or one before or after",
                        next.time
                    )),
                    None => Ok((history, base)),
                }
            }
        }
    }
}

/// The segments that follow a transaction, each from where the one before it ends.
///
/// * `segments`: by their last transaction. Where one is there twice, from before a crash and after it, the earlier one comes first: it
///   knows the times better.
fn chain(segments: &[SegmentFile], from: TransactionId) -> Vec<SegmentFile> {
    let mut found: Vec<SegmentFile> = Vec::new();
    let mut position = from;
    for segment in segments {
        if segment.until > position && segment.after <= position {
            position = segment.until;
            found.push(segment.clone());
        }
    }
    found
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
            let failed = |reason: String| {
                bad(format!("the file '{}' in {} cannot be restored: {reason}", segment.path, place.place()))
            };
            let opened = file::open(place.get(&segment.path)?, key);
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
