//! Removing what cannot be restored any more: what lies before the first snapshot of a history that is still there, and what is not whole.

use storage::TransactionId;

use super::super::destination::list_wanted;
use super::super::names::parse_folder;
use super::super::spool::PARTIAL;
use super::super::{Destination, IsEnded};
use super::names::{ArchiveFile, HistoryName};
use super::timeline::{Timeline, base_of};
use crate::{Error, Result};

/// Removes of the archives of one database and node what no snapshot precedes, since retention removed those, and what a crash cut off;
/// gives the number of files. Call it from the one thread that makes backups of the database.
///
/// * `is_ended`: asked before each removal.
/// * `current`: the folder of the history that goes on. It keeps its segments while it has no snapshot, and those that are being written.
///
/// # Errors
///
/// [`Error::Destination`], [`Error::Canceled`]; what was removed before stays removed.
pub(crate) fn prune(
    place: &dyn Destination,
    of: (&str, &str),
    current: Option<&str>,
    is_ended: &IsEnded,
) -> Result<u64> {
    let is_of = |database: &str, node_tag: &str| (database, node_tag) == of;
    // Its snapshots too.
    let is_wanted = |folder: &str| {
        HistoryName::parse(folder).is_some_and(|history| is_of(&history.database, &history.node_tag))
            || parse_folder(folder).is_some_and(|(_, database, node_tag)| is_of(database, node_tag))
    };
    let files = list_wanted(place, is_wanted)?;
    let is_there = |path: &str| files.iter().any(|file| file.path == path);
    let remove = |path: &str| if is_ended() { Err(Error::Canceled) } else { place.remove(path) };
    let mut removed = 0;
    for file in &files {
        let Some((folder, name)) = file.path.strip_suffix(PARTIAL).and_then(|path| path.rsplit_once('/')) else {
            continue;
        };
        if HistoryName::parse(folder).is_none() {
            continue;
        }
        let may_be_written = matches!(ArchiveFile::parse(name), Some(ArchiveFile::Segment { .. }));
        if !may_be_written || current != Some(folder) {
            remove(&file.path)?;
            removed += 1;
        }
    }
    for history in Timeline::of(&files).histories {
        let mut first: Option<TransactionId> = None;
        for base in &history.bases {
            if is_there(&base_of(place, base)?) {
                first = Some(first.map_or(base.transaction, |first| first.min(base.transaction)));
            } else {
                remove(&base.path)?;
                removed += 1;
            }
        }
        let is_current = current == Some(history.name.folder().as_str());
        for segment in &history.segments {
            let is_useless = first.map_or(!is_current, |first| segment.until <= first);
            if is_useless {
                remove(&segment.path)?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}
