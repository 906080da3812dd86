//! Several records on their way to the device at once: they may come back in any order, and any may fail.

use crate::hooked_io::{Call, HookedIo};
use crate::model_support::{FOLDER, find_structures, make_structures, options, verify};
use parking_lot::{Condvar, Mutex};
use std::path::Path;
use std::sync::Arc;
use storage::io::simulated::{Fate, SimulatedIo};
use storage::{Environment, Options};
use testing::wait::{LONG, until_equal};

/// Records at once: as many as the engine lets.
const RECORDS: usize = storage::limits::JOURNAL_WRITES_IN_FLIGHT_MAX;

/// Holds writes to the journal up, and lets them go one by one.
#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_shut: bool,
    /// Writes that came, in the order of their records.
    came: usize,
    /// For each that may go on: whether it fails.
    released: Vec<(usize, bool)>,
}

impl Gate {
    fn pass(&self) -> std::io::Result<()> {
        let mut state = self.state.lock();
        if !state.is_shut {
            return Ok(());
        }
        let ours = state.came;
        state.came += 1;
        self.changed.notify_all();
        loop {
            if let Some((_, fails)) = state.released.iter().find(|(index, _)| *index == ours) {
                return if *fails { Err(std::io::Error::other("the device is gone")) } else { Ok(()) };
            }
            self.changed.wait(&mut state);
        }
    }

    fn wait_for(&self, came: usize) {
        let mut state = self.state.lock();
        while state.came < came {
            let waited = self.changed.wait_for(&mut state, LONG);
            assert!(!waited.timed_out(), "{} of {came} records are on their way", state.came);
        }
    }

    fn release(&self, index: usize, fails: bool) {
        self.state.lock().released.push((index, fails));
        self.changed.notify_all();
    }
}

/// Lets the records of as many transactions go in an order, one of them perhaps failing; gives the disk, who was answered
/// with success, and what was visible after each release.
fn run(order: [usize; RECORDS], failing: Option<usize>) -> (SimulatedIo, [bool; RECORDS], Vec<u64>) {
    let (disk, gate) = (SimulatedIo::new(), Arc::new(Gate::default()));
    let hook = gate.clone();
    let is_journal = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("journal"));
    let io = HookedIo::before(Call::Write, &disk, move |path| if is_journal(path) { hook.pass() } else { Ok(()) });
    let environment = Environment::open(Path::new(FOLDER), Options { io, ..options(&disk) }).unwrap();
    let structures = make_structures(&environment).unwrap();
    let first = environment.read().id().0;
    gate.state.lock().is_shut = true;
    let mut visible = Vec::new();
    let answers = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..RECORDS)
            .map(|index| {
                let environment = &environment;
                let writer = scope.spawn(move || {
                    environment.write(|tx| structures.tree.put(tx, &[index as u8], &[index as u8; 100])).is_ok()
                });
                // Each is a record of its own, the next on top of it.
                gate.wait_for(index + 1);
                writer
            })
            .collect();
        assert_eq!(environment.read().id().0, first, "nothing is durable yet, so nothing is visible");
        let mut is_back = [false; RECORDS];
        for index in order {
            is_back[index] = true;
            gate.release(index, failing == Some(index));
            let prefix = (0..RECORDS).take_while(|index| is_back[*index] && failing != Some(*index)).count() as u64;
            // The records that are complete become visible.
            until_equal(|| environment.read().id().0, first + prefix);
            visible.push(prefix);
        }
        std::array::from_fn({
            let mut writers = writers.into_iter();
            move |_| writers.next().unwrap().join().unwrap()
        })
    });
    gate.state.lock().is_shut = false;
    let goes_on = environment.write(|tx| structures.tree.put(tx, b"later", b"")).is_ok();
    assert_eq!(goes_on, failing.is_none(), "after a failed write nothing may be promised");
    drop(environment);
    (disk, answers, visible)
}

#[test]
fn answers_follow_the_longest_complete_prefix_in_any_order() {
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 0, 1]] {
        let (disk, answers, visible) = run(order, None);
        assert_eq!(answers, [true; RECORDS], "{order:?}");
        assert_eq!(*visible.last().unwrap(), RECORDS as u64);
        let image = disk.crash(|| Fate::Lost);
        let reopened = Environment::open(Path::new(FOLDER), options(&image)).unwrap();
        let tree = find_structures(&reopened).unwrap().tree;
        let found = (0..RECORDS).filter(|index| tree.contains(&reopened.read(), &[*index as u8]).unwrap()).count();
        assert_eq!(found, RECORDS);
        verify(&reopened);
    }
}

#[test]
fn one_that_fails_takes_all_after_it_along_and_none_before() {
    for failing in 0..RECORDS {
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
            let (disk, answers, _) = run(order, Some(failing));
            assert_eq!(
                answers,
                std::array::from_fn(|index| index < failing),
                "{failing} fails, in the order {order:?}"
            );
            // What was answered is there. What was not may be: it was on its way.
            for fate in [Fate::Lost, Fate::Persisted] {
                let image = disk.crash(|| fate);
                let reopened = Environment::open(Path::new(FOLDER), options(&image)).unwrap();
                let tree = find_structures(&reopened).unwrap().tree;
                let there: Vec<bool> =
                    (0..RECORDS).map(|index| tree.contains(&reopened.read(), &[index as u8]).unwrap()).collect();
                let prefix = there.iter().take_while(|there| **there).count();
                assert!(prefix >= failing && !there[prefix..].contains(&true), "{failing}, {order:?}: {there:?}");
                verify(&reopened);
            }
        }
    }
}
