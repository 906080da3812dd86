//! Queries: their language, RQL, and in time the indexes that answer them.
//!
//! What is there so far is the front end of the language, [`rql`]: text in, syntax tree or error out. Plans, indexes and
//! execution are built on the tree; nothing here knows of HTTP or users.
#![forbid(unsafe_code)]

pub mod limits;
pub mod rql;
