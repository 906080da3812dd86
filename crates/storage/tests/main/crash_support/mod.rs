//! What crash and damage tests share: seeded histories, the images that a crash leaves, and the oracle.
//!
//! The oracle: after a crash and reopening, the environment shows the state after the last transaction that was answered,
//! or after the one that was in flight; its structure is whole; it takes one more write, and shows that after another
//! opening. Of damage: what is served is right, or an error says that something is corrupt.

pub mod damage;
pub mod interrupted;
pub mod scripts;

use crate::model_support::{
    FOLDER, Model, Structures, apply, apply_to_model, find_structures, make_structures, options, random_change,
    read_all, same, verify,
};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use storage::io::Io;
use storage::io::simulated::{Fate, Fault, SimulatedIo};
use storage::{Environment, Error};
use testing::random::Random;

/// Crash images that were opened, and histories in which an operation was made to fail, of one test.
#[derive(Default, Debug)]
pub struct Counts {
    pub images: AtomicU64,
    pub injections: AtomicU64,
}

impl Counts {
    /// Says what was done; the nightly figures are sums of these lines.
    pub fn report(&self, test: &str) {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        println!("{test}: {} crash images, {} error injections", count(&self.images), count(&self.injections));
    }

    /// Opens an image and checks it; see [`check`].
    pub fn check(&self, image: &SimulatedIo, outcome: &Outcome) {
        self.images.fetch_add(1, Ordering::Relaxed);
        check(image, outcome);
    }

    /// Makes an operation fail, and counts it as done.
    pub fn inject(&self, io: &SimulatedIo, fault: Fault) {
        self.count_injection();
        io.fail_at(Some(fault));
    }

    /// Counts a fault that somebody else makes.
    pub fn count_injection(&self) {
        self.injections.fetch_add(1, Ordering::Relaxed);
    }
}

/// What a history did before the disk failed.
pub struct Outcome {
    /// The state after the last transaction that was answered with success.
    pub answered: Model,
    /// The state after the one that was not answered, if there was one.
    pub in_flight: Option<Model>,
}

pub fn open(io: &(impl Io + Clone + 'static)) -> Result<Environment, Error> {
    Environment::open(Path::new(FOLDER), options(io))
}

/// Runs a seeded history until its end, or until the disk fails.
pub fn history(io: &(impl Io + Clone + 'static), seed: u64, transactions: u64) -> Outcome {
    let mut random = Random::at(seed);
    let mut outcome = Outcome { answered: Model::default(), in_flight: None };
    let Ok(mut environment) = open(io) else { return outcome };
    let Ok(mut structures) = make_structures(&environment) else { return outcome };
    for _ in 0..transactions {
        match random.below(6) {
            0 if environment.flush().is_err() => {
                return outcome;
            }
            1 if random.chance(2) => {
                if !random.chance(2) {
                    drop(environment);
                } else if environment.close().is_err() {
                    return outcome;
                }
                match open(io) {
                    Ok(reopened) => environment = reopened,
                    // Were it still open here, the history would end early, and test nothing from then on.
                    Err(Error::Locked { .. }) => panic!("the history holds its own environment open"),
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

/// Opens an image and checks it against the oracle; panics if it does not hold.
pub fn check(image: &SimulatedIo, outcome: &Outcome) {
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

/// Opens what a crash left and flushes it, or fails at that.
pub fn recover(io: &SimulatedIo) {
    if let Ok(environment) = open(io) {
        environment.flush().ok();
    }
}

pub fn random_fate(random: &mut Random) -> Fate {
    match random.below(3) {
        0 => Fate::Lost,
        1 => Fate::Persisted,
        _ => Fate::Torn(random.next()),
    }
}

/// Images of the disk as it is now: all subsets of few unsynced operations, and a sample with torn ones.
pub fn images(io: &SimulatedIo, random: &mut Random, sampled: u64, each: impl FnMut(SimulatedIo)) {
    images_of(io, random, 4, sampled, each);
}

/// The same; all subsets of up to `subsets_of` unsynced operations.
pub fn images_of(
    io: &SimulatedIo,
    random: &mut Random,
    subsets_of: usize,
    sampled: u64,
    mut each: impl FnMut(SimulatedIo),
) {
    let unsynced = io.unsynced_count();
    if unsynced <= subsets_of {
        for subset in 0..1u64 << unsynced {
            let mut bit = 0;
            each(io.crash(|| {
                bit += 1;
                if subset >> (bit - 1) & 1 == 1 { Fate::Persisted } else { Fate::Lost }
            }));
        }
    }
    for _ in 0..sampled {
        each(io.crash(|| random_fate(random)));
    }
}
