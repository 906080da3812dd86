//! `kill -9` while backups are made and restored, beside writes: RELIABILITY.md, P17.
//!
//! After each kill all documents that were acknowledged are there, each file with the name of a backup can be restored, and each database
//! that a restore made is whole. What was cut off is gone, at the latest with the next backup. The database is archived meanwhile: each
//! transaction since its first snapshot can be restored, whatever was killed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use testing::random::Random;
use testing::wait::until;

use crate::client::Client;
use crate::process::{Server, check};
use crate::run::{Run, files_below, folder};

const KINDS: [&str; 2] = ["Backup", "Snapshot"];
/// Documents that are there before the first round.
const DOCUMENTS: u64 = 400;

/// A node whose database has a task of each kind.
pub struct World {
    data: PathBuf,
    /// The folder and the id of each task.
    pub tasks: Vec<(PathBuf, u64)>,
    /// Documents `doc/0` up to this one were acknowledged.
    acknowledged: AtomicU64,
    /// Restored databases, backups and kills in the middle of one that were seen.
    restored: u64,
    verified: u64,
    /// Transactions of the archive that were restored.
    replayed: u64,
    cut_off: u64,
}

#[test]
fn backups_and_restores_outlive_kills() {
    let run = Run::begin("backups_and_restores_outlive_kills", 10, 200);
    let mut random = Random::new(run.seed);
    let folder = folder();
    let data = folder.path().join("data");
    let mut server = Server::start(&data);
    let mut world = World::create(&server, folder.path(), &data);
    for round in 0..run.rounds {
        let moment = Duration::from_millis(random.below(400));
        world.work(&server, round, &mut random, moment);
        server.kill();
        world.cut_off += world.partial_files().len() as u64;
        server = Server::start(&data);
        world.verify(&server, &mut random);
    }
    // A backup of each task that ends leaves nothing of those that did not.
    for (_, task) in &world.tasks {
        world.back_up(&mut server.client(), *task, true);
    }
    world.verify_end_of_archive(&server);
    assert_eq!(world.partial_files(), Vec::<PathBuf>::new(), "what was cut off is still there");
    server.stop();
    check(&data);
    let World { restored, verified, replayed, cut_off, .. } = world;
    run.end(&format!(
        "{verified} backups verified, {replayed} transactions of the archive, {restored} databases restored, {cut_off} files cut off"
    ));
}

/// The answer to a request that succeeds.
#[track_caller]
pub fn call(client: &mut Client, method: &str, target: &str, body: &Value) -> Value {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let answer = client.call(method, target, &body).unwrap();
    assert!(matches!(answer.status, 200..=299), "{method} {target}: {} {}", answer.status, answer.text());
    answer.json()
}

/// Waits for the end of an operation.
#[track_caller]
pub fn wait(client: &mut Client, path: &str, started: &Value) -> Value {
    let target = format!("{path}?id={}", started["OperationId"]);
    until(|| {
        let state = call(client, "GET", &target, &Value::Null);
        if state["Status"] == "InProgress" { Err(state) } else { Ok(state) }
    })
}

impl World {
    pub fn create(server: &Server, folder: &Path, data: &Path) -> World {
        let mut client = server.client();
        call(&mut client, "PUT", "/admin/databases?name=db", &json!({"DatabaseName": "db"}));
        let mut world = World {
            data: data.to_owned(),
            tasks: Vec::new(),
            acknowledged: AtomicU64::new(0),
            restored: 0,
            verified: 0,
            replayed: 0,
            cut_off: 0,
        };
        while world.acknowledged.load(Ordering::Relaxed) < DOCUMENTS {
            world.put(&mut client).unwrap();
        }
        // The archive begins with a snapshot at once: all states that can be restored have the documents.
        let tasks = KINDS.map(|kind| {
            let place = folder.join(kind);
            let is_archived = kind == "Snapshot";
            let task = json!({"Name": kind, "BackupType": kind, "PointInTime": is_archived, "FullBackupFrequency": "0 2 1 1 *",
                "LocalSettings": {"FolderPath": place}});
            let made = call(&mut client, "POST", "/databases/db/admin/periodic-backup", &task);
            (place, made["TaskId"].as_u64().unwrap())
        });
        world.tasks = tasks.into();
        world
    }

