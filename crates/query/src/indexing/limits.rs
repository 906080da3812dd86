//! How much one batch takes.

/// Documents of one batch: enough that changes share the leaves of the index, few enough that other indexes get their turn and
/// that what is read stays in memory.
pub const BATCH_DOCUMENTS: usize = 32 << 10;

/// Bytes of entries in one batch.
pub const BATCH_BYTES: usize = 16 << 20;

/// Bytes of the leaves of groups that one batch writes: a value that changes is written with up to 63 others.
pub const LEAF_BYTES: usize = 16 * BATCH_BYTES;

/// Bytes of results of groups that one batch has at most: they are made before they are put into it. Beyond that fewer documents come at
/// once.
pub const RESULTS_BYTES_MAX: usize = 256 << 20;

/// Bytes for which an index of groups keeps its memory when it has all that there is.
pub const GATHERED_BYTES_KEPT: usize = 256 << 10;

/// Bytes of the entries of one document, or of the values that it gives to groups, with the memory of their lists: some 300,000
/// small ones.
pub const DOCUMENT_RESULTS_SIZE_MAX: usize = 64 << 20;

/// Bytes of lists for each value that goes into a group.
pub const VALUE_OVERHEAD: usize = 192;

/// Entries whose memory is used again for the next document.
pub const ENTRIES_KEPT_MAX: usize = 1024;

/// Documents that the maps of one document may load: each is looked up, and noted so that the document is mapped again when it
/// changes.
pub const LOADED_DOCUMENTS_MAX: usize = 4096;

/// Documents that are looked up at once to be mapped again because they asked for one that changed.
pub const ASKING_AT_ONCE: usize = 1024;

/// Changes of documents that others may load, most of which nobody asked for, that one batch looks at for each that it may map.
pub const CHANGES_LOOKED_AT_SHARE: u64 = 4;

/// Documents whose groups are shown at once.
pub const SHOWN_DOCUMENTS_MAX: usize = 64;

/// Groups that are shown of those documents: one document may have a value in very many.
pub const SHOWN_GROUPS_MAX: usize = 256;

/// Nodes of a group that is shown whole: 4,096 values and what is above them. Of larger ones only the way to what was asked for is read.
pub const SHOWN_WHOLE_NODES_MAX: u64 = 65;

/// Bytes of nodes that are shown at once. What would be more is left out, and said to be.
pub const SHOWN_BYTES_MAX: usize = 16 << 20;
