//! How much one batch takes.

/// Documents of one batch: enough that changes share the leaves of the index, few enough that other indexes get their turn and
/// that what is read stays in memory.
pub const BATCH_DOCUMENTS: usize = 32 << 10;

/// Bytes of entries in one batch.
pub const BATCH_BYTES: usize = 16 << 20;
