//! How much one batch takes.

/// Documents of one batch: enough that changes share the leaves of the index, few enough that other indexes get their turn and
/// that what is read stays in memory.
pub const BATCH_DOCUMENTS: usize = 32 << 10;

/// Bytes of entries in one batch.
pub const BATCH_BYTES: usize = 16 << 20;

/// Documents that the maps of one document may load: each is looked up, and noted so that the document is mapped again when it
/// changes.
pub const LOADED_DOCUMENTS_MAX: usize = 4096;

/// Documents that are looked up at once to be mapped again because they asked for one that changed.
pub const ASKING_AT_ONCE: usize = 1024;
