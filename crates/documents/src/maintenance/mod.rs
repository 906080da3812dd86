//! Work on a whole store: checking every rule of its format, and compacting it.

pub(crate) mod compact;
pub(crate) mod verify;
