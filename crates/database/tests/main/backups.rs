//! Backups: made by the clock and by hand, removed, restored; what fails is tried again, and what is cut off leaves nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use json::Value;
use query::definition::IndexSettings;
use rookery_database::backups::{BackupConfiguration, FolderDestination, RestorePoint, RestoreRequest};
use rookery_database::documents::{AttachmentAction, AttachmentCommand, Batch, Date, Expected, ItemKind, NewContent};
use rookery_database::subscriptions::SubscriptionRequest;
use rookery_database::{Clock, Databases, DatabasesOptions, Error, Index, ManualClock, OperationStatus, Result};

use crate::indexes;

pub(crate) const MINUTE: Duration = Duration::from_secs(60);

pub(crate) struct Node {
    pub(crate) data: PathBuf,
    pub(crate) place: PathBuf,
    pub(crate) clock: ManualClock,
    pub(crate) databases: Arc<Databases>,
    _folder: tempfile::TempDir,
}

impl Node {
    pub(crate) fn open() -> Node {
        Node::open_with(|_| ())
    }

    /// * `change`: the options; a restart has the default ones.
    pub(crate) fn open_with(change: impl FnOnce(&mut DatabasesOptions)) -> Node {
        let folder = tempfile::tempdir().unwrap();
        let (data, place) = (folder.path().join("data"), folder.path().join("backups"));
        let clock = ManualClock::at(Date::parse("2026-11-27T01:00:00").unwrap());
        let mut options = options(&data, &clock);
        change(&mut options);
        let databases = Databases::open(options).unwrap();
        databases.find_or_create("Shop").unwrap();
        Node { data, place, clock, databases, _folder: folder }
    }

    /// Closes the node, and opens it again.
    pub(crate) fn restart(self) -> Node {
        let Node { data, place, clock, databases, _folder } = self;
        drop(databases);
        let databases = Databases::open(options(&data, &clock)).unwrap();
        Node { data, place, clock, databases, _folder }
    }

