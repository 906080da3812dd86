//! Makes a folder out of an image and of archived records. It is made under another name, and gets its own when it is complete and
//! durable: a crash leaves no half environment that could be opened.

use super::error::{Error, Result};
use super::format::{self, Decoder, END_SIZE, Kind, u64_at, u128_at};
use super::pages::{self, Pages};
use super::{Progress, Summary};
use crate::ids::{PageNumber, Position, TransactionId};
use crate::io::{Folder, Io, OpenMode};
use crate::journal::newest;
use crate::journal::record::{self, Change, HEADER_SIZE, Header};
use crate::limits::PAGE_SIZE;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the name of a folder that is being made has behind its own.
const PARTIAL: &str = "~partial";
const DATA_FILE: &str = "data";
const LOCK_FILE: &str = "lock";

/// Bytes of a record that are read at once.
const STEP: usize = 1 << 20;

/// Checks an image without making anything of it: each hash, the order, that it is complete, each page. What only a restore finds is a
/// page that the image lacks although its state needs it.
///
/// # Errors
///
/// [`Error::Damaged`] and others that name what is wrong; [`Error::Source`], [`Error::Cancelled`].
pub fn verify(image: &mut dyn Read, progress: &mut dyn FnMut(Progress) -> bool) -> Result<Summary> {
    let (mut decoder, header) = Decoder::begin(image)?;
    ImageReader::new(header).read(&mut decoder, &mut None, progress)
}

/// A folder that is being made. Dropped before [`Restore::finish`], it goes.
pub struct Restore {
    io: Arc<dyn Io>,
    target: PathBuf,
    /// Where it is being made.
    folder: Folder,
    /// Keeps other restores out.
    lock: Option<Box<dyn Send + Sync>>,
    state: Option<State>,
    /// Why no record can be applied any more.
    failure: Option<Error>,
}

struct State {
    pages: Pages,
    environment_id: u128,
    position: Position,
    so_far: Progress,
}

