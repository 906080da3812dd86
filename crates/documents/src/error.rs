//! Why an operation on documents failed.

use crate::constraints::duplicate::Duplicate;
use crate::{MissingFeature, Violation};

/// Why an operation on documents failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// Someone else changed the document first. Load it again, then retry.
    #[error("{}", conflict(.id, .operation, .expected, .actual))]
    Conflict {
        /// The document.
        id: String,
        /// What was attempted.
        operation: Operation,
        /// The change vector given; empty: a new document was expected.
        expected: String,
        /// What there is.
        actual: Actual,
    },
    /// Something that a patch read was changed before what it wants was written. Resolve the batch again, then retry.
    #[error("'{id}' was changed while a patch that reads it ran")]
    ReadChanged {
        /// The document, or the key of the compare-exchange value.
        id: String,
    },
    /// Values or documents of a cluster-wide transaction were changed by another one first. Load them again, then retry.
    #[error("{}", transaction_conflict(.violations))]
    TransactionConflict {
        /// The conditions that do not hold.
        violations: Vec<Violation>,
    },
    /// Another document has the values that a unique constraint watches. Nothing was written.
    #[error(
        "The document '{id}' has the same {} as '{other}', which the constraint '{constraint}' does not allow. Nothing was written",
        fields.join(", ")
    )]
    NotUnique {
        /// The constraint.
        constraint: String,
        /// Its fields.
        fields: Vec<String>,
        /// The key of the document that was written.
        id: String,
        /// The key of the one that has the values.
        other: String,
    },
    /// A unique constraint cannot be made: documents break it.
    #[error("{}", duplicates_text(.constraint, *.duplicate_count, .duplicates))]
    Duplicates {
        /// The constraint.
        constraint: String,
        /// How many documents have values that one before them has.
        duplicate_count: u64,
        /// The first of them.
        duplicates: Vec<Duplicate>,
    },
    /// A unique constraint that cannot be one.
    #[error("{rule}")]
    BadConstraint {
        /// What is wrong, and what to do.
        rule: String,
    },
    /// The key of a compare-exchange value over [`limits::VALUE_KEY_SIZE_MAX`](crate::limits::VALUE_KEY_SIZE_MAX).
    #[error("Compare Exchange key cannot exceed {max} bytes, but the key was {size} bytes. The invalid key begins with '{}'", .key.escape_debug())]
    LongKey {
        /// The start of the key given.
        key: String,
        /// Bytes given.
        size: usize,
        /// Bytes allowed.
        max: usize,
    },
    /// A client may not change the guards of documents in a transaction that keeps them.
    #[error("You cannot manipulate the atomic guard '{}' via the cluster-wide session", .key.escape_debug())]
    GuardKey {
        /// The key given.
        key: String,
    },
    /// A collection more than [`limits::COLLECTION_COUNT_MAX`](crate::limits::COLLECTION_COUNT_MAX).
    #[error("the collection '{}' would be one more than the limit COLLECTION_COUNT_MAX of {max}", .name.escape_debug())]
    TooManyCollections {
        /// Its name.
        name: String,
        /// How many there may be.
        max: u32,
    },
    /// A document cannot change its collection. Delete it and store it anew.
    #[error(
        "Changing '{id}' from '{from}' to '{to}' via update is not supported. Delete it and recreate the document '{id}'."
    )]
    CollectionMismatch {
        /// The document.
        id: String,
        /// The collection it is in.
        from: String,
        /// The collection it was to be in.
        to: String,
    },
    /// An id that cannot be one.
    #[error("the document id '{}' is not valid: {rule}", .id.escape_debug())]
    BadId {
        /// The id given.
        id: String,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// Counters belong to a document that exists. Store the document first.
    #[error("Document '{id}' does not exist. Cannot operate on counters of a missing document.")]
    MissingDocument {
        /// The document.
        id: String,
    },
    /// Attachments belong to a document that exists. Store the document first.
    #[error("Document '{document_id}' does not exist. Cannot put attachment '{name}' on a missing document.", name = .name.escape_debug())]
    NoDocumentForAttachment {
        /// The document.
        document_id: String,
        /// The attachment.
        name: String,
    },
    /// An attachment that is to be moved or copied is not there.
    #[error("There is no attachment with '{name}' name for document '{document_id}'.", name = .name.escape_debug())]
    MissingAttachment {
        /// The document.
        document_id: String,
        /// The attachment.
        name: String,
    },
    /// Someone else changed the attachment first. Read it again, then retry.
    #[error("{}", attachment_conflict((.document_id, .name), .operation, .expected, .actual))]
    AttachmentConflict {
        /// The document.
        document_id: String,
        /// The attachment.
        name: String,
        /// What was attempted.
        operation: Operation,
        /// The change vector given; empty: a new attachment was expected.
        expected: String,
        /// What there is.
        actual: Actual,
    },
    /// A name or a content type that no attachment can have.
    #[error("the attachment '{}' is not valid: {rule}", .name.escape_debug())]
    BadAttachment {
        /// The name given.
        name: String,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// The pieces of a content that was uploaded are gone: the database was compacted or reopened meanwhile. Send the content again.
    #[error(
        "the content of an attachment was lost before the attachment was stored, because the database was reopened; send it again"
    )]
    UploadLost,
    /// A counter is a 64-bit number. Raise it by less, or delete it.
    #[error("Could not increment counter '{name}' from document '{document_id}' with value '{value}' by '{delta}'.")]
    CounterOverflow {
        /// The document.
        document_id: String,
        /// The counter.
        name: String,
        /// Its value.
        value: i64,
        /// What was to be added.
        delta: i64,
    },
    /// A name that no counter can have.
    #[error("the counter name '{}' is not valid: {rule}", .name.escape_debug())]
    BadCounterName {
        /// The name given.
        name: String,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// A revision cannot be made, or is not there.
    #[error("{rule}")]
    BadRevision {
        /// What is wrong.
        rule: String,
    },
    /// The text is not JSON that can be stored.
    #[error(transparent)]
    Json(#[from] json::Error),
    /// A document, or its metadata, must be an object.
    #[error("{what} must be a JSON object, but is: {found}")]
    NotAnObject {
        /// What must be an object.
        what: &'static str,
        /// The start of what was given.
        found: String,
    },
    /// A document over [`limits::DOCUMENT_SIZE_MAX`](crate::limits::DOCUMENT_SIZE_MAX), or the like.
    #[error("{what} of {size} bytes is over the limit of {max} bytes")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Bytes given.
        size: usize,
        /// Bytes allowed.
        max: usize,
    },
    /// A batch without commands, a command without a field that it needs.
    #[error("{rule}")]
    BadBatch {
        /// What is wrong.
        rule: String,
    },
    /// An unknown type of command.
    #[error("Invalid command type: {kind}")]
    UnknownCommand {
        /// The type given.
        kind: String,
    },
    /// The batch needs a feature that clients know and this version lacks.
    #[error(transparent)]
    NotSupported(#[from] MissingFeature),
    /// A change vector that cannot be read.
    #[error("'{}' is not a change vector", .text.escape_debug())]
    BadChangeVector {
        /// The text given.
        text: String,
    },
    /// The documents were written by a newer version. Open them with that.
    #[error("the documents have format version {found}; this program knows up to {known}")]
    NewerFormat {
        /// The version found.
        found: u64,
        /// The newest version known.
        known: u64,
    },
    /// The documents were written by a version from before the first release. Export them with that, and import them here.
    #[error(
        "the documents have format version {found}, and this program reads versions from {oldest} on: write them out with \
         `rookery dump` of the version that made them, and bring them back with `rookery import`; index definitions and settings are to be made anew"
    )]
    OlderFormat {
        /// The version found.
        found: u64,
        /// The oldest version that can be read.
        oldest: u64,
    },
    /// A newer version stored kinds of items that this one does not know. Open them with that.
    #[error("the database has kinds of items that a newer version of this program made; open it with that")]
    NewerKinds,
    /// The folder is no database: another kind of environment is kept there. Nothing was changed.
    #[error("the folder does not contain a document database")]
    NotDocuments,
    /// Stored data violates a rule of the format. The document is not served.
    #[error("stored data are damaged: {rule}")]
    Corrupt {
        /// The rule.
        rule: &'static str,
    },
    /// Bytes that are no write, or one of another version. Nothing was applied.
    #[error("a write cannot be read: {rule}")]
    BadWrite {
        /// The rule that the bytes break.
        rule: &'static str,
    },
    /// A fault of this program: an assumption of its own does not hold.
    #[error("a bug of this program: {rule}")]
    Bug {
        /// The assumption.
        rule: &'static str,
    },
    /// The storage below failed.
    #[error(transparent)]
    Storage(#[from] storage::Error),
}

