//! Errors of requests, and their HTTP form: the one place where errors become HTTP responses.
//!
//! Clients rebuild an exception from `Type` and show `Message` or `Error`. They distinguish only the statuses 304, 403, 404, 408,
//! 409, 410, 425, 502, 503 and 504: 404 has no body and means that the resource does not exist, 503 makes them fail over, so neither
//! is used for bad requests. Clients treat all other statuses alike; a wrong request gets 400, and 500 reports a fault of the server.

use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{CONNECTION, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};

use database::BulkInsertCounts;
use database::documents::{self, Etag, Feature, MissingFeature};
use database::queries::QueryError;
use database::script;
use query::definition::DefinitionError;
use query::execute::ScriptFailure;

use crate::cause::Cause;
use crate::exceptions::{
    ARGUMENT, BAD_REQUEST, COLLECTION_MISMATCH, CONCURRENCY, COUNTER_OVERFLOW, END_OF_STREAM, INVALID_DATA,
    INVALID_OPERATION, NO_REVISIONS, NO_SUBSCRIPTION, NOT_SUPPORTED, RAVEN_TIMEOUT, TRANSACTION_CONCURRENCY,
};
use crate::limits::FAILED_ATTEMPT_WINDOW;
use crate::limits::REQUEST_BODY;
use crate::messages::reply::{self, Reply};
use crate::storage_errors::{is_rolled_back, last_names, storage_message};

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// What a route may write, for answers that have to say what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Write {
    /// One transaction of one database.
    OneTransaction,
    /// The node: several steps.
    Steps,
}

/// Why a request is not answered as it hoped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// No route has this path and method.
    #[error("There is no handler for path: {method} {path}")]
    RouteNotFound { method: String, path: String },
    /// The request needs a feature that is known by its name, and that this version lacks.
    #[error(transparent)]
    MissingFeature(#[from] MissingFeature),
    /// A form or a combination of what is supported otherwise.
    #[error("Rookery {version} does not support {form} yet", version = env!("CARGO_PKG_VERSION"))]
    NotSupported { form: String },
    /// A limit of ours; `name` is that of the setting.
    #[error("{what} exceeds the limit {name} = {limit}")]
    Limit { status: StatusCode, name: &'static str, limit: u64, what: &'static str },
    /// The head or the framing of the request is not acceptable HTTP; the connection ends.
    #[error("{0}")]
    Malformed(&'static str),
    /// The body cannot be decompressed, or has an encoding we do not know.
    #[error("The request body cannot be decoded: {0}")]
    Encoding(String),
    /// The body stopped before its end.
    #[error("The request body is incomplete: {0}")]
    BodyCutOff(String),
    /// Too much is waiting already; try again.
    #[error(
        "The server is busy: all of {threads} = {count} are taken, and what waits exceeds the limit {limit} = {value}. \
         Try again later"
    )]
    Busy { threads: &'static str, count: u64, limit: &'static str, value: u64 },
    /// All threads that could open the database were taken for too long; try again.
    #[error("The server is busy: the database could not be opened. Try again later")]
    NotOpened,
    /// A parameter is missing or has a value that makes no sense.
    #[error("{0}")]
    Argument(String),
    /// A parameter of the query string is not of its kind.
    #[error("Query string value '{name}' must be {kind}, but is '{value}'")]
    Parameter { name: String, value: String, kind: &'static str },
    /// The request is well formed and asks for something that cannot be done.
    #[error("{0}")]
    InvalidOperation(String),
    /// A property of the body is missing.
    #[error("{0}")]
    BadRequest(String),
    /// What is to be done with the resource has a name that nobody knows.
    #[error("{0} is not supported")]
    UnknownOperation(String),
    /// The body is not acceptable JSON.
    #[error("{0}")]
    Json(#[from] json::Error),
    /// The body is JSON, but no object.
    #[error("Expected start of object, but got {found}")]
    NotAnObject { found: &'static str },
    /// What is asked of an index by name, which is not there.
    #[error("There is no index with '{name}' name.")]
    UnknownIndex { name: String },
    /// The definition of an index is not acceptable.
    #[error("{0}")]
    IndexDefinition(DefinitionError),
    /// The code of a custom sorter is wrong.
    #[error(transparent)]
    Sorter(query::sorters::SorterRefused),
    /// Indexes do not have what was written in the time that was given to them.
    #[error(
        "After waiting for {} s, could not verify that all indexes has caught up with the changes as of etag: {etag}. \
         These have not: {}{}",
        .wait.as_secs_f64(), .indexes.join(", "), if *.is_written { ". What was to be written is written" } else { "" }
    )]
    NotIndexed { etag: Etag, wait: Duration, indexes: Vec<String>, is_written: bool },
    /// A bulk insert failed part of the way.
    #[error(
        "Failed to process bulk insert. Inserted {} items in {} batches.{} {cause}", .done.documents, .done.batches, .done.last_id_text()
    )]
    BulkInsert { done: BulkInsertCounts, cause: Box<Error> },
    /// An import failed part of the way.
    #[error("{}. Documents stored before it: {stored}.", .cause.message().trim_end_matches('.'))]
    Import { stored: u64, cause: Box<Error> },
    /// The certificate, or the lack of one, does not allow this.
    #[error("{0}")]
    Forbidden(String),
    /// The client has no certificate that this server trusts.
    #[error("{0}")]
    NoIdentity(String),
    /// The request has an API key that this server does not accept.
    #[error("{0}")]
    BadKey(String),
    /// The request has an API key and did not come over HTTPS.
    #[error(
        "An API key was sent without HTTPS, where others can read it. Delete it, make another one, and send that to https:// alone"
    )]
    KeyInClearText,
    /// Too many requests from this address were refused.
    #[error(
        "Too many requests from this address came with a certificate or key that is not accepted (Limits.FailedAttempts). Wait a minute"
    )]
    TooManyAttempts,
    /// An operator ended a query.
    #[error("The query was ended by an operator")]
    QueryEnded,
    /// No query of that id runs; perhaps it has just ended.
    #[error("No query with the id {id} runs on the index '{index}'")]
    NoRunningQuery { id: u64, index: String },
    /// A handler panicked. That is a bug; the request is lost and the server goes on.
    #[error("The request met a bug in Rookery: {0}")]
    Panicked(String),
    /// The databases refused.
    #[error(transparent)]
    Database(database::Error),
}

