//! Two things at once, made to meet: a hook in the file system runs the one in the middle of the other.

mod model_support;

use model_support::{FOLDER, find_structures, make_structures, options, verify};
use parking_lot::Mutex;
use std::io::Result;
use std::path::Path;
use std::sync::Arc;
use storage::io::simulated::{Fate, SimulatedIo};
use storage::io::{File, Io, Mapping, OpenMode};
use storage::{Environment, Options};

type Hook = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

/// A simulated disk that runs a hook before the next write to the data file.
#[derive(Clone)]
struct Hooked {
    disk: SimulatedIo,
    before_write: Hook,
}

struct HookedFile {
    file: Arc<dyn File>,
    before_write: Hook,
}

impl Io for Hooked {
    fn create_dir(&self, path: &Path) -> Result<()> {
        self.disk.create_dir(path)
    }
    fn list(&self, path: &Path) -> Result<Vec<String>> {
        self.disk.list(path)
    }
    fn open(&self, path: &Path, mode: OpenMode) -> Result<Arc<dyn File>> {
        let file = self.disk.open(path, mode)?;
        Ok(Arc::new(HookedFile { file, before_write: self.before_write.clone() }))
    }
    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> Result<()> {
        self.disk.remove(path)
    }
    fn sync_dir(&self, path: &Path) -> Result<()> {
        self.disk.sync_dir(path)
    }
    fn lock(&self, path: &Path) -> Result<Option<Box<dyn Send + Sync>>> {
        self.disk.lock(path)
    }
}

impl HookedFile {
    fn run_hook(&self) {
        let hook = self.before_write.lock().take();
        if let Some(hook) = hook {
            hook();
        }
    }
}

impl File for HookedFile {
    fn path(&self) -> &Path {
        self.file.path()
    }
    fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<()> {
        self.file.read_at(buffer, position)
    }
    fn write_at(&self, buffer: &[u8], position: u64) -> Result<()> {
        if self.file.path().ends_with("data") {
            self.run_hook();
        }
        self.file.write_at(buffer, position)
    }
    fn sync(&self) -> Result<()> {
        self.file.sync()
    }
    fn len(&self) -> Result<u64> {
        self.file.len()
    }
    fn allocate(&self, position: u64, length: u64) -> Result<()> {
        self.file.allocate(position, length)
    }
    fn set_len(&self, length: u64) -> Result<()> {
        self.file.set_len(length)
    }
    fn punch_hole(&self, position: u64, length: u64) -> Result<bool> {
        self.file.punch_hole(position, length)
    }
    fn map(&self, position: u64, length: usize) -> Result<Mapping> {
        self.file.map(position, length)
    }
}

fn hooked() -> (Hooked, &'static Environment) {
    let io = Hooked { disk: SimulatedIo::new(), before_write: Hook::default() };
    let environment = Environment::open(Path::new(FOLDER), Options { io: Arc::new(io.clone()), ..options(&io.disk) });
    (io, Box::leak(Box::new(environment.unwrap())))
}

#[test]
fn a_flush_for_an_old_snapshot_survives_that_the_snapshot_closes_meanwhile() {
    let (io, environment) = hooked();
    let structures = make_structures(environment).unwrap();
    let write = |key: &[u8], value: u8| environment.write(|tx| structures.tree.put(tx, key, &[value; 1000])).unwrap();
    for key in 0..60 {
        write(&[key], 1);
    }
    let old = environment.read();
    for key in 0..60 {
        write(&[key], 2);
    }
    // In the middle of the flush the old snapshot closes, and writers take the memory that it kept.
    *io.before_write.lock() = Some(Box::new(move || {
        drop(old);
        for key in 100..160 {
            environment.write(|tx| structures.tree.put(tx, &[key], &[3; 1000])).unwrap();
        }
    }));
    environment.flush().unwrap();
    let image = io.disk.crash(|| Fate::Lost);
    let reopened = Environment::open(Path::new(FOLDER), options(&image)).unwrap();
    let structures = find_structures(&reopened).unwrap();
    verify(&reopened);
    let tx = reopened.read();
    for key in 0..60 {
        assert_eq!(structures.tree.get(&tx, &[key]).unwrap(), Some(&[2; 1000][..]), "key {key}");
    }
    for key in 100..160 {
        assert_eq!(structures.tree.get(&tx, &[key]).unwrap(), Some(&[3; 1000][..]), "key {key}");
    }
}

