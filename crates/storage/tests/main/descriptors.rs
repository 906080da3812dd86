//! A process that has too many files open refuses what needs another one, and goes on when there are some again.

use crate::model_support::{FOLDER, make_structures, options, verify};
use std::io::Result;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use storage::io::simulated::SimulatedIo;
use storage::io::{File, Io, OpenMode};
use storage::{Environment, Error};
use testing::random::Random;

const EMFILE: i32 = 24;

/// A disk on a system that can be made to run out of descriptors.
#[derive(Clone)]
struct Scarce {
    disk: SimulatedIo,
    is_out: Arc<AtomicBool>,
}

impl Scarce {
    fn need_one(&self) -> Result<()> {
        if self.is_out.load(Relaxed) { Err(std::io::Error::from_raw_os_error(EMFILE)) } else { Ok(()) }
    }
}

impl Io for Scarce {
    fn create_dir(&self, path: &Path) -> Result<()> {
        self.disk.create_dir(path)
    }

    fn list(&self, path: &Path) -> Result<Vec<String>> {
        self.need_one().and_then(|()| self.disk.list(path))
    }

    fn open(&self, path: &Path, mode: OpenMode) -> Result<Arc<dyn File>> {
        self.need_one().and_then(|()| self.disk.open(path, mode))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        self.disk.remove(path)
    }

    fn sync_dir(&self, path: &Path) -> Result<()> {
        self.need_one().and_then(|()| self.disk.sync_dir(path))
    }

    fn lock(&self, path: &Path) -> Result<Option<Box<dyn Send + Sync>>> {
        self.disk.lock(path)
    }
}

#[test]
fn a_journal_file_for_which_there_is_no_descriptor_costs_only_its_write() {
    let io = Scarce { disk: SimulatedIo::new(), is_out: Arc::default() };
    let environment = Environment::open(Path::new(FOLDER), options(&io)).unwrap();
    let structures = make_structures(&environment).unwrap();
    let mut random = Random::new(1);
    let mut write = |key: u64| {
        // What cannot be compressed fills the journal.
        let value = random.bytes(50_000);
        environment.write(|tx| structures.tree.put(tx, &key.to_be_bytes(), &value))
    };
    let mut stored = 0;
    // Fresh files, and those that a flush gave back to be used again.
    for round in 0..4 {
        (0..20).for_each(|_| {
            write(stored).unwrap();
            stored += 1;
        });
        io.is_out.store(true, Relaxed);
        let refused = (0..1000).find_map(|_| match write(stored) {
            Ok(()) => {
                stored += 1;
                None
            }
            Err(error) => Some(error),
        });
        assert!(matches!(refused, Some(Error::Io { .. })), "round {round}: {refused:?}");
        assert!(write(stored).is_err());
        io.is_out.store(false, Relaxed);
        write(stored).unwrap();
        stored += 1;
        environment.flush().unwrap();
    }
    let count = |environment: &Environment| {
        let tx = environment.read();
        (0..stored + 1).filter(|key| structures.tree.get(&tx, &key.to_be_bytes()).unwrap().is_some()).count() as u64
    };
    assert_eq!(count(&environment), stored);
    verify(&environment);
    drop(environment);
    let environment = Environment::open(Path::new(FOLDER), options(&io)).unwrap();
    assert_eq!(count(&environment), stored);
}
