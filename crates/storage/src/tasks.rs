//! Background work of one environment: who closes it waits until there is none.

use crate::background;
use crate::environment::Inner;
use parking_lot::{Condvar, Mutex};
use std::cell::Cell;
use std::sync::Arc;

/// How many tasks run or wait to run.
#[derive(Default)]
pub(crate) struct Tasks {
    count: Mutex<usize>,
    ended: Condvar,
}

thread_local! {
    /// The environment whose task this thread runs, by address; 0: none. A call-back may drop the last handle of the
    /// environment that calls it, and must not wait for itself.
    static RUNNING: Cell<usize> = const { Cell::new(0) };
}

/// One task. Counted from when it is spawned until it has ended, also by a panic, and also if it never runs.
struct Task {
    inner: Arc<Inner>,
}

impl Drop for Task {
    fn drop(&mut self) {
        RUNNING.set(0);
        *self.inner.tasks.count.lock() -= 1;
        self.inner.tasks.ended.notify_all();
    }
}

impl Inner {
    /// Runs work on a thread of the process's pool.
    pub fn in_background(self: &Arc<Self>, work: impl FnOnce(&Arc<Inner>) + Send + 'static) {
        *self.tasks.count.lock() += 1;
        let task = Task { inner: self.clone() };
        background::spawn(move || {
            RUNNING.set(Arc::as_ptr(&task.inner).addr());
            work(&task.inner);
        });
    }

    /// Waits until no background work of this environment is left, but for that which calls this.
    pub fn wait_for_tasks(self: &Arc<Self>) {
        let ours = usize::from(RUNNING.get() == Arc::as_ptr(self).addr());
        let mut count = self.tasks.count.lock();
        while *count > ours {
            self.tasks.ended.wait(&mut count);
        }
    }
}
