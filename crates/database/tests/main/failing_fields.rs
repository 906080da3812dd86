//! What cannot be indexed in an automatic index, and what becomes of the queries that have nothing to do with it.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;

use query::definition::{AutomaticIndex, Field, FieldName, FieldNeeds, GroupedBy};
use query::index::Term;
use rookery_database::documents::{Batch, Expected};
use rookery_database::*;
use testing::wait::{LONG, until_equal};

fn open(folder: &Path) -> Arc<Databases> {
    Databases::open(DatabasesOptions::folder(folder)).unwrap()
}

/// Documents `us/0` and so on: numbers `N`, texts `S` that are neither vectors nor shapes nor numbers, one group `G`.
fn fill(database: &Database, count: usize) {
    let mut batch = Batch::new();
    for n in 0..count {
        let document = format!(r#"{{"N":{n},"S":"s{n}","V":[1,{n}],"G":"all","@metadata":{{"@collection":"Us"}}}}"#);
        batch.put(&format!("us/{n}"), document.as_bytes(), Expected::Any).unwrap();
    }
    database.execute(batch).unwrap();
}

fn field(path: &str) -> Field {
    let needs = FieldNeeds {
        is_spatial: path.starts_with("spatial."),
        is_vector: path.starts_with("vector."),
        ..FieldNeeds::default()
    };
    Field { name: FieldName { path: path.to_owned(), is_quoted: false }, needs }
}

fn by(paths: &[&str]) -> AutomaticIndex {
    AutomaticIndex::new(Some("Us".to_owned()), paths.iter().map(|path| field(path)))
}

/// Groups by `G`.
fn grouped(paths: &[&str]) -> AutomaticIndex {
    let key = GroupedBy { path: "G".to_owned(), is_array: false };
    AutomaticIndex::grouped(Some("Us".to_owned()), vec![key], paths.iter().chain(&["G"]).map(|path| field(path)))
}

/// The index that answers, with all that there is.
fn ready(database: &Database, needed: &AutomaticIndex) -> Arc<Index> {
    let index = database.indexes().covering_or_new(needed).unwrap();
    let (sender, receiver) = mpsc::channel();
    let last = database.read().last_etag().unwrap();
    index.when_indexed(last, LONG, move || sender.send(()).unwrap());
    receiver.recv_timeout(LONG).expect("the index gets there");
    index
}

fn names(database: &Database) -> Vec<String> {
    database.indexes().all().iter().map(|index| index.name().to_owned()).collect()
}

fn count(index: &Index, field: &str, text: &str) -> u64 {
    let snapshot = index.read().unwrap();
    let number = snapshot.field(field).unwrap().unwrap();
    snapshot.term(number, Term::Text(text)).unwrap().count()
}

#[test]
fn what_is_no_vector_or_place_leaves_the_other_fields_of_its_document() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let database = databases.find_or_create("X").unwrap();
    // So many that an index in which documents fail is given up.
    fill(&database, 150);
    ready(&database, &by(&["N"]));
    for asked in ["vector.search(S)", "spatial.wkt(S)", "spatial.point(N, S)", "spatial.point(S, N)"] {
        let index = ready(&database, &by(&[asked]));
        assert!(index.failure().is_none() && index.was_complete());
        assert_eq!(index.read().unwrap().entry_count(), 150, "{asked}");
        assert_eq!(index.statistics().unwrap().failed_count, 0);
        // It has what failed in those before besides.
        let asked = format!("The field '{asked}' was left out: ");
        let of_it: Vec<_> =
            index.errors().unwrap().into_iter().filter(|error| error.message.starts_with(&asked)).collect();
        let ids = of_it.iter().filter_map(|error| error.document.as_deref());
        assert!(!of_it.is_empty() && ids.clone().count() == of_it.len() && ids.max() == Some("us/99"), "{asked}");
        for needed in [by(&["N"]), by(&["N", "S", "G"])] {
            assert_eq!(count(&ready(&database, &needed), "N", "149"), 1, "{asked}");
        }
        assert_eq!(count(&ready(&database, &by(&["S"])), "S", "s149"), 1, "{asked}");
    }
}

