//! The system's own, as they are.

pub(crate) use parking_lot::{Condvar, Mutex, MutexGuard};
pub(crate) use std::sync::{OnceLock, atomic};
pub(crate) use std::{thread, thread_local};

/// Bytes that readers and the writer share by agreement. A test that directs the threads sees each access; otherwise nothing.
pub(crate) struct Watched;

impl Watched {
    pub fn new() -> Self {
        Watched
    }
    #[inline(always)]
    pub fn read(&self) {}
    #[inline(always)]
    pub fn write(&self) {}
}
