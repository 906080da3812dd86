//! What a thread that must not wait does at most: batches, call-backs, bytes.

use crate::async_writes::Scene;
use crate::hooked_io::{Call, HookedIo};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::ThreadId;
use storage::io::aio::AsyncWrites;
use storage::io::simulated::SimulatedIo;
use storage::limits::{ASYNC_WRITES_REAPED_AT_ONCE_MAX, SHORT_BATCHES_AT_ONCE_MAX};
use storage::{Environment, Job, Options, Result, TransactionId, Tree, WriteTransaction};
use testing::random::Random;
use testing::wait::{LONG, until_equal};

/// Puts a number, and submits the next job while it runs, so that a leader always finds one. Sends the thread that ran it.
struct Chain {
    environment: Arc<Environment>,
    tree: Tree,
    left: u32,
    ran: Sender<ThreadId>,
}

impl Job for Chain {
    fn short_size(&self) -> Option<usize> {
        Some(304)
    }
    fn run(&mut self, tx: &mut WriteTransaction<'_>) -> bool {
        self.ran.send(std::thread::current().id()).unwrap();
        if let Some(left) = self.left.checked_sub(1) {
            let (environment, ran) = (self.environment.clone(), self.ran.clone());
            let next = Chain { environment, tree: self.tree, left, ran };
            assert!(self.environment.submit(Box::new(next)).is_none(), "this thread leads");
        }
        self.tree.put(tx, &self.left.to_be_bytes(), &[7; 300]).is_ok()
    }
    fn done(self: Box<Self>, outcome: Result<TransactionId>) {
        outcome.unwrap();
    }
}

#[test]
fn in_memory_a_thread_that_serves_others_leads_a_bounded_number_of_batches() {
    let environment = Arc::new(Environment::in_memory(Options::default()).unwrap());
    let tree = environment.write(|tx| Tree::open_or_create(tx, b"tree")).unwrap();
    let writes = Arc::new(AsyncWrites::new().unwrap());
    let (ran, ran_on) = channel();
    let left = 4 * SHORT_BATCHES_AT_ONCE_MAX;
    let first = Chain { environment: environment.clone(), tree, left, ran };
    environment.submit(Box::new(first)).expect("no thread leads").begin(&writes);
    let threads: Vec<_> = (0..=left).map(|_| ran_on.recv_timeout(LONG).unwrap()).collect();
    let here = std::thread::current().id();
    let here_count = threads.iter().filter(|thread| **thread == here).count();
    assert_eq!(here_count, SHORT_BATCHES_AT_ONCE_MAX as usize);
}

#[test]
fn a_thread_that_reaps_comes_back_although_writes_go_on() {
    let Scene { environment, tree, writes, .. } = Scene::new();
    let environment = Arc::new(environment);
    let (ran, ran_on) = channel();
    let left = 2 * ASYNC_WRITES_REAPED_AT_ONCE_MAX as u32;
    let first = Chain { environment: environment.clone(), tree, left, ran };
    environment.submit(Box::new(first)).expect("no thread leads").begin(&writes);
    assert!(writes.reap(), "there is more");
    let count = ran_on.try_iter().count();
    assert!((ASYNC_WRITES_REAPED_AT_ONCE_MAX..left as usize).contains(&count), "{count}");
    let rest = left as usize + 1 - count;
    while writes.reap() {}
    assert_eq!(ran_on.try_iter().count(), rest);
}

/// As large as a short job may be, and different, so that the record is as large as they are together.
struct Large(Tree, u32, Sender<bool>);

impl Job for Large {
    fn short_size(&self) -> Option<usize> {
        Some(30 * 1900)
    }
    fn run(&mut self, tx: &mut WriteTransaction<'_>) -> bool {
        let mut random = Random::new(u64::from(self.1));
        (0..30).all(|part| {
            let value: Vec<u8> = (0..1900).map(|_| random.below(256) as u8).collect();
            self.0.put(tx, &(self.1 * 100 + part).to_be_bytes(), &value).is_ok()
        })
    }
    fn done(self: Box<Self>, outcome: Result<TransactionId>) {
        self.2.send(outcome.is_ok()).unwrap();
    }
}

#[test]
fn a_thread_that_serves_others_makes_no_journal_file() {
    let (disk, made_on) = (SimulatedIo::new(), Arc::new(Mutex::new(Vec::new())));
    let made = made_on.clone();
    let io = HookedIo::before(Call::Open, &disk, move |path| {
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("journal-")) {
            made.lock().push(std::thread::current().id());
        }
        Ok(())
    });
    let scene = Scene::on(disk, io, Arc::new(AsyncWrites::new().unwrap()));
    made_on.lock().clear();
    let (answered, answers) = channel();
    let count = 120;
    for number in 0..count {
        let lead = scene.environment.submit(Box::new(Large(scene.tree, number, answered.clone())));
        if let Some(lead) = lead {
            lead.begin(&scene.writes);
        }
    }
    let mut left = count;
    let count_left = || {
        scene.reap();
        // Threads of the pool lead as well.
        left -= answers.try_iter().inspect(|is_durable| assert!(is_durable)).count() as u32;
        left
    };
    until_equal(count_left, 0);
    let made_on = made_on.lock();
    assert!(!made_on.is_empty(), "{count} jobs need more than one file");
    assert!(!made_on.contains(&std::thread::current().id()), "the thread waited for the device");
}
