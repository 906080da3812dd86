//! What an index is: where its documents come from, which fields it has, how each is analysed.
//!
//! So far those that queries make, [`AutomaticIndex`].

mod automatic;
mod field;

pub use automatic::{ALL_DOCUMENTS, AutomaticIndex};
pub use field::{Analysis, Field, FieldName};
