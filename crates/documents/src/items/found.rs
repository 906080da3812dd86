//! The stored item and tombstone under an id, as a write needs them.

use storage::{Location, Reader};

use super::kinds::ItemKind;
use super::record::{self, Head, RecordState};
use super::schema::{Schema, tombstone_key};
use crate::due::is_mentioned;
use crate::{ChangeVector, Error, Etag, Result, Writing};

/// A record, of an item or a tombstone, that a write is about to replace or remove.
#[derive(Clone, Debug)]
pub(crate) struct Existing {
    pub location: Location,
    pub head: Head,
    pub size: usize,
    /// Only if it is not this database's own entry alone.
    pub vector: Option<String>,
    /// Whether its metadata can name a due time.
    pub may_be_due: bool,
}

/// The current state under an id. The decide step reads it and hands it to the apply step, so that nothing is looked up twice.
#[derive(Debug)]
pub(crate) struct CurrentItem {
    /// The lower-cased id.
    pub key: Vec<u8>,
    pub document: Option<Existing>,
    /// The tombstone that a former document of this id left in the target collection; only a put looks it up.
    pub tombstone: Option<Existing>,
}

impl Existing {
    /// Reads the record at a location, which must have this kind and state.
    pub fn at(
        schema: &Schema,
        reader: &impl Reader,
        location: Location,
        kind: ItemKind,
        state: RecordState,
    ) -> Result<Existing> {
        let record = schema.records.get(reader, location)?;
        let head = Head::decode(record)?;
        if (head.kind, head.state) != (kind, state) {
            return Err(Error::Corrupt { rule: "a key leads to a record of its kind" });
        }
        let vector = record::vector(&head, record)?.map(str::to_owned);
        let metadata = record.get(head.metadata_at()..head.body_at()).unwrap_or_default();
        Ok(Existing { location, head, size: record.len(), vector, may_be_due: is_mentioned(metadata) })
    }
}

impl Writing<'_, '_> {
    /// Looks up the document with this id.
    pub(crate) fn find(&mut self, id: &str) -> Result<CurrentItem> {
        let mut key = std::mem::take(&mut self.spare_key);
        crate::ids::id::lower_into(&mut key, id);
        let document = self.find_item(ItemKind::Document, &key)?;
        Ok(CurrentItem { key, document, tombstone: None })
    }

    /// The item with this key.
    #[inline]
    pub(crate) fn find_item(&self, kind: ItemKind, key: &[u8]) -> Result<Option<Existing>> {
        let schema = &self.store.schema;
        match schema.location_of(&*self.tx, kind, key)? {
            Some(location) => Existing::at(schema, &*self.tx, location, kind, RecordState::Stored).map(Some),
            None => Ok(None),
        }
    }

    /// The tombstone that an item with this key left in a collection.
    pub(crate) fn find_tombstone(&self, kind: ItemKind, collection: u32, key: &[u8]) -> Result<Option<Existing>> {
        let schema = &self.store.schema;
        let tree = schema.kinds[kind].tombstones_by_key;
        let Some(value) = tree.get(&*self.tx, &tombstone_key(collection, key))? else { return Ok(None) };
        let location = storage::Table::location(tree, &*self.tx, value)?;
        Existing::at(schema, &*self.tx, location, kind, RecordState::Tombstone).map(Some)
    }

    /// The change vector of what is stored.
    pub(crate) fn vector_of(&self, existing: &Existing) -> String {
        existing.vector.clone().unwrap_or_else(|| self.store.names.vector(existing.head.etag))
    }

    /// The vector of a write over what is there: newer than that. `None`: this database's own entry alone.
    pub(crate) fn vector_over(&self, before: Option<&Existing>, etag: Etag) -> Result<Option<String>> {
        let Some(before) = before.and_then(|before| before.vector.as_deref()) else { return Ok(None) };
        let mut vector = ChangeVector::parse(before)?;
        vector.raise(&self.store.names.node_tag, etag, &self.store.names.database_id);
        Ok(Some(vector.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use crate::*;
    use storage::{Environment, Options};

    /// Until documents come from elsewhere, only this puts a foreign entry into a stored vector.
    fn store_with_foreign_vector() -> DocumentStore {
        let environment = Environment::in_memory(Options::default()).unwrap();
        let store = DocumentStore::open(environment, StoreOptions::default()).unwrap();
        put(&store, "users/1");
        store
            .write(Date::now(), |writing| {
                let mut batch = Batch::new();
                batch.put("users/1", b"{}", Expected::Any)?;
                let crate::commands::command::Action::Put { content, collection, .. } = &batch.commands[0].action
                else {
                    panic!("it is a put");
                };
                let (decision, found) = writing.decide_put(&batch, &batch.commands[0], content, *collection)?;
                let crate::commands::put::PutDecision::Write(mut put) = decision else { panic!("it is written") };
                put.vector = Some(format!("A:{}-{}, B:7-other", put.etag, writing.store.database_id()));
                writing.apply_put(&put, found)
            })
            .unwrap();
        store
    }

    fn put(store: &DocumentStore, id: &str) {
        let mut batch = Batch::new();
        batch.put(id, b"{}", Expected::Any).unwrap();
        store.write(Date::now(), |writing| writing.run(&batch)).unwrap();
    }

    fn vector(store: &DocumentStore) -> String {
        store.read().get("users/1").unwrap().unwrap().change_vector()
    }

    fn parsed(vector: &str) -> ChangeVector<'_> {
        ChangeVector::parse(vector).unwrap()
    }

    #[test]
    fn every_write_is_newer_than_what_was_there_foreign_entries_included() {
        let store = store_with_foreign_vector();
        let first = vector(&store);
        assert_eq!(parsed(&first).etag_of("other"), 7);
        put(&store, "users/1");
        let second = vector(&store);
        assert_eq!(
            (parsed(&second).compare(&parsed(&first)), parsed(&second).etag_of(store.database_id())),
            (Order::Newer, 3)
        );
        // A stale vector is no match, one with its entries in another order is.
        let delete =
            |vector: String| store.write(Date::now(), |writing| writing.delete("users/1", &Expected::Vector(vector)));
        assert!(matches!(delete(first), Err(Error::Conflict { .. })));
        assert!(delete(format!("B:7-other, A:3-{}", store.database_id())).unwrap());
        // Deleted and written again: newer than before.
        put(&store, "USERS/1");
        let third = vector(&store);
        assert_eq!(
            (parsed(&third).compare(&parsed(&second)), parsed(&third).etag_of(store.database_id())),
            (Order::Newer, 5)
        );
        assert_eq!(store.read().verify().unwrap().problems, Vec::<String>::new());
    }
}
