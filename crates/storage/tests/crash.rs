//! Crashes at every operation of scripted and random histories, on the simulated disk.
//!
//! The oracle: after a crash and reopening, the environment shows the state after the last transaction that was answered,
//! or after the one that was in flight; its structure is whole; it takes one more write, and shows that after another
//! opening. A failing seed is printed; `SEED=n` runs it alone, `SLOW=1` the nightly sizes.

mod model_support;

use model_support::{
    FOLDER, Model, Random, Structures, apply, apply_to_model, find_structures, make_structures, named, options,
    random_change, read_all, seeds, verify,
};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use storage::io::simulated::{Fate, Fault, SimulatedIo};
use storage::{Environment, Error};

/// Crash images that were opened, for the report.
static IMAGES: AtomicU64 = AtomicU64::new(0);

/// What a history did before the disk failed.
struct Outcome {
    /// The state after the last transaction that was answered with success.
    answered: Model,
    /// The state after the one that was not answered, if there was one.
    in_flight: Option<Model>,
}

fn open(io: &SimulatedIo) -> Result<Environment, Error> {
    Environment::open(Path::new(FOLDER), options(io))
}

/// Runs a seeded history until its end, or until the disk fails.
fn history(io: &SimulatedIo, seed: u64, transactions: u64) -> Outcome {
    let mut random = Random::new(seed);
    let mut outcome = Outcome { answered: Model::default(), in_flight: None };
    let Ok(mut environment) = open(io) else { return outcome };
    let Ok(mut structures) = make_structures(&environment) else { return outcome };
    for _ in 0..transactions {
        match random.below(6) {
            0 if environment.flush().is_err() => {
                return outcome;
            }
            1 if random.chance(2) => {
                if random.chance(2) && environment.close().is_err() {
                    return outcome;
                }
                match open(io) {
                    Ok(reopened) => environment = reopened,
                    Err(_) => return outcome,
                }
                structures = find_structures(&environment).expect("they were made durably");
            }
            _ => {}
        }
        let mut next = outcome.answered.clone();
        let count_max = if random.chance(4) { 60 } else { 6 };
        let count = 1 + random.below(count_max);
        let written = environment.write(|tx| {
            for _ in 0..count {
                let change = random_change(&mut random, &next);
                apply(&structures, tx, &next, &change)?;
                apply_to_model(&mut next, &change);
            }
            Ok::<_, Error>(())
        });
        match written {
            Ok(()) => outcome.answered = next,
            Err(_) => {
                outcome.in_flight = Some(next);
                return outcome;
            }
        }
    }
    outcome
}

fn same(seen: &Model, expected: &Model) -> bool {
    seen.tree == expected.tree && seen.records == expected.records
}

/// Opens an image and checks it against the oracle. Returns the environment's disk afterwards.
fn check(image: &SimulatedIo, outcome: &Outcome) {
    IMAGES.fetch_add(1, Ordering::Relaxed);
    let environment = match open(image) {
        Ok(environment) => environment,
        Err(error) => panic!("an image of a crash does not open: {error}"),
    };
    let Some(structures) = find_structures(&environment) else {
        assert!(outcome.answered == Model::default(), "what was answered is gone");
        return;
    };
    let seen = read_all(&environment.read(), &structures);
    let allowed = same(&seen, &outcome.answered) || outcome.in_flight.as_ref().is_some_and(|model| same(&seen, model));
    assert!(allowed, "found {seen:?}; answered {:?}, in flight {:?}", outcome.answered, outcome.in_flight);
    verify(&environment);
    one_more_write(image, environment, structures);
}

fn one_more_write(image: &SimulatedIo, environment: Environment, structures: Structures) {
    environment.write(|tx| structures.tree.put(tx, b"one more", b"write")).unwrap();
    environment.flush().unwrap();
    drop(environment);
    let environment = open(image).unwrap();
    assert_eq!(structures.tree.get(&environment.read(), b"one more").unwrap(), Some(&b"write"[..]));
    verify(&environment);
}

fn random_fate(random: &mut Random) -> Fate {
    match random.below(3) {
        0 => Fate::Lost,
        1 => Fate::Kept,
        _ => Fate::Torn(random.next()),
    }
}

/// Images of the disk as it is now: all subsets of few unsynced operations, else a sample.
fn images(io: &SimulatedIo, random: &mut Random, sampled: u64, mut each: impl FnMut(SimulatedIo)) {
    let unsynced = io.unsynced_count();
    if unsynced <= 4 {
        for subset in 0..1u64 << unsynced {
            let mut bit = 0;
            each(io.crash(|| {
                bit += 1;
                if subset >> (bit - 1) & 1 == 1 { Fate::Kept } else { Fate::Lost }
            }));
        }
    }
    for _ in 0..sampled {
        each(io.crash(|| random_fate(random)));
    }
}

