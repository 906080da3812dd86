//! The synchronization primitives that loom schedules. Locks are not among them: the loom models cover lock-free code.

pub(crate) use loom::thread;
pub(crate) use parking_lot::{Condvar, Mutex, MutexGuard};

/// As `std::thread_local`, of which the crate uses this form.
macro_rules! local {
    ($(#[$attribute:meta])* static $name:ident: $type:ty = const { $value:expr };) => {
        loom::thread_local! { $(#[$attribute])* static $name: $type = $value; }
    };
}
pub(crate) use local as thread_local;

pub(crate) mod atomic {
    //! loom takes a sequentially consistent access for one that acquires and releases, and would report orders that cannot be.
    //! Fences it knows. One in front of each such access is what compilers do for processors that have only fences.

    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering};
    use loom::sync::atomic::{Ordering::SeqCst, fence};

    fn order(ordering: Ordering) {
        if ordering == SeqCst {
            fence(SeqCst);
        }
    }

    macro_rules! ordered {
        ($name:ident, $number:ty) => {
            pub(crate) struct $name(loom::sync::atomic::$name);

            impl $name {
                #[track_caller]
                pub fn new(value: $number) -> Self {
                    Self(loom::sync::atomic::$name::new(value))
                }
                #[track_caller]
                pub fn load(&self, ordering: Ordering) -> $number {
                    order(ordering);
                    self.0.load(ordering)
                }
                #[track_caller]
                #[allow(dead_code, reason = "not every number is set")]
                pub fn store(&self, value: $number, ordering: Ordering) {
                    order(ordering);
                    self.0.store(value, ordering);
                }
                #[track_caller]
                #[allow(dead_code, reason = "not every number is raised")]
                pub fn fetch_max(&self, value: $number, ordering: Ordering) -> $number {
                    order(ordering);
                    self.0.fetch_max(value, ordering)
                }
                #[track_caller]
                #[allow(dead_code, reason = "not every number is compared")]
                pub fn compare_exchange(
                    &self,
                    old: $number,
                    new: $number,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$number, $number> {
                    order(success);
                    self.0.compare_exchange(old, new, success, failure)
                }
            }
        };
    }

    ordered!(AtomicU64, u64);
    ordered!(AtomicUsize, usize);
}

/// Promises what `std::sync::OnceLock` does, in a way that loom sees.
pub(crate) struct OnceLock<T> {
    value: std::sync::OnceLock<T>,
    is_made: atomic::AtomicBool,
    making: loom::sync::Mutex<()>,
}

impl<T> OnceLock<T> {
    pub fn new() -> Self {
        OnceLock {
            value: std::sync::OnceLock::new(),
            is_made: atomic::AtomicBool::new(false),
            making: loom::sync::Mutex::new(()),
        }
    }
    pub fn get(&self) -> Option<&T> {
        if self.is_made.load(atomic::Ordering::Acquire) { self.value.get() } else { None }
    }
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        let _making = self.making.lock();
        let value = self.value.get_or_init(make);
        self.is_made.store(true, atomic::Ordering::Release);
        value
    }
}

/// Bytes that readers and the writer share by agreement: two accesses of which one is a write, and neither is known to be
/// over before the other, fail the test.
pub(crate) struct Watched(loom::cell::UnsafeCell<()>);

impl Watched {
    #[track_caller]
    pub fn new() -> Self {
        Watched(loom::cell::UnsafeCell::new(()))
    }
    #[track_caller]
    pub fn read(&self) {
        self.0.with(|_| ());
    }
    #[track_caller]
    pub fn write(&self) {
        self.0.with_mut(|_| ());
    }
}
