//! Commits for which no thread waits: short jobs, led by a thread that goes on while the device writes.

use crate::model_support::{FOLDER, find_structures, make_structures};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use storage::io::Io;
use storage::io::aio::AsyncWrites;
use storage::io::simulated::{Fate, Fault, SimulatedIo};
use storage::{Environment, Job, Options, Tree, WriteTransaction};
use testing::random::Random;
use testing::seeds::{each_seed, seeds};
use testing::wait::{LONG, until_true};

/// Puts a number into a tree, and sends it with whether that was durable.
pub struct Put {
    pub tree: Tree,
    pub number: u32,
    pub is_short: bool,
    pub answered: Sender<(u32, bool)>,
}

impl Job for Put {
    fn short_size(&self) -> Option<usize> {
        self.is_short.then_some(304)
    }
    fn run(&mut self, tx: &mut WriteTransaction<'_>) -> bool {
        self.tree.put(tx, &self.number.to_be_bytes(), &[7; 300]).is_ok()
    }
    fn done(self: Box<Self>, outcome: storage::Result<storage::TransactionId>) {
        self.answered.send((self.number, outcome.is_ok())).ok();
    }
}

/// An environment on a simulated disk whose journal is written in `reap`.
pub struct Scene {
    pub disk: SimulatedIo,
    pub writes: Arc<AsyncWrites>,
    pub environment: Environment,
    pub tree: Tree,
    pub answered: Sender<(u32, bool)>,
    pub answers: Receiver<(u32, bool)>,
}

impl Scene {
    pub fn new() -> Scene {
        let writes = Arc::new(AsyncWrites::new().expect("Linux has asynchronous I/O"));
        let disk = SimulatedIo::new();
        Scene::on(disk.clone(), Arc::new(disk), writes)
    }

    /// * `io`: the disk, or one that has hooks before its calls.
    pub fn on(disk: SimulatedIo, io: Arc<dyn Io>, writes: Arc<AsyncWrites>) -> Scene {
        let options = Options { io, async_writes: Some(writes.clone()), background: false, ..Options::default() };
        let environment = Environment::open(Path::new(FOLDER), options).unwrap();
        let tree = make_structures(&environment).unwrap().tree;
        let (answered, answers) = channel();
        Scene { disk, writes, environment, tree, answered, answers }
    }

    pub fn job(&self, number: u32) -> Put {
        Put { tree: self.tree, number, is_short: true, answered: self.answered.clone() }
    }

    /// Hands a job over, and leads if no thread does. True: it led.
    pub fn begin(&self, number: u32) -> bool {
        let lead = self.environment.submit(Box::new(self.job(number)));
        let leads = lead.is_some();
        if let Some(lead) = lead {
            lead.begin(&self.writes);
        }
        leads
    }

    /// Until nothing is on its way.
    pub fn reap(&self) {
        while self.writes.reap() {}
    }

    pub fn answered(&self) -> Vec<(u32, bool)> {
        self.answers.try_iter().collect()
    }
}

pub fn has(environment: &Environment, number: u32) -> bool {
    let tree = find_structures(environment).unwrap().tree;
    tree.get(&environment.read(), &number.to_be_bytes()).unwrap().is_some()
}

pub fn reopen(disk: &SimulatedIo) -> Environment {
    let options = Options { io: Arc::new(disk.clone()), background: false, ..Options::default() };
    Environment::open(Path::new(FOLDER), options).unwrap()
}

#[test]
fn a_job_is_answered_when_its_record_has_ended_and_those_behind_it_share_the_next() {
    let scene = Scene::new();
    assert!(scene.begin(0) && scene.begin(1), "two records may be on their way");
    for number in 2..50 {
        scene.begin(number);
    }
    assert_eq!(scene.answered(), [], "no record has ended");
    assert!(!has(&scene.environment, 0), "what is not durable is not seen");
    let before = scene.disk.operations();
    scene.reap();
    assert_eq!(scene.answered(), (0..50).map(|number| (number, true)).collect::<Vec<_>>());
    assert_eq!(scene.disk.operations() - before, 3, "48 jobs shared one record");
    let recovered = reopen(&scene.disk.crash(|| Fate::Lost));
    assert!((0..50).all(|number| has(&recovered, number)));
}

