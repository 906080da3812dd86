//! Compaction under those who use a database: the call-back of its progress is where others do something.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use documents::{Answer, Batch, Expected, ItemKind, Write};
use json::Value;
use query::definition::{IndexSettings, MapIndex};
use query::index::Term;
use testing::wait::{LONG, until_equal};

use super::copy::Step;
use super::documents::Outcome;
use super::{CompactionReport, CompactionRequest};
use crate::indexes::IndexCompaction;
use crate::{Database, Databases, DatabasesOptions, Error, Index, Limits, Operation, OperationStatus, Result};

const DOCUMENTS: usize = 400;

fn open_with(folder: &Path, limits: Limits) -> Arc<Databases> {
    Databases::open(DatabasesOptions { limits, ..DatabasesOptions::folder(folder) }).unwrap()
}

/// Databases whose writes wait for a compaction, however long it takes.
fn open(folder: &Path) -> Arc<Databases> {
    open_with(folder, Limits { compaction_write_wait: Duration::from_secs(3600), ..Limits::default() })
}

fn text(number: usize) -> String {
    // Which no compression makes much smaller.
    (0..40_u64).map(|n| format!("{:016x}", (n + 99 * number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect()
}

fn put(database: &Database, id: &str, name: &str) -> Result<()> {
    let document = format!(r#"{{"Name":"{name}","Text":"{}","@metadata":{{"@collection":"Users"}}}}"#, text(id.len()));
    let mut batch = Batch::new();
    batch.put(id, document.as_bytes(), Expected::Any).unwrap();
    database.execute(batch).map(drop)
}

fn has(database: &Database, id: &str) -> bool {
    database.read().get(id).unwrap().is_some()
}

/// A database with free pages, tombstones, an identity and an index.
fn filled(databases: &Arc<Databases>) -> Arc<Database> {
    let database = databases.find_or_create("X").unwrap();
    for number in 0..DOCUMENTS {
        put(&database, &format!("users/{number}"), "a").unwrap();
    }
    let mut definition = Value::object();
    definition.set("Name", "Users/ByName".into());
    definition.set("Maps", Value::Array(vec!["from u in docs.Users select new { u.Name, u.Text }".into()]));
    database.indexes().put(MapIndex::from_json(&definition).unwrap(), IndexSettings::default()).unwrap();
    wait(&database, &database.indexes().by_name("Users/ByName").unwrap());
    for number in 20..DOCUMENTS {
        let mut batch = Batch::new();
        batch.delete(&format!("users/{number}"), Expected::Any).unwrap();
        database.execute(batch).unwrap();
    }
    for _ in 0..3 {
        database.write(&Write::NextIdentity { name: "orders|".to_owned() }).unwrap();
    }
    database
}

fn wait(database: &Database, index: &Index) {
    let (sender, receiver) = mpsc::channel();
    index.when_indexed(database.read().last_etag().unwrap(), LONG, move || sender.send(()).unwrap());
    receiver.recv_timeout(LONG).expect("the index gets there");
}

/// How many entries have a name.
fn count(index: &Index, name: &str) -> u64 {
    let snapshot = index.read().unwrap();
    let Some(number) = snapshot.field("Name").unwrap() else { return 0 };
    snapshot.term(number, Term::Text(name)).unwrap().count()
}

/// All that a client can see of the documents.
fn contents(database: &Database) -> Vec<String> {
    let snapshot = database.read();
    let mut seen: Vec<String> = Vec::new();
    for document in snapshot.after(0) {
        let document = document.unwrap();
        let mut text = Vec::new();
        document.write_to(&mut text);
        seen.push(format!("{} {}", document.etag(), String::from_utf8(text).unwrap()));
    }
    for change in snapshot.changes(&[ItemKind::Document], None, 0).unwrap() {
        let change = change.unwrap();
        seen.push(format!("{} {} {}", change.id(), change.etag(), change.is_deleted()));
    }
    let statistics = snapshot.statistics().unwrap();
    seen.push(format!("{statistics:?} {:?} {:?}", snapshot.identities().unwrap(), snapshot.change_vector().unwrap()));
    seen.push(format!("{:?}", database.documents().database_id()));
    seen
}

/// Compacts the documents, and calls `meanwhile` once while they are copied.
fn compact(databases: &Databases, meanwhile: impl FnOnce()) -> Result<Outcome> {
    let mut meanwhile = Some(meanwhile);
    databases.compact_documents("X", &mut |step| {
        if matches!(step, Step::Copied(..))
            && let Some(meanwhile) = meanwhile.take()
        {
            meanwhile();
        }
        true
    })
}

/// Proposes a document as a request does.
fn propose(database: &Arc<Database>, id: &str) -> Receiver<Result<Answer>> {
    let (sender, answer) = mpsc::channel();
    let mut batch = Batch::new();
    batch.put(id, b"{}", Expected::Any).unwrap();
    drop(database.propose(Write::batch(batch), move |outcome| sender.send(outcome).unwrap()));
    answer
}

fn soon<T>(answer: &Receiver<T>) -> T {
    answer.recv_timeout(LONG).expect("it is answered")
}

fn run(databases: &Arc<Databases>, documents: bool, indexes: &[&str]) -> (Result<CompactionReport>, Arc<Operation>) {
    let indexes = indexes.iter().map(|name| (*name).to_owned()).collect();
    let request = CompactionRequest { name: "x".to_owned(), documents, indexes };
    let compaction = databases.compact(None, request).unwrap();
    let operation = compaction.operation().clone();
    (compaction.run(), operation)
}

#[test]
fn all_is_there_after_a_compaction_and_takes_less_room() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let before = contents(&filled(&databases));
    wait(&databases.find("X").unwrap(), &databases.find("X").unwrap().indexes().by_name("Users/ByName").unwrap());
    let (report, operation) = run(&databases, true, &["users/byname", "No/Such"]);
    let report = report.unwrap();
    assert!(matches!(operation.status(), OperationStatus::Completed(_)));
    assert!(report.size_after < report.size_before && report.is_processed && !report.is_skipped, "{report:?}");
    let [index, missing] = report.indexes.as_slice() else { panic!("{report:?}") };
    assert!(index.size_after <= index.size_before && index.is_processed, "{index:?}");
    assert!(missing.is_skipped && missing.message() == Some("Index 'No/Such' does not exist."), "{missing:?}");
    let check = |databases: &Databases| {
        let database = databases.find("X").unwrap();
        assert_eq!(contents(&database), before);
        let index = database.indexes().by_name("Users/ByName").unwrap();
        wait(&database, &index);
        assert_eq!(count(&index, "a"), 20);
        assert_eq!(database.documents().environment().verify().unwrap().problems, Vec::<String>::new());
        assert!(!database.documents().environment().path().join("compacted").exists());
    };
    check(&databases);
    drop(databases);
    let databases = open(folder.path());
    check(&databases);
    // It is a database as any other: what is written is indexed, and it can be compacted again.
    let database = databases.find("X").unwrap();
    put(&database, "users/new", "b").unwrap();
    let index = database.indexes().by_name("Users/ByName").unwrap();
    wait(&database, &index);
    assert_eq!(count(&index, "b"), 1);
    assert_eq!(compact(&databases, || ()).unwrap(), Outcome::Dense);
}

#[test]
fn writes_wait_for_a_compaction_and_none_is_lost_and_reads_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let database = filled(&databases);
    let snapshot = database.read();
    let (sender, written) = mpsc::channel();
    let mut proposed = Vec::new();
    let outcome = compact(&databases, || {
        proposed.extend((0..50).map(|number| propose(&database, &format!("proposed/{number}"))));
        let (blocking, sender) = (database.clone(), sender.clone());
        std::thread::spawn(move || sender.send(put(&blocking, "blocking/1", "b")).unwrap());
        // It counts as waiting as soon as it has a place in the queue.
        until_equal(|| database.queued_count(), 51);
        assert!(proposed.iter().all(|answer| answer.try_recv().is_err()) && written.try_recv().is_err());
        assert!(has(&database, "users/1") && !has(&database, "proposed/1") && !has(&database, "blocking/1"));
    });
    assert_eq!(outcome.unwrap(), Outcome::Replaced);
    proposed.iter().for_each(|answer| drop(soon(answer).unwrap()));
    soon(&written).unwrap();
    let next = databases.find("X").unwrap();
    assert!(!Arc::ptr_eq(&next, &database) && database.has_moved() && !database.is_closed());
    assert!((0..50).all(|number| has(&next, &format!("proposed/{number}"))) && has(&next, "blocking/1"));
    assert_eq!(next.queued_count(), 0);
    // A holder of the one before reads it as it was, and its writes go to the other one.
    assert!(snapshot.get("users/1").unwrap().is_some() && !has(&database, "proposed/1"));
    put(&database, "late/1", "c").unwrap();
    soon(&propose(&database, "late/2")).unwrap();
    assert!(has(&next, "late/1") && has(&next, "late/2") && !has(&database, "late/1"));
    drop(snapshot);
    drop((database, next, databases));
    let next = open(folder.path()).find("X").unwrap();
    assert!((0..50).all(|number| has(&next, &format!("proposed/{number}"))));
    assert!(["blocking/1", "late/1", "late/2"].iter().all(|id| has(&next, id)));
}

#[test]
fn a_write_that_waits_for_too_long_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { compaction_write_wait: Duration::from_millis(50), ..Limits::default() };
    let databases = open_with(folder.path(), limits);
    let database = filled(&databases);
    let outcome = compact(&databases, || {
        let late = propose(&database, "late/1");
        let refused = soon(&late).unwrap_err();
        assert!(matches!(&refused, Error::Compacting { name, .. } if name == "X"), "{refused}");
        let refused = put(&database, "late/2", "x").unwrap_err();
        assert!(refused.to_string().contains("compaction_write_wait"), "{refused}");
        assert_eq!(database.queued_count(), 0);
    });
    assert_eq!(outcome.unwrap(), Outcome::Replaced);
    let next = databases.find("X").unwrap();
    assert!(!has(&next, "late/1") && !has(&next, "late/2"));
}

#[test]
fn a_killed_compaction_leaves_the_database_as_it_was_and_its_writes_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let database = filled(&databases);
    let before = contents(&database);
    let mut proposed = None;
    let killed = databases.compact_documents("X", &mut |step| {
        if matches!(step, Step::Copied(..)) {
            proposed.get_or_insert_with(|| propose(&database, "proposed/1"));
        }
        // At the last moment before the copy would be put in place.
        !matches!(step, Step::Checked(..))
    });
    assert!(matches!(killed, Err(Error::Canceled)), "{killed:?}");
    soon(&proposed.unwrap()).unwrap();
    assert!(has(&database, "proposed/1") && Arc::ptr_eq(&database, &databases.find("X").unwrap()));
    assert!(!folder.path().join("databases/x/compacted").exists());
    let after = contents(&database);
    assert!(before[..20].iter().all(|document| after.contains(document)));
    assert_eq!(compact(&databases, || ()).unwrap(), Outcome::Replaced);
    // The same through the operation.
    put(&databases.find("X").unwrap(), "more/1", "x").unwrap();
    let request = CompactionRequest { name: "X".to_owned(), documents: true, indexes: Vec::new() };
    let compaction = databases.compact(None, request.clone()).unwrap();
    let twice = databases.compact(None, request.clone());
    assert!(matches!(twice, Err(Error::BadCompaction { .. })), "{twice:?}");
    let operation = compaction.operation().clone();
    operation.kill();
    assert!(matches!(compaction.run(), Err(Error::Canceled)));
    assert!(matches!(operation.status(), OperationStatus::Canceled));
    drop(databases.compact(None, request).unwrap());
}

