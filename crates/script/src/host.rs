//! What scripts ask of the database.

use std::rc::Rc;

/// A document as scripts see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The id as it is spelled.
    pub id: String,
    /// Checked JSON: an object, with the stored properties of its metadata as `@metadata`.
    pub json: Rc<[u8]>,
    /// The rest of its metadata; `None` for one that is not stored.
    pub stored: Option<Stored>,
}

/// What a document has once it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The change vector.
    pub change_vector: String,
    /// When it was written, as clients read it.
    pub last_modified: String,
    /// The same in ticks of 100 ns since the year 1.
    pub ticks: u64,
}

/// A counter of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// The value of each database, by its name; `None`: there is no such counter.
    pub values: Option<Vec<(String, i64)>>,
    /// The name of this database.
    pub own: String,
}

/// What ids are compared by: those with the same key are of one document.
pub type Key = fn(id: &str) -> Vec<u8>;

/// Answers the questions of a run. It is asked the same question once.
pub trait Host {
    /// How it compares ids. It gives the same each time.
    fn key(&self) -> Key;

    /// The document with this id, in any case.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    fn load(&mut self, id: &str) -> Result<Option<Document>, String>;

    /// The compare-exchange value with this key, in any case: checked JSON, without its metadata.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    fn value(&mut self, key: &str) -> Result<Option<Rc<[u8]>>, String>;

    /// A whole id for a document that is put under `given`, which ends with `/` or is empty.
    ///
    /// # Errors
    ///
    /// Why there is none.
    fn new_id(&mut self, given: &str) -> Result<String, String>;

    /// The counter of a document, both in any case.
    ///
    /// # Errors
    ///
    /// Why it cannot be read: scripts of most places read no counters.
    fn counter(&mut self, _id: &str, _name: &str) -> Result<Counter, String> {
        Err("counters cannot be read by this script".to_owned())
    }
}

/// A host that has nothing.
#[derive(Debug)]
pub struct NoHost;

impl Host for NoHost {
    fn key(&self) -> Key {
        |id| id.as_bytes().to_vec()
    }

    fn load(&mut self, _id: &str) -> Result<Option<Document>, String> {
        Ok(None)
    }

    fn value(&mut self, _key: &str) -> Result<Option<Rc<[u8]>>, String> {
        Ok(None)
    }

    fn new_id(&mut self, given: &str) -> Result<String, String> {
        Err(format!("there is no id for '{given}'"))
    }
}
