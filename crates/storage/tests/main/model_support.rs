//! A scenario: an environment with a tree, a fixed tree and a heap of records, and what they must hold.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use storage::io::Io;
use storage::io::simulated::SimulatedIo;
use storage::{Environment, Error, FixedTree, Location, Options, ReadTransaction, Records, Tree};
use testing::random::Random;

/// The folder of all scenarios.
pub const FOLDER: &str = "/environment";

/// What an environment holds.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Model {
    pub tree: BTreeMap<Vec<u8>, Vec<u8>>,
    pub fixed: BTreeMap<u64, u64>,
    pub records: BTreeMap<u64, Vec<u8>>,
    pub next_etag: u64,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} keys, {} fixed, {} records", self.tree.len(), self.fixed.len(), self.records.len())
    }
}

/// The structures of a scenario.
#[derive(Clone, Copy)]
pub struct Structures {
    pub tree: Tree,
    pub fixed: FixedTree,
    pub records: Records,
}

pub struct Scenario {
    pub io: Option<SimulatedIo>,
    pub environment: Arc<Environment>,
    pub structures: Structures,
    pub model: Model,
    /// Changes that were made, those that were taken back included.
    pub operations: u64,
    /// Snapshots that were compared with the model of their version.
    pub snapshots: u64,
}

pub fn same(seen: &Model, expected: &Model) -> bool {
    seen.tree == expected.tree && seen.records == expected.records
}

pub fn options(io: &(impl Io + Clone + 'static)) -> Options {
    Options { io: Arc::new(io.clone()), background: false, ..Options::default() }
}

pub fn make_structures(environment: &Environment) -> Result<Structures, Error> {
    environment.write(|tx| {
        Ok(Structures {
            tree: Tree::open_or_create(tx, b"tree")?,
            fixed: FixedTree::open_or_create(tx, b"fixed")?,
            records: Records::open_or_create(tx, b"records")?,
        })
    })
}

/// The structures of an environment, if they were made.
pub fn find_structures(environment: &Environment) -> Option<Structures> {
    let tx = environment.read();
    Some(Structures {
        tree: Tree::open(&tx, b"tree").unwrap()?,
        fixed: FixedTree::open(&tx, b"fixed").unwrap()?,
        records: Records::open(&tx, b"records").unwrap()?,
    })
}

/// Reads all that a snapshot shows, in both directions and by single keys.
pub fn read_all(tx: &ReadTransaction<'_>, structures: &Structures) -> Model {
    let mut model = Model::default();
    let mut cursor = structures.tree.cursor(tx);
    while let Some((key, value)) = cursor.next().unwrap() {
        model.tree.insert(key.to_vec(), value.to_vec());
    }
    let mut backwards = 0;
    let mut cursor = structures.tree.cursor(tx);
    let mut before: Option<Vec<u8>> = None;
    while let Some((key, _)) = cursor.previous().unwrap() {
        assert!(before.as_ref().is_none_or(|before| key < &before[..]), "keys fall when going back");
        before = Some(key.to_vec());
        backwards += 1;
    }
    assert_eq!(backwards, model.tree.len());
    let mut cursor = structures.fixed.cursor(tx);
    while let Some((key, value)) = cursor.next().unwrap() {
        model.fixed.insert(key, value);
        model.records.insert(key, structures.records.get(tx, Location(value)).unwrap().to_vec());
    }
    let mut backwards = 0;
    let mut cursor = structures.fixed.cursor(tx);
    while cursor.previous().unwrap().is_some() {
        backwards += 1;
    }
    assert_eq!(backwards, model.fixed.len());
    model
}

#[track_caller]
pub fn verify(environment: &Environment) {
    let report = environment.verify().unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
}

/// One change of the model and of the environment alike.
pub enum Change {
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
    AddRecord(Vec<u8>),
    UpdateRecord(u64, Vec<u8>),
    DeleteRecord(u64),
}

pub fn random_key(random: &mut Random) -> Vec<u8> {
    match random.below(10) {
        0 => {
            let length = random.below(40) as usize;
            random.bytes(length)
        }
        1 if random.chance(2) => vec![b'k'; random.below(2049) as usize],
        // Long beginnings that most keys of a page share, and then one does not.
        1 => format!("{}{}", "p".repeat(480 - random.below(3) as usize), random.below(2000)).into_bytes(),
        2..=4 => format!("users/{}", random.below(500)).into_bytes(),
        _ => format!("{:08}", random.below(3000)).into_bytes(),
    }
}

fn random_value(random: &mut Random) -> Vec<u8> {
    let length = match random.below(40) {
        0 => random.below(60_000),
        1..=3 => random.below(3000),
        _ => random.below(200),
    };
    random.bytes(length as usize)
}

pub fn random_change(random: &mut Random, model: &Model) -> Change {
    let some_record = |random: &mut Random| {
        let from = random.below(model.next_etag + 1);
        model.records.range(from..).next().map(|(etag, _)| *etag)
    };
    let some_key = |random: &mut Random| {
        let from = random_key(random);
        model.tree.range(from..).next().map(|(key, _)| key.clone())
    };
    match random.below(20) {
        0..=7 => Change::Put(random_key(random), random_value(random)),
        8..=11 => Change::Delete(some_key(random).unwrap_or_else(|| random_key(random))),
        12..=15 => Change::AddRecord(random_value(random)),
        16..=17 => match some_record(random) {
            Some(etag) => Change::UpdateRecord(etag, random_value(random)),
            None => Change::AddRecord(random_value(random)),
        },
        _ => match some_record(random) {
            Some(etag) => Change::DeleteRecord(etag),
            None => Change::AddRecord(random_value(random)),
        },
    }
}

pub fn apply_to_model(model: &mut Model, change: &Change) {
    match change {
        Change::Put(key, value) => drop(model.tree.insert(key.clone(), value.clone())),
        Change::Delete(key) => drop(model.tree.remove(key)),
        Change::AddRecord(value) => {
            model.next_etag += 1;
            model.records.insert(model.next_etag, value.clone());
        }
        Change::UpdateRecord(etag, value) => drop(model.records.insert(*etag, value.clone())),
        Change::DeleteRecord(etag) => drop(model.records.remove(etag)),
    }
}

pub fn apply(
    structures: &Structures,
    tx: &mut storage::WriteTransaction<'_>,
    model: &Model,
    change: &Change,
) -> Result<(), Error> {
    let location = |tx: &storage::WriteTransaction<'_>, etag: u64| -> Result<Location, Error> {
        Ok(Location(structures.fixed.get(tx, etag)?.expect("a record of the model has a location")))
    };
    match change {
        Change::Put(key, value) => structures.tree.put(tx, key, value),
        Change::Delete(key) => {
            let there = structures.tree.delete(tx, key)?;
            assert_eq!(there, model.tree.contains_key(key));
            Ok(())
        }
        Change::AddRecord(value) => {
            let middle = value.len() / 3;
            let location = structures.records.insert(tx, &[&value[..middle], &value[middle..]])?;
            structures.fixed.put(tx, model.next_etag + 1, location.0)
        }
        Change::UpdateRecord(etag, value) => {
            let old = location(tx, *etag)?;
            let new = structures.records.update(tx, old, &[value])?;
            if new == old { Ok(()) } else { structures.fixed.put(tx, *etag, new.0) }
        }
        Change::DeleteRecord(etag) => {
            let old = location(tx, *etag)?;
            structures.records.delete(tx, old)?;
            assert!(structures.fixed.delete(tx, *etag)?);
            Ok(())
        }
    }
}