/// The folder as a crash at that moment would leave it, but for what was not written to the device.
fn copy_of(folder: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let (from, to) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        if from.is_dir() {
            copy_of(&from, &to);
        } else {
            std::fs::copy(&from, &to).unwrap();
        }
    }
}

#[test]
fn a_process_that_is_killed_while_it_compacts_finds_the_database_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(&folder.path().join("node"));
    let database = filled(&databases);
    let before = contents(&database);
    let mut killed = Vec::new();
    databases
        .compact_documents("X", &mut |step| {
            let at = match step {
                Step::Copied(..) => "copied",
                Step::Checked(..) => "checked",
            };
            if !killed.contains(&at) {
                copy_of(&folder.path().join("node"), &folder.path().join(at));
                killed.push(at);
            }
            true
        })
        .unwrap();
    assert_eq!(killed, ["copied", "checked"]);
    for at in killed {
        assert!(folder.path().join(at).join("databases/x/compacted/data").exists());
        let database = open(&folder.path().join(at)).find("X").unwrap();
        assert_eq!(contents(&database), before);
        assert!(!folder.path().join(at).join("databases/x/compacted").exists(), "the rest is removed");
    }
}

#[test]
fn operations_and_a_compaction_of_documents_exclude_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let database = filled(&databases);
    let running = database.operations().start(1, "Something").unwrap();
    let refused = compact(&databases, || ()).unwrap_err();
    assert!(matches!(&refused, Error::BadCompaction { rule } if rule.contains("1 (Something)")), "{refused}");
    running.end(OperationStatus::Canceled);
    compact(&databases, || {
        let refused = database.operations().start(2, "Another").unwrap_err();
        assert!(matches!(refused, Error::Occupied { .. }), "{refused}");
    })
    .unwrap();
    // Operations are known to the database that has taken the place.
    let next = databases.find("X").unwrap();
    assert_eq!(next.operations().all().len(), 1);
    next.operations().start(2, "Another").unwrap();
}

