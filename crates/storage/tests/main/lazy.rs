//! Lazy commits under crashes: what is found is one of the states that were committed, not older than the last flush.

use crate::crash_support::random_fate;
use crate::model_support::{
    FOLDER, Model, apply, apply_to_model, find_structures, make_structures, options, random_change, read_all, same,
    verify,
};
use std::path::Path;
use storage::io::simulated::{Fault, SimulatedIo};
use storage::{Durability, Environment, Error, Options};
use testing::random::Random;
use testing::seeds::{Case, seeds};

fn open(io: &SimulatedIo) -> Environment {
    Environment::open(Path::new(FOLDER), Options { durability: Durability::Lazy, ..options(io) }).unwrap()
}

#[test]
fn a_crash_gives_one_of_the_states_and_never_one_before_the_last_flush() {
    // Crashes that lost the last state.
    let mut older = 0;
    for seed in seeds(60, 3_000) {
        let _case = Case::of(seed);
        let mut random = Random::at(seed ^ 0x1A27);
        let io = SimulatedIo::new();
        let environment = open(&io);
        let structures = make_structures(&environment).unwrap();
        environment.flush().unwrap();
        let mut states = vec![Model::default()];
        let mut flushed = 0;
        for _ in 0..12 {
            let mut next = states[states.len() - 1].clone();
            let written = environment.write(|tx| {
                for _ in 0..1 + random.below(12) {
                    let change = random_change(&mut random, &next);
                    apply(&structures, tx, &next, &change)?;
                    apply_to_model(&mut next, &change);
                }
                Ok::<_, Error>(())
            });
            written.unwrap();
            states.push(next);
            if random.chance(4) {
                environment.flush().unwrap();
                flushed = states.len() - 1;
            }
            let image = io.crash(|| random_fate(&mut random));
            let reopened = open(&image);
            let structures = find_structures(&reopened).expect("they were flushed");
            let seen = read_all(&reopened.read(), &structures);
            let found = states.iter().rposition(|state| same(&seen, state));
            let found = found.unwrap_or_else(|| panic!("none of the states: {seen:?}"));
            assert!(found >= flushed, "state {found}, but {flushed} was flushed");
            verify(&reopened);
            older += u64::from(found + 1 < states.len());
        }
    }
    assert!(older > 0, "no crash lost anything, so nothing was put to the test");
}

/// Transactions and flushes until the disk fails. Gives the states, and how many were flushed for sure.
fn history(io: &SimulatedIo, seed: u64) -> (Vec<Model>, usize) {
    let (mut states, mut flushed) = (vec![Model::default()], 0);
    let mut random = Random::at(seed);
    let mut run = || {
        let environment =
            Environment::open(Path::new(FOLDER), Options { durability: Durability::Lazy, ..options(io) })?;
        let structures = make_structures(&environment)?;
        for _ in 0..6 {
            let mut next = states[states.len() - 1].clone();
            environment.write(|tx| {
                for _ in 0..1 + random.below(12) {
                    let change = random_change(&mut random, &next);
                    apply(&structures, tx, &next, &change)?;
                    apply_to_model(&mut next, &change);
                }
                Ok::<_, Error>(())
            })?;
            states.push(next);
            if random.chance(2) {
                environment.flush()?;
                flushed = states.len() - 1;
            }
        }
        Ok::<_, Error>(())
    };
    // An error ends the history where it is.
    let _ = run();
    (states, flushed)
}

#[test]
fn a_crash_at_any_operation_of_a_flush_gives_one_of_the_states() {
    for seed in seeds(6, 300) {
        let _case = Case::of(seed);
        let whole = SimulatedIo::new();
        history(&whole, seed);
        let mut random = Random::at(seed ^ 0xC4A5);
        for at in 0..whole.operations() {
            let io = SimulatedIo::new();
            io.fail_at(Some(Fault { at, for_ever: at % 2 == 0, kind: std::io::ErrorKind::Other }));
            let (states, flushed) = history(&io, seed);
            io.fail_at(None);
            let reopened = open(&io.crash(|| random_fate(&mut random)));
            let seen = match find_structures(&reopened) {
                Some(structures) => read_all(&reopened.read(), &structures),
                None => Model::default(),
            };
            let found = states.iter().rposition(|state| same(&seen, state));
            let found = found.unwrap_or_else(|| panic!("operation {at}: none of the states: {seen:?}"));
            assert!(found >= flushed, "operation {at}: state {found}, but {flushed} was flushed");
            verify(&reopened);
        }
    }
}
