//! What tests of images and archives share: an environment with a tree, records and contents, whose states are known by transaction.

use crate::contents_support as contents;
use crate::model_support::{
    Model, Structures, apply, apply_to_model, find_structures, make_structures, random_change, read_all, same, verify,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use storage::image::{Progress, Restore, Summary, WriteOptions};
use storage::io::simulated::SimulatedIo;
use storage::{Environment, Error, Options, TransactionId, image};
use testing::random::Random;

/// Where restored folders go.
pub const TARGET: &str = "/restored";

/// What an environment shows.
#[derive(Clone, Default)]
pub struct State {
    pub model: Model,
    pub contents: contents::Model,
}

/// An environment, and its states by their transaction.
pub struct World {
    pub io: SimulatedIo,
    pub options: Options,
    pub environment: Arc<Environment>,
    pub structures: Structures,
    pub contents: contents::Structures,
    pub now: State,
    pub states: BTreeMap<TransactionId, State>,
}

impl World {
    pub fn new(options: impl FnOnce(Options) -> Options) -> World {
        let io = SimulatedIo::new();
        let options = options(crate::model_support::options(&io));
        let environment = Arc::new(Environment::open("/world", options.clone()).unwrap());
        let structures = make_structures(&environment).unwrap();
        let contents = environment
            .write(|tx| {
                Ok::<_, Error>(contents::Structures {
                    contents: storage::Contents::open_or_create(tx, b"contents")?,
                    tree: storage::Tree::open_or_create(tx, b"contents tree")?,
                })
            })
            .unwrap();
        let mut world =
            World { io, options, environment, structures, contents, now: State::default(), states: BTreeMap::new() };
        world.note();
        world
    }

    /// Remembers the state as that of the last transaction.
    fn note(&mut self) {
        self.states.insert(self.environment.read().id(), self.now.clone());
    }

    pub fn last(&self) -> TransactionId {
        self.environment.read().id()
    }

    /// One transaction of the one kind of structures or the other.
    pub fn transaction(&mut self, random: &mut Random) {
        if random.chance(3) {
            let State { contents: model, .. } = &mut self.now;
            contents::transaction(&self.environment, self.contents, random, model).expect("nothing fails");
        } else {
            let structures = self.structures;
            let mut next = self.now.model.clone();
            let count = 1 + random.below(12);
            self.environment
                .write(|tx| {
                    for _ in 0..count {
                        let change = random_change(random, &next);
                        apply(&structures, tx, &next, &change)?;
                        apply_to_model(&mut next, &change);
                    }
                    Ok::<_, Error>(())
                })
                .unwrap();
            self.now.model = next;
        }
        self.note();
    }

    /// Many keys, so that an image has several pieces.
    pub fn fill(&mut self, random: &mut Random, keys: u64) {
        let mut next = self.now.model.clone();
        let structures = self.structures;
        for part in 0..keys.div_ceil(100) {
            let written = self.environment.write(|tx| {
                for number in 0..100 {
                    let key = format!("{:08}", part * 100 + number).into_bytes();
                    let length = 500 + random.below(1500) as usize;
                    let value = random.bytes(length);
                    structures.tree.put(tx, &key, &value)?;
                    next.tree.insert(key, value);
                }
                Ok::<_, Error>(())
            });
            written.unwrap();
        }
        self.now.model = next;
        self.note();
    }

    pub fn flush(&self) {
        self.environment.flush().unwrap();
    }

    /// Transactions, flushes, and snapshots that stay open for a while.
    pub fn go_on(&mut self, random: &mut Random) {
        for _ in 0..random.below(4) {
            self.transaction(random);
        }
        if random.chance(3) {
            self.flush();
        }
    }

    /// Closes and opens it.
    pub fn reopen(mut self, close: bool) -> World {
        let placeholder = Arc::new(Environment::in_memory(Options::default()).unwrap());
        let environment = std::mem::replace(&mut self.environment, placeholder);
        let environment = Arc::try_unwrap(environment).unwrap_or_else(|_| panic!("nobody else has it"));
        if close {
            environment.close().unwrap();
        } else {
            drop(environment);
        }
        self.environment = Arc::new(Environment::open("/world", self.options.clone()).unwrap());
        self
    }

    /// What a crash of the machine leaves, opened.
    pub fn crashed(self, io: SimulatedIo) -> World {
        let options = Options { io: Arc::new(io.clone()), ..self.options };
        let environment = Arc::new(Environment::open("/world", options.clone()).unwrap());
        World { io, options, environment, ..self }
    }

    /// An image, without anything meanwhile.
    pub fn image(&self) -> (Vec<u8>, Summary) {
        let mut image = Vec::new();
        let summary = self.environment.write_image(&mut image, &WriteOptions::default(), &mut |_| true).unwrap();
        (image, summary)
    }

    /// Opens a restored folder and compares it with the state of a transaction; writes to it, and opens it again.
    pub fn check(&self, io: &SimulatedIo, transaction: TransactionId) {
        check_state(io, self.environment.id(), &self.states[&transaction], transaction);
    }
}

/// See [`World::check`].
pub fn check_state(io: &SimulatedIo, id: u128, state: &State, transaction: TransactionId) {
    let open = || Environment::open(TARGET, crate::model_support::options(io)).unwrap();
    let environment = open();
    assert_eq!(environment.id(), id);
    assert_eq!(environment.read().id(), transaction);
    assert!(shows(&environment, state), "another state than that of transaction {transaction}");
    verify(&environment);
    let structures = find_structures(&environment).unwrap();
    environment.write(|tx| structures.tree.put(tx, b"one more", b"write")).unwrap();
    environment.close().unwrap();
    let environment = open();
    assert_eq!(environment.read().id(), TransactionId(transaction.0 + 1));
    verify(&environment);
}

/// Whether an environment shows a state.
pub fn shows(environment: &Environment, state: &State) -> bool {
    let structures = find_structures(environment).unwrap();
    let tx = environment.read();
    let contents = contents::Structures {
        contents: storage::Contents::open(&tx, b"contents").unwrap().unwrap(),
        tree: storage::Tree::open(&tx, b"contents tree").unwrap().unwrap(),
    };
    same(&read_all(&tx, &structures), &state.model) && contents::shows(&tx, contents, &state.contents)
}

/// Begins a restore to [`TARGET`].
pub fn begin(io: &SimulatedIo, mut image: &[u8]) -> image::Result<Restore> {
    Restore::begin(Arc::new(io.clone()), Path::new(TARGET), &mut image, &mut |_| true)
}

/// Restores an image to [`TARGET`].
pub fn restore(io: &SimulatedIo, image: &[u8]) -> image::Result<storage::Position> {
    begin(io, image)?.finish()
}

/// A call-back that never cancels.
pub fn go_on(_: Progress) -> bool {
    true
}
