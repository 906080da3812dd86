//! Why the definition of an index is refused.

use crate::mapping::CompileError;
use documents::MissingFeature;

/// Why a definition is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// It means nothing.
    #[error("{0}")]
    Invalid(String),
    /// A map or the reduce is not what it has to be.
    #[error("Failed to compile index {index}\n\n{error}")]
    Compile {
        /// The index.
        index: String,
        /// Which property of the definition.
        property: &'static str,
        /// Its text.
        text: String,
        /// What is wrong in it, and where.
        error: CompileError,
    },
    /// A field names an analyzer that there is none of.
    #[error("Failed to compile index '{index}': Cannot find analyzer type '{analyzer}' for field: {field}")]
    UnknownAnalyzer {
        /// The index.
        index: String,
        /// The field.
        field: String,
        /// The analyzer, as it was given.
        analyzer: String,
    },
    /// Its reduce gives other fields than its maps.
    #[error(
        "Failed to compile index '{index}': maps and the reduce must give the same fields, but a map gives {map} and the reduce {reduce}"
    )]
    Mismatch {
        /// The index.
        index: String,
        /// The fields of the map.
        map: String,
        /// The fields of the reduce.
        reduce: String,
    },
    /// Its results cannot become documents as it says.
    #[error("{0}")]
    InvalidOutput(String),
    /// It has a form that is not supported: which.
    #[error("{0}")]
    NotSupported(String),
    /// It needs a feature that is missing.
    #[error(transparent)]
    MissingFeature(#[from] MissingFeature),
}
