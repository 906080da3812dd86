//! From a syntax tree to what is to be done.
//!
//! What is there so far is what collections and ids answer without an index, [`CollectionQuery`]. A query that needs an index, or
//! a part of the engine that is not there, is refused by name; nothing of a query is passed over in silence.

mod collection;
mod error;
mod parameters;

pub use collection::{CollectionQuery, Filter, Order, Source};
pub use error::Refused;
pub use parameters::Parameters;
