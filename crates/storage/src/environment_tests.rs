//! Whole environments in few steps, small enough for an interpreter that sees undefined behaviour (`make miri`): readers,
//! writers and flushes at once, on memory and on the simulated disk.

use super::*;
use crate::Tree;
use crate::io::simulated::{Fate, SimulatedIo};
use std::sync::atomic::AtomicBool;

const FOLDER: &str = "/environment";

/// Snapshots that a reader opens at most: in an interpreter each takes the time of a transaction.
const SNAPSHOTS_MAX: u64 = if cfg!(miri) { 3 } else { u64::MAX };
const TRANSACTIONS: u64 = if cfg!(miri) { 4 } else { 40 };
const WRITERS: u8 = if cfg!(miri) { 2 } else { 3 };

fn options(io: &SimulatedIo) -> Options {
    Options { io: Arc::new(io.clone()), background: false, ..Options::default() }
}

fn number_in(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().unwrap())
}

/// Two keys on two pages and one in a run, which every transaction changes alike.
const KEYS: [&[u8]; 3] = [b"one", b"other", b"large"];

fn put_all(environment: &Environment, tree: Tree, number: u64) {
    let value = |length: usize| [&number.to_le_bytes()[..], &vec![number as u8; length]].concat();
    let lengths = [1_900, 1_900, 9_000];
    environment.write(|tx| KEYS.iter().zip(lengths).try_for_each(|(key, n)| tree.put(tx, key, &value(n)))).unwrap();
}

/// The number that all values have in one snapshot.
fn check_snapshot(environment: &Environment, tree: Tree) -> u64 {
    let tx = environment.read();
    let seen = KEYS.map(|key| tree.get(&tx, key).unwrap().expect("every snapshot has it"));
    std::thread::yield_now();
    let number = number_in(seen[0]);
    for bytes in seen {
        assert!(number_in(bytes) == number && bytes[8..].iter().step_by(97).all(|byte| *byte == number as u8));
    }
    number
}

/// Readers beside a writer, which does something else after each transaction.
fn read_beside_writer(environment: &Environment, mut between: impl FnMut(u64)) {
    let tree = environment.write(|tx| Tree::open_or_create(tx, b"tree")).unwrap();
    put_all(environment, tree, 1);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let (mut last, mut count) = (0, 0);
                while !done.load(Ordering::Relaxed) && count < SNAPSHOTS_MAX {
                    count += 1;
                    let seen = check_snapshot(environment, tree);
                    assert!(seen >= last, "a later snapshot is not older");
                    last = seen;
                }
            });
        }
        for number in 2..=TRANSACTIONS {
            put_all(environment, tree, number);
            between(number);
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(check_snapshot(environment, tree), TRANSACTIONS);
    assert_eq!(environment.verify().unwrap().problems, Vec::<String>::new());
}

#[test]
fn snapshots_in_memory_are_whole_beside_a_writer() {
    let environment = Environment::in_memory(Options::default()).unwrap();
    read_beside_writer(&environment, |_| ());
}

#[test]
fn snapshots_are_whole_beside_a_writer_and_flushes_and_come_back_after_a_crash() {
    let io = SimulatedIo::new();
    let environment = Environment::open(FOLDER, options(&io)).unwrap();
    read_beside_writer(&environment, |number| {
        if number % 2 == 0 {
            environment.flush().unwrap();
        }
    });
    let image = io.crash(|| Fate::Lost);
    let reopened = Environment::open(FOLDER, options(&image)).unwrap();
    let tree = Tree::open(&reopened.read(), b"tree").unwrap().unwrap();
    assert_eq!(check_snapshot(&reopened, tree), TRANSACTIONS);
    assert_eq!(reopened.verify().unwrap().problems, Vec::<String>::new());
}

#[test]
fn writers_that_wait_share_transactions_and_one_that_fails_is_taken_back_alone() {
    let io = SimulatedIo::new();
    let environment = Environment::open(FOLDER, options(&io)).unwrap();
    let tree = environment.write(|tx| Tree::open_or_create(tx, b"tree")).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let environment = &environment;
            scope.spawn(move || {
                for step in 0..4u8 {
                    let written = environment.write(|tx| {
                        tree.put(tx, &[writer, step], &[step; 100])?;
                        if step == 2 { Err(Error::Closed) } else { Ok(()) }
                    });
                    assert_eq!(written.is_ok(), step != 2);
                    let there = tree.contains(&environment.read(), &[writer, step]).unwrap();
                    assert_eq!(there, step != 2, "what was answered is visible");
                }
            });
        }
    });
    let tx = environment.read();
    let count = (0..WRITERS).flat_map(|writer| (0..4u8).map(move |step| [writer, step]));
    assert_eq!(count.filter(|key| tree.contains(&tx, key).unwrap()).count(), 3 * usize::from(WRITERS));
    drop(tx);
    assert_eq!(environment.verify().unwrap().problems, Vec::<String>::new());
}
