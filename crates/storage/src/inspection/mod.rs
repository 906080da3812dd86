//! What an environment tells about itself: checks, dumps of its files, statistics, counters of searches.

pub mod counters;
pub mod inspect;
pub(crate) mod statistics;
pub(crate) mod structures;
pub(crate) mod verify;