/// The error of a request whose handler panicked with `panic`.
pub(crate) fn panicked(panic: &(dyn std::any::Any + Send)) -> Error {
    let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
    Error::Panicked(message.unwrap_or_else(|| "a panic without a message".to_owned()))
}

impl From<database::Error> for Error {
    fn from(error: database::Error) -> Error {
        match error {
            database::Error::BulkInsert { done, cause } => Error::BulkInsert { done, cause: Box::new((*cause).into()) },
            database::Error::NotSupported(missing)
            | database::Error::Documents(documents::Error::NotSupported(missing)) => Error::MissingFeature(missing),
            database::Error::Script { error: script::Error::NotSupported { function }, .. } => {
                missing_function(&function)
            }
            database::Error::Query(error) => of_query(*error),
            error => Error::Database(error),
        }
    }
}

/// What is not supported has the version in its message, and a missing function of scripts the feature that it needs.
fn of_query(error: QueryError) -> Error {
    match error {
        QueryError::MissingFeature(missing) => Error::MissingFeature(missing),
        QueryError::NotSupported { form } => Error::NotSupported { form },
        QueryError::Script(ScriptFailure::Script(script::Error::NotSupported { function })) => {
            missing_function(&function)
        }
        QueryError::NotIndexed { etag, wait, index } => {
            Error::NotIndexed { etag, wait, indexes: vec![index], is_written: false }
        }
        error => Error::Database(error.into()),
    }
}

impl From<QueryError> for Error {
    fn from(error: QueryError) -> Error {
        of_query(error)
    }
}

/// A script called a function that does not exist here.
fn missing_function(function: &str) -> Error {
    Feature::of_script_function(function).missing_for(format!("'{function}' in scripts")).into()
}

impl From<DefinitionError> for Error {
    fn from(error: DefinitionError) -> Error {
        match error {
            DefinitionError::NotSupported(form) => Error::NotSupported { form },
            DefinitionError::MissingFeature(missing) => Error::MissingFeature(missing),
            error => Error::IndexDefinition(error),
        }
    }
}

impl From<query::index::Error> for Error {
    fn from(error: query::index::Error) -> Error {
        Error::Database(error.into())
    }
}

/// How an error looks on the wire.
struct Shape {
    status: StatusCode,
    exception: &'static str,
    /// Further properties of the body, as name and text.
    extra: Vec<(&'static str, Option<String>)>,
}

impl Shape {
    fn new(status: StatusCode, exception: &'static str) -> Shape {
        Shape { status, exception, extra: Vec::new() }
    }

    /// What the client asked for is wrong, or cannot be done as things stand.
    fn refused(exception: &'static str) -> Shape {
        Shape::new(StatusCode::BAD_REQUEST, exception)
    }

    /// We failed, whatever was asked for.
    fn failed(exception: &'static str) -> Shape {
        Shape::new(StatusCode::INTERNAL_SERVER_ERROR, exception)
    }
}

/// Characters of a parameter that an error repeats.
const PARAMETER_LENGTH_TOLD: usize = 200;

impl Error {
    /// The refusal of a body that is over a smaller limit than that of all bodies.
    ///
    /// * `limit`: the name of that limit.
    pub(crate) fn of_limit(self, limit: &'static str) -> Error {
        match self {
            Error::Limit { status, name: REQUEST_BODY, limit: max, what } => {
                Error::Limit { status, name: limit, limit: max, what }
            }
            error => error,
        }
    }

