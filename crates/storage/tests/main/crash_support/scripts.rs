//! Scripted histories: 200 of one to four steps, each step one thing that can happen to an environment.
//!
//! The first are every step alone, then every pair of them, then seeded sequences of three and four. What a step writes
//! follows from its place in the script, so a number names a history.

use super::{Outcome, open};
use crate::model_support::{Change, Model, Structures, apply, apply_to_model, find_structures, make_structures};
use std::cell::RefCell;
use storage::io::Io;
use storage::{Environment, Error};
use testing::random::Random;

/// Scripts that there are.
pub const COUNT: u64 = 200;

/// One step of a script. All but the last three are a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A few short keys.
    Insert,
    /// As many neighbouring keys as make leaves and their parents split.
    Split,
    /// Deletes most keys, so that pages are merged and freed.
    Merge,
    /// Values over a page, and records with pages of their own.
    Overflow,
    /// Some keys and records.
    Delete,
    /// Values and records that become longer and shorter where they are.
    Resize,
    /// More than the data file has room for.
    Grow,
    /// More than the journal file has room for.
    JournalSwitch,
    /// A flush, which moves the checkpoint.
    Checkpoint,
    /// Ends without a flush and opens again.
    Reopen,
    /// Closes cleanly and opens again.
    Close,
}

use Step::{Checkpoint, Close, Delete, Grow, Insert, JournalSwitch, Merge, Overflow, Reopen, Resize, Split};

const STEPS: [Step; 11] =
    [Insert, Split, Merge, Overflow, Delete, Resize, Grow, JournalSwitch, Checkpoint, Reopen, Close];

/// The steps of a script.
pub fn script(number: u64) -> Vec<Step> {
    let kinds = STEPS.len() as u64;
    let step = |index: u64| STEPS[index as usize];
    // Each begins with something that the other steps can work on.
    if number < kinds {
        return vec![Split, step(number)];
    }
    if number < kinds + kinds * kinds {
        let pair = number - kinds;
        return vec![Insert, step(pair / kinds), step(pair % kinds)];
    }
    let mut random = Random::at(number);
    let length = 3 + number % 2;
    (0..length).map(|_| step(random.below(kinds))).collect()
}

/// What a step changes, given what there is.
fn changes(step: Step, place: u64, model: &Model) -> Vec<Change> {
    let random = RefCell::new(Random::at(place * 31 + step as u64));
    let bytes = |length: usize| {
        let words = (0..length.div_ceil(8)).flat_map(|_| random.borrow_mut().next().to_le_bytes());
        words.take(length).collect::<Vec<u8>>()
    };
    let key = |number: u64| format!("{step:?}/{place}/{number:05}").into_bytes();
    let keys = || model.tree.keys().cloned();
    let records = || model.records.keys().copied();
    match step {
        Insert => (0..4).map(|n| Change::Put(key(n), bytes(20))).chain([Change::AddRecord(bytes(50))]).collect(),
        Split => {
            let records: Vec<_> = (0..20).map(|_| Change::AddRecord(bytes(700))).collect();
            (0..150).map(|n| Change::Put(key(n), bytes(120))).chain(records).collect()
        }
        Merge => {
            let most = keys().enumerate().filter(|(index, _)| index % 10 > 0).map(|(_, key)| Change::Delete(key));
            most.chain(records().skip(1).map(Change::DeleteRecord)).collect()
        }
        Overflow => vec![
            Change::Put(key(0), bytes(3_000)),
            Change::Put(key(1), bytes(40_000)),
            Change::AddRecord(bytes(20_000)),
        ],
        Delete => keys().take(3).map(Change::Delete).chain(records().take(1).map(Change::DeleteRecord)).collect(),
        Resize => {
            let longer: Vec<_> = keys().take(4).map(|key| Change::Put(key, bytes(900))).collect();
            let shorter: Vec<_> = keys().skip(4).take(4).map(|key| Change::Put(key, bytes(1))).collect();
            let moved: Vec<_> = records().take(2).map(|etag| Change::UpdateRecord(etag, bytes(5_000))).collect();
            longer.into_iter().chain(shorter).chain(moved).collect()
        }
        Grow => vec![Change::Put(key(0), bytes(300_000))],
        JournalSwitch => vec![Change::AddRecord(bytes(200_000)), Change::Put(key(0), bytes(50_000))],
        Checkpoint | Reopen | Close => Vec::new(),
    }
}

/// Runs a script until its end, or until the disk fails.
pub fn run(io: &(impl Io + Clone + 'static), number: u64) -> Outcome {
    let mut outcome = Outcome { answered: Model::default(), in_flight: None };
    let Ok(mut environment) = open(io) else { return outcome };
    let Ok(mut structures) = make_structures(&environment) else { return outcome };
    for (place, step) in script(number).into_iter().enumerate() {
        match step {
            Checkpoint if environment.flush().is_err() => return outcome,
            Checkpoint => continue,
            Reopen | Close => {
                if step == Reopen {
                    drop(environment);
                } else if environment.close().is_err() {
                    return outcome;
                }
                match open(io) {
                    Ok(reopened) => environment = reopened,
                    Err(Error::Locked { .. }) => panic!("the history holds its own environment open"),
                    Err(_) => return outcome,
                }
                structures = find_structures(&environment).expect("they were made durably");
            }
            _ => {
                let changes = changes(step, place as u64, &outcome.answered);
                let mut next = outcome.answered.clone();
                match write(&environment, &structures, &changes, &mut next) {
                    Ok(()) => outcome.answered = next,
                    Err(_) => {
                        outcome.in_flight = Some(next);
                        return outcome;
                    }
                }
            }
        }
    }
    outcome
}

fn write(
    environment: &Environment,
    structures: &Structures,
    changes: &[Change],
    model: &mut Model,
) -> Result<(), Error> {
    environment.write(|tx| {
        for change in changes {
            apply(structures, tx, model, change)?;
            apply_to_model(model, change);
        }
        Ok(())
    })
}
