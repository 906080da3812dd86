//! Host functions of patch scripts.

use std::rc::Rc;

use documents::{PatchInput, View, Write};
use script::{Counter, Document, Host, Key, Stored};

use crate::{Database, Error};

/// Answers from the view of a batch.
pub(super) struct PatchHost<'h, 'v> {
    pub database: &'h Database,
    pub view: &'h mut View<'v>,
    /// Why the last question has no answer.
    pub failed: Option<Error>,
}

impl Host for PatchHost<'_, '_> {
    fn key(&self) -> Key {
        documents::id::lower
    }

    fn load(&mut self, id: &str) -> Result<Option<Document>, String> {
        match self.view.get(id) {
            Ok(seen) => Ok(seen.as_ref().map(document)),
            Err(error) => Err(self.note(error.into())),
        }
    }

    fn counter(&mut self, id: &str, name: &str) -> Result<Counter, String> {
        let own = self.view.counter_database();
        match self.view.counter(id, name) {
            Ok(values) => Ok(Counter { values, own }),
            Err(error) => Err(self.note(error.into())),
        }
    }

    fn value(&mut self, key: &str) -> Result<Option<Rc<[u8]>>, String> {
        let value = self.view.value(key).map_err(|error| self.note(error.into()))?;
        Ok(value.map(Rc::from))
    }

    /// An id with an etag that no write will have.
    fn new_id(&mut self, given: &str) -> Result<String, String> {
        let id = if given.is_empty() {
            Ok(documents::id::random_guid())
        } else {
            let write = Write::NewId { prefix: given.to_owned() };
            self.database.write(&write).and_then(|answer| Ok(answer.id()?))
        };
        id.map_err(|error| self.note(error))
    }
}

impl PatchHost<'_, '_> {
    fn note(&mut self, error: Error) -> String {
        let message = error.to_string();
        self.failed.get_or_insert(error);
        message
    }
}

/// A document as scripts see it.
pub(super) fn document(seen: &PatchInput) -> Document {
    Document {
        id: seen.id.clone(),
        json: seen.json.as_slice().into(),
        stored: seen.stored.as_ref().map(|(change_vector, date)| Stored {
            change_vector: change_vector.clone(),
            last_modified: date.to_string(),
            ticks: date.ticks(),
        }),
    }
}
