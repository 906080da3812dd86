//! Why a query is refused or fails, apart from failures of the storage.

use std::time::Duration;

use documents::{Etag, MissingFeature};
use query::execute::{MissingValue, ScriptFailure};
use query::plan::Refused;

/// Why a query is refused or fails. Failures of indexes, documents and storage are other variants of the error of this crate.
#[derive(Debug, Clone, thiserror::Error)]
pub enum QueryError {
    /// The text is wrong. Correct it; the message has the place where there is one.
    #[error("{message}\nQuery: {query}")]
    Text {
        /// What is wrong.
        message: String,
        /// The text.
        query: String,
        /// True if the text is not RQL; false if it is, and has no meaning.
        is_grammar: bool,
    },
    /// The query needs a feature that this version does not have.
    #[error(transparent)]
    MissingFeature(MissingFeature),
    /// The query has a form that this version does not support.
    #[error("{form} is not supported")]
    NotSupported {
        /// The form or combination, as a noun.
        form: String,
    },
    /// The query does not fit the index or the documents that it names.
    #[error("{0}")]
    Invalid(String),
    /// An index that the query names lacks a field. Name another index, or add the field to its definition.
    #[error("{0}")]
    MissingField(String),
    /// No automatic index covers the query, and the query must not create one. The message says what to do.
    #[error("{0}")]
    NoAutomaticIndex(String),
    /// The query needs an automatic index, and the database is set to have none. The message says what to do.
    #[error("{0}")]
    AutomaticIndexesDisabled(String),
    /// A projection requires a value that a result lacks.
    #[error(transparent)]
    MissingValue(#[from] MissingValue),
    /// A script of the query fails.
    #[error("{}", script_failed(.0))]
    Script(ScriptFailure),
    /// A projection reads documents, and the results of the index are groups.
    #[error("the results of an index with a reduce have no documents: values come from the index alone")]
    NoDocuments,
    /// Facets that do not fit the index, or each other.
    #[error("{0}")]
    Facet(String),
    /// The query sorts by a custom sorter. There are none.
    #[error("{0}")]
    NoSuchSorter(String),
    /// The query names a document that does not exist.
    #[error("Document '{id}' does not exist.")]
    NoSuchDocument {
        /// Its id.
        id: String,
    },
    /// The change vector whose write the query has to see is not one of this database.
    #[error("{0}")]
    BadChangeVector(String),
    /// The index did not reach the write that the query has to see. Wait longer.
    #[error("After waiting for {} s, the index '{index}' has not caught up with the changes as of etag: {etag}", .wait.as_secs_f64())]
    NotIndexed {
        /// The etag of the write.
        etag: Etag,
        /// How long the query waited.
        wait: Duration,
        /// The name of the index.
        index: String,
    },
    /// The query ran longer than it may.
    #[error("The query was cancelled after {} s (the limit Limits.QueryRunTimeInSec)", .after.as_secs_f64())]
    Timeout {
        /// The limit.
        after: Duration,
    },
}

impl QueryError {
    pub(super) fn not_supported(form: impl Into<String>) -> QueryError {
        QueryError::NotSupported { form: form.into() }
    }

    /// * `query`: the text, which the message repeats.
    pub(super) fn of_plan(refused: Refused, query: &str) -> QueryError {
        match refused {
            Refused::Invalid(message) => QueryError::Text { message, query: query.to_owned(), is_grammar: false },
            Refused::MissingFeature(missing) => QueryError::MissingFeature(missing),
            Refused::NotSupported(form) => QueryError::NotSupported { form },
            refused @ Refused::NoSuchSorter(_) => QueryError::NoSuchSorter(refused.to_string()),
        }
    }
}

/// The sentences of the reference, which knows no document here.
fn script_failed(failure: &ScriptFailure) -> String {
    match failure {
        ScriptFailure::Script(script::Error::Thrown { message, line }) => {
            format!("At {line}:0 Script failed for document ID ''. {message}")
        }
        ScriptFailure::Script(error @ script::Error::Syntax { .. }) => {
            format!("Select clause contains invalid script\n{error}")
        }
        error => error.to_string(),
    }
}
