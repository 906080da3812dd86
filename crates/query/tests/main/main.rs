//! Queries and indexes through the public interface of the crate: cases in text files, models, crashes, any text, and
//! what things cost.
//!
//! `cargo test -p rookery-query --test main -- rql::` runs one module. `index_model` is a model of an index,
//! `plain_query` evaluates conditions on documents one by one, `simulated` has documents and indexes on a simulated
//! disk, `fixture_files` compares the cases in text files (`tests/rql/`, `tests/linq/`, `tests/linq_expressions/`).
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helper functions too")]

mod automatic;
mod batches;
mod crash;
mod documentation;
mod facets;
mod fixture_files;
mod grouped;
mod index_model;
mod linq;
mod linq_any_text;
mod looked_at;
mod model;
mod plain_query;
mod references;
mod round_trip;
mod rql;
mod simulated;
mod sorting;
mod spatial;
mod speed;
mod text_search;
mod vectors;
