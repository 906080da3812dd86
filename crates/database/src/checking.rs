//! The check of an open database, as an operation: every page, document, index and rule of the format, on snapshots, beside reads and
//! writes.
//!
//! It finds what a read of the page would find, before one is needed. It changes nothing. What it reads is checked against its hashes
//! again, also where it was before. The versions of pages that its snapshot needs are kept meanwhile.

use std::sync::Arc;

use storage::Environment;

use crate::check_report::{CheckReport, CheckedPart};
use crate::limits::CHECK_PROGRESS_EVERY;
use crate::{Database, Error, Index, Operation, OperationId, OperationResult, OperationStatus, Progress, Result};

/// A check that is about to run, which is an operation of its database.
#[derive(Debug)]
pub struct Check {
    database: Arc<Database>,
    operation: Arc<Operation>,
}

impl Database {
    /// Prepares a check of the documents and all indexes.
    ///
    /// * `id`: of the operation, reserved by [`Operations::next_id`](crate::Operations::next_id); `None` reserves one.
    ///
    /// # Errors
    ///
    /// [`Error::OperationInUse`].
    pub fn check(self: &Arc<Self>, id: Option<OperationId>) -> Result<Check> {
        let id = id.unwrap_or_else(|| self.operations().next_id());
        let operation = self.operations().start(id, format!("Check database: {}", self.name()))?;
        Ok(Check { database: self.clone(), operation })
    }
}

impl Check {
    /// The operation that it is.
    pub fn operation(&self) -> &Arc<Operation> {
        &self.operation
    }

    /// Checks. Takes as long as it takes to read all of the database: call it on a thread of its own. Killed, it ends with the page, or
    /// with the part whose contents it reads.
    ///
    /// # Errors
    ///
    /// Those that the state of the operation has then: it was killed, or something is damaged so that the check cannot go on. What is
    /// damaged otherwise is in the report.
    pub fn run(self) -> Result<CheckReport> {
        let checked = self.check();
        let name = self.database.name();
        self.operation.end(match &checked {
            Ok(report) => {
                let problems = report.problem_count();
                match problems {
                    0 => tracing::info!(database = name, "database checked, and whole"),
                    _ => tracing::error!(database = name, problems, "a check found damage"),
                }
                OperationStatus::Completed(OperationResult {
                    total: report.parts.iter().map(|part| part.pages).sum(),
                    message: format!("{problems} problems."),
                    check: Some(Arc::new(report.clone())),
                    ..OperationResult::default()
                })
            }
            Err(Error::Canceled) => OperationStatus::Canceled,
            Err(error) => {
                tracing::error!(database = name, %error, "a database could not be checked");
                OperationStatus::Faulted(Arc::new(error.clone()))
            }
        });
        checked
    }

    fn check(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        let mut documents = self.pages(None, self.database.documents().environment())?;
        // Documents on damaged pages would only say the same again.
        if documents.problem_count == 0 {
            let found = self.database.read().verify()?;
            documents.items = found.counts.iter().map(|(_, counts)| counts.count).sum();
            documents.add(found.problem_count, found.problems);
        }
        report.parts.push(documents);
        for index in self.database.indexes().all().iter() {
            report.parts.extend(self.index(index)?);
        }
        Ok(report)
    }

    /// `None`: it was removed meanwhile.
    fn index(&self, index: &Index) -> Result<Option<CheckedPart>> {
        let Some(environment) = index.environment().filter(|_| !index.is_removed()) else { return Ok(None) };
        let mut part = self.pages(Some(index.name()), environment)?;
        if part.problem_count > 0 {
            return Ok(Some(part));
        }
        match index.read() {
            Ok(snapshot) => {
                let found = snapshot.verify().map_err(Error::from)?;
                part.items = found.entry_count;
                part.add(found.problem_count, found.problems);
            }
            // One that failed answers nothing, and says why by itself.
            Err(error) => part.add(1, vec![format!("the index cannot be read: {error}")]),
        }
        Ok(Some(part))
    }

    /// Checks the pages of an environment.
    fn pages(&self, index: Option<&str>, environment: &Environment) -> Result<CheckedPart> {
        let total = environment.statistics()?.used_pages;
        let mut goes_on = |processed: u64| {
            if !processed.is_multiple_of(CHECK_PROGRESS_EVERY) {
                return true;
            }
            self.operation.set_progress(Progress { processed, total, ..Progress::default() });
            !self.operation.is_killed() && !self.database.is_closed()
        };
        let report = environment.verify_while(&mut goes_on)?.ok_or(Error::Canceled)?;
        let mut part =
            CheckedPart { index: index.map(str::to_owned), pages: report.pages_total(), ..CheckedPart::default() };
        part.add(report.problems.len() as u64, report.problems);
        Ok(part)
    }
}

impl Drop for Check {
    fn drop(&mut self) {
        self.operation.end(OperationStatus::Canceled);
    }
}
