//! The environments that the current thread writes to. A nested write would deadlock on itself, so it is refused.

use crate::environment::Inner;
use crate::error::{Error, Result};
use crate::sync::thread_local;
use std::cell::RefCell;

thread_local! {
    /// Addresses of environments whose jobs this thread runs, the innermost last.
    static WRITING: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// The thread runs jobs of an environment while the value lives.
pub(crate) struct Nesting;

impl Nesting {
    pub fn enter(inner: &Inner) -> Nesting {
        WRITING.with(|writing| writing.borrow_mut().push(address(inner)));
        Nesting
    }

    /// # Errors
    ///
    /// [`Error::Nested`] if this thread runs a job of the environment.
    pub fn refuse(inner: &Inner) -> Result<()> {
        match WRITING.with(|writing| writing.borrow().contains(&address(inner))) {
            true => Err(Error::Nested { path: inner.path.clone() }),
            false => Ok(()),
        }
    }
}

impl Drop for Nesting {
    fn drop(&mut self) {
        WRITING.with(|writing| writing.borrow_mut().pop());
    }
}

fn address(inner: &Inner) -> usize {
    std::ptr::from_ref(inner).addr()
}
