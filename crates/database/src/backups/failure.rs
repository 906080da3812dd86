//! Why a place for backups failed.

/// Why a destination failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{operation} '{path}' in {place}: {reason}")]
pub struct DestinationError {
    /// What was attempted, in the infinitive.
    pub operation: &'static str,
    /// The file or folder, below the destination.
    pub path: String,
    /// The destination, without secrets.
    pub place: String,
    /// What it said.
    pub reason: String,
}
