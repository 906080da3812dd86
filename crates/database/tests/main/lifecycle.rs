//! Creating, changing and deleting databases: where they are kept, races, crashes, repeated requests.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use json::Value;
use rookery_database::documents::{Batch, Expected};
use rookery_database::*;
use testing::effort;
use testing::random::Random;

fn open(folder: &Path) -> Arc<Databases> {
    Databases::open(DatabasesOptions::folder(folder)).unwrap()
}

fn put(database: &Database, id: &str) -> Result<()> {
    let mut batch = Batch::new();
    batch.put(id, b"{}", Expected::Any).unwrap();
    database.execute(batch).map(drop)
}

fn has(database: &Database, id: &str) -> bool {
    database.read().get(id).unwrap().is_some()
}

fn object(text: &str) -> Value {
    Value::parse(text.as_bytes()).unwrap()
}

fn folders(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join("databases")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn where_a_database_is_kept_is_settled_when_it_is_created() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    databases.create("memory", object(r#"{"Settings":{"RunInMemory":"true"}}"#), None).unwrap();
    databases.create("also", object(r#"{"Settings":{"runInMemory":true}}"#), None).unwrap();
    databases.create("disk", Value::object(), None).unwrap();
    assert_eq!(folders(folder.path()), ["disk"]);
    for (name, settings) in [("memory", r#"{"RunInMemory":"false"}"#), ("disk", r#"{"RunInMemory":"True"}"#)] {
        let etag = databases.record(name).unwrap().etag;
        let moved = databases.put_settings(name, &object(settings), None);
        assert!(matches!(moved, Err(Error::PlaceIsFixed { .. })), "{moved:?}");
        let changes = object(&format!(r#"{{"Settings":{settings}}}"#));
        assert!(matches!(databases.update(name, &changes, None, None), Err(Error::PlaceIsFixed { .. })));
        assert_eq!(databases.record(name).unwrap().etag, etag);
    }
    // Other settings may go; they say nothing about the place then.
    databases.put_settings("memory", &object(r#"{"A":"b"}"#), None).unwrap();
    for name in ["memory", "disk"] {
        put(&databases.find(name).unwrap(), "a").unwrap();
        databases.set_disabled(&[name], true, None).unwrap();
        databases.set_disabled(&[name], false, None).unwrap();
        assert!(has(&databases.find(name).unwrap(), "a"));
    }
    drop(databases);
    let databases = open(folder.path());
    let memory = databases.find("memory").unwrap();
    assert!(memory.is_in_memory() && !has(&memory, "a") && has(&databases.find("disk").unwrap(), "a"));
    drop(memory);
    assert_eq!(folders(folder.path()), ["disk"]);
    databases.delete(&["disk", "memory"], true, None).unwrap();
    assert_eq!(folders(folder.path()), [""; 0]);
}

#[test]
fn a_database_in_memory_neither_takes_nor_forgets_the_files_that_were_kept() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    put(&databases.find_or_create("S").unwrap(), "a").unwrap();
    databases.delete(&["S"], false, None).unwrap();
    databases.create("S", object(r#"{"Settings":{"RunInMemory":"true"}}"#), None).unwrap();
    assert!(!has(&databases.find("S").unwrap(), "a"));
    databases.delete(&["S"], true, None).unwrap();
    assert!(has(&databases.find_or_create("S").unwrap(), "a"));
    databases.delete(&["S"], false, None).unwrap();
    drop(databases);
    let databases = open(folder.path());
    assert!(has(&databases.find_or_create("s").unwrap(), "a"));
    assert_eq!(folders(folder.path()), ["s"]);
}

#[test]
fn deletions_race_with_writes_and_leave_nothing() {
    let rounds = effort::choose(25, 500);
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for n in 0..3 {
            let (databases, is_done) = (&databases, &is_done);
            scope.spawn(move || {
                while !is_done.load(Relaxed) {
                    match databases.find("r").and_then(|database| put(&database, &format!("w/{n}"))) {
                        Ok(()) | Err(Error::Missing { .. } | Error::Disabled { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
        // A panic must end the writers too.
        struct Done<'a>(&'a AtomicBool);
        impl Drop for Done<'_> {
            fn drop(&mut self) {
                self.0.store(true, Relaxed);
            }
        }
        let _done = Done(&is_done);
        for round in 0..rounds {
            databases.create("r", Value::object(), None).unwrap();
            let database = databases.find("r").unwrap();
            assert!(!has(&database, "mine"));
            put(&database, "mine").unwrap();
            if round % 3 == 0 {
                databases.set_disabled(&["r"], true, None).unwrap();
                databases.set_disabled(&["r"], false, None).unwrap();
            }
            assert!(has(&databases.find("r").unwrap(), "mine"));
            databases.delete(&["r"], true, None).unwrap();
        }
    });
    databases.maintain();
    assert_eq!(folders(folder.path()), [""; 0]);
}

#[test]
fn what_creations_left_is_swept_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let databases = folder.path().join("databases");
    put(&open(folder.path()).find_or_create("full").unwrap(), "a").unwrap();
    put(&open(folder.path()).find_or_create("kept").unwrap(), "a").unwrap();
    open(folder.path()).delete(&["kept"], false, None).unwrap();
    // A crash within the making of the data file, one after it, and one before the record.
    std::fs::create_dir(databases.join("begun")).unwrap();
    std::fs::write(databases.join("begun/data.new"), b"x").unwrap();
    std::fs::create_dir(databases.join("only-a-folder")).unwrap();
    drop(storage::Environment::open(databases.join("x~7"), storage::Options::default()).unwrap());
    let elsewhere = tempfile::tempdir().unwrap();
    drop(open(elsewhere.path()).find_or_create("empty").unwrap());
    std::fs::rename(elsewhere.path().join("databases/empty"), databases.join("empty")).unwrap();
    // Somebody may want these.
    put(&open(elsewhere.path()).find_or_create("documents").unwrap(), "a").unwrap();
    std::fs::rename(elsewhere.path().join("databases/documents"), databases.join("documents")).unwrap();
    std::fs::create_dir_all(databases.join("deep/er")).unwrap();
    std::fs::create_dir(databases.join("foreign")).unwrap();
    std::fs::write(databases.join("foreign/notes.txt"), b"x").unwrap();
    std::fs::create_dir(databases.join("Upper")).unwrap();
    std::fs::create_dir(databases.join("journals")).unwrap();
    std::fs::write(databases.join("journals/journal-0000000000000001"), b"x").unwrap();
    std::fs::write(databases.join("file"), b"x").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), databases.join("link")).unwrap();
    for _ in 0..2 {
        drop(open(folder.path()));
        let left = ["Upper", "deep", "documents", "file", "foreign", "full", "journals", "kept", "link"];
        assert_eq!(folders(folder.path()), left);
    }
}

/// It was opened as a database, which made it one without documents, and that was removed.
#[test]
fn a_copy_of_a_nodes_own_environment_among_the_databases_is_left_alone() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    open(elsewhere.path()).create("x", Value::object(), None).unwrap();
    drop(open(folder.path()));
    let copy = folder.path().join("databases/backup");
    std::fs::rename(elsewhere.path().join("system"), &copy).unwrap();
    drop(open(folder.path()));
    assert_eq!(folders(folder.path()), ["backup"]);
    std::fs::rename(&copy, elsewhere.path().join("system")).unwrap();
    assert_eq!(open(elsewhere.path()).names(), ["x"]);
}

/// Found by `cli/tests/survival/damage.rs`: after a clean end, nothing else in the folder said that there had been one.
#[test]
fn a_node_that_lost_its_own_data_file_does_not_deny_its_databases() {
    let folder = tempfile::tempdir().unwrap();
    let system = folder.path().join("system");
    // A first start that ended before the data file was there.
    std::fs::create_dir(&system).unwrap();
    std::fs::write(system.join("lock"), b"").unwrap();
    put(&open(folder.path()).find_or_create("x").unwrap(), "a").unwrap();
    drop(open(folder.path()));
    for file in std::fs::read_dir(&system).unwrap() {
        let file = file.unwrap();
        if file.file_name() != "lock" {
            std::fs::remove_file(file.path()).unwrap();
        }
    }
    for _ in 0..2 {
        let opened = Databases::open(DatabasesOptions::folder(folder.path())).map(drop);
        assert!(matches!(opened, Err(Error::Corrupt { .. })), "{opened:?}");
        assert_eq!(folders(folder.path()), ["x"]);
        // Without the folder, too.
        let _ = std::fs::remove_dir_all(&system);
    }
}

#[test]
fn a_data_directory_is_not_inside_of_another_one() {
    let folder = tempfile::tempdir().unwrap();
    put(&open(folder.path()).find_or_create("x").unwrap(), "a").unwrap();
    for inside in ["system", "databases", "databases/x", "databases/two", "databases/x/y/z"] {
        let inside = folder.path().join(inside);
        let opened = Databases::open(DatabasesOptions::folder(&inside)).map(drop);
        assert!(matches!(&opened, Err(Error::InsideOfAnother { other, .. }) if other == folder.path()), "{opened:?}");
        assert!(!inside.join("databases").exists() && !inside.join("system").exists());
    }
    drop(open(&folder.path().join("two")));
}

/// As root may enter every folder, a loop of links stands in for one without the right to.
#[test]
fn a_folder_that_cannot_be_entered_is_not_called_damaged() {
    let folder = tempfile::tempdir().unwrap();
    put(&open(folder.path()).find_or_create("x").unwrap(), "a").unwrap();
    let (files, aside) = (folder.path().join("databases/x"), folder.path().join("aside"));
    std::fs::rename(&files, &aside).unwrap();
    std::os::unix::fs::symlink(&files, &files).unwrap();
    let databases = open(folder.path());
    let found = databases.find("x").map(drop);
    assert!(matches!(found, Err(Error::Io { .. })), "{found:?}");
    std::fs::remove_file(&files).unwrap();
    std::fs::rename(&aside, &files).unwrap();
    databases.find("x").unwrap();
}

#[test]
fn a_folder_that_is_gone_is_not_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    put(&open(folder.path()).find_or_create("x").unwrap(), "a").unwrap();
    std::fs::remove_dir_all(folder.path().join("databases/x")).unwrap();
    let databases = open(folder.path());
    assert!(matches!(databases.find("x"), Err(Error::Storage(_))));
    assert_eq!(folders(folder.path()), [""; 0]);
}

#[test]
fn a_creation_that_fails_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let (at, aside) = (folder.path().join("databases"), folder.path().join("aside"));
    std::fs::rename(&at, &aside).unwrap();
    std::fs::write(&at, b"no folder").unwrap();
    let created = databases.create("x", Value::object(), Some("q"));
    assert!(created.is_err() && databases.names().is_empty(), "{created:?}");
    std::fs::remove_file(&at).unwrap();
    std::fs::rename(&aside, &at).unwrap();
    // The request was not applied, so it may come again. What is not ours is not touched.
    std::os::unix::fs::symlink("nowhere", at.join("x")).unwrap();
    assert_eq!(databases.create("x", Value::object(), Some("q")).unwrap().name(), "x");
    assert!(std::fs::symlink_metadata(at.join("x")).unwrap().is_symlink());
}

#[test]
fn repeated_requests_are_known_after_a_restart_and_after_other_changes() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let created = databases.create("x", Value::object(), Some("q1")).unwrap().etag;
    databases.set_disabled(&["x"], true, Some("q2")).unwrap();
    assert_eq!(databases.create("x", Value::object(), Some("q1")).unwrap().etag, created);
    databases.set_disabled(&["x"], false, None).unwrap();
    databases.create("y", Value::object(), None).unwrap();
    let deletion = databases.delete(&["y", "none"], true, Some("q3")).unwrap();
    databases.create("y", Value::object(), None).unwrap();
    let changes = object(r#"{"EtagForBackup":1}"#);
    let etag = databases.record("y").unwrap().etag;
    let updated = databases.update("y", &changes, Some(etag), Some("q4")).unwrap().etag;
    databases.set_lock_mode(&["x", "y"], LockMode::PreventDeletesError, Some("q5")).unwrap();
    databases.set_lock_mode(&["x", "y"], LockMode::Unlock, None).unwrap();
    let settings = databases.put_settings("y", &object(r#"{"A":"1"}"#), Some("q6")).unwrap().etag;
    databases.put_settings("y", &object(r#"{"A":"2"}"#), None).unwrap();
    let client = databases.put_client_configuration(object(r#"{"A":1}"#), Some("q7")).unwrap();
    databases.put_client_configuration(object(r#"{"A":2}"#), None).unwrap();
    let client_of = databases.put_client_configuration_of("y", &object(r#"{"B":1}"#), Some("q8")).unwrap();
    databases.put_client_configuration_of("y", &object(r#"{"B":2}"#), None).unwrap();
    let index = databases.raft_index().unwrap();
    drop(databases);

    let databases = open(folder.path());
    assert_eq!(databases.create("x", Value::object(), Some("q1")).unwrap().etag, created);
    databases.set_disabled(&["x"], true, Some("q2")).unwrap();
    assert!(!databases.record("x").unwrap().is_disabled());
    let again = databases.delete(&["y", "none"], true, Some("q3")).unwrap();
    assert_eq!((again.raft_index, again.deleted.len()), (deletion.raft_index, 0));
    assert_eq!(databases.update("y", &changes, Some(etag), Some("q4")).unwrap().etag, updated);
    databases.set_lock_mode(&["x", "y"], LockMode::PreventDeletesError, Some("q5")).unwrap();
    assert_eq!(databases.record("x").unwrap().lock_mode(), LockMode::Unlock);
    assert_eq!(databases.put_settings("y", &object(r#"{"A":"1"}"#), Some("q6")).unwrap().etag, settings);
    assert_eq!(databases.record("y").unwrap().setting("A"), Some("2"));
    assert_eq!(databases.put_client_configuration(object(r#"{"A":1}"#), Some("q7")).unwrap(), client);
    assert_eq!(databases.put_client_configuration_of("y", &object(r#"{"B":1}"#), Some("q8")).unwrap(), client_of);
    let configuration = databases.client_configuration_of("y").unwrap();
    let number = |name| configuration.value.as_ref().and_then(|value| value.get(name)).and_then(Value::as_i64);
    assert_eq!((number("A"), number("B")), (Some(2), Some(2)));
    assert_eq!(databases.raft_index().unwrap(), index);
    // The same id for something else is another request.
    assert_eq!(databases.create("z", Value::object(), Some("q1")).unwrap().name(), "z");
    databases.delete(&["z"], true, None).unwrap();
    assert!(matches!(databases.create("z", Value::object(), Some("q1")), Err(Error::Missing { .. })));
}

/// One that could not be removed kept the files of all that come after it by name, for ever.
#[test]
fn files_that_cannot_be_removed_do_not_keep_those_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let held = ["a", "b"].map(|name| databases.find_or_create(name).unwrap());
    databases.delete(&["a", "b"], true, None).unwrap();
    drop(held);
    // No folder, so that it cannot be removed as one.
    std::fs::remove_dir_all(folder.path().join("databases/a")).unwrap();
    std::fs::write(folder.path().join("databases/a"), b"x").unwrap();
    databases.maintain();
    assert_eq!(folders(folder.path()), ["a"]);
    std::fs::remove_file(folder.path().join("databases/a")).unwrap();
    databases.maintain();
    databases.create("a", Value::object(), None).unwrap();
    assert_eq!(folders(folder.path()), ["a"]);
}

#[test]
fn a_database_whose_storage_failed_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = DatabasesOptions::folder(folder.path());
    options.limits.failed_database_pause = Duration::from_secs(3600);
    let databases = Databases::open(options.clone()).unwrap();
    fail(&databases.find_or_create("x").unwrap(), &folder.path().join("databases/x"));
    // The pause is not over.
    assert!(databases.find_open("x").unwrap().is_some() && put(&databases.find("x").unwrap(), "b").is_err());
    drop(databases);

    options.limits.failed_database_pause = Duration::ZERO;
    let databases = Databases::open(options).unwrap();
    let failed = databases.find("x").unwrap();
    fail(&failed, &folder.path().join("databases/x"));
    assert!(databases.find_open("x").unwrap().is_none());
    // While somebody reads it, it is given as it is.
    assert!(Arc::ptr_eq(&failed, &databases.find("x").unwrap()) && has(&failed, "a/1") && put(&failed, "b").is_err());
    drop(failed);
    let again = databases.find("x").unwrap();
    put(&again, "b").unwrap();
    assert!(has(&again, "a/1") && databases.find_open("x").unwrap().is_some());
}

#[test]
fn databases_that_refuse_writes_are_named_and_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = DatabasesOptions::folder(folder.path());
    options.limits.failed_database_pause = Duration::from_secs(3600);
    let databases = Databases::open(options.clone()).unwrap();
    let refusing = |databases: &Databases| -> Vec<(String, bool)> {
        let all = databases.refusing_writes().into_iter();
        all.map(|found| (found.name, matches!(found.reason, WriteRefusal::Failed(_)))).collect()
    };
    databases.find_or_create("good").unwrap();
    databases.find_or_create("off").unwrap();
    databases.set_disabled(&["off"], true, None).unwrap();
    fail(&databases.find_or_create("x").unwrap(), &folder.path().join("databases/x"));
    assert_eq!(refusing(&databases), [("x".to_owned(), true)]);
    assert!(put(&databases.find("x").unwrap(), "b").is_err());
    drop(databases);

    options.limits.failed_database_pause = Duration::ZERO;
    let databases = Databases::open(options).unwrap();
    // It was not asked for since the start.
    assert_eq!(refusing(&databases), []);
    fail(&databases.find("x").unwrap(), &folder.path().join("databases/x"));
    assert_eq!(refusing(&databases), [], "asking opened it again");
    put(&databases.find_open("x").unwrap().expect("it is open"), "b").unwrap();
    drop(databases);

    // One that cannot be opened.
    let data = folder.path().join("databases/x/data");
    std::fs::rename(&data, folder.path().join("kept")).unwrap();
    let databases = open(folder.path());
    assert!(databases.find("x").is_err());
    assert_eq!(refusing(&databases), [("x".to_owned(), true)]);
    databases.delete(&["x"], true, None).unwrap();
    assert_eq!(refusing(&databases), []);
}

#[test]
fn a_database_that_nobody_asks_for_is_closed_until_somebody_does() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    databases.create("memory", object(r#"{"Settings":{"RunInMemory":"true"}}"#), None).unwrap();
    for name in ["idle", "held", "memory", "asked", "working"] {
        put(&databases.find_or_create(name).unwrap(), "a").unwrap();
    }
    let held = databases.find("held").unwrap();
    let operation = databases.find("working").unwrap().operations().start(1, "x").unwrap();
    for _ in 0..40 {
        databases.maintain();
        assert!(databases.find_open("asked").unwrap().is_some());
        // Monitoring is no use.
        let _ = databases.peek("idle").unwrap();
    }
    for name in ["held", "memory", "working"] {
        assert!(databases.find_open(name).unwrap().is_some(), "{name}");
    }
    assert!(databases.peek("asked").unwrap().is_some() && databases.peek("idle").unwrap().is_none());
    assert!(databases.find_open("idle").unwrap().is_none() && has(&databases.find("idle").unwrap(), "a"));
    assert!(Arc::ptr_eq(&held, &databases.find("held").unwrap()));
    operation.end(OperationStatus::Canceled);
}

/// Has the next file of the journal fail, and writes until it is needed.
fn fail(database: &Database, folder: &Path) {
    put(database, "a/1").unwrap();
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let numbers = files.filter_map(|name| u64::from_str_radix(name.strip_prefix("journal-")?, 16).ok());
    let last = numbers.max().unwrap();
    let obstacles: Vec<_> = (1..4).map(|n| folder.join(format!("journal-{:016x}", last + n))).collect();
    obstacles.iter().for_each(|path| std::fs::create_dir(path).unwrap());
    let write = |n: u64| {
        let mut random = Random::new(n);
        let hex: String = std::iter::repeat_with(|| format!("{:x}", random.next())).take(4_000).collect();
        let mut batch = Batch::new();
        batch.put("large", format!("{{\"A\":\"{hex}\"}}").as_bytes(), Expected::Any).unwrap();
        database.execute(batch)
    };
    assert!((0..1000).any(|n| write(n).is_err()));
    obstacles.iter().for_each(|path| std::fs::remove_dir(path).unwrap());
    // It refuses although the obstacle is gone.
    assert!(matches!(
        put(database, "b"),
        Err(Error::Documents(documents::Error::Storage(storage::Error::Failed { .. })))
    ));
}
