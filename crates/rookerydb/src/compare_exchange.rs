//! Compare-exchange values: values under a key that change only if they are what the caller expects.

use database::documents::{ValueChange, Write};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{of_database, of_documents};
use crate::{Database, Result};

/// A stored value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchangeable<T> {
    /// The index of its last change, which a put or a deletion expects.
    pub index: u64,
    /// The value.
    pub value: T,
}

/// The compare-exchange values of a database. Keys are compared in any case.
///
/// ```
/// # fn main() -> rookerydb::Result<()> {
/// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
/// let values = shop.compare_exchange();
/// let index = values.put("emails/ann@example.com", &"users/1", 0)?.expect("it was free");
/// assert_eq!(values.put("emails/ann@example.com", &"users/2", 0)?, None);
/// let stored = values.get::<String>("emails/ann@example.com")?.unwrap();
/// assert_eq!((stored.index, stored.value.as_str()), (index, "users/1"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct CompareExchange<'d> {
    database: &'d Database,
}

impl Database {
    /// The compare-exchange values.
    pub fn compare_exchange(&self) -> CompareExchange<'_> {
        CompareExchange { database: self }
    }
}

impl CompareExchange<'_> {
    /// Stores a value if the stored one has the expected index; gives its new index when it is durable. `None`: the index was another one,
    /// and nothing was changed.
    ///
    /// * `index`: 0 expects that there is no value.
    ///
    /// # Errors
    ///
    /// [`Error::Json`](crate::Error::Json); [`Error::Invalid`](crate::Error::Invalid): the key cannot be one;
    /// [`Error::Busy`](crate::Error::Busy), [`Error::Storage`](crate::Error::Storage).
    pub fn put(&self, key: &str, value: &impl Serialize, index: u64) -> Result<Option<u64>> {
        let value = serde_json::to_vec(&serde_json::json!({ "Object": value }))?;
        self.run(ValueChange::put(key, &value, Some(index)).map_err(of_documents)?)
    }

    /// Deletes a value if it has the expected index. False: it has another one, or there is no value.
    ///
    /// # Errors
    ///
    /// As [`Self::put`].
    pub fn delete(&self, key: &str, index: u64) -> Result<bool> {
        let change = ValueChange::delete(key, Some(index)).map_err(of_documents)?;
        Ok(self.run(change)?.is_some())
    }

    fn run(&self, change: ValueChange) -> Result<Option<u64>> {
        let database = self.database.open()?;
        let answer = database.write(&Write::Exchange(change)).map_err(of_database)?;
        let exchanged = answer.exchanged().map_err(of_documents)?;
        Ok(exchanged.is_done.then_some(exchanged.index))
    }

    /// The value of a key. `None`: there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Json`](crate::Error::Json): it does not fit the type; [`Error::Storage`](crate::Error::Storage).
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<Exchangeable<T>>> {
        let database = self.database.open()?;
        let snapshot = database.read();
        let stored = snapshot.compare_exchange_value(key).map_err(of_documents)?;
        let value = |stored: &database::documents::CompareExchangeValue<'_>| match stored.object() {
            Some(object) => serde_json::from_slice(object.bytes()),
            None => serde_json::from_str("null"),
        };
        stored.map(|stored| Ok(Exchangeable { index: stored.index(), value: value(&stored)? })).transpose()
    }
}
