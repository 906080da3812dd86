//! Checkpoints: committed pages go to the data file, so that the journal can be reused, and recovery brings back what had not.

pub(crate) mod flush;
pub(crate) mod header;
pub(crate) mod intent;
pub(crate) mod pacing;
pub(crate) mod recovery;