    pub(crate) fn put(&self, id: &str, text: &str) {
        let mut batch = Batch::new();
        let document = format!(r#"{{"Text":"{text}","@metadata":{{"@collection":"Users"}}}}"#);
        batch.put(id, document.as_bytes(), Expected::Any).unwrap();
        self.databases.find("Shop").unwrap().execute(batch).unwrap();
    }

    pub(crate) fn delete(&self, id: &str) {
        let mut batch = Batch::new();
        batch.delete(id, Expected::Any).unwrap();
        self.databases.find("Shop").unwrap().execute(batch).unwrap();
    }

    /// Adds a task; gives its id.
    pub(crate) fn add_task(&self, more: &str) -> u64 {
        let place = self.place.display();
        let text = format!(r#"{{"Name":"nightly","LocalSettings":{{"FolderPath":"{place}"}},{more}}}"#);
        self.databases.put_backup_task("shop", &value(&text), None).unwrap().1
    }

    /// The files of backups, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let points = RestorePoint::all(&FolderDestination::new(&self.place)).unwrap();
        let mut files: Vec<String> =
            points.into_iter().map(|point| format!("{}/{}", point.folder, point.file)).collect();
        files.sort();
        files
    }

    /// The name of the file that says whose the folder of a backup is.
    fn mark(&self, task: u64) -> String {
        let id = self.databases.find("Shop").unwrap().documents().database_id().to_owned();
        let hexadecimal: String = id.bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("{hexadecimal}-{task}.rookery-task")
    }

    pub(crate) fn run_now(&self, task: u64, is_full: bool) -> OperationStatus {
        let started = self.databases.begin_backup_of_task("shop", task, is_full).unwrap();
        // Nothing is due: this waits for what runs.
        self.clock.advance(Duration::ZERO);
        started.operation.status()
    }

    pub(crate) fn restore(&self, name: &str, folder: &Path, last_file: Option<&str>) -> Result<()> {
        self.databases.restore(None, request(name, folder, last_file))?.run()
    }

    /// The documents of a database, as `id=text`, sorted.
    pub(crate) fn documents(&self, name: &str) -> Vec<String> {
        let database = self.databases.find(name).unwrap();
        let snapshot = database.read();
        let kinds = [rookery_database::documents::ItemKind::Document];
        let mut found: Vec<String> = snapshot
            .items(&kinds, None, 0)
            .unwrap()
            .map(|item| {
                let item = item.unwrap();
                let mut text = Vec::new();
                item.document().unwrap().write_to(&mut text);
                let document = value(std::str::from_utf8(&text).unwrap());
                format!("{}={}", item.id(), document.get("Text").unwrap().as_str().unwrap())
            })
            .collect();
        found.sort();
        found
    }
}

fn options(data: &Path, clock: &ManualClock) -> DatabasesOptions {
    DatabasesOptions { clock: Arc::new(clock.clone()), ..DatabasesOptions::folder(data) }
}

pub(crate) fn value(text: &str) -> Value {
    Value::parse(text.as_bytes()).unwrap()
}

pub(crate) fn request(name: &str, folder: &Path, last_file: Option<&str>) -> RestoreRequest {
    RestoreRequest {
        name: name.to_owned(),
        source: Arc::new(FolderDestination::new(folder)),
        last_file: last_file.map(str::to_owned),
        until: None,
        of_database: None,
        skips_indexes: false,
        disables_tasks: false,
        encryption: None,
        is_trial: false,
    }
}

pub(crate) const NIGHTLY: &str = r#""FullBackupFrequency":"0 2 * * *","IncrementalBackupFrequency":"*/10 * * * *""#;

#[test]
fn a_task_makes_full_and_incremental_backups_by_the_clock() {
    let node = Node::open();
    node.put("users/1", "one");
    node.add_task(NIGHTLY);
    // The first one is of all, although an incremental one is due first.
    node.clock.advance(10 * MINUTE);
    let first = node.files();
    assert_eq!(first.len(), 1);
    assert!(first[0].ends_with("2026-11-27-01-10-00.ravendb-full-backup"), "{first:?}");
    // Nothing changed: no file, but the time is remembered.
    node.clock.advance(10 * MINUTE);
    assert_eq!(node.files(), first);
    node.put("users/2", "two");
    node.delete("users/1");
    node.clock.advance(10 * MINUTE);
    assert!(node.files()[1].ends_with("2026-11-27-01-30-00.ravendb-incremental-backup"));
    node.clock.advance(30 * MINUTE);
    let files = node.files();
    assert_eq!(files.len(), 3, "{files:?}");
    assert!(files[2].contains("2026-11-27-02-00-00.ravendb-Shop-A-backup/2026-11-27-02-00-00.ravendb-full-backup"));
    let chain = node.place.join("2026-11-27-01-10-00.ravendb-Shop-A-backup");
    node.restore("all", &chain, None).unwrap();
    node.restore("first", &chain, Some("2026-11-27-01-10-00.ravendb-full-backup")).unwrap();
    assert_eq!(node.documents("all"), ["users/2=two"]);
    assert_eq!(node.documents("first"), ["users/1=one"]);
}

#[test]
fn a_subscription_that_was_made_since_a_backup_is_in_the_next_one() {
    let node = Node::open();
    node.put("users/1", "one");
    node.add_task(NIGHTLY);
    node.clock.advance(10 * MINUTE);
    let request = SubscriptionRequest {
        name: Some("all".to_owned()),
        query: Some("from Users".to_owned()),
        is_disabled: Some(true),
        ..SubscriptionRequest::default()
    };
    node.databases.find("shop").unwrap().create_subscription(request).unwrap();
    node.clock.advance(10 * MINUTE);
    let files = node.files();
    assert_eq!(files.len(), 2, "{files:?}");
    node.clock.advance(10 * MINUTE);
    assert_eq!(node.files(), files);
    node.restore("copy", &node.place.join("2026-11-27-01-10-00.ravendb-Shop-A-backup"), None).unwrap();
    let restored = node.databases.find("copy").unwrap().subscription("all").unwrap().unwrap();
    assert!(restored.subscription.is_disabled && restored.subscription.query == "from Users");
}

#[test]
fn what_is_restored_survives_a_restart_with_its_tasks() {
    let node = Node::open();
    node.put("users/1", "one");
    let task = node.add_task(NIGHTLY);
    assert!(matches!(node.run_now(task, true), OperationStatus::Completed(_)));
    let folder = fs::read_dir(&node.place).unwrap().next().unwrap().unwrap().path();
    node.restore("copy", &folder, None).unwrap();
    let paused = RestoreRequest { disables_tasks: true, ..request("paused", &folder, None) };
    node.databases.restore(None, paused).unwrap().run().unwrap();
    let node = node.restart();
    assert_eq!(node.documents("copy"), ["users/1=one"]);
    let tasks = |name: &str| node.databases.backup_tasks(name).unwrap();
    assert_eq!(tasks("copy")[0].name, "nightly");
    assert!(!tasks("copy")[0].is_disabled && tasks("paused")[0].is_disabled);
    assert!(matches!(node.restore("copy", &folder, None), Err(Error::AlreadyExists { .. })));
    assert!(matches!(node.restore("a/b", &folder, None), Err(Error::BadName { .. })));
}

#[test]
fn an_incremental_backup_goes_on_after_a_restart() {
    let node = Node::open();
    node.put("users/1", "one");
    let task = node.add_task(NIGHTLY);
    node.run_now(task, false);
    node.put("users/2", "two");
    let node = node.restart();
    node.clock.advance(MINUTE);
    assert!(matches!(node.run_now(task, false), OperationStatus::Completed(_)));
    let status = node.databases.backup_status("shop", task).unwrap().unwrap();
    assert!(!status.is_full && status.last_full < status.last_incremental && status.error.is_none());
    assert_eq!(node.files().len(), 2);
    node.clock.advance(MINUTE);
    // Its folder was moved away: the chain cannot go on.
    fs::rename(&node.place, node.data.join("elsewhere")).unwrap();
    node.put("users/3", "three");
    node.run_now(task, false);
    assert!(node.databases.backup_status("shop", task).unwrap().unwrap().is_full);
}

#[test]
fn deletions_are_kept_until_a_backup_has_them() {
    let node = Node::open();
    node.put("users/1", "one");
    node.put("users/2", "two");
    let task = node.add_task(NIGHTLY);
    node.run_now(task, true);
    node.delete("users/1");
    let cleaned: u64 = (0..3).map(|_| node.databases.maintain()).sum();
    assert_eq!(cleaned, 0);
    node.clock.advance(MINUTE);
    node.run_now(task, false);
    let cleaned: u64 = (0..3).map(|_| node.databases.maintain()).sum();
    assert_eq!(cleaned, 1);
    let folder = fs::read_dir(&node.place).unwrap().next().unwrap().unwrap().path();
    node.restore("copy", &folder, None).unwrap();
    assert_eq!(node.documents("copy"), ["users/2=two"]);
    // A task that does nothing keeps no deletions, and begins anew.
    node.databases.set_backup_task_disabled("shop", task, true, None).unwrap();
    node.delete("users/2");
    let cleaned: u64 = (0..3).map(|_| node.databases.maintain()).sum();
    // With that of the copy.
    assert_eq!(cleaned, 2);
    node.databases.set_backup_task_disabled("shop", task, false, None).unwrap();
    node.clock.advance(MINUTE);
    node.run_now(task, false);
    assert!(node.databases.backup_status("shop", task).unwrap().unwrap().is_full);
}

#[test]
fn a_backup_that_fails_is_tried_again_and_leaves_nothing() {
    let node = Node::open();
    node.put("users/1", "one");
    // The place is a file.
    fs::write(&node.place, "x").unwrap();
    let task = node.add_task(NIGHTLY);
    node.clock.advance(10 * MINUTE);
    let status = node.databases.backup_status("shop", task).unwrap().unwrap();
    let (reason, _) = status.error.unwrap();
    assert!(reason.contains("backups") && status.last_full.is_none(), "{reason}");
    fs::remove_file(&node.place).unwrap();
    node.clock.advance(10 * MINUTE);
    let status = node.databases.backup_status("shop", task).unwrap().unwrap();
    assert!(status.error.is_none() && status.last_full.is_some() && status.version == 2);
    assert_eq!(node.files().len(), 1);
}

#[test]
fn old_backups_are_removed_and_the_newest_stays() {
    let node = Node::open();
    let task = node.add_task(&format!(r#"{NIGHTLY},"RetentionPolicy":{{"MinimumBackupAgeToKeep":"3.00:00:00"}}"#));
    for day in 0..6 {
        node.put("users/1", &day.to_string());
        node.clock.advance(24 * 60 * MINUTE);
        assert!(matches!(node.run_now(task, true), OperationStatus::Completed(_)));
    }
    let days: Vec<String> = node.files().iter().map(|file| file[8..10].to_owned()).collect();
    assert!(!days.contains(&"28".to_owned()) && days.contains(&"03".to_owned()), "{days:?}");
    let rest = node.place.join("2026-11-27-00-00-00.ravendb-Shop-A-backup");
    fs::create_dir_all(&rest).unwrap();
    fs::write(rest.join("2026-11-27-00-00-00.ravendb-full-backup.partial"), "x").unwrap();
    fs::write(rest.join(node.mark(task)), "").unwrap();
    node.clock.advance(MINUTE);
    node.run_now(task, true);
    assert!(!rest.exists());
}

/// Two tasks, a backup without one, and two servers with a database of one name have one place.
#[test]
fn a_task_removes_no_backup_that_it_did_not_make() {
    const SHORT: &str =
        r#""FullBackupFrequency":"0 2 * * *","RetentionPolicy":{"MinimumBackupAgeToKeep":"0.00:00:01"}"#;
    let node = Node::open();
    node.put("users/1", "one");
    let keeping = node.add_task(NIGHTLY);
    assert!(matches!(node.run_now(keeping, true), OperationStatus::Completed(_)));
    let mut other = Node::open();
    other.place = node.place.clone();
    other.clock.advance(MINUTE);
    // The numbers of tasks are those of the other server too.
    let of_other = other.add_task(SHORT);
    assert_eq!(of_other, keeping);
    assert!(matches!(other.run_now(of_other, true), OperationStatus::Completed(_)));
    node.clock.advance(2 * MINUTE);
    let text = format!(r#"{{"LocalSettings":{{"FolderPath":"{}"}}}}"#, node.place.display());
    let configuration = BackupConfiguration::from_json(&value(&text)).unwrap();
    node.databases.begin_backup("shop", configuration).unwrap();
    node.clock.advance(MINUTE);
    let kept = node.files();
    assert_eq!(kept.len(), 3);
    let text = format!(r#"{{"Name":"short","LocalSettings":{{"FolderPath":"{}"}},{SHORT}}}"#, node.place.display());
    let short = node.databases.put_backup_task("shop", &value(&text), None).unwrap().1;
    assert!(matches!(node.run_now(short, true), OperationStatus::Completed(_)));
    let node = node.restart();
    node.clock.advance(MINUTE);
    assert!(matches!(node.run_now(short, true), OperationStatus::Completed(_)));
    other.clock.advance(5 * MINUTE);
    assert!(matches!(other.run_now(of_other, true), OperationStatus::Completed(_)));
    let files = node.files();
    // The first ones of the two tasks with a retention are gone.
    let gone: Vec<&String> = kept.iter().filter(|file| !files.contains(file)).collect();
    assert_eq!((gone.len(), gone[0].contains("01-01-00"), files.len()), (1, true, 4), "{files:?}");
    // The chain of the first task goes on, and nothing in the place but backups and their marks is left.
    node.put("users/2", "two");
    assert!(matches!(node.run_now(keeping, false), OperationStatus::Completed(_)));
    assert!(!node.databases.backup_status("shop", keeping).unwrap().unwrap().is_full);
    assert_eq!(fs::read_dir(&node.place).unwrap().count(), 4);
}

#[test]
fn a_delayed_task_waits_and_a_deleted_one_is_gone() {
    let node = Node::open();
    let task = node.add_task(r#""FullBackupFrequency":"0 * * * *""#);
    node.databases.delay_backup("shop", task, 90 * MINUTE).unwrap();
    node.clock.advance(60 * MINUTE);
    assert!(node.files().is_empty());
    let status = node.databases.backup_status("shop", task).unwrap().unwrap();
    assert_eq!(status.original_time, Date::parse("2026-11-27T02:00:00"));
    node.clock.advance(30 * MINUTE);
    assert_eq!(node.files().len(), 1);
    assert_eq!(node.databases.next_backup("shop", task).unwrap().0, Date::parse("2026-11-27T03:00:00").unwrap());
    node.databases.delete_backup_task("shop", task, None).unwrap();
    node.clock.advance(600 * MINUTE);
    assert_eq!(node.files().len(), 1);
    assert!(node.databases.backup_status("shop", task).unwrap().is_none());
    assert!(matches!(node.databases.delete_backup_task("shop", task, None), Err(Error::BadBackup { .. })));
}

#[test]
fn an_encrypted_backup_is_restored_with_its_key_alone() {
    let node = Node::open();
    node.put("users/1", "a secret text");
    let key = |byte: u8| {
        let key = rookery_database::documents::base64::encode(&[byte; 32]);
        format!(r#"{{"EncryptionMode":"UseProvidedKey","Key":"{key}"}}"#)
    };
    let place = node.place.display();
    let configuration =
        format!(r#"{{"LocalSettings":{{"FolderPath":"{place}"}},"BackupEncryptionSettings":{}}}"#, key(1));
    let configuration = BackupConfiguration::from_json(&value(&configuration)).unwrap();
    node.databases.begin_backup("shop", configuration).unwrap();
    node.clock.advance(Duration::ZERO);
    let folder = fs::read_dir(&node.place).unwrap().next().unwrap().unwrap().path();
    assert!(matches!(node.restore("copy", &folder, None), Err(Error::BadBackup { .. })));
    let with = |byte| RestoreRequest { encryption: Some(value(&key(byte))), ..request("copy", &folder, None) };
    let refused = node.databases.restore(None, with(2)).unwrap().run().unwrap_err().to_string();
    assert!(refused.contains("key"), "{refused}");
    assert!(matches!(node.databases.find("copy"), Err(Error::Missing { .. })));
    node.databases.restore(None, with(1)).unwrap().run().unwrap();
    assert_eq!(node.documents("copy"), ["users/1=a secret text"]);
}

/// The only backup in a folder.
fn only_backup(folder: &Path) -> PathBuf {
    let points = RestorePoint::all(&FolderDestination::new(folder)).unwrap();
    assert_eq!(points.len(), 1);
    folder.join(&points[0].file)
}

/// Restores a backup of one file, cut off and with one changed bit, at each `step`th byte: nothing but the whole comes back. Compression
/// may describe the same contents in two ways, so a bit can change and nothing be damaged.
fn restore_damaged(node: &Node, file: &Path, step: usize) {
    let whole = fs::read(file).unwrap();
    let contents = zstd::decode_all(&whole[..]).unwrap();
    let folder = file.parent().unwrap();
    for at in (0..whole.len()).step_by(step) {
        fs::write(file, &whole[..at]).unwrap();
        assert!(node.restore("copy", folder, None).is_err(), "cut at {at}");
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        fs::write(file, &damaged).unwrap();
        if node.restore("copy", folder, None).is_ok() {
            assert_eq!(zstd::decode_all(&damaged[..]).unwrap(), contents, "byte {at}");
            node.databases.delete(&["copy"], true, None).unwrap();
        }
    }
}

#[test]
fn damaged_backups_are_refused_and_leave_no_database() {
    let node = Node::open();
    for number in 0..20 {
        node.put(&format!("users/{number}"), &"text ".repeat(number));
    }
    let task = node.add_task(NIGHTLY);
    node.run_now(task, true);
    let folder = fs::read_dir(&node.place).unwrap().next().unwrap().unwrap().path();
    let file = only_backup(&folder);
    let whole = fs::read(&file).unwrap();
    restore_damaged(&node, &file, 40);
    assert!(matches!(node.databases.find("copy"), Err(Error::Missing { .. })));
    let left: Vec<_> =
        fs::read_dir(node.data.join("databases")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["shop"]);
    fs::write(&file, &whole).unwrap();
    let trial = RestoreRequest { is_trial: true, ..request("copy", &folder, None) };
    node.databases.restore(None, trial).unwrap().run().unwrap();
    assert!(matches!(node.databases.find("copy"), Err(Error::Missing { .. })));
    node.restore("copy", &folder, None).unwrap();
    assert_eq!(node.documents("copy").len(), 20);
}

#[test]
fn folders_lie_where_the_node_allows() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("allowed");
    let options =
        DatabasesOptions { backup_root: Some(root.clone()), ..DatabasesOptions::folder(folder.path().join("data")) };
    let databases = Databases::open(options).unwrap();
    databases.find_or_create("Shop").unwrap();
    let put = |path: &str| {
        let text = format!(r#"{{"FullBackupFrequency":"0 2 * * *","LocalSettings":{{"FolderPath":"{path}"}}}}"#);
        databases.put_backup_task("shop", &value(&text), None)
    };
    assert!(matches!(put("/etc"), Err(Error::BadBackup { .. })));
    assert!(matches!(put("../x"), Err(Error::BadBackup { .. })));
    assert!(matches!(put(&format!("{}/../x", root.display())), Err(Error::BadBackup { .. })));
    assert!(put("shop").is_ok());
    let settings = value(r#"{"FolderPath":"shop"}"#);
    assert_eq!(databases.backup_folder(&settings).unwrap().folder(), root.join("shop"));
}

/// A node with an index over two thousand documents.
fn node_with_index() -> Node {
    let node = Node::open();
    let mut batch = Batch::new();
    for number in 0..2000 {
        let document = format!(r#"{{"Text":"{}","@metadata":{{"@collection":"Users"}}}}"#, number % 7);
        batch.put(&format!("users/{number}"), document.as_bytes(), Expected::Any).unwrap();
    }
    let database = node.databases.find("Shop").unwrap();
    database.execute(batch).unwrap();
    let map = "from user in docs.Users select new { user.Text }";
    database.indexes().put(indexes::defined("ByText", map), IndexSettings::default()).unwrap();
    wait_for_index(&node, "Shop");
    node
}

fn index_of(node: &Node, name: &str) -> Arc<Index> {
    node.databases.find(name).unwrap().indexes().by_name("ByText").unwrap()
}

fn wait_for_index(node: &Node, name: &str) {
    indexes::wait(&node.databases.find(name).unwrap(), &index_of(node, name));
}

pub(crate) fn snapshot_of(node: &Node) -> PathBuf {
    let place = node.place.display();
    let configuration = format!(r#"{{"BackupType":"Snapshot","LocalSettings":{{"FolderPath":"{place}"}}}}"#);
    let configuration = BackupConfiguration::from_json(&value(&configuration)).unwrap();
    let started = node.databases.begin_backup("shop", configuration).unwrap();
    node.clock.advance(Duration::ZERO);
    let OperationStatus::Completed(result) = started.operation.status() else { panic!("{:?}", started.operation) };
    node.place.join(&result.backup.unwrap().folder)
}

#[test]
fn a_snapshot_is_restored_with_its_indexes_as_a_database_of_its_own() {
    let node = node_with_index();
    let folder = snapshot_of(&node);
    node.put("users/later", "later");
    node.restore("copy", &folder, None).unwrap();
    assert_eq!(node.documents("copy").len(), 2000);
    let id = |node: &Node, name: &str| node.databases.find(name).unwrap().documents().database_id().to_owned();
    assert_ne!(id(&node, "shop"), id(&node, "copy"));
    // The index was not built again: it had no batch.
    wait_for_index(&node, "copy");
    let index = index_of(&node, "copy");
    assert!(index.last_batches().is_empty(), "{:?}", index.last_batches());
    assert_eq!(indexes::count(&index, "Text", "3"), 286);
    drop(index);
    let node = node.restart();
    assert_eq!(node.documents("copy").len(), 2000);
    let copy = node.databases.find("copy").unwrap();
    let found = copy.read().verify().unwrap();
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    let left: Vec<_> =
        fs::read_dir(node.data.join("databases")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_task_of_snapshots_goes_on_with_incremental_backups() {
    let node = node_with_index();
    let task = node.add_task(&format!(r#"{NIGHTLY},"BackupType":"Snapshot""#));
    assert!(matches!(node.run_now(task, true), OperationStatus::Completed(_)));
    node.put("users/later", "later");
    node.delete("users/0");
    node.clock.advance(MINUTE);
    assert!(matches!(node.run_now(task, false), OperationStatus::Completed(_)));
    let files = node.files();
    assert!(
        files.len() == 2
            && files[0].ends_with(".rookery-snapshot")
            && files[1].ends_with(".ravendb-incremental-backup"),
        "{files:?}"
    );
    let folder = node.place.join(files[0].split_once('/').unwrap().0);
    node.restore("copy", &folder, None).unwrap();
    let documents = node.documents("copy");
    assert!(documents.len() == 2000 && documents.contains(&"users/later=later".to_owned()));
    assert!(!documents.iter().any(|document| document.starts_with("users/0=")));
    wait_for_index(&node, "copy");
}

impl Node {
    fn attach(&self, id: &str, name: &str, content: &[u8]) {
        let mut batch = Batch::new();
        let command = AttachmentCommand::put(id, name, "x/y", NewContent::inline(content)).unwrap();
        batch.push_attachment(command, Expected::Any);
        self.databases.find("Shop").unwrap().execute(batch).unwrap();
    }

    /// The attachments of a database, as `id/name=content`, sorted.
    fn attachments(&self, name: &str) -> Vec<String> {
        let database = self.databases.find(name).unwrap();
        let snapshot = database.read();
        assert_eq!(snapshot.verify().unwrap().problems, Vec::<String>::new());
        let items = snapshot.items(&[ItemKind::Attachment], None, 0).unwrap();
        let mut found: Vec<String> = items
            .map(|item| {
                let attachment = item.unwrap().attachment().unwrap().unwrap();
                let mut reading = snapshot.content(attachment.hash(), 0..u64::MAX).unwrap().unwrap();
                let content = String::from_utf8(reading.next().unwrap().unwrap().to_vec()).unwrap();
                format!("{}/{}={content}", attachment.document_id(), attachment.name())
            })
            .collect();
        found.sort();
        found
    }
}

#[test]
fn chains_of_backups_have_attachments_and_what_became_of_them() {
    for kind in ["Backup", "Snapshot"] {
        let node = Node::open();
        for id in ["users/1", "users/2"] {
            node.put(id, "text");
            node.attach(id, "stays", b"same");
            node.attach(id, "goes", b"old");
        }
        node.attach("users/1", "changes", b"old");
        let task = node.add_task(&format!(r#"{NIGHTLY},"BackupType":"{kind}""#));
        assert!(matches!(node.run_now(task, true), OperationStatus::Completed(_)));
        // One that goes, one that is another, one that is new; a document with attachments that goes and comes again.
        let mut batch = Batch::new();
        let deletion = AttachmentCommand::new("users/1", "goes", AttachmentAction::Delete).unwrap();
        batch.push_attachment(deletion, Expected::Any);
        node.databases.find("Shop").unwrap().execute(batch).unwrap();
        node.attach("users/1", "new", b"new");
        // One that is replaced, and goes then.
        node.attach("users/1", "changes", b"other");
        let mut batch = Batch::new();
        let deletion = AttachmentCommand::new("users/1", "changes", AttachmentAction::Delete).unwrap();
        batch.push_attachment(deletion, Expected::Any);
        node.databases.find("Shop").unwrap().execute(batch).unwrap();
        node.delete("users/2");
        node.put("users/2", "again");
        node.attach("users/2", "stays", b"other");
        node.clock.advance(MINUTE);
        assert!(matches!(node.run_now(task, false), OperationStatus::Completed(_)));
        let files = node.files();
        assert_eq!(files.len(), 2, "{files:?}");
        let folder = node.place.join(files[0].split_once('/').unwrap().0);
        node.restore("copy", &folder, None).unwrap();
        let expected = ["users/1/new=new", "users/1/stays=same", "users/2/stays=other"];
        assert_eq!(
            (node.attachments("shop"), node.attachments("copy")),
            (expected.map(str::to_owned).to_vec(), expected.map(str::to_owned).to_vec()),
            "{kind}"
        );
    }
}

#[test]
fn damaged_snapshots_are_refused_and_leave_nothing() {
    let node = node_with_index();
    let folder = snapshot_of(&node);
    let file = only_backup(&folder);
    let whole = fs::read(&file).unwrap();
    restore_damaged(&node, &file, whole.len() / 40 + 1);
    node.databases.maintain();
    let left: Vec<_> =
        fs::read_dir(node.data.join("databases")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["shop"]);
    fs::write(&file, &whole).unwrap();
    node.restore("copy", &folder, None).unwrap();
}

#[test]
fn backups_of_one_second_do_not_take_the_names_of_each_other() {
    let node = Node::open();
    node.put("users/1", "one");
    let task = node.add_task(NIGHTLY);
    // The clock stands still.
    for number in 2..6 {
        assert!(matches!(node.run_now(task, false), OperationStatus::Completed(_)));
        node.put(&format!("users/{number}"), "more");
    }
    assert_eq!(node.files().len(), 4);
    let folder = node.place.join(node.files()[0].split_once('/').unwrap().0);
    node.restore("copy", &folder, None).unwrap();
    assert_eq!(node.documents("copy").len(), 4);
    node.run_now(task, true);
    node.run_now(task, true);
    assert_eq!(fs::read_dir(&node.place).unwrap().count(), 3);
    // Tasks of a copy wait for their next time.
    assert!(node.databases.backup_status("copy", task).unwrap().is_none());
    assert_eq!(node.databases.next_backup("copy", task).unwrap().0, Date::parse("2026-11-27T01:10:00").unwrap());
}

#[test]
fn a_clock_that_goes_back_does_not_stop_backups() {
    let node = Node::open();
    node.put("users/1", "one");
    let task = node.add_task(NIGHTLY);
    let right = node.clock.now();
    let next = |node: &Node| node.databases.next_backup("shop", task).unwrap().0.to_string();
    // The clock is wrong when the first backup is made.
    node.clock.advance(300 * 24 * 60 * MINUTE);
    assert!(next(&node).starts_with("2027-09-23T01:10"), "{}", next(&node));
    node.clock.set(right);
    assert!(next(&node).starts_with("2026-11-27T01:10"), "{}", next(&node));
    node.put("users/2", "two");
    node.clock.advance(10 * MINUTE);
    assert_eq!(node.files().len(), 2, "{:?}", node.files());
    assert!(next(&node).starts_with("2026-11-27T01:20"), "{}", next(&node));

    // The same if it was set back while the node was closed.
    node.clock.advance(300 * 24 * 60 * MINUTE);
    let Node { data, place, clock, databases, _folder } = node;
    drop(databases);
    clock.set(right);
    let databases = Databases::open(options(&data, &clock)).unwrap();
    let node = Node { data, place, clock, databases, _folder };
    assert!(next(&node).starts_with("2026-11-27T01:10"), "{}", next(&node));
}
