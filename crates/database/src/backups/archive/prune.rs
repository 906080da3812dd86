//! Removing what cannot be restored any more: what lies before the first snapshot of a history that is still there, and what is not whole.

use std::collections::HashSet;
use std::time::Duration;

use super::super::names::parse_folder;
use super::super::spool::PARTIAL;
use super::super::survey::{Survey, files_of};
use super::super::{Destination, IsEnded};
use super::names::{ArchiveFile, HistoryName, day, last_part};
use super::timeline::{BaseFile, History, base_of};
use crate::clock::later;
use crate::{Error, Result};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

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
    let Survey { mut backups, mut archives, .. } = Survey::of_top(place)?;
    archives.retain(|folder| HistoryName::parse(folder).is_some_and(|name| is_of(&name.database, &name.node_tag)));
    // With its snapshots.
    backups.retain(|folder| parse_folder(folder).is_some_and(|(_, database, node_tag)| is_of(database, node_tag)));
    let snapshots: HashSet<String> = files_of(place, &backups)?.into_iter().map(|file| file.path).collect();
    let mut removed = 0;
    let mut remove = |path: &str| {
        if is_ended() {
            return Err(Error::Canceled);
        }
        removed += 1;
        place.remove(path)
    };
    for folder in &archives {
        let Some(history) = History::read(place, folder)? else { continue };
        history.rests.iter().try_for_each(|path| remove(path))?;
        let mut first: Option<&BaseFile> = None;
        for base in &history.bases {
            match base_of(place, base) {
                Ok(snapshot) if !snapshots.contains(&snapshot) => remove(&base.path)?,
                // What it names may be there.
                Err(Error::BadBackup { rule }) => {
                    tracing::warn!(database = of.0, path = base.path, rule, "a file of an archive is damaged");
                    first = first.or(Some(base));
                }
                named => _ = named.map(|_| first = first.or(Some(base)))?,
            }
        }
        let is_current = current == Some(folder);
        let is_useless = |until| first.map_or(!is_current, |first| until <= first.transaction);
        // A clock that was set back a bit may have been behind midnight.
        let last = first.map(|first| day(later(first.time, DAY)));
        for path in &history.days {
            let may_be_useless = last.as_deref().map_or(!is_current, |last| last_part(path) <= last);
            // A crash cuts off the last one.
            let may_have_rests = !is_current && history.days.last() == Some(path);
            if !may_be_useless && !may_have_rests {
                continue;
            }
            for file in place.list(path)? {
                let whole = file.path.strip_suffix(PARTIAL);
                let name = last_part(whole.unwrap_or(&file.path));
                let Some(ArchiveFile::Segment { until, .. }) = ArchiveFile::parse(name) else { continue };
                // One of the history that goes on may be being written.
                let goes = if whole.is_some() { !is_current } else { is_useless(until) };
                if goes {
                    remove(&file.path)?;
                }
            }
        }
    }
    Ok(removed)
}
