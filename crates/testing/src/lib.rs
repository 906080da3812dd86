//! What tests share. Only tests depend on this crate, and it depends on none of ours, so that the tests of every crate
//! can use it.
//!
//! Randomised tests: [`random`] has the generator, [`seeds`] which seeds run and how one is repeated, [`effort`] the
//! sizes of the quick and of the nightly set (`SLOW=1`). [`process`] runs a test in a process of its own. [`linearizable`] decides whether
//! what several clients saw can have happened.
//!
//! Tests with several threads or a server: [`wait`] looks until the work of others is done.
//!
//! Checks of the tree itself (`tests/main/tidy.rs` and beside it): [`tree`] has the files of the repository, [`source`] tells code
//! from comments and strings, [`manifest`] reads what crates depend on, [`imports`] which files of a crate import which,
//! [`routes`] the table of routes of the server.

#![forbid(unsafe_code)]

pub mod effort;
pub mod imports;
pub mod linearizable;
pub mod manifest;
pub mod process;
pub mod random;
pub mod routes;
pub mod seeds;
pub mod source;
pub mod tree;
pub mod wait;
