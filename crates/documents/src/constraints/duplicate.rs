//! Documents that break a unique constraint which is to be made.

/// Values that more than one document has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The value of each field, as JSON.
    pub values: Vec<String>,
    /// Keys of documents that have them: two.
    pub ids: [String; 2],
}
