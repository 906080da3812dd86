//! Whole environments in one random order of steps after the other: writers that share transactions, several records on
//! their way, one of which fails, snapshots, and flushes beside them all.
//!
//! `make schedules` runs them: some thousand schedules, with `SLOW=1` a million, or `SCHEDULES=n`. A schedule that fails is printed; give
//! it to `shuttle::replay` with the model.

use crate::io::aio::AsyncWrites;
use crate::io::simulated::{Fate, Fault, SimulatedIo};
use crate::limits::ASYNC_JOURNAL_WRITES_IN_FLIGHT_MAX;
use crate::{Environment, Error, Job, Options, Result, TransactionId, Tree, WriteTransaction};
use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicBool, Ordering};
use shuttle::thread::{self, spawn};
use std::io::ErrorKind;
use std::sync::Arc;

const FOLDER: &str = "/environment";
const WRITERS: u8 = 3;
const STEPS: u8 = 2;
/// Jobs that are begun before a record ends: one more than records may be on their way.
const BEGUN: u8 = ASYNC_JOURNAL_WRITES_IN_FLIGHT_MAX as u8 + 1;

/// Runs a model in random schedules, this model's share of all; says how many there were.
fn check(name: &str, share: usize, model: impl Fn() + Send + Sync + 'static) {
    let all = match std::env::var("SCHEDULES").ok().and_then(|count| count.parse().ok()) {
        Some(count) => count,
        None if std::env::var_os("SLOW").is_some() => 1_000_000,
        None => 4_000,
    };
    let schedules = all / share;
    // Half with every thread as likely as the next, half with few changes between them (Burckhardt and others, "A
    // Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010).
    let model = Arc::new(move || {
        #[cfg(feature = "planted-bugs")]
        crate::sync::planted_tests::plant_if_asked();
        model();
    });
    let again = model.clone();
    shuttle::check_random(move || model(), schedules / 2);
    shuttle::check_pct(move || again(), schedules / 2, 3);
    println!("{name}: {schedules} schedules");
}

fn options(io: &SimulatedIo) -> Options {
    Options { io: Arc::new(io.clone()), background: false, ..Options::default() }
}

fn open(io: &SimulatedIo) -> (Arc<Environment>, Tree) {
    let environment = Environment::open(FOLDER, options(io)).unwrap();
    let tree = environment.write(|tx| Tree::open_or_create(tx, b"tree")).unwrap();
    (Arc::new(environment), tree)
}

/// Two keys that always change together, so that a snapshot which is not whole shows.
fn put(tx: &mut WriteTransaction<'_>, tree: Tree, writer: u8, step: u8) -> Result<()> {
    tree.put(tx, &[b'a', writer], &[step; 1500])?;
    tree.put(tx, &[b'z', writer], &[step; 1500])
}

/// The step of each writer in one snapshot; 0 before its first.
fn steps(environment: &Environment, tree: Tree) -> [u8; WRITERS as usize] {
    let tx = environment.read();
    std::array::from_fn(|writer| {
        let [a, z] = [b'a', b'z'].map(|side| tree.get(&tx, &[side, writer as u8]).unwrap());
        // Others may have their turn while the snapshot is open.
        thread::yield_now();
        assert!(a == z, "a snapshot shows half of a transaction");
        let bytes = a.unwrap_or(&[0]);
        assert!(bytes.iter().all(|byte| *byte == bytes[0]), "a page changed under a snapshot");
        bytes[0]
    })
}

/// What writers were told, and what comes back after a crash: all that was answered, and nothing but steps in their order.
fn check_after_crash(io: &SimulatedIo, answered: [u8; WRITERS as usize]) {
    let image = io.crash(|| Fate::Lost);
    let (reopened, tree) = open(&image);
    for (seen, answered) in steps(&reopened, tree).into_iter().zip(answered) {
        assert!(seen == answered || seen == answered + 1, "step {answered} was answered, and {seen} is there");
    }
}

/// A writer takes its steps until one is refused; gives the last that was answered with success.
fn take_steps(environment: &Environment, tree: Tree, writer: u8) -> u8 {
    for step in 1..=STEPS {
        if environment.write(|tx| put(tx, tree, writer, step)).is_err() {
            return step - 1;
        }
        assert!(steps(environment, tree)[writer as usize] >= step, "what was answered is visible");
    }
    STEPS
}

fn run_writers(environment: &Arc<Environment>, tree: Tree) -> [u8; WRITERS as usize] {
    let writers: [_; WRITERS as usize] = std::array::from_fn(|writer| {
        let environment = environment.clone();
        spawn(move || take_steps(&environment, tree, writer as u8))
    });
    writers.map(|writer| writer.join().unwrap())
}

