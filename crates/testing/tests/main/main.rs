//! Checks of the repository itself: how the tree is laid out, and that `scripts/test` always ends with a total.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helper functions too")]

mod cycles;
mod face;
mod references;
mod scripts;
mod tidy;
mod wording;
mod workspaces;
