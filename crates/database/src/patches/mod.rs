//! Patches: running scripts on documents, outside of the write transaction.
//!
//! [`Database::resolve`] turns the patches of a batch into plain commands on a snapshot. If a document that they read has changed before
//! the write, the caller resolves the batch again (optimistic concurrency).

mod by_query;
mod debug;
mod host;
mod runner;

pub use by_query::{PatchedDocument, QueryPatch};

use std::rc::Rc;
use std::sync::Arc;

use documents::{Batch, Outcome, ScriptRunner, Write};
use storage::memory::Memory;

use crate::limits::PATCH_TRIES_MAX;
use crate::{Database, Error, Result};
use runner::Runner;

/// Counts how often a batch with patches was resolved and written.
#[derive(Debug, Default)]
pub struct PatchAttempts(usize);

impl PatchAttempts {
    /// True if an attempt failed only because another write changed meanwhile what the scripts read, and `PATCH_TRIES_MAX` is not reached:
    /// the batch is to be resolved on a new snapshot.
    pub fn goes_on_after(&mut self, error: &Error) -> bool {
        self.0 += 1;
        matches!(error, Error::Documents(documents::Error::ReadChanged { .. })) && self.0 < PATCH_TRIES_MAX
    }
}

impl Database {
    /// Runs the scripts of a batch, and gives it with plain commands in their place. For threads that may wait.
    ///
    /// * `memory`: for what they come to, which grows with the documents and not with the scripts.
    ///
    /// # Errors
    ///
    /// [`Error::Script`]; too much memory is needed; [`Error::Canceled`] if the database is closed meanwhile, or the
    /// caller's [`script::stoppable`] says so; a document is not as the batch expects it; storage fails.
    pub fn resolve(self: &Arc<Self>, batch: &Batch, memory: &Arc<Memory>) -> Result<Batch> {
        if let Some(Some(database)) = self.gate.moved_to() {
            return database.resolve(batch, memory);
        }
        let database = self.clone();
        let stop = Rc::new(move || database.is_closed());
        script::stoppable(stop, || batch.resolve(&self.read(), &mut Runner::new(self, memory)))
    }

    /// Writes a batch, running the scripts of its patches before, and again while another write changes what they read. For threads that
    /// may wait.
    ///
    /// # Errors
    ///
    /// As [`Self::resolve`] and [`Self::execute`].
    pub fn execute_patches(self: &Arc<Self>, batch: &Batch) -> Result<Outcome> {
        let database = self.clone();
        let mut runner = Runner::new(self, &self.limits().memory);
        script::stoppable(Rc::new(move || database.is_closed()), || self.write_resolved(batch, &mut runner))
    }

    /// Resolves and writes, and retries while concurrent writes invalidate the result.
    fn write_resolved(&self, batch: &Batch, runner: &mut impl ScriptRunner<Error = Error>) -> Result<Outcome> {
        let mut attempts = PatchAttempts::default();
        loop {
            let resolved = batch.resolve(&self.read(), runner)?;
            match self.write_blocking(&Write::batch(resolved)).and_then(|answer| Ok(answer.outcome()?)) {
                Err(error) if attempts.goes_on_after(&error) => {}
                outcome => return outcome,
            }
        }
    }
}
