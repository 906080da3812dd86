//! Backups with several places: what becomes of the others when one of them fails, and of that one when it is there again.

use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rookery_database::backups::{
    Archive, Contents, Destination, DestinationError, DestinationSettings, FolderDestination, IsEnded, OpenDestination,
    RestorePoint, RestoreRequest, StoredFile, Until,
};
use rookery_database::{Clock, Error, Operation, OperationStatus, Result};

use testing::wait::{until, until_equal, until_true};

use crate::backups::{MINUTE, NIGHTLY, Node, request, value};

/// A store that is a folder and fails as the tests want it.
#[derive(Clone)]
struct Store {
    folder: PathBuf,
    /// Fails at everything.
    is_down: Arc<AtomicBool>,
    /// Takes no backups.
    is_full: Arc<AtomicBool>,
    /// Does not answer whoever stores a file.
    hangs: Arc<AtomicBool>,
    /// How many wait for such an answer, or have.
    waited: Arc<AtomicUsize>,
    is_ended: IsEnded,
    /// The folders that were listed or looked into.
    listed: Arc<Mutex<Vec<String>>>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Store {
    fn new(folder: &Path) -> Store {
        let (is_down, is_full, hangs, waited, listed) = Default::default();
        Store { folder: folder.to_owned(), is_down, is_full, hangs, waited, is_ended: Arc::new(|| false), listed }
    }

    fn check(&self, is_refused: bool, operation: &'static str, path: &str) -> Result<FolderDestination> {
        if is_refused || self.is_down.load(Ordering::Relaxed) {
            let (path, reason) = (path.to_owned(), "the store is down".to_owned());
            return Err(Error::Destination(DestinationError { operation, path, place: self.place(), reason }));
        }
        Ok(FolderDestination::new(&self.folder))
    }

    /// The names of the backups, sorted.
    fn backups(&self) -> Vec<String> {
        names_in(&self.folder)
    }
}

impl OpenDestination for Store {
    fn open(&self, _: &DestinationSettings) -> Result<Arc<dyn Destination>> {
        Ok(Arc::new(self.clone()))
    }
}

impl Destination for Store {
    fn place(&self) -> String {
        "the store".to_owned()
    }

    fn put(&self, path: &str, file: &mut File, size: u64, sent: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        if self.hangs.load(Ordering::Relaxed) {
            self.waited.fetch_add(1, Ordering::Relaxed);
            until_true("the operation is killed", || (self.is_ended)());
            return Err(Error::Canceled);
        }
        let is_refused = self.is_full.load(Ordering::Relaxed) && path.ends_with("backup");
        self.check(is_refused, "store", path)?.put(path, file, size, sent)
    }

    fn list(&self, folder: &str) -> Result<Vec<StoredFile>> {
        self.listed.lock().unwrap().push(folder.to_owned());
        self.check(false, "list", folder)?.list(folder)
    }

    fn look_into(&self, folder: &str) -> Result<Contents> {
        self.listed.lock().unwrap().push(folder.to_owned());
        self.check(false, "list", folder)?.look_into(folder)
    }

    fn get(&self, path: &str) -> Result<Box<dyn Read + Send>> {
        self.check(false, "read", path)?.get(path)
    }

    fn remove(&self, path: &str) -> Result<()> {
        self.check(false, "remove", path)?.remove(path)
    }

