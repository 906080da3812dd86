//! Limits of documents.

/// Bytes of a document id, as it is stored.
pub const ID_SIZE_MAX: usize = 512;

/// Bytes of the key of a compare-exchange value.
pub const VALUE_KEY_SIZE_MAX: usize = 512;

/// Bytes of the name of an attachment or a counter.
pub const ITEM_NAME_SIZE_MAX: usize = 512;

/// Bytes of the list of all names of a document's counters, as JSON. It is written with each name that is added.
pub const COUNTER_NAMES_SIZE_MAX: usize = 4 * 1024 * 1024;

/// Bytes of the content type of an attachment.
pub const ATTACHMENT_TYPE_SIZE_MAX: usize = 1024;

/// Bytes of the list of all attachments of a document, as JSON. It is written with each attachment that is added.
pub const ATTACHMENT_LIST_SIZE_MAX: usize = 4 * 1024 * 1024;

/// Bytes of contents that come with the commands of one batch, all of them together. They are held in memory until the batch has run;
/// others are uploaded before it.
pub const INLINE_CONTENT_SIZE_MAX: usize = 1024 * 1024;

/// Bytes of one piece of an upload. Each piece is a transaction, which is held in memory until it has run.
pub const CONTENT_PIECE_SIZE_MAX: usize = 4 * storage::limits::CONTENT_CHUNK_SIZE_MAX;

/// Databases that a counter can have values of.
pub const COUNTER_NODE_COUNT_MAX: usize = 1024;

/// Bytes of one document, body and stored metadata together.
pub const DOCUMENT_SIZE_MAX: usize = 64 * 1024 * 1024;

/// Bytes of a collection's name. It is part of a key.
pub const COLLECTION_NAME_SIZE_MAX: usize = 512;

/// Collections of one database. Each has two trees of its own, and stays when it is empty.
pub const COLLECTION_COUNT_MAX: u32 = 65_536;

/// Documents removed in one transaction when a whole collection goes, so that other writes get their turn.
pub const DELETE_BY_COLLECTION_COUNT_MAX: usize = 1024;

/// Due documents handled in one transaction, for the same reason.
pub const DUE_COUNT_AT_ONCE: usize = 1024;

/// Bytes of due documents that one transaction handles, but for its last one.
pub const DUE_SIZE_AT_ONCE: usize = 8 * 1024 * 1024;

/// Revisions that one change of a document removes at most; the next change removes more.
pub const REVISIONS_PURGED_AT_ONCE: u64 = 1024;

/// Documents whose revisions one transaction changes at most, when an operation goes through all of them.
pub const REVISED_DOCUMENTS_AT_ONCE: usize = 256;

/// Unique constraints of a database.
pub const CONSTRAINTS_MAX: usize = 256;
/// Fields of a unique constraint.
pub const CONSTRAINT_FIELDS_MAX: usize = 16;
/// Bytes of the name of a unique constraint.
pub const CONSTRAINT_NAME_SIZE_MAX: usize = 512;
/// Duplicates that are told when a unique constraint cannot be made.
pub const DUPLICATES_TOLD_MAX: usize = 100;

/// Tombstones cleaned in one transaction, for the same reason.
pub const TOMBSTONE_CLEANING_COUNT_MAX: usize = 4096;

/// Ids that a range of hi-lo holds at least and at most.
pub const HILO_CAPACITY_MIN: u64 = 32;
/// See [`HILO_CAPACITY_MIN`].
pub const HILO_CAPACITY_MAX: u64 = 1024 * 1024;
