//! The synchronization primitives that shuttle schedules, with the interface of the real ones: locks that a panic does not poison,
//! condition variables that take a guard by reference.

pub(crate) use shuttle::sync::atomic;
pub(crate) use shuttle::{thread, thread_local};
use std::ops::{Deref, DerefMut};
pub(crate) use std::sync::OnceLock;
use std::sync::{PoisonError, TryLockError};

#[derive(Default)]
pub(crate) struct Mutex<T>(shuttle::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub const fn new(value: T) -> Self {
        Mutex(shuttle::sync::Mutex::new(value))
    }
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(MutexGuard(Some(guard))),
            Err(TryLockError::Poisoned(poisoned)) => Some(MutexGuard(Some(poisoned.into_inner()))),
            Err(TryLockError::WouldBlock) => None,
        }
    }
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Empty only while it waits.
pub(crate) struct MutexGuard<'a, T>(Option<shuttle::sync::MutexGuard<'a, T>>);

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("a guard that waits is borrowed")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("a guard that waits is borrowed")
    }
}

#[derive(Default)]
pub(crate) struct Condvar(shuttle::sync::Condvar);

impl Condvar {
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let inner = guard.0.take().map(|inner| self.0.wait(inner).unwrap_or_else(PoisonError::into_inner));
        guard.0 = inner;
    }
    /// There is no clock: the time is over when others had their turn.
    pub fn wait_for<T>(&self, _: &mut MutexGuard<'_, T>, _: std::time::Duration) {
        thread::yield_now();
    }
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// Bytes that readers and the writer share by agreement. What they hold is compared by the tests themselves.
pub(crate) struct Watched;

impl Watched {
    pub fn new() -> Self {
        Watched
    }
    pub fn read(&self) {}
    pub fn write(&self) {}
}