#[test]
fn a_vector_of_another_size_is_left_out_whole_and_says_nothing_of_the_size() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let database = databases.find_or_create("X").unwrap();
    let put = |id: &str, vectors: &str| {
        let mut batch = Batch::new();
        let document = format!(r#"{{"N":1,"V":{vectors},"@metadata":{{"@collection":"Us"}}}}"#);
        batch.put(id, document.as_bytes(), Expected::Any).unwrap();
        database.execute(batch).unwrap();
    };
    // The first of the vectors is one of two components, the second is none: none of them counts.
    put("us/first", r#"[[1,0],["x"]]"#);
    put("us/second", "[1,0,0]");
    put("us/third", "[[0,1,0],[1,0]]");
    let index = ready(&database, &by(&["N", "vector.search(V)"]));
    let failed: Vec<_> = index.errors().unwrap().into_iter().filter_map(|error| error.document).collect();
    assert_eq!(failed, ["us/first", "us/third"]);
    let snapshot = index.read().unwrap();
    let field = snapshot.field("vector.search(V)").unwrap().unwrap();
    assert_eq!(snapshot.vector_dimensions(field).unwrap(), Some(3));
    assert_eq!(count(&index, "N", "1"), 3);
}

#[test]
fn an_index_that_failed_answers_nobody_else_and_nothing_is_built_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let database = databases.find_or_create("X").unwrap();
    fill(&database, 3);
    let failed = ready(&database, &by(&["N", "S"]));
    failed.fail(query::index::Error::Bug);
    let asked = |paths: &[&str]| database.indexes().explain(&by(paths)).name;
    assert_eq!(asked(&["N"]), "Auto/Us/ByN");
    // Who asks for just that is told what is wrong.
    assert_eq!(ready(&database, &by(&["S", "N"])).name(), failed.name());
    assert!(failed.read().is_err());
    for path in ["N", "S"] {
        assert!(ready(&database, &by(&[path])).read().is_ok());
    }
    assert_eq!(asked(&["N"]), "Auto/Us/ByN");
    // Both fields together would be the one that failed.
    assert_eq!(names(&database), ["Auto/Us/ByN", "Auto/Us/ByNAndS", "Auto/Us/ByS"]);
    assert_eq!(asked(&["G"]).matches("And").count(), 1, "widened by a sound one");
}

#[test]
fn an_index_that_lacks_documents_takes_nobodys_place() {
    let folder = tempfile::tempdir().unwrap();
    let counts = |index: &Index| index.read().unwrap().entry_count();
    {
        let databases = open(folder.path());
        let database = databases.find_or_create("X").unwrap();
        fill(&database, 3);
        assert_eq!(counts(&ready(&database, &grouped(&["Count"]))), 1);
        // A text cannot be added up, so that the document is in no group.
        let failing = ready(&database, &grouped(&["S"]));
        assert_eq!((failing.name(), counts(&failing)), ("Auto/Us/ByCountAndSReducedByG", 0));
        assert_eq!(counts(&ready(&database, &grouped(&["Count"]))), 1);
        assert_eq!(ready(&database, &grouped(&["N"])).name(), "Auto/Us/ByCountAndNReducedByG");
        until_equal(|| names(&database), ["Auto/Us/ByCountAndNReducedByG", "Auto/Us/ByCountAndSReducedByG"]);
    }
    // That is known after a restart, too, whichever of them gets up to date first.
    let databases = open(folder.path());
    let database = databases.find_or_create("X").unwrap();
    let asked = |paths: &[&str]| database.indexes().explain(&grouped(paths)).name;
    assert_eq!(asked(&["Count"]), "Auto/Us/ByCountAndNReducedByG");
    assert_eq!(counts(&ready(&database, &grouped(&["S"]))), 0);
    assert_eq!(asked(&["Count"]), "Auto/Us/ByCountAndNReducedByG");
    fill(&database, 4);
    assert_eq!(counts(&ready(&database, &grouped(&["S"]))), 0);
    assert_eq!(counts(&ready(&database, &grouped(&["Count"]))), 1);
    assert_eq!(asked(&["Count"]), "Auto/Us/ByCountAndNReducedByG");
    assert_eq!(asked(&["V"]), "Auto/Us/ByCountAndNAndVReducedByG");
}