impl Scenario {
    pub fn new(io: SimulatedIo, _: &mut Random) -> Self {
        let environment = Environment::open(Path::new(FOLDER), options(&io)).unwrap();
        let structures = make_structures(&environment).unwrap();
        Scenario::of(Some(io), environment, structures)
    }

    pub fn in_memory() -> Self {
        let environment = Environment::in_memory(Options::default()).unwrap();
        let structures = make_structures(&environment).unwrap();
        Scenario::of(None, environment, structures)
    }

    fn of(io: Option<SimulatedIo>, environment: Environment, structures: Structures) -> Self {
        let (environment, model) = (Arc::new(environment), Model::default());
        Scenario { io, environment, structures, model, operations: 0, snapshots: 0 }
    }

    /// One transaction of random changes; one in eight is taken back.
    pub fn transaction(&mut self, random: &mut Random) {
        let mut changed = self.model.clone();
        let count = 1 + if random.chance(3) { random.below(120) } else { random.below(8) };
        let roll_back = random.chance(8);
        self.operations += count;
        let structures = self.structures;
        let outcome = self.environment.write(|tx| {
            for _ in 0..count {
                let change = random_change(random, &changed);
                apply(&structures, tx, &changed, &change)?;
                apply_to_model(&mut changed, &change);
            }
            if roll_back { Err(Error::Closed) } else { Ok(()) }
        });
        assert_eq!(outcome.is_err(), roll_back, "{outcome:?}");
        if !roll_back {
            self.model = changed;
        }
    }

    pub fn step(&mut self, random: &mut Random) {
        match random.below(12) {
            0 => self.environment.flush().unwrap(),
            1 => self.reopen(random.chance(2)),
            2 => {
                // A snapshot that stays open while the environment goes on.
                let environment = self.environment.clone();
                let before = self.model.clone();
                let tx = environment.read();
                for _ in 0..random.below(6) {
                    self.transaction(random);
                    if random.chance(4) {
                        environment.flush().unwrap();
                    }
                }
                let seen = read_all(&tx, &self.structures);
                assert_eq!((&seen.tree, &seen.records), (&before.tree, &before.records));
                self.snapshots += 1;
            }
            3 => self.compare(),
            _ => self.transaction(random),
        }
    }

    pub fn reopen(&mut self, close: bool) {
        let Some(io) = &self.io else { return };
        let placeholder = Arc::new(Environment::in_memory(Options::default()).unwrap());
        let environment = std::mem::replace(&mut self.environment, placeholder);
        let environment = Arc::try_unwrap(environment).unwrap_or_else(|_| panic!("nobody else has it"));
        if close {
            environment.close().unwrap();
        } else {
            drop(environment);
        }
        self.environment = Arc::new(Environment::open(Path::new(FOLDER), options(io)).unwrap());
        self.structures = find_structures(&self.environment).unwrap();
    }

    pub fn compare(&mut self) {
        self.snapshots += 1;
        let seen = read_all(&self.environment.read(), &self.structures);
        assert_eq!(seen.tree, self.model.tree);
        assert_eq!(seen.records, self.model.records);
    }

    pub fn finish(mut self) {
        self.compare();
        verify(&self.environment);
        self.environment.flush().unwrap();
        verify(&self.environment);
        self.compare();
        self.reopen(true);
        verify(&self.environment);
        self.compare();
    }
}
