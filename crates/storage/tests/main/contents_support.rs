//! A model of contents, histories of random changes to both, and the oracle for crashes of them.

use crate::crash_support::{Counts, images};
use crate::model_support::{FOLDER, options};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::Ordering;
use storage::contents::{AppendOutcome, LinkOutcome};
use storage::io::Io;
use storage::io::simulated::{Fault, SimulatedIo};
use storage::{Contents, Environment, Error, ReadTransaction, Tree, WriteTransaction};
use testing::random::Random;

/// Uploads, keys of the tree, and contents that many uploads have.
const NAMES: u64 = 6;

/// What contents hold, and a tree beside them that uses pages as well.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Model {
    pub uploads: BTreeMap<u64, Vec<u8>>,
    /// By their hash: the bytes, and the references.
    pub contents: BTreeMap<u64, (Vec<u8>, u64)>,
    pub tree: BTreeMap<u64, Vec<u8>>,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let uploads = self.uploads.iter().map(|(id, bytes)| (id, bytes.len())).collect::<Vec<_>>();
        let contents = self.contents.iter().map(|(hash, (bytes, references))| (hash, bytes.len(), references));
        write!(f, "uploads {uploads:?}, contents {:?}, {} keys", contents.collect::<Vec<_>>(), self.tree.len())
    }
}

/// What a history did before the disk failed.
pub struct Outcome {
    /// The state after the last transaction that was answered with success.
    pub answered: Model,
    /// The state after the one that was not answered, if there was one.
    pub in_flight: Option<Model>,
}

#[derive(Clone, Copy)]
pub struct Structures {
    pub contents: Contents,
    pub tree: Tree,
}

pub fn make_structures(environment: &Environment) -> Result<Structures, Error> {
    environment.write(|tx| {
        Ok(Structures {
            contents: Contents::open_or_create(tx, b"contents")?,
            tree: Tree::open_or_create(tx, b"tree")?,
        })
    })
}

pub fn find_structures(environment: &Environment) -> Option<Structures> {
    let tx = environment.read();
    let contents = Contents::open(&tx, b"contents").unwrap()?;
    Some(Structures { contents, tree: Tree::open(&tx, b"tree").unwrap()? })
}

