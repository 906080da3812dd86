//! Background work of one environment: who closes it waits until there is none.

use super::background;
use crate::environment::Inner;
use crate::sync::{Condvar, Mutex, thread_local};
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

/// How often a thread that closes an environment looks for tasks that have ended, where some may be writes without a thread.
const REAP_EVERY: Duration = Duration::from_millis(2);

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

/// One task. Counted from when it is made until it has ended, also by a panic, and also if it never runs.
pub(crate) struct Task {
    inner: Arc<Inner>,
}

impl Task {
    pub fn new(inner: &Arc<Inner>) -> Task {
        *inner.tasks.count.lock() += 1;
        Task { inner: inner.clone() }
    }

    /// Runs it on this thread.
    pub fn run(self, work: impl FnOnce(&Arc<Inner>)) {
        struct Restore(usize);
        impl Drop for Restore {
            fn drop(&mut self) {
                RUNNING.with(|running| running.set(self.0));
            }
        }
        let _restore = Restore(RUNNING.with(|running| running.replace(Arc::as_ptr(&self.inner).addr())));
        work(&self.inner);
    }

    /// Runs it on a thread of the process's pool.
    pub fn run_in_background(self, work: impl FnOnce(&Arc<Inner>) + Send + 'static) {
        background::spawn(move || self.run(work));
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        *self.inner.tasks.count.lock() -= 1;
        self.inner.tasks.ended.notify_all();
    }
}

impl Inner {
    /// Runs work on a thread of the process's pool.
    pub fn in_background(self: &Arc<Self>, work: impl FnOnce(&Arc<Inner>) + Send + 'static) {
        Task::new(self).run_in_background(work);
    }

    /// Lets no job in any more, when those that were handed over are answered and nothing is on its way to the device.
    pub fn end_writing(self: &Arc<Self>) {
        // Flushes are among the tasks.
        let _hurry = self.pacing.hurry();
        self.wait_for_tasks();
        self.writer.lock().closed = true;
        // A lead that was taken in between.
        self.wait_for_tasks();
    }

    /// Waits until no background work of this environment is left, but for that which calls this.
    fn wait_for_tasks(self: &Arc<Self>) {
        let ours = usize::from(RUNNING.with(Cell::get) == Arc::as_ptr(self).addr());
        let mut count = self.tasks.count.lock();
        while *count > ours {
            if let Some(writes) = &self.options.async_writes {
                // The thread that runs call-backs may have ended, or be this one.
                drop(count);
                while writes.reap() {}
                count = self.tasks.count.lock();
                if *count > ours {
                    self.tasks.ended.wait_for(&mut count, REAP_EVERY);
                }
            } else {
                self.tasks.ended.wait(&mut count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Environment, Options};

    /// A flush that the environment waits for would pause between its pages.
    #[test]
    fn closing_hurries_the_flush_that_it_waits_for() {
        let environment = Environment::in_memory(Options::default()).unwrap();
        let inner = environment.inner.clone();
        let flush = Task::new(&inner);
        let closing = std::thread::spawn(move || drop(environment));
        testing::wait::until_true("the flush does not pause while a thread waits for its end", || {
            inner.pacing.is_hurried()
        });
        drop(flush);
        closing.join().unwrap();
        assert!(!inner.pacing.is_hurried());
    }
}
