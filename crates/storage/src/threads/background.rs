//! Background threads: they lead queues of submitted jobs and run flushes (checkpoints).
//!
//! The process has one small pool, so that a thousand idle environments need no thread. A thread ends after ten idle seconds; the
//! last one returns the memory that flushes have freed to the system.

use super::scheduling::ask_for_short_slices;
use crate::io::real::give_back_buffers;
use crate::pager::frames::Pool;
use crate::sync::IS_DIRECTED;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::time::Duration;

/// Threads at once. They mostly wait for the device.
const THREADS_MAX: usize = 32;
const IDLE: Duration = Duration::from_secs(10);

type Task = Box<dyn FnOnce() + Send>;

struct TaskQueue {
    tasks: VecDeque<Task>,
    idle: usize,
    threads: usize,
}

static STATE: Mutex<TaskQueue> = Mutex::new(TaskQueue { tasks: VecDeque::new(), idle: 0, threads: 0 });
static WAKE: Condvar = Condvar::new();

/// Runs a task soon, on a thread of the pool.
pub(crate) fn spawn(task: impl FnOnce() + Send + 'static) {
    if IS_DIRECTED {
        // A pool would outlive the run.
        drop(crate::sync::thread::spawn(task));
        return;
    }
    let mut state = STATE.lock();
    state.tasks.push_back(Box::new(task));
    if state.idle >= state.tasks.len() {
        WAKE.notify_one();
        return;
    }
    if state.threads < THREADS_MAX {
        let name = "rookery-storage".to_string();
        match std::thread::Builder::new().name(name).spawn(work) {
            Ok(_) => state.threads += 1,
            Err(error) if state.threads == 0 => {
                // Nobody will ever run the task otherwise; better late on this thread than never.
                tracing::error!(%error, "no thread can be started; background work runs in the foreground");
                let task = state.tasks.pop_back();
                drop(state);
                if let Some(task) = task {
                    task();
                }
            }
            Err(error) => tracing::warn!(%error, "no further thread can be started"),
        }
    }
}

/// Memory came free outside of the pool: a thread of it gives that back, unless there is more to do for it soon.
pub(crate) fn rest_soon() {
    spawn(|| ());
}

/// True if a task waits for a thread. A long-running task that sees this should end early.
pub(crate) fn is_short_of_threads() -> bool {
    let state = STATE.lock();
    state.threads == THREADS_MAX && !state.tasks.is_empty()
}

fn work() {
    ask_for_short_slices();
    let mut state = STATE.lock();
    loop {
        if let Some(task) = state.tasks.pop_front() {
            drop(state);
            // A panic in a task is a fault of ours; the next task is not to pay for it.
            if std::panic::catch_unwind(std::panic::AssertUnwindSafe(task)).is_err() {
                tracing::error!("background work panicked");
            }
            state = STATE.lock();
            continue;
        }
        state.idle += 1;
        let timed_out = WAKE.wait_for(&mut state, IDLE).timed_out();
        state.idle -= 1;
        if timed_out && state.tasks.is_empty() {
            state.threads -= 1;
            let is_last = state.threads == 0;
            drop(state);
            if is_last {
                Pool::cool_all();
                give_back_buffers();
            }
            return;
        }
    }
}
