//! Random operations on an environment and on a model of it; whatever is read must be equal.
//!
//! A failing seed is printed with the failure; `SEED=n cargo test -p rookery-storage --test model` runs it alone, and
//! `SLOW=1` runs the nightly number of cases.

mod model_support;

use model_support::{Random, Scenario, seeds};
use storage::io::simulated::SimulatedIo;

fn run(seed: u64) {
    let mut random = Random::new(seed);
    let mut scenario = Scenario::new(SimulatedIo::new(), &mut random);
    let steps = 5 + random.below(60);
    for _ in 0..steps {
        scenario.step(&mut random);
    }
    scenario.finish();
}

#[test]
fn an_environment_agrees_with_its_model() {
    for seed in seeds(150, 10_000) {
        model_support::named(seed, || run(seed));
    }
}

#[test]
fn an_environment_in_memory_agrees_with_its_model() {
    for seed in seeds(50, 2_000) {
        model_support::named(seed, || {
            let mut random = Random::new(seed ^ 0xA5A5);
            let mut scenario = Scenario::in_memory();
            for _ in 0..30 {
                scenario.transaction(&mut random);
                scenario.compare();
            }
            scenario.finish();
        });
    }
}
