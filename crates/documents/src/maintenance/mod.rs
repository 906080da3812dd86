//! Work on a whole store: checking every rule of its format, compacting it, and making it another one.

pub(crate) mod compact;
pub(crate) mod renewal;
pub(crate) mod verify;