    /// * `form`: a form or a combination of what is supported otherwise, as a noun.
    pub(crate) fn not_supported(form: impl Into<String>) -> Error {
        Error::NotSupported { form: form.into() }
    }

    /// * `kind`: what it must be.
    pub(crate) fn parameter(name: &str, value: &str, kind: &'static str) -> Error {
        let shortened = |text: &str| text.chars().take(PARAMETER_LENGTH_TOLD).collect();
        Error::Parameter { name: shortened(name), value: shortened(value), kind }
    }

    /// The .NET name that clients rebuild an exception from.
    pub(crate) fn exception(&self) -> &'static str {
        self.shape().exception
    }

    /// The whole text of it, as `Error` has it: with the name of the exception.
    pub(crate) fn text(&self) -> String {
        self.long_text(self.exception(), &self.message())
    }

    /// Whose fault it is.
    pub(crate) fn cause(&self) -> Cause {
        use database::Error as E;
        match self {
            Error::BulkInsert { cause, .. } | Error::Import { cause, .. } => cause.cause(),
            Error::MissingFeature(_) | Error::NotSupported { .. } => Cause::Request,
            // Indexes are behind.
            Error::NotIndexed { .. } => Cause::Server,
            Error::Database(
                E::Disabled { .. }
                | E::InsideOfAnother { .. }
                | E::NotSupported(_)
                | E::Canceled
                | E::Script { error: script::Error::Stopped | script::Error::NotSupported { .. }, .. }
                | E::Documents(documents::Error::NotSupported(_))
                | E::Index(query::index::Error::Interrupted),
            )
            | Error::QueryEnded => Cause::Request,
            Error::Database(E::Query(error)) if is_of_query(error) => Cause::Request,
            _ => Cause::of_status(self.status()),
        }
    }

    /// The status it is answered with.
    pub(crate) fn status(&self) -> StatusCode {
        self.shape().status
    }

    fn shape(&self) -> Shape {
        match self {
            Error::RouteNotFound { .. } => Shape::refused("Raven.Client.Exceptions.Routing.RouteNotFoundException"),
            Error::MissingFeature(_) | Error::NotSupported { .. } => {
                Shape::new(StatusCode::NOT_IMPLEMENTED, NOT_SUPPORTED)
            }
            Error::Limit { status, .. } => Shape::new(*status, BAD_REQUEST),
            Error::Malformed(_) => Shape::refused(BAD_REQUEST),
            Error::Encoding(_) => Shape::refused(INVALID_DATA),
            Error::BodyCutOff(_) => Shape::refused(END_OF_STREAM),
            Error::Busy { .. } | Error::NotOpened => Shape::new(StatusCode::SERVICE_UNAVAILABLE, RAVEN_TIMEOUT),
            Error::Argument(_) => Shape::refused(ARGUMENT),
            Error::BadRequest(_) => Shape::refused(BAD_REQUEST),
            Error::UnknownOperation(_) => Shape::refused("System.NotSupportedException"),
            Error::Parameter { .. } => Shape::refused(ARGUMENT),
            Error::InvalidOperation(_) => Shape::refused(INVALID_OPERATION),
            Error::Json(error) if error.reason == json::Reason::UnexpectedEnd => Shape::refused(END_OF_STREAM),
            Error::Json(_) => Shape::refused(INVALID_DATA),
            Error::NotAnObject { .. } => Shape::refused("Sparrow.Exceptions.InvalidStartOfObjectException"),
            Error::UnknownIndex { .. } => {
                Shape::refused("Raven.Client.Exceptions.Documents.Indexes.IndexDoesNotExistException")
            }
            Error::IndexDefinition(error) => definition_shape(error),
            Error::Sorter(_) => {
                Shape::refused("Raven.Client.Exceptions.Documents.Compilation.SorterCompilationException")
            }
            Error::NotIndexed { .. } => Shape::new(StatusCode::REQUEST_TIMEOUT, RAVEN_TIMEOUT),
            Error::BulkInsert { cause, .. } => bulk_insert_shape(cause.status()),
            // A conflict would be rebuilt as one of a single document.
            Error::Import { cause, .. } => match cause.shape() {
                shape if shape.status == StatusCode::CONFLICT => Shape::refused(INVALID_OPERATION),
                shape => Shape { extra: Vec::new(), ..shape },
            },
            Error::Forbidden(_) => {
                Shape::new(StatusCode::FORBIDDEN, "Raven.Client.Exceptions.Security.AuthorizationException")
            }
            // RavenDB's name for it, which is not that of an exception: clients go by the status.
            Error::NoIdentity(_) => Shape::new(StatusCode::FORBIDDEN, "InvalidAuth"),
            Error::BadKey(_) => Shape::new(StatusCode::UNAUTHORIZED, "InvalidAuth"),
            Error::KeyInClearText => Shape::refused(ARGUMENT),
            Error::TooManyAttempts => Shape::new(StatusCode::TOO_MANY_REQUESTS, "InvalidAuth"),
            Error::QueryEnded => Shape::failed("System.OperationCanceledException"),
            Error::NoRunningQuery { .. } => Shape::new(StatusCode::NOT_FOUND, ARGUMENT),
            Error::Panicked(_) => Shape::failed(INVALID_OPERATION),
            Error::Database(error) => database_shape(error),
        }
    }

