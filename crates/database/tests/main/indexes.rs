//! Indexes of a database: over restarts, damage, deletion and many threads.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use json::Value;
use query::definition::{AutomaticIndex, Field, FieldName, FieldNeeds, IndexSettings, LockMode, MapIndex, Priority};
use query::index::Term;
use rookery_database::documents::{Batch, Date, Expected};
use rookery_database::*;
use testing::wait::{LONG, until_equal};

fn open(folder: &Path) -> Arc<Databases> {
    Databases::open(DatabasesOptions::folder(folder)).unwrap()
}

fn put(database: &Database, id: &str, document: &str) {
    let mut batch = Batch::new();
    batch.put(id, document.as_bytes(), Expected::Any).unwrap();
    database.execute(batch).unwrap();
}

fn user(name: &str) -> String {
    format!(r#"{{"Name":"{name}","Age":1,"@metadata":{{"@collection":"Users"}}}}"#)
}

fn by(paths: &[&str]) -> AutomaticIndex {
    let field = |path: &&str| {
        let name = FieldName { path: (*path).to_owned(), is_quoted: false };
        Field { name, needs: FieldNeeds::default() }
    };
    AutomaticIndex::new(Some("Users".to_owned()), paths.iter().map(field))
}

pub(crate) fn defined(name: &str, map: &str) -> MapIndex {
    let mut definition = Value::object();
    definition.set("Name", Value::String(name.to_owned()));
    definition.set("Maps", Value::Array(vec![Value::String(map.to_owned())]));
    MapIndex::from_json(&definition).unwrap()
}

/// Waits until the index has all that the database has now.
pub(crate) fn wait(database: &Database, index: &Index) {
    let (sender, receiver) = mpsc::channel();
    index.when_indexed(database.read().last_etag().unwrap(), LONG, move || sender.send(()).unwrap());
    receiver.recv_timeout(LONG).expect("the index gets there");
}

/// How many entries have a text in a field.
pub(crate) fn count(index: &Index, field: &str, text: &str) -> u64 {
    let snapshot = index.read().unwrap();
    let Some(number) = snapshot.field(field).unwrap() else { return 0 };
    snapshot.term(number, Term::Text(text)).unwrap().count()
}

fn names(database: &Database) -> Vec<String> {
    database.indexes().all().iter().map(|index| index.name().to_owned()).collect()
}

/// The folders of indexes, without those that are just being removed.
fn index_folders(folder: &Path) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(folder.join("databases/x/indexes")).into_iter().flatten();
    folders.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn indexes_are_there_again_after_a_restart_and_go_on() {
    let folder = tempfile::tempdir().unwrap();
    {
        let databases = open(folder.path());
        let database = databases.find_or_create("X").unwrap();
        put(&database, "users/1", &user("ann"));
        let index = database.indexes().covering_or_new(&by(&["Name"])).unwrap();
        database
            .indexes()
            .put(
                defined("Defined", "from u in docs.Users select new { Twice = u.Name + u.Name }"),
                IndexSettings::default(),
            )
            .unwrap();
        wait(&database, &index);
        assert_eq!(count(&index, "Name", "ann"), 1);
    }
    let databases = open(folder.path());
    let database = databases.find("x").unwrap();
    assert_eq!(names(&database), ["Auto/Users/ByName", "Defined"]);
    put(&database, "users/2", &user("Ann"));
    let index = database.indexes().by_name("auto/users/BYNAME").unwrap();
    wait(&database, &index);
    assert_eq!(count(&index, "Name", "ann"), 2);
    assert_eq!(index.statistics().unwrap().indexed_count, 2, "what it had it did not index again");
    let index = database.indexes().by_name("defined").unwrap();
    wait(&database, &index);
    assert_eq!(count(&index, "Twice", "annann"), 2);
}

#[test]
fn an_index_whose_files_are_damaged_or_gone_is_built_anew() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..3 {
        {
            let databases = open(folder.path());
            let database = databases.find_or_create("x").unwrap();
            put(&database, &format!("users/{round}"), &user("ann"));
            let index = database.indexes().covering_or_new(&by(&["Name"])).unwrap();
            wait(&database, &index);
            assert_eq!(count(&index, "Name", "ann"), round + 1);
        }
        let [index] = index_folders(folder.path()).try_into().unwrap();
        match round {
            0 => std::fs::remove_dir_all(index).unwrap(),
            _ => std::fs::write(index.join("data"), b"this is no index").unwrap(),
        }
    }
}

