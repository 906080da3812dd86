//! Why a query that is RQL is not answered.

/// Why a query that is RQL is not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It means nothing, or a parameter has no value or one that does not fit. The message has the place where there is one.
    #[error("{0}")]
    Invalid(String),
    /// It needs an index, or another part of the engine that is not there: which.
    #[error("queries that need an index: {0}")]
    NeedsIndex(&'static str),
    /// It names an index, and there is none of this name.
    #[error("there is no index '{0}'")]
    NoSuchIndex(String),
}
