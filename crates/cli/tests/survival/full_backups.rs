//! Disks that are really full while backups are made, archived and restored, and while a dump is imported: RELIABILITY.md, P12 and P17.
//!
//! What has no room fails and says so; the documents are served and written meanwhile where they have room. When there is room again, the
//! next try succeeds, nothing that was acknowledged is missing, and nothing is left of what failed.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use testing::random::Random;

use crate::backups::{World, call, newest, restore_of, wait};
use crate::full_disk::fill_all;
use crate::mounts::{Kind, Mount};
use crate::process::{Server, check};
use crate::run::{Run, folder, skipped};

/// Documents that are written while the disk of the backups is full: more than fits into the last page of a file there.
const DOCUMENTS_MEANWHILE: u64 = 200;
/// Of each file of a dump, so that an import finds no room soon.
const TEXT_SIZE: usize = 64 << 10;
const DUMPED: u64 = 600;

#[test]
fn a_full_disk_of_backups_is_survived() {
    let name = "a_full_disk_of_backups_is_survived";
    let run = Run::begin(name, 2, 25);
    let mut random = Random::new(run.seed);
    let mut failures = 0;
    for _ in 0..run.rounds {
        let folder = folder();
        match Mount::make(*random.of(&[Kind::Memory, Kind::Ext4]), 48 << 20, folder.path()) {
            Ok(mount) => failures += full_place(&mount, folder.path(), &mut random),
            Err(reason) => return skipped(name, &reason),
        }
    }
    run.end(&format!("{failures} backups had no room"));
}

#[test]
fn a_restore_and_an_import_without_room_leave_nothing() {
    let name = "a_restore_and_an_import_without_room_leave_nothing";
    let run = Run::begin(name, 2, 25);
    let mut random = Random::new(run.seed);
    for _ in 0..run.rounds {
        let folder = folder();
        match Mount::make(*random.of(&[Kind::Memory, Kind::Ext4]), 128 << 20, folder.path()) {
            Ok(mount) => full_data(&mount, folder.path(), &mut random),
            Err(reason) => return skipped(name, &reason),
        }
    }
    run.end("each restore and import failed without room, and succeeded with it");
}

/// The backups have no room, the documents have. Gives how many failed.
fn full_place(mount: &Mount, folder: &Path, random: &mut Random) -> u64 {
    let data = folder.join("data");
    let mut server = Server::start(&data);
    let mut world = World::create(&server, &mount.path, &data);
    let filler = mount.path.join("filler");
    for (_, task) in world.tasks.clone() {
        world.back_up(&mut server.client(), task, true);
    }
    fill_all(&filler);
    let mut failures = 0;
    for (_, task) in world.tasks.clone() {
        let mut client = server.client();
        (0..DOCUMENTS_MEANWHILE).for_each(|_| world.put(&mut client).unwrap());
        let start = format!("/databases/db/admin/backup/database?taskId={task}&isFullBackup={}", random.chance(2));
        let started = call(&mut client, "POST", &start, &Value::Null);
        check_no_room(&wait(&mut client, "/databases/db/operations/state", &started));
        failures += 1;
    }
    if random.chance(2) {
        server.kill();
        server = Server::start(&data);
    }
    std::fs::remove_file(&filler).unwrap();
    let mut client = server.client();
    for (_, task) in world.tasks.clone() {
        world.back_up(&mut client, task, true);
    }
    world.verify(&server, random);
    world.verify_end_of_archive(&server);
    assert_eq!(world.partial_files(), Vec::<PathBuf>::new(), "what had no room is still there");
    server.stop();
    check(&data);
    failures
}

/// The databases have no room, the backups and the dump have.
fn full_data(mount: &Mount, folder: &Path, random: &mut Random) {
    let data = mount.path.join("data");
    let mut server = Server::start_logging_to(&data, &mount.log());
    let mut world = World::create(&server, folder, &data);
    let dump = folder.join("more.ravendbdump");
    write_dump(&dump);
    for (_, task) in world.tasks.clone() {
        world.back_up(&mut server.client(), task, true);
    }
    fill_all(&mount.path.join("filler"));
    let mut client = server.client();
    let points: Vec<Value> = world.tasks.iter().map(|(place, _)| newest(&mut client, place).unwrap()).collect();
    for point in &points {
        let started = call(&mut client, "POST", "/admin/restore/database", &restore_of(point, "copy"));
        check_no_room(&wait(&mut client, "/operations/state", &started));
    }
    let (is_content, text) = import(&server, &dump);
    assert!(!is_content && text.contains("space"), "an import without room: {text}");
    world.verify_databases(&mut client);
    if random.chance(2) {
        server.kill();
        server = Server::start_logging_to(&data, &mount.log());
        client = server.client();
        world.verify_databases(&mut client);
    }
    std::fs::remove_file(mount.path.join("filler")).unwrap();
    for (number, point) in points.iter().enumerate() {
        let started =
            call(&mut client, "POST", "/admin/restore/database", &restore_of(point, &format!("copy{number}")));
        let state = wait(&mut client, "/operations/state", &started);
        assert_eq!(state["Status"], "Completed", "{state}");
    }
    world.verify_databases(&mut client);
    let (is_content, text) = import(&server, &dump);
    assert!(is_content, "an import with room: {text}");
    let answer = call(&mut client, "GET", &format!("/databases/db/docs?id=more/{}", DUMPED - 1), &Value::Null);
    assert_eq!(answer["Results"][0]["Number"], DUMPED - 1);
    server.stop();
    check(&data);
}

/// An operation ended because of the disk, and says so.
#[track_caller]
fn check_no_room(state: &Value) {
    assert_eq!(state["Status"], "Faulted", "{state}");
    let text = state["Result"].to_string();
    assert!(text.contains("space") || text.contains("room"), "{state}");
}

/// Documents `more/0` and so on, in the form that RavenDB exports.
fn write_dump(path: &Path) {
    let mut file = File::create(path).unwrap();
    file.write_all(br#"{"BuildVersion":71005,"Docs":["#).unwrap();
    let text = "text ".repeat(TEXT_SIZE / 5);
    for number in 0..DUMPED {
        let separator = if number == 0 { "" } else { "," };
        let document = json!({"Number": number, "Text": text, "@metadata": {"@collection": "More", "@id": format!("more/{number}")}});
        write!(file, "{separator}{document}").unwrap();
    }
    file.write_all(b"]}").unwrap();
}

/// Whether the program was content, and what it printed.
fn import(server: &Server, dump: &Path) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rookery"));
    command.args(["import", "--url", &format!("http://{}", server.address), "-d", "db"]).arg(dump);
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), text)
}
