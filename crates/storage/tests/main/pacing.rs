//! When flushes run, and what a writer meets that comes at the wrong time.

use crate::model_support::{FOLDER, Structures, make_structures, options};
use std::path::Path;
use storage::io::simulated::{Fate, SimulatedIo};
use storage::{Environment, Error, Options};
use testing::wait::until_true;

/// An environment in a folder of its own on a new disk.
fn environment(disk: &SimulatedIo, flush_after_bytes: u64, version_bytes_max: usize) -> (Environment, Structures) {
    let options = Options { flush_after_bytes, version_bytes_max, background: true, ..options(disk) };
    let environment = Environment::open(Path::new(FOLDER), options).unwrap();
    let structures = make_structures(&environment).unwrap();
    (environment, structures)
}

fn write(environment: &Environment, structures: &Structures, key: u64) -> storage::Result<()> {
    environment.write(|tx| structures.tree.put(tx, &key.to_be_bytes(), &[key as u8; 1500]))
}

#[test]
fn a_write_inside_of_a_write_is_refused_and_the_outer_one_goes_on() {
    let (environment, structures) = environment(&SimulatedIo::new(), 1 << 20, 1 << 30);
    let other = Environment::in_memory(Options::default()).unwrap();
    environment
        .write(|tx| {
            assert!(matches!(write(&environment, &structures, 1), Err(Error::Nested { .. })));
            assert!(matches!(environment.flush(), Err(Error::Nested { .. })));
            assert!(matches!(environment.flush_if_idle(), Err(Error::Nested { .. })));
            // Another environment has another writer; but from there the way back is closed too.
            other.write(|_| match write(&environment, &structures, 2) {
                Err(Error::Nested { .. }) => Ok(()),
                answer => panic!("a write two levels below its like: {answer:?}"),
            })?;
            structures.tree.put(tx, b"outer", b"kept")
        })
        .unwrap();
    assert_eq!(structures.tree.get(&environment.read(), b"outer").unwrap(), Some(&b"kept"[..]));
    assert_eq!(structures.tree.get(&environment.read(), &1u64.to_be_bytes()).unwrap(), None);
    write(&environment, &structures, 3).unwrap();
}

#[test]
fn an_environment_at_rest_is_flushed_once() {
    let disk = SimulatedIo::new();
    let (environment, structures) = environment(&disk, 1 << 30, 1 << 30);
    write(&environment, &structures, 1).unwrap();
    assert!(!environment.flush_if_idle().unwrap(), "something was committed since it was last asked");
    assert!(environment.flush_if_idle().unwrap());
    assert!(!environment.flush_if_idle().unwrap(), "the data file has everything");
    let statistics = environment.statistics().unwrap();
    assert_eq!(statistics.flushed_transaction, statistics.last_transaction);
    write(&environment, &structures, 2).unwrap();
    assert!(!environment.flush_if_idle().unwrap());
    let image = disk.crash(|| Fate::Lost);
    let reopened = Environment::open(Path::new(FOLDER), options(&image)).unwrap();
    let flushed = reopened.statistics().unwrap().flushed_transaction;
    assert_eq!(flushed, statistics.flushed_transaction, "the journal after that is replayed");
}

#[test]
fn beside_an_old_snapshot_flushing_is_tried_again_only_when_it_closes() {
    let (environment, structures) = environment(&SimulatedIo::new(), 64 << 10, 1 << 30);
    write(&environment, &structures, 0).unwrap();
    environment.flush().unwrap();
    let old = environment.read();
    for key in 0..400 {
        write(&environment, &structures, key).unwrap();
    }
    let tries = environment.statistics().unwrap().flush_count;
    assert!(tries <= 4, "{tries} flushes, of which none could move anything but the first");
    drop(old);
    write(&environment, &structures, 401).unwrap();
    write(&environment, &structures, 402).unwrap();
    until_true("a flush after the snapshot closed", || environment.statistics().unwrap().flush_count > tries);
}

#[test]
fn a_snapshot_that_is_held_costs_each_page_once() {
    const KEYS: u64 = 60;
    let (environment, structures) = environment(&SimulatedIo::new(), 64 << 10, 1 << 30);
    (0..KEYS).for_each(|key| write(&environment, &structures, key).unwrap());
    let mut open = Vec::new();
    let mut first = 0;
    for round in 1..=200u8 {
        if round.is_power_of_two() && round < 16 {
            open.push((round, environment.read()));
        }
        for key in 0..KEYS {
            environment.write(|tx| structures.tree.put(tx, &key.to_be_bytes(), &[round; 1500])).unwrap();
        }
        if round == 16 {
            first = environment.statistics().unwrap().versions_waiting;
        }
    }
    let last = environment.statistics().unwrap().versions_waiting;
    assert!(last <= first + first / 4, "{first} versions for four snapshots after 16 rounds, {last} after 200");
    for (round, snapshot) in &open {
        for key in 0..KEYS {
            let before = if *round == 1 { key as u8 } else { round - 1 };
            assert_eq!(structures.tree.get(snapshot, &key.to_be_bytes()).unwrap(), Some(&[before; 1500][..]));
        }
    }
}

#[test]
fn a_long_reader_costs_its_own_environment_only() {
    const VERSIONS: usize = 1 << 20;
    let (crowded, structures) = environment(&SimulatedIo::new(), 64 << 20, VERSIONS);
    let (other, other_structures) = environment(&SimulatedIo::new(), 64 << 20, VERSIONS);
    write(&crowded, &structures, 0).unwrap();
    let old = crowded.read();
    let refused = (0..5_000).find_map(|key| write(&crowded, &structures, key).err());
    match refused {
        Some(Error::LongReader { oldest, version_bytes, .. }) => {
            assert_eq!(oldest, old.id());
            assert!(version_bytes > 2 * VERSIONS);
        }
        answer => panic!("versions without a bound, or {answer:?}"),
    }
    let young = other.read();
    for key in 0..20 {
        write(&other, &other_structures, key).unwrap();
    }
    drop((old, young));
    until_true("writes after the snapshot closed", || write(&crowded, &structures, 1).is_ok());
}

#[test]
fn writers_that_outrun_the_flush_wait_for_it() {
    const MEASURE: u64 = 64 << 10;
    let (environment, structures) = environment(&SimulatedIo::new(), MEASURE, 1 << 30);
    let mut largest = 0;
    for key in 0..2_000 {
        write(&environment, &structures, key % 50).unwrap();
        largest = largest.max(environment.statistics().unwrap().journal_since_flush);
    }
    // Twice the measure, and what one batch adds.
    assert!(largest < 2 * MEASURE + (64 << 10), "{largest} bytes of journal since the last flush");
    assert!(environment.statistics().unwrap().flush_count > 10);
}
