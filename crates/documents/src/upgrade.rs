//! Taking the documents of an older format version to the one of now, when they are opened.
//!
//! Version 1 found tombstones by etag only, and left them when their document was written again. Version 2 finds them by id
//! too, and has one for each id in a collection, as long as there is no such document. The work goes in transactions of
//! bounded size; one that a crash cuts short begins anew, and passes over what is done.

use storage::Location;

use crate::limits::TOMBSTONE_CLEANING_COUNT_MAX;
use crate::put::{find, location_from};
use crate::record::{self, Head};
use crate::schema::tombstone_key;
use crate::{Date, DocumentStore, Etag, Result, Writing, id};

impl DocumentStore {
    pub(crate) fn upgrade(&self) -> Result<()> {
        if self.schema.is_current(&self.environment().read())? {
            return Ok(());
        }
        let mut next = Some(0);
        while let Some(first) = next {
            next = self.write(Date::now(), |writing| writing.enter_tombstones(first, TOMBSTONE_CLEANING_COUNT_MAX))?;
        }
        self.environment().write(|tx| self.schema.set_current(tx))
    }
}

impl Writing<'_, '_> {
    /// Gives tombstones from etag `first` on, `count_max` at most, their entry by id; removes those that should not be. Gives
    /// the etag to go on from.
    fn enter_tombstones(&mut self, first: Etag, count_max: usize) -> Result<Option<Etag>> {
        let schema = self.store.schema;
        let mut tombstones = Vec::new();
        {
            let mut cursor = schema.tombstones_by_etag.cursor(&*self.tx);
            let mut entry = cursor.seek(first)?;
            while let Some((etag, location)) = entry.filter(|_| tombstones.len() < count_max) {
                tombstones.push((etag, Location(location)));
                entry = cursor.next()?;
            }
        }
        for (_, location) in &tombstones {
            let (collection, key) = {
                let record = schema.records.get(&*self.tx, *location)?;
                let head = Head::decode(record)?;
                (head.collection, id::lower(record::id(&head, record)?))
            };
            let document = find(&schema, &*self.tx, &key)?;
            if document.is_some_and(|document| document.head.collection == collection) {
                self.remove_tombstone(*location)?;
                continue;
            }
            let key = tombstone_key(collection, &key);
            let entered = schema.tombstones_by_id.get(&*self.tx, &key)?.map(location_from).transpose()?;
            if let Some(older) = entered.filter(|entered| entered != location) {
                self.remove_tombstone(older)?;
            }
            schema.tombstones_by_id.put(self.tx, &key, &location.0.to_le_bytes())?;
        }
        Ok(tombstones.last().filter(|_| tombstones.len() == count_max).map(|(etag, _)| etag + 1))
    }
}

#[cfg(test)]
mod tests {
    use crate::*;
    use storage::{Environment, Options};

    /// As version 1 did it: the tombstone is not found by its id.
    fn forget_ids(store: &DocumentStore) {
        store.environment().write(|tx| store.schema.tombstones_by_id.clear(tx)).unwrap();
    }

    fn run(store: &DocumentStore, fill: impl FnOnce(&mut Batch)) {
        let mut batch = Batch::new();
        fill(&mut batch);
        store.write(Date::now(), |writing| writing.run(&batch)).unwrap();
        forget_ids(store);
    }

    #[test]
    fn version_1_becomes_the_version_of_now_when_it_is_opened() {
        let open = |environment| DocumentStore::open(environment, StoreOptions::default()).unwrap();
        let store = open(Environment::in_memory(Options::default()).unwrap());
        let user = br#"{"@metadata":{"@collection":"Users"}}"#;
        let many: Vec<String> = (0..5000).map(|number| format!("users/{number}")).collect();
        // Each is deleted twice, and one is there again.
        for _ in 0..2 {
            run(&store, |batch| many.iter().for_each(|id| batch.put(id, user, Expected::Any).unwrap()));
            run(&store, |batch| many.iter().for_each(|id| batch.delete(id, Expected::Any).unwrap()));
        }
        run(&store, |batch| batch.put("Users/7", user, Expected::Any).unwrap());
        // Another comes back in another collection, where it does not stand for its deletion here.
        run(&store, |batch| batch.put("users/8", b"{}", Expected::Any).unwrap());
        let last_etag = store.read().last_etag().unwrap();
        assert_eq!(store.read().statistics().unwrap().tombstone_count, 10_000);
        store.environment().write(|tx| store.schema.state.put(tx, b"version", &1u64.to_be_bytes())).unwrap();

        let store = open(store.into_environment());
        let snapshot = store.read();
        assert_eq!(snapshot.verify().unwrap().problems, Vec::<String>::new());
        let statistics = snapshot.statistics().unwrap();
        assert_eq!((statistics.document_count, statistics.tombstone_count), (2, 4999));
        assert_eq!(statistics.last_etag, last_etag);
        let later = |tombstone: Result<Tombstone<'_>>| tombstone.unwrap().etag() > 15_000;
        assert!(snapshot.tombstones_after(0).all(later), "the last deletion of each is the one that stays");
        assert!(store.schema.is_current(&store.environment().read()).unwrap());
    }
}
