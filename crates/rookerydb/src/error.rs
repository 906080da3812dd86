//! Why an operation fails.

use std::time::Duration;

use database::documents::{self, Actual};
use database::queries::QueryError;

/// The result of an operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation fails. Each variant is something that a caller treats differently.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The document was changed by another write. Load it again, then retry.
    #[error("document '{id}' has change vector '{}', but '{expected}' was expected", actual.as_deref().unwrap_or("none"))]
    Conflict {
        /// The document.
        id: String,
        /// The expected change vector; empty: the document was not to exist.
        expected: String,
        /// The change vector of the stored document; `None`: it does not exist.
        actual: Option<String>,
    },
    /// An earlier write of the same batch wrote the document, so that it cannot be as a later one expects it. Nothing was applied; correct
    /// the batch.
    #[error(
        "document '{id}' was written by an earlier write of the batch, but change vector '{expected}' was expected"
    )]
    ConflictInBatch {
        /// The document.
        id: String,
        /// The expected change vector; empty: the document was not to exist.
        expected: String,
    },
    /// Another document has the values that a unique constraint watches. Nothing was written.
    #[error("'{id}' would have the values of '{other}' that the constraint '{constraint}' keeps unique")]
    NotUnique {
        /// The name of the constraint.
        constraint: String,
        /// The document that was written, in lower case.
        id: String,
        /// The document that has the values, in lower case.
        other: String,
    },
    /// A reader or writer of the caller fails, which an attachment was read from or written to.
    #[error(transparent)]
    Read(std::io::Error),
    /// An argument is wrong: an id, a name, JSON text, a query, a script, a definition of an index. Correct it.
    #[error("{0}")]
    Invalid(String),
    /// The operation needs a feature that this version lacks.
    #[error("{0} is not supported")]
    NotSupported(String),
    /// There is no index of this name.
    #[error("there is no index '{0}'")]
    NoSuchIndex(String),
    /// The index does not have everything that was written before. Wait longer, or allow stale results.
    #[error("index '{0}' is stale")]
    Stale(String),
    /// A value cannot become JSON, or JSON does not fit the type.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The operation took longer than it may. Retry it, or give it more time.
    #[error("the operation did not end within {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// Too much is waiting to be written, or too much memory is in use. Retry later.
    #[error("the database is busy: {0}")]
    Busy(String),
    /// The database was deleted or closed.
    #[error("the database is closed: {0}")]
    Closed(String),
    /// The storage, an index or a file fails. After a failed write the outcome of writes that were not confirmed is not known; open the
    /// database again.
    #[error("{0}")]
    Storage(#[source] Box<dyn std::error::Error + Send + Sync>),
}

// Functions and no `From`: a public `From` would make the crates below a part of this interface.

/// The error of a database or of the node.
pub(crate) fn of_database(error: database::Error) -> Error {
    use database::Error as E;
    match error {
        E::Documents(error) => of_documents(error),
        E::Query(error) => of_query(*error),
        E::Busy { .. } | E::Compacting { .. } | E::Reopened { .. } | E::Occupied { .. } => {
            Error::Busy(error.to_string())
        }
        E::NoSuchIndex { name } => Error::NoSuchIndex(name),
        E::StaleIndex { name } => Error::Stale(name),
        E::NotSupported(missing) => Error::NotSupported(missing.to_string()),
        E::Missing { .. } | E::Disabled { .. } | E::Canceled => Error::Closed(error.to_string()),
        E::BulkInsert { cause, .. } => of_database(*cause),
        E::BadName { .. }
        | E::BadRecord { .. }
        | E::Analyzer(_)
        | E::BadStream { .. }
        | E::Script { .. }
        | E::Load(_)
        | E::TooManyFound
        | E::TooManyIndexes { .. }
        | E::TooManyAutomaticIndexes { .. }
        | E::IndexLocked { .. }
        | E::IndexOutput { .. }
        | E::AlreadyExists { .. } => Error::Invalid(error.to_string()),
        E::Storage(error) => of_storage(error),
        E::Index(error) => of_index(error),
        error => Error::Storage(Box::new(error)),
    }
}

/// The error of a definition of an index.
pub(crate) fn of_definition(error: query::definition::DefinitionError) -> Error {
    use query::definition::DefinitionError as E;
    match error {
        E::NotSupported(form) => Error::NotSupported(form),
        E::MissingFeature(missing) => Error::NotSupported(missing.to_string()),
        error => Error::Invalid(error.to_string()),
    }
}

/// The error of documents.
pub(crate) fn of_documents(error: documents::Error) -> Error {
    use documents::Error as E;
    match error {
        E::Conflict { id, expected, actual, .. } => match actual {
            Actual::Vector(vector) => Error::Conflict { id, expected, actual: Some(vector) },
            Actual::Missing => Error::Conflict { id, expected, actual: None },
            Actual::OfThisBatch => Error::ConflictInBatch { id, expected },
        },
        E::ReadChanged { id } => Error::Busy(format!("document '{id}' changes too often for a patch")),
        E::NotSupported(missing) => Error::NotSupported(missing.to_string()),
        E::NotUnique { constraint, id, other, .. } => Error::NotUnique { constraint, id, other },
        E::CollectionMismatch { .. }
        | E::Duplicates { .. }
        | E::BadConstraint { .. }
        | E::BadId { .. }
        | E::MissingDocument { .. }
        | E::CounterOverflow { .. }
        | E::BadCounterName { .. }
        | E::NoDocumentForAttachment { .. }
        | E::MissingAttachment { .. }
        | E::AttachmentConflict { .. }
        | E::BadAttachment { .. }
        | E::UploadLost
        | E::Json(_)
        | E::NotAnObject { .. }
        | E::TooLarge { .. }
        | E::TooManyCollections { .. }
        | E::BadBatch { .. }
        | E::LongKey { .. }
        | E::GuardKey { .. }
        | E::UnknownCommand { .. }
        | E::BadChangeVector { .. } => Error::Invalid(error.to_string()),
        E::Storage(error) => of_storage(error),
        error => Error::Storage(Box::new(error)),
    }
}

/// The error of a query.
pub(crate) fn of_query(error: QueryError) -> Error {
    match error {
        QueryError::MissingFeature(missing) => Error::NotSupported(missing.to_string()),
        QueryError::NotSupported { form } => Error::NotSupported(form),
        QueryError::NotIndexed { index, .. } => Error::Stale(index),
        QueryError::Timeout { after } => Error::Timeout(after),
        error => Error::Invalid(error.to_string()),
    }
}

fn of_index(error: query::index::Error) -> Error {
    use query::index::Error as E;
    match error {
        E::Documents(error) => of_documents(error),
        E::Storage(error) => of_storage(error),
        E::NothingToCompare
        | E::ProximityOfOneWord
        | E::TooLarge { .. }
        | E::LargeBatch { .. }
        | E::LongText { .. }
        | E::LongPhrase { .. }
        | E::Shape(_)
        | E::Vector(_)
        | E::TooManyVectors => Error::Invalid(error.to_string()),
        error => Error::Storage(Box::new(error)),
    }
}

pub(crate) fn of_storage(error: storage::Error) -> Error {
    use storage::Error as E;
    match error {
        E::OverMemory { .. } | E::LongReader { .. } => Error::Busy(error.to_string()),
        E::KeyTooLong { .. } | E::ValueTooLong { .. } | E::TooLarge { .. } => Error::Invalid(error.to_string()),
        E::Closed => Error::Closed(error.to_string()),
        error => Error::Storage(Box::new(error)),
    }
}
