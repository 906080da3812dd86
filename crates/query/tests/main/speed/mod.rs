//! What indexes, maps, scripts and parsing cost.
//!
//! `SLOW=1 cargo test --release -p rookery-query --test main -- speed:: --nocapture --test-threads=1` prints the
//! figures. Otherwise each runs on tiny input, so that it does not rot.

mod index;
mod mapping;
mod parsing;
mod script;
