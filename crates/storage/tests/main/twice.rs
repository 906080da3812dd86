//! Two crashes: one in a flush that has transactions behind its target, and another in the flush after the recovery.

use crate::crash_support::interrupted::{Interrupted, crash_again_and_again};
use crate::crash_support::{Counts, Outcome, check, recover};
use crate::model_support::{self, FOLDER, Model, find_structures, make_structures};
use std::io::ErrorKind;
use std::path::Path;
use storage::Environment;
use storage::io::Io;
use storage::io::simulated::{Fate, Fault, Operation, SimulatedIo};
use testing::seeds::{each_seed, seeds};

const KEYS: u32 = 600;

fn key(number: u32) -> Vec<u8> {
    format!("users/{number:06}").into_bytes()
}

/// Puts one value under all keys: more pages change than one sector of an intent names.
fn fill(environment: &Environment, keys: u32, byte: u8) {
    let tree = find_structures(environment).unwrap().tree;
    for first in (0..keys).step_by(30) {
        let mut numbers = first..first + 30;
        environment.write(|tx| numbers.try_for_each(|number| tree.put(tx, &key(number), &[byte; 400]))).unwrap();
    }
}

fn filled(keys: u32, byte: u8) -> Outcome {
    let tree = (0..keys).map(|number| (key(number), vec![byte; 400])).collect();
    Outcome { answered: Model { tree, ..Model::default() }, in_flight: None }
}

/// A disk on which a flush was cut short, while it wrote its third piece and after something else was committed.
fn cut_short(meanwhile: impl FnOnce(&Environment) + Send + 'static) -> SimulatedIo {
    let disk = SimulatedIo::new();
    let interrupted = Interrupted::open(&disk);
    make_structures(&interrupted.environment).unwrap();
    fill(&interrupted.environment, KEYS, 1);
    interrupted.environment.flush().unwrap();
    fill(&interrupted.environment, KEYS, 2);
    let faulty = disk.clone();
    let flushed = interrupted.flush(move |environment| {
        meanwhile(environment);
        faulty.fail_at(Some(once_at(faulty.operations() + 2)));
    });
    assert!(flushed.is_err(), "the flush was cut short");
    disk.fail_at(None);
    disk
}

fn once_at(at: u64) -> Fault {
    Fault { at, for_ever: false, kind: ErrorKind::Other }
}

/// Every other sector of what was not synced.
fn torn(io: &SimulatedIo) -> SimulatedIo {
    io.crash(|| Fate::Torn(0x5555_5555_5555_5555))
}

/// Where in the recovery of this disk, and the flush after it, an operation comes first.
fn first_of(io: &SimulatedIo, wanted: impl Fn(Operation, &str) -> bool) -> u64 {
    let whole = io.kill();
    recover(&whole);
    let is_wanted = |(operation, path): &(Operation, std::path::PathBuf)| {
        path.file_name().is_some_and(|name| wanted(*operation, &name.to_string_lossy()))
    };
    whole.log().iter().position(is_wanted).expect("the flush does it") as u64
}

/// Recovers and flushes, and fails at an operation.
fn recover_until(io: &SimulatedIo, at: u64) {
    io.fail_at(Some(once_at(at)));
    recover(io);
    io.fail_at(None);
}

/// A crash at each operation of the recovery, each way.
fn check_recovery(io: &SimulatedIo, outcome: &Outcome) {
    let whole = io.kill();
    recover(&whole);
    for at in 0..=whole.operations() {
        let second = io.kill();
        recover_until(&second, at);
        check(&torn(&second), outcome);
        check(&second.crash(|| Fate::Torn(0xAAAA_AAAA_AAAA_AAAA)), outcome);
        check(&second.crash(|| Fate::Lost), outcome);
        check(&second.kill(), outcome);
    }
}

/// The intent of the second flush was written over that of the first. Torn, it left none, and the torn pages of the first
/// passed for damaged ones: the environment did not open any more.
#[test]
fn a_crash_in_the_flush_after_one_that_was_cut_short_loses_nothing() {
    let disk = cut_short(|environment| fill(environment, KEYS, 3));
    check_recovery(&torn(&disk), &filled(KEYS, 3));
}

/// What was read of the second intent was in the page cache only, because its sync failed. The third must not be written
/// over the first before the second is known to be durable.
#[test]
fn an_intent_that_is_only_in_the_page_cache_is_made_durable_before_the_one_before_it_is_written_over() {
    let disk = cut_short(|environment| fill(environment, KEYS, 3));
    let second = torn(&disk);
    let sync = first_of(&second, |operation, name| operation == Operation::Sync && name.starts_with("flush"));
    recover_until(&second, sync);
    check_recovery(&second.kill(), &filled(KEYS, 3));
    let second = torn(&disk);
    recover_until(&second, sync - 1);
    check_recovery(&second.kill(), &filled(KEYS, 3));
}

/// A page that the first flush tore, and that a run took over later and gave back, has no version in memory after the
/// recovery. The intent of the second flush has to name it all the same.
#[test]
fn a_torn_page_that_a_run_took_over_and_gave_back_is_known_to_the_next_flush() {
    let disk = cut_short(|environment| {
        let tree = find_structures(environment).unwrap().tree;
        environment.write(|tx| tree.clear(tx)).unwrap();
        environment.write(|tx| tree.put(tx, b"large", &[3; 150_000])).unwrap();
        environment.write(|tx| tree.delete(tx, b"large").map(drop)).unwrap();
        fill(environment, 60, 4);
    });
    let outcome = filled(60, 4);
    let image = torn(&disk);
    let first_page = first_of(&image, |operation, name| operation == Operation::Write && name == "data");
    recover_until(&image, first_page);
    check(&torn(&image), &outcome);
    check(&image.crash(|| Fate::Lost), &outcome);
    check_recovery(&image.crash(|| Fate::Lost), &outcome);
}

/// What wrote all intents to one place is opened, with the pages that its flush left torn.
#[test]
fn an_environment_with_one_place_for_intents_opens() {
    let image = torn(&cut_short(|environment| fill(environment, KEYS, 3)));
    let folder = Path::new(FOLDER);
    let intent = image.contents(folder)["flush-2"].clone();
    image.damage(&folder.join("flush"), |bytes| *bytes = intent);
    image.remove(&folder.join("flush-2")).unwrap();
    image.sync_dir(folder).unwrap();
    let without = image.kill();
    without.remove(&folder.join("flush")).unwrap();
    assert!(Environment::open(folder, model_support::options(&without)).is_err(), "no page was torn");
    check_recovery(&image, &filled(KEYS, 3));
}

#[test]
fn crashes_in_flushes_with_transactions_behind_them_lose_nothing() {
    let counts = Counts::default();
    each_seed(seeds(8, 400), |seed| crash_again_and_again(seed, 3, &counts));
    counts.report("flushes cut short again and again");
}