#[test]
fn a_database_that_is_disabled_or_deleted_meanwhile_is_not_brought_back() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let before = contents(&filled(&databases));
    let outcome = compact(&databases, || drop(databases.set_disabled(&["X"], true, None).unwrap()));
    assert!(matches!(outcome, Err(Error::Disabled { .. })), "{outcome:?}");
    databases.set_disabled(&["X"], false, None).unwrap();
    assert_eq!(contents(&databases.find("X").unwrap()), before);
    let mut waiting = None;
    let outcome = compact(&databases, || {
        waiting = Some(propose(&databases.find("X").unwrap(), "a"));
        databases.delete(&["X"], true, None).unwrap();
    });
    assert!(matches!(outcome, Err(Error::Disabled { .. })), "{outcome:?}");
    assert!(matches!(soon(&waiting.unwrap()), Err(Error::Disabled { .. })));
    databases.maintain();
    assert!(!folder.path().join("databases/x").exists() && databases.names().is_empty());
}

#[test]
fn an_index_is_compacted_while_it_is_queried_and_documents_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let database = filled(&databases);
    let old = database.indexes().by_name("Users/ByName").unwrap();
    wait(&database, &old);
    old.note_query();
    let (last_query, indexed) = (old.statistics().unwrap().last_query, old.statistics().unwrap().indexed_count);
    let snapshot = old.read().unwrap();
    let mut is_written = false;
    let outcome = database.indexes().compact(&old, &mut |_| {
        if !std::mem::replace(&mut is_written, true) {
            put(&database, "users/meanwhile", "b").unwrap();
            assert_eq!((count(&old, "a"), count(&old, "b")), (20, 0));
        }
        true
    });
    assert_eq!(outcome.unwrap(), IndexCompaction::Replaced);
    let new = database.indexes().by_name("Users/ByName").unwrap();
    assert!(!Arc::ptr_eq(&old, &new) && old.is_removed());
    wait(&database, &new);
    assert_eq!((count(&new, "a"), count(&new, "b")), (20, 1));
    let statistics = new.statistics().unwrap();
    assert_eq!((statistics.last_query, statistics.indexed_count), (last_query, indexed + 1));
    assert!(new.was_complete());
    let number = snapshot.field("Name").unwrap().unwrap();
    assert_eq!(snapshot.term(number, Term::Text("a")).unwrap().count(), 20);
    drop(snapshot);
    drop(old);
    assert_eq!(new.read().unwrap().verify().unwrap().problems, Vec::<String>::new());
    // The files are those of the new one, also when the one before is gone; and it is opened again.
    drop((new, database, databases));
    let databases = open(folder.path());
    let database = databases.find("X").unwrap();
    let index = database.indexes().by_name("Users/ByName").unwrap();
    assert_eq!((count(&index, "a"), index.statistics().unwrap().indexed_count), (20, indexed + 1));
}

