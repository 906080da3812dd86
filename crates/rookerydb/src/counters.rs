//! Counters of documents: numbers that many raise at once.

use database::documents::{Batch, CommandResult, CounterAction, CounterCommand, CounterOperation};

use crate::error::{of_database, of_documents};
use crate::{Database, Result};

/// The counters of one document. Names are compared in any case. They go with their document.
///
/// Raising one does not change the document, so that writers of counters and of the document do not disturb each other.
///
/// ```
/// # fn main() -> rookerydb::Result<()> {
/// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
/// shop.put("articles/1", &serde_json::json!({ "Title": "News" }))?;
/// let counters = shop.counters("articles/1");
/// counters.add("Likes", 1)?;
/// assert_eq!(counters.add("likes", 2)?, 3);
/// assert_eq!(counters.all()?, [("Likes".to_owned(), 3)]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Counters<'d> {
    database: &'d Database,
    document_id: String,
}

impl Database {
    /// The counters of a document.
    pub fn counters(&self, document_id: impl Into<String>) -> Counters<'_> {
        Counters { database: self, document_id: document_id.into() }
    }
}

impl Counters<'_> {
    /// Adds to a counter, which begins at 0; gives its new value when that is durable.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid): there is no such document, the name cannot be one, or the sum is no 64-bit number;
    /// [`Error::Busy`](crate::Error::Busy), [`Error::Storage`](crate::Error::Storage).
    pub fn add(&self, name: &str, delta: i64) -> Result<i64> {
        match self.run(name, CounterAction::Increment(delta))? {
            CommandResult::Counters { counters, .. } => {
                let raised = counters.into_iter().flatten().next();
                Ok(raised.expect("a counter that was raised has a value").total)
            }
            _ => unreachable!("the result of a command is of its kind"),
        }
    }

    /// Deletes a counter. True if there was one.
    ///
    /// # Errors
    ///
    /// As [`Self::add`].
    pub fn delete(&self, name: &str) -> Result<bool> {
        let is_there = self.get(name)?.is_some();
        if is_there {
            self.run(name, CounterAction::Delete)?;
        }
        Ok(is_there)
    }

    fn run(&self, name: &str, action: CounterAction) -> Result<CommandResult> {
        let database = self.database.open()?;
        let operation = CounterOperation { name: name.to_owned(), action };
        let mut batch = Batch::new();
        batch.push_counters(CounterCommand::new(&self.document_id, vec![operation], false).map_err(of_documents)?);
        let result = database.execute(batch).map_err(of_database)?.results.pop();
        Ok(result.expect("a batch has one result for each of its commands"))
    }

    /// The value of a counter. `None`: there is none of this name.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::Error::Storage).
    pub fn get(&self, name: &str) -> Result<Option<i64>> {
        let database = self.database.open()?;
        let snapshot = database.read();
        Ok(snapshot.counter(&self.document_id, name).map_err(of_documents)?.map(|counter| counter.total()))
    }

    /// Names and values of all of the document, by name.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::Error::Storage).
    pub fn all(&self) -> Result<Vec<(String, i64)>> {
        let database = self.database.open()?;
        let snapshot = database.read();
        let all = snapshot.counters(&self.document_id).map_err(of_documents)?;
        Ok(all.iter().map(|counter| (counter.name().to_owned(), counter.total())).collect())
    }
}
