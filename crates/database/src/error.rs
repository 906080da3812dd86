//! Why an operation on a node's databases failed.

use std::path::PathBuf;
use std::sync::Arc;

use query::execute::{MissingValue, ScriptFailure};

use crate::BulkInsertCounts;
use crate::queries::QueryError;
use crate::smuggler::DumpPlace;

/// Why an operation on a node's databases failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// There is no database of that name.
    #[error("Database '{name}' does not exist.")]
    Missing {
        /// The name asked for.
        name: String,
    },
    /// The database is disabled. Enable it, then retry.
    #[error("Database '{name}' has been disabled.")]
    Disabled {
        /// The database.
        name: String,
    },
    /// There is a database of that name, in some spelling.
    #[error("Database '{name}' already exists!")]
    AlreadyExists {
        /// The database.
        name: String,
    },
    /// The record was changed by another request. Read it again, then retry.
    #[error("the record of database '{name}' has etag {actual}, but {expected} was expected")]
    RecordConflict {
        /// The database.
        name: String,
        /// The etag given.
        expected: u64,
        /// The etag there is.
        actual: u64,
    },
    /// A name that a database cannot have.
    #[error("The name '{}' is not permitted: {rule}", .name.escape_debug())]
    BadName {
        /// The name given, shortened.
        name: String,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// The record of a database configures a feature that this version lacks. Leave it out.
    #[error(transparent)]
    NotSupported(#[from] documents::MissingFeature),
    /// The record of a database is not acceptable.
    #[error("{rule}")]
    BadRecord {
        /// What is wrong with it, and what to do.
        rule: String,
    },
    /// The code of a custom analyzer is wrong. Correct it.
    #[error(transparent)]
    Analyzer(query::analysis::AnalyzerRefused),
    /// A certificate or an API key cannot be registered, or changed, as asked for.
    #[error("{rule}")]
    BadPrincipal {
        /// What is wrong, and what to do.
        rule: String,
    },
    /// The id of a request is longer than any that clients make.
    #[error("the raft-request-id has {size} bytes, over the limit REQUEST_ID_SIZE_MAX")]
    BadRequestId {
        /// Bytes given.
        size: usize,
    },
    /// Where a database is kept is settled when it is created. Create another one and copy the documents.
    #[error(
        "Database '{name}' was created {} and stays there: 'RunInMemory' cannot be changed",
        if *is_in_memory { "in memory" } else { "on disk" }
    )]
    PlaceIsFixed {
        /// The database.
        name: String,
        /// Where it is.
        is_in_memory: bool,
    },
    /// The database is locked against deletion.
    #[error("Database '{name}' cannot be deleted because of the set lock mode ('PreventDeletesError')")]
    DeletionLocked {
        /// The database.
        name: String,
    },
    /// Too much waits to be written. Nothing was applied; retry after a second.
    #[error("database '{name}' is busy: {what} wait to be written, which is the limit {limit}")]
    Busy {
        /// The database.
        name: String,
        /// How much waits.
        what: String,
        /// The limit that was reached.
        limit: &'static str,
    },
    /// The documents of the database are being compacted, and the write has waited for as long as it may. Nothing was applied; retry later.
    #[error(
        "The documents of database '{name}' are being compacted, and writes wait for that. This one waited for {} seconds, which is the limit compaction_write_wait, and was not applied. Try again later, or kill the compaction",
        wait.as_secs()
    )]
    Compacting {
        /// The database.
        name: String,
        /// How long writes wait.
        wait: std::time::Duration,
    },
    /// The database was compacted, and closed since, while the request ran. Nothing was applied; retry.
    #[error("database '{name}' was compacted and closed while the request ran. Try again")]
    Reopened {
        /// The database.
        name: String,
    },
    /// A subscription cannot be made, changed or served as asked for.
    #[error("{rule}")]
    BadSubscription {
        /// What is wrong, and what to do.
        rule: String,
    },
    /// A subscription to revisions of a collection that makes none. Configure them first.
    #[error(
        "Cannot use a revisions subscription, database {database} does not have revisions configuration. \
             Configure its collection with POST /databases/{database}/admin/revisions/config"
    )]
    NoRevisions {
        /// The database.
        database: String,
    },
    /// There is no subscription of that name.
    #[error("Subscription with name '{name}' was not found in database '{database}'")]
    NoSubscription {
        /// The name asked for.
        name: String,
        /// The database.
        database: String,
    },
    /// Another subscription has that name.
    #[error(
        "A subscription with the name '{name}' already exists in database '{database}'. Choose another name, or update it"
    )]
    SubscriptionExists {
        /// The name, as it was given.
        name: String,
        /// The database.
        database: String,
    },
    /// A change feed cannot be read as asked for.
    #[error("{rule}")]
    BadFeed {
        /// What is wrong, and what to do.
        rule: String,
    },
    /// What a reader of the change feed has not seen is no longer known.
    #[error("{rule}")]
    FeedGone {
        /// Why, and what to do.
        rule: String,
    },
    /// The change feed has no cursor of that name.
    #[error(
        "the change feed of database '{database}' has no cursor '{name}'. Make one: PUT /databases/{database}/feed/cursors?name={name}"
    )]
    NoFeedCursor {
        /// The name asked for.
        name: String,
        /// The database.
        database: String,
    },
    /// A compaction cannot be made as asked for.
    #[error("{rule}")]
    BadCompaction {
        /// What is wrong, and what to do.
        rule: String,
    },
    /// No operation of the database begins now. Retry later.
    #[error("{rule}")]
    Occupied {
        /// What goes on, and what to do.
        rule: String,
    },
    /// There is not enough free room for a copy.
    #[error(
        "A compaction of {what} may need {needed} bytes in '{}', and {free} are free there. Make room and try again",
        folder.display()
    )]
    NoRoom {
        /// What is to be copied.
        what: String,
        /// Bytes that the copy may take.
        needed: u64,
        /// Bytes that are free.
        free: u64,
        /// Where.
        folder: PathBuf,
    },
    /// A bulk insert failed part of the way. What it counts is stored.
    #[error(
        "Failed to process bulk insert. Inserted {} items in {} batches.{} {cause}", .done.documents, .done.batches, .done.last_id_text()
    )]
    BulkInsert {
        /// What was stored before.
        done: BulkInsertCounts,
        /// Why it failed.
        cause: Box<Error>,
    },
    /// There is no such operation, or its state is no longer kept.
    #[error("there is no operation {id} in database '{database}'")]
    UnknownOperation {
        /// The database.
        database: String,
        /// The id asked for.
        id: u64,
    },
    /// An operation of that number goes on. Reserve another number.
    #[error("the operation {id} is in progress; another one cannot have its number")]
    OperationInUse {
        /// The number.
        id: u64,
    },
    /// The operation was killed.
    #[error("the operation was cancelled")]
    Canceled,
    /// Sample data go only into a database without documents.
    #[error("You cannot create sample data in a database that already contains documents ('{name}' has {count})")]
    NotEmpty {
        /// The database.
        name: String,
        /// Its documents.
        count: u64,
    },
    /// A bulk insert, or one element of it, is not acceptable.
    #[error("{rule}")]
    BadStream {
        /// What is wrong.
        rule: String,
    },
    /// A dump, or one item of it, is not acceptable. What stands before it is stored.
    #[error("The dump cannot be imported: {place}: {rule}")]
    BadDump {
        /// Where in the dump, decompressed.
        place: Box<DumpPlace>,
        /// What is wrong.
        rule: String,
    },
    /// An option of an export or import is unknown or malformed.
    #[error("{rule}")]
    BadSmugglerOption {
        /// What is wrong, and what to do.
        rule: String,
    },
    /// A backup, its configuration or a restore is not acceptable.
    #[error("{}{}", .rule[..1].to_uppercase(), &.rule[1..])]
    BadBackup {
        /// What is wrong, and what to do.
        rule: String,
    },
    /// A backup of the database waits for its turn, and no second one may. Wait until it has ended.
    #[error(
        "a backup of database '{name}' waits for its turn already. Begin another one when it has ended, or kill its operation"
    )]
    BackupWaits {
        /// The database.
        name: String,
    },
    /// A place for backups failed.
    #[error(transparent)]
    Destination(#[from] crate::backups::DestinationError),
    /// An image of the storage could not be written or read.
    #[error(transparent)]
    Image(#[from] storage::image::Error),
    /// A file or folder could not be read, made or removed.
    #[error("{operation} '{}': {source}", path.display())]
    Io {
        /// What was attempted, in the infinitive.
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: Arc<std::io::Error>,
    },
    /// The data directory lies inside of that of another node. Choose another one.
    #[error("'{}' lies inside of the data directory of another server, '{}'", folder.display(), other.display())]
    InsideOfAnother {
        /// The folder given.
        folder: PathBuf,
        /// The data directory of the other one.
        other: PathBuf,
    },
    /// What the node keeps about itself is damaged.
    #[error("the node's own records of its databases are damaged: {rule}")]
    Corrupt {
        /// The rule that does not hold.
        rule: &'static str,
    },
    /// Each index has descriptors and memory, and there are as many as there may be. Delete some.
    #[error("database '{name}' has as many indexes as the limit INDEX_COUNT_MAX allows")]
    TooManyIndexes {
        /// The database.
        name: String,
    },
    /// There are as many indexes that queries made as there may be. Define one for several queries, or delete some.
    #[error("database '{name}' has as many automatic indexes as the limit AUTOMATIC_INDEX_COUNT_MAX allows")]
    TooManyAutomaticIndexes {
        /// The database.
        name: String,
    },
    /// The index is locked against change. Unlock it.
    #[error("Cannot change or delete index '{name}' because its lock mode is LockedError")]
    IndexLocked {
        /// The index.
        name: String,
    },
    /// The results of an index cannot become documents of the collection that it names. Name another.
    #[error("{reason}")]
    IndexOutput {
        /// Why not.
        reason: String,
    },
    /// Documents that an index finds are to be changed, and it has not seen all of them yet. Wait, or allow it.
    #[error("Cannot perform bulk operation. Index '{name}' is stale.")]
    StaleIndex {
        /// The index.
        name: String,
    },
    /// A script is no JavaScript, or failed.
    #[error("{}", script_failed(.id, .error))]
    Script {
        /// The document it was run for; empty: none.
        id: String,
        /// Why.
        error: script::Error,
    },
    /// `load path as alias` where there are several, or too many.
    #[error(transparent)]
    Load(#[from] query::execute::LoadRefused),
    /// A query that changes what it finds, finds more than there is memory for. Change a part at a time.
    #[error(
        "The ids of the documents that the query finds exceed the limit FOUND_IDS_SIZE_MAX. Add a 'limit' to the query and repeat it"
    )]
    TooManyFound,
    /// A query is refused, or failed.
    #[error(transparent)]
    Query(Box<QueryError>),
    /// There is no index of that name.
    #[error("There is no index with '{name}' name.")]
    NoSuchIndex {
        /// The name asked for.
        name: String,
    },
    /// An index failed, or cannot answer this.
    #[error(transparent)]
    Index(#[from] query::index::Error),
    /// The documents refused.
    #[error(transparent)]
    Documents(#[from] documents::Error),
    /// The storage failed. After a failed write the outcome of what was not confirmed is not known.
    #[error(transparent)]
    Storage(#[from] storage::Error),
}

/// The result of an operation on a node's databases.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// As the reference says it.
fn script_failed(id: &str, error: &script::Error) -> String {
    match error {
        script::Error::Thrown { message, line } => {
            format!("At {line}:0 Script failed for document ID '{id}'. {message}")
        }
        error => error.to_string(),
    }
}

impl Error {
    pub(crate) fn io(operation: &'static str, path: &std::path::Path, source: std::io::Error) -> Error {
        Error::Io { operation, path: path.to_owned(), source: Arc::new(source) }
    }
}

impl From<query::analysis::AnalyzerRefused> for Error {
    fn from(refused: query::analysis::AnalyzerRefused) -> Error {
        match refused {
            query::analysis::AnalyzerRefused::NotServed(missing) => Error::NotSupported(missing),
            refused => Error::Analyzer(refused),
        }
    }
}

impl From<json::Error> for Error {
    fn from(error: json::Error) -> Error {
        Error::Documents(documents::Error::Json(error))
    }
}

impl From<QueryError> for Error {
    fn from(error: QueryError) -> Error {
        Error::Query(Box::new(error))
    }
}

impl From<MissingValue> for Error {
    fn from(error: MissingValue) -> Error {
        QueryError::from(error).into()
    }
}

impl From<ScriptFailure> for Error {
    fn from(failure: ScriptFailure) -> Error {
        QueryError::Script(failure).into()
    }
}
