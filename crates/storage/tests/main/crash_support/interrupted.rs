//! Flushes that a fault cuts short when transactions are behind their target already: what is in the journal then is more than
//! the flush was writing, so the flush after the recovery writes other pages, and other things of the same ones.

use super::{Counts, Outcome, random_fate, recover};
use crate::hooked_io::{Call, HookedIo};
use crate::model_support::{FOLDER, Model, apply, apply_to_model, make_structures, options, random_change};
use std::path::Path;
use std::sync::{Arc, Mutex};
use storage::io::simulated::{Fault, SimulatedIo};
use storage::{Environment, Error, Options};
use testing::random::Random;

type Once = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

/// An environment that does something before a write of pages; the first after it was told so.
pub struct Interrupted {
    pub environment: Arc<Environment>,
    once: Once,
}

impl Interrupted {
    pub fn open(disk: &SimulatedIo) -> Self {
        let once = Once::default();
        let hook = once.clone();
        let io = HookedIo::before(Call::Write, disk, move |path| {
            let hook = if path.ends_with("data") { hook.lock().unwrap().take() } else { None };
            hook.into_iter().for_each(|hook| hook());
            Ok(())
        });
        let environment = Environment::open(Path::new(FOLDER), Options { io, ..options(disk) }).unwrap();
        Interrupted { environment: Arc::new(environment), once }
    }

    /// Flushes, and does something when the intent is durable and no page is written.
    pub fn flush(&self, meanwhile: impl FnOnce(&Environment) + Send + 'static) -> Result<(), Error> {
        let environment = self.environment.clone();
        *self.once.lock().unwrap() = Some(Box::new(move || meanwhile(&environment)));
        let flushed = self.environment.flush();
        assert!(self.once.lock().unwrap().is_none(), "the flush wrote pages");
        flushed
    }
}

/// Changes of one transaction: so many that an intent has several sectors.
const CHANGES_MAX: u64 = 250;

fn once_at(at: u64) -> Fault {
    Fault { at, for_ever: false, kind: std::io::ErrorKind::Other }
}

/// Commits some transactions of random changes, all of which must succeed.
fn commit(environment: &Environment, random: &mut Random, model: &mut Model, transactions: u64) {
    let structures = crate::model_support::find_structures(environment).unwrap();
    for _ in 0..transactions {
        let written = environment.write(|tx| {
            for _ in 0..1 + random.below(CHANGES_MAX) {
                let change = random_change(random, model);
                apply(&structures, tx, model, &change)?;
                apply_to_model(model, &change);
            }
            Ok::<_, Error>(())
        });
        written.unwrap();
    }
}

/// A seeded history whose last flush fails `fault_after` operations behind the commits that come in its middle. `None`: the
/// flush has fewer operations.
pub fn history(disk: &SimulatedIo, seed: u64, fault_after: u64) -> Option<Outcome> {
    let mut random = Random::at(seed ^ 0x1F1A);
    let interrupted = Interrupted::open(disk);
    make_structures(&interrupted.environment).unwrap();
    let mut model = Model::default();
    for _ in 0..1 + random.below(2) {
        commit(&interrupted.environment, &mut random, &mut model, 6);
        interrupted.environment.flush().unwrap();
    }
    commit(&interrupted.environment, &mut random, &mut model, 4);
    let model = Arc::new(Mutex::new(model));
    let (shared, faulty) = (model.clone(), disk.clone());
    let flushed = interrupted.flush(move |environment| {
        commit(environment, &mut random, &mut shared.lock().unwrap(), 4);
        faulty.fail_at(Some(once_at(faulty.operations() + fault_after)));
    });
    disk.fail_at(None);
    let answered = model.lock().unwrap().clone();
    flushed.is_err().then_some(Outcome { answered, in_flight: None })
}

/// Where a recovery and its flush are to fail: anywhere, or every other time at the intent, where the most is at stake.
fn place(whole: &SimulatedIo, random: &mut Random) -> u64 {
    let is_intent = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("flush"));
    let log = whole.log();
    let intents: Vec<u64> = (0..).zip(&log).filter(|(_, (_, path))| is_intent(path)).map(|(at, _)| at).collect();
    if !intents.is_empty() && random.chance(2) {
        return intents[random.below(intents.len() as u64) as usize];
    }
    random.below(whole.operations().max(1))
}

/// What a crash or the end of the process leaves.
fn left(io: &SimulatedIo, random: &mut Random) -> SimulatedIo {
    if random.chance(3) { io.kill() } else { io.crash(|| random_fate(random)) }
}

/// Cuts the last flush of a history short, and then up to three flushes after it, each of which begins with a recovery.
/// Every operation of the first flush, `samples` times.
pub fn crash_again_and_again(seed: u64, samples: u64, counts: &Counts) {
    let mut random = Random::at(seed ^ 0x2C2A);
    for fault_after in 0.. {
        let disk = SimulatedIo::new();
        counts.count_injection();
        let Some(outcome) = history(&disk, seed, fault_after) else { return };
        for _ in 0..samples {
            let mut io = left(&disk, &mut random);
            for _ in 0..1 + random.below(3) {
                let whole = io.kill();
                recover(&whole);
                counts.inject(&io, once_at(place(&whole, &mut random)));
                recover(&io);
                io.fail_at(None);
                io = left(&io, &mut random);
            }
            counts.check(&io, &outcome);
        }
    }
}
