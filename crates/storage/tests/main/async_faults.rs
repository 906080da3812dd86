//! Faults of the engine and of call-backs where commits have no thread that waits: every job is answered, and no other
//! environment is held up.

use crate::async_writes::Scene;
use crate::hooked_io::{Call, HookedIo};
use crate::model_support::{FOLDER, make_structures};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use storage::io::aio::AsyncWrites;
use storage::io::simulated::SimulatedIo;
use storage::{Environment, Error, Job, Options, Result, TransactionId, Tree, WriteTransaction};
use testing::random::Random;
use testing::wait::LONG;

fn name_begins(path: &Path, begin: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begin))
}

/// The engine panics while the thread that reaps begins the next commit of an environment.
#[test]
fn a_panic_in_the_thread_that_reaps_costs_no_answer() {
    let (disk, begun) = (SimulatedIo::new(), AtomicU32::new(0));
    let io = HookedIo::before(Call::BeginWrite, &disk, move |_| {
        assert_ne!(begun.fetch_add(1, Ordering::Relaxed), 2, "a fault of the engine");
        Ok(())
    });
    let faulty = Scene::on(disk, io, Arc::new(AsyncWrites::new().unwrap()));
    let other_disk = SimulatedIo::new();
    let other = Scene::on(other_disk.clone(), Arc::new(other_disk), faulty.writes.clone());
    for number in 1..=4 {
        faulty.begin(number);
    }
    other.begin(1);
    faulty.reap();
    assert_eq!(other.answered(), [(1, true)], "another environment does not notice");
    let mut answered = faulty.answered();
    answered.sort_unstable();
    assert_eq!(answered, [(1, true), (2, true), (3, false), (4, false)], "1 and 2 were on their way");
    faulty.begin(5);
    assert_eq!(
        faulty.answers.recv_timeout(LONG),
        Ok((5, false)),
        "what was sealed is lost, so that writes are refused"
    );
    let (sender, written) = channel();
    std::thread::spawn(move || sender.send(faulty.environment.write(|tx| faulty.tree.put(tx, b"k", b"v"))).unwrap());
    assert!(matches!(written.recv_timeout(LONG), Ok(Err(Error::Failed { .. }))), "a thread that waits is refused");
}

/// A record whose end never comes, because its call-back is dropped, is lost with all that follow.
#[test]
fn a_record_whose_write_is_dropped_is_lost_and_not_waited_for() {
    let (disk, begun) = (SimulatedIo::new(), AtomicU32::new(0));
    let io = HookedIo::before(Call::BeginWrite, &disk, move |_| {
        assert_ne!(begun.fetch_add(1, Ordering::Relaxed), 0, "a fault of the engine");
        Ok(())
    });
    let scene = Scene::on(disk, io, Arc::new(AsyncWrites::new().unwrap()));
    catch_unwind(AssertUnwindSafe(|| scene.begin(1))).unwrap_err();
    assert_eq!(scene.answered(), [(1, false)]);
    scene.begin(2);
    scene.reap();
    assert_eq!(scene.answers.recv_timeout(LONG), Ok((2, false)));
}

/// Writes more than the rest of a journal file holds, so that sealing makes a file.
struct Fills(Tree, Sender<Result<TransactionId>>);

impl Job for Fills {
    fn run(&mut self, tx: &mut WriteTransaction<'_>) -> bool {
        // Bytes that cannot be compressed.
        let mut random = Random::new(1);
        (0..400_u32).all(|key| {
            let value: Vec<u8> = (0..1900).map(|_| random.below(256) as u8).collect();
            self.0.put(tx, &key.to_be_bytes(), &value).is_ok()
        })
    }
    fn done(self: Box<Self>, outcome: Result<TransactionId>) {
        self.1.send(outcome).unwrap();
    }
}

#[test]
fn a_job_whose_transaction_panics_when_it_is_sealed_is_answered() {
    let (disk, is_faulty) = (SimulatedIo::new(), Arc::new(AtomicBool::new(false)));
    let faulty = is_faulty.clone();
    let io = HookedIo::before(Call::Open, &disk, move |path| {
        assert!(!(faulty.load(Ordering::Relaxed) && name_begins(path, "journal-")), "a fault of the engine");
        Ok(())
    });
    let options = Options { io, background: false, ..Options::default() };
    let environment = Environment::open(Path::new(FOLDER), options).unwrap();
    let tree = make_structures(&environment).unwrap().tree;
    is_faulty.store(true, Ordering::Relaxed);
    let (answered, answers) = channel();
    environment.submit(Box::new(Fills(tree, answered.clone())));
    assert!(matches!(answers.recv_timeout(LONG), Ok(Err(Error::JobPanicked))), "no answer");
    environment.submit(Box::new(Fills(tree, answered)));
    assert!(matches!(answers.recv_timeout(LONG), Ok(Err(Error::Failed { .. }))), "writes are refused from then on");
}

/// A job that panics is refused. Its call-back drops the last handle of the environment, which takes the writer's lock.
#[test]
fn the_call_back_of_a_refused_job_may_close_the_environment() {
    struct Closes(Option<Arc<Environment>>, Sender<Result<TransactionId>>);
    impl Job for Closes {
        fn short_size(&self) -> Option<usize> {
            Some(0)
        }
        fn run(&mut self, _: &mut WriteTransaction<'_>) -> bool {
            panic!("a fault of the job");
        }
        fn done(mut self: Box<Self>, outcome: Result<TransactionId>) {
            drop(self.0.take());
            self.1.send(outcome).unwrap();
        }
    }
    let Scene { environment, writes, .. } = Scene::new();
    let (environment, (answered, answers)) = (Arc::new(environment), channel());
    std::thread::spawn(move || {
        let job = Closes(Some(environment.clone()), answered);
        let lead = environment.submit(Box::new(job)).expect("no thread leads");
        drop(environment);
        lead.begin(&writes);
    });
    assert!(matches!(answers.recv_timeout(LONG), Ok(Err(Error::JobPanicked))), "it waits for its own lock");
}

/// A job that is refused beside one that is not: both are answered, each with its own outcome.
#[test]
fn a_refused_job_costs_the_others_of_its_batch_nothing() {
    struct Panics(Sender<Result<TransactionId>>);
    impl Job for Panics {
        fn short_size(&self) -> Option<usize> {
            Some(0)
        }
        fn run(&mut self, _: &mut WriteTransaction<'_>) -> bool {
            panic!("a fault of the job");
        }
        fn done(self: Box<Self>, outcome: Result<TransactionId>) {
            self.0.send(outcome).unwrap();
        }
    }
    let scene = Scene::new();
    let (answered, answers) = channel();
    scene.begin(1);
    scene.begin(2);
    scene.environment.submit(Box::new(Panics(answered))).expect("no thread leads").begin(&scene.writes);
    scene.begin(3);
    scene.reap();
    assert_eq!(scene.answered(), [(1, true), (2, true), (3, true)]);
    assert!(matches!(answers.try_recv(), Ok(Err(Error::JobPanicked))));
}