#[test]
fn what_is_left_of_an_index_that_nobody_knows_goes_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let indexes = folder.path().join("databases/x/indexes");
    {
        let databases = open(folder.path());
        let database = databases.find_or_create("x").unwrap();
        put(&database, "users/1", &user("ann"));
        let index = database.indexes().covering_or_new(&by(&["Name"])).unwrap();
        wait(&database, &index);
    }
    let others = ["0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef~removed", "mine"];
    others.iter().for_each(|name| std::fs::create_dir(indexes.join(name)).unwrap());
    let databases = open(folder.path());
    databases.find("x").unwrap();
    let left = index_folders(folder.path());
    assert_eq!(left.len(), 2, "the index, and what is not ours: {left:?}");
    assert!(left.contains(&indexes.join("mine")));
}

#[test]
fn a_removed_index_takes_its_files_with_it_when_nobody_reads_it_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let database = databases.find_or_create("x").unwrap();
    put(&database, "users/1", &user("ann"));
    let index = database.indexes().covering_or_new(&by(&["Name"])).unwrap();
    wait(&database, &index);
    assert!(database.indexes().remove("AUTO/users/byname").unwrap());
    assert!(!database.indexes().remove("Auto/Users/ByName").unwrap());
    assert_eq!(count(&index, "Name", "ann"), 1, "who has it reads on");
    assert_eq!(index_folders(folder.path()).len(), 1);
    let (sender, receiver) = mpsc::channel();
    index.when_indexed(u64::MAX, Duration::from_secs(3600), move || sender.send(()).unwrap());
    receiver.recv_timeout(LONG).expect("nobody waits for what does not come any more");
    // The one that indexed it may be the last to let go of it.
    drop(index);
    until_equal(|| index_folders(folder.path()).len(), 0);
    drop((database, databases));
    assert!(names(&open(folder.path()).find("x").unwrap()).is_empty());
}

#[test]
fn tombstones_stay_until_every_index_has_heeded_them() {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let database = databases.find_or_create("x").unwrap();
    for number in 0..10 {
        put(&database, &format!("users/{number}"), &user("ann"));
    }
    let index = database.indexes().covering_or_new(&by(&["Name"])).unwrap();
    wait(&database, &index);
    let mut batch = Batch::new();
    (0..10).for_each(|number| batch.delete(&format!("users/{number}"), Expected::Any).unwrap());
    database.execute(batch).unwrap();
    // One cleaning notes how far the database is, the next removes what was there then.
    let removed: u64 = (0..3).map(|_| database.clean_unneeded_tombstones().unwrap()).sum();
    wait(&database, &index);
    assert_eq!(count(&index, "Name", "ann"), 0, "whatever was cleaned meanwhile");
    let removed = removed + (0..2).map(|_| database.clean_unneeded_tombstones().unwrap()).sum::<u64>();
    assert_eq!(removed, 10);
}

/// Its folder is locked while the database is opened: it is opened later, and what it has not seen was kept for it.
#[test]
fn an_index_that_cannot_be_opened_for_now_misses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    {
        let databases = open(folder.path());
        let database = databases.find_or_create("x").unwrap();
        (0..10).for_each(|number| put(&database, &format!("users/{number}"), &user("ann")));
        let index = database.indexes().covering_or_new(&by(&["Name"])).unwrap();
        wait(&database, &index);
    }
    let [index_folder] = index_folders(folder.path()).try_into().unwrap();
    let held = query::index::Index::open(&index_folder, storage::Options::default()).unwrap();
    let databases = open(folder.path());
    let database = databases.find("x").unwrap();
    assert!(names(&database).is_empty());
    let mut batch = Batch::new();
    (0..9).for_each(|number| batch.delete(&format!("users/{number}"), Expected::Any).unwrap());
    database.execute(batch).unwrap();
    let removed: u64 = (0..3).map(|_| database.clean_unneeded_tombstones().unwrap()).sum();
    assert_eq!(removed, 0, "the index has not seen them");
    drop(held);
    databases.maintain();
    let index = database.indexes().by_name("Auto/Users/ByName").expect("it is opened after all");
    wait(&database, &index);
    assert_eq!(count(&index, "Name", "ann"), 1);
    let removed: u64 = (0..3).map(|_| database.clean_unneeded_tombstones().unwrap()).sum();
    assert_eq!(removed, 9);
}

