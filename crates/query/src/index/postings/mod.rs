//! Posting lists: the rising ids of all entries with a term, how they are stored, changed, read and combined.

pub(super) mod combine;
pub(super) mod entry_ids;
pub(super) mod entry_set;
pub(super) mod list;
pub(super) mod list_cursor;
pub(super) mod list_writer;
pub(super) mod posting_changes;
pub(super) mod range;
pub(super) mod runs;
