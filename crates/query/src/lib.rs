//! Queries: RQL, indexes, and how the two meet.
//!
//! * [`index`]: the storage part of the index engine: terms to entries, entries to documents.
#![forbid(unsafe_code)]

pub mod index;
