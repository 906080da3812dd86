//! `kill -9` under load, at times again while the server recovers: RELIABILITY.md, P1 to P6.
//!
//! This says nothing about flushes, because the system still has what a killed process wrote: see `power_cut`.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::client::Client;
use crate::process::{Server, check, start_and_kill};
use crate::run::{Run, files_below, folder};
use crate::world::{Figures, World};
use crate::writer::{Habit, with_metadata};
use testing::random::Random;

const WRITERS: u64 = 9;
const HABIT: Habit = Habit::Mixed { documents: 300 };

/// Rounds on one folder; then another begins, so that young and small databases are killed too.
const ROUNDS_PER_FOLDER: u64 = 50;

#[test]
fn what_was_acknowledged_outlives_kills() {
    let run = Run::begin("what_was_acknowledged_outlives_kills", 12, 1000);
    let mut random = Random::new(run.seed);
    let mut figures = Figures::default();
    let mut restarts = Restarts::default();
    let mut rounds_left = run.rounds;
    while rounds_left > 0 {
        let rounds = rounds_left.min(ROUNDS_PER_FOLDER);
        rounds_left -= rounds;
        let folder = folder();
        kill_repeatedly(&folder.path().join("data"), rounds, &mut random, &mut figures, &mut restarts);
    }
    run.end(&format!("{figures}, {restarts}"));
}

/// Who tests the test: what nobody was told of is seen, whatever it is.
#[test]
fn a_ledger_sees_what_is_lost_changed_or_made_up() {
    fn put(client: &mut Client, id: &str, text: &str) -> u16 {
        client.call("PUT", &format!("/databases/db/docs?id={id}"), &with_metadata(text)).unwrap().status
    }
    type Plant = fn(&mut Client, id: &str, text: &str) -> u16;
    let plants: [(&str, Plant); 5] = [
        ("lost", |client, id, _| client.call("DELETE", &format!("/databases/db/docs?id={id}"), "").unwrap().status),
        ("changed", |client, id, _| put(client, id, r#"{"Changed":1}"#)),
        ("written again", put),
        ("made up", |client, _, text| put(client, "made/up", text)),
        ("a part of a transfer", |client, _, _| put(client, "accounts/03", r#"{"Balance":1001,"Transfer":0}"#)),
    ];
    let folder = folder();
    for (name, plant) in plants {
        let server = Server::start(&folder.path().join(name));
        let mut world = World::create(&server, 1, HABIT, &mut Random::new(1));
        world.load_one(0, &server, |writer| writer.acknowledged > 100);
        world.verify(&server);
        let kept = world.writers[0].kept.iter().find_map(|(id, stored)| Some((id.clone(), stored.clone()?.text)));
        let (id, text) = kept.expect("not all were deleted");
        assert!(matches!(plant(&mut server.client(), &id, &text), 201 | 204));
        let seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.verify(&server)));
        assert!(seen.is_err(), "{id} is {name}, and nobody sees it");
    }
}

fn kill_repeatedly(data: &Path, rounds: u64, random: &mut Random, figures: &mut Figures, restarts: &mut Restarts) {
    let mut server = Server::start(data);
    let mut world = World::create(&server, WRITERS, HABIT, random);
    let load_ms_max = if rounds < ROUNDS_PER_FOLDER { 500 } else { 1500 };
    for _ in 0..rounds {
        let moment = Duration::from_millis(random.below(load_ms_max));
        world.load(&server, || {
            std::thread::sleep(moment);
            server.kill_now();
        });
        server.kill();
        world.restart();
        while random.chance(3) {
            start_and_kill(data, Duration::from_micros(random.below(restarts.longest.as_micros() as u64 + 20_000)));
            restarts.interrupted += 1;
        }
        server = restarts.measure(data);
        world.verify(&server);
    }
    // It ends well too, and then nothing has to be recovered.
    server.stop();
    world.restart();
    server = Server::start(data);
    world.verify(&server);
    assert!(!server.stop().contains("recovered"), "something was left to recover after a clean stop");
    check(data);
    assert_eq!(world.refused_reads.load(Ordering::Relaxed), 0, "reads were refused by a server that was well");
    world.add_to(figures);
}

/// How long starting took, until the database answers.
#[derive(Default)]
struct Restarts {
    longest: Duration,
    /// Of the journals before the longest.
    journal_size: u64,
    /// Those that were killed.
    interrupted: u64,
}

impl Restarts {
    fn measure(&mut self, data: &Path) -> Server {
        let journals = files_below(data).into_iter().filter(|path| path.to_string_lossy().contains("journal-"));
        let journal_size = journals.map(|path| path.metadata().map_or(0, |data| data.len())).sum();
        let server = Server::start(data);
        let answer = server.client().call("GET", "/databases/db/stats", "").unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        let age = server.age();
        if age > self.longest {
            (self.longest, self.journal_size) = (age, journal_size);
        }
        server
    }
}

impl std::fmt::Display for Restarts {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (ms, mb) = (self.longest.as_millis(), self.journal_size >> 20);
        write!(out, "{} kills during a start, longest start {ms} ms with {mb} MB of journals", self.interrupted)
    }
}
