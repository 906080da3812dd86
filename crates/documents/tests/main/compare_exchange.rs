//! Compare-exchange values and cluster-wide transactions: their rules one by one, and random conflicting writers against a model.

use std::collections::BTreeMap;

use rookery_documents::*;
use storage::{Environment, Options};
use testing::effort;
use testing::random::Random;
use testing::seeds::{self, Case};

fn store() -> DocumentStore {
    DocumentStore::open(Environment::in_memory(Options::default()).unwrap(), StoreOptions::default()).unwrap()
}

fn apply(store: &DocumentStore, write: Write) -> Result<Answer> {
    let mut log = Vec::new();
    write.encode(&mut log).unwrap();
    let write = Write::decode(&log).unwrap();
    let mut again = Vec::new();
    write.encode(&mut again).unwrap();
    assert_eq!(log, again, "what is decoded is what was encoded");
    Ok(store.apply(&write, store.stamp())?.answer)
}

fn put(store: &DocumentStore, key: &str, value: &str, index: u64) -> Exchanged {
    let change = ValueChange::put(key, value.as_bytes(), Some(index)).unwrap();
    apply(store, Write::Exchange(change)).unwrap().exchanged().unwrap()
}

fn delete(store: &DocumentStore, key: &str, index: u64) -> Exchanged {
    let change = ValueChange::delete(key, Some(index)).unwrap();
    apply(store, Write::Exchange(change)).unwrap().exchanged().unwrap()
}

fn done(index: u64, value: &str) -> Exchanged {
    Exchanged { is_done: true, index, value: Some(value.into()) }
}

fn refused(index: u64, value: Option<&str>) -> Exchanged {
    Exchanged { is_done: false, index, value: value.map(Into::into) }
}

fn value(store: &DocumentStore, key: &str) -> Option<(u64, String)> {
    let snapshot = store.read();
    let value = snapshot.compare_exchange_value(key).unwrap()?;
    Some((value.index(), String::from_utf8(value.json().bytes().to_vec()).unwrap()))
}

#[track_caller]
fn check_whole(store: &DocumentStore) {
    assert_eq!(store.read().verify().unwrap().problems, Vec::<String>::new());
}

/// Applies the body of a `bulk_docs` request; gives the body of the answer.
fn bulk(store: &DocumentStore, commands: &str, has_guards: bool) -> Result<String> {
    let body = format!("{{\"Commands\":[{commands}],\"TransactionMode\":\"ClusterWide\"}}");
    let BulkDocs::ClusterWide(transaction) = BulkDocs::parse(body.as_bytes(), has_guards)? else {
        panic!("it is cluster-wide")
    };
    let outcome = apply(store, Write::ClusterTransaction(transaction))?.transaction()?;
    let mut out = Vec::new();
    outcome.write(&mut json::Writer::new(&mut out));
    Ok(String::from_utf8(out).unwrap())
}

fn vector(store: &DocumentStore, id: &str) -> String {
    store.read().get(id).unwrap().unwrap().change_vector()
}

fn put_command(id: &str, original: Option<&str>) -> String {
    let original = original.map_or(String::new(), |vector| format!(",\"OriginalChangeVector\":\"{vector}\""));
    format!(
        r#"{{"Type":"PUT","Id":"{id}","Document":{{"N":1,"@metadata":{{"@collection":"Users"}}}},"ChangeVector":null{original}}}"#
    )
}

