//! What a compaction tells of itself, while it goes on and when it is done.

/// How far a compaction is, or what it came to: of the documents with all indexes, or of one index.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct CompactionReport {
    /// The database, or the index.
    pub name: String,
    /// What is copied or checked now; `None`: nothing is.
    pub copied: Option<&'static str>,
    /// Items of that which are done.
    pub done: u64,
    /// Items of that in all.
    pub total: u64,
    /// Whether nothing was done, because there is nothing to do or nothing that can be done.
    pub is_skipped: bool,
    /// Whether this part is over.
    pub is_processed: bool,
    /// Bytes of its files before; 0 while they are not known.
    pub size_before: u64,
    /// The same after.
    pub size_after: u64,
    /// Sentences for people, the oldest first.
    pub messages: Vec<String>,
    /// The indexes, in the order in which they were named.
    pub indexes: Vec<CompactionReport>,
}

impl CompactionReport {
    pub(super) fn of(name: &str) -> CompactionReport {
        CompactionReport { name: name.to_owned(), ..CompactionReport::default() }
    }

    /// The last sentence for people.
    pub fn message(&self) -> Option<&str> {
        self.messages.last().map(String::as_str)
    }

    /// Parts that are over, and parts in all.
    pub fn parts(&self) -> (u64, u64) {
        let over = self.indexes.iter().filter(|index| index.is_processed).count() as u64;
        (over + u64::from(self.is_processed), self.indexes.len() as u64 + 1)
    }

    pub(super) fn skip(&mut self, message: String) {
        (self.is_skipped, self.is_processed) = (true, true);
        self.messages.push(message);
    }

    pub(super) fn finish(&mut self, message: String) {
        (self.copied, self.is_processed) = (None, true);
        self.messages.push(message);
    }
}