/// The same for the replacement of one that answers: it is opened beside that, under the same name.
#[test]
fn a_replacement_that_cannot_be_opened_for_now_misses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let map =
        |number: u64| defined("X", &format!("from u in docs.Users select new {{ u.Name, N = u.Age + {number} }}"));
    let (of_x, of_replacement) = {
        let databases = open(folder.path());
        let database = databases.find_or_create("x").unwrap();
        (0..10).for_each(|number| put(&database, &format!("users/{number}"), &user("ann")));
        database.indexes().put(map(1), IndexSettings::default()).unwrap();
        let index = database.indexes().by_name("X").unwrap();
        wait(&database, &index);
        let of_x = index_folders(folder.path());
        // It is not built yet: what it has not seen is all that there is.
        database.indexes().pause_all(true);
        database.indexes().put(map(2), IndexSettings::default()).unwrap();
        let all = index_folders(folder.path()).into_iter();
        (of_x.clone(), all.filter(|folder| !of_x.contains(folder)).collect::<Vec<_>>())
    };
    for held in [&of_replacement, &of_x] {
        let held = query::index::Index::open(&held[0], storage::Options::default()).unwrap();
        let databases = open(folder.path());
        let database = databases.find("x").unwrap();
        database.indexes().pause_all(true);
        assert_eq!(names(&database).len(), 1);
        drop(held);
        databases.maintain();
        assert_eq!(names(&database), ["ReplacementOf/X", "X"], "each is opened, once");
    }
    let databases = open(folder.path());
    let database = databases.find("x").unwrap();
    until_equal(|| names(&database), ["X"]);
    let index = database.indexes().by_name("X").unwrap();
    wait(&database, &index);
    assert_eq!(count(&index, "N", "3"), 10);
}

/// Each new shape of queries is answered by an index with the fields of all shapes before, and is called by them.
#[test]
fn the_fields_of_queries_may_be_as_many_as_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let fields: Vec<String> = (0..100).map(|number| format!("Field_with_a_name_of_thirty_{number:02}")).collect();
    {
        let databases = open(folder.path());
        let database = databases.find_or_create("x").unwrap();
        put(&database, "users/1", &user("ann"));
        for field in &fields {
            database.indexes().covering_or_new(&by(&[field])).unwrap();
        }
    }
    let databases = open(folder.path());
    let database = databases.find("x").unwrap();
    let all: Vec<&str> = fields.iter().map(String::as_str).collect();
    let index = database.indexes().covering(&by(&all)).expect("the widest was kept");
    wait(&database, &index);
    assert!(index.name().len() > 3000 && database.indexes().remove(index.name()).unwrap());
    drop((index, database, databases));
    let databases = open(folder.path());
    assert!(databases.find("x").unwrap().indexes().covering(&by(&all)).is_none(), "it was removed for good");
}

/// An index that cannot be made leaves nothing behind: neither its definition, nor tombstones that are kept for it.
#[test]
fn an_index_that_cannot_be_made_is_not_there_later() {
    let folder = tempfile::tempdir().unwrap();
    {
        let databases = open(folder.path());
        let database = databases.find_or_create("x").unwrap();
        (0..10).for_each(|number| put(&database, &format!("users/{number}"), &user("ann")));
        let long = "a".repeat(1025);
        assert!(database.indexes().covering_or_new(&by(&[&long])).is_err());
        let map = format!("from u in docs.Users select new {{ {long} = u.Name }}");
        assert!(database.indexes().put(defined("X", &map), IndexSettings::default()).is_err());
    }
    let databases = open(folder.path());
    let database = databases.find("x").unwrap();
    let mut batch = Batch::new();
    (0..10).for_each(|number| batch.delete(&format!("users/{number}"), Expected::Any).unwrap());
    database.execute(batch).unwrap();
    let removed: u64 = (0..3).map(|_| database.clean_unneeded_tombstones().unwrap()).sum();
    assert_eq!((removed, names(&database).len()), (10, 0));
}

/// One whose folder cannot be opened can be removed all the same.
#[test]
fn an_index_that_is_not_open_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    {
        let databases = open(folder.path());
        let database = databases.find_or_create("x").unwrap();
        put(&database, "users/1", &user("ann"));
        let index = database.indexes().covering_or_new(&by(&["Name"])).unwrap();
        wait(&database, &index);
    }
    let [index_folder] = index_folders(folder.path()).try_into().unwrap();
    let _held = query::index::Index::open(&index_folder, storage::Options::default()).unwrap();
    let databases = open(folder.path());
    let database = databases.find("x").unwrap();
    assert!(names(&database).is_empty() && !database.indexes().remove("Auto/Users/ByAge").unwrap());
    assert!(database.indexes().remove("auto/users/byname").unwrap());
    assert!(!database.indexes().remove("Auto/Users/ByName").unwrap());
    databases.maintain();
    assert!(names(&database).is_empty(), "there is nothing to be opened any more");
}

