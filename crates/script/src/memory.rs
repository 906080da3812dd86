//! The memory of engines. The first [`ENGINE_SIZE_FREE`](crate::limits::ENGINE_SIZE_FREE) bytes of each are free; for more, a run reserves what it needs where its
//! caller says.

use std::cell::RefCell;
use std::sync::{Arc, Once};

use rquickjs::qjs;
use storage::memory::{Memory, Room};

use crate::error::Error;
use crate::limits::ENGINE_SIZE_STEP;

thread_local! {
    static MEMORY: RefCell<Option<Arc<Memory>>> = const { RefCell::new(None) };
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
}

/// What the engine that runs on this thread has, and may have.
struct Running {
    max: usize,
    room: Option<Room>,
    /// Why it could not have more.
    refused: Option<Error>,
}

/// Does `work`. Scripts that this thread runs meanwhile reserve what they need beyond a small size in `memory`, and end with
/// [`Error::OverMemory`](crate::Error::OverMemory) where it has no more. Without a call of this function, only
/// [`Limits::memory`](crate::Limits::memory) bounds them.
pub fn reserving<R>(memory: &Arc<Memory>, work: impl FnOnce() -> R) -> R {
    struct Before(Option<Arc<Memory>>);
    impl Drop for Before {
        fn drop(&mut self) {
            MEMORY.set(self.0.take());
        }
    }
    let _before = Before(MEMORY.replace(Some(memory.clone())));
    work()
}

/// What an engine has reserved; it is to be dropped after the engine.
#[derive(Default)]
pub(crate) struct Held(Option<Room>);

impl Held {
    /// Does `work`, in which the engine may come to hold `max` bytes. Gives why it could not, too, if a reservation was refused.
    pub fn during<R>(&mut self, max: usize, work: impl FnOnce() -> R) -> (R, Option<Error>) {
        struct During<'h>(&'h mut Held);
        impl Drop for During<'_> {
            fn drop(&mut self) {
                self.0.0 = RUNNING.take().and_then(|running| running.room);
            }
        }
        RUNNING.set(Some(Running { max, room: self.0.take(), refused: None }));
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
        let room = running.room.get_or_insert_with(|| {
            MEMORY.with_borrow(|memory| memory.as_ref().map_or_else(|| Memory::unbounded().room(), Memory::room))
        });
        match room.grow(stepped) {
            Ok(()) => stepped,
            Err(storage::Error::OverMemory { limit, max_mb, .. }) => {
                running.refused = Some(Error::OverMemory { limit, max_mb });
                0
            }
            Err(error) => {
                running.refused = Some(Error::Host(error.to_string()));
                0
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Limits, NoHost, Program, Run};

    fn run(text: &str) -> Result<Vec<u8>, Error> {
        let limits = Limits { memory: 32 << 20, ..Limits::default() };
        let program = Program::new("", &[], Body::Statements(text), limits)?;
        program.run(&Run::default(), &mut NoHost).map(|outcome| outcome.json)
    }

    #[test]
    fn large_scripts_reserve_what_they_hold_and_return_it() {
        let memory = Memory::new("Limits.Test", 16 << 20);
        reserving(&memory, || {
            assert_eq!(run("return 'x'.repeat(1000).length").unwrap(), b"1000");
            assert_eq!(memory.held(), 0, "a small script reserves nothing");
            for _ in 0..3 {
                assert_eq!(run("let s = 'x'.repeat(8e6); return s.length").unwrap(), b"8000000");
                assert_eq!(memory.held(), 0);
            }
            for text in ["'x'.repeat(2e7)", "try { 'x'.repeat(2e7) } catch (e) { } return 1"] {
                let refused = run(text).unwrap_err();
                assert_eq!(refused, Error::OverMemory { limit: "Limits.Test", max_mb: 16 }, "{text}");
                assert_eq!(memory.held(), 0);
            }
        });
        assert_eq!(run("return 'x'.repeat(2e7).length").unwrap(), b"20000000", "nobody counts");
        assert!(matches!(run("'x'.repeat(4e7)"), Err(Error::Limit { .. })));
    }

    #[test]
    fn what_another_script_holds_is_not_there() {
        let memory = Memory::new("Limits.Test", 16 << 20);
        let others = memory.room_of(12 << 20);
        reserving(&memory, || {
            assert!(matches!(run("return 'x'.repeat(8e6).length"), Err(Error::OverMemory { .. })));
            drop(others);
            assert_eq!(run("return 'x'.repeat(8e6).length").unwrap(), b"8000000");
            // What it leaves in the global scope stays with the engine, which is thrown away.
            assert_eq!(run("Array.prototype.kept = 'x'.repeat(8e6); return 1").unwrap(), b"1");
            assert_eq!(memory.held(), 0);
        });
    }
}
