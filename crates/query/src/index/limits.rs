//! Limits of an index.

pub use crate::limits::TERM_SIZE_MAX;

/// Bytes of the hash that completes a cut term.
pub const TERM_HASH_SIZE: usize = 16;

/// Bytes of one block of a posting list. Appending copies one, reading a single id decodes half of one, and a key of a
/// dozen bytes stands before each: 512 bytes are some 300 to 500 ids, and many thousands where ids follow each other.
pub const BLOCK_SIZE_MAX: usize = 512;

/// Bytes below which a block that lost ids is joined with its neighbour.
pub const BLOCK_SIZE_JOINED: usize = BLOCK_SIZE_MAX / 4;

/// Bytes of a joined block, and of a list that goes back into one value. Well below [`BLOCK_SIZE_MAX`], so that the next id
/// does not split it again.
pub const BLOCK_SIZE_AFTER_JOIN_MAX: usize = BLOCK_SIZE_MAX / 2;

/// The greatest id of an entry. A set has a bit for each entry, so that this many could not be asked for any more.
pub const ENTRY_ID_MAX: u64 = 1 << 40;

/// Fields of one index. A field's number has two bytes in each key; indexes that make fields out of data meet this bound.
pub const FIELD_COUNT_MAX: usize = 16_384;

/// Bytes of a field's name, and of a source's: they are keys of a tree.
pub const NAME_SIZE_MAX: usize = 1024;

/// Bytes of the id of what is mapped: a document's, or a counter's, which has that of its document and its name.
pub const DOCUMENT_ID_SIZE_MAX: usize = documents::limits::ID_SIZE_MAX + 1 + documents::limits::ITEM_NAME_SIZE_MAX;

/// Bytes of the terms of one entry. Each is read whole when its document changes.
pub const ENTRY_SIZE_MAX: usize = 64 << 20;

/// Bytes that one batch holds. Places in it are 32 bits wide; callers end a batch far below this.
pub const BATCH_SIZE_MAX: usize = 1 << 30;

/// Bytes for which a batch keeps its memory until the next.
pub(crate) const BATCH_BYTES_KEPT: usize = 64 << 20;

/// Bytes that a vector counts for in a batch beside its own: inserting a vector into its graph takes as long as writing this many bytes
/// of terms. With the bound on a batch of the indexer these are some two thousand vectors, about a second.
pub(crate) const VECTOR_WEIGHT: usize = 8 << 10;

/// Bytes of the nodes of groups for which a batch keeps its memory until the next.
pub(crate) const GROUP_BYTES_KEPT: usize = 32 << 20;

/// Terms of a range that are counted to see whether a query is a small one.
pub(crate) const FEW_TERMS_MAX: usize = 32;

/// Terms that an estimate looks at before it gives bounds instead of a count.
pub const ESTIMATED_TERMS_MAX: usize = 256;

/// Entries whose values are read to sort them, as long as their field has no column, however often so few are sorted: some ten
/// microseconds. Making one would take the time of all entries, where queries of few are answered at once.
pub const SORTED_WITHOUT_COLUMN_MAX: u64 = 64;

/// Bytes of all columns of an index: eight for each entry and field that is often sorted by. Those that are used least go.
pub const COLUMNS_SIZE_MAX: usize = 64 << 20;

/// Errors of an index that are kept: the last of them.
pub const ERRORS_KEPT_MAX: usize = 500;

/// Bytes of the message of an error that is kept; it may quote what a document or a script has.
pub const ERROR_MESSAGE_SIZE_MAX: usize = 4096;

/// States of the index that columns are kept of: a query that began this many batches ago still finds the state it began with.
pub const COLUMN_STATES_KEPT: usize = 4;

/// Entries that may change while a column is made, and in one batch; where more do it is made anew.
pub const COLUMN_CHANGES_MAX: usize = 1 << 20;

/// Problems that a verification tells in words; more are only counted.
pub const PROBLEMS_TOLD_MAX: usize = 100;

/// Bytes behind a word that say how often it comes.
pub(crate) const FREQUENCY_SIZE: usize = 3;

/// Bytes of the longest key of a posting list: field and kind, an escaped term, its end, the first id of a block.
pub(crate) const POSTING_KEY_SIZE_MAX: usize = 3 + 2 * (TERM_SIZE_MAX + TERM_HASH_SIZE + FREQUENCY_SIZE) + 1 + 9;

// A key and its block stay together in a leaf.
const _: () = assert!(2 + POSTING_KEY_SIZE_MAX + BLOCK_SIZE_MAX + 20 <= storage::limits::INLINE_SIZE_MAX);
const _: () = assert!(BLOCK_SIZE_AFTER_JOIN_MAX > BLOCK_SIZE_JOINED);
