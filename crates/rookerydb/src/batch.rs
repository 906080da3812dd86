//! Several writes in one transaction.

use database::documents::{self, CommandResult};
use serde::Serialize;

use crate::collection::json_in;
use crate::error::of_documents;
use crate::{Database, Result};

/// The version of a document that a write expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Any, or no document.
    Any,
    /// There is no document of this id.
    Missing,
    /// This change vector ([`Document::change_vector`](crate::Document::change_vector)).
    Version(String),
}

impl Expected {
    pub(crate) fn into_documents(self) -> documents::Expected {
        match self {
            Expected::Any => documents::Expected::Any,
            Expected::Missing => documents::Expected::Missing,
            Expected::Version(vector) => documents::Expected::Vector(vector),
        }
    }
}

/// The result of one write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteResult {
    /// The id, completed.
    pub id: String,
    /// The new version; `None`: nothing was stored.
    pub change_vector: Option<String>,
    /// True if a document was deleted.
    pub is_deleted: bool,
}

impl WriteResult {
    pub(crate) fn of(result: CommandResult) -> WriteResult {
        let (id, change_vector, is_deleted) = match result {
            CommandResult::Put { id, change_vector, .. } => (id, Some(change_vector), false),
            CommandResult::Delete { id, deleted } => (id, None, deleted),
            CommandResult::DeletePrefixed { prefix, count } => (prefix, None, count > 0),
            CommandResult::Patch { report, written } => {
                (report.id, written.map(|written| written.change_vector), false)
            }
            CommandResult::Counters { id, document_change_vector, .. } => (id, document_change_vector, false),
            CommandResult::AttachmentPut { details, document_change_vector }
            | CommandResult::AttachmentCopy { details, document_change_vector } => {
                (details.document_id, Some(document_change_vector), false)
            }
            CommandResult::AttachmentDelete { id, document_change_vector, .. } => (id, document_change_vector, false),
            CommandResult::AttachmentMove { id, document_change_vector, .. } => {
                (id, Some(document_change_vector), false)
            }
            CommandResult::Revision { id, change_vector, .. } => (id, Some(change_vector), false),
            CommandResult::PatchMany | CommandResult::TrackChanges => (String::new(), None, false),
        };
        WriteResult { id, change_vector, is_deleted }
    }
}

/// Several writes in one transaction: all of them are applied, or none.
///
/// With [`Expected`] they are applied only if the documents are as they were read (optimistic concurrency):
///
/// ```
/// use rookerydb::{Error, Expected};
/// use serde_json::json;
///
/// # fn main() -> rookerydb::Result<()> {
/// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
/// shop.put("accounts/1", &json!({ "Balance": 10 }))?;
/// let read = shop.get("accounts/1")?.unwrap();
/// shop.put("accounts/1", &json!({ "Balance": 3 }))?; // another thread
///
/// let version = Expected::Version(read.change_vector().to_owned());
/// let outcome = shop
///     .batch()
///     .put("accounts/1", &json!({ "Balance": 5 }), version)?
///     .put("transfers/1", &json!({ "Amount": 5 }), Expected::Missing)?
///     .execute();
/// assert!(matches!(outcome, Err(Error::Conflict { id, .. }) if id == "accounts/1"));
/// assert!(shop.get("transfers/1")?.is_none());
/// # Ok(())
/// # }
/// ```
pub struct Batch<'d> {
    database: &'d Database,
    batch: documents::Batch,
}

impl<'d> Batch<'d> {
    pub(crate) fn new(database: &'d Database) -> Batch<'d> {
        Batch { database, batch: documents::Batch::new() }
    }

    /// Stores a value, as [`Database::put`](crate::Database::put).
    ///
    /// # Errors
    ///
    /// [`Error::Json`](crate::Error::Json), [`Error::Invalid`](crate::Error::Invalid).
    pub fn put(mut self, id: &str, value: &impl Serialize, expected: Expected) -> Result<Self> {
        self.batch.put(id, &serde_json::to_vec(value)?, expected.into_documents()).map_err(of_documents)?;
        Ok(self)
    }

    /// Stores a value in a collection, as [`Collection::put`](crate::Collection::put).
    ///
    /// # Errors
    ///
    /// As [`Self::put`].
    pub fn put_in(mut self, collection: &str, id: &str, value: &impl Serialize, expected: Expected) -> Result<Self> {
        self.batch.put(id, &json_in(collection, value)?, expected.into_documents()).map_err(of_documents)?;
        Ok(self)
    }

    /// Stores a document that is JSON text.
    ///
    /// # Errors
    ///
    /// As [`Self::put`].
    pub fn put_json(mut self, id: &str, json: &str, expected: Expected) -> Result<Self> {
        self.batch.put(id, json.as_bytes(), expected.into_documents()).map_err(of_documents)?;
        Ok(self)
    }

    /// Deletes a document.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid).
    pub fn delete(mut self, id: &str, expected: Expected) -> Result<Self> {
        self.batch.delete(id, expected.into_documents()).map_err(of_documents)?;
        Ok(self)
    }

    /// Deletes all documents whose ids begin with a prefix.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid).
    pub fn delete_by_prefix(mut self, prefix: &str) -> Result<Self> {
        self.batch.delete_prefixed(prefix).map_err(of_documents)?;
        Ok(self)
    }

    /// Applies the writes and returns when they are durable: one result for each, in their order.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`](crate::Error::Conflict), [`Error::ConflictInBatch`](crate::Error::ConflictInBatch),
    /// [`Error::Busy`](crate::Error::Busy), [`Error::Storage`](crate::Error::Storage). Nothing was applied, unless the storage failed.
    pub fn execute(self) -> Result<Vec<WriteResult>> {
        self.database.execute_batch(self.batch)
    }
}
