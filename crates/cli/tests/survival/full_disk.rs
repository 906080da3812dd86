//! A disk that is really full, in memory and as ext4: RELIABILITY.md, P12.
//!
//! A ballast lies beside the database. Clients write until there is no room, then the rest is filled too, so that not a
//! block is free: reads, kills and starts go on. When the ballast goes, so do the writes, and the server never died.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::mounts::{Kind, Mount};
use crate::process::{Server, check, tool};
use crate::run::{Run, folder, skipped};
use crate::world::{Figures, World};
use crate::writer::Habit;
use testing::random::Random;
use testing::wait::LONG;

const WRITERS: u64 = 4;
const BALLAST_SIZE: usize = 16 << 20;

/// Refusals after which a writer believes that the disk is full.
const REFUSALS: usize = 25;

#[test]
fn a_full_disk_in_memory_is_survived() {
    survive("a_full_disk_in_memory_is_survived", Kind::Memory, 64 << 20);
}

#[test]
fn a_full_disk_with_ext4_is_survived() {
    survive("a_full_disk_with_ext4_is_survived", Kind::Ext4, 80 << 20);
}

fn survive(name: &'static str, kind: Kind, size: u64) {
    let run = Run::begin(name, 1, 25);
    let mut random = Random::new(run.seed);
    let mut figures = Figures::default();
    let mut refusals = Refusals::default();
    for _ in 0..run.rounds {
        let folder = folder();
        match Mount::make(kind, size, folder.path()) {
            Ok(mount) => cycle(&mount, &mut random, &mut figures, &mut refusals),
            Err(reason) => return skipped(name, &reason),
        }
    }
    refusals.check();
    run.end(&format!("{figures}, {refusals}"));
}

