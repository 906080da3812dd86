//! Removing what nobody can restore any more: what lies before the first snapshot of a history that is still there.

use storage::TransactionId;

use super::super::Destination;
use super::timeline::{Timeline, base_of};
use crate::Result;

/// Removes of the archives of one database and node what no snapshot precedes, since retention removed those; gives the number of files.
///
/// * `current`: the folder of the history that goes on. It stays as it is while it has no snapshot.
///
/// # Errors
///
/// [`Error::Destination`](crate::Error::Destination); what was removed before stays removed.
pub(crate) fn prune(place: &dyn Destination, of: (&str, &str), current: Option<&str>) -> Result<u64> {
    let files = place.list("")?;
    let is_there = |path: &str| files.iter().any(|file| file.path == path);
    let mut removed = 0;
    for history in Timeline::of(&files).histories {
        if (history.name.database.as_str(), history.name.node_tag.as_str()) != of {
            continue;
        }
        let mut first: Option<TransactionId> = None;
        for base in &history.bases {
            if is_there(&base_of(place, base)?) {
                first = Some(first.map_or(base.transaction, |first| first.min(base.transaction)));
            } else {
                place.remove(&base.path)?;
                removed += 1;
            }
        }
        let is_current = current == Some(history.name.folder().as_str());
        for segment in &history.segments {
            let is_useless = first.map_or(!is_current, |first| segment.until <= first);
            if is_useless {
                place.remove(&segment.path)?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}
