//! The threads that index: some for all databases of a node, each given one batch of one index at a time.
//!
//! Threads are started when there is work for them and end when there was none for a while, so that a node without indexes has
//! none. Work waits in a queue for each priority, some of it for its time first. The queue that had the fewest turns for its share is next,
//! and in it the index that used the least time, as in stride scheduling (Waldspurger and Weihl, 1995): a slow index delays others by one
//! turn at most.
//!
//! They yield to the threads that answer requests ([`INDEXING_NICENESS`]): where processors are short, indexes get what is left, and fall
//! behind in place of keeping writes waiting. The batches grow as they do, which makes each document in them cheaper.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use query::definition::Priority;

use crate::limits::{INDEXING_NICENESS, INDEXING_THREAD_REST};

/// One turn.
pub(crate) type Turn = Box<dyn FnOnce(&mut Workplace) + Send>;

/// The time that an index used, in nanoseconds, by which the pool shares its threads. An index that was idle has saved nothing up: it
/// starts from the time that those had used which took their turns last.
#[derive(Default, Debug)]
pub(crate) struct TimeUsed(AtomicU64);

impl TimeUsed {
    pub fn add(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    }
}

/// What a thread keeps between turns.
#[derive(Default)]
pub(crate) struct Workplace {
    /// Memory of batches: of one that is written, and one that is filled meanwhile.
    pub batches: [query::index::Batch; 2],
}

/// The threads that index.
pub(crate) struct IndexingPool {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// There is a turn to take, or the pool is closed.
    bell: Condvar,
    /// A thread ended.
    ended: Condvar,
    thread_count_max: usize,
    /// As in the state, to be read without its lock.
    is_closed: AtomicBool,
}

/// The turns that wait, by priority.
#[derive(Default)]
struct Turns {
    queues: [Queue; 3],
    /// What the last one that was taken had had.
    had: u64,
    /// Turns that were ever added: of those that used the same time, the first is next.
    count: u64,
}

#[derive(Default)]
struct Queue {
    turns: BinaryHeap<Reverse<Waiting>>,
    /// Turns that were taken, each weighed by the strides of its priority.
    had: u64,
    /// Nanoseconds that the index had used which took the last turn.
    used: u64,
}

/// A turn that waits; ordered by the time that its index used, then by its number.
struct Waiting {
    used: u64,
    number: u64,
    turn: Turn,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.used, self.number).cmp(&(other.used, other.number))
    }
}

/// What a turn of each priority costs its queue.
const STRIDES: [u64; 3] = [4, 2, 1];

impl Turns {
    fn push(&mut self, priority: Priority, used: Option<&TimeUsed>, turn: Turn) {
        let had = self.had;
        self.count += 1;
        let number = self.count;
        let queue = match (priority, &mut self.queues) {
            (Priority::Low, [queue, ..]) | (Priority::Normal, [_, queue, _]) | (Priority::High, [.., queue]) => queue,
        };
        if queue.turns.is_empty() {
            // Who had nothing to do has saved nothing up.
            queue.had = queue.had.max(had);
        }
        let used = used.map_or(queue.used, |used| used.0.fetch_max(queue.used, Relaxed).max(queue.used));
        queue.turns.push(Reverse(Waiting { used, number, turn }));
    }

    fn pop(&mut self) -> Option<Turn> {
        let waiting = self.queues.iter_mut().zip(STRIDES).rev().filter(|(queue, _)| !queue.turns.is_empty());
        let (queue, stride) = waiting.min_by_key(|(queue, _)| queue.had)?;
        self.had = queue.had;
        queue.had += stride;
        let Reverse(Waiting { used, turn, .. }) = queue.turns.pop()?;
        queue.used = queue.used.max(used);
        Some(turn)
    }

    fn len(&self) -> usize {
        self.queues.iter().map(|queue| queue.turns.len()).sum()
    }
}

#[derive(Default)]
struct State {
    turns: Turns,
    /// Turns that wait for their time.
    later: Vec<Later>,
    thread_count: usize,
    resting_count: usize,
    is_closed: bool,
}

/// A turn that is not to be taken before its time.
struct Later {
    due: Instant,
    priority: Priority,
    turn: Turn,
}

impl State {
    /// Has the turns wait for a thread only whose time has come. Gives when that of the next one comes.
    fn admit(&mut self, now: Instant) -> Option<Instant> {
        for later in self.later.extract_if(.., |later| later.due <= now) {
            self.turns.push(later.priority, None, later.turn);
        }
        self.later.iter().map(|later| later.due).min()
    }

    fn waiting_count(&self) -> usize {
        self.turns.len() + self.later.len()
    }
}

impl IndexingPool {
    pub fn new(thread_count_max: usize) -> IndexingPool {
        let (state, bell, ended) = (Mutex::default(), Condvar::new(), Condvar::new());
        let (thread_count_max, is_closed) = (thread_count_max.max(1), AtomicBool::new(false));
        IndexingPool { shared: Arc::new(Shared { state, bell, ended, thread_count_max, is_closed }) }
    }

