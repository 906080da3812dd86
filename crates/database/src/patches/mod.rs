//! Patches: running scripts on documents, outside of the write transaction.
//!
//! [`Database::resolve`] makes plain commands of a batch's patches on a snapshot; who runs the batch then resolves it anew if something that
//! it read was changed meanwhile.

mod by_query;
mod debug;
mod host;
mod runner;

pub use by_query::{PatchedDocument, QueryPatch};

use std::rc::Rc;
use std::sync::Arc;

use documents::{Batch, Outcome, ScriptRunner, Write};

use crate::limits::PATCH_TRIES_MAX;
use crate::{Database, Error, Result};
use runner::Runner;

impl Database {
    /// Runs the scripts of a batch, and gives it with plain commands in their place. For threads that may wait.
    ///
    /// # Errors
    ///
    /// [`Error::Script`]; [`Error::Canceled`] if the database is closed meanwhile, or the caller's [`script::stoppable`] says so; a document is
    /// not as the batch expects it; storage fails.
    pub fn resolve(self: &Arc<Self>, batch: &Batch) -> Result<Batch> {
        let database = self.clone();
        let stop = Rc::new(move || database.is_closed());
        script::stoppable(stop, || batch.resolve(&self.read(), &mut Runner::new(self)))
    }

    /// Whether a batch failed because of what somebody else wrote meanwhile, so that it is to be resolved anew: `tries` times it was.
    pub fn is_to_be_resolved_anew(error: &Error, tries: usize) -> bool {
        matches!(error, Error::Documents(documents::Error::ReadChanged { .. })) && tries < PATCH_TRIES_MAX
    }

    /// Resolves and writes until nobody comes between.
    fn write_resolved(&self, batch: &Batch, runner: &mut impl ScriptRunner<Error = Error>) -> Result<Outcome> {
        let mut tries = 0;
        loop {
            tries += 1;
            let resolved = batch.resolve(&self.read(), runner)?;
            match self.write_when_free(&Write::batch(resolved)).and_then(|answer| Ok(answer.outcome()?)) {
                Err(error) if Database::is_to_be_resolved_anew(&error, tries) => {}
                outcome => return outcome,
            }
        }
    }
}
