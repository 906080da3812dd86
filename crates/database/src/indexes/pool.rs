//! The threads that index: some for all databases of a node, each given one batch of one index at a time.
//!
//! Threads are started when there is work for them and end when there was none for a while, so that a node without indexes has
//! none. Work waits in one queue: an index that has more to do goes to its end, so that all get their turn.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use crate::limits::INDEXING_THREAD_REST;

/// One turn.
pub(crate) type Turn = Box<dyn FnOnce(&mut Workplace) + Send>;

/// What a thread keeps between turns.
#[derive(Default)]
pub(crate) struct Workplace {
    /// Memory of batches.
    pub batch: query::index::Batch,
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
}

#[derive(Default)]
struct State {
    turns: VecDeque<Turn>,
    thread_count: usize,
    resting_count: usize,
    is_closed: bool,
}

impl IndexingPool {
    pub fn new(thread_count_max: usize) -> IndexingPool {
        let (state, bell, ended) = (Mutex::default(), Condvar::new(), Condvar::new());
        IndexingPool { shared: Arc::new(Shared { state, bell, ended, thread_count_max: thread_count_max.max(1) }) }
    }

    /// Has a turn taken, some time.
    pub fn add(&self, turn: Turn) {
        let mut state = self.shared.state.lock();
        if state.is_closed {
            drop(state);
            return drop(turn);
        }
        state.turns.push_back(turn);
        drop(state);
        self.staff();
    }

    /// Has a thread take what waits. Also to be called now and then: one that could not be started is started then.
    pub fn staff(&self) {
        let mut state = self.shared.state.lock();
        let is_enough = state.resting_count >= state.turns.len() || state.thread_count == self.shared.thread_count_max;
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
        let turns = std::mem::take(&mut state.turns);
        drop(state);
        // What a turn holds may want to know of the pool's lock.
        drop(turns);
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
            if let (false, Some(turn)) = (state.is_closed, state.turns.pop_front()) {
                return Some(turn);
            }
            let mut is_over = state.is_closed;
            if !is_over {
                state.resting_count += 1;
                let waited = self.bell.wait_for(&mut state, INDEXING_THREAD_REST);
                state.resting_count -= 1;
                is_over = waited.timed_out() && state.turns.is_empty();
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
            pool.add(Box::new(move |_| {
                if turn % 10 == 3 {
                    std::panic::resume_unwind(Box::new("a bug"));
                }
                sender.send(turn).unwrap();
            }));
        }
        drop(sender);
        assert_eq!(taken.iter().count(), 90);
        assert!(pool.shared.state.lock().thread_count <= 2);
    }

    #[test]
    fn a_closed_pool_ends_its_threads_and_forgets_what_waits() {
        let pool = IndexingPool::new(1);
        let shared = pool.shared.clone();
        let (running, has_begun) = mpsc::channel();
        let (go_on, waiting) = mpsc::channel::<()>();
        pool.add(Box::new(move |_| {
            running.send(()).unwrap();
            assert_eq!(waiting.recv(), Err(mpsc::RecvError));
        }));
        has_begun.recv().unwrap();
        let (never, forgotten) = mpsc::channel::<()>();
        pool.add(Box::new(move |_| never.send(()).unwrap()));
        std::thread::scope(|scope| {
            scope.spawn(|| pool.close());
            assert_eq!(forgotten.recv(), Err(mpsc::RecvError), "it was dropped, not run");
            drop(go_on);
        });
        assert_eq!(shared.state.lock().thread_count, 0);
        let (never, forgotten) = mpsc::channel::<()>();
        pool.add(Box::new(move |_| never.send(()).unwrap()));
        assert_eq!(forgotten.recv(), Err(mpsc::RecvError), "nothing is taken any more");
    }
}
