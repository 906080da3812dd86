//! The storage engine through its public interface: models, crashes, damage, races, and what reviews found.
//!
//! `cargo test --package rookery-storage --test main -- crash::` runs one module. `model_support` has the scenario that
//! most tests run and its model, `contents_support` those of contents, `crash_support` the histories and the oracle of crash
//! tests, `image_support` an environment whose states are known by transaction; `hooked_io` and `flipped_io` are disks that do what
//! a test needs. What plants bugs is a binary of its own (`tests/planted/main.rs`).
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helper functions too")]

mod archives;
mod async_faults;
mod async_limits;
mod async_writes;
mod contents;
mod contents_support;
mod crash;
mod crash_support;
mod damage;
mod descriptors;
mod flipped_io;
mod hooked_io;
mod image_support;
mod images;
mod in_flight;
mod lazy;
mod model;
mod model_support;
mod pacing;
mod races;
mod records;
mod replacing;
mod reviewed;
mod swallowed;
mod threads;
mod together;
mod twice;
mod unreadable;
