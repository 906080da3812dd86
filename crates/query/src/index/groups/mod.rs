//! What a reduce works on: groups of mapped values, and the documents that its results are stored as.

pub(super) mod group;
pub(super) mod outputs;
