//! One database of a store.

use std::sync::Arc;
use std::time::{Duration, Instant};

use database::documents::{Expected as ExpectedVersion, PrefixQuery};
use query::definition::{IndexSettings, MapIndex};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{of_database, of_definition, of_documents};
use crate::{
    Batch, BulkInsert, Changes, Collection, Document, Error, IndexDefinition, IndexStatistics, Patch, Query, Result,
    Statistics, Store, WriteResult,
};

/// One database of a store. A clone is another handle to the same database.
#[derive(Clone, Debug)]
pub struct Database {
    store: Store,
    name: String,
}

impl Database {
    pub(crate) fn new(store: Store, name: String) -> Database {
        Database { store, name }
    }

    /// The name, as it was first spelled.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The store that it belongs to.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// A database that is at rest is closed, and opened again here.
    pub(crate) fn open(&self) -> Result<Arc<database::Database>> {
        let database = self.store.find(&self.name)?;
        database.note_request();
        Ok(database)
    }

    /// The documents of one kind.
    pub fn collection(&self, name: impl Into<String>) -> Collection {
        Collection::new(self.clone(), name.into())
    }

    /// Stores a value under an id, in place of the document that it has. An id that ends with `/` is completed with a number.
    ///
    /// A value without `@metadata` belongs to no collection; see [`Collection::put`].
    ///
    /// # Errors
    ///
    /// [`Error::Json`], [`Error::Invalid`]: the value is no object, or the id cannot be one; [`Error::Busy`], [`Error::Storage`].
    pub fn put(&self, id: &str, value: &impl Serialize) -> Result<WriteResult> {
        self.put_bytes(id, &serde_json::to_vec(value)?)
    }

    /// Stores a document that is JSON text. Its collection stands in `@metadata`.
    ///
    /// ```
    /// # fn main() -> rookerydb::Result<()> {
    /// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
    /// shop.put_json("users/1", r#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#)?;
    /// assert_eq!(shop.get("USERS/1")?.unwrap().collection(), Some("Users"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Self::put`].
    pub fn put_json(&self, id: &str, json: &str) -> Result<WriteResult> {
        self.put_bytes(id, json.as_bytes())
    }

    fn put_bytes(&self, id: &str, json: &[u8]) -> Result<WriteResult> {
        let mut batch = database::documents::Batch::new();
        batch.put(id, json, ExpectedVersion::Any).map_err(of_documents)?;
        let written = self.execute_batch(batch)?.into_iter().next();
        Ok(written.expect("a batch has one result for each of its commands"))
    }

    /// Deletes a document. True if there was one.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::Busy`], [`Error::Storage`].
    pub fn delete(&self, id: &str) -> Result<bool> {
        let mut batch = database::documents::Batch::new();
        batch.delete(id, ExpectedVersion::Any).map_err(of_documents)?;
        Ok(self.execute_batch(batch)?.iter().any(|written| written.is_deleted))
    }

