//! What an index knows of itself, over restarts: counts, errors, that it failed, and when it was last asked.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;

use json::Value;
use query::definition::{AutomaticIndex, Field, FieldName, FieldNeeds, IndexSettings, MapIndex};
use query::index::{Error as IndexFailure, IndexError, limits::ERRORS_KEPT_MAX};
use rookery_database::documents::{Batch, Date, Expected};
use rookery_database::*;
use testing::wait::{LONG, until_equal};

const MINUTE: u64 = 60 * 10_000_000;

fn open(folder: &Path) -> Arc<Databases> {
    Databases::open(DatabasesOptions::folder(folder)).unwrap()
}

/// Opens all, gives the database `x` to `look`, and closes all.
fn session<T>(folder: &Path, look: impl FnOnce(&Arc<Database>) -> T) -> T {
    let databases = open(folder);
    let database = databases.find_or_create("x").unwrap();
    look(&database)
}

/// Documents `us/from` and on. Each of `bad` divides by nothing.
fn put(database: &Database, ids: std::ops::Range<usize>, bad: impl Fn(usize) -> bool) {
    let mut batch = Batch::new();
    for n in ids {
        let divisor = u8::from(!bad(n));
        let document = format!(r#"{{"N":{n},"D":{divisor},"@metadata":{{"@collection":"Us"}}}}"#);
        batch.put(&format!("us/{n}"), document.as_bytes(), Expected::Any).unwrap();
    }
    database.execute(batch).unwrap();
}

fn define(database: &Database, map: &str) {
    let given = format!(r#"{{"Name":"I","Maps":["{map}"]}}"#);
    let definition = MapIndex::from_json(&Value::parse(given.as_bytes()).unwrap()).unwrap();
    database.indexes().put(definition, IndexSettings::default()).unwrap();
}

const DIVIDES: &str = "from u in docs.Us select new { Q = 10 / u.D }";

fn index(database: &Database) -> Arc<Index> {
    let index = database.indexes().by_name("I").unwrap();
    wait(database, &index);
    index
}

fn wait(database: &Database, index: &Index) {
    let (sender, receiver) = mpsc::channel();
    let last = database.read().last_etag().unwrap();
    index.when_indexed(last, LONG, move || sender.send(()).unwrap());
    receiver.recv_timeout(LONG).expect("the index gets there");
}

fn counts(index: &Index) -> (u64, u64, u64) {
    let statistics = index.statistics().unwrap();
    (statistics.indexed_count, statistics.failed_count, statistics.error_count)
}

fn failed_ids(errors: &[IndexError]) -> Vec<&str> {
    errors.iter().filter_map(|error| error.document.as_deref()).collect()
}

fn automatic(collection: &str) -> AutomaticIndex {
    let name = FieldName { path: "N".to_owned(), is_quoted: false };
    AutomaticIndex::new(Some(collection.to_owned()), [Field { name, needs: FieldNeeds::default() }])
}

#[test]
fn counts_and_errors_outlive_a_restart_until_the_index_is_built_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (errors, last_indexed) = session(folder.path(), |database| {
        put(database, 0..20, |n| n == 7 || n == 9);
        define(database, DIVIDES);
        let index = index(database);
        assert_eq!(counts(&index), (20, 2, 2));
        (index.errors().unwrap(), index.last_indexed())
    });
    assert_eq!(failed_ids(&errors), ["us/7", "us/9"]);
    session(folder.path(), |database| {
        let index = index(database);
        assert_eq!((counts(&index), index.last_indexed()), ((20, 2, 2), last_indexed));
        assert_eq!(index.errors().unwrap(), errors);
        put(database, 20..22, |n| n == 21);
        wait(database, &index);
        assert_eq!(counts(&index), (22, 3, 3));
    });
    session(folder.path(), |database| {
        let errors = index(database).errors().unwrap();
        assert_eq!(failed_ids(&errors), ["us/7", "us/9", "us/21"]);
        assert!(database.indexes().reset("I").unwrap());
        // What failed before fails again, once.
        assert_eq!(counts(&index(database)), (22, 3, 3));
    });
    session(folder.path(), |database| {
        index(database).clear_errors().unwrap();
        assert_eq!(counts(&index(database)), (22, 3, 0));
    });
    session(folder.path(), |database| {
        assert_eq!(counts(&index(database)), (22, 3, 0));
        assert!(index(database).errors().unwrap().is_empty());
        put(database, 7..8, |_| true);
        assert_eq!(failed_ids(&index(database).errors().unwrap()), ["us/7"]);
    });
}

#[test]
fn what_replaces_an_index_has_its_own_errors() {
    let folder = tempfile::tempdir().unwrap();
    session(folder.path(), |database| {
        put(database, 0..20, |n| n == 7);
        define(database, DIVIDES);
        assert_eq!(counts(&index(database)), (20, 1, 1));
        define(database, "from u in docs.Us select new { u.N }");
        // It replaces behind its last batch.
        until_equal(|| counts(&index(database)), (20, 0, 0));
    });
    session(folder.path(), |database| assert_eq!(counts(&index(database)), (20, 0, 0)));
}

#[test]
fn the_last_errors_are_kept_and_all_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let count = 2 * ERRORS_KEPT_MAX;
    session(folder.path(), |database| {
        put(database, 0..20 * count, |_| false);
        define(database, DIVIDES);
        index(database);
        put(database, 0..count, |_| true);
        assert_eq!(counts(&index(database)), (21 * count as u64, count as u64, ERRORS_KEPT_MAX as u64));
    });
    session(folder.path(), |database| {
        let index = index(database);
        assert_eq!(counts(&index), (21 * count as u64, count as u64, ERRORS_KEPT_MAX as u64));
        let errors = index.errors().unwrap();
        let expected: Vec<_> = (count - ERRORS_KEPT_MAX..count).map(|n| format!("us/{n}")).collect();
        assert_eq!(failed_ids(&errors), expected);
        assert!(index.failure().is_none());
    });
}

