//! Changing one document: with a script, or by a JSON Patch.

use database::documents::{
    Batch, CommandResult, Expected as ExpectedVersion, JsonPatchRequest, PatchReport, PatchRequest, PatchScript,
};
use serde::Serialize;

use crate::error::{of_database, of_documents};
use crate::{Database, Error, Expected, Result};

/// What a patch did with its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchStatus {
    /// There is no such document.
    Missing,
    /// It was created.
    Created,
    /// It was changed.
    Patched,
    /// The script left it as it was.
    Unchanged,
}

/// A change of one document by a script in JavaScript: `this` is the document, `args` has the arguments.
///
/// The script runs outside of the write transaction, and again if another write changes meanwhile what it read.
pub struct Patch<'d> {
    database: &'d Database,
    id: String,
    script: String,
    arguments: serde_json::Map<String, serde_json::Value>,
    expected: ExpectedVersion,
    failed: Option<serde_json::Error>,
}

impl<'d> Patch<'d> {
    pub(crate) fn new(database: &'d Database, id: String, script: String) -> Patch<'d> {
        let (arguments, expected) = (serde_json::Map::new(), ExpectedVersion::Any);
        Patch { database, id, script, arguments, expected, failed: None }
    }

    /// An argument: `args.name` in the script.
    #[must_use]
    pub fn argument(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        match serde_json::to_value(value) {
            Ok(value) => _ = self.arguments.insert(name.into(), value),
            Err(error) => _ = self.failed.get_or_insert(error),
        }
        self
    }

    /// Requires a version of the document.
    #[must_use]
    pub fn expect(mut self, expected: Expected) -> Self {
        self.expected = expected.into_documents();
        self
    }

    /// Runs the script and returns when the document is durable.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid): the script is wrong or fails; [`Error::Conflict`](crate::Error::Conflict),
    /// [`Error::Json`](crate::Error::Json), [`Error::Busy`](crate::Error::Busy), [`Error::Storage`](crate::Error::Storage).
    pub fn run(self) -> Result<PatchStatus> {
        if let Some(failed) = self.failed {
            return Err(failed.into());
        }
        let request = PatchRequest {
            patch: PatchScript { script: self.script, values: serde_json::to_vec(&self.arguments)? },
            if_missing: None,
            create_if_missing: None,
            returns_document: false,
            skips_mismatch: false,
        };
        let mut batch = Batch::new();
        batch.patch(&self.id, self.expected, request).map_err(of_documents)?;
        let report = run(self.database, &batch)?;
        use database::documents::PatchStatus as Status;
        Ok(match report.status {
            Status::DocumentDoesNotExist => PatchStatus::Missing,
            Status::Created => PatchStatus::Created,
            Status::Patched => PatchStatus::Patched,
            Status::NotModified | Status::Skipped => PatchStatus::Unchanged,
        })
    }
}

/// See [`Database::json_patch`].
pub(crate) fn json_patch(database: &Database, id: &str, operations: &impl Serialize) -> Result<bool> {
    let text = serde_json::to_vec(operations)?;
    let text = json::Minifier::new().minify(&text).map_err(|error| Error::Invalid(error.to_string()))?.bytes().to_vec();
    let patch = json::Patch::parse(json::Raw::new(&text)).map_err(|error| Error::Invalid(error.to_string()))?;
    let mut batch = Batch::new();
    let request = JsonPatchRequest { patch, returns_document: false };
    batch.json_patch(id, ExpectedVersion::Any, request).map_err(of_documents)?;
    Ok(run(database, &batch)?.status == database::documents::PatchStatus::Patched)
}

/// Runs a batch of one patch.
fn run(database: &Database, batch: &Batch) -> Result<PatchReport> {
    let database = database.open()?;
    let outcome = database.with_memory(|| database.execute_patches(batch)).map_err(of_database)?;
    match outcome.results.into_iter().next() {
        Some(CommandResult::Patch { report, .. }) => Ok(*report),
        _ => unreachable!("a batch has one result for each of its commands, and this one has a patch alone"),
    }
}
