//! Why an image, an archive or a restore failed.

use crate::ids::{Position, TransactionId};
use std::path::PathBuf;
use std::sync::Arc;

/// The result of work on an image or an archive.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an image, an archive or a restore failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The environment, or the folder that is restored, could not be read or written.
    #[error(transparent)]
    Storage(#[from] crate::Error),
    /// The image could not be written to its destination. What was written is of no use.
    #[error("the image cannot be written to its destination: {0}")]
    Destination(Arc<std::io::Error>),
    /// The image or the records could not be read from their source.
    #[error("the image or the records cannot be read from their source: {0}")]
    Source(Arc<std::io::Error>),
    /// The call-back of the caller said so.
    #[error("the work was cancelled")]
    Cancelled,
    /// The destination is slower than the environment is written to. Nothing is wrong with the environment; take the image when less is
    /// written, or with a higher limit of bytes.
    #[error(
        "the destination of the image is too slow: since the image began, more was written than the {bytes_max} bytes that may wait for it"
    )]
    FellBehind {
        /// The limit of the call.
        bytes_max: u64,
    },
    /// The bytes are not what was written. Use another backup.
    #[error("the image or archive is damaged at byte {at}: {rule}")]
    Damaged {
        /// Bytes of the stream before the damage.
        at: u64,
        /// The rule that does not hold.
        rule: &'static str,
    },
    /// The image was written by a newer version of the program.
    #[error("the image has format version {found}; this program knows up to {known}")]
    NewerFormat {
        /// The version found.
        found: u32,
        /// The newest version known.
        known: u32,
    },
    /// There is something where the restored folder would be.
    #[error("'{}' exists already; restore to a folder that does not", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// Records behind a position are missing: the journal was let go before it was archived, the environment was written to without an
    /// archive, or a segment was left out. An archive begins again with a new image.
    #[error("the records after transaction {} are missing{}", after.transaction, found(*.next))]
    Gap {
        /// The last position that is there.
        after: Position,
        /// The transaction that was found in the place of the next.
        next: Option<TransactionId>,
    },
    /// A record, image or position is of another environment, or of another history of it: of the time after a transaction that a restore
    /// went back to.
    #[error("transaction {transaction} is of another environment, or of a history of it that parted before")]
    OtherHistory {
        /// The transaction.
        transaction: TransactionId,
    },
    /// The image is of a later state than the one that was asked for. Use an earlier image.
    #[error(
        "the image is of transaction {image}, and transaction {until} was asked for; restore from an earlier image"
    )]
    AfterTarget {
        /// The state of the image.
        image: TransactionId,
        /// The state that was asked for.
        until: TransactionId,
    },
    /// The kind of environment has no image or archive.
    #[error("{what} cannot be archived")]
    Unsupported {
        /// The kind.
        what: &'static str,
    },
}

fn found(next: Option<TransactionId>) -> String {
    next.map_or_else(String::new, |next| format!("; the next one that is there is {next}"))
}