/// So goes the replacement of one that is: it would take that one's name later.
#[test]
fn a_replacement_that_is_not_open_goes_with_its_index() {
    let folder = tempfile::tempdir().unwrap();
    let map = |number: u64| defined("X", &format!("from u in docs.Users select new {{ N = u.Age + {number} }}"));
    let index_folder = {
        let databases = open(folder.path());
        let database = databases.find_or_create("x").unwrap();
        database.indexes().put(map(1), IndexSettings::default()).unwrap();
        wait(&database, &database.indexes().by_name("X").unwrap());
        let before = index_folders(folder.path());
        database.indexes().pause_all(true);
        database.indexes().put(map(2), IndexSettings::default()).unwrap();
        index_folders(folder.path()).into_iter().find(|folder| !before.contains(folder)).unwrap()
    };
    let held = query::index::Index::open(&index_folder, storage::Options::default()).unwrap();
    let databases = open(folder.path());
    let database = databases.find("x").unwrap();
    assert_eq!(names(&database), ["X"]);
    assert!(database.indexes().remove("X").unwrap());
    drop(held);
    databases.maintain();
    assert!(names(&database).is_empty(), "it does not come back");
}

#[test]
fn queries_of_many_threads_make_one_index() {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let database = databases.find_or_create("x").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let database = &database;
            scope.spawn(move || {
                for number in 0..50 {
                    put(database, &format!("users/{thread}-{number}"), &user(&format!("name{number}")));
                    let index = database.indexes().covering_or_new(&by(&["Name"])).unwrap();
                    wait(database, &index);
                    assert!(
                        count(&index, "Name", &format!("name{number}")) > 0,
                        "what was written before it was asked"
                    );
                }
            });
        }
    });
    assert_eq!(names(&database), ["Auto/Users/ByName"]);
    let index = database.indexes().by_name("Auto/Users/ByName").unwrap();
    assert_eq!(index.read().unwrap().entry_count(), 400);
}

/// The names of the indexes and, if there is only `X`, its count of one value of `N`.
fn names_and_count(database: &Database, value: &str) -> (Vec<String>, Option<u64>) {
    let names = names(database);
    let count = (names == ["X"]).then(|| count(&database.indexes().by_name("X").unwrap(), "N", value));
    (names, count)
}

#[test]
fn a_definition_that_changes_again_and_again_ends_with_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let database = databases.find_or_create("x").unwrap();
    for number in 0..300 {
        put(&database, &format!("users/{number}"), &user("ann"));
    }
    let map = |number: u64| format!("from u in docs.Users select new {{ N = u.Age + {number} }}");
    for number in 0..30 {
        database.indexes().put(defined("X", &map(number)), IndexSettings::default()).unwrap();
        let index = database.indexes().by_name("X").expect("one of the name answers all the time");
        assert!(!index.is_replacement());
    }
    until_equal(|| names_and_count(&database, "30"), (vec!["X".to_owned()], Some(300)));
    drop((database, databases));
    let databases = open(folder.path());
    let database = databases.find("x").unwrap();
    assert_eq!((names(&database), index_folders(folder.path()).len()), (vec!["X".to_owned()], 1));
}

#[test]
fn a_locked_index_is_neither_changed_nor_deleted() {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let database = databases.find_or_create("x").unwrap();
    let indexes = database.indexes();
    let defined =
        |name: &str, age: u64| defined(name, &format!("from u in docs.Users select new {{ N = u.Age + {age} }}"));
    let (unlocked, is_disabled) = (IndexSettings::default(), true);
    let ignoring = IndexSettings { lock_mode: LockMode::LockedIgnore, ..unlocked };
    let locked = IndexSettings { lock_mode: LockMode::LockedError, ..unlocked };
    indexes.put(defined("L", 1), locked).unwrap();
    indexes.put(defined("L", 1), locked).unwrap();
    for (age, settings) in [(2, locked), (1, unlocked), (1, IndexSettings { is_disabled, ..locked })] {
        assert!(matches!(indexes.put(defined("L", age), settings), Err(Error::IndexLocked { .. })));
    }
    assert!(matches!(indexes.remove("L"), Err(Error::IndexLocked { .. })));
    assert_eq!(names(&database), ["L"]);
    indexes.put(defined("M", 1), unlocked).unwrap();
    indexes.put(defined("I", 1), ignoring).unwrap();
    indexes.put(defined("I", 2), unlocked).unwrap();
    assert!(indexes.remove("I").unwrap());
    assert_eq!(names(&database), ["I", "L", "M"], "both were passed over");
}