/// The result of an operation on documents.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The operation that met a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Storing a document.
    Put,
    /// Deleting one.
    Delete,
    /// Checking that documents are still as they were read.
    TrackChanges,
    /// Patching one.
    Patch,
}

/// The actual state that a conflict met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actual {
    /// There is no document.
    Missing,
    /// It has this change vector.
    Vector(String),
    /// An earlier command of the same batch wrote it. That write is rolled back too, so it has no valid change vector.
    OfThisBatch,
}

impl Actual {
    /// The change vector, if there is one to tell.
    pub fn vector(&self) -> Option<&str> {
        match self {
            Actual::Vector(vector) => Some(vector),
            Actual::Missing | Actual::OfThisBatch => None,
        }
    }
}

/// The words that clients and their tests know.
fn duplicates_text(constraint: &str, count: u64, duplicates: &[Duplicate]) -> String {
    let told = duplicates
        .iter()
        .take(DUPLICATES_IN_TEXT)
        .map(|Duplicate { values, ids: [one, other] }| format!("'{one}' and '{other}' have {}", values.join(", ")));
    let told: Vec<String> = told.collect();
    let more = if count > told.len() as u64 { " and others" } else { "" };
    let documents = if count == 1 { "1 document breaks".to_owned() } else { format!("{count} documents break") };
    format!(
        "The constraint '{constraint}' cannot be made, because {documents} it: {}{more}. Change them first",
        told.join("; ")
    )
}