#[test]
fn a_snapshot_inside_of_another_environments_costs_no_slot() {
    let first = Environment::in_memory(Options::default()).unwrap();
    let second = Environment::in_memory(Options::default()).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // More often than there are slots.
        for _ in 0..5_000 {
            let outer = first.read();
            let inner = second.read();
            drop((outer, inner));
        }
        sender.send(()).unwrap();
    });
    let waited = receiver.recv_timeout(std::time::Duration::from_secs(20));
    assert!(waited.is_ok(), "all slots are taken, and no snapshot is open");
}

#[test]
fn a_snapshot_that_outlives_its_thread_costs_no_slot() {
    let environment: &'static Environment = Box::leak(Box::new(Environment::in_memory(Options::default()).unwrap()));
    for _ in 0..4_200 {
        let sent = std::thread::spawn(|| environment.read()).join().unwrap();
        drop(sent);
    }
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(environment.read().id()).unwrap());
    let waited = receiver.recv_timeout(std::time::Duration::from_secs(20));
    assert!(waited.is_ok(), "all slots are taken, and no snapshot is open");
}

/// A job without a thread that waits.
struct Late {
    tree: storage::Tree,
    answered: std::sync::mpsc::Sender<bool>,
}

impl storage::Job for Late {
    fn run(&mut self, tx: &mut storage::WriteTransaction<'_>) -> bool {
        self.tree.put(tx, b"late", b"job").is_ok()
    }
    fn done(self: Box<Self>, outcome: storage::Result<storage::TransactionId>) {
        self.answered.send(outcome.is_ok()).ok();
    }
}

#[test]
fn closing_waits_for_the_jobs_that_were_handed_over() {
    let disk = SimulatedIo::new();
    let environment = Environment::open(Path::new(FOLDER), options(&disk)).unwrap();
    let structures = make_structures(&environment).unwrap();
    let (answered, answers) = std::sync::mpsc::channel();
    for _ in 0..200 {
        environment.submit(Box::new(Late { tree: structures.tree, answered: answered.clone() }));
    }
    environment.close().unwrap();
    drop(answered);
    let outcomes: Vec<bool> = answers.try_iter().collect();
    assert_eq!(outcomes, vec![true; 200], "each was answered before the environment was closed");
    let image = disk.crash(|| Fate::Lost);
    let reopened = Environment::open(Path::new(FOLDER), options(&image)).unwrap();
    let tree = find_structures(&reopened).unwrap().tree;
    assert!(tree.get(&reopened.read(), b"late").unwrap().is_some(), "what was answered with success is there");
}

struct PanicsWhenDone(std::sync::mpsc::Sender<()>);

impl storage::Job for PanicsWhenDone {
    fn run(&mut self, _: &mut storage::WriteTransaction<'_>) -> bool {
        true
    }
    fn done(self: Box<Self>, _: storage::Result<storage::TransactionId>) {
        self.0.send(()).unwrap();
        panic!("a fault of the caller");
    }
}

#[test]
fn a_panic_while_an_answer_is_taken_costs_no_leader() {
    let environment: &'static Environment = Box::leak(Box::new(Environment::in_memory(Options::default()).unwrap()));
    let structures = make_structures(environment).unwrap();
    for _ in 0..20 {
        let (entered, wait) = std::sync::mpsc::channel();
        environment.submit(Box::new(PanicsWhenDone(entered)));
        assert!(wait.recv_timeout(std::time::Duration::from_secs(10)).is_ok(), "nobody leads the queue");
    }
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(environment.write(|tx| structures.tree.put(tx, b"k", b"v")).is_ok()));
    assert_eq!(receiver.recv_timeout(std::time::Duration::from_secs(10)), Ok(true));
}

#[test]
fn a_folder_can_be_opened_again_as_soon_as_it_is_closed() {
    let folder = std::env::temp_dir().join(format!("rookery-reopen-{}", std::process::id()));
    for close in [true, false].repeat(10) {
        let options = storage::Options { flush_after_bytes: 1, ..storage::Options::default() };
        let environment = Environment::open(&folder, options).unwrap();
        for number in 0..20u64 {
            let written = environment.write(|tx| {
                let tree = storage::Tree::open_or_create(tx, b"tree")?;
                tree.put(tx, &number.to_be_bytes(), &[7; 900])
            });
            written.unwrap();
        }
        if close {
            environment.close().unwrap();
        } else {
            drop(environment);
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
