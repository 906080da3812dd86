//! Questions of indexing to its caller: whether to go on, and when to end a batch.

use std::time::Instant;

/// Decides how long indexing goes on.
pub trait BatchControl {
    /// Asked before each batch but the first: whether to begin it.
    fn goes_on(&self) -> bool;

    /// Asked after each document: whether to end the batch here, because others wait for the thread.
    ///
    /// * `began`: when the batch was begun.
    fn ends_batch(&self, began: Instant) -> bool {
        let _ = began;
        false
    }

    /// Asked now and then inside of a map in C#: whether to give up, because the index or its database is closed. Nothing of the batch is
    /// written then. JavaScript asks what [`script::stoppable`] was given.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// A function that only says whether to go on.
impl<F: Fn() -> bool> BatchControl for F {
    fn goes_on(&self) -> bool {
        self()
    }
}