impl Restore {
    /// Reads an image.
    ///
    /// * `folder`: where the environment will be. It must not exist, or be empty. Until then there is another one, with `~partial` behind
    ///   its name; what an earlier restore left there is removed.
    /// * `progress`: called after each part. False cancels.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`]; [`Error::Storage`] with what the folder lacks: room, rights, or the lock that another restore has;
    /// [`Error::Damaged`] and others that name what is wrong with the image; [`Error::Source`], [`Error::Cancelled`].
    pub fn begin(
        io: Arc<dyn Io>,
        folder: &Path,
        image: &mut dyn Read,
        progress: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Restore> {
        let (mut decoder, header) = Decoder::begin(image)?;
        let mut restore = Restore::make(io, folder)?;
        let file = restore.create_data_file()?;
        let mut pages = Some(Pages::new(file, header.environment_id));
        let mut reader = ImageReader::new(header);
        let summary = reader.read(&mut decoder, &mut pages, progress)?;
        let mut pages = pages.ok_or(Error::Cancelled)?;
        pages.set_cursor(u64::MAX);
        restore.state = Some(State {
            pages,
            environment_id: summary.environment_id,
            position: summary.position,
            so_far: reader.so_far,
        });
        Ok(restore)
    }

    /// The folder in the making, empty.
    fn make(io: Arc<dyn Io>, target: &Path) -> Result<Restore> {
        let failed = |operation, path: &Path| {
            let path = path.to_path_buf();
            move |error| Error::from(crate::Error::io(operation, &path, 0, error))
        };
        let exists = match io.list(target) {
            Ok(names) => !names.is_empty(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => return Err(failed("list", target)(error)),
        };
        if exists {
            return Err(Error::Exists { path: target.to_path_buf() });
        }
        let mut name = target.as_os_str().to_owned();
        name.push(PARTIAL);
        let path = PathBuf::from(name);
        io.create_dir(&path).map_err(failed("create the folder", &path))?;
        let lock = io.lock(&path).map_err(failed("lock", &path))?;
        let Some(lock) = lock else { return Err(crate::Error::Locked { path }.into()) };
        let folder = Folder { io: io.clone(), path: path.clone() };
        let restore =
            Restore { io, target: target.to_path_buf(), folder, lock: Some(lock), state: None, failure: None };
        restore.remove_files().map_err(failed("remove what was left in", &path))?;
        Ok(restore)
    }

    fn remove_files(&self) -> std::io::Result<()> {
        let names = self.io.list(&self.folder.path)?;
        names.iter().filter(|name| *name != LOCK_FILE).try_for_each(|name| self.io.remove(&self.folder.file(name)))
    }

    fn create_data_file(&self) -> Result<Arc<dyn crate::io::File>> {
        let path = self.folder.file(DATA_FILE);
        let created = self.io.open(&path, OpenMode::Create);
        created.map_err(|error| crate::Error::io("create", &path, 0, error).into())
    }

    /// The state that the folder would have now.
    pub fn position(&self) -> Position {
        self.state.as_ref().map_or_else(Position::default, |state| state.position)
    }

    /// The id that the environment will have: that of the one the image was taken of.
    pub fn environment_id(&self) -> u128 {
        self.state.as_ref().map_or(0, |state| state.environment_id)
    }

    /// Applies records as [`Reader::next_record`](crate::archive::Reader::next_record) gave them, one behind the other: a segment of an
    /// archive. For several segments it is called several times, in their order. Records up to the position are only checked. Returns the
    /// position behind the last record that was applied; that is less than `until` where the records end before.
    ///
    /// * `until`: the last transaction that is applied. `None`: the last one of the segment.
    ///
    /// After [`Error::Source`], [`Error::Gap`] and [`Error::Cancelled`] the call may be repeated, with the same or another source. After
    /// others each later call fails in the same way.
    ///
    /// # Errors
    ///
    /// [`Error::AfterTarget`], [`Error::Gap`], [`Error::OtherHistory`], [`Error::Damaged`], [`Error::Storage`], [`Error::Source`],
    /// [`Error::Cancelled`].
    pub fn replay(
        &mut self,
        records: &mut dyn Read,
        until: Option<TransactionId>,
        progress: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Position> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let Some(state) = &mut self.state else { return Err(Error::Cancelled) };
        let replayed = state.replay(records, until, progress);
        if let Err(error) = &replayed
            && !matches!(error, Error::Source(_) | Error::Gap { .. } | Error::Cancelled | Error::AfterTarget { .. })
        {
            self.failure = Some(error.clone());
        }
        replayed
    }

    /// Makes the folder durable and visible. The environment can be opened then; it is closed cleanly at the position.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`]: with [`Corrupt`](crate::Error::Corrupt) if something is missing that the state needs; otherwise the folder is
    /// not durable, and is not there, unless only the last sync of the folder around it failed. That of a replay that failed.
    pub fn finish(mut self) -> Result<Position> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let Some(mut state) = self.state.take() else { return Err(Error::Cancelled) };
        let sync_dir = |path: &Path| {
            let synced = self.io.sync_dir(path);
            synced.map_err(|error| Error::from(crate::Error::io("sync the folder", path, 0, error)))
        };
        state.pages.finish(state.position)?;
        newest::create(&self.folder, state.environment_id)?;
        sync_dir(&self.folder.path)?;
        let renamed = self.io.rename(&self.folder.path, &self.target);
        renamed.map_err(|error| crate::Error::io("rename to its name", &self.folder.path, 0, error))?;
        // From here on there is nothing to remove.
        self.lock = None;
        let parent = self.target.parent().filter(|parent| !parent.as_os_str().is_empty());
        sync_dir(parent.unwrap_or(Path::new(".")))?;
        Ok(state.position)
    }
}

impl Drop for Restore {
    /// Removes what was made, as far as it can; the next restore to the folder removes the rest.
    fn drop(&mut self) {
        if self.lock.is_none() {
            return;
        }
        self.state = None;
        let removed = self.remove_files();
        self.lock = None;
        let removed = removed.and_then(|()| match self.io.remove(&self.folder.file(LOCK_FILE)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => self.io.remove_dir(&self.folder.path),
        });
        if let Err(error) = removed {
            tracing::warn!(path = %self.folder.path.display(), %error, "what an unfinished restore left could not be removed");
        }
    }
}

/// Reads the frames of an image and checks how they fit together.
struct ImageReader {
    environment_id: u128,
    position: Position,
    /// All pages below were there.
    cursor: u64,
    /// Runs that records named, and whose frames may come: first page, pages.
    runs: BTreeMap<u64, u32>,
    so_far: Progress,
}

impl ImageReader {
    fn new(header: format::Header) -> ImageReader {
        let so_far =
            Progress { pages_total: header.pages_total, transaction: header.start.transaction, ..Progress::default() };
        ImageReader {
            environment_id: header.environment_id,
            position: header.start,
            cursor: crate::checkpoint::header::PAGES,
            runs: BTreeMap::new(),
            so_far,
        }
    }

