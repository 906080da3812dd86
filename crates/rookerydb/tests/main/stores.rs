//! Stores: opened, closed, with several databases.

use std::sync::mpsc::{self, RecvTimeoutError};

use rookerydb::*;
use serde_json::json;
use testing::wait::LONG;

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

/// The thread waited for ever, and the folder stayed locked.
#[test]
fn changes_end_and_the_folder_can_be_opened_again_after_the_last_handle_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let database = Store::open(folder.path()).unwrap().database("A").unwrap();
    let mut waiting = database.changes().unwrap();
    let mut kept = database.changes().unwrap();
    let (sender, received) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        for change in waiting.by_ref() {
            sender.send(change.unwrap().id).unwrap();
        }
        assert!(waiting.is_closed());
    });
    database.put("x", &json!({})).unwrap();
    assert_eq!(received.recv_timeout(LONG).unwrap(), "x");
    drop(database);
    assert_eq!(received.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected), "the iterator ends");
    thread.join().unwrap();
    let store = Store::open(folder.path()).unwrap();
    assert!(store.database("A").unwrap().get("x").unwrap().is_some());
    assert!(kept.is_closed() && kept.next().is_none(), "it is open in `store` and not here");
}

/// It wrote on, behind the back of who opened the folder next.
#[test]
fn a_bulk_insert_ends_with_the_last_handle() {
    let database = Store::in_memory().unwrap().database("A").unwrap();
    let mut insert = database.bulk_insert().unwrap();
    insert.put("Ns", "ns/1", &json!({})).unwrap();
    drop(database);
    assert!(matches!(insert.put("Ns", "ns/2", &json!({})), Err(Error::Closed(_))));
    assert!(matches!(insert.finish(), Err(Error::Closed(_))));
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
