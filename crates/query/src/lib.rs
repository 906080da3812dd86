//! Queries: their language, RQL, and the indexes that will answer them.
//!
//! * [`rql`]: text in, syntax tree or error out.
//! * [`analysis`]: texts to words.
//! * [`mapping`]: maps and reduces of index definitions, from their text to values.
//! * [`plan`]: what a query comes to; so far those that need no index.
//! * [`index`]: how an index is stored: terms to entries, entries to documents. What fills it and asks it is to come
//!   (`docs/design/queries.md`).
//!
//! Nothing here knows of HTTP or users.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod definition;
pub mod execute;
pub mod index;
pub mod indexing;
pub mod limits;
pub mod mapping;
pub mod plan;
pub mod rql;
pub mod spatial;
pub mod vector;