    /// Reads all of it.
    ///
    /// * `pages`: where it goes to, if it is not only checked.
    fn read(
        &mut self,
        decoder: &mut Decoder<'_>,
        pages: &mut Option<Pages>,
        progress: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Summary> {
        let mut payload = Vec::new();
        loop {
            let (kind, transaction) = decoder.next(&mut payload)?;
            let damaged = |rule| decoder.damaged(rule);
            match kind {
                Kind::Record => self.record(&payload, pages, &damaged)?,
                Kind::Pages => self.pages(&payload, pages, &damaged)?,
                Kind::Run => self.run(&payload, pages, &damaged)?,
                Kind::End => self.check_end(&payload, decoder)?,
            }
            if transaction != self.position.transaction {
                return Err(damaged("a frame is of another transaction than the record before it"));
            }
            self.so_far.bytes = decoder.bytes();
            self.so_far.transaction = transaction;
            if !progress(self.so_far) {
                return Err(Error::Cancelled);
            }
            // A long run is followed by shorter frames.
            payload.shrink_to(4 * STEP);
            if kind == Kind::End {
                decoder.end()?;
                let Progress { bytes, pages, records, .. } = self.so_far;
                let (environment_id, position) = (self.environment_id, self.position);
                return Ok(Summary { environment_id, position, bytes, pages, records });
            }
        }
    }

    fn record(
        &mut self,
        payload: &[u8],
        pages: &mut Option<Pages>,
        damaged: &dyn Fn(&'static str) -> Error,
    ) -> Result<()> {
        let header = Header::decode(payload).ok_or_else(|| damaged("a record has no header"))?;
        if header.stored_bytes != (payload.len() - HEADER_SIZE) as u64 || !header.matches(payload) {
            return Err(damaged("a record does not fit its hash"));
        }
        if !follows(&header, self.environment_id, self.position) {
            return Err(damaged("a record does not follow the one before it"));
        }
        each_change(&header, payload, damaged, |number, change| {
            let count = match change {
                Change::Diff(_) => 0,
                Change::Fresh(_) => 1,
                Change::Run { pages, .. } | Change::Direct { pages } => pages,
            };
            let range = number.0..number.0.saturating_add(u64::from(count));
            let gone: Vec<u64> = self.runs.range(range).map(|(first, _)| *first).collect();
            for first in gone {
                self.runs.remove(&first);
            }
            if let Change::Direct { pages } = change {
                self.runs.insert(number.0, pages);
            }
            pages.as_mut().map_or(Ok(()), |pages| pages.apply(header.transaction, number, change))
        })?;
        self.position = Position { transaction: header.transaction, hash: header.hash };
        self.so_far.records += 1;
        Ok(())
    }

    fn pages(
        &mut self,
        payload: &[u8],
        pages: &mut Option<Pages>,
        damaged: &dyn Fn(&'static str) -> Error,
    ) -> Result<()> {
        let wrong = || damaged("a list of pages is broken");
        let field = |at: usize| u64_at(payload, at).ok_or_else(wrong);
        let (end, count) = (field(0)?, field(8)?);
        let head = usize::try_from(count).ok().and_then(|count| count.checked_mul(16)?.checked_add(16));
        let head = head.filter(|head| *head <= payload.len()).ok_or_else(wrong)?;
        let mut rest = &payload[head..];
        for at in (16..head).step_by(16) {
            let (first, count) = (field(at)?, field(at + 8)?);
            let length =
                usize::try_from(count).ok().and_then(|count| count.checked_mul(PAGE_SIZE)).ok_or_else(wrong)?;
            let (bytes, behind) = rest.split_at_checked(length).ok_or_else(wrong)?;
            rest = behind;
            let range_end = first.checked_add(count).filter(|range_end| *range_end <= end).ok_or_else(wrong)?;
            if first < self.cursor {
                return Err(wrong());
            }
            self.cursor = range_end;
            pages::split(first, bytes, self.environment_id, |_, _| ()).map_err(damaged)?;
            if let Some(pages) = pages {
                if !pages.may_come(first..range_end) {
                    return Err(wrong());
                }
                pages.bring(first, bytes)?;
            }
            self.so_far.pages += count;
        }
        if !rest.is_empty() || end < self.cursor {
            return Err(wrong());
        }
        self.cursor = end;
        pages.iter_mut().for_each(|pages| pages.set_cursor(end));
        Ok(())
    }

    fn run(
        &mut self,
        payload: &[u8],
        pages: &mut Option<Pages>,
        damaged: &dyn Fn(&'static str) -> Error,
    ) -> Result<()> {
        let wrong = || damaged("a run is none that a record named");
        let first = u64_at(payload, 0).ok_or_else(wrong)?;
        let bytes = &payload[8..];
        let count = self.runs.remove(&first).ok_or_else(wrong)?;
        if bytes.len() as u64 != u64::from(count) * PAGE_SIZE as u64 {
            return Err(wrong());
        }
        let mut whole = 0;
        pages::split(first, bytes, self.environment_id, |_, _| whole += 1).map_err(damaged)?;
        if whole != 1 {
            return Err(wrong());
        }
        self.so_far.pages += u64::from(count);
        pages.as_mut().map_or(Ok(()), |pages| pages.bring(first, bytes))
    }

    fn check_end(&mut self, payload: &[u8], decoder: &Decoder<'_>) -> Result<()> {
        let totals = [16, 24, 32].map(|at| u64_at(payload, at));
        let expected = [self.so_far.pages, self.so_far.records, decoder.frame_at()];
        let fits = payload.len() == END_SIZE && totals == expected.map(Some);
        if !fits || u128_at(payload, 0) != Some(self.position.hash) {
            return Err(decoder.damaged("its end is of another image"));
        }
        Ok(())
    }
}

fn follows(header: &Header, environment_id: u128, position: Position) -> bool {
    header.environment_id == environment_id
        && header.transaction.0.checked_sub(1) == Some(position.transaction.0)
        && header.previous_hash == position.hash
}

fn each_change(
    header: &Header,
    record: &[u8],
    damaged: &dyn Fn(&'static str) -> Error,
    mut each: impl FnMut(PageNumber, Change<'_>) -> Result<()>,
) -> Result<()> {
    let raw = record::raw_pages(header, record).map_err(damaged)?;
    let mut rest = &raw[..];
    for _ in 0..header.pages {
        let (number, change) = record::next_change(&mut rest).ok_or_else(|| damaged("a record has a broken page"))?;
        each(number, change)?;
    }
    Ok(())
}

impl State {
    fn replay(
        &mut self,
        records: &mut dyn Read,
        until: Option<TransactionId>,
        progress: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Position> {
        if let Some(until) = until.filter(|until| *until < self.position.transaction) {
            return Err(Error::AfterTarget { image: self.position.transaction, until });
        }
        let mut at = 0;
        let mut record = Vec::new();
        while until.is_none_or(|until| self.position.transaction < until) {
            let damaged = |rule| Error::Damaged { at, rule };
            let Some(header) = read_record(records, &mut record, &damaged)? else { break };
            let transaction = header.transaction;
            if header.environment_id != self.environment_id {
                return Err(Error::OtherHistory { transaction });
            }
            let last = self.position.transaction;
            if transaction.0 > last.0 + 1 {
                return Err(Error::Gap { after: self.position, next: Some(transaction) });
            }
            let is_other = match transaction.cmp(&last) {
                std::cmp::Ordering::Less => false,
                std::cmp::Ordering::Equal => header.hash != self.position.hash,
                std::cmp::Ordering::Greater => header.previous_hash != self.position.hash,
            };
            if is_other {
                return Err(Error::OtherHistory { transaction });
            }
            if transaction > last {
                each_change(&header, &record, &damaged, |number, change| match change {
                    Change::Direct { .. } => Err(damaged("a record names a value that it does not contain")),
                    change => self.pages.apply(transaction, number, change),
                })?;
                self.position = Position { transaction, hash: header.hash };
                self.so_far.records += 1;
                self.so_far.transaction = transaction;
            }
            at += record.len() as u64;
            self.so_far.bytes += record.len() as u64;
            if !progress(self.so_far) {
                return Err(Error::Cancelled);
            }
        }
        Ok(self.position)
    }
}

/// Reads a record of a stream; `None` at its end.
fn read_record(
    from: &mut dyn Read,
    record: &mut Vec<u8>,
    damaged: &dyn Fn(&'static str) -> Error,
) -> Result<Option<Header>> {
    record.clear();
    record.resize(HEADER_SIZE, 0);
    match format::read_full(from, record)? {
        0 => return Ok(None),
        HEADER_SIZE => {}
        _ => return Err(damaged("it is cut within a record")),
    }
    let header = Header::decode(record).ok_or_else(|| damaged("a record has no header"))?;
    let mut left = header.stored_bytes;
    while left > 0 {
        let length = left.min(STEP as u64) as usize;
        let start = record.len();
        record.resize(start + length, 0);
        if format::read_full(from, &mut record[start..])? < length {
            return Err(damaged("it is cut within a record"));
        }
        left -= length as u64;
    }
    if header.matches(record) { Ok(Some(header)) } else { Err(damaged("a record does not fit its hash")) }
}
