//! Seeds of randomised tests: which ones run, and how one that fails is repeated.
//!
//! The quick set has fixed seeds, so that a change fails by what it changed. `SEED=n` runs one seed alone.

use crate::effort::{self, is_slow};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::SystemTime;

/// The seeds of a test: `SEED` alone if it is set, else the first `quick`, or the first `slow` with `SLOW=1`.
pub fn seeds(quick: u64, slow: u64) -> Range<u64> {
    match effort::number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..effort::choose(quick, slow),
    }
}

/// As [`seeds`], but with `SLOW=1` other seeds at each run: they begin where the clock says.
pub fn drawn(quick: u64, slow: u64) -> Range<u64> {
    let first = effort::number("SEED").is_none().then(now).filter(|_| is_slow()).unwrap_or_default();
    let Range { start, end } = seeds(quick, slow);
    first + start..first + end
}

/// One seed: `SEED` if it is set, else the same at each run, or with `SLOW=1` another at each run.
pub fn one() -> u64 {
    drawn(1, 1).start
}

fn now() -> u64 {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    time.map_or(0, |time| time.as_micros() as u64) % 1_000_000_007
}

/// A case of a seed: while it is alive, a panic of its thread prints the command that repeats the case.
///
/// ```
/// # use testing::seeds::{Case, seeds};
/// for seed in seeds(10, 1_000) {
///     let _case = Case::of(seed);
///     assert!(seed < 1_000);
/// }
/// ```
#[must_use = "the case ends where this value goes out of scope"]
pub struct Case {
    seed: u64,
}

impl Case {
    /// Begins a case.
    pub fn of(seed: u64) -> Case {
        Case { seed }
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("repeat the failure with: {}", command(self.seed));
        }
    }
}

/// The command that repeats a seed of the test that runs on this thread.
fn command(seed: u64) -> String {
    let slow = if is_slow() { "SLOW=1 " } else { "" };
    let package = std::env::var("CARGO_PKG_NAME").map(|name| format!(" --package {name}")).unwrap_or_default();
    // The runner calls the thread of a test by the test's name, but runs tests on the main thread with
    // `--test-threads=1`.
    let thread = thread::current();
    let test = thread.name().filter(|name| *name != "main").map(|name| format!(" {name}")).unwrap_or_default();
    format!("{slow}SEED={seed} cargo test{package}{test}")
}

/// Runs a case for each seed, on as many threads as the machine has cores.
pub fn each_seed(seeds: Range<u64>, case: impl Fn(u64) + Sync) {
    let with_seed = |seed| {
        let _case = Case::of(seed);
        case(seed);
    };
    in_parallel(seeds, || (), |(), seed| with_seed(seed));
}

/// Runs a case for each number, on as many threads as the machine has cores, each with a value of its own that `local`
/// makes.
///
/// A case that fails ends the test, when the cases that run beside it have ended.
pub fn in_parallel<T>(numbers: Range<u64>, local: impl Fn() -> T + Sync, case: impl Fn(&mut T, u64) + Sync) {
    let next = AtomicU64::new(numbers.start);
    let threads = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let name = thread::current().name().unwrap_or_default().to_owned();
    let work = || {
        let mut local = local();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return;
            }
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| case(&mut local, number))) {
                next.store(numbers.end, Ordering::Relaxed);
                resume_unwind(panic);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.min(numbers.end - numbers.start) {
            // Called by the name of the test, as its own thread is.
            thread::Builder::new()
                .name(name.clone())
                .spawn_scoped(scope, work)
                .expect("the system has a thread for us");
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_that_fails_ends_the_others_and_fails_the_test() {
        let ended = catch_unwind(|| each_seed(0..1 << 40, |seed| assert!(seed < 100)));
        assert!(ended.is_err());
    }

    #[test]
    fn the_command_names_seed_and_test() {
        let command = command(7);
        assert!(command.contains("SEED=7 cargo test"), "{command}");
        let thread = thread::current();
        assert!(thread.name().is_none_or(|name| name == "main" || command.ends_with(name)), "{command}");
    }
}
