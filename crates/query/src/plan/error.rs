//! Why a query that is RQL is not answered.

/// Why a query that is RQL is not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It means nothing, or a parameter has no value or one that does not fit. The message has the place where there is one.
    #[error("{0}")]
    Invalid(String),
    /// It needs a part of the engine that is not there: which.
    #[error("{0}")]
    NotSupported(String),
    /// It sorts by a sorter of the user's that does not exist.
    #[error("There is no sorter with '{0}' name.")]
    NoSuchSorter(String),
}