#[test]
fn writers_that_share_transactions_are_answered_when_they_are_durable() {
    check("group commit", 4, || {
        let io = SimulatedIo::new();
        let (environment, tree) = open(&io);
        let answered = run_writers(&environment, tree);
        assert_eq!(answered, [STEPS; WRITERS as usize]);
        check_after_crash(&io, answered);
    });
}

#[test]
fn after_a_record_that_fails_nothing_is_answered_that_a_crash_could_lose() {
    check("a record fails", 4, || {
        let io = SimulatedIo::new();
        let (environment, tree) = open(&io);
        let at = io.operations() + thread_rng().gen_range(0..6);
        io.fail_at(Some(Fault { at, for_ever: false, kind: ErrorKind::Other }));
        let answered = run_writers(&environment, tree);
        io.fail_at(None);
        check_after_crash(&io, answered);
    });
}

#[test]
fn snapshots_are_whole_and_only_get_newer_beside_writers_and_flushes() {
    check("snapshots and flushes", 4, || {
        let io = SimulatedIo::new();
        let (environment, tree) = open(&io);
        let reader = spawn({
            let environment = environment.clone();
            move || {
                let mut last = [0; WRITERS as usize];
                for _ in 0..3 {
                    let seen = steps(&environment, tree);
                    assert!(seen.iter().zip(last).all(|(seen, last)| *seen >= last), "a later snapshot is not older");
                    last = seen;
                }
            }
        });
        let flusher = spawn({
            let environment = environment.clone();
            move || (0..2).for_each(|_| environment.flush().unwrap())
        });
        let answered = run_writers(&environment, tree);
        reader.join().unwrap();
        flusher.join().unwrap();
        assert_eq!(steps(&environment, tree), answered);
        check_after_crash(&io, answered);
    });
}

/// A job that nobody waits for; notes in which order the answers came.
struct Late {
    tree: Tree,
    step: u8,
    answers: Arc<Mutex<Vec<(u8, Option<TransactionId>)>>>,
}

impl Job for Late {
    fn short_size(&self) -> Option<usize> {
        Some(3000)
    }
    fn run(&mut self, tx: &mut WriteTransaction<'_>) -> bool {
        put(tx, self.tree, 0, self.step).is_ok()
    }
    fn done(self: Box<Self>, outcome: Result<TransactionId, Error>) {
        self.answers.lock().unwrap().push((self.step, outcome.ok()));
    }
}

#[test]
fn jobs_that_nobody_waits_for_are_answered_once_before_the_environment_is_closed() {
    check("jobs without a thread", 4, || {
        let io = SimulatedIo::new();
        let (environment, tree) = open(&io);
        let answers = Arc::new(Mutex::new(Vec::new()));
        let writer = spawn({
            let environment = environment.clone();
            move || take_steps(&environment, tree, 1)
        });
        for step in 1..=STEPS {
            // Dropped, the lead goes to a thread of the pool; taken, it is led here.
            let lead = environment.submit(Box::new(Late { tree, step, answers: answers.clone() }));
            if step % 2 == 0
                && let Some(lead) = lead
            {
                lead.run();
            }
        }
        assert_eq!(writer.join().unwrap(), STEPS);
        Arc::into_inner(environment).unwrap().close().unwrap();
        let mut answers = std::mem::take(&mut *answers.lock().unwrap());
        answers.sort_unstable();
        assert!(answers.iter().map(|(step, _)| *step).eq(1..=STEPS), "each once");
        assert!(answers.iter().all(|(_, outcome)| outcome.is_some()) && answers.is_sorted_by_key(|(_, id)| *id));
        check_after_crash(&io, [STEPS, STEPS, 0]);
    });
}