fn cycle(mount: &Mount, random: &mut Random, figures: &mut Figures, refusals: &mut Refusals) {
    let data = mount.path.join("data");
    let (ballast, filler) = (mount.path.join("ballast"), mount.path.join("filler"));
    std::fs::write(&ballast, random.bytes(BALLAST_SIZE)).unwrap();
    let log = mount.log();
    let server = Server::start_logging_to(&data, &log);
    let mut world = World::create(&server, WRITERS, Habit::Fill, random);
    let spare = server.client().call("PUT", "/admin/databases?name=spare", r#"{"DatabaseName":"spare"}"#).unwrap();
    assert_eq!(spare.status, 201, "{}", spare.text());
    fill(&mut world, &server, refusals);
    fill_all(&filler);
    world.verify(&server);
    check_health(&server);
    delete_spare(&server);
    let names = create_others(&server, refusals);

    server.kill();
    check_tools_fail_cleanly(&data);
    world.restart();
    let server = Server::start_logging_to(&data, &log);
    world.verify(&server);
    check_names(&server, &names);
    fill(&mut world, &server, refusals);
    world.verify(&server);

    std::fs::remove_file(&ballast).unwrap();
    let begin = Instant::now();
    resume(&mut world, &server);
    refusals.slowest_resume = refusals.slowest_resume.max(begin.elapsed());
    world.verify(&server);
    fill(&mut world, &server, refusals);
    world.verify(&server);
    server.kill();
    world.restart();
    let server = Server::start_logging_to(&data, &log);
    world.verify(&server);
    check_names(&server, &names);
    std::fs::remove_file(&filler).unwrap();
    server.stop();
    check(&data);
    world.add_to(figures);
}

/// All clients write until each was refused often enough.
fn fill(world: &mut World, server: &Server, refusals: &mut Refusals) {
    let before: Vec<u64> = world.writers.iter().map(|writer| writer.acknowledged).collect();
    world.load_until(server, |writer| writer.refusals.len() >= REFUSALS);
    for (writer, before) in world.writers.iter_mut().zip(before) {
        assert!(
            writer.refusals.len() >= REFUSALS,
            "a writer was left in doubt after {before} changes: {}",
            server.log()
        );
        for answer in writer.refusals.drain(..) {
            refusals.note(answer.status, &answer.text());
        }
    }
}

/// Every client is served again, without a restart of the server.
fn resume(world: &mut World, server: &Server) {
    let begin = Instant::now();
    let before: Vec<u64> = world.writers.iter().map(|writer| writer.acknowledged).collect();
    let is_late = || begin.elapsed() > LONG;
    for (number, before) in before.into_iter().enumerate() {
        world.load_one(number, server, |writer| writer.acknowledged > before || is_late());
        let writer = &mut world.writers[number];
        assert!(writer.acknowledged > before, "there is space, and writes are refused: {:?}", writer.refusals.last());
        writer.refusals.clear();
    }
    assert_eq!(server.client().call("GET", "/databases/db/healthcheck", "").unwrap().status, 204);
}

/// Takes the last free block.
pub fn fill_all(path: &Path) {
    let mut file = File::create(path).unwrap();
    for size in [1 << 20, 4096, 1] {
        let zeros = vec![1; size];
        while file.write_all(&zeros).is_ok() {}
    }
}

/// The health check fails while the disk is full. `resume` checks that it passes again afterwards.
fn check_health(server: &Server) {
    let mut client = server.client();
    let large = format!("{{\"Text\":\"{}\"}}", "x".repeat(4 << 20));
    // A flush may free a little in between.
    for _ in 0..10 {
        let refused = client.call("PUT", "/databases/db/docs?id=large", &large).unwrap();
        assert!(matches!(refused.status, 503 | 507) && !refused.leaves_doubt(), "{}", refused.text());
        let health = client.call("GET", "/databases/db/healthcheck", "").unwrap();
        if health.status == 507 && health.text().contains("space") {
            return;
        }
    }
    panic!("the health check passes although the disk is full");
}

/// Whoever has no room can make some.
fn delete_spare(server: &Server) {
    let request = r#"{"DatabaseNames":["spare"],"HardDelete":true}"#;
    let answer = server.client().call("DELETE", "/admin/databases", request).unwrap();
    assert_eq!(answer.status, 200, "a database cannot be deleted while the disk is full: {}", answer.text());
}

/// Makes databases until there is no room for another, which is soon: flushes free a little. Gives those that were made.
fn create_others(server: &Server, refusals: &mut Refusals) -> Vec<String> {
    let mut client = server.client();
    let mut names = vec!["db".to_owned()];
    loop {
        let name = format!("other-{}", names.len());
        let record = format!("{{\"DatabaseName\":\"{name}\"}}");
        let answer = client.call("PUT", &format!("/admin/databases?name={name}"), &record).unwrap();
        if answer.status != 201 {
            refusals.note(answer.status, &answer.text());
            break;
        }
        names.push(name);
        assert!(names.len() < 100, "{names:?} were made where there was no room");
    }
    check_names(server, &names);
    names
}

/// What was made is there; what could not be made is not.
fn check_names(server: &Server, names: &[String]) {
    let answer = server.client().call("GET", "/databases?namesOnly=true", "").unwrap().json();
    assert_eq!(answer["Databases"], serde_json::json!(names));
    for name in names {
        let answer = server.client().call("GET", &format!("/databases/{name}/stats"), "").unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
}

/// Compaction needs room for a copy. Without, it says so and changes nothing.
fn check_tools_fail_cleanly(data: &Path) {
    let (is_content, text) = tool("compact", data);
    assert!(!is_content && text.contains("Make room"), "compacting without room: {text}");
}

/// What clients were told while there was no room.
#[derive(Default)]
struct Refusals {
    count: u64,
    /// Those that neither have the right status nor say what is missing.
    others: Vec<String>,
    slowest_resume: Duration,
}

impl Refusals {
    fn note(&mut self, status: u16, text: &str) {
        self.count += 1;
        if !matches!(status, 503 | 507) || !text.contains("space") {
            self.others.push(format!("{status} {text}"));
        }
    }

    fn check(&self) {
        let Refusals { count, others, .. } = self;
        assert!(others.len() as u64 * 100 <= *count, "{} of {count} refusals: {:?}", others.len(), others.first());
    }
}

impl std::fmt::Display for Refusals {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Refusals { count, others, slowest_resume } = self;
        write!(out, "{count} refusals, {} of them do not name space, resumed in {slowest_resume:?}", others.len())
    }
}
