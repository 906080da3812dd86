//! Vectors of fields, and the graph in which the nearest are found.

pub(super) mod pruning;
pub(super) mod search;
pub(super) mod vectors;
pub(super) mod verify;
pub(super) mod writer;
