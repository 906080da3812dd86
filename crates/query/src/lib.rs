//! Queries: the language RQL, and the indexes that answer them (inverted indexes: terms with posting lists of entries).
//!
//! * [`rql`]: text in, syntax tree or error out.
//! * [`analysis`]: texts to words.
//! * [`mapping`]: maps and reduces of index definitions, from their text to values.
//! * [`functions`]: the table of the functions of RQL: how each is called, documented and planned.
//! * [`plan`]: the query planner: from a syntax tree to the work of executing it.
//! * [`definition`]: what an index is: its sources, fields and their analysis.
//! * [`index`]: how an index is stored: terms to entries, entries to documents.
//! * [`indexing`]: keeps an index up to date with its documents.
//! * [`execute`]: runs a planned query on one snapshot of an index.
//! * [`sorters`]: why a custom sorter is refused.
//! * [`spelling`]: the name that a misspelt one may mean.
//!
//! Nothing here knows of HTTP or users.
//!
//! A part of the database Rookery. Programs use it through the crate `rookerydb`, which is the public face; this crate carries no promise
//! of stability.
#![forbid(unsafe_code)]

pub mod analysis;
mod csharp;
pub mod definition;
pub mod execute;
pub mod functions;
pub mod index;
pub mod indexing;
pub mod limits;
pub mod mapping;
pub mod plan;
pub mod rql;
pub mod sorters;
pub mod spatial;
pub mod spelling;
mod varint;
pub mod vector;