#[test]
fn a_long_job_is_led_by_a_thread_that_waits() {
    let scene = Scene::new();
    let long = Put { is_short: false, ..scene.job(1) };
    scene.environment.submit(Box::new(long)).expect("no thread leads").begin(&scene.writes);
    assert_eq!(scene.answers.recv_timeout(LONG), Ok((1, true)), "without a call of `reap`");
    scene.begin(2);
    assert_eq!(scene.answered(), []);
    scene.reap();
    assert_eq!(scene.answered(), [(2, true)]);
}

#[test]
fn jobs_of_threads_that_wait_go_between() {
    let scene = Scene::new();
    assert!(scene.begin(1) && scene.begin(2));
    std::thread::scope(|scope| {
        let (environment, tree) = (&scene.environment, scene.tree);
        let waiting = scope.spawn(move || environment.write(|tx| tree.put(tx, b"waiting", b"thread")));
        // Its record, which it writes itself, is published after those that no thread waits for.
        scene.begin(3);
        until_true("all jobs are done", || {
            scene.reap();
            waiting.is_finished() && scene.environment.queue_length() == 0
        });
        waiting.join().unwrap().unwrap();
    });
    scene.reap();
    let mut answered = scene.answered();
    answered.sort_unstable();
    assert_eq!(answered, [(1, true), (2, true), (3, true)]);
}

#[test]
fn an_environment_is_closed_although_no_thread_reaps() {
    let scene = Scene::new();
    scene.begin(1);
    scene.begin(2);
    scene.begin(3);
    scene.environment.close().unwrap();
    assert_eq!(scene.answers.try_iter().collect::<Vec<_>>(), [(1, true), (2, true), (3, true)]);
    let reopened = reopen(&scene.disk);
    assert!((1..4).all(|number| has(&reopened, number)));
}

/// The last handle of the environment goes in the call-back of its own write, with another write on its way.
#[test]
fn a_call_back_may_close_the_environment() {
    struct Closes(Option<Arc<Environment>>, Sender<bool>);
    impl Job for Closes {
        fn short_size(&self) -> Option<usize> {
            Some(0)
        }
        fn run(&mut self, tx: &mut WriteTransaction<'_>) -> bool {
            Tree::open_or_create(tx, b"of the job that closes").is_ok()
        }
        fn done(mut self: Box<Self>, outcome: storage::Result<storage::TransactionId>) {
            drop(self.0.take());
            self.1.send(outcome.is_ok()).unwrap();
        }
    }
    let Scene { disk, writes, environment, tree, answered, answers } = Scene::new();
    let environment = Arc::new(environment);
    let (closed, is_closed) = channel();
    let put = |number| Box::new(Put { tree, number, is_short: true, answered: answered.clone() });
    environment.submit(Box::new(Closes(Some(environment.clone()), closed))).expect("no thread leads").begin(&writes);
    environment.submit(put(1)).expect("another record may be on its way").begin(&writes);
    drop(environment);
    while writes.reap() {}
    assert_eq!(is_closed.try_recv(), Ok(true));
    assert_eq!(answers.try_iter().collect::<Vec<_>>(), [(1, true)]);
    assert!(has(&reopen(&disk), 1));
}

/// Batches that change nothing count as on their way until their jobs are answered. The third finds two of them and gives up the lead.
#[test]
fn a_job_behind_batches_that_change_nothing_gets_a_leader() {
    struct ChangesNothing {
        environment: Arc<Environment>,
        writes: Arc<AsyncWrites>,
        successors: u32,
        answered: Sender<u32>,
    }
    impl Job for ChangesNothing {
        fn short_size(&self) -> Option<usize> {
            Some(0)
        }
        fn run(&mut self, _: &mut WriteTransaction<'_>) -> bool {
            true
        }
        fn done(self: Box<Self>, _: storage::Result<storage::TransactionId>) {
            let ChangesNothing { environment, writes, successors, answered } = *self;
            answered.send(successors).unwrap();
            if let Some(successors) = successors.checked_sub(1) {
                let next =
                    ChangesNothing { environment: environment.clone(), writes: writes.clone(), successors, answered };
                if let Some(lead) = environment.submit(Box::new(next)) {
                    lead.begin(&writes);
                }
            }
        }
    }
    let Scene { writes, environment, .. } = Scene::new();
    let (environment, (answered, answers)) = (Arc::new(environment), channel());
    let first = ChangesNothing { environment: environment.clone(), writes: writes.clone(), successors: 4, answered };
    environment.submit(Box::new(first)).expect("no thread leads").begin(&writes);
    assert_eq!([4, 3, 2, 1, 0].map(|_| answers.recv_timeout(LONG)), [4, 3, 2, 1, 0].map(Ok));
}

