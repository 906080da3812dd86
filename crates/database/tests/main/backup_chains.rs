//! When an incremental backup may go on from the one before: each state that is restored must be one that was.

use std::fs;
use std::path::PathBuf;

use rookery_database::OperationStatus;
use rookery_database::documents::{ConstraintChange, ItemKind, UniqueConstraint, Write};

use testing::wait::until_true;

use crate::backups::{MINUTE, NIGHTLY, Node, value};

/// The folder of the only chain.
fn folder(node: &Node) -> PathBuf {
    let mut folders = fs::read_dir(&node.place).unwrap();
    let folder = folders.next().unwrap().unwrap().path();
    assert!(folders.next().is_none(), "one chain is there");
    folder
}

/// Makes a backup a minute later; gives whether it was a full one.
fn next_is_full(node: &Node, task: u64) -> bool {
    node.clock.advance(MINUTE);
    let status = node.run_now(task, false);
    assert!(matches!(status, OperationStatus::Completed(_)), "{status:?}");
    node.databases.backup_status("shop", task).unwrap().unwrap().is_full
}

/// Cleans tombstones as the node does once in a while; gives how many went.
fn clean(node: &Node) -> u64 {
    (0..3).map(|_| node.databases.maintain()).sum()
}

fn put_task(node: &Node, task: u64, more: &str) {
    let place = node.place.display();
    let text =
        format!(r#"{{"TaskId":{task},"Name":"nightly",{NIGHTLY},"LocalSettings":{{"FolderPath":"{place}"}}{more}}}"#);
    node.databases.put_backup_task("shop", &value(&text), None).unwrap();
}

#[test]
fn what_is_deleted_while_the_first_backup_is_made_is_in_the_next_one() {
    let node = Node::open();
    (0..4).for_each(|number| node.put(&format!("users/{number}"), "here"));
    // The backup takes some seconds.
    let task = node.add_task(&format!(r#"{NIGHTLY},"MaxReadOpsPerSecond":1"#));
    let backup = node.databases.begin_backup_of_task("shop", task, true).unwrap().operation;
    let documents = |progress: rookery_database::Progress| {
        progress.transfer.is_some_and(|counts| counts.counts(rookery_database::smuggler::ItemType::Documents).read > 0)
    };
    until_true("the backup reads documents", || {
        let has_begun = backup.progress().is_some_and(documents);
        assert!(matches!(backup.status(), OperationStatus::InProgress), "it is being made");
        has_begun
    });
    node.delete("users/3");
    until_true("the backup ends", || {
        assert_eq!(clean(&node), 0, "the next backup needs the deletion");
        !matches!(backup.status(), OperationStatus::InProgress)
    });
    assert!(!next_is_full(&node, task));
    node.restore("copy", &folder(&node), None).unwrap();
    assert_eq!(node.documents("copy"), ["users/0=here", "users/1=here", "users/2=here"]);
}

#[test]
fn a_backup_does_not_go_on_over_deletions_that_are_gone() {
    let node = Node::open();
    node.put("users/1", "one");
    node.put("users/2", "two");
    let task = node.add_task(NIGHTLY);
    node.run_now(task, true);
    put_task(&node, task, r#","Disabled":true"#);
    node.delete("users/1");
    assert_eq!(clean(&node), 1);
    put_task(&node, task, "");
    assert!(next_is_full(&node, task));
    let last = node.files().pop().unwrap();
    node.restore("copy", &node.place.join(last.split('/').next().unwrap()), None).unwrap();
    assert_eq!(node.documents("copy"), ["users/2=two"]);
}

#[test]
fn another_key_or_place_begins_another_chain() {
    let node = Node::open();
    node.put("users/1", "one");
    let key = |byte: u8| {
        let key = rookery_database::documents::base64::encode(&[byte; 32]);
        format!(r#","BackupEncryptionSettings":{{"EncryptionMode":"UseProvidedKey","Key":"{key}"}}"#)
    };
    let task = node.add_task(NIGHTLY);
    put_task(&node, task, &key(1));
    assert!(next_is_full(&node, task));
    node.put("users/2", "two");
    assert!(!next_is_full(&node, task));
    put_task(&node, task, &key(2));
    node.put("users/3", "three");
    assert!(next_is_full(&node, task));
    put_task(&node, task, "");
    node.put("users/4", "four");
    assert!(next_is_full(&node, task));
}

#[test]
fn identities_and_constraints_alone_are_a_change() {
    let node = Node::open();
    node.put("users/1", "one");
    let task = node.add_task(NIGHTLY);
    node.run_now(task, true);
    let database = node.databases.find("shop").unwrap();
    database.write(&Write::NextIdentity { name: "inv|".to_owned() }).unwrap();
    assert!(!next_is_full(&node, task));
    assert_eq!(node.files().len(), 2);
    let constraint = UniqueConstraint {
        name: "by text".to_owned(),
        collection: "Users".to_owned(),
        fields: vec!["Text".to_owned()],
        is_case_sensitive: true,
    };
    database.write(&Write::Constraint(ConstraintChange::Put(constraint))).unwrap();
    assert!(!next_is_full(&node, task));
    assert_eq!(node.files().len(), 3);
    assert!(!next_is_full(&node, task));
    assert_eq!(node.files().len(), 3, "nothing changed");
    node.restore("copy", &folder(&node), None).unwrap();
    let copy = node.databases.find("copy").unwrap();
    assert_eq!(copy.read().identities().unwrap(), [("inv|".to_owned(), 1)]);
    assert_eq!(copy.read().constraints().unwrap().len(), 1);
}

#[test]
fn a_file_that_is_lost_is_noticed_by_the_next_backup_and_by_a_restore() {
    let node = Node::open();
    node.put("users/1", "one");
    let task = node.add_task(NIGHTLY);
    node.run_now(task, true);
    for id in ["users/2", "users/3"] {
        node.put(id, "more");
        assert!(!next_is_full(&node, task));
    }
    let (folder, files) = (folder(&node), node.files());
    let path = |file: &str| node.place.join(file);
    fs::rename(path(&files[1]), path("away")).unwrap();
    let refused = node.restore("copy", &folder, None).unwrap_err().to_string();
    let name = files[1].rsplit('/').next().unwrap();
    assert!(refused.contains("goes on from the file") && refused.contains(name), "{refused}");
    assert!(node.databases.find("copy").is_err(), "nothing of it is left");
    // The state before it can be had, and so can all of them when it is there again.
    node.restore("first", &folder, Some(files[0].rsplit('/').next().unwrap())).unwrap();
    fs::rename(path("away"), path(&files[1])).unwrap();
    node.restore("whole", &folder, None).unwrap();
    let count = |name: &str| {
        let database = node.databases.find(name).unwrap();
        database.read().items(&[ItemKind::Document], None, 0).unwrap().count()
    };
    assert_eq!((count("first"), count("whole")), (1, 3));
    fs::remove_file(path(&files[2])).unwrap();
    node.put("users/4", "more");
    assert!(next_is_full(&node, task));
}
