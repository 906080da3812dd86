//! One run of an archive: what is new in the journal becomes segments in all places. And the beginning of a history: a base.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use documents::Date;
use json::Value;
use storage::archive::Reader;
use storage::{Position, TransactionId, image};

use super::super::configuration::BackupTask;
use super::super::file::CompressedFile;
use super::super::spool::{PARTIAL, Spool};
use super::super::survey::files_of;
use super::super::{Destination, IsEnded};
use super::host::Host;
use super::names::{ArchiveFile, HistoryName, last_part};
use super::segment::{Head, Mark};
use super::state::{ArchiveState, places_of};
use super::timeline::History;
use crate::clock::{Clock, later};
use crate::limits::{ARCHIVE_CLOCK_BACK_MAX, SEGMENT_SIZE_MAX};
use crate::{Database, Error, Result};

/// One run.
pub(super) struct Work<'a> {
    pub node: &'a dyn Host,
    pub database: Arc<Database>,
    pub task: &'a BackupTask,
    pub clock: &'a dyn Clock,
    /// Whether no run came before it since the node was opened.
    pub is_first: bool,
    /// Whether the node ends.
    pub is_ended: &'a IsEnded,
}

/// A snapshot that a history can be restored from.
pub(crate) struct Base<'a> {
    /// The state that it has.
    pub position: Position,
    /// It was the last one no later than this.
    pub time: Date,
    pub folder: &'a str,
    pub file: &'a str,
}

impl Work<'_> {
    /// Archives all that is committed now; gives the last transaction of it. `None`: there is no history, and a snapshot is being made or
    /// was asked for.
    ///
    /// * `marks`: that were noted so far, rising.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`], [`Error::Io`], [`Error::Canceled`], or the journal cannot be read. What is in all places stays archived.
    pub fn run(&self, mut marks: Vec<Mark>) -> Result<Option<TransactionId>> {
        let places = places_of(&self.task.configuration);
        let name = self.database.name();
        let state = self.node.archive_state(name, self.task.id)?.filter(|state| state.places == places);
        let Some(mut state) = state else { return self.ask_for_base() };
        let now = self.clock.now();
        if later(now, ARCHIVE_CLOCK_BACK_MAX) < state.time {
            let (database, task, archived) = (self.database.name(), &self.task.name, state.time);
            tracing::warn!(database, task, %archived, %now, "the clock went back; a snapshot begins a new archive");
            self.node.end_archive(name, &state)?;
            return self.ask_for_base();
        }
        let environment = self.database.documents().environment();
        let mut reader = match environment.archive(state.position) {
            Ok(reader) => reader,
            Err(error) => return self.lost(&state, error),
        };
        let last = environment.last_transaction();
        marks.retain(|mark| mark.transaction > state.position.transaction);
        // Those that were noted before the clock went back were committed by now, too.
        marks.iter_mut().for_each(|mark| mark.time = mark.time.min(now));
        if marks.last().is_none_or(|mark| mark.transaction < last) {
            marks.push(Mark { transaction: last, time: self.clock.now() });
        }
        let places = open_places(self.node, self.task, self.is_ended)?;
        if self.is_first {
            remove_rests(&state, &places)?;
        }
        while state.position.transaction < last {
            match self.archive_segment(&mut reader, &marks, &mut state, &places) {
                Err(Error::Image(error)) => return self.lost(&state, error),
                archived => archived?,
            }
        }
        Ok(Some(last))
    }

    fn archive_segment(
        &self,
        reader: &mut Reader<'_>,
        marks: &[Mark],
        state: &mut ArchiveState,
        places: &[Arc<dyn Destination>],
    ) -> Result<()> {
        let after = state.position.transaction;
        let of_segment = marks.iter().filter(|mark| mark.transaction > after).copied();
        let (database, record) = (self.database.name().to_owned(), self.node.archived_record(self.database.name())?);
        let head = Head { database, after, marks: of_segment.collect(), record: Some(record) };
        let Some(last) = head.marks.last() else { return Ok(()) };
        let spool = Spool::in_folder(self.node.spool_folder())?;
        let failed = |error| Error::io("write", spool.path(), error);
        let mut out = CompressedFile::new(spool.create()?, spool.path(), &self.task.configuration)?;
        head.write(&mut out).map_err(failed)?;
        let mut size = 0;
        while size < SEGMENT_SIZE_MAX && reader.position().transaction < last.transaction {
            let Some(record) = reader.next_record()? else { break };
            out.write_all(record.bytes).map_err(failed)?;
            size += record.bytes.len() as u64;
            if (self.is_ended)() {
                return Err(Error::Canceled);
            }
        }
        let mut file = out.close()?;
        let position = reader.position();
        // The first time at which all of it was committed.
        let reached = head.marks.iter().find(|mark| mark.transaction >= position.transaction).unwrap_or(last);
        let until = position.transaction;
        let is_encrypted = self.task.configuration.key.is_some();
        let path = ArchiveFile::Segment { after, until, time: reached.time, is_encrypted }.path();
        put(places, &format!("{}/{path}", state.folder), &mut file, &**self.is_ended)?;
        (state.position, state.time) = (position, reached.time);
        self.node.advance_archive(self.database.name(), state)?;
        reader.archived(position);
        Ok(())
    }

    /// The journal behind the position is not there any more, or the database was restored or rewritten: a new history begins.
    fn lost(&self, state: &ArchiveState, error: image::Error) -> Result<Option<TransactionId>> {
        if !matches!(error, image::Error::Gap { .. } | image::Error::OtherHistory { .. }) {
            return Err(error.into());
        }
        tracing::warn!(
            database = self.database.name(),
            task = self.task.name,
            %error,
            "the archive cannot go on where it was; a snapshot begins a new one"
        );
        self.node.end_archive(self.database.name(), state)?;
        self.ask_for_base()
    }

    fn ask_for_base(&self) -> Result<Option<TransactionId>> {
        self.node.ask_for_snapshot(self.database.name(), self.task.id)?;
        Ok(None)
    }
}

