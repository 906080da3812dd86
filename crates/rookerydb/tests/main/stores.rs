//! Stores: opened, closed, with several databases.

use rookerydb::*;
use serde_json::json;

#[test]
fn a_folder_keeps_its_databases() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    store.database("A").unwrap().put("x", &json!({"N": 1})).unwrap();
    store.database("b").unwrap();
    assert!(matches!(Store::open(folder.path()), Err(Error::Storage(_))), "it is open");
    let database = store.database("a").unwrap();
    drop(store);
    assert_eq!(database.name(), "A");
    assert!(database.get("x").unwrap().is_some(), "a database keeps its store open");
    drop(database);

    let store = Store::open(folder.path()).unwrap();
    assert_eq!(store.names(), ["A", "b"]);
    assert!(store.database("A").unwrap().get("x").unwrap().is_some());
    assert!(store.delete_database("A").unwrap() && !store.delete_database("A").unwrap());
    assert_eq!(store.names(), ["b"]);
    assert!(matches!(store.database("a/b"), Err(Error::Invalid(_))));
}

#[test]
fn a_deleted_database_is_closed_for_its_handles() {
    let store = Store::in_memory().unwrap();
    let database = store.database("A").unwrap();
    store.delete_database("A").unwrap();
    assert!(matches!(database.get("x"), Err(Error::Closed(_))));
}

/// As a program of two threads uses it.
#[test]
fn handles_go_to_other_threads() {
    let database = Store::in_memory().unwrap().database("A").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let database = database.clone();
            scope.spawn(move || {
                for number in 0..50 {
                    database.put(&format!("{thread}/{number}"), &json!({ "N": number })).unwrap();
                }
            });
        }
    });
    assert_eq!(database.statistics().unwrap().document_count, 200);
}