pub fn open(io: &(impl Io + Clone + 'static)) -> Result<Environment, Error> {
    Environment::open(Path::new(FOLDER), options(io))
}

pub fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// One change.
#[derive(Debug)]
pub enum Change {
    Begin(u64),
    Append(u64, Vec<u8>),
    Link(u64),
    AddReference(u64),
    Unlink(u64),
    Cancel(u64),
    Put(u64, Vec<u8>),
    Delete(u64),
}

fn random_piece(random: &mut Random) -> Vec<u8> {
    let length = match random.below(12) {
        0..=2 => random.below(100),
        3..=5 => 1_900 + random.below(300),
        6..=10 => random.below(60_000),
        _ => random.below(300_000),
    };
    random.bytes(length as usize)
}

pub fn random_change(random: &mut Random, model: &Model) -> Change {
    let upload = random.below(NAMES);
    let some_content = |random: &mut Random| {
        let index = random.below(model.contents.len() as u64 + 1) as usize;
        model.contents.keys().nth(index).copied().unwrap_or_else(|| random.below(3))
    };
    match random.below(20) {
        0..=2 => Change::Begin(upload),
        3..=5 => Change::Append(upload, random_piece(random)),
        // One of a few, so that hashes come again.
        6..=7 => Change::Append(upload, Random::at(random.below(3)).bytes(20_000)),
        8..=11 => Change::Link(model.uploads.keys().nth(upload as usize).copied().unwrap_or(upload)),
        12 => Change::AddReference(some_content(random)),
        13..=15 => Change::Unlink(some_content(random)),
        16 => Change::Cancel(upload),
        17..=18 => Change::Put(upload, random_piece(random)),
        _ => Change::Delete(upload),
    }
}

/// Changes the environment and the model alike; what the one says must be what the other does.
pub fn apply(
    Structures { contents, tree }: Structures,
    tx: &mut WriteTransaction<'_>,
    model: &mut Model,
    change: &Change,
) -> Result<(), Error> {
    match change {
        Change::Begin(upload) => {
            let begun = contents.begin(tx, &upload.to_be_bytes(), 0)?;
            assert_eq!(begun, !model.uploads.contains_key(upload));
            model.uploads.entry(*upload).or_default();
        }
        Change::Append(upload, bytes) => {
            let at = model.uploads.get(upload).map_or(0, Vec::len) as u64;
            let outcome = contents.append(tx, &upload.to_be_bytes(), at, bytes, 0)?;
            let expected = model.uploads.get_mut(upload).map_or(AppendOutcome::Missing, |upload| {
                upload.extend_from_slice(bytes);
                AppendOutcome::Stored { length: upload.len() as u64 }
            });
            assert_eq!(outcome, expected);
        }
        Change::Link(upload) => {
            let hash = hash_of(model.uploads.get(upload).map_or(&[], |bytes| bytes));
            let outcome = contents.link(tx, &upload.to_be_bytes(), &hash.to_be_bytes())?;
            let Some(bytes) = model.uploads.remove(upload) else {
                assert_eq!(outcome, LinkOutcome::Missing);
                return Ok(());
            };
            let content = model.contents.entry(hash).or_insert((bytes, 0));
            content.1 += 1;
            let LinkOutcome::Linked(linked) = outcome else { panic!("{outcome:?}") };
            assert_eq!((linked.length, linked.references), (content.0.len() as u64, content.1));
        }
        Change::AddReference(hash) => {
            let found = contents.add_reference(tx, &hash.to_be_bytes())?;
            let expected = model.contents.get_mut(hash).map(|(_, references)| {
                *references += 1;
                *references
            });
            assert_eq!(found.map(|content| content.references), expected);
        }
        Change::Unlink(hash) => {
            let left = contents.unlink(tx, &hash.to_be_bytes())?;
            let expected = model.contents.get_mut(hash).map(|(_, references)| {
                *references -= 1;
                *references
            });
            assert_eq!(left, expected);
            model.contents.retain(|_, (_, references)| *references > 0);
        }
        Change::Cancel(upload) => {
            let cancelled = contents.cancel(tx, &upload.to_be_bytes())?;
            assert_eq!(cancelled, model.uploads.remove(upload).is_some());
        }
        Change::Put(key, value) => {
            tree.put(tx, &key.to_be_bytes(), value)?;
            model.tree.insert(*key, value.clone());
        }
        Change::Delete(key) => {
            assert_eq!(tree.delete(tx, &key.to_be_bytes())?, model.tree.remove(key).is_some());
        }
    }
    Ok(())
}

/// Whether a snapshot shows the state of a model: contents whole, references right, uploads as long as they are.
pub fn shows(tx: &ReadTransaction<'_>, Structures { contents, tree }: Structures, model: &Model) -> bool {
    let mut found = BTreeMap::new();
    let mut hashes = Vec::new();
    let each = |hash: &[u8], content: storage::contents::Content| {
        hashes.push((u64::from_be_bytes(hash.try_into().unwrap()), content.references));
        Ok::<_, Error>(())
    };
    contents.for_each(tx, each).unwrap();
    for (hash, references) in hashes {
        let mut reading = contents.read(tx, &hash.to_be_bytes(), 0..u64::MAX).unwrap().unwrap();
        let mut bytes = Vec::new();
        while let Some(piece) = reading.next().unwrap() {
            bytes.extend_from_slice(piece);
        }
        found.insert(hash, (bytes, references));
    }
    let length = |id: u64| contents.upload_length(tx, &id.to_be_bytes()).unwrap();
    let uploads = (0..NAMES).all(|id| length(id) == model.uploads.get(&id).map(|bytes| bytes.len() as u64));
    let mut keys = BTreeMap::new();
    let mut cursor = tree.cursor(tx);
    while let Some((key, value)) = cursor.next().unwrap() {
        keys.insert(u64::from_be_bytes(key.try_into().unwrap()), value.to_vec());
    }
    uploads && found == model.contents && keys == model.tree
}

#[track_caller]
pub fn verify(environment: &Environment) {
    assert_eq!(environment.verify().unwrap().problems, Vec::<String>::new());
}

/// One transaction of random changes; some are rolled back. The model is changed if it is answered.
pub fn transaction(
    environment: &Environment,
    structures: Structures,
    random: &mut Random,
    model: &mut Model,
) -> Result<(), Option<Model>> {
    let mut next = model.clone();
    let count = 1 + random.below(5);
    let is_rolled_back = random.chance(8);
    let written = environment.write(|tx| {
        for _ in 0..count {
            let change = random_change(random, &next);
            apply(structures, tx, &mut next, &change)?;
        }
        if is_rolled_back { Err(Error::JobPanicked) } else { Ok(()) }
    });
    match written {
        Ok(()) => *model = next,
        Err(Error::JobPanicked) if is_rolled_back => {}
        Err(_) if is_rolled_back => return Err(None),
        Err(_) => return Err(Some(next)),
    }
    Ok(())
}

/// Runs a seeded history until its end, or until the disk fails.
pub fn history(io: &(impl Io + Clone + 'static), seed: u64, transactions: u64) -> Outcome {
    let mut random = Random::at(seed);
    let mut outcome = Outcome { answered: Model::default(), in_flight: None };
    let Ok(mut environment) = open(io) else { return outcome };
    let Ok(mut structures) = make_structures(&environment) else { return outcome };
    for _ in 0..transactions {
        match random.below(5) {
            0 | 1 if environment.flush().is_err() => return outcome,
            2 if random.chance(3) => {
                if random.chance(2) {
                    drop(environment);
                } else if environment.close().is_err() {
                    return outcome;
                }
                let Ok(reopened) = open(io) else { return outcome };
                environment = reopened;
                structures = find_structures(&environment).expect("they were made durably");
            }
            _ => {}
        }
        if let Err(in_flight) = transaction(&environment, structures, &mut random, &mut outcome.answered) {
            outcome.in_flight = in_flight;
            return outcome;
        }
    }
    outcome
}

/// Opens an image and checks it: it shows what was answered or was in flight, takes more, and nothing is left when all is removed.
pub fn check(image: &SimulatedIo, outcome: &Outcome) {
    let environment = open(image).unwrap_or_else(|error| panic!("an image of a crash does not open: {error}"));
    let Some(structures) = find_structures(&environment) else {
        assert!(outcome.answered == Model::default(), "what was answered is gone");
        return;
    };
    let models = [Some(&outcome.answered), outcome.in_flight.as_ref()];
    let seen = models.into_iter().flatten().find(|model| shows(&environment.read(), structures, model));
    let seen = seen.unwrap_or_else(|| panic!("neither {:?} nor {:?} is there", outcome.answered, outcome.in_flight));
    verify(&environment);
    let removed = structures.contents.remove_uploads(&environment, None).unwrap();
    assert_eq!(removed, seen.uploads.len() as u64);
    let mut left = Model { uploads: BTreeMap::new(), ..seen.clone() };
    assert!(shows(&environment.read(), structures, &left), "removing uploads harmed something else");
    verify(&environment);
    let piece = Random::at(7).bytes(70_000);
    let changes = [Change::Begin(0), Change::Append(0, piece), Change::Link(0)];
    environment.write(|tx| changes.iter().try_for_each(|change| apply(structures, tx, &mut left, change))).unwrap();
    environment.flush().unwrap();
    drop(environment);
    let environment = open(image).unwrap();
    assert!(shows(&environment.read(), structures, &left), "a content that was added after a crash is gone");
    remove_all(&environment, structures, &left);
}

/// Removes all contents and keys: no page of a value may be left.
fn remove_all(environment: &Environment, Structures { contents, tree }: Structures, model: &Model) {
    environment
        .write(|tx| {
            for (hash, (_, references)) in &model.contents {
                (0..*references).try_for_each(|_| contents.unlink(tx, &hash.to_be_bytes()).map(drop))?;
            }
            while contents.free(tx)? {}
            tree.clear(tx)
        })
        .unwrap();
    let report = environment.verify().unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    assert_eq!(report.pages.get("value"), None, "pages of values are leaked");
}

/// Random transactions and flushes beside snapshots; each shows its state until it closes.
pub fn agree_with_the_model(environment: &Environment, structures: Structures, random: &mut Random, model: &mut Model) {
    let mut snapshots = Vec::new();
    for _ in 0..20 {
        transaction(environment, structures, random, model).expect("nothing fails");
        assert!(shows(&environment.read(), structures, model));
        if random.chance(3) {
            environment.flush().unwrap();
        }
        if random.chance(3) {
            snapshots.push((environment.read(), model.clone()));
        }
        if snapshots.len() > 3 || (random.chance(4) && !snapshots.is_empty()) {
            let (tx, model) = snapshots.swap_remove(random.below(snapshots.len() as u64) as usize);
            assert!(shows(&tx, structures, &model), "a snapshot changed");
        }
    }
    for (tx, model) in &snapshots {
        assert!(shows(tx, structures, model), "a snapshot changed");
    }
    verify(environment);
}

/// A long history that a fault ends anywhere, and what a crash leaves then.
pub fn crash_somewhere(seed: u64, counts: &Counts) {
    let mut random = Random::at(seed ^ 0x10A7);
    let io = SimulatedIo::new();
    counts.inject(&io, Fault { at: random.below(400), for_ever: random.chance(2), kind: ErrorKind::Other });
    let outcome = history(&io, seed, 50);
    io.fail_at(None);
    images(&io, &mut random, 6, |image| {
        counts.images.fetch_add(1, Ordering::Relaxed);
        check(&image, &outcome);
    });
}
