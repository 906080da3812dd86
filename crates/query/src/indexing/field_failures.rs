//! Fields of a document that cannot be indexed, where the rest of it can: in indexes that queries made, to which anybody adds fields.
//!
//! Without this, a query that asks a text for being a vector would take the documents out of the index that answers all others.

use super::indexer::Unmapped;
use crate::index::{Entry, Error, Result};

/// The fields of one document that were left out of its entry, and why.
#[derive(Default)]
pub(super) struct FieldFailures(Vec<FieldFailure>);

/// A field that was left out.
pub(super) struct FieldFailure {
    pub field: String,
    pub message: String,
}

impl FieldFailures {
    /// Adds a field to an entry. If that fails, the entry is as before and the failure is noted.
    ///
    /// # Errors
    ///
    /// What does not come from the document.
    pub fn attempt(
        &mut self,
        field: &str,
        entry: &mut Entry,
        add: impl FnOnce(&mut Entry) -> Result<(), Unmapped>,
    ) -> Result<(), Error> {
        let mark = entry.mark();
        match add(entry) {
            Ok(()) => Ok(()),
            Err(Unmapped::Error(error)) => Err(error),
            Err(Unmapped::Failed(message)) => {
                entry.go_back_to(mark);
                self.0.push(FieldFailure { field: field.to_owned(), message });
                Ok(())
            }
        }
    }

    /// Gives them, and has none then.
    pub fn drain(&mut self) -> impl Iterator<Item = FieldFailure> {
        self.0.drain(..)
    }
}
