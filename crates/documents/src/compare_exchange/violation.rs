//! Conditions of cluster-wide transactions that do not hold, in the words and the form that clients know.

use json::Writer;

/// A condition of a transaction that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The key of the value, or of the guard of a document.
    pub key: String,
    /// The document that the guard belongs to.
    pub document: Option<String>,
    /// The expected index, 0 for no value.
    pub expected: u64,
    /// The index of the stored value.
    pub actual: Option<u64>,
    /// True if it was to be deleted.
    pub is_deletion: bool,
}

impl Violation {
    /// Writes the element of `ConcurrencyViolations`.
    pub fn write(&self, json: &mut Writer<'_>) {
        let actual = self.actual.map_or(-1, |index| i64::try_from(index).unwrap_or(i64::MAX));
        json.object(|json| {
            json.name("Type").string(if self.document.is_some() { "Document" } else { "CompareExchange" });
            json.name("Id").string(&self.key).name("Expected").unsigned(self.expected).name("Actual").signed(actual);
        });
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Violation { key, expected, .. } = self;
        if let Some(id) = &self.document {
            writeln!(
                f,
                "Guard compare exchange value '{key}' index does not match the transaction index's {expected} change vector on {id}"
            )?;
        }
        let change = if self.is_deletion { "deleting" } else { "putting" };
        let actual = self.actual.map_or("-1".to_owned(), |index| index.to_string());
        write!(
            f,
            "Concurrency check failed for {change} the key '{key}'. Requested index: {expected}, actual index: {actual}"
        )
    }
}
