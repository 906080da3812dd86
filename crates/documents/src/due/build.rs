//! Builds the tree of due times for documents that a version without it stored.
//!
//! `Schema::open` has raised the version and noted in `state` how far the tree is built, in one transaction, so that a program of the
//! former version refuses the folder from then on. A crash in between is followed by the rest at the next opening.

use storage::Location;

use super::entries::entry;
use super::times::{DueKind, DueTimes};
use crate::items::record::Head;
use crate::items::schema::{DUE_BUILT, u64_from};
use crate::{DocumentStore, Error, Result};

/// Entries that one transaction adds at most, but for those of its last document.
const ENTRIES_AT_ONCE: usize = 4096;

impl DocumentStore {
    /// Builds what is left to be built of the tree.
    pub(crate) fn build_due(&self) -> Result<()> {
        let (schema, environment) = (&self.schema, self.environment());
        let Some(built) = schema.state.get(&environment.read(), DUE_BUILT)?.map(u64_from) else { return Ok(()) };
        let mut built = built.ok_or(Error::Corrupt { rule: "an etag tells how far the tree of due times is built" })?;
        let reader = environment.read();
        let mut cursor = schema.documents().by_etag.cursor(&reader);
        let mut found = cursor.seek(built.saturating_add(1))?;
        loop {
            let mut entries = Vec::new();
            while let Some((etag, location)) = found.filter(|_| entries.len() < ENTRIES_AT_ONCE) {
                let record = schema.records.get(&reader, Location(location))?;
                let head = Head::decode(record)?;
                let times = DueTimes::of(record.get(head.metadata_at()..head.body_at()).unwrap_or_default());
                if times != DueTimes::NONE {
                    let key = head.kind.key(crate::items::record::id(&head, record)?);
                    let of = |kind| Some(entry(kind, times.get(kind)?, &key));
                    entries.extend(DueKind::ALL.into_iter().filter_map(of));
                }
                built = etag;
                found = cursor.next()?;
            }
            let is_last = found.is_none();
            environment.write(|tx| {
                entries.iter().try_for_each(|entry| schema.due.put(tx, entry, &[]))?;
                match is_last {
                    true => schema.state.delete(tx, DUE_BUILT).map(drop),
                    false => schema.state.put(tx, DUE_BUILT, &built.to_be_bytes()),
                }
            })?;
            if is_last {
                return Ok(());
            }
        }
    }
}
