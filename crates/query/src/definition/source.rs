//! Where the documents come from that an index depends on.

use super::name_of;
use std::borrow::Cow;

/// A source of an index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IndexSource {
    /// A collection; `None`: all documents.
    pub collection: Option<String>,
    /// Its documents are loaded while others are mapped; else they are mapped.
    pub is_referenced: bool,
}

impl IndexSource {
    /// One whose documents are mapped.
    pub fn of(collection: Option<String>) -> IndexSource {
        IndexSource { collection, is_referenced: false }
    }

    /// The name of its collection, or of all documents.
    pub fn name(&self) -> &str {
        name_of(self.collection.as_deref())
    }

    /// The name under which an index keeps how far it is.
    pub(crate) fn progress_name(&self) -> Cow<'_, str> {
        match self.is_referenced {
            false => Cow::Borrowed(self.name()),
            // No collection has this beginning, which is reserved.
            true => Cow::Owned(format!("@referenced/{}", self.name())),
        }
    }
}
