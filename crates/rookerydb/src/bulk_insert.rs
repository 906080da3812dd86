//! Storing many documents.

use serde::Serialize;

use crate::collection::json_in;
use crate::error::of_database;
use crate::{Database, Error, Result};

/// Stores many documents in transactions of bounded size, several on their way at once. What was stored before an error stays.
///
/// It does not keep its store open: once the last [`Store`](crate::Store) and [`Database`] are dropped it fails with [`Error::Closed`]. The
/// folder can be opened again after it is dropped.
///
/// ```
/// # fn main() -> rookerydb::Result<()> {
/// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
/// let mut insert = shop.bulk_insert()?;
/// for number in 0..10_000 {
///     insert.put("Numbers", &format!("numbers/{number}"), &serde_json::json!({ "Value": number }))?;
/// }
/// assert_eq!(insert.finish()?, 10_000);
/// # Ok(())
/// # }
/// ```
pub struct BulkInsert(database::BulkInsert);

impl BulkInsert {
    pub(crate) fn begin(database: &Database) -> Result<BulkInsert> {
        database.open()?.bulk_insert(None, false).map(BulkInsert).map_err(of_database)
    }

    /// Adds a value in a collection.
    ///
    /// # Errors
    ///
    /// [`Error::Json`], [`Error::Invalid`], [`Error::Closed`]; the error of an earlier transaction.
    pub fn put(&mut self, collection: &str, id: &str, value: &impl Serialize) -> Result<()> {
        self.0.put(id, &json_in(collection, value)?).map_err(of_database)
    }

    /// Adds a document that is JSON text.
    ///
    /// # Errors
    ///
    /// As [`Self::put`].
    pub fn put_json(&mut self, id: &str, json: &str) -> Result<()> {
        self.0.put(id, json.as_bytes()).map_err(of_database)
    }

    /// Waits until everything is durable; the number of documents that were stored. Without this call the last documents are not stored.
    ///
    /// # Errors
    ///
    /// The error of a transaction.
    pub fn finish(self) -> Result<u64, Error> {
        Ok(self.0.finish().map_err(of_database)?.documents)
    }
}