    /// A batch of writes in one transaction.
    pub fn batch(&self) -> Batch<'_> {
        Batch::new(self)
    }

    pub(crate) fn execute_batch(&self, batch: database::documents::Batch) -> Result<Vec<WriteResult>> {
        let database = self.open()?;
        let outcome = database.execute(batch).map_err(of_database)?;
        Ok(outcome.results.into_iter().map(WriteResult::of).collect())
    }

    /// Changes a document with a script.
    ///
    /// ```
    /// # fn main() -> rookerydb::Result<()> {
    /// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
    /// shop.put_json("users/1", r#"{"Name":"Ann","Visits":1}"#)?;
    /// let status = shop.patch("users/1", "this.Visits += args.more").argument("more", 2).run()?;
    /// assert_eq!(status, rookerydb::PatchStatus::Patched);
    /// # assert!(shop.get("users/1")?.unwrap().json().contains(r#""Visits":3"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn patch(&self, id: impl Into<String>, script: impl Into<String>) -> Patch<'_> {
        Patch::new(self, id.into(), script.into())
    }

    /// Changes a document by a JSON Patch (RFC 6902): without a script, and by the bytes that change.
    ///
    /// * `operations`: a list of `{"op","path","value","from"}`. All are applied, or none.
    ///
    /// Returns whether anything changed, when that is durable.
    ///
    /// ```
    /// # fn main() -> rookerydb::Result<()> {
    /// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
    /// shop.put_json("users/1", r#"{"Name":"Ann","Tags":[]}"#)?;
    /// let operations = serde_json::json!([
    ///     { "op": "test", "path": "/Name", "value": "Ann" },
    ///     { "op": "add", "path": "/Tags/-", "value": "new" },
    /// ]);
    /// assert!(shop.json_patch("users/1", &operations)?);
    /// # assert!(shop.get("users/1")?.unwrap().json().contains(r#""Tags":["new"]"#));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`]: there is no such document, or an operation cannot be applied; [`Error::Json`], [`Error::Busy`],
    /// [`Error::Storage`].
    pub fn json_patch(&self, id: &str, operations: &impl Serialize) -> Result<bool> {
        crate::patch::json_patch(self, id, operations)
    }

    /// Stores many documents in transactions of bounded size, several on their way at once.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`], [`Error::Storage`].
    pub fn bulk_insert(&self) -> Result<BulkInsert> {
        BulkInsert::begin(self)
    }

    /// The document of an id, in any case. `None`: there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    pub fn get(&self, id: &str) -> Result<Option<Document>> {
        let database = self.open()?;
        let snapshot = database.read();
        Ok(snapshot.get(id).map_err(of_documents)?.as_ref().map(Document::of))
    }

    /// The document of an id as a value.
    ///
    /// # Errors
    ///
    /// [`Error::Json`]: it does not fit the type; [`Error::Storage`].
    pub fn get_as<T: DeserializeOwned>(&self, id: &str) -> Result<Option<T>> {
        self.get(id)?.map(|document| document.to()).transpose()
    }

    /// The documents of several ids, from one snapshot, in their order.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    pub fn get_many<'i>(&self, ids: impl IntoIterator<Item = &'i str>) -> Result<Vec<Option<Document>>> {
        let database = self.open()?;
        let snapshot = database.read();
        let documents = snapshot.get_many(ids).map_err(of_documents)?;
        Ok(documents.iter().map(|document| document.as_ref().map(Document::of)).collect())
    }

    /// Documents whose ids begin with a prefix, by id; `count_max` at most.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    pub fn get_by_prefix(&self, prefix: &str, count_max: usize) -> Result<Vec<Document>> {
        let database = self.open()?;
        let snapshot = database.read();
        let query = PrefixQuery { prefix: prefix.to_owned(), count_max: count_max as u64, ..PrefixQuery::default() };
        let documents = snapshot.by_prefix(query).map_err(of_documents)?;
        let documents = documents.map(|document| Ok(Document::of(&document.map_err(of_documents)?)));
        documents.collect()
    }

    /// A query in RQL.
    pub fn query(&self, rql: impl Into<String>) -> Query<'_> {
        Query::new(self, rql.into())
    }

    /// Defines an index, in place of the one of its name. If the definition changed, the old index answers until the new one has
    /// everything.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`]: the definition is wrong; [`Error::NotSupported`], [`Error::Storage`].
    pub fn put_index(&self, definition: &IndexDefinition) -> Result<()> {
        self.put_index_json(&definition.to_json())
    }

    /// Defines an index by JSON, as clients of RavenDB send it: `{"Name","Maps":[..],"Reduce","Fields":{..}}`.
    ///
    /// # Errors
    ///
    /// As [`Self::put_index`].
    pub fn put_index_json(&self, json: &str) -> Result<()> {
        let given = json::Value::parse(json.as_bytes()).map_err(|error| Error::Invalid(error.to_string()))?;
        let database = self.open()?;
        let definition = MapIndex::with_analyzers(&given, &database.analyzers()).map_err(of_definition)?;
        let settings = IndexSettings::from_json(&given).map_err(of_definition)?;
        database.indexes().put(definition, settings).map_err(of_database)
    }

    /// Deletes an index. True if there was one.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`]: it is locked; [`Error::Storage`].
    pub fn delete_index(&self, name: &str) -> Result<bool> {
        self.open()?.indexes().remove(name).map_err(of_database)
    }

    /// The indexes, by name, those that queries created among them.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    pub fn indexes(&self) -> Result<Vec<IndexStatistics>> {
        let database = self.open()?;
        let last = database.read().last_etag().map_err(of_documents)?;
        database.indexes().all().iter().map(|index| IndexStatistics::of(index, last)).collect()
    }

    /// Waits until all indexes have everything that was written before this call.
    ///
    /// # Errors
    ///
    /// [`Error::Stale`] with the name of an index that has not.
    pub fn wait_for_indexing(&self, wait: Duration) -> Result<()> {
        let database = self.open()?;
        let last = database.read().last_etag().map_err(of_documents)?;
        // `None`: beyond what the clock can count.
        let end = Instant::now().checked_add(wait);
        for index in database.indexes().all().iter() {
            let rest = end.map_or(wait, |end| end.saturating_duration_since(Instant::now()));
            database::queries::wait_for(index, last, rest);
            if index.indexed_to() < last && !index.is_removed() {
                return Err(Error::Stale(index.name().to_owned()));
            }
        }
        Ok(())
    }

    /// The documents that are written and deleted from now on.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    pub fn changes(&self) -> Result<Changes> {
        Changes::begin(&self.open()?)
    }

    /// Numbers of documents and bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    pub fn statistics(&self) -> Result<Statistics> {
        Statistics::of(&*self.open()?)
    }
}