#[test]
fn a_database_at_rest_is_closed_with_its_indexes_and_opened_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    {
        let database = databases.find_or_create("x").unwrap();
        put(&database, "users/1", &user("ann"));
        let index = database.indexes().covering_or_new(&by(&["Name"])).unwrap();
        wait(&database, &index);
    }
    for _ in 0..40 {
        databases.maintain();
    }
    assert!(databases.find_open("x").unwrap().is_none(), "it was closed");
    let database = databases.find("x").unwrap();
    let index = database.indexes().by_name("Auto/Users/ByName").unwrap();
    wait(&database, &index);
    assert_eq!(count(&index, "Name", "ann"), 1);
    databases.set_disabled(&["x"], true, None).unwrap();
    drop((index, database));
    databases.set_disabled(&["x"], false, None).unwrap();
    let database = databases.find("x").unwrap();
    wait(&database, &database.indexes().by_name("Auto/Users/ByName").unwrap());
    databases.delete(&["x"], true, None).unwrap();
}

/// The process ends after the replacement has all that there is, and before it replaces: whoever opens it sees to that.
#[test]
fn a_replacement_that_was_complete_before_a_restart_replaces_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let map = |number: u64| format!("from u in docs.Users select new {{ N = u.Age + {number} }}");
    for round in 0..6 {
        {
            let databases = open(folder.path());
            let database = databases.find_or_create("x").unwrap();
            put(&database, "users/1", &user("ann"));
            database.indexes().put(defined("X", &map(round)), IndexSettings::default()).unwrap();
            // Closed wherever it is: not begun, building, complete, or in place.
            (0..round * 2000).for_each(|_| std::thread::yield_now());
        }
        let databases = open(folder.path());
        let database = databases.find("x").unwrap();
        let expected = (round + 1).to_string();
        until_equal(|| names_and_count(&database, &expected), (vec!["X".to_owned()], Some(1)));
    }
}

