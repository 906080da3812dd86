//! Random operations on a store and on maps; everything that can be read is compared, also after opening again.

use rookery_documents::*;
use storage::{Environment, Options};
use testing::effort;
use testing::random::Random;
use testing::seeds::{self, Case};

use crate::document_model::{COLLECTIONS, Model, Stored, command, compare, key, random_id};

fn open(path: &std::path::Path) -> DocumentStore {
    DocumentStore::open(Environment::open(path, Options::default()).unwrap(), StoreOptions::default()).unwrap()
}

fn run(seed: u64, steps: u32) {
    let mut random = Random::new(seed);
    let folder = tempfile::tempdir().unwrap();
    let (mut store, mut model) = (open(folder.path()), Model::default());
    let database_id = store.database_id().to_owned();
    for step in 0..steps {
        let skip = random.below(3) == 0;
        let mut batch = Batch::new().skip_unchanged(skip);
        let mut next = model.clone();
        let count = 1 + random.below(8);
        let outcome = (0..count).try_for_each(|_| command(&mut random, &mut batch, skip, &mut next, &database_id));
        let result = store.write(Date::now(), |writing| writing.run(&batch));
        match (outcome, result) {
            (Ok(()), Ok(_)) => model = next,
            (Err(()), Err(Error::Conflict { .. })) => {}
            (outcome, result) => panic!("step {step}: the model says {outcome:?}, the store {result:?}"),
        }
        match random.below(40) {
            0 => {
                drop(store);
                store = open(folder.path());
                assert_eq!(store.database_id(), database_id);
            }
            1 => {
                let etag = random.below(model.last_etag + 1);
                store.write(Date::now(), |writing| writing.clean_tombstones(etag, usize::MAX)).unwrap();
                model.tombstones.retain(|at, _| *at > etag);
            }
            2 => {
                let name = COLLECTIONS[random.below(5) as usize];
                let etag = random.below(model.last_etag + 1);
                store.write(Date::now(), |writing| writing.delete_collection(name, etag, usize::MAX)).unwrap();
                let mut dead: Vec<Stored> =
                    model.documents.values().filter(|s| s.collection == name && s.etag <= etag).cloned().collect();
                dead.sort_by_key(|stored| stored.etag);
                for stored in dead {
                    model.last_etag += 1;
                    model.documents.remove(&key(&stored.id));
                    model.tombstones.insert(model.last_etag, (stored.id, stored.collection));
                }
            }
            3 => {
                let value = store.write(Date::now(), |writing| writing.next_identity("b")).unwrap();
                assert_eq!(value, model.next_identity("b|"));
            }
            4 => {
                let request = HiLoRequest { tag: "Tags".to_owned(), ..HiLoRequest::default() };
                model.next_hilo(&store.write(Date::now(), |writing| writing.next_hilo(&request)).unwrap());
            }
            5 => {
                let copy = tempfile::tempdir().unwrap();
                let target = Environment::open(copy.path(), Options::default()).unwrap();
                store.copy_into(&target, |_| true).unwrap();
                let copied = DocumentStore::open(target, StoreOptions::default()).unwrap();
                compare(&copied, &model);
                assert!(copied.read().verify().unwrap().problems.is_empty());
            }
            6..10 => compare(&store, &model),
            10..14 => {
                let (id, server) = (random_id(&mut random), format!("\"@counters\":[{}]", random.below(5)));
                let server = if random.below(4) == 0 { "" } else { &server };
                let put = |writing: &mut Writing<'_, '_>| writing.put_server_metadata(&id, server.as_bytes());
                assert_eq!(store.write(Date::now(), put).unwrap(), model.maintain(&id, server));
            }
            _ => {}
        }
        let id = random_id(&mut random);
        let found = store.read().get(&id).unwrap().map(|document| document.etag());
        assert_eq!(found, model.documents.get(&key(&id)).map(|stored| stored.etag));
    }
    compare(&store, &model);
    let found = store.read().verify().unwrap();
    assert_eq!((found.problems, found.counts[ItemKind::Document].count), (Vec::new(), model.documents.len() as u64));
    assert!(store.environment().verify().unwrap().problems.is_empty());
}

#[test]
fn the_store_does_what_the_model_does() {
    for seed in seeds::drawn(4, 200) {
        let _case = Case::of(seed);
        run(seed, effort::choose(300, 1000));
    }
}