/// A lead is begun by a thread that does not wait for the device, or taken, or dropped. Records that are begun end where a third thread, or
/// the one that closes, reaps them.
#[test]
fn jobs_whose_records_end_without_a_thread_are_answered_once() {
    // One for all schedules: the kernel takes milliseconds to make one and to end it.
    let writes = Arc::new(AsyncWrites::new().unwrap());
    check("jobs that are begun", 4, move || {
        let io = SimulatedIo::new();
        let options = Options { async_writes: Some(writes.clone()), ..options(&io) };
        let environment = Environment::open(FOLDER, options).unwrap();
        let tree = environment.write(|tx| Tree::open_or_create(tx, b"tree")).unwrap();
        let environment = Arc::new(environment);
        let (answers, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let reaping = spawn({
            let (writes, is_over) = (writes.clone(), is_over.clone());
            move || {
                while !is_over.load(Ordering::SeqCst) {
                    while writes.reap() {}
                    thread::yield_now();
                }
            }
        });
        let writer = spawn({
            let environment = environment.clone();
            move || take_steps(&environment, tree, 1)
        });
        let steps = 2 * STEPS;
        for step in 1..=steps {
            let lead = environment.submit(Box::new(Late { tree, step, answers: answers.clone() }));
            match (lead, thread_rng().gen_range(0..4)) {
                (None, _) => {}
                (Some(lead), 0) => drop(lead),
                (Some(lead), 1) => lead.run(),
                (Some(lead), _) => lead.begin(&writes),
            }
        }
        assert_eq!(writer.join().unwrap(), STEPS);
        Arc::into_inner(environment).unwrap().close().unwrap();
        is_over.store(true, Ordering::SeqCst);
        reaping.join().unwrap();
        let mut answers = std::mem::take(&mut *answers.lock().unwrap());
        answers.sort_unstable();
        assert!(answers.iter().map(|(step, _)| *step).eq(1..=steps), "each once");
        assert!(answers.iter().all(|(_, outcome)| outcome.is_some()) && answers.is_sorted_by_key(|(_, id)| *id));
        check_after_crash(&io, [steps, STEPS, 0]);
    });
}

/// The last of the jobs finds as many records on their way as may be. No later job and no closing makes it run: the end of a record does.
#[test]
fn a_job_behind_the_records_on_their_way_is_led_by_the_end_of_one() {
    let writes = Arc::new(AsyncWrites::new().unwrap());
    check("a job behind records", 8, move || {
        let io = SimulatedIo::new();
        let options = Options { async_writes: Some(writes.clone()), ..options(&io) };
        let environment = Arc::new(Environment::open(FOLDER, options).unwrap());
        let tree = environment.write(|tx| Tree::open_or_create(tx, b"tree")).unwrap();
        let answers = Arc::new(Mutex::new(Vec::new()));
        for step in 1..=BEGUN {
            if let Some(lead) = environment.submit(Box::new(Late { tree, step, answers: answers.clone() })) {
                lead.begin(&writes);
            }
        }
        let reaping = spawn({
            let (writes, answers) = (writes.clone(), answers.clone());
            move || {
                while answers.lock().unwrap().len() < usize::from(BEGUN) {
                    while writes.reap() {}
                    thread::yield_now();
                }
            }
        });
        let reading = spawn({
            let environment = environment.clone();
            move || {
                let seen = steps(&environment, tree)[0];
                assert!(steps(&environment, tree)[0] >= seen, "a later snapshot is not older");
            }
        });
        reaping.join().unwrap();
        reading.join().unwrap();
        let ids: Vec<_> = answers.lock().unwrap().iter().map(|(_, id)| id.unwrap()).collect();
        assert!(ids.is_sorted());
        Arc::into_inner(environment).unwrap().close().unwrap();
        check_after_crash(&io, [BEGUN, 0, 0]);
    });
}

#[cfg(feature = "planted-bugs")]
mod planted {
    //! That the models can fail.

    use crate::planted::Bug;
    use crate::sync::planted_tests::check_that_it_is_found;

    const SNAPSHOTS: &str = "sync::shuttle_tests::snapshots_are_whole_and_only_get_newer_beside_writers_and_flushes";
    const BEHIND: &str = "sync::shuttle_tests::a_job_behind_the_records_on_their_way_is_led_by_the_end_of_one";
    const FAILURES: &str = "sync::shuttle_tests::after_a_record_that_fails_nothing_is_answered_that_a_crash_could_lose";

    #[test]
    fn a_page_that_is_used_again_while_a_reader_needs_it_is_found() {
        let reasons = ["half of a transaction", "changed under a snapshot", "Corrupt"];
        check_that_it_is_found(Bug::ReadersIgnored, SNAPSHOTS, &reasons);
    }

    #[test]
    fn a_batch_that_lands_without_a_look_at_the_queue_is_found() {
        // The thread that reaps waits for ever for the job that no thread leads.
        check_that_it_is_found(Bug::LandingIgnoresQueue, BEHIND, &["exceeded max_steps"]);
    }

    #[test]
    fn an_answer_before_an_earlier_record_is_durable_is_found() {
        check_that_it_is_found(Bug::PrefixIgnored, FAILURES, &["was answered, and", "was durable when"]);
    }
}
