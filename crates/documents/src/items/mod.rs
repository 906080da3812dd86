//! Items of any kind: the table of kinds, the record of an item, the trees that it is found by, and storing and removing one.

pub(crate) mod change;
pub(crate) mod collections;
pub(crate) mod found;
pub(crate) mod item;
pub(crate) mod kinds;
pub(crate) mod record;
pub(crate) mod schema;
