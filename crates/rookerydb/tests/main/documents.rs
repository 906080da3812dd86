//! Documents: stored, read, changed and followed.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use rookerydb::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use testing::wait::LONG;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct User {
    name: String,
    tags: Vec<String>,
}

fn shop() -> Database {
    Store::in_memory().unwrap().database("Shop").unwrap()
}

#[test]
fn values_come_back_as_they_went_in() {
    let shop = shop();
    let ann = User { name: "Ann \"é\"\n".to_owned(), tags: vec!["a".to_owned()] };
    let written = shop.collection("Users").put("users/1", &ann).unwrap();
    let read = shop.get("USERS/1").unwrap().unwrap();
    assert_eq!((read.id(), read.collection()), ("users/1", Some("Users")));
    assert_eq!(Some(read.change_vector()), written.change_vector.as_deref());
    assert_eq!(read.to::<User>().unwrap(), ann);
    assert_eq!(shop.get_as::<User>("users/2").unwrap(), None);
    assert!(matches!(shop.get_as::<Vec<u8>>("users/1"), Err(Error::Json(_))));
    let many = shop.get_many(["users/2", "users/1"]).unwrap();
    assert!(many[0].is_none() && many[1].as_ref() == Some(&read));
    assert_eq!(shop.get_by_prefix("users/", 10).unwrap(), [read]);
    assert!(shop.delete("users/1").unwrap() && !shop.delete("users/1").unwrap());
}

#[test]
fn what_cannot_be_a_document_is_refused() {
    let shop = shop();
    assert!(matches!(shop.put("a", &[1, 2]), Err(Error::Invalid(_))));
    assert!(matches!(shop.collection("Us").put("a", &json!({"@metadata": {}})), Err(Error::Invalid(_))));
    assert!(matches!(shop.put_json("a", "{"), Err(Error::Invalid(_))));
    assert!(matches!(shop.put(&"x".repeat(600), &json!({})), Err(Error::Invalid(_))));
    assert_eq!(shop.statistics().unwrap().document_count, 0);
}

