//! The result of a batch, and the statistics that the index stores of it.

use crate::index::{IndexError, Notes, Progress};
use documents::Date;

/// The result of one batch.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct BatchResult {
    /// Documents that were indexed, or failed to be.
    pub indexed: u64,
    /// Tombstones that were heeded.
    pub removed: u64,
    /// Entries that the batch writes: those of its documents, or the results of the groups that changed.
    pub entries: u64,
    /// How far the index is with each of its sources now.
    pub progress: Vec<Progress>,
    /// Documents that could not be indexed, and have no entries now, or not all of their fields.
    pub failures: Vec<Failure>,
    /// Whether nothing of the snapshot is left.
    pub is_done: bool,
    /// When it was noted that something was indexed or removed.
    pub indexed_at: Option<Date>,
}

/// A document that could not be indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its id. `None`: what is wrong is a group, whose results are missing now.
    pub document: Option<String>,
    /// The field that its entry lacks. `None`: it has no entry.
    pub field: Option<String>,
    /// Why.
    pub message: String,
}

impl Failure {
    /// Whether nothing of a document could be indexed.
    pub fn is_of_document(&self) -> bool {
        self.document.is_some() && self.field.is_none()
    }

    /// What is kept of it.
    fn as_error(&self, at: Date) -> IndexError {
        let Failure { document, field, message } = self;
        let message = match field {
            Some(field) => format!("The field '{field}' was left out: {message}"),
            None => message.clone(),
        };
        IndexError { at, document: document.clone(), message }
    }
}

/// When a batch is written, and what an index stores in addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Now.
    pub now: Date,
    /// When the index was last asked.
    pub last_query: Option<Date>,
    /// The same on the clock of who retires indexes.
    pub last_use: Option<Date>,
}

impl BatchResult {
    /// Documents that could not be indexed at all.
    pub fn failed_count(&self) -> u64 {
        self.failures.iter().filter(|failure| failure.is_of_document()).count() as u64
    }

    /// What the index notes of it.
    pub(super) fn notes(&mut self, moment: Moment) -> Notes {
        let Moment { now, last_query, last_use } = moment;
        self.indexed_at = (self.indexed + self.removed > 0).then_some(now);
        Notes {
            attempted: self.indexed,
            failed: self.failed_count(),
            indexed: self.indexed_at,
            last_query,
            last_use,
            errors: self.failures.iter().map(|failure| failure.as_error(now)).collect(),
        }
    }
}
