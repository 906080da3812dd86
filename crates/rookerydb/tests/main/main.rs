//! The public interface, as a program uses it that knows nothing of the crates below.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helper functions too")]

mod beside;
mod documents;
mod queries;
mod stores;
