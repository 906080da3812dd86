//! Patching the documents that a query finds, in batches.

use documents::{
    Batch, CommandResult, Expected, PatchInput, PatchReport, PatchRequest, PatchRun, PatchScript, PatchStatus,
    ScriptRunner, View,
};
use json::Raw;
use query::execute::Loads;
use query::plan::ScriptClause;
use script::{Document, Input};
use storage::memory::MemoryReservation;

use super::host::document;
use super::runner::{Prepared, hold, run};
use crate::{Database, Error, Result};

/// The clause `update` of a query, ready to be run.
pub struct QueryPatch<'d> {
    database: &'d Database,
    prepared: Prepared,
    loads: Loads<'d>,
    /// Of the batch that documents come to.
    memory: MemoryReservation,
}

/// The outcome for one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchedDocument {
    /// Its id.
    pub id: String,
    /// What became of it.
    pub status: PatchStatus,
    /// Its change vector, if it was written.
    pub change_vector: Option<String>,
}

impl<'d> QueryPatch<'d> {
    /// Compiles it.
    ///
    /// # Errors
    ///
    /// [`Error::Script`] without an id.
    pub fn new(database: &'d Database, update: &'d ScriptClause) -> Result<QueryPatch<'d>> {
        let wrong = |error| Error::Script { id: String::new(), error };
        let before = update.alias.as_ref().map(|alias| format!("var {alias}=this;")).unwrap_or_default();
        let names: Vec<&str> = update.loads.iter().map(|load| load.alias.as_str()).collect();
        let prepared = Prepared::new(database, &update.declarations, (&before, update.text()), &update.values, &names)
            .map_err(wrong)?;
        prepared.program.check().map_err(wrong)?;
        let prepared = Prepared { printed: "Output", ..prepared };
        let memory = database.limits().memory.reservation();
        Ok(QueryPatch { database, prepared, loads: Loads::new(&update.loads), memory })
    }

    /// Patches documents in one transaction; gives what became of each. Those that are gone are left out.
    ///
    /// # Errors
    ///
    /// [`Error::Script`], after which nothing of these documents was changed; storage fails.
    pub fn patch(&mut self, ids: &[String]) -> Result<Vec<PatchedDocument>> {
        let mut batch = Batch::new();
        let request = QueryPatch::request();
        for id in ids {
            batch.patch(id, Expected::Any, request.clone())?;
        }
        let outcome = {
            let database = self.database;
            database.write_resolved(&batch, &mut &mut *self)?
        };
        let report = outcome.results.into_iter().filter_map(|result| match result {
            CommandResult::Patch { report, written } if report.status != PatchStatus::DocumentDoesNotExist => {
                let change_vector = written.map(|written| written.change_vector);
                Some(PatchedDocument { id: report.id, status: report.status, change_vector })
            }
            _ => None,
        });
        Ok(report.collect())
    }

    /// What patching a document would do: as it is and as it would be, and what the script did. Nothing is written.
    ///
    /// # Errors
    ///
    /// [`Error::Script`]; storage fails.
    pub fn test(&mut self, id: &str) -> Result<PatchReport> {
        let mut batch = Batch::new().keeping_originals();
        let request = PatchRequest { returns_document: true, ..QueryPatch::request() };
        batch.patch(id, Expected::Any, request)?;
        let snapshot = self.database.read();
        let resolved = batch.resolve(&snapshot, &mut &mut *self)?;
        Ok(resolved.patch_report().cloned().expect("a batch of a patch tells of it"))
    }

    /// The script is that of the query.
    fn request() -> PatchRequest {
        PatchRequest {
            patch: PatchScript { script: String::new(), values: Vec::new() },
            if_missing: None,
            create_if_missing: None,
            returns_document: false,
            skips_mismatch: false,
        }
    }

    /// The documents that a document names.
    fn load(&self, seen: &PatchInput, view: &mut View<'_>) -> Result<Vec<Vec<Document>>> {
        let find = |id: &str| Ok::<_, Error>(view.get(id)?.as_ref().map(document));
        self.loads.load(Raw::new(&seen.json), None, find)
    }
}

impl ScriptRunner for &mut QueryPatch<'_> {
    type Error = Error;

    fn run(
        &mut self,
        _: &PatchScript,
        id: &str,
        document: Option<&PatchInput>,
        view: &mut View<'_>,
    ) -> Result<PatchRun> {
        let loaded = match document {
            Some(seen) => self.load(seen, view)?,
            None => Vec::new(),
        };
        let inputs: Vec<Input<'_>> = self.loads.inputs(&loaded).collect();
        run(self.database, &self.prepared, &inputs, id, document, view)
    }

    fn hold(&mut self, size: usize) -> Result<()> {
        hold(&mut self.memory, size)
    }
}
