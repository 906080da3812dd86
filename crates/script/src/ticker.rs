//! The clock that the engine's operators look at while scripts run.
//!
//! A thread of its own advances the engine's counter of ticks ([`rquickjs::qjs::tick`]) every [`TICK`]. What may take long without a turn
//! of a loop or a call compares that counter with the last one that it has seen, which is one load, and asks the
//! [`Watchdog`](crate::watchdog::Watchdog) when it has changed. The thread sleeps when no run has begun, and no watchdog was called, for
//! [`TICKS_TO_SLEEP`] ticks.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

/// How long after its limit a run may be noticed.
const TICK: Duration = Duration::from_millis(20);

/// Ticks without a run after which the thread sleeps.
const TICKS_TO_SLEEP: u32 = 50;

/// Whether scripts have run since the last tick.
static IS_USED: AtomicBool = AtomicBool::new(false);
/// Whether the thread sleeps, or is about to.
static IS_ASLEEP: AtomicBool = AtomicBool::new(false);
static TICKER: OnceLock<Thread> = OnceLock::new();

/// Starts the thread, if it does not run yet.
///
/// # Errors
///
/// The system has no thread for it.
pub(crate) fn start() -> io::Result<()> {
    static STARTING: Mutex<()> = Mutex::new(());
    if TICKER.get().is_none() {
        let _one_at_a_time = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        if TICKER.get().is_none() {
            let ticker = thread::Builder::new().name("script-ticks".to_owned()).spawn(tick_for_ever)?;
            let _ = TICKER.set(ticker.thread().clone());
        }
    }
    Ok(())
}

/// A run begins, or goes on: there will be ticks.
#[inline]
pub(crate) fn use_ticks() {
    // Few write it, all others only read: threads do not take the flag from each other.
    if !IS_USED.load(SeqCst) {
        wake();
    }
}

#[cold]
fn wake() {
    IS_USED.store(true, SeqCst);
    if IS_ASLEEP.swap(false, SeqCst)
        && let Some(ticker) = TICKER.get()
    {
        ticker.unpark();
    }
}

fn tick_for_ever() {
    let mut idle = 0;
    loop {
        thread::sleep(TICK);
        idle = if IS_USED.swap(false, SeqCst) { 0 } else { idle + 1 };
        // The last one before a sleep as well: whoever ran through all the others without a look is made to look, and wakes this thread.
        rquickjs::qjs::tick();
        if idle < TICKS_TO_SLEEP {
            continue;
        }
        idle = 0;
        IS_ASLEEP.store(true, SeqCst);
        // A run that began before that has said so; one that begins after it sees that this thread is asleep.
        if IS_USED.load(SeqCst) {
            IS_ASLEEP.store(false, SeqCst);
            continue;
        }
        while IS_ASLEEP.load(SeqCst) {
            thread::park();
        }
    }
}
