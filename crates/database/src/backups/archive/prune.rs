//! Removing what cannot be restored any more: what lies before the first snapshot of a history that is still there, and what is not whole.

use std::collections::HashSet;

use storage::TransactionId;

use super::super::names::parse_folder;
use super::super::spool::PARTIAL;
use super::super::survey::{Survey, files_of, of_each};
use super::super::{Destination, IsEnded};
use super::names::{ArchiveFile, HistoryName, days_around, last_part};
use super::timeline::{BaseFile, History, base_of};
use crate::{Error, Result};

/// A text that is greater than the name of each day.
const AFTER_ALL_DAYS: &str = "~";

/// Removes of the archives of one database and node what no snapshot precedes, since retention removed those, and what a crash cut off.
/// Call it from the one thread that makes backups of the database.
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
) -> Result<()> {
    let is_of = |database: &str, node_tag: &str| (database, node_tag) == of;
    let Survey { mut backups, mut archives, .. } = Survey::of_top(place)?;
    archives.retain(|folder| HistoryName::parse(folder).is_some_and(|name| is_of(&name.database, &name.node_tag)));
    // With its snapshots.
    backups.retain(|folder| parse_folder(folder).is_some_and(|(_, database, node_tag)| is_of(database, node_tag)));
    let snapshots: HashSet<String> = files_of(place, &backups)?.into_iter().map(|file| file.path).collect();
    let remove = |paths: &[String]| {
        of_each(paths, |path| if is_ended() { Err(Error::Canceled) } else { place.remove(path) }).map(drop)
    };
    for folder in &archives {
        let Some(history) = History::read(place, folder)? else { continue };
        remove(&history.rests)?;
        let (first, useless) = first_base(place, &history, &snapshots)?;
        remove(&useless)?;
        let is_current = current == Some(folder);
        // One of the history that goes on may be being written.
        let is_rest = |path: &str| !is_current && segment_end(path.strip_suffix(PARTIAL)).is_some();
        let is_useless = |path: &str| match first {
            Some(first) => segment_end(Some(path)).is_some_and(|until| until <= first.transaction),
            None => !is_current && segment_end(Some(path)).is_some(),
        };
        let mut days = match first {
            Some(first) => history.days_until(&days_around(first.time).1),
            None if is_current => &[],
            None => history.days_until(AFTER_ALL_DAYS),
        }
        .to_vec();
        days.extend(history.last_days().iter().filter(|_| !is_current).cloned());
        days.dedup();
        for day in &days {
            let found = place.list(day)?.into_iter().map(|file| file.path);
            remove(&found.filter(|path| is_rest(path) || is_useless(path)).collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

/// The first base of a history whose snapshot is there, and the paths of the bases that are useless. A damaged one stays behind that base,
/// where nothing depends on it, and goes before it; if there is no other, it counts as the first.
fn first_base<'h>(
    place: &dyn Destination,
    history: &'h History,
    snapshots: &HashSet<String>,
) -> Result<(Option<&'h BaseFile>, Vec<String>)> {
    let (mut first, mut useless, mut damaged): (_, _, Vec<&BaseFile>) = (None, Vec::new(), Vec::new());
    for base in &history.bases {
        match base_of(place, base) {
            Ok(snapshot) if snapshots.contains(&snapshot) => first = first.or(Some(base)),
            Ok(_) => useless.push(base.path.clone()),
            Err(Error::BadBackup { rule }) => {
                tracing::warn!(rule, "a file of an archive is damaged");
                damaged.push(base);
            }
            Err(error) => return Err(error),
        }
    }
    if let Some(first) = first {
        let before = damaged.iter().filter(|base| base.transaction < first.transaction);
        useless.extend(before.map(|base| base.path.clone()));
    }
    Ok((first.or(damaged.first().copied()), useless))
}

/// The last transaction of a segment; `None`: the path is not that of one.
fn segment_end(path: Option<&str>) -> Option<TransactionId> {
    match ArchiveFile::parse(last_part(path?))? {
        ArchiveFile::Segment { until, .. } => Some(until),
        ArchiveFile::Base { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::backups::FolderDestination;

    const HISTORY: &str = "2026-11-01-02-00-00.rookery-Shop-A-archive-0000000000000001";

    fn write(place: &Path, path: &str, text: &str) {
        fs::create_dir_all(place.join(path).parent().unwrap()).unwrap();
        fs::write(place.join(path), text).unwrap();
    }

    /// A base of a day, and its snapshot if that is there.
    fn base(place: &Path, transaction: u64, day: u64, has_snapshot: bool) {
        let folder = format!("2026-11-{day:02}-02-00-00.ravendb-Shop-A-backup");
        let text = format!(r#"{{"Folder":"{folder}","File":"snapshot"}}"#);
        write(place, &format!("{HISTORY}/{transaction:016x}.2026-11-{day:02}-02-00-00-000.rookery-base"), &text);
        if has_snapshot {
            write(place, &format!("{folder}/snapshot"), "x");
        }
    }

    fn segment(after: u64, until: u64, day: u64) -> String {
        format!("{HISTORY}/2026-11-{day:02}/{after:016x}-{until:016x}.2026-11-{day:02}-12-00-00-000.rookery-journal")
    }

    fn files(place: &Path) -> Vec<String> {
        let mut files: Vec<String> =
            FolderDestination::new(place).list("").unwrap().into_iter().map(|file| file.path).collect();
        files.retain(|path| path.starts_with(HISTORY));
        files.sort();
        files
    }

    fn run(place: &Path, current: Option<&str>, removals_max: usize) -> Result<()> {
        let count = AtomicUsize::new(0);
        let is_ended: IsEnded = Arc::new(move || count.fetch_add(1, Ordering::Relaxed) >= removals_max);
        prune(&FolderDestination::new(place), ("Shop", "A"), current, &is_ended)
    }

    /// The archive of twenty days with a base a day. The snapshots of the last five are there.
    fn twenty_days(place: &Path) -> Vec<String> {
        for day in 1..=20 {
            base(place, day * 10, day, day > 15);
            write(place, &segment(day * 10, day * 10 + 10, day), "x");
        }
        // One that a crash cut off, and one of the day before, which a clock that went back over midnight has made.
        write(place, &format!("{}.partial", segment(210, 211, 20)), "x");
        write(place, &format!("{}.partial", segment(210, 212, 19)), "x");
        write(place, &format!("{HISTORY}/00000000000000d2.2026-11-21-02-00-00-000.rookery-base.partial"), "x");
        let mut kept: Vec<String> = (16..=20).map(|day| segment(day * 10, day * 10 + 10, day)).collect();
        kept.extend(
            (16..=20).map(|day| format!("{HISTORY}/{:016x}.2026-11-{day:02}-02-00-00-000.rookery-base", day * 10)),
        );
        kept.sort();
        kept
    }

    #[test]
    fn what_lies_before_the_first_snapshot_goes_however_often_it_is_ended_in_between() {
        for removals_max in [0, 1, 7, 14, 15, 16, 28, 33] {
            let place = tempfile::tempdir().unwrap();
            let kept = twenty_days(place.path());
            let ended = run(place.path(), None, removals_max);
            assert!(ended.is_ok() || matches!(ended, Err(Error::Canceled)), "{ended:?}");
            assert_eq!(ended.is_ok(), removals_max == 33, "15 bases, 15 segments and 3 rests");
            run(place.path(), None, usize::MAX).unwrap();
            assert_eq!(files(place.path()), kept, "{removals_max}");
            // The days go with what was in them.
            assert!(!place.path().join(HISTORY).join("2026-11-15").exists());
        }
    }

    #[test]
    fn the_history_that_goes_on_keeps_what_is_being_written() {
        let place = tempfile::tempdir().unwrap();
        let mut kept = twenty_days(place.path());
        kept.extend([segment(210, 211, 20), segment(210, 212, 19)].map(|path| format!("{path}.partial")));
        kept.sort();
        run(place.path(), Some(HISTORY), usize::MAX).unwrap();
        assert_eq!(files(place.path()), kept);
    }

    #[test]
    fn without_a_snapshot_a_history_goes_unless_it_goes_on() {
        let place = tempfile::tempdir().unwrap();
        for day in 1..=3 {
            write(place.path(), &segment(day, day + 1, day), "x");
        }
        run(place.path(), Some(HISTORY), usize::MAX).unwrap();
        assert_eq!(files(place.path()).len(), 3);
        run(place.path(), None, usize::MAX).unwrap();
        assert_eq!(
            fs::read_dir(place.path()).unwrap().count(),
            0,
            "the folder goes with its last day, and the place stays"
        );
    }

    #[test]
    fn a_damaged_base_keeps_what_follows_it_until_another_one_precedes_its_place() {
        let place = tempfile::tempdir().unwrap();
        let damaged = format!("{HISTORY}/000000000000000a.2026-11-01-02-00-00-000.rookery-base");
        write(place.path(), &damaged, "no JSON");
        for day in 1..=3 {
            write(place.path(), &segment(day * 10, day * 10 + 10, day), "x");
        }
        run(place.path(), None, usize::MAX).unwrap();
        assert_eq!(files(place.path()).len(), 4);
        base(place.path(), 20, 2, true);
        run(place.path(), None, usize::MAX).unwrap();
        assert_eq!(files(place.path()).len(), 3, "the base of the second day, and two segments");
        assert!(!place.path().join(damaged).exists());
    }

    #[test]
    fn a_segment_of_the_next_day_that_a_clock_left_behind_goes_too() {
        let place = tempfile::tempdir().unwrap();
        base(place.path(), 30, 3, true);
        // Written with a clock that was ahead by a day.
        write(place.path(), &segment(10, 20, 4), "x");
        write(place.path(), &segment(30, 40, 4), "x");
        run(place.path(), None, usize::MAX).unwrap();
        assert_eq!(files(place.path()).len(), 2);
    }
}