/// Duplicates in the text of an error.
const DUPLICATES_IN_TEXT: usize = 10;

fn transaction_conflict(violations: &[Violation]) -> String {
    let lines: Vec<String> = violations.iter().map(Violation::to_string).collect();
    format!("Failed to execute cluster transaction due to the following issues: {}", lines.join("\n"))
}

/// The words that clients and their tests know.
fn attachment_conflict(
    (document_id, name): (&str, &str),
    operation: &Operation,
    expected: &str,
    actual: &Actual,
) -> String {
    const END: &str = "Optimistic concurrency violation, transaction will be aborted.";
    let (name, attempt) = (name.escape_debug(), if *operation == Operation::Delete { "Delete" } else { "Put" });
    match (actual, expected) {
        (Actual::OfThisBatch, _) => format!(
            "Attachment {name} of '{document_id}' was written by an earlier command of this batch, so it cannot have the change vector \
             '{expected}'. {END}"
        ),
        (Actual::Vector(actual), "") => format!(
            "Attachment {name} of '{document_id}' has change vector {actual}, but {attempt} was called with expecting new document. {END}"
        ),
        (Actual::Vector(actual), _) => format!(
            "Attachment {name} of '{document_id}' has change vector {actual}, but {attempt} was called with change vector {expected}. {END}"
        ),
        (Actual::Missing, _) => format!(
            "Attachment {name} of '{document_id}' does not exist, but {attempt} was called with change vector '{expected}'. {END}"
        ),
    }
}

/// The words that clients and their tests know.
fn conflict(id: &str, operation: &Operation, expected: &str, actual: &Actual) -> String {
    const END: &str = "Optimistic concurrency violation, transaction will be aborted.";
    if *actual == Actual::OfThisBatch {
        return format!(
            "Document {id} was written by an earlier command of this batch, so it cannot have the change vector \
             '{expected}'. {END}"
        );
    }
    match (operation, actual.vector(), expected) {
        (Operation::Patch, ..) => format!("Could not patch document '{id}' because non current change vector was used"),
        (Operation::Put, Some(actual), "") => {
            format!("Document {id} has change vector {actual}, but Put was called with expecting new document. {END}")
        }
        (Operation::Put, Some(actual), _) => {
            format!("Document {id} has change vector {actual}, but Put was called with change vector {expected}. {END}")
        }
        (Operation::Put, None, _) => {
            format!("Document {id} does not exist, but Put was called with change vector: {expected}. {END}")
        }
        (Operation::Delete, Some(actual), _) => {
            format!(
                "Document {id} has change vector {actual}, but Delete was called with change vector '{expected}'. {END}"
            )
        }
        (Operation::Delete, None, _) => {
            format!("Document {id} does not exist, but delete was called with change vector '{expected}'. {END}")
        }
        (Operation::TrackChanges, actual, _) => {
            let actual = actual.unwrap_or("none, for it does not exist");
            format!("Document {id} was read with change vector '{expected}', but now has {actual}. {END}")
        }
    }
}
