//! A job on the stack of the thread that waits for it. Has unsafe code (`UNSAFE_IN_STORAGE` in `crates/testing/tests/main/tidy.rs`
//! lists where that may be).
//!
//! The queue holds a pointer to it, so that waiting for a commit allocates nothing. That is sound because the thread does
//! not leave [`StackJob::wait`] before the state is `DONE`, and who sets `DONE` does not touch the job afterwards.

use super::WriteTransaction;
use crate::error::{Error, Result};
use crate::ids::TransactionId;
use crate::sync::atomic::{AtomicU8, Ordering};
use crate::sync::thread::{self, Thread};
use std::cell::UnsafeCell;
use std::ptr::NonNull;

const WAITING: u8 = 0;
const LEAD: u8 = 1;
const DONE: u8 = 2;

/// The job's work inside the transaction; false rolls its changes back.
pub(crate) type Run<'f> = dyn FnMut(&mut WriteTransaction<'_>) -> bool + Send + 'f;

/// A job whose owner waits.
pub(crate) struct StackJob<'f> {
    run: UnsafeCell<&'f mut Run<'f>>,
    outcome: UnsafeCell<Option<Result<TransactionId>>>,
    state: AtomicU8,
    thread: Thread,
}

/// What the owner is woken for.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Wake {
    /// It is its turn to run the queue; its own job is still in it.
    Lead,
    /// The outcome is there.
    Done,
}

/// The queue's pointer to a [`StackJob`].
pub(crate) struct JobPointer(Option<NonNull<StackJob<'static>>>);

// SAFETY: what it points to is reached by one thread at a time: the one that took it out of the queue. The closure and
// the outcome are `Send`.
unsafe impl Send for JobPointer {}

impl<'f> StackJob<'f> {
    pub fn new(run: &'f mut Run<'f>) -> Self {
        StackJob {
            run: UnsafeCell::new(run),
            outcome: UnsafeCell::new(None),
            state: AtomicU8::new(WAITING),
            thread: thread::current(),
        }
    }

    /// The pointer for the queue. Afterwards the owner has to call [`Self::wait`] until it says `Done`.
    pub fn pointer(&self) -> JobPointer {
        JobPointer(Some(NonNull::from(self).cast()))
    }

    /// Waits for the next wake-up.
    pub fn wait(&self) -> Wake {
        loop {
            match self.state.load(Ordering::Acquire) {
                DONE => return Wake::Done,
                LEAD => {
                    // A leader that panics answers all in the queue, also whom it just made to lead: that must not be lost.
                    let taken = self.state.compare_exchange(LEAD, WAITING, Ordering::Acquire, Ordering::Relaxed);
                    if taken.is_ok() {
                        return Wake::Lead;
                    }
                }
                _ => thread::park(),
            }
        }
    }

    /// The outcome, after [`Wake::Done`].
    pub fn into_outcome(self) -> Option<Result<TransactionId>> {
        self.outcome.into_inner()
    }
}

impl JobPointer {
    fn job(&self) -> &StackJob<'static> {
        let pointer = self.0.expect("a job that was answered is out of the queue");
        // SAFETY: the owner waits until the job is answered, which takes the pointer away.
        unsafe { pointer.as_ref() }
    }

    /// Runs the job's closure.
    pub fn run(&mut self, tx: &mut WriteTransaction<'_>) -> bool {
        // SAFETY: only who took the pointer out of the queue calls this, so nobody else uses the closure.
        let run = unsafe { &mut *self.job().run.get() };
        run(tx)
    }

    /// Makes the owner lead the queue. Called under the queue's lock while the pointer is in the queue, so that the owner
    /// cannot be done before this returns.
    pub fn lead(&self) {
        let job = self.job();
        job.state.store(LEAD, Ordering::Release);
        job.thread.unpark();
    }

    /// Hands the outcome over and wakes the owner.
    pub fn done(mut self, outcome: Result<TransactionId>) {
        self.answer(outcome);
    }

    fn answer(&mut self, outcome: Result<TransactionId>) {
        let Some(pointer) = self.0.take() else { return };
        // SAFETY: the owner waits until the state is DONE, set below after the last access; the thread's handle is
        // cloned before that, because the owner may leave at once.
        unsafe {
            let job = pointer.as_ref();
            *job.outcome.get() = Some(outcome);
            let thread = job.thread.clone();
            // A swap comes after the owner's taking the lead in what loom makes of the memory model; a store need not.
            job.state.swap(DONE, Ordering::Release);
            thread.unpark();
        }
    }
}

impl Drop for JobPointer {
    /// A job that is lost (a panic of the engine) is answered all the same: its owner would wait for ever.
    fn drop(&mut self) {
        self.answer(Err(Error::JobPanicked));
    }
}
