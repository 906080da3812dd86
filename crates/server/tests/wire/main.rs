//! Wire tests: a whole server in this process on a free port, requests and answers as text. One file per resource.

mod bulk_docs;
mod bulk_insert;
mod changes;
mod collections;
mod compression;
mod configuration;
mod databases;
mod docs;
mod fixed_limits;
mod hilo;
mod http;
mod identities;
mod indexes;
mod limits;
mod load;
mod multi_get;
mod operations;
mod pages;
mod parameters;
mod queries;
mod routes;
mod sample_data;
mod statistics;
mod streams;
mod support;
mod topology;
