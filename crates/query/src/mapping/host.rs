//! What mapping knows of the database: the document at hand, and who can load another one.

use super::error::Result;
use json::{Properties, Raw};
use std::borrow::Cow;

/// A document as a snapshot has it.
#[derive(Clone, Debug)]
pub struct DocumentView<'d> {
    /// The id as it is spelled.
    pub id: &'d str,
    /// Its properties without `@metadata`: an object.
    pub body: Raw<'d>,
    /// The stored properties of its metadata.
    pub metadata: Properties<'d>,
    /// The properties of its metadata that the server maintains.
    pub server_metadata: Properties<'d>,
    /// Whether its metadata have `@archived` too.
    pub is_archived: bool,
    /// Its collection as the document spells it; `@empty` if it names none.
    pub collection: Cow<'d, str>,
    /// The change vector; may be empty for a definition that does not read metadata ([`Map::reads_metadata`](super::Map::reads_metadata)).
    pub change_vector: Cow<'d, str>,
    /// When it was written.
    pub last_modified: documents::Date,
}

impl<'d> DocumentView<'d> {
    /// A property of the metadata, of either part.
    pub fn of_metadata(&self, name: &str) -> Option<Raw<'d>> {
        self.metadata.get(name).or_else(|| self.server_metadata.get(name))
    }
}

/// An attachment of a document.
#[derive(Clone, Debug)]
pub struct Attachment<'d> {
    /// Its name.
    pub name: &'d str,
    /// Its content type.
    pub content_type: &'d str,
    /// The hash of its content.
    pub hash: String,
    /// Bytes of its content.
    pub size: u64,
}

/// Whether a document is mapped again when one that it loads changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Following {
    /// `LoadDocument`
    Followed,
    /// `NoTracking.LoadDocument`
    Ignored,
}

/// Answers what a definition asks of the database, all from one snapshot of life `'d`.
///
/// What it is asked for is what the index depends on, but for what is not [followed](Following): the host notes it, so that the
/// document is mapped again when that changes. A failure ends the mapping of the document with [`MapError::Host`](super::MapError::Host).
pub trait Host<'d> {
    /// The document with this id if it is there and in this collection; case is ignored in both.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn load_document(&mut self, id: &str, collection: &str, following: Following) -> Result<Option<DocumentView<'d>>>;

    /// The value of a key of the cluster-wide map.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn load_compare_exchange(&mut self, key: &str) -> Result<Option<Raw<'d>>>;

    /// The attachment with this name of the document with this id.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn load_attachment(&mut self, id: &str, name: &str) -> Result<Option<Attachment<'d>>>;

    /// The content of the attachment with this name of the document with this id, as text.
    ///
    /// # Errors
    ///
    /// If it cannot be read; [`MapError::TooLong`](super::MapError::TooLong).
    fn load_content(&mut self, id: &str, name: &str) -> Result<Option<String>>;

    /// Asked now and then: whether the evaluation is to end with [`super::MapError::Interrupted`].
    fn is_stopped(&self) -> bool {
        false
    }
}

/// A host that has nothing: for reduces, which may not ask, and for tests.
#[derive(Debug)]
pub struct NoHost;

impl<'d> Host<'d> for NoHost {
    fn load_document(&mut self, _: &str, _: &str, _: Following) -> Result<Option<DocumentView<'d>>> {
        Ok(None)
    }

    fn load_compare_exchange(&mut self, _key: &str) -> Result<Option<Raw<'d>>> {
        Ok(None)
    }

    fn load_attachment(&mut self, _id: &str, _name: &str) -> Result<Option<Attachment<'d>>> {
        Ok(None)
    }

    fn load_content(&mut self, _id: &str, _name: &str) -> Result<Option<String>> {
        Ok(None)
    }
}
