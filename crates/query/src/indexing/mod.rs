//! Keeping an index behind its documents: what came since it looked last becomes entries, one batch at a time.
//!
//! [`AutomaticMap::step`] is one batch. There are no threads and no clock here: who calls decides when, and how much at once.

mod extract;
mod limits;
mod map;
pub(crate) mod terms;

pub use limits::{BATCH_BYTES, BATCH_DOCUMENTS};
pub use map::{AutomaticMap, Failure, Step, is_behind};
