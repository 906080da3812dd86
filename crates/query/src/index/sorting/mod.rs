//! Sorting by a field: columns with a number for each entry, and the orders that they give.

pub(super) mod column;
pub(super) mod columns;
pub(super) mod sort;
