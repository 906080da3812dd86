//! The definition (schema) of an index: its source collections, its fields, and their analysis.
//!
//! Queries make some ([`AutomaticIndex`]), users define others ([`MapIndex`]); an [`IndexDefinition`] is either.

mod analyses;
mod archived;
mod automatic;
mod configuration;
mod either;
mod error;
mod field;
mod field_options;
mod index_name;
mod map_index;
mod measured;
mod output;
mod places;
mod scoring;
mod settings;
mod source;
pub(crate) mod terms;
mod vectors;

pub use archived::ArchivedDocuments;
pub use automatic::{ALL_DOCUMENTS, AutomaticIndex, COUNT, GroupedBy, name_of};
pub use configuration::{SettingRefused, SettingsOf};
pub use either::IndexDefinition;
pub use error::DefinitionError;
pub use field::{Analysis, AnalysisKind, Field, FieldName, FieldNeeds, FieldUse, Fields, MarkedText};
pub use index_name::check_index_name;
pub use map_index::MapIndex;
pub use measured::{Measure, MeasuredField};
pub use output::{Output, References};
pub use places::Places;
pub use scoring::Bm25;
pub use settings::{IndexSettings, LockMode, Priority};
pub use source::IndexSource;
pub use vectors::VectorField;
