//! The memory of engines. The first [`ENGINE_SIZE_FREE`](crate::limits::ENGINE_SIZE_FREE) bytes of each are free. For more, a run
//! grows a [`Reservation`] of its caller.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Once;

use rquickjs::qjs;

use crate::error::Error;
use crate::limits::ENGINE_SIZE_STEP;

/// The bytes that one engine has reserved. Dropping it returns them.
pub trait Reservation {
    /// Grows to `size` bytes in all; does nothing if it has them.
    ///
    /// # Errors
    ///
    /// [`Error::OverMemory`] with the limit that would be exceeded. The reservation stays as it is.
    fn grow(&mut self, size: usize) -> Result<(), Error>;
}

/// Makes an empty reservation.
pub type Reserve = Rc<dyn Fn() -> Box<dyn Reservation>>;

thread_local! {
    static RESERVE: RefCell<Option<Reserve>> = const { RefCell::new(None) };
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
}

/// What the engine that runs on this thread has, and may have.
struct Running {
    max: usize,
    held: Option<Box<dyn Reservation>>,
    /// Why it could not have more.
    refused: Option<Error>,
}

/// Does `work`. Scripts that this thread runs meanwhile take their reservations from `reserve` when they need more than a small
/// size, and end with [`Error::OverMemory`] if it grows no further. Without a call of this function, only
/// [`Limits::memory`](crate::Limits::memory) bounds them.
pub fn reserving<R>(reserve: Reserve, work: impl FnOnce() -> R) -> R {
    struct Before(Option<Reserve>);
    impl Drop for Before {
        fn drop(&mut self) {
            RESERVE.set(self.0.take());
        }
    }
    let _before = Before(RESERVE.replace(Some(reserve)));
    work()
}

/// What an engine has reserved; it is to be dropped after the engine.
#[derive(Default)]
pub(crate) struct EngineMemory(Option<Box<dyn Reservation>>);

impl EngineMemory {
    /// Does `work`, in which the engine may come to hold `max` bytes. Gives why it could not, too, if a reservation was refused.
    pub fn during<R>(&mut self, max: usize, work: impl FnOnce() -> R) -> (R, Option<Error>) {
        struct During<'h>(&'h mut EngineMemory);
        impl Drop for During<'_> {
            fn drop(&mut self) {
                self.0.0 = RUNNING.take().and_then(|running| running.held);
            }
        }
        RUNNING.set(Some(Running { max, held: self.0.take(), refused: None }));
        let _during = During(self);
        let result = work();
        let refused = RUNNING.with_borrow_mut(|running| running.as_mut()?.refused.take());
        (result, refused)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub fn clear(&mut self) {
        self.0 = None;
    }
}

/// To be called before the first engine is made.
pub(crate) fn count() {
    static COUNTING: Once = Once::new();
    COUNTING.call_once(|| qjs::set_memory_hook(more));
}

/// The limit from now on of the engine that runs on this thread, if it is to hold `wanted` bytes; 0 if it may not.
extern "C" fn more(wanted: usize) -> usize {
    RUNNING.with_borrow_mut(|running| {
        let Some(running) = running.as_mut().filter(|running| wanted < running.max) else { return 0 };
        let stepped = (wanted + wanted / 8).next_multiple_of(ENGINE_SIZE_STEP).min(running.max);
        if running.held.is_none() {
            running.held = RESERVE.with_borrow(|reserve| reserve.as_ref().map(|reserve| reserve()));
        }
        // Without a caller that counts, `max` is the only bound.
        match running.held.as_mut().map_or(Ok(()), |held| held.grow(stepped)) {
            Ok(()) => stepped,
            Err(error) => {
                running.refused = Some(error);
                0
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{Body, Limits, NoHost, Program, Run};

    fn run(text: &str) -> Result<Vec<u8>, Error> {
        let limits = Limits { memory: 32 << 20, ..Limits::default() };
        let program = Program::new("", &[], Body::Statements(text), limits)?;
        program.run(&Run::default(), &mut NoHost).map(|outcome| outcome.json)
    }

    /// An account of 16 MiB: the bytes held by all reservations.
    #[derive(Clone, Default)]
    struct Account(Rc<Cell<usize>>);

    struct Part {
        account: Account,
        size: usize,
    }

    impl Account {
        fn part(&self) -> Part {
            Part { account: self.clone(), size: 0 }
        }

        fn reserve(&self) -> Reserve {
            let account = self.clone();
            Rc::new(move || Box::new(account.part()))
        }
    }

    impl Reservation for Part {
        fn grow(&mut self, size: usize) -> Result<(), Error> {
            let held = self.account.0.get() + size.saturating_sub(self.size);
            if held > 16 << 20 {
                return Err(Error::OverMemory { limit: "Limits.Test", max_mb: 16 });
            }
            self.account.0.set(held);
            self.size = self.size.max(size);
            Ok(())
        }
    }

    impl Drop for Part {
        fn drop(&mut self) {
            self.account.0.update(|held| held - self.size);
        }
    }

    #[test]
    fn large_scripts_reserve_what_they_hold_and_return_it() {
        let account = Account::default();
        reserving(account.reserve(), || {
            assert_eq!(run("return 'x'.repeat(1000).length").unwrap(), b"1000");
            assert_eq!(account.0.get(), 0, "a small script reserves nothing");
            for _ in 0..3 {
                assert_eq!(run("let s = 'x'.repeat(8e6); return s.length").unwrap(), b"8000000");
                assert_eq!(account.0.get(), 0);
            }
            for text in ["'x'.repeat(2e7)", "try { 'x'.repeat(2e7) } catch (e) { } return 1"] {
                let refused = run(text).unwrap_err();
                assert_eq!(refused, Error::OverMemory { limit: "Limits.Test", max_mb: 16 }, "{text}");
                assert_eq!(account.0.get(), 0);
            }
        });
        assert_eq!(run("return 'x'.repeat(2e7).length").unwrap(), b"20000000", "nobody counts");
        assert!(matches!(run("'x'.repeat(4e7)"), Err(Error::Limit { .. })));
    }

    #[test]
    fn what_another_script_holds_is_not_there() {
        let account = Account::default();
        let mut others = account.part();
        others.grow(12 << 20).unwrap();
        reserving(account.reserve(), || {
            assert!(matches!(run("return 'x'.repeat(8e6).length"), Err(Error::OverMemory { .. })));
            drop(others);
            assert_eq!(run("return 'x'.repeat(8e6).length").unwrap(), b"8000000");
            // What it leaves in the global scope stays with the engine, which is thrown away.
            assert_eq!(run("Array.prototype.kept = 'x'.repeat(8e6); return 1").unwrap(), b"1");
            assert_eq!(account.0.get(), 0);
        });
    }
}
