//! Unique constraints: what is refused, what may be exchanged, and random writes against a model.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rookery_documents::{
    Answer, Batch, ConstraintChange, DocumentStore, Error, Expected, Result, StoreOptions, UniqueConstraint, Write,
};
use storage::{Environment, Options};

fn store() -> DocumentStore {
    DocumentStore::open(Environment::in_memory(Options::default()).unwrap(), StoreOptions::default()).unwrap()
}

/// Applies a write that went through a log.
fn apply(store: &DocumentStore, write: Write) -> Result<Answer> {
    let mut log = Vec::new();
    write.encode(&mut log).unwrap();
    let write = Write::decode(&log).unwrap();
    Ok(store.apply(&write, store.stamp())?.answer)
}

fn constraint(name: &str, fields: &[&str], is_case_sensitive: bool) -> UniqueConstraint {
    let fields = fields.iter().map(|field| (*field).to_owned()).collect();
    UniqueConstraint { name: name.to_owned(), collection: "users".to_owned(), fields, is_case_sensitive }
}

fn constrain(store: &DocumentStore, constraint: UniqueConstraint) -> Result<Answer> {
    apply(store, Write::Constraint(ConstraintChange::Put(constraint)))
}

fn batch(puts: &[(&str, &str)], deletes: &[&str]) -> Batch {
    let mut batch = Batch::new();
    for (id, fields) in puts {
        let document =
            format!(r#"{{{fields}{}"@metadata":{{"@collection":"Users"}}}}"#, if fields.is_empty() { "" } else { "," });
        batch.put(id, document.as_bytes(), Expected::Any).unwrap();
    }
    deletes.iter().for_each(|id| batch.delete(id, Expected::Any).unwrap());
    batch
}

fn put(store: &DocumentStore, puts: &[(&str, &str)]) -> Result<Answer> {
    apply(store, Write::batch(batch(puts, &[])))
}

#[track_caller]
fn check_store(store: &DocumentStore) {
    assert_eq!(store.read().verify().unwrap().problems, Vec::<String>::new());
}

#[track_caller]
fn check_taken(result: Result<Answer>, expected: [&str; 2]) {
    match result.unwrap_err() {
        Error::NotUnique { id, other, .. } => assert_eq!([id.as_str(), other.as_str()], expected),
        error => panic!("{error}"),
    }
}

#[test]
fn a_value_that_another_document_has_is_refused_with_its_id() {
    let store = store();
    constrain(&store, constraint("email", &["Email"], false)).unwrap();
    put(&store, &[("users/1", r#""Email":"Ann@X.org""#)]).unwrap();
    check_taken(put(&store, &[("users/2", r#""Email":"ann@x.ORG""#)]), ["users/2", "users/1"]);
    assert!(store.read().get("users/2").unwrap().is_none(), "nothing was written");
    // Whatever is in the batch beside it.
    check_taken(
        put(&store, &[("users/3", r#""Email":"c""#), ("users/2", r#""Email":"ANN@x.org""#)]),
        ["users/2", "users/1"],
    );
    assert!(store.read().get("users/3").unwrap().is_none());
    // Its own value, none, and null are free.
    put(&store, &[("users/1", r#""Email":"ann@x.org","N":1"#)]).unwrap();
    for id in ["users/4", "users/5"] {
        put(&store, &[(id, "")]).unwrap();
        put(&store, &[(id, r#""Email":null"#)]).unwrap();
    }
    // Another collection is not concerned.
    let mut other = Batch::new();
    other.put("dogs/1", br#"{"Email":"ann@x.org","@metadata":{"@collection":"Dogs"}}"#, Expected::Any).unwrap();
    apply(&store, Write::batch(other)).unwrap();
    check_store(&store);
    // What was given up can be taken.
    put(&store, &[("users/1", r#""Email":"new""#)]).unwrap();
    put(&store, &[("users/2", r#""Email":"ann@x.org""#)]).unwrap();
    apply(&store, Write::batch(batch(&[], &["users/2"]))).unwrap();
    put(&store, &[("users/6", r#""Email":"ann@x.org""#)]).unwrap();
    check_store(&store);
}

#[test]
fn values_are_compared_as_values() {
    let store = store();
    constrain(&store, constraint("n", &["N"], true)).unwrap();
    for (number, value) in [
        "1",
        r#""1""#,
        r#""a""#,
        r#""A""#,
        "true",
        "false",
        "0.5",
        "12345678901234567890",
        "12345678901234567891",
        "[1,2]",
        "[1]",
        r#"{"a":1}"#,
        r#""a\u0001b""#,
        r#""""#,
    ]
    .iter()
    .enumerate()
    {
        put(&store, &[(&format!("users/{number}"), &format!(r#""N":{value}"#))]).unwrap();
    }
    for value in ["1.0", "10e-1", "5e-1", "12345678901234567890", "[1, 2]", r#""a""#] {
        assert!(
            matches!(put(&store, &[("users/x", &format!(r#""N":{value}"#))]), Err(Error::NotUnique { .. })),
            "{value}"
        );
    }
    let long = "x".repeat(5000);
    put(&store, &[("users/l1", &format!(r#""N":"{long}""#))]).unwrap();
    put(&store, &[("users/l2", &format!(r#""N":"{long}y""#))]).unwrap();
    check_taken(put(&store, &[("users/l3", &format!(r#""N":"{long}""#))]), ["users/l3", "users/l1"]);
    check_store(&store);
}

#[test]
fn several_fields_are_unique_together() {
    let store = store();
    constrain(&store, constraint("both", &["City", "Address.Street"], false)).unwrap();
    put(&store, &[("users/1", r#""City":"a","Address":{"Street":"b"}"#)]).unwrap();
    put(&store, &[("users/2", r#""City":"ab","Address":{"Street":""}"#)]).unwrap();
    put(&store, &[("users/3", r#""City":"a","Address":{"Street":"c"}"#)]).unwrap();
    put(&store, &[("users/4", r#""City":"a""#)]).unwrap();
    check_taken(put(&store, &[("users/5", r#""City":"A","Address":{"Street":"B"}"#)]), ["users/5", "users/1"]);
    check_store(&store);
}

#[test]
fn documents_exchange_their_values_in_one_transaction() {
    let store = store();
    constrain(&store, constraint("n", &["N"], false)).unwrap();
    put(&store, &[("users/1", r#""N":1"#), ("users/2", r#""N":2"#)]).unwrap();
    put(&store, &[("users/1", r#""N":2"#), ("users/2", r#""N":1"#)]).unwrap();
    check_store(&store);
    check_taken(put(&store, &[("users/3", r#""N":2"#)]), ["users/3", "users/1"]);
    // The one that has it goes, behind the one that takes it.
    apply(&store, Write::batch(batch(&[("users/3", r#""N":2"#)], &["users/1"]))).unwrap();
    check_store(&store);
    check_taken(put(&store, &[("users/4", r#""N":5"#), ("users/5", r#""N":5"#)]), ["users/5", "users/4"]);
}

#[test]
fn a_document_that_comes_again_in_another_collection_is_not_constrained() {
    let store = store();
    constrain(&store, constraint("n", &["N"], false)).unwrap();
    put(&store, &[("users/1", r#""N":1"#)]).unwrap();
    let mut batch = batch(&[("b", r#""N":1"#)], &["b"]);
    batch.put("b", br#"{"N":1,"@metadata":{"@collection":"Dogs"}}"#, Expected::Any).unwrap();
    batch.delete("users/1", Expected::Any).unwrap();
    apply(&store, Write::batch(batch)).unwrap();
    check_store(&store);
    put(&store, &[("users/2", r#""N":1"#)]).unwrap();
    check_store(&store);
}

#[test]
fn a_constraint_over_documents_reports_its_duplicates() {
    let store = store();
    for number in 0..30 {
        put(&store, &[(&format!("users/{number}"), &format!(r#""N":{}"#, number % 28))]).unwrap();
    }
    match constrain(&store, constraint("n", &["N"], false)).unwrap_err() {
        Error::Duplicates { duplicate_count: 2, duplicates, .. } => {
            assert_eq!(duplicates[0].ids, ["users/0", "users/28"]);
            assert_eq!(duplicates[1].values, ["1"]);
        }
        error => panic!("{error}"),
    }
    assert!(store.read().constraints().unwrap().is_empty());
    check_store(&store);
    put(&store, &[("users/28", ""), ("users/29", "")]).unwrap();
    constrain(&store, constraint("n", &["N"], false)).unwrap();
    check_taken(put(&store, &[("users/28", r#""N":7"#)]), ["users/28", "users/7"]);
    // One of the same name takes its place.
    constrain(&store, constraint("N", &["M"], false)).unwrap();
    put(&store, &[("users/28", r#""N":7"#)]).unwrap();
    assert_eq!(store.read().constraints().unwrap().len(), 1);
    check_store(&store);
    let delete = || Write::Constraint(ConstraintChange::Delete("n".to_owned()));
    assert_eq!(apply(&store, delete()).unwrap().count().unwrap(), 1);
    assert_eq!(apply(&store, delete()).unwrap().count().unwrap(), 0);
    check_store(&store);
}

#[derive(Clone, Debug)]
enum Step {
    /// Documents with their new values; `None`: deleted.
    Write(Vec<(u8, Option<u8>)>),
    Constrain,
    Unconstrain,
    Reopen,
    Compact,
}

fn step() -> impl Strategy<Value = Step> {
    let change = (0..6u8, prop::option::weighted(0.8, 0..5u8));
    prop_oneof![
        12 => prop::collection::vec(change, 1..5).prop_map(Step::Write),
        2 => Just(Step::Constrain),
        1 => Just(Step::Unconstrain),
        1 => Just(Step::Reopen),
        1 => Just(Step::Compact),
    ]
}

fn is_unique(model: &BTreeMap<u8, u8>) -> bool {
    let values: std::collections::BTreeSet<_> = model.values().collect();
    values.len() == model.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn what_is_stored_stays_unique(steps in prop::collection::vec(step(), 1..40)) {
        let mut store = store();
        let mut model: BTreeMap<u8, u8> = BTreeMap::new();
        let mut is_constrained = false;
        for step in steps {
            match step {
                Step::Write(changes) => {
                    let (mut batch, mut after) = (Batch::new(), model.clone());
                    for (id, value) in &changes {
                        let name = format!("users/{id}");
                        match value {
                            Some(value) => {
                                let document = format!(r#"{{"N":{value},"@metadata":{{"@collection":"Users"}}}}"#);
                                batch.put(&name, document.as_bytes(), Expected::Any).unwrap();
                                after.insert(*id, *value);
                            }
                            None => {
                                batch.delete(&name, Expected::Any).unwrap();
                                after.remove(id);
                            }
                        }
                    }
                    let done = apply(&store, Write::batch(batch));
                    prop_assert_eq!(done.is_ok(), !is_constrained || is_unique(&after), "{:?}", done);
                    if done.is_ok() {
                        model = after;
                    }
                }
                Step::Constrain => {
                    let done = constrain(&store, constraint("n", &["N"], false));
                    prop_assert_eq!(done.is_ok(), is_unique(&model));
                    is_constrained |= done.is_ok();
                }
                Step::Unconstrain => {
                    apply(&store, Write::Constraint(ConstraintChange::Delete("n".to_owned()))).unwrap();
                    is_constrained = false;
                }
                Step::Reopen => store = DocumentStore::open(store.into_environment(), StoreOptions::default()).unwrap(),
                Step::Compact => {
                    let target = Environment::in_memory(Options::default()).unwrap();
                    store.copy_into(&target, |_| true).unwrap();
                    store = DocumentStore::open(target, StoreOptions::default()).unwrap();
                }
            }
        }
        let problems = store.read().verify().unwrap().problems;
        prop_assert_eq!(problems, Vec::<String>::new());
        for (id, value) in model {
            let document = store.read().get(&format!("users/{id}")).unwrap().map(|found| found.json_of_scripts());
            let text = format!("{{\"N\":{value},");
            prop_assert!(document.is_some_and(|json| json.starts_with(text.as_bytes())));
        }
    }
}
