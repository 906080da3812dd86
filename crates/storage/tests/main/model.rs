//! Random operations on an environment and on a model of it; whatever is read must be equal.
//!
//! The command that repeats a failing seed is printed with the failure; `SLOW=1` runs the nightly number of cases.

use crate::model_support::{Model, Scenario, read_all, same, verify};
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use storage::TransactionId;
use storage::io::simulated::SimulatedIo;
use testing::effort;
use testing::random::Random;
use testing::seeds::{each_seed, seeds};

/// Random operations of all cases of one test, and the snapshots that were compared with the model of their version.
#[derive(Default)]
struct Counts {
    cases: AtomicU64,
    operations: AtomicU64,
    snapshots: AtomicU64,
}

impl Counts {
    fn add(&self, scenario: &Scenario) {
        self.cases.fetch_add(1, Ordering::Relaxed);
        self.operations.fetch_add(scenario.operations, Ordering::Relaxed);
        self.snapshots.fetch_add(scenario.snapshots, Ordering::Relaxed);
    }

    fn report(&self, test: &str) {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        println!(
            "{test}: {} cases, {} operations, {} snapshots compared",
            count(&self.cases),
            count(&self.operations),
            count(&self.snapshots)
        );
    }
}

#[test]
fn an_environment_agrees_with_its_model() {
    let counts = Counts::default();
    each_seed(seeds(150, 13_000), |seed| {
        let mut random = Random::at(seed);
        let mut scenario = Scenario::new(SimulatedIo::new(), &mut random);
        for _ in 0..5 + random.below(60) {
            scenario.step(&mut random);
        }
        counts.add(&scenario);
        scenario.finish();
    });
    counts.report("on a disk");
}

#[test]
fn an_environment_in_memory_agrees_with_its_model() {
    let counts = Counts::default();
    each_seed(seeds(50, 3_000), |seed| {
        let mut random = Random::at(seed ^ 0xA5A5);
        let mut scenario = Scenario::in_memory();
        for _ in 0..30 {
            scenario.transaction(&mut random);
            scenario.compare();
        }
        counts.add(&scenario);
        scenario.finish();
    });
    counts.report("in memory");
}

/// The model of each version, for readers that hold one.
#[derive(Default)]
struct Versions {
    state: Mutex<Known>,
    more: Condvar,
}

#[derive(Default)]
struct Known {
    models: BTreeMap<TransactionId, Arc<Model>>,
    /// Transactions that the writer committed; the readers count their patience in them.
    committed: u64,
    /// The writer has made its last one.
    ended: bool,
}

impl Versions {
    fn committed(&self, id: TransactionId, model: &Model) {
        let mut known = self.state.lock();
        known.models.entry(id).or_insert_with(|| Arc::new(model.clone()));
        known.committed += 1;
        self.more.notify_all();
    }

    /// The model of a version. The writer notes it a moment after it became visible.
    fn model_of(&self, id: TransactionId) -> Arc<Model> {
        let mut known = self.state.lock();
        loop {
            if let Some(model) = known.models.get(&id) {
                return model.clone();
            }
            assert!(!known.ended, "a snapshot shows transaction {id}, which nobody committed");
            self.more.wait(&mut known);
        }
    }

    /// Waits for some more commits. False: there will be none.
    fn wait_for(&self, commits: u64) -> bool {
        let mut known = self.state.lock();
        let until = known.committed + commits;
        while known.committed < until && !known.ended {
            self.more.wait(&mut known);
        }
        !known.ended
    }
}

/// Tells the readers that there will be no more, also when the writer's thread fails.
struct Writing<'v>(&'v Versions);

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.state.lock().ended = true;
        self.0.more.notify_all();
    }
}

/// One to sixteen threads hold snapshots while another commits and flushes; each sees all of its version, before and after.
#[test]
fn readers_on_other_threads_see_their_version_and_nothing_else() {
    let counts = Counts::default();
    each_seed(seeds(20, 3_000), |seed| {
        let mut random = Random::at(seed ^ 0x2EAD);
        let mut scenario = Scenario::new(SimulatedIo::new(), &mut random);
        for _ in 0..2 {
            let versions = Versions::default();
            let environment = scenario.environment.clone();
            let structures = scenario.structures;
            versions.committed(environment.read().id(), &scenario.model);
            std::thread::scope(|scope| {
                let _writing = Writing(&versions);
                for _ in 0..1 + random.below(16) {
                    let mut random = Random::at(random.next());
                    let (versions, environment, counts) = (&versions, &environment, &counts);
                    scope.spawn(move || {
                        let mut goes_on = true;
                        while goes_on {
                            let tx = environment.read();
                            let model = versions.model_of(tx.id());
                            let both = random.chance(2);
                            if both {
                                assert!(same(&read_all(&tx, &structures), &model), "a snapshot shows something else");
                            }
                            goes_on = versions.wait_for(random.below(5));
                            assert!(same(&read_all(&tx, &structures), &model), "a snapshot changed");
                            counts.snapshots.fetch_add(1, Ordering::Relaxed);
                        }
                    });
                }
                for _ in 0..8 + random.below(8) {
                    scenario.transaction(&mut random);
                    versions.committed(scenario.environment.read().id(), &scenario.model);
                    if random.chance(4) {
                        scenario.environment.flush().unwrap();
                    }
                }
            });
            drop(environment);
            verify(&scenario.environment);
            scenario.reopen(random.chance(2));
        }
        counts.add(&scenario);
        scenario.finish();
    });
    counts.report("beside readers");
    // One seed alone may end before its readers have begun.
    let is_alone = effort::number("SEED").is_some();
    assert!(is_alone || counts.snapshots.load(Ordering::Relaxed) > 20, "no reader compared its snapshot");
}