    /// Has a turn of an index taken, some time.
    pub fn add(&self, priority: Priority, used: &TimeUsed, turn: Turn) {
        self.add_turn(Duration::ZERO, priority, Some(used), turn);
    }

    /// Has a turn of no index taken, some time after a pause.
    pub fn add_after(&self, pause: Duration, priority: Priority, turn: Turn) {
        self.add_turn(pause, priority, None, turn);
    }

    fn add_turn(&self, pause: Duration, priority: Priority, used: Option<&TimeUsed>, turn: Turn) {
        let mut state = self.shared.state.lock();
        if state.is_closed {
            drop(state);
            return drop(turn);
        }
        if pause.is_zero() {
            state.turns.push(priority, used, turn);
        } else {
            state.later.push(Later { due: Instant::now() + pause, priority, turn });
        }
        drop(state);
        self.staff();
    }

    /// Has a thread take what waits. Also to be called now and then: one that could not be started is started then.
    pub fn staff(&self) {
        let mut state = self.shared.state.lock();
        let is_enough =
            state.resting_count >= state.waiting_count() || state.thread_count == self.shared.thread_count_max;
        if is_enough || state.is_closed {
            drop(state);
            self.shared.bell.notify_one();
            return;
        }
        state.thread_count += 1;
        drop(state);
        let shared = self.shared.clone();
        let started = std::thread::Builder::new().name("indexing".to_owned()).spawn(move || shared.work());
        if let Err(error) = started {
            tracing::warn!(%error, "a thread for indexing could not be started");
            self.shared.state.lock().thread_count -= 1;
            self.shared.ended.notify_all();
        }
    }

    /// Whether a thread is left that nobody has something to do for.
    pub fn has_spare_thread(&self) -> bool {
        let state = self.shared.state.lock();
        let is_free = state.thread_count - state.resting_count < self.shared.thread_count_max;
        is_free && state.turns.len() == 0
    }

    /// Whether no turn is to be taken any more, and those that run are to end.
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed.load(Relaxed)
    }

    /// Forgets what waits, and returns when no thread is left: what the last turns held is let go of then. Not to be called by a
    /// turn, which would wait for itself.
    pub fn close(&self) {
        self.end();
        let mut state = self.shared.state.lock();
        while state.thread_count > 0 {
            self.shared.ended.wait(&mut state);
        }
    }

    fn end(&self) {
        let mut state = self.shared.state.lock();
        state.is_closed = true;
        self.shared.is_closed.store(true, Relaxed);
        let (turns, later) = (std::mem::take(&mut state.turns), std::mem::take(&mut state.later));
        drop(state);
        // What a turn holds may want to know of the pool's lock.
        drop((turns, later));
        self.shared.bell.notify_all();
    }
}

impl Drop for IndexingPool {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn work(&self) {
        // On Linux, which POSIX would not have: of this thread alone.
        if let Err(error) = rustix::process::setpriority_process(None, INDEXING_NICENESS) {
            tracing::debug!(%error, "indexing goes on at the priority of requests");
        }
        let mut workplace = Workplace::default();
        while let Some(turn) = self.next() {
            if catch_unwind(AssertUnwindSafe(|| turn(&mut workplace))).is_err() {
                tracing::error!("indexing met a bug; the index is left as it is");
                workplace = Workplace::default();
            }
        }
    }