#[test]
fn a_batch_is_applied_whole_or_not_at_all() {
    let shop = shop();
    let written = shop
        .batch()
        .put("a", &json!({"N": 1}), Expected::Missing)
        .unwrap()
        .put_in("Bs", "b", &json!({"N": 1}), Expected::Any)
        .unwrap()
        .execute()
        .unwrap();
    assert_eq!(written.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let version = Expected::Version(written[0].change_vector.clone().unwrap());
    let refused = shop.batch().delete("b", Expected::Any).unwrap().put("a", &json!({}), Expected::Missing).unwrap();
    let Err(Error::Conflict { id, actual, .. }) = refused.execute() else { panic!("it exists") };
    assert_eq!((id.as_str(), actual), ("a", written[0].change_vector.clone()));
    assert!(shop.get("b").unwrap().is_some(), "nothing was applied");
    shop.batch().delete("a", version).unwrap().delete_by_prefix("b").unwrap().execute().unwrap();
    assert_eq!(shop.statistics().unwrap().document_count, 0);
}

/// The error said that the document does not exist.
#[test]
fn a_batch_that_contradicts_itself_is_refused_with_its_own_error() {
    let shop = shop();
    let twice = shop.batch().put("a", &json!({}), Expected::Any).unwrap().put("a", &json!({}), Expected::Missing);
    let refused = twice.unwrap().execute();
    let Err(Error::ConflictInBatch { id, expected }) = refused else { panic!("{refused:?}") };
    assert_eq!((id.as_str(), expected.as_str()), ("a", ""));
    let version = Expected::Version("A:1-nope".to_owned());
    let refused = shop.batch().delete("a", version).unwrap().execute();
    assert!(matches!(refused, Err(Error::Conflict { actual: None, .. })), "{refused:?}");
}

#[test]
fn a_script_changes_a_document() {
    let shop = shop();
    shop.put("a", &json!({"N": 1})).unwrap();
    let run = |script: &str| shop.patch("a", script).argument("n", 2).run();
    assert_eq!(run("this.N += args.n").unwrap(), PatchStatus::Patched);
    assert_eq!(run("this.N = 3").unwrap(), PatchStatus::Unchanged);
    assert_eq!(shop.patch("b", "this.N = 1").run().unwrap(), PatchStatus::Missing);
    let Err(Error::Invalid(message)) = run("throw 'nope'") else { panic!("it fails") };
    assert!(message.contains("nope"), "{message}");
    let expected = Expected::Version("A:1-nope".to_owned());
    assert!(shop.patch("a", "this.N = 1").expect(expected).run().is_err());
    assert_eq!(shop.get_as::<serde_json::Value>("a").unwrap().unwrap()["N"], 3);
}

/// Only scripts of projections were counted.
#[test]
fn scripts_of_patches_share_the_memory_of_the_store() {
    const SCRIPT: &str = "this.N = 'x'.repeat(1e7).length";
    let shop = |memory_size| {
        let store = Store::open_with(StoreOptions { memory_size: Some(memory_size), ..StoreOptions::default() });
        let shop = store.unwrap().database("Shop").unwrap();
        shop.put_json("a", r#"{"@metadata":{"@collection":"Users"}}"#).unwrap();
        shop
    };
    let small = shop(8 << 20);
    let by_id = small.patch("a", SCRIPT).run();
    assert!(matches!(by_id, Err(Error::Busy(_))), "{by_id:?}");
    let by_query = small.query(format!("from Users update {{ {SCRIPT} }}")).patch();
    assert!(matches!(by_query, Err(Error::Busy(_))), "{by_query:?}");
    assert_eq!(shop(64 << 20).patch("a", SCRIPT).run().unwrap(), PatchStatus::Patched);
}

#[test]
fn many_documents_are_inserted_and_counted() {
    let shop = shop();
    let mut insert = shop.bulk_insert().unwrap();
    for number in 0..5000 {
        insert.put("Ns", &format!("ns/{number}"), &json!({ "N": number })).unwrap();
    }
    insert.put_json("x", "{}").unwrap();
    assert!(matches!(insert.put_json("y", "[]"), Err(Error::Invalid(_))));
    assert_eq!(insert.finish().unwrap(), 5001);
    assert_eq!(shop.collection("ns").count().unwrap(), 5000);
    let statistics = shop.statistics().unwrap();
    assert_eq!((statistics.document_count, statistics.last_etag), (5001, 5001));
    assert!(statistics.collections.contains(&("Ns".to_owned(), 5000)), "{statistics:?}");
}

#[test]
fn changes_come_in_the_order_of_writes() {
    let shop = shop();
    shop.put("before", &json!({})).unwrap();
    let mut changes = shop.changes().unwrap();
    assert_eq!(changes.next_within(Duration::ZERO).unwrap(), None);
    for number in 0..3000 {
        shop.put_json(&format!("ns/{number}"), r#"{"@metadata":{"@collection":"Ns"}}"#).unwrap();
    }
    for number in 0..3000 {
        let change = changes.next_within(LONG).unwrap().unwrap();
        assert_eq!((change.id, change.collection.as_deref()), (format!("ns/{number}"), Some("Ns")));
    }
    // A write wakes a thread that waits, and the deletion of the database ends it.
    let (sender, received) = mpsc::channel();
    let waiting = std::thread::spawn(move || changes.for_each(|change| sender.send(change.unwrap().id).unwrap()));
    for id in ["after", "and again"] {
        shop.put(id, &json!({})).unwrap();
        assert_eq!(received.recv_timeout(LONG).unwrap(), id);
    }
    shop.store().delete_database("Shop").unwrap();
    assert_eq!(received.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
    waiting.join().unwrap();
}

#[test]
fn documents_expire_and_are_refreshed_while_the_store_is_open() {
    let shop = shop();
    let document =
        |property: &str| json!({ "@metadata": { "@collection": "Users", property: "2020-01-01T00:00:00Z" } });
    shop.put("users/1", &document("@expires")).unwrap();
    shop.put("users/2", &document("@refresh")).unwrap();
    let mut changes = shop.changes().unwrap();
    shop.set_lifetime(Lifetime::Expiration, Some(Duration::from_secs(1))).unwrap();
    shop.set_lifetime(Lifetime::Refresh, Some(Duration::from_secs(1))).unwrap();
    shop.set_lifetime(Lifetime::Archival, None).unwrap();
    let mut ids: Vec<String> = (0..2).map(|_| changes.next_within(LONG).unwrap().unwrap().id).collect();
    ids.sort();
    assert_eq!(ids, ["users/1", "users/2"]);
    assert!(shop.get("users/1").unwrap().is_none() && shop.get("users/2").unwrap().is_some());
    let refused = shop.set_lifetime(Lifetime::Refresh, Some(Duration::from_millis(999)));
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
}
