//! Queries: their language, RQL, and in time the indexes that answer them.
//!
//! What is there so far is the front end of the language, [`rql`]: text in, syntax tree or error out; and [`plan`], which knows
//! the queries that need no index. Nothing here knows of HTTP or users.
#![forbid(unsafe_code)]

pub mod limits;
pub mod plan;
pub mod rql;
