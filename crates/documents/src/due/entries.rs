//! The tree of due times, in the environment of the documents.
//!
//! ```text
//! due:  kind (1 byte), ticks (8 bytes, big-endian), key of the item  ->  nothing
//! ```
//!
//! Invariant: it has an entry for each due time in the stored metadata of a document or of a compare-exchange value, and no other.

use storage::{Tree, WriteTransaction};

use super::times::{DueKind, DueTimes};
use crate::{Date, Error, Result};

/// The name of the tree.
pub(crate) const DUE: &[u8] = b"due";

const KEY_AT: usize = 9;

/// The key of an entry.
pub(crate) fn entry(kind: DueKind, time: Date, key: &[u8]) -> Vec<u8> {
    let mut entry = Vec::with_capacity(KEY_AT + key.len());
    entry.push(kind.number());
    entry.extend_from_slice(&time.ticks().to_be_bytes());
    entry.extend_from_slice(key);
    entry
}

/// The parts of an entry: kind, time, and the key of the item.
pub(super) fn parts(entry: &[u8]) -> Result<(DueKind, Date, &[u8])> {
    let corrupt = Error::Corrupt { rule: "an entry of the tree of due times has kind, time and key" };
    let Some((&[kind, ref ticks @ ..], key)) = entry.split_first_chunk::<KEY_AT>() else { return Err(corrupt) };
    let kind = DueKind::from_number(kind).ok_or(corrupt)?;
    Ok((kind, Date::from_ticks(u64::from_be_bytes(*ticks)), key))
}

/// Replaces the entries of an item.
pub(crate) fn change_entries(
    tree: Tree,
    tx: &mut WriteTransaction<'_>,
    key: &[u8],
    before: DueTimes,
    after: DueTimes,
) -> Result<()> {
    for kind in DueKind::ALL {
        let (before, after) = (before.get(kind), after.get(kind));
        if before == after {
            continue;
        }
        if let Some(time) = before {
            tree.delete(tx, &entry(kind, time, key))?;
        }
        if let Some(time) = after {
            tree.put(tx, &entry(kind, time, key), &[])?;
        }
    }
    Ok(())
}