#[test]
fn names_are_the_same_in_any_case() {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let database = databases.find_or_create("x").unwrap();
    for number in 0..500 {
        put(&database, &format!("users/{number}"), &user("ann"));
    }
    let map = |number: u64| format!("from u in docs.Users select new {{ N = u.Age + {number} }}");
    database.indexes().put(defined("Users/ByName", &map(1)), IndexSettings::default()).unwrap();
    database.indexes().put(defined("users/byname", &map(2)), IndexSettings::default()).unwrap();
    database.indexes().put(defined("USERS/ByName", &map(3)), IndexSettings::default()).unwrap();
    assert!(database.indexes().all().len() <= 2, "one replacement at the most: {:?}", names(&database));
    assert!(database.indexes().remove("Users/BYNAME").unwrap());
    assert!(names(&database).is_empty(), "neither it nor a replacement comes back");
    let all = AutomaticIndex::new(None, by(&["Name"]).fields().to_vec());
    let of_collection = AutomaticIndex::new(Some("AllDocs".to_owned()), by(&["Name"]).fields().to_vec());
    put(&database, "x/1", r#"{"@metadata":{"@collection":"AllDocs"}}"#);
    database.indexes().covering_or_new(&all).unwrap();
    database.indexes().covering_or_new(&of_collection).unwrap();
    assert_eq!(names(&database), ["Auto/'AllDocs'/ByName", "Auto/AllDocs/ByName"]);
    let reserved = |name: &str| {
        let mut definition = defined("X", &map(1)).given().clone();
        definition.set("Name", Value::String(name.to_owned()));
        MapIndex::from_json(&definition).is_err()
    };
    assert!(reserved("auto/Users/ByAge") && reserved("REPLACEMENTOF/X"));
}

/// A turn is coming while the database is closed and opened again: indexing goes on whichever comes first.
#[test]
fn indexing_goes_on_after_a_database_was_disabled_for_a_moment() {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let database = databases.find_or_create("x").unwrap();
    put(&database, "users/first", &user("bob"));
    let index = database.indexes().covering_or_new(&by(&["Name"])).unwrap();
    for round in 0..200 {
        put(&database, &format!("users/{round}"), &user("ann"));
        databases.set_disabled(&["x"], true, None).unwrap();
        databases.set_disabled(&["x"], false, None).unwrap();
        let again = databases.find("x").unwrap();
        assert!(Arc::ptr_eq(&again, &database), "in memory it is the same");
    }
    wait(&database, &index);
    assert_eq!(count(&index, "Name", "ann"), 200);
}

/// Who stops an index, or disables it, finds what it had; it goes on where it was. What is changed is kept over a restart, what is
/// stopped is not.
#[test]
fn indexes_are_stopped_started_disabled_and_enabled() {
    let folder = tempfile::tempdir().unwrap();
    {
        let databases = open(folder.path());
        let database = databases.find_or_create("x").unwrap();
        let indexes = database.indexes();
        put(&database, "users/1", &user("ann"));
        let names = indexes.covering_or_new(&by(&["Name"])).unwrap();
        indexes.put(defined("Ages", "from u in docs.Users select new { u.Age }"), IndexSettings::default()).unwrap();
        let ages = indexes.by_name("ages").unwrap();
        [&names, &ages].into_iter().for_each(|index| wait(&database, index));
        indexes.pause(&names, true);
        indexes.change(&ages, |settings| settings.is_disabled = true).unwrap();
        indexes.change(&ages, |settings| settings.priority = Priority::High).unwrap();
        assert_eq!((names.status(), ages.status()), (IndexingStatus::Paused, IndexingStatus::Disabled));
        put(&database, "users/2", &user("bob"));
        // A third that is brought up to date after them tells that they had their chance.
        indexes.put(defined("Third", "from u in docs.Users select new { u.Third }"), IndexSettings::default()).unwrap();
        wait(&database, &indexes.by_name("Third").unwrap());
        assert_eq!([&names, &ages].map(|index| index.read().unwrap().entry_count()), [1, 1]);
        indexes.pause(&names, false);
        wait(&database, &names);
        assert_eq!(count(&names, "Name", "bob"), 1);
        indexes.pause(&ages, false);
        assert_eq!(ages.status(), IndexingStatus::Disabled, "starting does not enable");
        indexes.pause_all(true);
        assert!(indexes.covering_or_new(&by(&["Name", "Fourth"])).unwrap().status() == IndexingStatus::Paused);
    }
    let databases = open(folder.path());
    let database = databases.find("x").unwrap();
    let indexes = database.indexes();
    assert!(!indexes.are_paused());
    let ages = indexes.by_name("Ages").unwrap();
    let expected = IndexSettings { priority: Priority::High, is_disabled: true, ..IndexSettings::default() };
    assert_eq!((ages.settings(), ages.read().unwrap().entry_count()), (expected, 1));
    indexes.change(&ages, |settings| settings.is_disabled = false).unwrap();
    wait(&database, &ages);
    assert_eq!(ages.read().unwrap().entry_count(), 2);
    // A definition that is the same changes the settings, and builds nothing.
    indexes.put(defined("ages", "from u in docs.Users select new { u.Age }"), IndexSettings::default()).unwrap();
    assert!(Arc::ptr_eq(&ages, &indexes.by_name("Ages").unwrap()));
    assert_eq!(ages.settings(), IndexSettings::default());
}

/// Nobody waits for an index that cannot move, and who gave up waiting for one that can is forgotten.
#[test]
fn who_waits_in_vain_is_told_or_forgotten() {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let database = databases.find_or_create("x").unwrap();
    let indexes = database.indexes();
    put(&database, "users/1", &user("ann"));
    let index = indexes.covering_or_new(&by(&["Name"])).unwrap();
    let told = Arc::new(());
    let wait_for_ever = |wait: Duration| {
        let held = told.clone();
        index.when_indexed(u64::MAX, wait, move || drop(held));
        Arc::strong_count(&told) - 1
    };
    wait(&database, &index);
    assert_eq!(wait_for_ever(Duration::from_secs(3600)), 1);
    // None of these waits any longer, and the index has nothing to do.
    let kept = (0..10_000).map(|_| wait_for_ever(Duration::ZERO)).max();
    assert!(kept < Some(200), "{kept:?}");
    indexes.pause(&index, true);
    assert_eq!(Arc::strong_count(&told), 1, "all are told when it is stopped");
    assert_eq!(wait_for_ever(Duration::from_secs(3600)), 0);
    indexes.pause(&index, false);
    assert_eq!(wait_for_ever(Duration::from_secs(3600)), 1);
    indexes.change(&index, |settings| settings.is_disabled = true).unwrap();
    assert_eq!(Arc::strong_count(&told), 1, "all are told when it is disabled");
    assert_eq!(wait_for_ever(Duration::from_secs(3600)), 0);
}

/// An automatic index that is disabled answers only if no other does.
#[test]
fn a_disabled_automatic_index_is_the_last_choice() {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let database = databases.find_or_create("x").unwrap();
    let indexes = database.indexes();
    put(&database, "users/1", &user("ann"));
    let wide = indexes.covering_or_new(&by(&["Age", "Name"])).unwrap();
    wait(&database, &wide);
    indexes.change(&wide, |settings| settings.is_disabled = true).unwrap();
    assert!(Arc::ptr_eq(&wide, &indexes.covering_or_new(&by(&["Name"])).unwrap()));
}

/// Two who put a replacement in place at once: the second must not take it for what it replaces.
#[test]
fn a_replacement_replaces_once() {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let database = databases.find_or_create("x").unwrap();
    let indexes = database.indexes();
    put(&database, "users/1", &user("ann"));
    for round in 0..100 {
        let map = format!("from u in docs.Users select new {{ N = u.Age + {round} }}");
        indexes.put(defined("X", &map), IndexSettings::default()).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| indexes.replace_now("X").unwrap());
            }
        });
        assert!(indexes.by_name("X").is_some(), "round {round}: {:?}", names(&database));
    }
}

