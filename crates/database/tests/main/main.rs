//! The databases of a node through the public interface of the crate.

mod concurrent;
mod databases;
mod failing_fields;
mod index_history;
mod index_names;
mod indexes;
mod lifecycle;
mod queries;