    /// What the client is told. It is not told where files are: that is in the log.
    pub(crate) fn message(&self) -> String {
        match self {
            Error::Database(database::Error::Io { operation, path, source }) => {
                format!("{operation} '{}': {source}", last_names(path))
            }
            Error::BulkInsert { done, cause } => {
                let cause = Box::new(Error::InvalidOperation(cause.message()));
                Error::BulkInsert { done: done.clone(), cause }.to_string()
            }
            _ => self.storage().map_or_else(|| self.to_string(), storage_message),
        }
    }

    fn storage(&self) -> Option<&storage::Error> {
        use database::{Error as E, documents::Error as D};
        use query::index::Error as I;
        match self {
            Error::Database(
                E::Storage(error)
                | E::Documents(D::Storage(error))
                | E::Index(I::Storage(error) | I::Documents(D::Storage(error))),
            ) => Some(error),
            _ => None,
        }
    }

    /// Whether threads or memory are short for now: the same may succeed later.
    pub(crate) fn is_shortage(&self) -> bool {
        matches!(self, Error::Busy { .. })
            || matches!(self.storage(), Some(storage::Error::OverMemory { passes: true, .. }))
    }

    /// Whether the system refused something about a file.
    pub(crate) fn is_io(&self) -> bool {
        matches!(self.storage(), Some(storage::Error::Io { .. }))
            || matches!(self, Error::Database(database::Error::Io { .. }))
    }

    /// Whether a write that failed this way is known to have left nothing behind.
    fn is_known_not_applied(&self, write: Write) -> bool {
        use database::Error as E;
        match self {
            // The documents before it are there.
            Error::BulkInsert { done, cause } => done.documents == 0 && cause.is_known_not_applied(write),
            // Definitions of indexes may be.
            Error::Import { .. } => false,
            Error::Panicked(_) => false,
            Error::Database(E::Io { .. } | E::Canceled | E::Corrupt { .. }) => false,
            _ => match self.storage() {
                None => true,
                Some(error) => write == Write::OneTransaction && is_rolled_back(error),
            },
        }
    }

    /// The answer to the request for `url` that failed this way and was no write.
    pub(crate) fn reply(&self, url: &str) -> Reply {
        self.reply_to(url, None)
    }

    /// The answer to the request for `url` that failed this way.
    ///
    /// * `write`: what it was to write. If that failed on our side, the client is told whether it is known not to be applied
    ///   (RELIABILITY.md, P6).
    pub(crate) fn reply_to(&self, url: &str, write: Option<Write>) -> Reply {
        let shape = self.shape();
        let message = self.message();
        let mut reply = reply::object(shape.status, |json| {
            json.name("Url").string(url);
            json.name("Type").string(shape.exception);
            json.name("Message").string(&message);
            json.name("Error").string(&self.long_text(shape.exception, &message));
            for (name, text) in &shape.extra {
                json.name(name).optional_string(text.as_deref());
            }
            if let Error::Database(database::Error::Documents(documents::Error::TransactionConflict { violations })) =
                self
            {
                json.name("ConcurrencyViolations")
                    .array(|json| violations.iter().for_each(|violation| violation.write(json)));
            }
            if let Error::NotIndexed { is_written, .. } = self {
                // Another node would not know better.
                json.name("FailImmediately").bool(true);
                if *is_written {
                    json.name("WriteOutcome").string("Applied");
                }
            }
            // Of what is refused, only a bulk insert may be applied in part.
            if let Some(write) = write {
                let outcome = if self.is_known_not_applied(write) { "NotApplied" } else { "Unknown" };
                if shape.status.is_server_error() || outcome == "Unknown" {
                    json.name("WriteOutcome").string(outcome);
                }
            }
        });
        reply.extensions_mut().insert(self.cause());
        match shape.status {
            StatusCode::SERVICE_UNAVAILABLE => {
                reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            StatusCode::TOO_MANY_REQUESTS => {
                reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from(FAILED_ATTEMPT_WINDOW.as_secs()));
            }
            StatusCode::UNAUTHORIZED => {
                reply
                    .headers_mut()
                    .insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer error=\"invalid_token\""));
            }
            _ => {}
        }
        // What is left of the body is not worth reading: it is too long, or its end cannot be found.
        if matches!(self, Error::Malformed(_) | Error::BodyCutOff(_) | Error::Encoding(_) | Error::TooManyAttempts)
            || matches!(self.storage(), Some(storage::Error::OverMemory { .. }))
            || shape.status == StatusCode::PAYLOAD_TOO_LARGE
        {
            reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        reply
    }

    /// The missing feature that the request needs.
    fn missing_feature(&self) -> Option<Feature> {
        match self {
            Error::MissingFeature(missing) => Some(missing.feature()),
            Error::BulkInsert { cause, .. } | Error::Import { cause, .. } => cause.missing_feature(),
            _ => None,
        }
    }

    /// What goes into `Error`: type and message as .NET writes them, what is missing, then the sources.
    fn long_text(&self, exception: &str, message: &str) -> String {
        let mut text = format!("{exception}: {message}");
        if let Some(feature) = self.missing_feature() {
            text.push_str(&format!("\n{} See {}.", feature.sentence(), feature.link()));
        } else if matches!(self, Error::NotSupported { .. }) {
            text.push_str("\nSee docs/missing-features.md.");
        }
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            text.push_str("\n ---> ");
            text.push_str(&cause.to_string());
            source = cause.source();
        }
        text
    }
}