    /// `None`: there was nothing to do for a while, or the pool is closed; the thread is counted out.
    fn next(&self) -> Option<Turn> {
        let mut state = self.state.lock();
        loop {
            let now = Instant::now();
            let due = state.admit(now);
            if let (false, Some(turn)) = (state.is_closed, state.turns.pop()) {
                return Some(turn);
            }
            let mut is_over = state.is_closed;
            if !is_over {
                let end = now + INDEXING_THREAD_REST;
                state.resting_count += 1;
                let waited = self.bell.wait_until(&mut state, due.map_or(end, |due| due.min(end)));
                state.resting_count -= 1;
                is_over = waited.timed_out() && state.waiting_count() == 0;
            }
            if is_over {
                state.thread_count -= 1;
                self.ended.notify_all();
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn turns_are_taken_even_after_one_that_panics() {
        let pool = IndexingPool::new(2);
        let (sender, taken) = mpsc::channel();
        for turn in 0..100 {
            let sender = sender.clone();
            pool.add_after(
                Duration::ZERO,
                Priority::Normal,
                Box::new(move |_| {
                    if turn % 10 == 3 {
                        std::panic::resume_unwind(Box::new("a bug"));
                    }
                    sender.send(turn).unwrap();
                }),
            );
        }
        drop(sender);
        assert_eq!(taken.iter().count(), 90);
        assert!(pool.shared.state.lock().thread_count <= 2);
    }

    #[test]
    fn shares_are_by_priority_and_nobody_waits_for_ever() {
        let mut turns = Turns::default();
        let (sender, taken) = mpsc::channel();
        let add = |turns: &mut Turns, priority: Priority, count: usize| {
            for _ in 0..count {
                let sender = sender.clone();
                turns.push(priority, None, Box::new(move |_| sender.send(priority).unwrap()));
            }
        };
        let take = |turns: &mut Turns, count: usize| {
            let mut workplace = Workplace::default();
            (0..count).for_each(|_| turns.pop().unwrap()(&mut workplace));
            let taken: Vec<Priority> = taken.try_iter().collect();
            [Priority::Low, Priority::Normal, Priority::High]
                .map(|priority| taken.iter().filter(|taken| **taken == priority).count())
        };
        add(&mut turns, Priority::High, 100);
        assert_eq!(take(&mut turns, 60), [0, 0, 60]);
        // Who comes late does not make up for what went before.
        add(&mut turns, Priority::Low, 100);
        add(&mut turns, Priority::Normal, 100);
        add(&mut turns, Priority::High, 100);
        assert_eq!(take(&mut turns, 70), [10, 20, 40]);
        assert_eq!((take(&mut turns, 270), turns.len()), ([90, 80, 100], 0));
    }

    #[test]
    fn the_index_that_used_the_least_time_is_next_and_saves_nothing_up() {
        let mut turns = Turns::default();
        let (sender, taken) = mpsc::channel();
        let [slow, other, late] = [(); 3].map(|()| TimeUsed::default());
        let add = |turns: &mut Turns, name: &'static str, used: &TimeUsed| {
            let sender = sender.clone();
            turns.push(Priority::Normal, Some(used), Box::new(move |_| sender.send(name).unwrap()));
        };
        let take = |turns: &mut Turns| {
            turns.pop().unwrap()(&mut Workplace::default());
            taken.try_recv().unwrap()
        };
        add(&mut turns, "slow", &slow);
        add(&mut turns, "other", &other);
        assert_eq!(take(&mut turns), "slow");
        slow.add(Duration::from_millis(100));
        add(&mut turns, "slow", &slow);
        for _ in 0..4 {
            assert_eq!(take(&mut turns), "other");
            other.add(Duration::from_millis(20));
            add(&mut turns, "other", &other);
        }
        other.add(Duration::from_millis(50));
        assert_eq!([take(&mut turns), take(&mut turns)], ["other", "slow"]);
        // One that comes later is next once, and has not saved up the time before.
        add(&mut turns, "late", &late);
        assert_eq!(take(&mut turns), "late");
        late.add(Duration::from_millis(200));
        add(&mut turns, "late", &late);
        add(&mut turns, "slow", &slow);
        assert_eq!([take(&mut turns), take(&mut turns)], ["slow", "late"]);
    }

    #[test]
    fn a_turn_is_taken_after_its_pause_and_keeps_nobody_waiting() {
        let pool = IndexingPool::new(1);
        let (sender, taken) = mpsc::channel();
        let begin = Instant::now();
        let pauses = [200, 0, 100].map(Duration::from_millis);
        for pause in pauses {
            let sender = sender.clone();
            pool.add_after(pause, Priority::Normal, Box::new(move |_| sender.send((pause, begin.elapsed())).unwrap()));
        }
        drop(sender);
        let taken: Vec<(Duration, Duration)> = taken.iter().collect();
        assert_eq!(taken.iter().map(|(pause, _)| *pause).collect::<Vec<_>>(), [pauses[1], pauses[2], pauses[0]]);
        assert!(taken.iter().all(|(pause, waited)| waited >= pause), "{taken:?}");
    }

    #[test]
    fn a_closed_pool_ends_its_threads_and_forgets_what_waits() {
        let pool = IndexingPool::new(1);
        let shared = pool.shared.clone();
        let (running, has_begun) = mpsc::channel();
        let (go_on, waiting) = mpsc::channel::<()>();
        pool.add_after(
            Duration::ZERO,
            Priority::Normal,
            Box::new(move |_| {
                running.send(()).unwrap();
                assert_eq!(waiting.recv(), Err(mpsc::RecvError));
            }),
        );
        has_begun.recv().unwrap();
        let (never, forgotten) = mpsc::channel::<()>();
        let never_later = never.clone();
        pool.add_after(Duration::ZERO, Priority::Normal, Box::new(move |_| never.send(()).unwrap()));
        let pause = Duration::from_secs(3600);
        pool.add_after(pause, Priority::Normal, Box::new(move |_| never_later.send(()).unwrap()));
        std::thread::scope(|scope| {
            scope.spawn(|| pool.close());
            assert_eq!(forgotten.recv(), Err(mpsc::RecvError), "it was dropped, not run");
            drop(go_on);
        });
        assert_eq!(shared.state.lock().thread_count, 0);
        let (never, forgotten) = mpsc::channel::<()>();
        pool.add_after(Duration::ZERO, Priority::Normal, Box::new(move |_| never.send(()).unwrap()));
        assert_eq!(forgotten.recv(), Err(mpsc::RecvError), "nothing is taken any more");
    }
}
