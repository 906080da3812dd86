//! Crashes at every operation of scripted and random histories, on the simulated disk.
//!
//! The histories and the oracle are in `crash_support`; `planted.rs` proves that they catch what they are for. A failing
//! seed is printed; `SEED=n` runs it alone, `SLOW=1` the nightly sizes.

mod crash_support;
mod model_support;

use crash_support::{Outcome, check, history, image_count, images, open, random_fate, same};
use model_support::{
    Model, Random, apply, apply_to_model, make_structures, named, random_change, read_all, seeds, verify,
};
use std::io::ErrorKind;
use storage::Error;
use storage::io::simulated::{Fate, Fault, SimulatedIo};

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
    println!("{} crash images", image_count());
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
