//! Where the documents of a map come from.

/// The source of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// All documents, those of system collections included.
    AllDocuments,
    /// The documents of these collections, at least one; names compare without case.
    Collections(Vec<String>),
}