#[test]
fn a_crash_at_any_operation_loses_nothing_that_was_answered() {
    for seed in seeds(12, 200) {
        named(seed, || {
            let whole = SimulatedIo::new();
            history(&whole, seed, 6);
            let operations = whole.operations();
            let mut random = Random::new(seed ^ 0xC4A5);
            for at in 0..operations {
                let io = SimulatedIo::new();
                io.fail_at(Some(Fault { at, for_ever: false, kind: ErrorKind::Other }));
                let outcome = history(&io, seed, 6);
                images(&io, &mut random, 2, |image| check(&image, &outcome));
            }
        });
    }
    println!("{} crash images", IMAGES.load(Ordering::Relaxed));
}

#[test]
fn a_crash_during_recovery_loses_nothing_either() {
    for seed in seeds(6, 200) {
        named(seed, || {
            let whole = SimulatedIo::new();
            history(&whole, seed, 8);
            let mut random = Random::new(seed ^ 0x4EC0);
            for _ in 0..12 {
                let io = SimulatedIo::new();
                let at = random.below(whole.operations());
                io.fail_at(Some(Fault { at, for_ever: false, kind: ErrorKind::Other }));
                let outcome = history(&io, seed, 8);
                let image = io.crash(|| random_fate(&mut random));
                for at in 0..20 {
                    let second = image.crash(|| Fate::Kept);
                    second.fail_at(Some(Fault { at, for_ever: false, kind: ErrorKind::Other }));
                    if let Ok(environment) = open(&second) {
                        environment.flush().ok();
                    }
                    let third = second.crash(|| random_fate(&mut random));
                    check(&third, &outcome);
                }
            }
        });
    }
}

#[test]
fn long_random_histories_survive_a_crash() {
    for seed in seeds(60, 4_000) {
        named(seed, || {
            let mut random = Random::new(seed ^ 0x10A6);
            let io = SimulatedIo::new();
            let at = random.below(400);
            io.fail_at(Some(Fault { at, for_ever: random.chance(2), kind: ErrorKind::Other }));
            let outcome = history(&io, seed, 40);
            io.fail_at(None);
            images(&io, &mut random, 6, |image| check(&image, &outcome));
        });
    }
}

#[test]
fn a_full_disk_refuses_and_goes_on_when_there_is_room() {
    for seed in seeds(30, 1_000) {
        named(seed, || {
            let mut random = Random::new(seed ^ 0xF011);
            let io = SimulatedIo::new();
            let environment = open(&io).unwrap();
            let structures = make_structures(&environment).unwrap();
            io.set_capacity(Some((600 << 10) + random.below(1 << 20)));
            let mut model = Model::default();
            let mut refused = 0;
            for step in 0..400 {
                if step == 300 {
                    io.set_capacity(None);
                }
                let mut next = model.clone();
                let written = environment.write(|tx| {
                    for _ in 0..5 {
                        let change = random_change(&mut random, &next);
                        apply(&structures, tx, &next, &change)?;
                        apply_to_model(&mut next, &change);
                    }
                    Ok::<_, Error>(())
                });
                match written {
                    Ok(()) => model = next,
                    Err(Error::DiskFull { .. }) if step < 300 => refused += 1,
                    Err(error) => panic!("step {step}: {error}"),
                }
                if step % 40 == 0 {
                    environment.flush().unwrap();
                }
            }
            assert!(refused > 0, "the disk was large enough");
            assert!(same(&read_all(&environment.read(), &structures), &model));
            verify(&environment);
            let image = io.crash(|| Fate::Lost);
            check(&image, &Outcome { answered: model, in_flight: None });
        });
    }
}

#[test]
fn after_a_failed_write_or_sync_the_environment_refuses_writes_and_still_reads() {
    for seed in seeds(40, 2_000) {
        named(seed, || {
            let mut random = Random::new(seed ^ 0xFA11);
            let io = SimulatedIo::new();
            let environment = open(&io).unwrap();
            let structures = make_structures(&environment).unwrap();
            environment.write(|tx| structures.tree.put(tx, b"before", b"1")).unwrap();
            let at = io.operations() + random.below(3);
            io.fail_at(Some(Fault { at, for_ever: false, kind: ErrorKind::Other }));
            let mut failed = false;
            for number in 0..4u64 {
                let written = environment.write(|tx| structures.tree.put(tx, b"after", &number.to_le_bytes()));
                assert!(!(failed && written.is_ok()), "a write is answered after one failed");
                failed |= written.is_err();
                failed |= environment.flush().is_err();
            }
            assert!(failed, "the fault was met");
            assert_eq!(structures.tree.get(&environment.read(), b"before").unwrap(), Some(&b"1"[..]));
        });
    }
}
