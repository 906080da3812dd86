//! Scripts through the public interface of the crate: what they give, that they end, and that no text breaks the
//! engine.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helper functions too")]

mod any_text;
mod bounded;
mod run;