    fn ending_when(&self, is_ended: IsEnded) -> Arc<dyn Destination> {
        Arc::new(Store { is_ended, ..self.clone() })
    }
}

fn names_in(place: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        RestorePoint::all(&FolderDestination::new(place)).unwrap().into_iter().map(|point| point.file).collect();
    names.sort();
    names
}

/// A node whose task writes into a folder and a store.
fn node(more: &str) -> (Node, Store, u64) {
    node_with(false, more)
}

/// * `is_down`: whether the store is away when the task is made.
fn node_with(is_down: bool, more: &str) -> (Node, Store, u64) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(&folder.keep().join("store"));
    store.is_down.store(is_down, Ordering::Relaxed);
    let node = Node::open_with(|options| options.destinations = Arc::new(store.clone()));
    node.put("users/1", "one");
    let task = node.add_task(&format!(r#""S3Settings":{{"BucketName":"b"}},{more}"#));
    (node, store, task)
}

fn failure(status: &OperationStatus) -> String {
    match status {
        OperationStatus::Faulted(error) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

/// Restores a copy whose tasks do not run; gives its documents.
fn restored(node: &Node, name: &str, folder: &Path) -> Vec<String> {
    let request = RestoreRequest { disables_tasks: true, ..request(name, folder, None) };
    node.databases.restore(None, request).unwrap().run().unwrap();
    node.documents(name)
}

/// The folder of the only chain.
fn chain(place: &Path) -> PathBuf {
    let mut folders = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path());
    let folder = folders.next().unwrap();
    assert_eq!(folders.next(), None);
    folder
}

#[test]
fn a_store_that_is_away_gets_what_it_lacks_when_it_is_back() {
    let (node, store, task) = node(NIGHTLY);
    store.is_down.store(true, Ordering::Relaxed);
    assert!(failure(&node.run_now(task, true)).contains("the store is down"));
    let status = node.databases.backup_status("shop", task).unwrap().unwrap();
    assert!(status.error.unwrap().0.contains("the store is down") && status.last_full.is_some());
    assert_eq!(restored(&node, "one", &chain(&node.place)), ["users/1=one"]);
    // It is not tried again before its time with a file that has the same as the one that is there, and no other full one is made.
    node.clock.advance(9 * MINUTE);
    assert_eq!(names_in(&node.place).len(), 1);
    node.put("users/2", "two");
    node.clock.advance(2 * MINUTE);
    node.put("users/3", "three");
    node.clock.advance(10 * MINUTE);
    let names = names_in(&node.place);
    assert_eq!((names.len(), store.backups().len()), (3, 0), "{names:?}");
    assert!(node.databases.backup_status("shop", task).unwrap().unwrap().error.is_some());
    store.is_down.store(false, Ordering::Relaxed);
    // Nothing has changed, and the store lacks all of it.
    assert!(matches!(node.run_now(task, false), OperationStatus::Completed(_)));
    assert_eq!(store.backups(), names);
    assert!(node.databases.backup_status("shop", task).unwrap().unwrap().error.is_none());
    node.put("users/4", "four");
    assert!(matches!(node.run_now(task, false), OperationStatus::Completed(_)));
    for (name, place) in [("two", &node.place), ("three", &store.folder)] {
        assert_eq!(restored(&node, name, &chain(place)).len(), 4);
    }
    // Both folders say who made them.
    let marks = |place: &Path| {
        let names = fs::read_dir(chain(place)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".rookery-task")).collect::<Vec<_>>()
    };
    assert!(marks(&node.place).len() == 1 && marks(&node.place) == marks(&store.folder));
}

#[test]
fn a_folder_that_fails_does_not_keep_the_store_from_the_backup() {
    let (node, store, task) = node(NIGHTLY);
    // The folder is a file.
    fs::write(&node.place, "x").unwrap();
    failure(&node.run_now(task, true));
    assert_eq!(store.backups().len(), 1);
    assert!(node.databases.backup_status("shop", task).unwrap().unwrap().local_folder.is_none());
    assert_eq!(restored(&node, "one", &chain(&store.folder)), ["users/1=one"]);
    fs::remove_file(&node.place).unwrap();
    node.put("users/2", "two");
    node.clock.advance(MINUTE);
    assert!(matches!(node.run_now(task, false), OperationStatus::Completed(_)));
    assert!(!node.databases.backup_status("shop", task).unwrap().unwrap().is_full);
    assert_eq!((names_in(&node.place).len(), names_in(&node.place)), (2, store.backups()));
    assert_eq!(restored(&node, "two", &chain(&node.place)).len(), 2);
}

#[test]
fn a_place_with_a_file_that_the_others_lack_begins_another_chain() {
    let (node, store, task) = node(NIGHTLY);
    assert!(matches!(node.run_now(task, true), OperationStatus::Completed(_)));
    // As after a crash between the places.
    let more = chain(&store.folder).join("2026-11-27-01-00-30.ravendb-incremental-backup");
    fs::write(more, "x").unwrap();
    node.put("users/2", "two");
    node.clock.advance(MINUTE);
    assert!(matches!(node.run_now(task, false), OperationStatus::Completed(_)));
    assert!(node.databases.backup_status("shop", task).unwrap().unwrap().is_full);
}

#[test]
fn nothing_is_left_where_a_backup_failed() {
    let (node, store, task) = node(NIGHTLY);
    store.is_full.store(true, Ordering::Relaxed);
    failure(&node.run_now(task, true));
    assert_eq!(names_in(&node.place).len(), 1);
    assert_eq!(fs::read_dir(&store.folder).unwrap().count(), 0);
    // Nor if all of them fail.
    fs::remove_dir_all(&node.place).unwrap();
    fs::write(&node.place, "x").unwrap();
    node.clock.advance(MINUTE);
    failure(&node.run_now(task, true));
    assert_eq!(fs::read_dir(&store.folder).unwrap().count(), 0);
    let spooled = fs::read_dir(node.data.join("backups-in-progress")).unwrap().count();
    assert_eq!(spooled, 0);
}

/// A snapshot that its archive cannot begin with is made again soon: it does not stay, or they would fill the folder.
#[test]
fn the_first_snapshot_of_an_archive_is_in_all_places_or_in_none() {
    let archived = r#""FullBackupFrequency":"0 2 * * *","BackupType":"Snapshot","PointInTime":true"#;
    let (node, store, task) = node_with(true, archived);
    failure(&node.run_now(task, true));
    assert_eq!(names_in(&node.place).len(), 0);
    store.is_down.store(false, Ordering::Relaxed);
    node.clock.advance(MINUTE);
    assert!(matches!(node.run_now(task, true), OperationStatus::Completed(_)));
    assert!(!names_in(&node.place).is_empty() && names_in(&node.place) == store.backups());
    // Once it has begun, the folder has its snapshots although the store is away.
    let before = names_in(&node.place).len();
    store.is_down.store(true, Ordering::Relaxed);
    node.clock.advance(Duration::from_secs(2));
    failure(&node.run_now(task, true));
    assert_eq!(names_in(&node.place).len(), before + 1);
}

/// More databases than write backups at once wait for a store that does not answer.
#[test]
fn a_store_that_hangs_holds_up_its_own_backups_alone_and_a_kill_ends_them() {
    let (node, store, _) = node(NIGHTLY);
    let begin = |name: &str, place: &str| -> Arc<Operation> {
        node.databases.find_or_create(name).unwrap();
        let task = value(&format!(r#"{{"Name":"nightly",{place},{NIGHTLY}}}"#));
        let (_, id) = node.databases.put_backup_task(name, &task, None).unwrap();
        node.databases.begin_backup_of_task(name, id, true).unwrap().operation
    };
    let end = |operation: &Operation| {
        until(|| match operation.status() {
            OperationStatus::InProgress => Err("the operation is in progress"),
            ended => Ok(ended),
        })
    };
    store.hangs.store(true, Ordering::Relaxed);
    let hanging: Vec<Arc<Operation>> =
        ["one", "two", "three"].iter().map(|name| begin(name, r#""S3Settings":{"BucketName":"b"}"#)).collect();
    until_equal(|| store.waited.load(Ordering::Relaxed), hanging.len());
    let place = node.place.join("four");
    let local = begin("four", &format!(r#""LocalSettings":{{"FolderPath":"{}"}}"#, place.display()));
    assert!(matches!(end(&local), OperationStatus::Completed(_)));
    assert_eq!(names_in(&place).len(), 1);
    for operation in &hanging {
        assert!(matches!(operation.status(), OperationStatus::InProgress));
        operation.kill();
        assert!(matches!(end(operation), OperationStatus::Canceled));
    }
}

/// An archive has thousands of files a day.
#[test]
fn who_looks_for_backups_does_not_go_through_archives_nor_through_those_of_others() {
    let archived = r#""FullBackupFrequency":"0 2 * * *","BackupType":"Snapshot","PointInTime":true,
        "RetentionPolicy":{"MinimumBackupAgeToKeep":"1.00:00:00"}"#;
    let (node, store, task) = node_with(false, archived);
    let of_others =
        ["2026-11-27-01-00-00.ravendb-Other-A-backup", "2026-11-27-01-00-00.rookery-Other-A-archive-0000000000000001"];
    for folder in of_others {
        fs::create_dir_all(store.folder.join(folder)).unwrap();
    }
    assert!(matches!(node.run_now(task, true), OperationStatus::Completed(_)));
    node.put("users/2", "two");
    node.clock.advance(MINUTE);
    let is_archive = |name: &String| name.contains("-archive-");
    let own = |listed: &[String]| !listed.iter().any(|name| name.contains("-Other-"));
    let listed = || std::mem::take(&mut *store.listed.lock().unwrap());
    let of_backups = listed();
    // Of its own archive, which is cleaned.
    assert!(of_backups.iter().any(is_archive) && own(&of_backups), "{of_backups:?}");
    assert_eq!(RestorePoint::all(&store).unwrap().len(), 1);
    let of_points = listed();
    assert!(!of_points.is_empty() && !of_points.iter().any(is_archive), "{of_points:?}");
}

/// A base a day, and no retention: how many days a restore and the cleaning list does not grow with the archive.
#[test]
fn an_archive_of_many_days_is_read_where_it_is_needed() {
    const DAYS: u32 = 20;
    let day = 24 * 60 * MINUTE;
    let archived = r#""FullBackupFrequency":"0 2 * * *","BackupType":"Snapshot","PointInTime":true"#;
    let (node, store, task) = node_with(false, archived);
    assert!(matches!(node.run_now(task, true), OperationStatus::Completed(_)));
    let mut states = Vec::new();
    for number in 0..DAYS {
        node.put(&format!("users/{number}"), "text");
        // The archive catches up, and the snapshot of the day is made.
        node.clock.advance(MINUTE);
        states.push((node.clock.now(), node.documents("shop")));
        node.clock.advance(day - MINUTE);
    }
    let looked_at = || {
        let mut listed = std::mem::take(&mut *store.listed.lock().unwrap());
        let is_day = |path: &str| path.rsplit_once('/').is_some_and(|(history, _)| history.contains("-archive-"));
        listed.retain(|path| is_day(path));
        listed.len()
    };
    looked_at();
    assert!(matches!(node.run_now(task, true), OperationStatus::Completed(_)));
    assert_eq!(looked_at(), 2, "to clean where nothing is old, the days of the first base and the next");
    for (time, documents) in [&states[0], &states[11], &states[DAYS as usize - 1]] {
        let source = Arc::new(store.clone());
        let request = RestoreRequest {
            source,
            until: Some(Until::Time(*time)),
            disables_tasks: true,
            ..request("copy", &node.place, None)
        };
        node.databases.restore(None, request).unwrap().run().unwrap();
        assert_eq!(node.documents("copy"), *documents);
        node.databases.delete(&["copy"], true, None).unwrap();
        let count = looked_at();
        assert!((1..=3).contains(&count), "{count} of {DAYS} days were listed");
    }
    // Where it ends, and whether it has a gap, all of it tells.
    let archives = Archive::all(&store).unwrap();
    let last = node.databases.find("shop").unwrap().documents().environment().last_transaction().0;
    assert_eq!((archives.len(), archives[0].last), (1, last));
    assert_eq!(looked_at(), DAYS as usize);
}
