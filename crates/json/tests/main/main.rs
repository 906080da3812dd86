//! JSON text through the public interface of the crate: what the minifier makes of it, and what that costs.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helper functions too")]

mod minify;
mod speed;