/// True if a query that is not answered with 4xx failed for what it asks for.
fn is_of_query(error: &QueryError) -> bool {
    use script::Error as S;
    match error {
        QueryError::MissingFeature(_) | QueryError::NotSupported { .. } | QueryError::Timeout { .. } => true,
        QueryError::Script(ScriptFailure::Script(error)) => matches!(error, S::Stopped | S::NotSupported { .. }),
        _ => false,
    }
}

const DOCUMENT_SIZE_LIMIT: StatusCode = StatusCode::PAYLOAD_TOO_LARGE;

/// A bulk insert that failed because of something that has a status of its own.
fn bulk_insert_shape(cause: StatusCode) -> Shape {
    let status = match cause {
        StatusCode::NOT_IMPLEMENTED | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::SERVICE_UNAVAILABLE => cause,
        // A conflict would be rebuilt as one of a single document.
        cause if cause.is_client_error() => StatusCode::BAD_REQUEST,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    Shape { status, ..Shape::refused(INVALID_OPERATION) }
}

/// Maps errors of databases to HTTP.
fn database_shape(error: &database::Error) -> Shape {
    use database::Error as E;
    match error {
        E::Missing { .. } => Shape::refused("Raven.Client.Exceptions.Database.DatabaseDoesNotExistException"),
        E::Disabled { .. } => {
            Shape::new(StatusCode::SERVICE_UNAVAILABLE, "Raven.Client.Exceptions.Database.DatabaseDisabledException")
        }
        E::AlreadyExists { .. } | E::RecordConflict { .. } => Shape {
            status: StatusCode::CONFLICT,
            exception: CONCURRENCY,
            extra: vec![("Id", None), ("ExpectedChangeVector", None), ("ActualChangeVector", None)],
        },
        E::BackupWaits { .. } => Shape::new(StatusCode::CONFLICT, INVALID_OPERATION),
        E::InsideOfAnother { .. } => Shape::failed(INVALID_OPERATION),
        E::BadName { .. } | E::BadRequestId { .. } => Shape::refused(BAD_REQUEST),
        E::NotSupported(_) => Shape::new(StatusCode::NOT_IMPLEMENTED, NOT_SUPPORTED),
        E::Analyzer(_) => Shape::refused("Raven.Client.Exceptions.Documents.Compilation.AnalyzerCompilationException"),
        E::BadRecord { .. } | E::BadPrincipal { .. } | E::BadBackup { .. } => Shape::refused(ARGUMENT),
        E::BadSubscription { .. } | E::BadFeed { .. } => Shape::refused(ARGUMENT),
        E::FeedGone { .. } => Shape::new(StatusCode::GONE, INVALID_OPERATION),
        E::NoFeedCursor { .. } => Shape::new(StatusCode::NOT_FOUND, ARGUMENT),
        E::NoSubscription { .. } => Shape::refused(NO_SUBSCRIPTION),
        E::NoRevisions { .. } => Shape::refused(NO_REVISIONS),
        E::SubscriptionExists { .. } => Shape::refused(INVALID_OPERATION),
        E::Image(storage::image::Error::Storage(error)) => storage_shape(error),
        E::Image(_) | E::BadStream { .. } | E::BadDump { .. } => Shape::refused(INVALID_DATA),
        E::Destination(_) => Shape::new(StatusCode::BAD_GATEWAY, INVALID_OPERATION),
        E::DeletionLocked { .. } | E::PlaceIsFixed { .. } => Shape::refused(INVALID_OPERATION),
        E::Busy { .. } | E::Compacting { .. } | E::Reopened { .. } | E::Occupied { .. } => {
            Shape::new(StatusCode::SERVICE_UNAVAILABLE, RAVEN_TIMEOUT)
        }
        E::BadCompaction { .. } => Shape::refused(INVALID_OPERATION),
        E::NoRoom { .. } => Shape::new(StatusCode::INSUFFICIENT_STORAGE, "Raven.Client.Exceptions.RavenException"),
        E::BulkInsert { cause, .. } => bulk_insert_shape(database_shape(cause).status),
        E::UnknownOperation { .. } => Shape::refused(ARGUMENT),
        E::OperationInUse { .. } | E::NotEmpty { .. } => Shape::refused(INVALID_OPERATION),
        E::BadSmugglerOption { .. } => Shape::refused(INVALID_DATA),
        E::Canceled => Shape::failed("System.OperationCanceledException"),
        E::Io { source, .. } => io_shape(source),
        E::Corrupt { .. } => Shape::failed(INVALID_DATA),
        E::TooManyIndexes { .. } | E::TooManyAutomaticIndexes { .. } => {
            Shape::refused("Raven.Client.Exceptions.Documents.Indexes.IndexCreationException")
        }
        E::IndexOutput { .. } => Shape::refused("Raven.Client.Exceptions.Documents.Indexes.IndexInvalidException"),
        E::IndexLocked { .. } => Shape::refused(INVALID_OPERATION),
        E::StaleIndex { .. } | E::Load(_) | E::TooManyFound => Shape::refused(INVALID_OPERATION),
        E::NoSuchIndex { .. } => Shape::refused("Raven.Client.Exceptions.Documents.Indexes.IndexDoesNotExistException"),
        E::Script { error, .. } => script_shape(error),
        E::Query(error) => query_shape(error),
        E::Index(error) => index_shape(error),
        E::Documents(error) => documents_shape(error),
        E::Storage(error) => storage_shape(error),
    }
}

fn query_shape(error: &QueryError) -> Shape {
    use QueryError as E;
    const INVALID_QUERY: &str = "Raven.Client.Exceptions.InvalidQueryException";
    match error {
        E::Text { is_grammar: true, .. } => {
            Shape::refused("Raven.Server.Documents.Queries.Parser.QueryParser+ParseException")
        }
        E::Text { is_grammar: false, .. } | E::MissingValue(_) | E::NoDocuments | E::Facet(_) => {
            Shape::refused(INVALID_QUERY)
        }
        E::MissingFeature(_) | E::NotSupported { .. } => Shape::new(StatusCode::NOT_IMPLEMENTED, NOT_SUPPORTED),
        E::Invalid(_) | E::NoAutomaticIndex(_) => Shape::refused(INVALID_OPERATION),
        E::AutomaticIndexesDisabled(_) => Shape::refused("System.NotSupportedException"),
        E::MissingField(_) | E::BadChangeVector(_) => Shape::refused(ARGUMENT),
        E::Script(failure) => projection_shape(failure),
        E::NoSuchSorter(_) => Shape::refused("Raven.Client.Exceptions.Documents.Sorters.SorterDoesNotExistException"),
        E::NoSuchDocument { .. } => Shape::refused("Raven.Client.Exceptions.Documents.DocumentDoesNotExistException"),
        E::NotIndexed { .. } => Shape::new(StatusCode::REQUEST_TIMEOUT, RAVEN_TIMEOUT),
        E::Timeout { .. } => Shape::failed("System.TimeoutException"),
    }
}

fn script_shape(error: &script::Error) -> Shape {
    use script::Error as E;
    match error {
        E::Syntax { .. } => Shape::refused("Raven.Client.Exceptions.Documents.Patching.JavaScriptParseException"),
        E::Thrown { .. } | E::Limit { .. } => {
            Shape::refused("Raven.Client.Exceptions.Documents.Patching.JavaScriptException")
        }
        E::Misuse(_) => Shape::refused(INVALID_OPERATION),
        E::Host(_) => Shape::failed(INVALID_OPERATION),
        E::Stopped => Shape::failed("System.OperationCanceledException"),
        E::OverMemory { .. } => Shape::new(StatusCode::SERVICE_UNAVAILABLE, RAVEN_TIMEOUT),
        E::NotSupported { .. } => Shape::new(StatusCode::NOT_IMPLEMENTED, NOT_SUPPORTED),
    }
}

fn projection_shape(error: &ScriptFailure) -> Shape {
    use ScriptFailure as F;
    match error {
        F::Script(script::Error::Syntax { .. }) => Shape::refused("Raven.Client.Exceptions.InvalidQueryException"),
        F::Script(error) => script_shape(error),
        F::NoObject(_) | F::ReadOnly => Shape::refused(INVALID_OPERATION),
        F::Load(_) => Shape::refused("System.NotSupportedException"),
        F::Documents(error) => documents_shape(error),
    }
}

fn definition_shape(error: &DefinitionError) -> Shape {
    match error {
        DefinitionError::Compile { property, text, .. } => Shape {
            extra: vec![
                ("IndexDefinitionProperty", Some((*property).to_owned())),
                ("ProblematicText", Some(text.clone())),
            ],
            ..Shape::refused("Raven.Client.Exceptions.Documents.Compilation.IndexCompilationException")
        },
        DefinitionError::UnknownAnalyzer { .. } | DefinitionError::Mismatch { .. } => {
            Shape::refused("Raven.Client.Exceptions.Documents.Compilation.IndexCompilationException")
        }
        DefinitionError::InvalidOutput(_) => {
            Shape::refused("Raven.Client.Exceptions.Documents.Indexes.IndexInvalidException")
        }
        DefinitionError::Invalid(_) | DefinitionError::NotSupported(_) | DefinitionError::MissingFeature(_) => {
            Shape::refused("Raven.Client.Exceptions.Documents.Indexes.IndexCreationException")
        }
    }
}

fn index_shape(error: &query::index::Error) -> Shape {
    use query::index::Error as E;
    match error {
        E::Corrupt { .. } | E::OlderFormat { .. } | E::NewerFormat { .. } | E::NotAnIndex | E::Bug => {
            Shape::failed("Raven.Client.Exceptions.Documents.Indexes.IndexInvalidException")
        }
        E::TooManyFields { .. } | E::TooManyFailures { .. } | E::NoAnalyzer(_) => {
            Shape::refused("Raven.Client.Exceptions.Documents.Indexes.IndexInvalidException")
        }
        E::Interrupted => Shape::failed("System.OperationCanceledException"),
        E::NothingToCompare => Shape::refused(INVALID_OPERATION),
        E::ProximityOfOneWord => Shape::refused("Raven.Client.Exceptions.InvalidQueryException"),
        E::TooLarge { .. }
        | E::LargeBatch { .. }
        | E::LongText { .. }
        | E::LongPhrase { .. }
        | E::Shape(_)
        | E::Vector(_)
        | E::TooManyVectors => Shape::refused(ARGUMENT),
        E::Documents(error) => documents_shape(error),
        E::Storage(error) => storage_shape(error),
    }
}

fn documents_shape(error: &database::documents::Error) -> Shape {
    use database::documents::Error as E;
    match error {
        E::Conflict { id, expected, actual, .. } => Shape {
            status: StatusCode::CONFLICT,
            exception: CONCURRENCY,
            extra: vec![
                ("Id", Some(id.clone())),
                ("ExpectedChangeVector", Some(expected.clone())),
                ("ActualChangeVector", actual.vector().map(str::to_owned)),
            ],
        },
        // As of any other write that came too late.
        E::NotUnique { constraint, id, other, .. } => Shape {
            status: StatusCode::CONFLICT,
            exception: CONCURRENCY,
            extra: vec![
                ("Id", Some(id.clone())),
                ("ExpectedChangeVector", None),
                ("ActualChangeVector", None),
                ("Constraint", Some(constraint.clone())),
                ("ConflictingId", Some(other.clone())),
            ],
        },
        E::Duplicates { .. } => Shape::new(StatusCode::CONFLICT, INVALID_OPERATION),
        E::BadConstraint { .. } => Shape::refused(ARGUMENT),
        E::TransactionConflict { .. } => Shape {
            status: StatusCode::CONFLICT,
            exception: TRANSACTION_CONCURRENCY,
            extra: vec![("Id", None), ("ExpectedChangeVector", None), ("ActualChangeVector", None)],
        },
        E::LongKey { .. } => Shape::refused("Raven.Client.Exceptions.CompareExchangeKeyTooBigException"),
        E::GuardKey { .. } => Shape::refused("Raven.Client.Exceptions.CompareExchangeInvalidKeyException"),
        E::ReadChanged { id } => Shape {
            status: StatusCode::CONFLICT,
            exception: CONCURRENCY,
            extra: vec![("Id", Some(id.clone())), ("ExpectedChangeVector", None), ("ActualChangeVector", None)],
        },
        E::CollectionMismatch { .. } => Shape::refused(COLLECTION_MISMATCH),
        E::MissingAttachment { .. } => {
            Shape::refused("Raven.Client.Exceptions.Documents.Attachments.AttachmentDoesNotExistException")
        }
        E::AttachmentConflict { document_id, expected, actual, .. } => Shape {
            status: StatusCode::CONFLICT,
            exception: CONCURRENCY,
            extra: vec![
                ("Id", Some(document_id.clone())),
                ("ExpectedChangeVector", Some(expected.clone())),
                ("ActualChangeVector", actual.vector().map(str::to_owned)),
            ],
        },
        E::UploadLost => Shape::new(StatusCode::SERVICE_UNAVAILABLE, RAVEN_TIMEOUT),
        E::BadId { .. } | E::BadCounterName { .. } | E::BadAttachment { .. } => Shape::refused(ARGUMENT),
        E::MissingDocument { .. } | E::NoDocumentForAttachment { .. } => {
            Shape::refused("Raven.Client.Exceptions.Documents.DocumentDoesNotExistException")
        }
        E::CounterOverflow { .. } => Shape::refused(COUNTER_OVERFLOW),
        E::Json(error) if error.reason == json::Reason::UnexpectedEnd => Shape::refused(END_OF_STREAM),
        E::Json(_) => Shape::refused(INVALID_DATA),
        E::NotAnObject { .. } => Shape::refused("Sparrow.Exceptions.InvalidStartOfObjectException"),
        E::TooLarge { .. } | E::TooManyCollections { .. } => Shape::new(DOCUMENT_SIZE_LIMIT, ARGUMENT),
        E::BadBatch { .. } | E::BadRevision { .. } => Shape::refused(INVALID_OPERATION),
        E::UnknownCommand { .. } => Shape::refused("Raven.Server.Exceptions.InvalidCommandTypeException"),
        E::NotSupported(_) => Shape::new(StatusCode::NOT_IMPLEMENTED, NOT_SUPPORTED),
        E::BadChangeVector { .. } => Shape::refused(ARGUMENT),
        E::NewerFormat { .. } | E::OlderFormat { .. } | E::NewerKinds | E::NotDocuments => {
            Shape::new(StatusCode::SERVICE_UNAVAILABLE, "Raven.Client.Exceptions.Database.DatabaseLoadFailureException")
        }
        E::Corrupt { .. } | E::BadWrite { .. } => Shape::failed(INVALID_DATA),
        E::Bug { .. } => Shape::failed(INVALID_OPERATION),
        E::Storage(error) => storage_shape(error),
    }
}

fn storage_shape(error: &storage::Error) -> Shape {
    use storage::Error as E;
    match error {
        E::Io { source, .. } => io_shape(source),
        E::DiskFull { .. } => Shape::new(StatusCode::INSUFFICIENT_STORAGE, "Raven.Client.Exceptions.RavenException"),
        // Another node would do, if there is one: clients may fail over.
        E::Failed { .. } | E::Closed => {
            Shape::new(StatusCode::SERVICE_UNAVAILABLE, "Raven.Client.Exceptions.Database.DatabaseLoadFailureException")
        }
        E::Corrupt { .. } | E::CorruptFile { .. } => Shape::failed(INVALID_DATA),
        E::Locked { .. } | E::NewerFormat { .. } => {
            Shape::new(StatusCode::SERVICE_UNAVAILABLE, "Raven.Client.Exceptions.Database.DatabaseLoadFailureException")
        }
        E::OverMemory { passes: true, .. } => Shape::new(StatusCode::SERVICE_UNAVAILABLE, RAVEN_TIMEOUT),
        E::OverMemory { passes: false, .. } => Shape::new(StatusCode::PAYLOAD_TOO_LARGE, BAD_REQUEST),
        // It passes when the old snapshot closes.
        E::LongReader { .. } => Shape::new(StatusCode::SERVICE_UNAVAILABLE, "Raven.Client.Exceptions.RavenException"),
        E::KeyTooLong { .. } | E::ValueTooLong { .. } => Shape::refused(ARGUMENT),
        E::TooLarge { .. } => Shape::new(StatusCode::INSUFFICIENT_STORAGE, "Raven.Client.Exceptions.RavenException"),
        E::JobPanicked | E::Nested { .. } => Shape::failed(INVALID_OPERATION),
    }
}

/// What the system refused. That it is out of descriptors or memory passes, and another node would do meanwhile.
fn io_shape(error: &std::io::Error) -> Shape {
    // ENOMEM, ENFILE and EMFILE, which have no kind of their own, or none that is stable.
    match error.raw_os_error() {
        Some(12 | 23 | 24) => Shape::new(StatusCode::SERVICE_UNAVAILABLE, "Raven.Client.Exceptions.RavenException"),
        _ => Shape::failed("System.IO.IOException"),
    }
}

impl From<storage::Error> for Error {
    fn from(error: storage::Error) -> Error {
        Error::Database(database::Error::Storage(error))
    }
}

impl From<database::documents::Error> for Error {
    fn from(error: database::documents::Error) -> Error {
        database::Error::Documents(error).into()
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
