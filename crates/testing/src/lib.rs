//! What tests share. Nothing but tests may depend on it.
//!
//! For the checks of the tree itself (`tests/tidy.rs`): [`tree`] has the files of the repository, [`source`] tells code
//! from comments and strings, [`manifest`] reads what crates depend on, [`routes`] the table of routes of the server.

#![forbid(unsafe_code)]

pub mod manifest;
pub mod routes;
pub mod source;
pub mod tree;
