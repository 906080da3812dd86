//! Why an operation on an index failed.

/// The result of an operation on an index.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation on an index failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// What is stored breaks a rule of the format. Delete the index and build it again: documents are the truth.
    #[error("the index is damaged: {rule}")]
    Corrupt {
        /// The rule.
        rule: &'static str,
    },
    /// The index was written by an older version. Build it again.
    #[error("the index has format version {found}; this program builds version {known}")]
    OlderFormat {
        /// The version found.
        found: u64,
        /// The version that is built.
        known: u64,
    },
    /// The index was written by a newer version. Open it with that, or build it again.
    #[error("the index has format version {found}; this program knows up to {known}")]
    NewerFormat {
        /// The version found.
        found: u64,
        /// The newest version known.
        known: u64,
    },
    /// Another kind of environment is kept in the folder. Nothing was changed.
    #[error("the folder does not contain an index")]
    NotAnIndex,
    /// Something given is over its bound. The document cannot be indexed so, or the batch has to end before it.
    #[error("{what} of {size} bytes is over the limit of {max} bytes")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Bytes given.
        size: usize,
        /// Bytes allowed.
        max: usize,
    },
    /// What a batch changes is over a bound. Fewer documents have to come at once.
    #[error("a batch of index entries of {size} bytes is over the limit of {max} bytes")]
    LargeBatch {
        /// Bytes given.
        size: usize,
        /// Bytes allowed.
        max: usize,
    },
    /// A field more than [`super::limits::FIELD_COUNT_MAX`].
    #[error("the field '{}' would be one more than the limit FIELD_COUNT_MAX of {max}", .name.escape_debug())]
    TooManyFields {
        /// Its name.
        name: String,
        /// How many there may be.
        max: usize,
    },
    /// A field has texts that are too long to be kept whole, and a condition looks at their end. Ask for their beginning, or for
    /// all of one.
    #[error(
        "the field '{field}' has texts over the limit TERM_SIZE_MAX of {} bytes: conditions cannot look at their end",
        super::limits::TERM_SIZE_MAX
    )]
    LongText {
        /// The field.
        field: String,
    },
    /// A query asks for what is like an entry, and none is there to be compared with.
    #[error("the condition of moreLikeThis() did not yield any documents that could be used as a base of comparison")]
    NothingToCompare,
    /// A query asks for a phrase of too many words.
    #[error("a phrase of {count} words exceeds the limit PHRASE_WORDS_MAX = {}", crate::limits::PHRASE_WORDS_MAX)]
    LongPhrase {
        /// Its words.
        count: usize,
    },
    /// A query asks for words near each other, and its text has one word. Ask for it with `search()`.
    #[error("Proximity search works only on multiple search terms")]
    ProximityOfOneWord,
    /// An entry has too many vectors in a field.
    #[error(
        "a field of an entry has more vectors than the limit VECTORS_OF_ENTRY_MAX = {}",
        crate::limits::VECTORS_OF_ENTRY_MAX
    )]
    TooManyVectors,
    /// Something is no vector, or has another number of components than the field. The document cannot be indexed so; ask for another one.
    #[error(transparent)]
    Vector(#[from] crate::vector::VectorError),
    /// Something is no shape, or not within the bounds of its field. Ask for another one; the document cannot be indexed so.
    #[error(transparent)]
    Shape(#[from] crate::spatial::ShapeError),
    /// Indexing failed for the share of documents at which the definition is taken for wrong. Put another definition.
    #[error("{failed} of {attempted} documents could not be indexed, more than one in seven")]
    TooManyFailures {
        /// Documents that could not.
        failed: u64,
        /// Documents in all.
        attempted: u64,
    },
    /// A field has no analyzer: a custom one that was deleted before the index was reset. Define the analyzer, and reset the index.
    #[error("{0}")]
    NoAnalyzer(String),
    /// The index or its database is being closed. Nothing of the batch was written.
    #[error("indexing was stopped")]
    Interrupted,
    /// Making entries met a bug. The index stays as it is.
    #[error("indexing met a bug in Rookery")]
    Bug,
    /// The documents that are indexed, or that a query finds, cannot be read.
    #[error(transparent)]
    Documents(#[from] documents::Error),
    /// The storage below failed.
    #[error(transparent)]
    Storage(#[from] storage::Error),
}

impl Error {
    /// Whether what is stored cannot be used: the index has to be built anew.
    pub fn is_damage(&self) -> bool {
        use storage::Error as S;
        matches!(
            self,
            Error::Corrupt { .. }
                | Error::OlderFormat { .. }
                | Error::NotAnIndex
                | Error::Storage(S::Corrupt { .. } | S::CorruptFile { .. })
        )
    }

    /// Whether the index is what it was, and may go on once something else is over: a full disk, an old snapshot, documents that cannot be
    /// read.
    pub fn passes(&self) -> bool {
        match self {
            Error::Documents(_) | Error::Interrupted => true,
            Error::Storage(error) => error.passes(),
            _ => false,
        }
    }
}

/// A rule that stored bytes break.
pub(crate) fn corrupt(rule: &'static str) -> Error {
    Error::Corrupt { rule }
}
