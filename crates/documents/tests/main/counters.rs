//! Counters: their rules, a model with rollbacks and reopening, and increments of several threads.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rookery_documents::*;
use storage::{Environment, Options};

fn store() -> DocumentStore {
    DocumentStore::open(Environment::in_memory(Options::default()).unwrap(), StoreOptions::default()).unwrap()
}

fn put(store: &DocumentStore, id: &str) {
    let mut batch = Batch::new();
    batch.put(id, br#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#, Expected::Any).unwrap();
    store.apply(&Write::batch(batch), store.stamp()).unwrap();
}

/// The answer of `bulk_docs` to one command, with the database id as `DB`.
fn counters(store: &DocumentStore, document: &str, operations: &str) -> Result<String> {
    let body = format!(
        r#"{{"Commands":[{{"Type":"Counters","Id":"{document}","Counters":{{"DocumentId":"{document}","Operations":[{operations}]}}}}]}}"#
    );
    let BulkDocs::Batch(batch) = BulkDocs::parse(body.as_bytes(), true)? else { panic!("it is a batch") };
    let write = Write::batch(batch);
    let mut out = Vec::new();
    store.apply(&write, store.stamp())?.answer.outcome()?.write(&mut json::Writer::new(&mut out));
    Ok(String::from_utf8(out).unwrap().replace(store.database_id(), "DB"))
}

fn increment(name: &str, delta: i64) -> String {
    format!(r#"{{"Type":"Increment","CounterName":"{name}","Delta":{delta}}}"#)
}

fn delete(name: &str) -> String {
    format!(r#"{{"Type":"Delete","CounterName":"{name}"}}"#)
}

/// The metadata of a document without what changes with the time.
fn metadata(store: &DocumentStore, id: &str) -> String {
    let snapshot = store.read();
    let mut out = Vec::new();
    snapshot.get(id).unwrap().expect("the document is there").write_metadata_only(&mut out);
    let text = String::from_utf8(out).unwrap().replace(store.database_id(), "DB");
    text.split(r#","@last-modified""#).next().unwrap().to_owned()
}

fn values(store: &DocumentStore, id: &str) -> Vec<(String, i64)> {
    let snapshot = store.read();
    snapshot.counters(id).unwrap().iter().map(|counter| (counter.name().to_owned(), counter.total())).collect()
}

#[track_caller]
fn check_store(store: &DocumentStore) {
    assert_eq!(store.read().verify().unwrap().problems, Vec::<String>::new());
}

#[test]
fn counters_are_raised_read_and_deleted_without_regard_to_case() {
    let store = store();
    put(&store, "users/1");
    let answer = counters(&store, "USERS/1", &[increment("likes", 3), increment("Zed", -1)].join(",")).unwrap();
    let expected = concat!(
        r#"{"Results":[{"Id":"USERS/1","ChangeVector":"A:4-DB","Type":"Counters","CountersDetail":{"Counters":["#,
        r#"{"DocumentId":"USERS/1","CounterName":"likes","TotalValue":3,"CounterValues":null},"#,
        r#"{"DocumentId":"USERS/1","CounterName":"Zed","TotalValue":-1,"CounterValues":null}]},"#,
        r#""DocumentChangeVector":"A:4-DB"}]}"#
    );
    assert_eq!(answer, expected);
    let expected = concat!(
        r#"{"@metadata":{"@collection":"Users","@counters":["likes","Zed"],"@change-vector":"A:4-DB","#,
        r#""@flags":"HasCounters","@id":"users/1""#
    );
    assert_eq!(metadata(&store, "users/1"), expected);
    // The names are the same, so the document stays as it is.
    let answer = counters(&store, "users/1", r#"{"Type":"Increment","CounterName":"LIKES"}"#).unwrap();
    assert!(
        answer.contains(r#""ChangeVector":"A:5-DB""#) && answer.contains(r#""DocumentChangeVector":null"#),
        "{answer}"
    );
    assert_eq!(metadata(&store, "users/1"), expected);
    let snapshot = store.read();
    let likes = snapshot.counter("users/1", "Likes").unwrap().unwrap();
    assert_eq!((likes.document_id(), likes.name(), likes.total(), likes.etag()), ("users/1", "likes", 4, 5));
    assert!(!likes.is_new() && snapshot.counter("users/1", "ZED").unwrap().unwrap().is_new());
    assert_eq!(likes.values(), [(format!("A-{}", store.database_id()), 4)]);
    let answer =
        counters(&store, "users/1", &[delete("lIKES"), delete("none"), increment("zed", 1)].join(",")).unwrap();
    assert!(answer.contains(r#""TotalValue":0"#) && answer.contains(r#""DocumentChangeVector":"A:8-DB""#), "{answer}");
    assert_eq!(values(&store, "users/1"), [("Zed".to_owned(), 0)]);
    counters(&store, "users/1", &delete("ZED")).unwrap();
    assert_eq!(
        metadata(&store, "users/1"),
        r#"{"@metadata":{"@collection":"Users","@change-vector":"A:10-DB","@id":"users/1""#
    );
    // A counter that was deleted begins anew, under its new spelling.
    counters(&store, "users/1", &increment("LIKES", 7)).unwrap();
    assert_eq!(values(&store, "users/1"), [("LIKES".to_owned(), 7)]);
    check_store(&store);
    let statistics = store.read().statistics().unwrap().counts[ItemKind::Counter];
    assert_eq!((statistics.count, statistics.tombstone_count), (1, 1));
}

#[test]
fn a_put_keeps_counters_and_a_deletion_takes_them_along() {
    let store = store();
    put(&store, "users/1");
    counters(&store, "users/1", &increment("likes", 3)).unwrap();
    put(&store, "users/1");
    let kept = metadata(&store, "users/1");
    assert!(kept.contains(r#""@counters":["likes"]"#) && kept.contains("HasCounters"), "{kept}");
    assert_eq!(values(&store, "users/1"), [("likes".to_owned(), 3)]);
    // Another document whose id begins the same keeps its own.
    put(&store, "users/10");
    counters(&store, "users/10", &increment("likes", 1)).unwrap();
    store.write(Date::now(), |writing| writing.delete("Users/1", &Expected::Any)).unwrap();
    assert_eq!((values(&store, "users/1"), values(&store, "users/10").len()), (Vec::new(), 1));
    let snapshot = store.read();
    let deleted: Vec<_> = snapshot
        .deletions(&[ItemKind::Counter], Some("users"), 0)
        .unwrap()
        .map(|item| item.map(|item| (item.document_id(), item.counter_name().unwrap())).unwrap())
        .collect();
    assert_eq!(deleted, [("users/1", "likes")]);
    put(&store, "users/1");
    let fresh = metadata(&store, "users/1");
    assert!(!fresh.contains("@counters") && !fresh.contains("HasCounters"), "{fresh}");
    check_store(&store);
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let store = store();
    put(&store, "users/1");
    let max = increment("big", i64::MAX);
    counters(&store, "users/1", &max).unwrap();
    let before = store.read().last_etag().unwrap();
    let error = counters(&store, "users/1", &[increment("other", 1), increment("BIG", 1)].join(",")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Could not increment counter 'BIG' from document 'users/1' with value '9223372036854775807' by '1'."
    );
    for operations in [increment("a", 1), delete("a")] {
        let error = counters(&store, "users/2", &operations).unwrap_err();
        assert!(matches!(&error, Error::MissingDocument { id } if id == "users/2"), "{error}");
    }
    let long = "n".repeat(513);
    for name in ["", "a\\u0000b", &long] {
        let error = counters(&store, "users/1", &increment(name, 1)).unwrap_err();
        assert!(matches!(&error, Error::BadCounterName { .. }), "{error}");
    }
    for (operation, expected) in [
        (r#"{"Type":"Put","CounterName":"a","Delta":1}"#, "ETL"),
        (r#"{"Type":"Nope","CounterName":"a"}"#, "'Nope' is no operation"),
        (r#"{"CounterName":"a"}"#, "'Type'"),
        (r#"{"Type":"Increment"}"#, "'CounterName'"),
        (r#"{"Type":"Increment","CounterName":"a","Delta":1.5}"#, "'Delta'"),
        ("1", "an object"),
    ] {
        let error = counters(&store, "users/1", operation).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(store.read().last_etag().unwrap(), before);
    assert_eq!(values(&store, "users/1"), [("big".to_owned(), i64::MAX)]);
    check_store(&store);
}

#[test]
fn values_of_other_databases_merge() {
    let store = store();
    put(&store, "users/1");
    counters(&store, "users/1", &increment("likes", 3)).unwrap();
    let merge = |value, etag| {
        let values = vec![NodeValue { database: [9; 16], value, etag }];
        let operation = CounterOperation { name: "likes".to_owned(), action: CounterAction::Merge(values) };
        let mut batch = Batch::new();
        batch.push_counters(CounterCommand::new("users/1", vec![operation], false).unwrap());
        let mut bytes = Vec::new();
        Write::silent_batch(batch).encode(&mut bytes).unwrap();
        store.apply(&Write::decode(&bytes).unwrap(), store.stamp()).unwrap();
        values_of(&store)
    };
    fn values_of(store: &DocumentStore) -> (i64, Vec<i64>) {
        let snapshot = store.read();
        let likes = snapshot.counter("users/1", "likes").unwrap().unwrap();
        let mut values: Vec<i64> = likes.values().into_iter().map(|(_, value)| value).collect();
        values.sort();
        (likes.total(), values)
    }
    assert_eq!(merge(10, 5), (13, vec![3, 10]));
    assert_eq!(merge(20, 4), (13, vec![3, 10]), "an older value changes nothing");
    assert_eq!(merge(7, 6), (10, vec![3, 7]));
    counters(&store, "users/1", &increment("likes", 1)).unwrap();
    assert_eq!(values_of(&store), (11, vec![4, 7]));
    check_store(&store);
}

#[test]
fn planted_damage_of_counters_is_found() {
    let store = store();
    put(&store, "users/1");
    counters(&store, "users/1", &[increment("a", 1), increment("b", 1)].join(",")).unwrap();
    store.write(Date::now(), |writing| writing.put_server_metadata("users/1", br#""@counters":["a"]"#)).unwrap();
    let problems = store.read().verify().unwrap().problems;
    assert_eq!(problems, ["etag 5: the counters of 'users/1' are not those that it names"]);
    store.write(Date::now(), |writing| writing.put_server_metadata("users/1", b"")).unwrap();
    let problems = store.read().verify().unwrap().problems;
    assert_eq!(problems, ["etag 6: 'users/1' has the flag of counters and no names, or names and no flag"]);
}

/// Each thread adds its own numbers to the same counters, in batches that other batches' transactions share.
#[test]
fn increments_of_many_threads_add_up_exactly() {
    const THREADS: i64 = 8;
    const ROUNDS: i64 = 200;
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let environment = Environment::open(folder.path(), Options::default()).unwrap();
        DocumentStore::open(environment, StoreOptions::default()).unwrap()
    };
    let store = open();
    put(&store, "users/1");
    std::thread::scope(|scope| {
        for thread in 1..=THREADS {
            let store = &store;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let own = increment(&format!("own{thread}"), 1);
                    counters(store, "users/1", &[increment("all", thread), own].join(",")).unwrap();
                    if round % 3 == 0 {
                        // Rolled back: it must leave nothing in the sum.
                        counters(store, "users/1", &[increment("all", 1), increment("all", i64::MAX)].join(","))
                            .unwrap_err();
                    }
                }
            });
        }
    });
    check_store(&store);
    drop(store);
    let store = open();
    let found: BTreeMap<String, i64> = values(&store, "users/1").into_iter().collect();
    assert_eq!(found["all"], ROUNDS * THREADS * (THREADS + 1) / 2);
    assert!((1..=THREADS).all(|thread| found[&format!("own{thread}")] == ROUNDS), "{found:?}");
    check_store(&store);
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8),
    DeleteDocument(u8),
    Increment(u8, u8, i64),
    Delete(u8, u8),
    /// Several increments, the last of which cannot be.
    RolledBack(u8, u8),
    CleanTombstones,
    Reopen,
    Compact,
}

fn step() -> impl Strategy<Value = Step> {
    let (document, name) = (0u8..3, 0u8..5);
    prop_oneof![
        3 => document.clone().prop_map(Step::Put),
        1 => document.clone().prop_map(Step::DeleteDocument),
        8 => (document.clone(), name.clone(), -5i64..100).prop_map(|(document, name, delta)| Step::Increment(document, name, delta)),
        3 => (document.clone(), name.clone()).prop_map(|(document, name)| Step::Delete(document, name)),
        1 => (document, name).prop_map(|(document, name)| Step::RolledBack(document, name)),
        1 => Just(Step::CleanTombstones),
        1 => Just(Step::Reopen),
        1 => Just(Step::Compact),
    ]
}

/// Ids and names in two spellings each.
fn spelled(prefix: &str, number: u8, is_upper: bool) -> String {
    let text = format!("{prefix}{number}");
    if is_upper { text.to_uppercase() } else { text }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn counters_are_as_a_map_has_them(steps in prop::collection::vec((step(), any::<bool>()), 1..60)) {
        let mut store = store();
        let mut model: BTreeMap<u8, BTreeMap<u8, i64>> = BTreeMap::new();
        for (step, is_upper) in steps {
            let id = |document| spelled("users/", document, is_upper);
            let name = |name| spelled("counter", name, !is_upper);
            match step {
                Step::Put(document) => {
                    put(&store, &id(document));
                    model.entry(document).or_default();
                }
                Step::DeleteDocument(document) => {
                    let id = id(document);
                    let deleted = store.write(Date::now(), |writing| writing.delete(&id, &Expected::Any)).unwrap();
                    prop_assert_eq!(deleted, model.remove(&document).is_some());
                }
                Step::Increment(document, counter, delta) => {
                    let done = counters(&store, &id(document), &increment(&name(counter), delta));
                    prop_assert_eq!(done.is_ok(), model.contains_key(&document));
                    if let Some(values) = model.get_mut(&document) {
                        *values.entry(counter).or_default() += delta;
                        let total = format!("\"TotalValue\":{},", values[&counter]);
                        prop_assert!(done.unwrap().contains(&total));
                    }
                }
                Step::Delete(document, counter) => {
                    let done = counters(&store, &id(document), &delete(&name(counter)));
                    prop_assert_eq!(done.is_ok(), model.contains_key(&document));
                    model.get_mut(&document).and_then(|values| values.remove(&counter));
                }
                Step::RolledBack(document, counter) => {
                    let name = name(counter);
                    let operations = [increment(&name, 1), delete("counter0"), increment("x", i64::MAX), increment("x", 1)];
                    prop_assert!(counters(&store, &id(document), &operations.join(",")).is_err());
                }
                Step::CleanTombstones => {
                    let last = store.read().last_etag().unwrap();
                    store.write(Date::now(), |writing| writing.clean_tombstones(last, 10_000)).unwrap();
                }
                Step::Reopen => {
                    store = DocumentStore::open(store.into_environment(), StoreOptions::default()).unwrap();
                }
                Step::Compact => {
                    let target = Environment::in_memory(Options::default()).unwrap();
                    store.copy_into(&target, |_| true).unwrap();
                    store = DocumentStore::open(target, StoreOptions::default()).unwrap();
                }
            }
            for document in 0..3 {
                let found: BTreeMap<String, i64> =
                    values(&store, &id(document)).into_iter().map(|(name, value)| (name.to_lowercase(), value)).collect();
                let expected = model.get(&document).cloned().unwrap_or_default();
                let expected: BTreeMap<String, i64> =
                    expected.into_iter().map(|(name, value)| (format!("counter{name}"), value)).collect();
                prop_assert_eq!(found, expected);
            }
            prop_assert_eq!(store.read().verify().unwrap().problems, Vec::<String>::new());
        }
    }
}
