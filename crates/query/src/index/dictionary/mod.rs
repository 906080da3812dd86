//! The term dictionary: terms of fields as keys that sort, and how words stand in entries.

pub(super) mod key;
pub(super) mod number;
pub(super) mod term;
pub(super) mod term_entries;
pub(super) mod terms;
pub(super) mod words;
