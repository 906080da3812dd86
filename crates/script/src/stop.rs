//! Stopping the scripts of a thread from outside.

use std::cell::RefCell;
use std::rc::Rc;

/// Whether scripts are to stop: their caller is gone, say. It is asked some fifty times a second while a script runs.
pub type Stop = Rc<dyn Fn() -> bool>;

thread_local! {
    static STOP: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

/// Does `work`. Scripts that this thread runs meanwhile, however deep inside of it, end with [`Error::Stopped`](crate::Error::Stopped) soon
/// after `stop`, or that of a call around this one, says so.
pub fn stoppable<R>(stop: Stop, work: impl FnOnce() -> R) -> R {
    struct Before(Option<Stop>);
    impl Drop for Before {
        fn drop(&mut self) {
            STOP.set(self.0.take());
        }
    }
    let outer = STOP.with_borrow(Clone::clone);
    let stop: Stop = match outer.clone() {
        Some(outer) => Rc::new(move || stop() || outer()),
        None => stop,
    };
    let _before = Before(outer);
    STOP.set(Some(stop));
    work()
}

/// Whether the scripts of this thread are to stop.
pub fn is_stopped() -> bool {
    let stop = STOP.with_borrow(Clone::clone);
    stop.is_some_and(|stop| stop())
}
