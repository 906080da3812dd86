//! Indexes whose names differ in case only: fields are told apart by it, indexes are not.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;

use query::definition::{AutomaticIndex, COUNT, Field, FieldName, FieldNeeds, GroupedBy};
use rookery_database::documents::{Batch, Expected};
use rookery_database::*;
use testing::wait::LONG;

/// Orders by a key, and how many they are.
fn grouped(key: &str) -> AutomaticIndex {
    let field = |path: &str| {
        let name = FieldName { path: path.to_owned(), is_quoted: false };
        Field { name, needs: FieldNeeds::default() }
    };
    let key_of = GroupedBy { path: key.to_owned(), is_array: false };
    AutomaticIndex::grouped(Some("Orders".to_owned()), vec![key_of], [field(key), field(COUNT)])
}

/// Has both, with all documents in them. Gives their names and how many groups each has.
fn both(database: &Database) -> Vec<(String, u64)> {
    let found = ["Company", "company"].map(|key| {
        let index = database.indexes().covering_or_new(&grouped(key)).unwrap();
        let (sender, receiver) = mpsc::channel();
        let last_etag = database.read().last_etag().unwrap();
        index.when_indexed(last_etag, LONG, move || sender.send(()).unwrap());
        receiver.recv_timeout(LONG).expect("the index gets there");
        (index.name().to_owned(), index.read().unwrap().entry_count())
    });
    found.to_vec()
}

fn folder_count(folder: &Path) -> usize {
    std::fs::read_dir(folder.join("databases/x/indexes")).unwrap().count()
}

#[test]
fn groups_by_keys_that_differ_in_case_have_definitions_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let open = || -> (Arc<Databases>, Arc<Database>) {
        let databases = Databases::open(DatabasesOptions::folder(folder.path())).unwrap();
        let database = databases.find_or_create("x").unwrap();
        (databases, database)
    };
    let by = |name: &str| format!("Auto/Orders/ByCountReducedBy{name}");
    let expected = vec![(by("Company"), 1), (by("company-2"), 3)];
    {
        let (_databases, database) = open();
        let mut batch = Batch::new();
        for number in 0..3 {
            let document = format!(r#"{{"Company":"a","company":"{number}","@metadata":{{"@collection":"Orders"}}}}"#);
            batch.put(&format!("orders/{number}"), document.as_bytes(), Expected::Any).unwrap();
        }
        database.execute(batch).unwrap();
        let named = database.indexes().explain(&grouped("company")).name;
        assert_eq!(named, by("company"));
        assert_eq!(both(&database), expected);
        assert_eq!(database.indexes().explain(&grouped("company")).name, by("company-2"));
        assert_eq!(folder_count(folder.path()), 2);
    }
    {
        let (_databases, database) = open();
        let names: Vec<String> = database.indexes().all().iter().map(|index| index.name().to_owned()).collect();
        assert_eq!(names, [by("Company"), by("company-2")], "each has its definition");
        assert_eq!((both(&database), folder_count(folder.path())), (expected, 2));
        assert!(database.indexes().remove(&by("COMPANY")).unwrap());
    }
    let (_databases, database) = open();
    let names: Vec<String> = database.indexes().all().iter().map(|index| index.name().to_owned()).collect();
    assert_eq!(names, [by("company-2")], "the other one keeps its own");
}
