//! Threads that exist only while there is work for them.

use std::thread::{self, JoinHandle};

use parking_lot::Mutex;

/// A thread that is started when it is needed, and ends by itself.
#[derive(Default)]
pub(crate) struct OnDemandThread(Mutex<Option<JoinHandle<()>>>);

impl OnDemandThread {
    /// Starts the thread, if it has to be. False: it has to be, and could not be started; the log has why.
    ///
    /// * `claim`: whether it is needed and does not run; from then on it is taken for running. `run` says when it ends.
    pub fn ensure(&self, name: &str, claim: impl FnOnce() -> bool, run: impl FnOnce() + Send + 'static) -> bool {
        let mut handle = self.0.lock();
        if !claim() {
            return true;
        }
        match thread::Builder::new().name(name.to_owned()).spawn(run) {
            Ok(started) => *handle = Some(started),
            Err(error) => {
                tracing::error!(%error, "the thread '{name}' cannot be started");
                return false;
            }
        }
        true
    }

    /// Waits for its end.
    pub fn join(&self) {
        let handle = self.0.lock().take();
        join_others(handle);
    }
}

/// Waits for the end of threads, but not for that of the caller: a thread itself drops the last handle on a node that was given up while
/// it ran.
pub(crate) fn join_others(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    for thread in threads.into_iter().filter(|ending| ending.thread().id() != thread::current().id()) {
        // A panic was logged where it happened.
        let _ = thread.join();
    }
}