fn totals(collection: &str, factor: u64) -> MapIndex {
    let mut definition = Value::object();
    for (name, text) in [
        ("Name", "Totals".to_owned()),
        (
            "Reduce",
            format!(
                "from r in results group r by r.Name into g select new {{ Name = g.Key, N = g.Sum(x => x.N) * {factor} }}"
            ),
        ),
        ("OutputReduceToCollection", collection.to_owned()),
        ("PatternForOutputReduceToCollectionReferences", "of/{Name}".to_owned()),
    ] {
        definition.set(name, Value::String(text));
    }
    let map = "from u in docs.Users select new { u.Name, N = 1 }".to_owned();
    definition.set("Maps", Value::Array(vec![Value::String(map)]));
    MapIndex::from_json(&definition).unwrap()
}

/// The bodies of all documents of a collection, sorted.
fn bodies(database: &Database, collection: &str) -> Vec<String> {
    let documents = database.read();
    let all = documents.collection_after(collection, 0).unwrap();
    let mut bodies: Vec<String> =
        all.map(|document| String::from_utf8_lossy(document.unwrap().body().bytes()).into_owned()).collect();
    bodies.sort();
    bodies
}

/// Documents of results follow their index while it is replaced, built anew, stopped and opened again.
#[test]
fn results_as_documents_are_those_of_the_index_that_answers() {
    let folder = tempfile::tempdir().unwrap();
    let named = |name: &str, n: u64| format!(r#"{{"Name":"{name}","N":{n}}}"#);
    let index = |database: &Database| database.indexes().by_name("Totals").unwrap();
    {
        let databases = open(folder.path());
        let database = databases.find_or_create("x").unwrap();
        (0..3).for_each(|number| put(&database, &format!("users/{number}"), &user(["ann", "ann", "bob"][number])));
        database.indexes().put(totals("Totals", 1), IndexSettings::default()).unwrap();
        wait(&database, &index(&database));
        assert_eq!(bodies(&database, "Totals"), [named("ann", 2), named("bob", 1)]);
        let number = index(&database).output_number();

        // Another definition: the documents of the one before, changed in place.
        database.indexes().put(totals("totals", 10), IndexSettings::default()).unwrap();
        until_equal(|| bodies(&database, "Totals"), [named("ann", 20), named("bob", 10)]);
        assert_eq!(index(&database).output_number(), number);

        // A group goes while nothing is indexed, and the index is built anew.
        database.indexes().pause(&index(&database), true);
        put(&database, "users/2", &user("cleo"));
        database.indexes().reset("Totals").unwrap();
        assert_eq!(bodies(&database, "Totals"), [named("ann", 20), named("bob", 10)], "while it is built");
        database.indexes().pause(&index(&database), false);
        wait(&database, &index(&database));
        assert_eq!(bodies(&database, "Totals"), [named("ann", 20), named("cleo", 10)]);
        assert_eq!(bodies(&database, "Totals/References").len(), 2);
    }
    let databases = open(folder.path());
    let database = databases.find("x").unwrap();
    wait(&database, &index(&database));
    let etag = database.read().last_etag().unwrap();
    assert_eq!(bodies(&database, "Totals"), [named("ann", 20), named("cleo", 10)]);
    wait(&database, &index(&database));
    assert_eq!(database.read().last_etag().unwrap(), etag, "what is there is not written again");

    // Another collection: what was written before goes.
    database.indexes().put(totals("Sums", 1), IndexSettings::default()).unwrap();
    until_equal(|| (bodies(&database, "Sums").len(), bodies(&database, "Totals").len()), (2, 0));
    wait(&database, &index(&database));
    assert!(bodies(&database, "Totals/References").is_empty());
    assert_eq!(bodies(&database, "Sums/References").len(), 2);
    let refused = database.indexes().put(totals("Users", 1), IndexSettings::default()).unwrap_err();
    assert!(matches!(refused, Error::IndexOutput { .. }), "{refused}");
}

/// The last query of any index is the time: nothing waits here, and nothing is retired where nothing is asked.
/// It is as if the index were there, but there is none, also after a restart.
#[test]
fn an_empty_index_answers_for_a_collection_that_never_had_a_document() {
    let folder = tempfile::tempdir().unwrap();
    {
        let databases = open(folder.path());
        let database = databases.find_or_create("x").unwrap();
        let indexes = database.indexes();
        let empty = indexes.covering_or_new(&by(&["Name"])).unwrap();
        assert_eq!((empty.name(), empty.read().unwrap().entry_count()), ("Auto/Users/ByName", 0));
        assert!(Arc::ptr_eq(&empty, &indexes.covering_or_new(&by(&["Name"])).unwrap()), "the next query has the same");
        // Nobody waits for it.
        wait(&database, &empty);
        let fields: Vec<String> = (0..20).map(|number| format!("F{number}")).collect();
        fields.iter().for_each(|field| drop(indexes.covering_or_new(&by(&[field])).unwrap()));
        assert!(!Arc::ptr_eq(&empty, &indexes.covering_or_new(&by(&["Name"])).unwrap()), "few are kept");
        assert!(names(&database).is_empty() && index_folders(folder.path()).is_empty());
        put(&database, "others/1", r#"{"@metadata":{"@collection":"Others"}}"#);
        indexes.covering_or_new(&by(&["Name"])).unwrap();
        assert!(names(&database).is_empty());
    }
    let databases = open(folder.path());
    let database = databases.find("x").unwrap();
    assert!(names(&database).is_empty());
    put(&database, "users/1", &user("ann"));
    let index = database.indexes().covering_or_new(&by(&["Name"])).unwrap();
    wait(&database, &index);
    assert_eq!((names(&database).join(" "), count(&index, "Name", "ann")), ("Auto/Users/ByName".to_owned(), 1));
}

#[test]
fn an_index_that_no_query_asks_any_more_is_idle_and_then_goes() {
    let folder = tempfile::tempdir().unwrap();
    {
        let databases = open(folder.path());
        let database = databases.find_or_create("x").unwrap();
        put(&database, "users/1", &user("ann"));
        let indexes = database.indexes();
        put(&database, "orders/1", r#"{"Total":1,"@metadata":{"@collection":"Orders"}}"#);
        let by_name = indexes.covering_or_new(&by(&["Name"])).unwrap();
        wait(&database, &by_name);
        // Neither covers the other, and neither goes by that.
        let other = AutomaticIndex::new(Some("Orders".to_owned()), by(&["Total"]).fields().iter().cloned());
        let other = indexes.covering_or_new(&other).unwrap();
        indexes.put(defined("Defined", "from u in docs.Users select new { u.Age }"), IndexSettings::default()).unwrap();
        let defined = indexes.by_name("Defined").unwrap();
        let both = ["Auto/Orders/ByTotal", "Auto/Users/ByName"];
        let start = by_name.note_query();
        let at = |minutes: u64| Date::from_ticks(start.ticks() + minutes * 60 * 10_000_000);
        let idle = || [&by_name, &other, &defined].map(|index| indexes.is_idle(index));
        assert_eq!(idle(), [false; 3]);
        // Queries of a defined index are time, too, but it is never idle itself.
        defined.note_query_at(at(29));
        assert_eq!(idle(), [false; 3]);
        defined.note_query_at(at(31));
        assert_eq!(idle(), [true, true, false]);
        by_name.note_query_at(at(32));
        assert_eq!(idle(), [false, true, false], "who is asked wakes");
        indexes.retire().unwrap();
        by_name.note_query_at(at(30 + 72 * 60 - 1));
        indexes.retire().unwrap();
        assert_eq!(names(&database), [both[0], both[1], "Defined"]);
        by_name.note_query_at(at(31 + 72 * 60));
        databases.maintain();
        assert_eq!(names(&database), [both[1], "Defined"]);
        let remade = indexes
            .covering_or_new(&AutomaticIndex::new(Some("Orders".to_owned()), by(&["Total"]).fields().iter().cloned()));
        let remade = remade.unwrap();
        assert!(!Arc::ptr_eq(&remade, &other), "a query makes it anew");
        remade.note_query_at(at(31 + 72 * 60));
    }
    let databases = open(folder.path());
    let database = databases.find("x").unwrap();
    let all = database.indexes().all();
    assert!(all.iter().all(|index| !database.indexes().is_idle(index)), "none was left behind");
    assert_eq!(all.len(), 3);
}
