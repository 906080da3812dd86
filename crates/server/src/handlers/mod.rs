//! The handlers, one file per resource: take the parameters apart, make one call, answer.

pub(crate) mod bulk_docs;
pub(crate) mod bulk_insert;
pub(crate) mod changes;
pub(crate) mod collections;
pub(crate) mod configuration;
pub(crate) mod databases;
pub(crate) mod diagnostics;
pub(crate) mod docs;
pub(crate) mod health;
pub(crate) mod hilo;
pub(crate) mod identities;
pub(crate) mod indexes;
pub(crate) mod live;
pub(crate) mod multi_get;
pub(crate) mod node_info;
pub(crate) mod operations;
pub(crate) mod pages;
pub(crate) mod patches;
pub(crate) mod queries;
pub(crate) mod sample_data;
pub(crate) mod statistics;
pub(crate) mod streams;
pub(crate) mod studio;
pub(crate) mod topology;