#[test]
fn an_index_of_which_too_many_documents_failed_stays_so_until_it_is_built_anew() {
    let folder = tempfile::tempdir().unwrap();
    let too_many = |database: &Database| {
        let index = index(database);
        let failure = index.failure();
        let Some(IndexFailure::TooManyFailures { failed, attempted }) = failure else { panic!("{failure:?}") };
        assert_eq!((failed, attempted, index.status()), (150, 150, IndexingStatus::Paused));
        assert!(index.read().is_err());
        assert_eq!(index.errors().unwrap().len(), 150);
    };
    session(folder.path(), |database| {
        put(database, 0..150, |_| true);
        define(database, DIVIDES);
        too_many(database);
    });
    session(folder.path(), |database| {
        too_many(database);
        // Nothing more is tried.
        put(database, 150..160, |_| true);
        too_many(database);
        put(database, 0..160, |_| false);
        assert!(database.indexes().reset("I").unwrap());
        let index = index(database);
        assert_eq!((index.failure().is_none(), counts(&index)), (true, (160, 0, 0)));
    });
    session(folder.path(), |database| assert!(index(database).failure().is_none()));
}

/// What is not durable is lost when the power fails: it would go on from before, and never see what was deleted meanwhile.
#[test]
fn that_too_many_documents_failed_is_durable_before_their_tombstones_go() {
    let folder = tempfile::tempdir().unwrap();
    session(folder.path(), |database| {
        put(database, 0..150, |_| true);
        define(database, DIVIDES);
        assert!(index(database).failure().is_some());
        let mut batch = Batch::new();
        (0..150).for_each(|n| batch.delete(&format!("us/{n}"), Expected::Any).unwrap());
        database.execute(batch).unwrap();
        let removed: u64 = (0..3).map(|_| database.clean_unneeded_tombstones().unwrap()).sum();
        assert_eq!(removed, 150, "it needs none of them");
        // What the files have now is what is left of it.
        let left = tempfile::tempdir().unwrap();
        let indexes: Vec<_> = std::fs::read_dir(folder.path().join("databases/x/indexes")).unwrap().collect();
        let [Ok(files)] = indexes.as_slice() else { panic!("{indexes:?}") };
        for file in std::fs::read_dir(files.path()).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), left.path().join(file.file_name())).unwrap();
        }
        let left = query::index::Index::open(left.path(), storage::Options::default()).unwrap();
        assert_eq!(left.read().unwrap().history().unwrap().failed_count, 150);
    });
}

#[test]
fn when_an_index_was_last_asked_outlives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let past = |minutes: u64| Date::from_ticks(Date::now().ticks() - minutes * MINUTE);
    let (us, vs) = (past(100 * 60 + 35), past(100 * 60));
    let asked = |database: &Database| {
        let find = |name: &str| {
            let index = database.indexes().by_name(name).unwrap();
            (index.statistics().unwrap().last_query, database.indexes().is_idle(&index))
        };
        ["Auto/Us/ByN", "Auto/Vs/ByN", "Auto/Ws/ByN"].map(find)
    };
    session(folder.path(), |database| {
        for (collection, at) in [("Us", Some(us)), ("Vs", Some(vs)), ("Ws", None)] {
            let mut batch = Batch::new();
            let document = format!(r#"{{"N":1,"@metadata":{{"@collection":"{collection}"}}}}"#);
            batch.put(&format!("{collection}/1"), document.as_bytes(), Expected::Any).unwrap();
            database.execute(batch).unwrap();
            let index = database.indexes().covering_or_new(&automatic(collection)).unwrap();
            wait(database, &index);
            at.iter().for_each(|at| index.note_query_at(*at));
        }
    });
    for _ in 0..2 {
        session(folder.path(), |database| {
            // The 35 minutes are left, and the four days behind them, in which nobody asked anything, count for nobody.
            assert_eq!(asked(database), [(Some(us), true), (Some(vs), false), (None, false)]);
            database.indexes().retire().unwrap();
            assert_eq!(database.indexes().all().len(), 3);
        });
    }
    session(folder.path(), |database| {
        let index = |name| database.indexes().by_name(name).unwrap();
        let now = index("Auto/Vs/ByN").note_query();
        assert_eq!(asked(database), [(Some(us), true), (Some(now), false), (None, false)]);
        let later = Date::from_ticks(now.ticks() + 72 * 60 * MINUTE);
        index("Auto/Ws/ByN").note_query_at(later);
        database.indexes().retire().unwrap();
        let names: Vec<_> = database.indexes().all().iter().map(|index| index.name().to_owned()).collect();
        assert_eq!(names, ["Auto/Vs/ByN", "Auto/Ws/ByN"], "the 35 minutes from before count");
    });
}
