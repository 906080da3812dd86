//! What a run came to.

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The result as JSON: what was returned, or the document that was patched.
    pub json: Vec<u8>,
    /// Whether what was returned is the first argument itself.
    pub is_first_argument: bool,
    /// What is to be put and deleted, in order.
    pub effects: Vec<Effect>,
    /// Ids of documents to send with the results.
    pub includes: Vec<String>,
    /// Keys of compare-exchange values to send with the results.
    pub included_values: Vec<String>,
    /// What was printed.
    pub printed: Vec<String>,
    /// Ids of the documents that were loaded, and whether they were there.
    pub loaded: Vec<(String, bool)>,
}

/// Something that a script wants to be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A document is to be put.
    Put {
        /// Its whole id.
        id: String,
        /// Checked JSON, an object.
        json: Vec<u8>,
        /// The change vector it must have; empty: it must not be there.
        expected: Option<String>,
    },
    /// A document is to be deleted.
    Delete {
        /// Its id.
        id: String,
        /// The change vector it must have.
        expected: Option<String>,
    },
    /// A counter of a document is to be changed.
    Counter {
        /// The id of the document.
        id: String,
        /// Its name.
        name: String,
        /// What is added to it; `None`: it is to be deleted.
        delta: Option<i64>,
    },
    /// A document is no longer archived, once it is written.
    Unarchive {
        /// Its id.
        id: String,
    },
}
