//! The thread pool of indexing, shared by all databases of a node. A thread runs one turn (scheduler quantum) of one index at a time.
//!
//! Threads start on demand and end when they are idle for a while, so that a node without indexes has none. Run queues say which turn is
//! next ([`Turns`]); delayed turns enter them when they are due. A slow index delays others by one turn at most.
//!
//! The threads have a lower priority than those that answer requests ([`INDEXING_NICENESS`]): when processors are scarce, indexes fall
//! behind instead of delaying writes. Their batches grow then, which makes each document cheaper.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use query::definition::Priority;

use super::turns::{Scratch, Share, TimeUsed, Turn, Turns};
use crate::limits::{INDEXING_NICENESS, INDEXING_THREAD_REST};

/// The thread pool of indexing.
pub(crate) struct IndexingPool {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<PoolState>,
    /// Signalled when there is a turn to run, or the pool is closed.
    wakeup: Condvar,
    /// Signalled when a thread ends.
    ended: Condvar,
    thread_count_max: usize,
    /// A copy of the flag in the state, readable without its lock.
    is_closed: AtomicBool,
}

#[derive(Default)]
struct PoolState {
    turns: Turns,
    /// Turns that are not due yet.
    later: Vec<DelayedTurn>,
    thread_count: usize,
    resting_count: usize,
    is_closed: bool,
}

/// A turn that becomes due at some time.
struct DelayedTurn {
    due: Instant,
    priority: Priority,
    share: Arc<Share>,
    turn: Turn,
}

impl PoolState {
    /// Moves turns that are due into the run queues; returns when the next is due.
    fn admit(&mut self, now: Instant) -> Option<Instant> {
        for later in self.later.extract_if(.., |later| later.due <= now) {
            self.turns.push(later.priority, &later.share, None, later.turn);
        }
        self.later.iter().map(|later| later.due).min()
    }

    fn waiting_count(&self) -> usize {
        self.turns.len() + self.later.len()
    }
}

impl IndexingPool {
    pub fn new(thread_count_max: usize) -> IndexingPool {
        let (state, wakeup, ended) = (Mutex::default(), Condvar::new(), Condvar::new());
        let (thread_count_max, is_closed) = (thread_count_max.max(1), AtomicBool::new(false));
        IndexingPool { shared: Arc::new(Shared { state, wakeup, ended, thread_count_max, is_closed }) }
    }

    /// Schedules a turn of an index.
    ///
    /// * `share`: of its database.
    pub fn add(&self, priority: Priority, share: &Arc<Share>, used: &TimeUsed, turn: Turn) {
        self.add_turn(Duration::ZERO, priority, share, Some(used), turn);
    }

    /// Schedules a turn of a database that belongs to no index, after a pause.
    pub fn add_after(&self, pause: Duration, priority: Priority, share: &Arc<Share>, turn: Turn) {
        self.add_turn(pause, priority, share, None, turn);
    }

    fn add_turn(&self, pause: Duration, priority: Priority, share: &Arc<Share>, used: Option<&TimeUsed>, turn: Turn) {
        let mut state = self.shared.state.lock();
        if state.is_closed {
            drop(state);
            return drop(turn);
        }
        if pause.is_zero() {
            state.turns.push(priority, share, used, turn);
        } else {
            state.later.push(DelayedTurn { due: Instant::now() + pause, priority, share: share.clone(), turn });
        }
        drop(state);
        self.ensure_workers();
    }

    /// Wakes or starts a thread for waiting turns. Call it periodically too, because starting a thread may have failed.
    pub fn ensure_workers(&self) {
        let mut state = self.shared.state.lock();
        let is_enough =
            state.resting_count >= state.waiting_count() || state.thread_count == self.shared.thread_count_max;
        if is_enough || state.is_closed {
            drop(state);
            self.shared.wakeup.notify_one();
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

    /// True if a thread is idle or could be started, and no turn is waiting.
    pub fn has_spare_thread(&self) -> bool {
        let state = self.shared.state.lock();
        let is_free = state.thread_count - state.resting_count < self.shared.thread_count_max;
        is_free && state.turns.len() == 0
    }

    /// True once the pool is closed: no turn starts any more, and running turns must end.
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed.load(Relaxed)
    }

    /// Drops waiting turns and returns when no thread is left, so that the turns' resources are released. A turn must not call it: it
    /// would wait for itself.
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
        self.shared.wakeup.notify_all();
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
        let mut scratch = Scratch::default();
        while let Some(turn) = self.next() {
            if catch_unwind(AssertUnwindSafe(|| turn(&mut scratch))).is_err() {
                tracing::error!("indexing met a bug; the index is left as it is");
                scratch = Scratch::default();
            }
        }
    }

    /// The next turn. `None`: the thread was idle for a while, or the pool is closed; the thread is no longer counted.
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
                let waited = self.wakeup.wait_until(&mut state, due.map_or(end, |due| due.min(end)));
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
                &Arc::default(),
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
    fn a_delayed_turn_runs_after_its_pause_and_delays_no_other() {
        let pool = IndexingPool::new(1);
        let (sender, taken) = mpsc::channel();
        let (begin, share) = (Instant::now(), Arc::default());
        let pauses = [200, 0, 100].map(Duration::from_millis);
        for pause in pauses {
            let sender = sender.clone();
            pool.add_after(
                pause,
                Priority::Normal,
                &share,
                Box::new(move |_| sender.send((pause, begin.elapsed())).unwrap()),
            );
        }
        drop(sender);
        let taken: Vec<(Duration, Duration)> = taken.iter().collect();
        assert_eq!(taken.iter().map(|(pause, _)| *pause).collect::<Vec<_>>(), [pauses[1], pauses[2], pauses[0]]);
        assert!(taken.iter().all(|(pause, waited)| waited >= pause), "{taken:?}");
    }

    #[test]
    fn a_closed_pool_ends_its_threads_and_drops_waiting_turns() {
        let pool = IndexingPool::new(1);
        let shared = pool.shared.clone();
        let (running, has_begun) = mpsc::channel();
        let (go_on, waiting) = mpsc::channel::<()>();
        pool.add_after(
            Duration::ZERO,
            Priority::Normal,
            &Arc::default(),
            Box::new(move |_| {
                running.send(()).unwrap();
                assert_eq!(waiting.recv(), Err(mpsc::RecvError));
            }),
        );
        has_begun.recv().unwrap();
        let (never, forgotten) = mpsc::channel::<()>();
        let never_later = never.clone();
        pool.add_after(Duration::ZERO, Priority::Normal, &Arc::default(), Box::new(move |_| never.send(()).unwrap()));
        let pause = Duration::from_secs(3600);
        pool.add_after(pause, Priority::Normal, &Arc::default(), Box::new(move |_| never_later.send(()).unwrap()));
        std::thread::scope(|scope| {
            scope.spawn(|| pool.close());
            assert_eq!(forgotten.recv(), Err(mpsc::RecvError), "it was dropped, not run");
            drop(go_on);
        });
        assert_eq!(shared.state.lock().thread_count, 0);
        let (never, forgotten) = mpsc::channel::<()>();
        pool.add_after(Duration::ZERO, Priority::Normal, &Arc::default(), Box::new(move |_| never.send(()).unwrap()));
        assert_eq!(forgotten.recv(), Err(mpsc::RecvError), "nothing is taken any more");
    }
}
