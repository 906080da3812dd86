//! Where the documents or counters of a map come from.

/// The source of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// All documents, those of system collections included.
    AllDocuments,
    /// The documents of these collections, at least one; names compare without case.
    Collections(Vec<String>),
    /// Counters of documents.
    Counters {
        /// The collection of their documents; `None`: all.
        collection: Option<String>,
        /// Their name; `None`: any.
        name: Option<String>,
    },
}

impl Source {
    /// Whether counters are mapped.
    pub fn is_of_counters(&self) -> bool {
        matches!(self, Source::Counters { .. })
    }
}
