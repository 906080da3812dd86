//! How bench/micro measures: CPU time of the calling thread, rounds in turn, lines that bench/run reads.
pub mod allocations;
pub mod clock;
pub mod random;
pub mod round;
