//! What belongs to documents, beside them: attachments, counters, revisions, compare-exchange values, unique constraints.

use std::io::{Cursor, Read};

use rookerydb::*;
use serde_json::json;

fn shop() -> Database {
    let shop = Store::in_memory().unwrap().database("Shop").unwrap();
    shop.collection("Users").put("users/1", &json!({ "Name": "Ann" })).unwrap();
    shop
}

#[test]
fn attachments_of_any_size_come_back() {
    let shop = shop();
    let attachments = shop.attachments("USERS/1");
    let large: Vec<u8> = (0..5_000_000_u32).map(|number| (number % 251) as u8).collect();
    let stored = attachments.put("Large.bin", "application/x", Cursor::new(&large)).unwrap();
    assert_eq!((stored.name.as_str(), stored.size), ("Large.bin", 5_000_000));
    attachments.put("empty", "", std::io::empty()).unwrap();
    assert_eq!(attachments.read("large.BIN").unwrap().unwrap(), large);
    assert_eq!(attachments.read("empty").unwrap(), Some(Vec::new()));
    assert_eq!(attachments.read("none").unwrap(), None);
    let names: Vec<String> = attachments.list().unwrap().into_iter().map(|attachment| attachment.name).collect();
    assert_eq!(names, ["empty", "Large.bin"]);
    assert_eq!(attachments.get("large.bin").unwrap(), Some(stored));
    assert!(attachments.delete("LARGE.bin").unwrap() && !attachments.delete("large.bin").unwrap());
    assert!(matches!(shop.attachments("users/2").put("a", "", std::io::empty()), Err(Error::Invalid(_))));
    assert_eq!(shop.attachments("users/2").list().unwrap(), []);
}

/// A reader that fails once it has given so many bytes.
struct Failing(usize);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = self.0.min(buffer.len());
        self.0 -= size;
        buffer[..size].fill(1);
        if size == 0 { Err(std::io::Error::other("the line is cut")) } else { Ok(size) }
    }
}

#[test]
fn an_attachment_whose_reader_fails_is_not_stored() {
    let shop = shop();
    let attachments = shop.attachments("users/1");
    for size in [10, 3_000_000] {
        let failed = attachments.put("a", "", Failing(size));
        assert!(matches!(failed, Err(Error::Read(error)) if error.to_string() == "the line is cut"));
    }
    assert_eq!(attachments.list().unwrap(), []);
}

#[test]
fn counters_are_raised_by_several_at_once() {
    let shop = shop();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    shop.counters("users/1").add("Visits", 2).unwrap();
                }
            });
        }
    });
    let counters = shop.counters("users/1");
    assert_eq!(counters.get("visits").unwrap(), Some(400));
    assert_eq!(counters.add("Down", -5).unwrap(), -5);
    assert_eq!(counters.all().unwrap(), [("Down".to_owned(), -5), ("Visits".to_owned(), 400)]);
    assert!(matches!(counters.add("Down", i64::MIN), Err(Error::Invalid(_))));
    assert!(matches!(shop.counters("users/2").add("a", 1), Err(Error::Invalid(_))));
    assert!(counters.delete("down").unwrap() && !counters.delete("down").unwrap());
    assert_eq!(counters.get("Down").unwrap(), None);
}

#[test]
fn of_several_who_exchange_a_value_one_wins() {
    let shop = shop();
    let values = shop.compare_exchange();
    let wins: usize = std::thread::scope(|scope| {
        let values = &values;
        let tries: Vec<_> = (0..4).map(|number| scope.spawn(move || values.put("lock", &number, 0).unwrap())).collect();
        tries.into_iter().filter_map(|tried| tried.join().unwrap()).count()
    });
    assert_eq!(wins, 1);
    let stored = values.get::<u64>("LOCK").unwrap().unwrap();
    assert_eq!(values.put("lock", &"other", stored.index + 1).unwrap(), None);
    let index = values.put("lock", &"other", stored.index).unwrap().unwrap();
    assert!(index > stored.index);
    assert!(matches!(values.get::<u64>("lock"), Err(Error::Json(_))));
    assert!(!values.delete("lock", stored.index).unwrap() && values.delete("lock", index).unwrap());
    assert_eq!(values.get::<u64>("lock").unwrap(), None);
    assert!(matches!(values.put(&"k".repeat(1000), &1, 0), Err(Error::Invalid(_))));
}

#[test]
fn a_unique_constraint_is_kept_and_reports_duplicates() {
    let shop = shop();
    let users = shop.collection("Users");
    let by_name = UniqueConstraint::new("Users", ["Name"]);
    assert_eq!(by_name.name, "Users/Name");
    users.put("users/2", &json!({ "Name": "ANN" })).unwrap();
    let refused = shop.put_unique_constraint(&by_name).unwrap_err();
    assert!(
        matches!(&refused, Error::Invalid(text) if text.contains("users/1") && text.contains("users/2")),
        "{refused}"
    );
    shop.delete("users/2").unwrap();
    shop.put_unique_constraint(&by_name).unwrap();
    assert_eq!(shop.unique_constraints().unwrap(), [by_name]);
    let taken = users.put("users/3", &json!({ "Name": "ann" })).unwrap_err();
    assert!(matches!(&taken, Error::NotUnique { id, other, .. } if id == "users/3" && other == "users/1"), "{taken}");
    assert!(shop.get("users/3").unwrap().is_none());
    assert!(shop.delete_unique_constraint("users/name").unwrap());
    assert!(!shop.delete_unique_constraint("users/name").unwrap());
    users.put("users/3", &json!({ "Name": "ann" })).unwrap();
    let no_field = UniqueConstraint { fields: Vec::new(), ..UniqueConstraint::new("Users", ["Name"]) };
    assert!(matches!(shop.put_unique_constraint(&no_field), Err(Error::Invalid(_))));
}

#[test]
fn revisions_tell_what_a_document_was() {
    let shop = shop();
    assert_eq!(shop.revisions("users/1", 0, 10).unwrap(), []);
    shop.configure_revisions(&json!({ "Default": { "Disabled": false } })).unwrap();
    let users = shop.collection("Users");
    for name in ["Anna", "Anne"] {
        users.put("users/1", &json!({ "Name": name })).unwrap();
    }
    shop.delete("users/1").unwrap();
    let revisions = shop.revisions("users/1", 0, 10).unwrap();
    assert!(matches!(revisions[0], Revision::Deletion(_)));
    let texts: Vec<&str> = revisions[1..].iter().map(|revision| revision.document().json()).collect();
    for (text, name) in texts.iter().zip(["Anne", "Anna", "Ann"]) {
        assert!(text.contains(&format!(r#""Name":"{name}""#)), "{texts:?}");
    }
    assert_eq!(texts.len(), 3);
    assert_eq!(shop.revisions("users/1", 1, 1).unwrap(), revisions[1..2]);
    let unknown = shop.configure_revisions(&json!({ "Collections": { "Users": { "Keep": 3 } } }));
    assert!(unknown.is_err());
}
