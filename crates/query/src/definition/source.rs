//! The sources of an index: the kinds and collections of items that it depends on.

use super::name_of;
use documents::ItemKind;
use std::borrow::Cow;

/// A source of an index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IndexSource {
    /// What is mapped or loaded.
    pub kind: ItemKind,
    /// A collection; `None`: all of them.
    pub collection: Option<String>,
    /// Its items are loaded while documents are mapped; else they are mapped.
    pub is_referenced: bool,
}

impl IndexSource {
    /// One whose documents are mapped.
    pub fn of(collection: Option<String>) -> IndexSource {
        IndexSource { kind: ItemKind::Document, collection, is_referenced: false }
    }

    /// The name of its collection, or of all documents, or of all compare-exchange values.
    pub fn name(&self) -> &str {
        match self.kind {
            ItemKind::Document | ItemKind::Attachment | ItemKind::Counter => name_of(self.collection.as_deref()),
            ItemKind::Revision => "@revisions",
            ItemKind::CompareExchange => "@compare-exchange",
        }
    }

    /// The name under which an index keeps how far it is.
    pub(crate) fn progress_name(&self) -> Cow<'_, str> {
        // No collection begins with `@` and has a slash.
        match (self.kind, self.is_referenced) {
            (ItemKind::Document, false) => Cow::Borrowed(self.name()),
            (ItemKind::Counter, _) => Cow::Owned(format!("@counters/{}", self.name())),
            (ItemKind::Document, true) => Cow::Owned(format!("@referenced/{}", self.name())),
            // No index has them as a source.
            (ItemKind::Revision, _) => Cow::Borrowed("@revisions/all"),
            // They belong to their documents, and are never mapped.
            (ItemKind::Attachment, _) => Cow::Owned(format!("@attachments/{}", self.name())),
            // They are loaded, never mapped.
            (ItemKind::CompareExchange, _) => Cow::Borrowed("@compare-exchange/referenced"),
        }
    }
}