/// Notes a snapshot in all places. The first one begins a history.
///
/// # Errors
///
/// [`Error::Destination`], [`Error::Io`], or storage fails.
pub(crate) fn note_base(
    node: &dyn Host,
    database: &str,
    task: &BackupTask,
    base: &Base<'_>,
    is_ended: &IsEnded,
) -> Result<()> {
    let places = places_of(&task.configuration);
    let known = node.archive_state(database, task.id)?.filter(|state| state.places == places);
    let is_first = known.is_none();
    let state = known.unwrap_or_else(|| {
        let id = u128::from_le_bytes(documents::id::random_bytes()) as u64;
        let node_tag = node.node_tag().to_owned();
        let history = HistoryName { time: base.time, database: database.to_owned(), node_tag, id };
        let (position, time) = (base.position, base.time);
        ArchiveState { task_id: task.id, folder: history.folder(), places, position, time }
    });
    let mut contents = Value::object();
    contents.set("Folder", base.folder.into());
    contents.set("File", base.file.into());
    let spool = Spool::in_folder(node.spool_folder())?;
    let mut file = spool.create()?;
    file.write_all(&contents.to_vec()).map_err(|error| Error::io("write", spool.path(), error))?;
    let path = ArchiveFile::Base { transaction: base.position.transaction, time: base.time }.path();
    put(&open_places(node, task, is_ended)?, &format!("{}/{path}", state.folder), &mut file, &**is_ended)?;
    if is_first {
        return node.begin_archive(database, &state);
    }
    node.resume_archive(database);
    Ok(())
}

/// Removes segments that a crash cut off, before this node writes another one.
fn remove_rests(state: &ArchiveState, places: &[Arc<dyn Destination>]) -> Result<()> {
    for place in places {
        let Some(history) = History::read(&**place, &state.folder)? else { continue };
        for file in files_of(&**place, history.last_days())? {
            let whole = last_part(&file.path).strip_suffix(PARTIAL);
            if matches!(whole.and_then(ArchiveFile::parse), Some(ArchiveFile::Segment { .. })) {
                place.remove(&file.path)?;
            }
        }
    }
    Ok(())
}

fn open_places(node: &dyn Host, task: &BackupTask, is_ended: &IsEnded) -> Result<Vec<Arc<dyn Destination>>> {
    let open = |settings| Ok(node.open_place(settings)?.ending_when(is_ended.clone()));
    task.configuration.destinations.iter().map(open).collect()
}

fn put(places: &[Arc<dyn Destination>], path: &str, file: &mut File, is_ended: &dyn Fn() -> bool) -> Result<()> {
    let size = file.metadata().map_err(|error| Error::io("read", path.as_ref(), error))?.len();
    let mut sent = |_| if is_ended() { Err(Error::Canceled) } else { Ok(()) };
    places.iter().try_for_each(|place| place.put(path, file, size, &mut sent))
}
