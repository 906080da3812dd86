//! Atomics, locks and threads of the concurrency core: those of the system, or, in tests that run every schedule, ones that
//! such a test can direct.
//!
//! * `system`: what everything but such tests is built with.
//! * `loom` (`--cfg loom`): atomics with all that the memory model allows; for the lock-free parts.
//! * `shuttle` (`--cfg shuttle`): locks, waiting and atomics in one random order after the other; for whole environments.
//!
//! What a schedule cannot depend on stays outside: counters, one-time initialization, and the pool of frames, under whose lock no
//! step is taken that a test directs.

#[cfg(loom)]
#[path = "loom.rs"]
mod kind;
#[cfg(shuttle)]
#[path = "shuttle.rs"]
mod kind;
#[cfg(not(any(loom, shuttle)))]
#[path = "system.rs"]
mod kind;

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, any(loom, shuttle), feature = "planted-bugs"))]
pub(crate) mod planted_tests;
#[cfg(all(test, shuttle))]
mod shuttle_tests;

pub(crate) use kind::*;

/// Whether a test directs the threads. Memory that outlives a run is made anew then, and constants are small.
pub(crate) const IS_DIRECTED: bool = cfg!(any(loom, shuttle));
