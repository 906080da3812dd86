//! Documents and indexes on the simulated disk.

use documents::{DocumentStore, StoreOptions};
use rookery_query::index::{Batch, Index};
use rookery_query::indexing::Indexer;
use std::sync::Arc;
use storage::io::simulated::{Fate, SimulatedIo};
use storage::{Environment, Options};
use testing::random::Random;

/// Without threads of its own: what happens is what the test does.
pub fn options(io: &SimulatedIo) -> Options {
    Options { io: Arc::new(io.clone()), background: false, ..Options::default() }
}

pub fn store(io: &SimulatedIo) -> DocumentStore {
    DocumentStore::open(Environment::open("/documents", options(io)).unwrap(), StoreOptions::default()).unwrap()
}

/// Indexes all that there is; no document may fail.
pub fn catch_up(index: &Index, indexer: &mut Indexer, store: &DocumentStore) {
    let mut batch = Batch::new();
    loop {
        let step = indexer.step(index, &store.read(), &mut batch).unwrap();
        assert!(step.failures.is_empty(), "{:?}", step.failures);
        if step.is_done {
            return;
        }
    }
}

/// What becomes of a write that was not made durable, at a crash.
pub fn fate(random: &mut Random) -> Fate {
    match random.below(3) {
        0 => Fate::Lost,
        1 => Fate::Persisted,
        _ => Fate::Torn(random.next()),
    }
}