#[test]
fn an_index_goes_on_after_a_compaction_that_was_killed_or_gained_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let database = filled(&databases);
    let index = database.indexes().by_name("Users/ByName").unwrap();
    wait(&database, &index);
    let killed = database.indexes().compact(&index, &mut |_| false).unwrap();
    assert_eq!(killed, IndexCompaction::Canceled);
    put(&database, "users/b", "b").unwrap();
    wait(&database, &index);
    assert_eq!(count(&index, "b"), 1);
    assert_eq!(database.indexes().compact(&index, &mut |_| true).unwrap(), IndexCompaction::Replaced);
    let index = database.indexes().by_name("Users/ByName").unwrap();
    database.indexes().pause(&index, true);
    assert_eq!(database.indexes().compact(&index, &mut |_| true).unwrap(), IndexCompaction::Dense);
    let removed = database.indexes().compact(&index, &mut |_| {
        database.indexes().remove("Users/ByName").unwrap();
        true
    });
    assert!(matches!(removed, Ok(IndexCompaction::Skipped(_))), "{removed:?}");
    assert!(database.indexes().all().is_empty());
}

#[test]
fn indexes_go_on_with_the_documents_of_a_compacted_database() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let database = filled(&databases);
    let index = database.indexes().by_name("Users/ByName").unwrap();
    compact(&databases, || ()).unwrap();
    let next = databases.find("X").unwrap();
    assert!(next.indexes().by_name("Users/ByName").is_some_and(|same| Arc::ptr_eq(&same, &index)));
    put(&next, "users/next", "b").unwrap();
    wait(&next, &index);
    assert_eq!((count(&index, "a"), count(&index, "b")), (20, 1));
    // Definitions are written to it.
    assert!(next.indexes().remove("Users/ByName").unwrap());
    drop((index, next, database, databases));
    assert!(open(folder.path()).find("X").unwrap().indexes().all().is_empty());
}

