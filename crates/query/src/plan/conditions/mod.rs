//! Conditions on the fields of an index: what they ask for, as values, as terms and as text.

pub(super) mod condition;
pub(crate) mod lucene;
pub(super) mod path;
pub(crate) mod search_text;
pub(super) mod term_value;
pub(crate) mod text;
