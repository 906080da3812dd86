//! Restores of chains: the state is that of the last file, whatever the files before it have. And what is left out of a record.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use query::definition::{IndexSettings, LockMode};
use rookery_database::documents::{BulkDocs, ConstraintChange, UniqueConstraint, Write};
use rookery_database::subscriptions::SubscriptionRequest;
use rookery_database::{Database, OperationStatus, Result};

use crate::backups::{MINUTE, NIGHTLY, Node, request, snapshot_of};
use crate::indexes;

const KINDS: [&str; 2] = ["Backup", "Snapshot"];

/// Makes a full backup of a kind, what `change` does, and an incremental one; gives the folder of both.
fn chain(node: &Node, kind: &str, change: impl FnOnce()) -> PathBuf {
    let task = node.add_task(&format!(r#"{NIGHTLY},"BackupType":"{kind}""#));
    assert!(matches!(node.run_now(task, true), OperationStatus::Completed(_)));
    change();
    node.clock.advance(MINUTE);
    assert!(matches!(node.run_now(task, false), OperationStatus::Completed(_)));
    let files = node.files();
    assert!(files.len() == 2 && files[1].ends_with(".ravendb-incremental-backup"), "{files:?}");
    node.place.join(files[0].split_once('/').unwrap().0)
}

fn shop(node: &Node) -> Arc<Database> {
    node.databases.find("Shop").unwrap()
}

fn define(database: &Database, name: &str, map: &str, lock_mode: LockMode) {
    let settings = IndexSettings { lock_mode, ..IndexSettings::default() };
    database.indexes().put(indexes::defined(name, map), settings).unwrap();
}

fn unlock(database: &Database, name: &str) {
    let index = database.indexes().by_name(name).unwrap();
    database.indexes().change(&index, |settings| settings.lock_mode = LockMode::Unlock).unwrap();
}

/// The names of indexes, without those that stand in for others.
fn index_names(database: &Database) -> Vec<String> {
    let mut names: Vec<String> = database.indexes().all().iter().map(|index| index.definition().name()).collect();
    names.sort();
    names.dedup();
    names
}

const TEXTS: &str = "from user in docs.Users select new { user.Text }";
const OTHERS: &str = "from user in docs.Users select new { Other = user.Text }";

#[test]
fn indexes_are_those_of_the_last_file() {
    for kind in KINDS {
        let node = Node::open();
        node.put("users/1", "one");
        let database = shop(&node);
        define(&database, "Gone", TEXTS, LockMode::Unlock);
        define(&database, "GoneLocked", TEXTS, LockMode::LockedError);
        define(&database, "Stays", TEXTS, LockMode::LockedIgnore);
        define(&database, "Changed", TEXTS, LockMode::LockedError);
        let folder = chain(&node, kind, || {
            ["GoneLocked", "Changed"].iter().for_each(|name| unlock(&database, name));
            ["Gone", "GoneLocked"].iter().for_each(|name| assert!(database.indexes().remove(name).unwrap()));
            define(&database, "Changed", OTHERS, LockMode::LockedError);
            define(&database, "New", TEXTS, LockMode::Unlock);
            node.put("users/2", "two");
        });
        node.restore("copy", &folder, None).unwrap();
        let node = node.restart();
        let copy = node.databases.find("copy").unwrap();
        assert_eq!(index_names(&copy), ["Changed", "New", "Stays"], "{kind}");
        // What stands in for the old one has the definition and the lock of the last file.
        let all = copy.indexes().all();
        let changed =
            all.iter().filter(|index| index.definition().name() == "Changed").max_by_key(|index| index.created());
        let changed = changed.unwrap();
        indexes::wait(&copy, changed);
        assert_eq!(indexes::count(changed, "Other", "two"), 1, "{kind}");
        assert_eq!(changed.settings().lock_mode, LockMode::LockedError, "{kind}");
        let stays = copy.indexes().by_name("Stays").unwrap();
        assert_eq!(stays.settings().lock_mode, LockMode::LockedIgnore, "{kind}");
    }
}

#[test]
fn a_snapshot_is_restored_without_its_indexes_if_that_is_asked_for() {
    let node = Node::open();
    node.put("users/1", "one");
    define(&shop(&node), "Locked", TEXTS, LockMode::LockedError);
    let folder = snapshot_of(&node);
    let mut without = request("copy", &folder, None);
    without.skips_indexes = true;
    node.databases.restore(None, without).unwrap().run().unwrap();
    node.restore("whole", &folder, None).unwrap();
    let node = node.restart();
    assert!(index_names(&node.databases.find("copy").unwrap()).is_empty());
    assert_eq!(index_names(&node.databases.find("whole").unwrap()), ["Locked"]);
}

fn subscribe(database: &Database, name: &str) {
    let request = SubscriptionRequest {
        name: Some(name.to_owned()),
        query: Some("from Users".to_owned()),
        ..SubscriptionRequest::default()
    };
    database.create_subscription(request).unwrap();
}

#[test]
fn subscriptions_are_those_of_the_last_file() {
    for kind in KINDS {
        let node = Node::open();
        node.put("users/1", "one");
        let database = shop(&node);
        ["gone", "Stays"].iter().for_each(|name| subscribe(&database, name));
        let folder = chain(&node, kind, || {
            assert!(database.delete_subscription("gone").unwrap());
            subscribe(&database, "new");
            node.put("users/2", "two");
        });
        node.restore("copy", &folder, None).unwrap();
        let all = node.databases.find("copy").unwrap().subscriptions().unwrap();
        let mut names: Vec<String> = all.into_iter().map(|state| state.subscription.name).collect();
        names.sort();
        assert_eq!(names, ["Stays", "new"], "{kind}");
    }
}

#[test]
fn identities_are_those_of_the_last_file() {
    for kind in KINDS {
        let node = Node::open();
        let database = shop(&node);
        let seed = |value| {
            let name = "users|".to_owned();
            database.write(&Write::SeedIdentity { name, value, is_forced: true }).unwrap();
        };
        node.put("users/0", "zero");
        seed(9);
        let folder = chain(&node, kind, || {
            seed(3);
            node.put("users/1", "one");
        });
        node.restore("copy", &folder, None).unwrap();
        let copy = node.databases.find("copy").unwrap();
        let identities = copy.read().identities().unwrap();
        assert!(matches!(&identities[..], [(name, 3)] if name == "users|"), "{kind}: {identities:?}");
    }
}

fn constrain(database: &Database, name: &str, fields: &[&str]) -> Result<()> {
    let constraint = UniqueConstraint {
        name: name.to_owned(),
        collection: "Users".to_owned(),
        fields: fields.iter().map(|field| (*field).to_owned()).collect(),
        is_case_sensitive: true,
    };
    database.write(&Write::Constraint(ConstraintChange::Put(constraint))).map(drop)
}

#[test]
fn unique_constraints_are_those_of_the_last_file() {
    for kind in KINDS {
        let node = Node::open();
        let database = shop(&node);
        for (name, field) in [("broken", "Text"), ("dropped", "Other"), ("stays", "Text")] {
            constrain(&database, name, &[field]).unwrap();
        }
        for (id, text) in [("users/1", "one"), ("users/2", "two")] {
            node.put(id, text);
        }
        let folder = chain(&node, kind, || {
            for name in ["broken", "dropped", "stays"] {
                database.write(&Write::Constraint(ConstraintChange::Delete(name.to_owned()))).unwrap();
            }
            // This breaks them until users/1 gets another text.
            node.put("users/2", "one");
            node.put("users/1", "two");
            constrain(&database, "stays", &["Text"]).unwrap();
            constrain(&database, "new", &["Text", "Other"]).unwrap();
        });
        node.restore("copy", &folder, None).unwrap();
        assert_eq!(node.documents("copy"), ["users/1=two", "users/2=one"], "{kind}");
        let copy = node.databases.find("copy").unwrap();
        let names: Vec<String> =
            copy.read().constraints().unwrap().into_iter().map(|constraint| constraint.name).collect();
        assert_eq!(names, ["new", "stays"], "{kind}");
        assert!(copy.read().verify().unwrap().problems.is_empty(), "{kind}");
    }
}

#[test]
fn documents_that_break_a_constraint_which_was_dropped_come_back() {
    for kind in KINDS {
        let node = Node::open();
        let database = shop(&node);
        constrain(&database, "c", &["Text"]).unwrap();
        node.put("users/1", "same");
        let folder = chain(&node, kind, || {
            database.write(&Write::Constraint(ConstraintChange::Delete("c".to_owned()))).unwrap();
            node.put("users/2", "same");
        });
        node.restore("copy", &folder, None).unwrap();
        assert_eq!(node.documents("copy"), ["users/1=same", "users/2=same"], "{kind}");
    }
}

/// Runs a cluster-wide transaction of one command.
fn transact(database: &Database, command: &str) -> Result<()> {
    let body = format!(r#"{{"TransactionMode":"ClusterWide","Commands":[{command}]}}"#);
    let BulkDocs::ClusterWide(transaction) = BulkDocs::parse(body.as_bytes(), true).unwrap() else {
        panic!("it is cluster-wide")
    };
    database.write(&Write::ClusterTransaction(transaction)).map(drop)
}

/// Puts a document with the change vector that it has, as a client does that has read it.
fn transact_put(database: &Database, id: &str) -> Result<()> {
    let vector = vector(database, id);
    let document = r#"{"Text":"by transaction","@metadata":{"@collection":"Users"}}"#;
    transact(database, &format!(r#"{{"Type":"PUT","Id":"{id}","Document":{document},"ChangeVector":"{vector}"}}"#))
}

fn transact_delete(database: &Database, id: &str) {
    let vector = vector(database, id);
    transact(database, &format!(r#"{{"Type":"DELETE","Id":"{id}","ChangeVector":"{vector}"}}"#)).unwrap();
}

fn vector(database: &Database, id: &str) -> String {
    database.read().get(id).unwrap().map(|document| document.change_vector()).unwrap_or_default()
}

#[test]
fn cluster_wide_transactions_write_all_documents_of_a_restored_chain() {
    for kind in KINDS {
        let node = Node::open();
        let database = shop(&node);
        let ids = ["users/gone", "users/stays", "users/changed", "users/again", "users/plain"];
        ids.iter().for_each(|id| transact_put(&database, id).unwrap());
        let folder = chain(&node, kind, || {
            transact_delete(&database, "users/gone");
            transact_put(&database, "users/changed").unwrap();
            transact_delete(&database, "users/again");
            transact_put(&database, "users/again").unwrap();
            transact_delete(&database, "users/plain");
            node.put("users/plain", "without a guard");
        });
        node.restore("copy", &folder, None).unwrap();
        let copy = node.databases.find("copy").unwrap();
        assert_eq!(node.documents("copy"), node.documents("shop"), "{kind}");
        for id in ids {
            let (was, written) = (vector(&copy, id), transact_put(&copy, id));
            assert!(written.is_ok(), "{kind}, {id} with '{was}': {written:?}");
        }
        assert!(copy.read().verify().unwrap().problems.is_empty(), "{kind}");
    }
}

#[test]
fn what_is_not_acceptable_of_a_record_is_left_out_alone() {
    let node = Node::open();
    let task = |id: u64, name: &str, settings: &str| {
        format!(
            r#"{{"TaskId":{id},"Name":"{name}","FullBackupFrequency":"0 2 * * *","BackupType":"Backup",{settings}}}"#
        )
    };
    let local = r#""LocalSettings":{"FolderPath":"/backups"}"#;
    let tasks = [
        task(5, "over FTP", r#""FtpSettings":{"Disabled":false,"Url":"ftp://x"}"#),
        task(6, "local", local),
        task(6, "second of its id", local),
        task(7, "elsewhere", local),
    ];
    let dump = format!(
        r#"{{"BuildVersion":71028,"DatabaseRecord":{{"DatabaseName":"K",
        "Revisions":{{"Default":{{"Disabled":false,"MinimumRevisionsToKeep":5}},"Collections":{{}}}},
        "Expiration":{{"Disabled":false,"DeleteFrequencyInSec":60}},
        "Refresh":{{"Disabled":false,"RefreshFrequencyInSec":-60}},
        "Client":{{"Disabled":false,"MaxNumberOfRequestsPerSession":7}},
        "Analyzers":{{"Wrong":{{"Name":"Wrong","Code":"public class Other"}}}},
        "Sorters":{{}},"RavenEtls":[{{"Name":"etl"}}],"NoSuchSetting":[1],
        "PeriodicBackups":[{}]}},"Docs":[{{"Text":"one","@metadata":{{"@id":"users/1","@collection":"Users"}}}}]}}"#,
        tasks.join(",")
    );
    let folder = node.data.join("of-another-server");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("2026-11-28-01-00-00.ravendb-full-backup");
    fs::write(file, zstd::encode_all(dump.as_bytes(), 1).unwrap()).unwrap();
    let restore = node.databases.restore(None, request("copy", &folder, None)).unwrap();
    let operation = Arc::clone(restore.operation());
    restore.run().unwrap();
    assert_eq!(node.documents("copy"), ["users/1=one"]);
    let record = node.databases.record("copy").unwrap();
    let part = |name: &str| record.value.get(name).cloned().unwrap_or(json::Value::Null);
    let number = |value: json::Value, name: &str| value.get(name).and_then(json::Value::as_i64);
    assert_eq!(number(part("Expiration"), "DeleteFrequencyInSec"), Some(60));
    assert_eq!(number(part("Client"), "MaxNumberOfRequestsPerSession"), Some(7));
    let default = part("Revisions").get("Default").cloned().unwrap();
    assert_eq!(number(default, "MinimumRevisionsToKeep"), Some(5));
    assert_eq!(part("Refresh"), json::Value::Null);
    let tasks = node.databases.backup_tasks("copy").unwrap();
    let names: Vec<&str> = tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(names, ["local", "elsewhere"]);
    let OperationStatus::Completed(result) = operation.status() else { panic!("{:?}", operation.status()) };
    let all = result.transfer.as_ref().unwrap().messages();
    let warnings: Vec<&String> = all.iter().filter(|message| message.contains("was left out")).collect();
    let expected =
        ["setting 'Refresh'", "analyzer 'Wrong'", "task 'over FTP'", "task 'second of its id'", "setting 'RavenEtls'"];
    for text in expected {
        let found = warnings.iter().filter(|warning| warning.contains("WARNING") && warning.contains(text)).count();
        assert_eq!(found, 1, "{text}: {warnings:?}");
    }
    assert_eq!(warnings.len(), expected.len(), "{warnings:?}");
}