#[test]
fn a_write_that_fails_refuses_its_jobs_and_all_after_them() {
    let scene = Scene::new();
    scene.begin(1);
    scene.reap();
    assert_eq!(scene.answered(), [(1, true)]);
    scene.begin(2);
    scene.begin(3);
    scene.begin(4);
    scene.disk.fail_at(Some(Fault { at: scene.disk.operations(), for_ever: false, kind: ErrorKind::Other }));
    scene.reap();
    let mut answered = scene.answered();
    answered.sort_unstable();
    assert_eq!(answered, [(2, false), (3, false), (4, false)], "3 was built upon 2, whose record was lost");
    scene.begin(5);
    scene.reap();
    assert_eq!(scene.answers.recv_timeout(LONG), Ok((5, false)), "writes are refused until it is opened again");
}

/// The device fails for good at a random operation, and the machine loses its power.
#[test]
fn a_crash_at_any_operation_loses_nothing_that_was_answered() {
    each_seed(seeds(60, 20_000), |seed| {
        let mut random = Random::new(seed);
        let scene = Scene::new();
        let at = scene.disk.operations() + random.below(60);
        scene.disk.fail_at(Some(Fault { at, for_ever: true, kind: ErrorKind::Other }));
        for number in 0..80 {
            scene.begin(number);
            if random.below(3) == 0 {
                scene.reap();
            }
            if random.below(40) == 0 {
                // A failure is one of the device: the environment refuses writes from then on.
                scene.environment.flush().ok();
            }
        }
        scene.reap();
        // Threads of the pool may lead as well: what is answered by now has to be in the image.
        let answered = scene.answered();
        let image = scene.disk.crash(|| match random.below(3) {
            0 => Fate::Lost,
            1 => Fate::Persisted,
            _ => Fate::Torn(random.next()),
        });
        let recovered = reopen(&image);
        for (number, _) in answered.iter().filter(|(_, is_durable)| *is_durable) {
            assert!(has(&recovered, *number), "{number} was answered and is lost");
        }
        // What is there is the beginning of the history: no job without all before it.
        let count = (0..80).take_while(|number| has(&recovered, *number)).count() as u32;
        assert!((count..80).all(|number| !has(&recovered, number)), "a job is there and one before it is not");
    });
}

/// Not every file system does (tmpfs does not).
fn can_write_past_the_cache(folder: &Path) -> bool {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::DIRECT.bits() as i32;
    std::fs::File::options().read(true).custom_flags(flags).open(folder.join("data")).is_ok()
}

/// The system's own files, with a thread that watches the event as a server does.
#[test]
fn threads_that_begin_commits_are_answered_by_the_one_that_reaps() {
    let folder = std::env::temp_dir().join(format!("rookery-async-writes-{}", std::process::id()));
    let writes = Arc::new(AsyncWrites::new().expect("Linux has asynchronous I/O"));
    let options = Options { async_writes: Some(writes.clone()), ..Options::default() };
    let environment = Environment::open(&folder, options).unwrap();
    let tree = make_structures(&environment).unwrap().tree;
    let (threads, jobs) = (4, 500);
    let (answered, answers) = channel();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (environment, writes, answered) = (&environment, &writes, answered.clone());
            scope.spawn(move || {
                for number in 0..jobs {
                    let number = thread * jobs + number;
                    let job = Put { tree, number, is_short: true, answered: answered.clone() };
                    if let Some(lead) = environment.submit(Box::new(job)) {
                        lead.begin(writes);
                    }
                }
            });
        }
        let mut count = 0;
        while count < threads * jobs {
            let mut events = [rustix::event::PollFd::from_borrowed_fd(writes.event(), rustix::event::PollFlags::IN)];
            let timeout = rustix::event::Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
            rustix::event::poll(&mut events, Some(&timeout)).unwrap();
            while writes.reap() {}
            for (number, is_durable) in answers.try_iter() {
                assert!(is_durable, "{number}");
                count += 1;
            }
        }
    });
    environment.close().unwrap();
    if can_write_past_the_cache(&folder) {
        assert!(writes.begun_count() > 0, "threads waited for the device");
    }
    let reopened = Environment::open(&folder, Options::default()).unwrap();
    assert!((0..threads * jobs).all(|number| has(&reopened, number)));
    drop(reopened);
    std::fs::remove_dir_all(&folder).unwrap();
}
