//! Two things at once, made to meet: a hook in the file system runs the one in the middle of the other.

use crate::hooked_io::{Call, HookedIo};
use crate::model_support::{FOLDER, find_structures, make_structures, options, verify};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use storage::io::simulated::{Fate, SimulatedIo};
use storage::{Environment, Options};
use testing::wait::LONG;

type Once = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

/// An environment on a disk that does something before the next write to the data file.
fn hooked() -> (SimulatedIo, Once, &'static Environment) {
    let (disk, once) = (SimulatedIo::new(), Once::default());
    let hook = once.clone();
    let io = HookedIo::before(Call::Write, &disk, move |path| {
        let hook = if path.ends_with("data") { hook.lock().take() } else { None };
        hook.into_iter().for_each(|hook| hook());
        Ok(())
    });
    let environment = Environment::open(Path::new(FOLDER), Options { io, ..options(&disk) });
    (disk, once, Box::leak(Box::new(environment.unwrap())))
}

#[test]
fn a_flush_for_an_old_snapshot_survives_that_the_snapshot_closes_meanwhile() {
    let (disk, before_write, environment) = hooked();
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
    *before_write.lock() = Some(Box::new(move || {
        drop(old);
        for key in 100..160 {
            environment.write(|tx| structures.tree.put(tx, &[key], &[3; 1000])).unwrap();
        }
    }));
    environment.flush().unwrap();
    let image = disk.crash(|| Fate::Lost);
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
    // As many as a thread keeps slots of, and more.
    let environments: Vec<Environment> = (0..6).map(|_| Environment::in_memory(Options::default()).unwrap()).collect();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // More often than there are slots.
        for count in 0..5_000 {
            let open: Vec<_> = environments[..2 + count % 5].iter().map(Environment::read).collect();
            drop(open);
        }
        sender.send(()).unwrap();
    });
    let waited = receiver.recv_timeout(LONG);
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
    let waited = receiver.recv_timeout(LONG);
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
        assert!(wait.recv_timeout(LONG).is_ok(), "nobody leads the queue");
    }
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(environment.write(|tx| structures.tree.put(tx, b"k", b"v")).is_ok()));
    assert_eq!(receiver.recv_timeout(LONG), Ok(true));
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

#[test]
fn a_lead_that_is_taken_runs_the_job_here_and_one_that_is_not_elsewhere() {
    let disk = SimulatedIo::new();
    let environment = Environment::open(Path::new(FOLDER), options(&disk)).unwrap();
    let tree = make_structures(&environment).unwrap().tree;
    let (answered, answers) = std::sync::mpsc::channel();
    let submit = || environment.submit(Box::new(Late { tree, answered: answered.clone() }));
    let lead = submit().expect("nobody leads");
    assert!(!lead.is_alone(), "nobody knows yet who else comes");
    lead.run();
    assert_eq!(answers.try_recv(), Ok(true));
    (0..8u8).for_each(|key| environment.write(|tx| tree.put(tx, &[key], b"alone")).unwrap());
    let lead = submit().expect("nobody leads");
    assert!(lead.is_alone());
    assert!(submit().is_none(), "one lead is enough");
    assert!(answers.try_recv().is_err(), "nobody led yet");
    lead.run();
    assert_eq!(answers.try_iter().collect::<Vec<_>>(), [true, true], "both were answered before it came back");
    let lead = submit().expect("nobody leads again");
    assert!(!lead.is_alone(), "there were two in the last batch");
    drop(lead);
    let waited = answers.recv_timeout(LONG);
    assert_eq!(waited, Ok(true), "a thread of the pool leads");
    // A lead that is taken when the environment is closed already.
    let lead = submit().expect("nobody leads again");
    environment.close().unwrap();
    lead.run();
    assert_eq!(answers.try_recv(), Ok(false), "it was refused, not lost without a word");
}