fn delete_command(id: &str, original: &str) -> String {
    format!(r#"{{"Type":"DELETE","Id":"{id}","ChangeVector":null,"OriginalChangeVector":"{original}"}}"#)
}

#[test]
fn a_value_changes_only_if_its_index_is_the_expected_one() {
    let store = store();
    let (first, second) = (r#"{"Object":{"V":1}}"#, r#"{"Object":"text","@metadata":{"a":1}}"#);
    assert_eq!(put(&store, "K1", "{ \"Object\" : {\"V\": 1} }", 0), done(1, first));
    assert_eq!(put(&store, "k1", second, 0), refused(1, Some(first)));
    assert_eq!(put(&store, "k1", second, 7), refused(1, Some(first)));
    assert_eq!(put(&store, "none", second, 7), refused(0, None));
    assert_eq!(put(&store, "k1", second, 1), done(2, second));
    assert_eq!(value(&store, "K1"), Some((2, second.to_owned())));
    assert_eq!(delete(&store, "k1", 1), refused(2, Some(second)));
    assert_eq!(delete(&store, "none", 0), refused(0, None));
    assert_eq!(delete(&store, "K1", 2), done(3, second));
    assert_eq!(value(&store, "k1"), None);
    check_whole(&store);
    let counts = |store: &DocumentStore| {
        let counts = store.read().statistics().unwrap().counts[ItemKind::CompareExchange];
        (counts.count, counts.tombstone_count)
    };
    assert_eq!(counts(&store), (0, 1));
    assert_eq!(put(&store, "k1", first, 0), done(4, first));
    assert_eq!(counts(&store), (1, 0));
    assert!(store.read().collections().unwrap().is_empty(), "values are in no collection");
    check_whole(&store);
}

#[test]
fn values_without_collections_and_documents_with_them_are_copied_and_read_by_etag() {
    let store = store();
    put(&store, "a/1", r#"{"Object":1}"#, 0);
    let mut batch = Batch::new();
    batch.put("users/1", br#"{"@metadata":{"@collection":"Users"}}"#, Expected::Any).unwrap();
    apply(&store, Write::batch(batch)).unwrap();
    for (key, value) in [("A/2", r#"{"Object":2}"#), ("b", r#"{"Object":3}"#), ("A/10", r#"{"Object":4}"#)] {
        put(&store, key, value, 0);
    }
    delete(&store, "b", 4);
    let target = Environment::in_memory(Options::default()).unwrap();
    store.copy_into(&target, |_| true).unwrap();
    let copy = DocumentStore::open(target, StoreOptions::default()).unwrap();
    for store in [&store, &copy] {
        check_whole(store);
        let snapshot = store.read();
        let values = |prefix: &str| -> Vec<String> {
            let values = snapshot.compare_exchange_values(prefix);
            values.map(|value| value.unwrap()).map(|value| format!("{} {}", value.key(), value.index())).collect()
        };
        assert_eq!(values("A/"), ["a/1 1", "A/10 5", "A/2 3"]);
        assert_eq!(
            (values(""), values("a/1"), values("x")),
            (values("a"), vec!["a/1 1".to_owned(), "A/10 5".to_owned()], vec![])
        );
        let changes = snapshot.changes(&[ItemKind::CompareExchange], None, 1).unwrap();
        let changes: Vec<_> = changes.map(|item| item.unwrap()).map(|item| (item.etag(), item.is_deleted())).collect();
        assert_eq!(changes, [(3, false), (5, false), (6, true)]);
        let collections = snapshot.collections().unwrap();
        assert_eq!((collections.len(), collections[0].name.as_str(), collections[0].total().count), (1, "Users", 1));
    }
}

#[test]
fn keys_and_values_that_are_not_acceptable_are_refused() {
    let put = |key: &str, value: &str| ValueChange::put(key, value.as_bytes(), Some(0));
    assert!(put(&"x".repeat(512), "{}").is_ok());
    let long = put(&"x".repeat(513), "{}").unwrap_err().to_string();
    assert!(long.starts_with("Compare Exchange key cannot exceed 512 bytes, but the key was 513 bytes"), "{long}");
    assert!(matches!(put("", "{}"), Err(Error::BadBatch { .. })));
    for value in ["[1]", "1", "null"] {
        assert!(matches!(put("a", value), Err(Error::NotAnObject { .. })), "{value}");
    }
    assert!(matches!(put("a", "{"), Err(Error::Json(_))));
    let wrong = put("a", r#"{"Object":1,"@metadata":{"@expires":"soon"}}"#).unwrap_err().to_string();
    assert!(wrong.starts_with("'@expires' in '@metadata' must be a date"), "{wrong}");
    assert!(put("a", r#"{"Object":1,"@metadata":{"@expires":null,"@refresh":"soon"}}"#).is_ok());
}

#[test]
fn values_expire() {
    let store = store();
    let expiring = |day: u32| format!(r#"{{"Object":{day},"@metadata":{{"@expires":"2030-01-0{day}T00:00:00Z"}}}}"#);
    put(&store, "two", &expiring(2), 0);
    put(&store, "One", &expiring(1), 0);
    put(&store, "never", r#"{"Object":{"@expires":"2020-01-01T00:00:00Z"}}"#, 0);
    let mut batch = Batch::new();
    batch.put("users/1", br#"{"@metadata":{"@expires":"2030-01-01T00:00:00Z"}}"#, Expected::Any).unwrap();
    apply(&store, Write::batch(batch)).unwrap();
    let due = |store: &DocumentStore| -> Vec<String> {
        store.read().due(DueKind::ValueExpiration, 10).unwrap().into_iter().map(|due| due.id).collect()
    };
    assert_eq!(due(&store), ["one", "two"]);
    put(&store, "TWO", &expiring(3), 1);
    assert_eq!(due(&store), ["one", "two"]);
    check_whole(&store);
    let run = |until: &str| {
        let (kind, until) = (DueKind::ValueExpiration, Date::parse(until).unwrap());
        apply(&store, Write::Due { kind, until, count_max: 10 }).unwrap().count().unwrap()
    };
    assert_eq!((run("2029-12-31T00:00:00Z"), run("2030-01-02T00:00:00Z"), run("2030-01-02T00:00:00Z")), (0, 1, 0));
    assert_eq!((value(&store, "one"), value(&store, "two").is_some()), (None, true));
    assert!(delete(&store, "two", 5).is_done);
    assert!(due(&store).is_empty() && store.read().get("users/1").unwrap().is_some());
    check_whole(&store);
}

#[test]
fn a_transaction_changes_values_and_documents_or_nothing() {
    let store = store();
    let commands = format!(
        r#"{{"Type":"CompareExchangePUT","Id":"k1","Document":{{"Object":1}},"Index":0}},{},{{"Type":"CompareExchangeDELETE","Id":"none","Index":0}}"#,
        put_command("users/1", None)
    );
    let answer = bulk(&store, &commands, false).unwrap();
    assert!(answer.starts_with(r#"{"Results":[{"Type":"PUT","@last-modified":""#), "{answer}");
    let vector_of_first = vector(&store, "users/1");
    assert!(answer.contains(&format!(r#""@id":"users/1","@change-vector":"{vector_of_first}"}}"#)), "{answer}");
    let end = r#"{"Type":"CompareExchangePUT","Key":"k1","Index":1},{"Type":"CompareExchangeDELETE","Key":"none","Index":1}],"TransactionIndex":2}"#;
    assert!(answer.ends_with(end), "{answer}");
    let conflict = format!(
        r#"{{"Type":"CompareExchangePUT","Id":"K1","Document":{{"Object":2}},"Index":0}},{},{{"Type":"CompareExchangePUT","Id":"k2","Document":{{"Object":2}},"Index":0}},{{"Type":"CompareExchangeDELETE","Id":"none","Index":5}}"#,
        put_command("users/2", None)
    );
    let Err(Error::TransactionConflict { violations }) = bulk(&store, &conflict, true) else { panic!("it conflicts") };
    let mut told = Vec::new();
    json::Writer::new(&mut told).array(|json| violations.iter().for_each(|violation| violation.write(json)));
    let expected = r#"[{"Type":"CompareExchange","Id":"K1","Expected":0,"Actual":1},{"Type":"CompareExchange","Id":"none","Expected":5,"Actual":-1}]"#;
    assert_eq!(String::from_utf8(told).unwrap(), expected);
    let message = Error::TransactionConflict { violations }.to_string();
    let line = "Concurrency check failed for putting the key 'K1'. Requested index: 0, actual index: 1\nConcurrency check failed for deleting the key 'none'";
    assert!(message.contains(line), "{message}");
    assert!(store.read().get("users/2").unwrap().is_none() && value(&store, "k2").is_none());
    assert_eq!(store.read().last_etag().unwrap(), 2);
    let empty = bulk(&self::store(), "", true).unwrap();
    assert_eq!(empty, r#"{"Results":[],"TransactionIndex":1}"#);
    check_whole(&store);
}

#[test]
fn a_guard_finds_every_transaction_that_changed_the_document_in_between() {
    let store = store();
    bulk(&store, &put_command("Users/1", None), true).unwrap();
    let guard = r#"{"Object":{"Id":"Users/1"}}"#.to_owned();
    assert_eq!(value(&store, "rvn-atomic/users/1"), Some((1, guard.clone())));
    let read = vector(&store, "users/1");
    assert!(read.contains("A:2-") && read.contains(", TRXN:1-"), "{read}");
    let flags = |store: &DocumentStore| store.read().get("users/1").unwrap().unwrap().flags();
    assert_eq!(flags(&store), Flags::FROM_TRANSACTION);
    // Without a vector a document must be new to transactions.
    let conflict = bulk(&store, &put_command("USERS/1", None), true).unwrap_err().to_string();
    let expected = "Guard compare exchange value 'rvn-atomic/USERS/1' index does not match the transaction index's 0 change vector on USERS/1\nConcurrency check failed for putting the key 'rvn-atomic/USERS/1'. Requested index: 0, actual index: 1";
    assert!(conflict.ends_with(expected), "{conflict}");
    bulk(&store, &put_command("users/1", Some(&read)), true).unwrap();
    assert!(matches!(bulk(&store, &put_command("users/1", Some(&read)), true), Err(Error::TransactionConflict { .. })));
    let read = vector(&store, "users/1");
    // A write outside of transactions keeps the guard and its entry, and so does a deletion.
    let mut batch = Batch::new();
    batch.put("users/1", br#"{"@metadata":{"@collection":"Users"}}"#, Expected::Any).unwrap();
    apply(&store, Write::batch(batch)).unwrap();
    assert!(vector(&store, "users/1").contains("TRXN:3-") && flags(&store) == Flags::NONE);
    let mut batch = Batch::new();
    batch.delete("users/1", Expected::Any).unwrap();
    apply(&store, Write::batch(batch)).unwrap();
    let (index, told) = {
        let snapshot = store.read();
        let (value, vector) = snapshot.guard_of("users/1").unwrap().unwrap();
        (value.index(), vector)
    };
    assert!(index == 3 && told.starts_with("TRXN:3-"), "{told}");
    check_whole(&store);
    bulk(&store, &put_command("users/1", Some(&told)), true).unwrap();
    assert!(matches!(bulk(&store, &delete_command("users/1", &read), true), Err(Error::TransactionConflict { .. })));
    let answer = bulk(&store, &delete_command("users/1", &vector(&store, "users/1")), true).unwrap();
    assert!(answer.starts_with(r#"{"Results":[{"Type":"DELETE","@last-modified":""#), "{answer}");
    assert_eq!(value(&store, "rvn-atomic/users/1"), None);
    // No transaction may revive it unseen.
    assert!(matches!(bulk(&store, &put_command("users/1", Some(&told)), true), Err(Error::TransactionConflict { .. })));
    bulk(&store, &put_command("users/1", None), true).unwrap();
    check_whole(&store);
}

#[test]
fn a_guard_goes_with_the_last_tombstone_that_names_it() {
    let store = store();
    for id in ["users/1", "users/2"] {
        bulk(&store, &put_command(id, None), true).unwrap();
    }
    let mut batch = Batch::new();
    batch.delete("users/1", Expected::Any).unwrap();
    apply(&store, Write::batch(batch)).unwrap();
    let etag = store.read().last_etag().unwrap();
    apply(&store, Write::CleanTombstones { etag, count_max: 10 }).unwrap();
    assert_eq!(value(&store, "rvn-atomic/users/1"), None);
    assert!(value(&store, "rvn-atomic/users/2").is_some());
    bulk(&store, &put_command("users/1", None), true).unwrap();
    check_whole(&store);
    // The guard that a younger tombstone, of another collection, names stays with that.
    let delete = |id: &str| {
        let mut batch = Batch::new();
        batch.delete(id, Expected::Any).unwrap();
        apply(&store, Write::batch(batch)).unwrap();
        store.read().last_etag().unwrap()
    };
    let first = delete("users/2");
    let (_, told) = store.read().guard_of("users/2").unwrap().map(|(value, vector)| (value.index(), vector)).unwrap();
    let moved = put_command("users/2", Some(&told)).replace("Users\"", "People\"");
    bulk(&store, &moved, true).unwrap();
    let second = delete("users/2");
    apply(&store, Write::CleanTombstones { etag: first, count_max: 10 }).unwrap();
    assert!(value(&store, "rvn-atomic/users/2").is_some());
    apply(&store, Write::CleanTombstones { etag: second, count_max: 10 }).unwrap();
    assert!(value(&store, "rvn-atomic/users/2").is_none());
    check_whole(&store);
}

#[test]
fn transactions_refuse_what_they_cannot_do() {
    let store = store();
    let check = |command: &str, expected: &str| {
        let error = bulk(&store, command, true).unwrap_err().to_string();
        assert!(error.contains(expected), "{command}: {error}");
    };
    check(
        r#"{"Type":"PATCH","Id":"a","Patch":{"Script":"1"}}"#,
        "The command type PATCH is not supported in cluster transaction.",
    );
    check(r#"{"Type":"Counters","Id":"a"}"#, "The command type Counters is not supported in cluster transaction.");
    check(r#"{"Type":"FLY"}"#, "Invalid command type: FLY");
    check(r#"{"Id":"a"}"#, "valid 'Type'");
    check(
        r#"{"Type":"DELETE","Id":"a","IdPrefixed":true}"#,
        "Deleting by prefix is not supported on cluster transaction",
    );
    check(&put_command("a/", None), "Document id a/ cannot end with '|' or '/' as part of cluster transaction");
    check(&put_command("a|", None), "Document id a| cannot end with '|' or '/' as part of cluster transaction");
    let ending = |key: &str| {
        let put = format!(r#"{{"Type":"CompareExchangePUT","Id":"{key}","Document":{{"Object":1}}}}"#);
        check(&put, &format!("Document id {key} cannot end with '|' or '/' as part of cluster transaction"));
    };
    ending("a/");
    ending("a|");
    check(&put_command(" ", None), "cannot be null, empty or white spaces");
    check(&put_command(&"x".repeat(510), None), "Compare Exchange key cannot exceed 512 bytes");
    check(&put_command("a", Some("nonsense")), "is not a change vector");
    let value = |id: &str, rest: &str| format!(r#"{{"Type":"CompareExchangePUT","Id":"{id}"{rest}}}"#);
    check(
        &value("Rvn-atomic/a", r#","Document":{}"#),
        "You cannot manipulate the atomic guard 'Rvn-atomic/a' via the cluster-wide session",
    );
    check(&value("a", ""), "must have a 'Document' property");
    check(&value("", r#","Document":{}"#), "must have a key");
    check(
        &value("a", r#","Document":{},"Index":-1"#),
        "'Index' of a CompareExchangePUT command must be a whole number",
    );
    check(&value("a", r#","Document":[]"#), "a compare-exchange value must be a JSON object");
    let mode = BulkDocs::parse(br#"{"Commands":[],"TransactionMode":"Foo"}"#, true).unwrap_err().to_string();
    assert_eq!(mode, "'TransactionMode' must be 'SingleNode' or 'ClusterWide', but is 'Foo'");
    let single = BulkDocs::parse(br#"{"Commands":[{"Type":"CompareExchangePUT","Id":"a"}]}"#, true).unwrap_err();
    assert!(single.to_string().contains("needs a cluster-wide transaction"), "{single}");
    assert_eq!(store.read().last_etag().unwrap(), 0);
    // Without guards a change vector is a condition as in any other batch.
    let with_vector = r#"{"Type":"PUT","Id":"a","Document":{},"ChangeVector":"A:9-x"}"#;
    assert!(matches!(bulk(&store, with_vector, false), Err(Error::Conflict { .. })));
    bulk(&store, &put_command("a", None), false).unwrap();
    bulk(&store, &put_command("a", None), false).unwrap();
    assert!(store.read().guard_of("a").unwrap().is_none());
}

/// Each writer reads, and later writes with the index that it read, as a client does: a register is linearizable if exactly the writes
/// succeed that nothing came between, and every read sees the last of them.
fn run_register(seed: u64, steps: u32) {
    let mut random = Random::new(seed);
    let store = store();
    let mut model: BTreeMap<String, (u64, String)> = BTreeMap::new();
    // What each writer knows of each key.
    let mut known: Vec<BTreeMap<String, u64>> = vec![BTreeMap::new(); 4];
    let mut last_index = 0;
    for step in 0..steps {
        let key = random.of(&["a", "B", "ä/1"]).to_string();
        let writer = random.below(4) as usize;
        let index = known[writer].get(&key).copied().unwrap_or(0);
        let spelled = if random.below(2) == 0 { key.to_uppercase() } else { key.to_lowercase() };
        let stored = model.get(&key).cloned();
        let fits = index == stored.as_ref().map_or(0, |(index, _)| *index);
        match random.below(6) {
            0 => {
                let found = value(&store, &spelled);
                assert_eq!(found, stored, "step {step}");
                known[writer].insert(key, found.map_or(0, |(index, _)| index));
            }
            1 | 2 => {
                let json = format!("{{\"Object\":{step}}}");
                let exchanged = put(&store, &spelled, &json, index);
                assert_eq!(exchanged.is_done, fits, "step {step}");
                if fits {
                    assert!(exchanged.index > last_index, "step {step}");
                    last_index = exchanged.index;
                    model.insert(key.clone(), (exchanged.index, json));
                }
                known[writer].insert(key, exchanged.index);
            }
            3 => {
                let exchanged = delete(&store, &spelled, index);
                assert_eq!(exchanged.is_done, fits && stored.is_some(), "step {step}");
                if exchanged.is_done {
                    last_index = exchanged.index;
                    model.remove(&key);
                }
            }
            4 => {
                // A transaction over two keys: both or none.
                let other = random.of(&["a", "B", "ä/1"]).to_string();
                let command = |key: &str, index: u64| {
                    format!(
                        r#"{{"Type":"CompareExchangePUT","Id":"{key}","Document":{{"Object":{step}}},"Index":{index}}}"#
                    )
                };
                let index_of_other = known[writer].get(&other).copied().unwrap_or(0);
                let fits_too = index_of_other == model.get(&other).map_or(0, |(index, _)| *index);
                let commands = format!("{},{}", command(&spelled, index), command(&other, index_of_other));
                let before = store.read().last_etag().unwrap();
                match bulk(&store, &commands, true) {
                    Ok(_) => {
                        assert!(fits && fits_too, "step {step}");
                        for key in [&key, &other] {
                            let (index, json) = value(&store, key).unwrap();
                            assert!(index > before, "step {step}");
                            last_index = last_index.max(index);
                            model.insert(key.clone(), (index, json));
                        }
                    }
                    Err(Error::TransactionConflict { .. }) => {
                        assert!(!fits || !fits_too, "step {step}");
                        assert_eq!(store.read().last_etag().unwrap(), before, "step {step}: it was rolled back");
                    }
                    Err(error) => panic!("step {step}: {error}"),
                }
            }
            _ => {
                // A job that fails after it changed values takes its changes back.
                let change = ValueChange::put(&spelled, b"{\"Object\":-1}", None).unwrap();
                let failed = store.write(Date::now(), |writing| {
                    writing.exchange(&change)?;
                    Err::<(), _>(Error::Bug { rule: "for the test" })
                });
                assert!(failed.is_err());
                assert_eq!(value(&store, &key), stored, "step {step}");
            }
        }
    }
    let snapshot = store.read();
    let all: BTreeMap<String, u64> = snapshot
        .compare_exchange_values("")
        .map(|value| value.unwrap())
        .map(|value| (String::from_utf8(id::lower(value.key())).unwrap(), value.index()))
        .collect();
    let expected = model.iter().map(|(key, (index, _))| (key.to_lowercase(), *index)).collect();
    assert_eq!(all, expected);
    check_whole(&store);
}

#[test]
fn conflicting_writers_see_a_linearizable_register() {
    for seed in seeds::drawn(4, 100) {
        let _case = Case::of(seed);
        run_register(seed, effort::choose(400, 4000));
    }
}
