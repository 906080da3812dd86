//! What a bulk insert has applied so far.

/// What a bulk insert has applied so far.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct BulkInsertCounts {
    /// Commands.
    pub items: u64,
    /// Documents that were stored: no deletions, and none that was there already and was to be left alone then.
    pub documents: u64,
    /// Operations on counters.
    pub counters: u64,
    /// Attachments.
    pub attachments: u64,
    /// Transactions.
    pub batches: u64,
    /// The id of the last document.
    pub last_id: Option<String>,
}

impl BulkInsertCounts {
    /// ` Last document ID: 'x'`, as errors say it; empty before the first document.
    pub fn last_id_text(&self) -> String {
        self.last_id.as_deref().map_or_else(String::new, |id| format!(" Last document ID: '{id}'."))
    }
}
