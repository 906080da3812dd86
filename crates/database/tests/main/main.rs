//! The databases of a node through the public interface of the crate.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helper functions too")]

mod archive;
mod backup_chains;
mod backup_places;
mod backups;
mod change_feed;
mod compaction;
mod concurrent;
mod databases;
mod failing_fields;
mod index_history;
mod index_names;
mod indexes;
mod lifecycle;
mod queries;
mod restores;
mod smuggler;
mod subscriptions;
