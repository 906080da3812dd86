//! Revisions: what documents were before.

use database::revisions::RevisionsProperty;
use serde::Serialize;

use crate::document::Document;
use crate::error::{of_database, of_documents};
use crate::{Database, Error, Result};

/// A state that a document had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revision {
    /// What was stored.
    State(Document),
    /// The document was deleted: of the deletion there is its metadata alone.
    Deletion(Document),
}

impl Revision {
    /// The document as it was, or the metadata of its deletion.
    pub fn document(&self) -> &Document {
        match self {
            Revision::State(document) | Revision::Deletion(document) => document,
        }
    }
}

impl Database {
    /// Names the collections whose revisions are kept, and how many are. It is the configuration of the server's
    /// `POST /databases/{name}/admin/revisions/config`.
    ///
    /// ```
    /// use rookerydb::Revision;
    /// use serde_json::json;
    ///
    /// # fn main() -> rookerydb::Result<()> {
    /// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
    /// shop.configure_revisions(&json!({ "Collections": { "Users": { "MinimumRevisionsToKeep": 10 } } }))?;
    /// let users = shop.collection("Users");
    /// users.put("users/1", &json!({ "Name": "Ann" }))?;
    /// users.put("users/1", &json!({ "Name": "Anna" }))?;
    /// let revisions = shop.revisions("users/1", 0, 100)?;
    /// assert_eq!(revisions.len(), 2);
    /// assert!(revisions[1].document().json().contains(r#""Name":"Ann""#));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Json`]; [`Error::Invalid`]: it is no configuration; [`Error::Storage`].
    pub fn configure_revisions(&self, configuration: &impl Serialize) -> Result<()> {
        let text = serde_json::to_vec(configuration)?;
        let value = json::Value::parse(&text).map_err(|error| Error::Invalid(error.to_string()))?;
        let databases = self.store().databases();
        databases
            .put_revisions_configuration(self.name(), RevisionsProperty::Collections, &value, None)
            .map_err(of_database)?;
        Ok(())
    }

    /// Revisions of a document, the newest first, also of one that was deleted.
    ///
    /// * `skip`: how many of the newest are left out.
    /// * `count_max`: how many are given at most.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    pub fn revisions(&self, id: &str, skip: u64, count_max: u64) -> Result<Vec<Revision>> {
        let database = self.open()?;
        let snapshot = database.read();
        let places = snapshot.revisions(id, skip, count_max).map_err(of_documents)?;
        let read = |place| {
            let revision = snapshot.revision_at(place).map_err(of_documents)?;
            let document = Document::of(&revision.document().map_err(of_documents)?);
            Ok(if revision.is_deletion() { Revision::Deletion(document) } else { Revision::State(document) })
        };
        places.into_iter().map(read).collect()
    }
}
