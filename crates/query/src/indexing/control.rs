//! Control of indexing by its caller: whether to continue, when to end a batch, whether to stop.

use std::time::Instant;

/// Decides when batches and indexing end.
pub trait BatchControl {
    /// Called before each batch but the first: true to begin it.
    fn goes_on(&self) -> bool;

    /// Called after each document: true to end the batch here, because others wait for the thread.
    ///
    /// * `began`: when the batch was begun.
    fn ends_batch(&self, began: Instant) -> bool {
        let _ = began;
        false
    }

    /// Called periodically inside a map in C#: true to abort, because the index or its database is closed. Nothing of the batch is
    /// written then. JavaScript uses the function given to [`script::stoppable`].
    fn is_stopped(&self) -> bool {
        false
    }
}

/// A function that only decides whether to continue.
impl<F: Fn() -> bool> BatchControl for F {
    fn goes_on(&self) -> bool {
        self()
    }
}