    /// Writes the next document; it counts once it is acknowledged.
    pub fn put(&self, client: &mut Client) -> Result<(), String> {
        let number = self.acknowledged.load(Ordering::Relaxed);
        let document = json!({"Number": number, "Text": "text ".repeat(200), "@metadata": {"@collection": "Docs"}});
        match client.call("PUT", &format!("/databases/db/docs?id=doc/{number}"), &document.to_string()) {
            Ok(answer) if answer.status == 201 => {
                self.acknowledged.store(number + 1, Ordering::Relaxed);
                Ok(())
            }
            Ok(answer) => Err(answer.text()),
            Err(error) => Err(error.to_string()),
        }
    }

    pub fn back_up(&self, client: &mut Client, task: u64, is_full: bool) {
        let target = format!("/databases/db/admin/backup/database?taskId={task}&isFullBackup={is_full}");
        let started = call(client, "POST", &target, &Value::Null);
        let state = wait(client, "/databases/db/operations/state", &started);
        assert_eq!(state["Status"], "Completed", "{state}");
    }

    /// Makes backups and restores them beside writes, until the server is killed.
    fn work(&self, server: &Server, round: u64, random: &mut Random, moment: Duration) {
        let is_killed = AtomicBool::new(false);
        let (place, task) = random.of(&self.tasks).clone();
        let (is_full, restores) = (random.chance(2), random.chance(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut client = server.client();
                while self.put(&mut client).is_ok() {}
            });
            // What it has begun when the server dies fails, and that is expected.
            scope.spawn(|| {
                let mut client = server.client();
                let start = format!("/databases/db/admin/backup/database?taskId={task}&isFullBackup={is_full}");
                while !is_killed.load(Ordering::Relaxed) {
                    let Ok(_) = client.call("POST", &start, "") else { return };
                    if restores && let Some(point) = newest(&mut client, &place) {
                        let request = restore_of(&point, &format!("copy{round}"));
                        let _ = client.call("POST", "/admin/restore/database", &request.to_string());
                    }
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
            std::thread::sleep(moment);
            server.kill_now();
            is_killed.store(true, Ordering::Relaxed);
        });
    }

    pub fn verify(&mut self, server: &Server, random: &mut Random) {
        let mut client = server.client();
        let acknowledged = *self.acknowledged.get_mut();
        // One that was not answered may be there.
        let possible = acknowledged..=acknowledged + 1;
        let count = count_of(&mut client, "db");
        assert!(possible.contains(&count), "{count} documents are there, {acknowledged} were acknowledged");
        *self.acknowledged.get_mut() = count;
        for (place, _) in &self.tasks {
            let Some(point) = newest(&mut client, place) else { continue };
            let started = call(&mut client, "POST", "/admin/restore/verify", &restore_of(&point, "verify"));
            let state = wait(&mut client, "/operations/state", &started);
            assert_eq!(state["Status"], "Completed", "{point}: {state}");
            self.verified += 1;
        }
        self.verify_archive(&mut client, random);
        self.verify_databases(&mut client);
    }

    /// Each database that a restore made is whole; it is deleted then. Nothing else is there.
    pub fn verify_databases(&mut self, client: &mut Client) {
        let names = call(client, "GET", "/databases?namesOnly=true", &Value::Null);
        for name in names["Databases"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()) {
            if name == "db" {
                continue;
            }
            // A part of a restore would be fewer, or have gaps.
            let count = count_of(client, name);
            let last = call(client, "GET", &format!("/databases/{name}/docs?id=doc/{}", count - 1), &Value::Null);
            assert_eq!(last["Results"][0]["Number"], count - 1, "'{name}' has gaps");
            assert!(count >= DOCUMENTS, "'{name}' has {count} documents");
            self.restored += 1;
            call(client, "DELETE", "/admin/databases", &json!({"DatabaseNames": [name], "HardDelete": true}));
        }
        let folders = std::fs::read_dir(self.data.join("databases")).unwrap();
        let folders: Vec<_> = folders.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(folders, ["db"], "half a database is left");
    }

    /// Restores a transaction of the archive at random, as far as it has come.
    fn verify_archive(&mut self, client: &mut Client, random: &mut Random) {
        let (place, _) = &self.tasks[1];
        let Some(archive) = archives(client, place).into_iter().next() else { return };
        let [first, last] = ["FirstTransaction", "LastTransaction"].map(|name| archive[name].as_u64().unwrap());
        let transaction = first + random.below(last - first + 1);
        let (state, documents) = restore_transaction(client, place, transaction);
        assert_eq!(state["Status"], "Completed", "transaction {transaction} of {archive}: {state}");
        let written = self.acknowledged.load(Ordering::Relaxed);
        assert!(documents <= written, "transaction {transaction} of {archive} has {documents} of {written} documents");
        self.replayed += 1;
    }

    /// Waits until the archive has all that was acknowledged, and restores that.
    pub fn verify_end_of_archive(&self, server: &Server) {
        let mut client = server.client();
        let (place, task) = &self.tasks[1];
        let target = format!("/periodic-backup/status?name=db&taskId={task}");
        let last = until(|| {
            let archive = call(&mut client, "GET", &target, &Value::Null)["Archive"].clone();
            let is_complete = archive["IsBehind"] == false && archive["Folder"] != Value::Null;
            if is_complete { Ok(archive["LastTransaction"].as_u64().unwrap()) } else { Err(archive) }
        });
        let (state, documents) = restore_transaction(&mut client, place, last);
        assert_eq!(state["Status"], "Completed", "{state}");
        assert_eq!(documents, self.acknowledged.load(Ordering::Relaxed), "the archive lacks what was acknowledged");
    }

    pub fn partial_files(&self) -> Vec<PathBuf> {
        let all = self.tasks.iter().flat_map(|(place, _)| files_below(place));
        all.filter(|file| file.to_string_lossy().ends_with(".partial")).collect()
    }
}

fn count_of(client: &mut Client, name: &str) -> u64 {
    call(client, "GET", &format!("/databases/{name}/stats"), &Value::Null)["CountOfDocuments"].as_u64().unwrap()
}

/// The newest state that can be restored from a folder.
pub fn newest(client: &mut Client, place: &Path) -> Option<Value> {
    let body = json!({"FolderPath": place}).to_string();
    let answer =
        client.call("POST", "/admin/restore/points?type=Local", &body).ok().filter(|answer| answer.status == 200)?;
    answer.json()["List"].as_array()?.first().cloned()
}

/// The archives of a folder, the newest first.
fn archives(client: &mut Client, place: &Path) -> Vec<Value> {
    if !place.exists() {
        // The first backup was cut off before it made the folder.
        return Vec::new();
    }
    let list = call(client, "POST", "/admin/restore/points?type=Local", &json!({"FolderPath": place}));
    list["Archives"].as_array().unwrap().clone()
}

/// Restores a transaction, for a look at it; gives the state of the operation, and the number of documents.
fn restore_transaction(client: &mut Client, place: &Path, transaction: u64) -> (Value, u64) {
    let request = json!({"DatabaseName": "verify", "BackupLocation": place, "RestoreUntilTransaction": transaction});
    let started = call(client, "POST", "/admin/restore/verify", &request);
    let state = wait(client, "/operations/state", &started);
    let documents = state["Result"]["Documents"]["ReadCount"].as_u64().unwrap_or_default();
    (state, documents)
}

pub fn restore_of(point: &Value, name: &str) -> Value {
    json!({"Type": "Local", "DatabaseName": name, "BackupLocation": point["Location"], "LastFileNameToRestore": point["FileName"],
        "DisableOngoingTasks": true})
}