#[test]
fn what_cannot_be_compacted_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    databases.find_or_create("disk").unwrap();
    let memory = Value::parse(br#"{"Settings":{"RunInMemory":"true"}}"#).unwrap();
    databases.create("memory", memory, None).unwrap();
    for (name, documents, indexes, reason) in [
        ("", true, 0, "DatabaseName is a required field"),
        ("none", true, 0, "it doesn't exist"),
        ("disk", false, 0, "Nothing to compact"),
        ("disk", false, crate::limits::COMPACTION_INDEXES_MAX + 1, "COMPACTION_INDEXES_MAX"),
    ] {
        let request = CompactionRequest { name: name.to_owned(), documents, indexes: vec!["i".to_owned(); indexes] };
        let refused = databases.compact(None, request).unwrap_err();
        assert!(matches!(&refused, Error::BadCompaction { rule } if rule.contains(reason)), "{name}: {refused}");
    }
    // That one begins, and fails.
    let request = CompactionRequest { name: "memory".to_owned(), documents: true, indexes: Vec::new() };
    let failed = databases.compact(None, request).unwrap().run().unwrap_err();
    assert!(matches!(&failed, Error::BadCompaction { rule } if rule.contains("is in memory")), "{failed}");
}

#[test]
fn indexes_of_all_kinds_have_after_a_compaction_what_they_had() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let database = databases.find_or_create("X").unwrap();
    let put = |number: usize| {
        let document = format!(
            r#"{{"Name":"n{}","Boss":"users/{}","V":[{number},1.5,{}],"Text":"{}","@metadata":{{"@collection":"Users"}}}}"#,
            number % 7,
            number / 2,
            number % 3,
            text(number)
        );
        let mut batch = Batch::new();
        batch.put(&format!("users/{number}"), document.as_bytes(), Expected::Any).unwrap();
        database.execute(batch).unwrap();
    };
    (0..DOCUMENTS).for_each(put);
    let names = ["Reduced", "Loading", "Vectors"];
    for definition in [
        r#"{"Name":"Reduced","Maps":["from u in docs.Users select new { u.Name, N = 1 }"],
            "Reduce":"from r in results group r by r.Name into g select new { Name = g.Key, N = g.Sum(x => x.N) }",
            "OutputReduceToCollection":"Names"}"#,
        r#"{"Name":"Loading","Maps":["from u in docs.Users let b = LoadDocument(u.Boss, \"Users\") select new { u.Name, Boss = b.Name, u.Text }"]}"#,
        r#"{"Name":"Vectors","Maps":["from u in docs.Users select new { E = CreateVector(u.V), u.Name, u.Text }"]}"#,
    ] {
        let definition = MapIndex::from_json(&Value::parse(definition.as_bytes()).unwrap()).unwrap();
        database.indexes().put(definition, IndexSettings::default()).unwrap();
    }
    let index = |name: &str| database.indexes().by_name(name).unwrap();
    let settle = || names.iter().for_each(|name| wait(&database, &index(name)));
    let delete = |numbers: std::ops::Range<usize>| {
        for number in numbers {
            let mut batch = Batch::new();
            batch.delete(&format!("users/{number}"), Expected::Any).unwrap();
            database.execute(batch).unwrap();
        }
    };
    settle();
    delete(60..DOCUMENTS);
    settle();
    let verified = |name: &str| {
        let verified = index(name).read().unwrap().verify().unwrap();
        assert_eq!(verified.problems, Vec::<String>::new(), "{name}");
        format!("{verified:?}")
    };
    for name in names {
        let before = verified(name);
        let outcome = database.indexes().compact(&index(name), &mut |_| true).unwrap();
        assert!(outcome == IndexCompaction::Replaced || name == "Reduced", "{name}: {outcome:?}");
        settle();
        assert_eq!(verified(name), before, "{name}");
    }
    // They go on from there.
    delete(0..10);
    (10..20).for_each(|number| put(number + 1000));
    settle();
    names.iter().for_each(|name| drop(verified(name)));
    assert_eq!(index("Loading").statistics().unwrap().entry_count, 60);
    assert_eq!(database.read().collection("Names").unwrap().unwrap().documents().count, 7);
}

#[test]
fn a_copy_that_cannot_be_made_leaves_the_database_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let databases = open(folder.path());
    let database = filled(&databases);
    let before = contents(&database);
    let blocked = folder.path().join("databases/x/compacted");
    std::fs::write(&blocked, b"a file").unwrap();
    assert!(matches!(compact(&databases, || ()), Err(Error::Io { .. })));
    assert_eq!(contents(&database), before);
    put(&database, "more/1", "x").unwrap();
    std::fs::remove_file(&blocked).unwrap();
    assert_eq!(compact(&databases, || ()).unwrap(), Outcome::Replaced);
    assert!(has(&databases.find("X").unwrap(), "more/1"));
}
