//! The store of documents through the public interface of the crate: its rules, a model, crashes, a replayed log,
//! what reviews found, and its speed.
//!
//! `document_model` has the model that `model` and `crash` compare the store with.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helper functions too")]

mod attachments;
mod compare_exchange;
mod constraints;
mod counters;
mod crash;
mod document_model;
mod model;
mod replay;
mod reviewed;
mod revision_model;
mod revisions;
mod rules;
mod speed;
