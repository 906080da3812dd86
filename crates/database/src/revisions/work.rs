//! Operations that go through the documents that have revisions: enforcing the configuration, adopting orphans, reverting to a time.
//!
//! Each goes over the documents in the order of their keys, as they are when it comes there, and changes some of them in each transaction.
//! It can be killed between two transactions; what was changed before stays changed.

use std::sync::Arc;

use documents::limits::REVISED_DOCUMENTS_AT_ONCE;
use documents::{Answer, Reverted, RevisionsOf, RevisionsWrite, Snapshot, Write};

use super::report::{RevisionsReport, RevisionsWork};
use crate::limits::REVISIONS_WARNINGS_MAX;
use crate::operations::{Operation, OperationResult, OperationStatus, Progress};
use crate::{Database, Error, Result};

/// An operation on revisions that has started.
pub struct RevisionsOperation {
    database: Arc<Database>,
    operation: Arc<Operation>,
    work: RevisionsWork,
}

/// Dropped without a run, or by a panic: the operation reports a failure.
impl Drop for RevisionsOperation {
    fn drop(&mut self) {
        // The first end counts.
        self.operation.end(OperationStatus::Faulted(Arc::new(storage::Error::JobPanicked.into())));
    }
}

impl RevisionsOperation {
    /// Starts the operation.
    ///
    /// # Errors
    ///
    /// As [`Operations::start`](crate::Operations::start).
    pub fn begin(database: &Arc<Database>, work: RevisionsWork) -> Result<RevisionsOperation> {
        let operations = database.operations();
        let operation = operations.start(operations.next_id(), work.description())?;
        Ok(RevisionsOperation { database: database.clone(), operation, work })
    }

    /// Its operation.
    pub fn operation(&self) -> &Arc<Operation> {
        &self.operation
    }

    /// Does the work, and ends the operation with the outcome. For threads that may block.
    ///
    /// # Errors
    ///
    /// [`Error::Canceled`]; storage fails. What was changed before stays changed.
    pub fn run(self) -> Result<RevisionsReport> {
        let outcome = self.go_through();
        self.operation.end(match &outcome {
            Ok(report) => OperationStatus::Completed(OperationResult {
                total: report.changed,
                documents_processed: report.scanned_documents,
                revisions: Some(Arc::new(report.clone())),
                ..OperationResult::default()
            }),
            Err(Error::Canceled) => OperationStatus::Canceled,
            Err(error) => OperationStatus::Faulted(Arc::new(error.clone())),
        });
        outcome
    }

    fn go_through(&self) -> Result<RevisionsReport> {
        let mut report = RevisionsReport {
            work: self.work.clone(),
            scanned_revisions: 0,
            scanned_documents: 0,
            changed: 0,
            warnings: Default::default(),
        };
        let mut after: Option<String> = None;
        loop {
            self.operation.check_kill()?;
            let (write, last) = {
                let snapshot = self.database.read();
                let found = snapshot.documents_with_revisions(after.as_deref(), REVISED_DOCUMENTS_AT_ONCE)?;
                let last = found.last().map(|of| of.document_id.clone());
                (self.write_of(&snapshot, found, &mut report)?, last)
            };
            if let Some(write) = write {
                match self.database.write_blocking(&Write::Revisions(write))? {
                    Answer::Reverted(Reverted { changed, to_oldest }) => {
                        report.changed += changed;
                        self.warn_of_oldest(to_oldest, &mut report);
                    }
                    answer => report.changed += answer.count()?,
                }
            }
            self.operation.set_progress(Progress {
                processed: report.scanned_documents,
                documents_processed: report.scanned_documents,
                last_processed_id: last.clone(),
                revisions: Some(Arc::new(report.clone())),
                ..Progress::default()
            });
            after = Some(match last {
                Some(last) => last,
                None => return Ok(report),
            });
        }
    }

    fn warn_of_oldest(&self, document_ids: Vec<String>, report: &mut RevisionsReport) {
        let RevisionsWork::Revert { time, .. } = &self.work else { return };
        let warning = format!(
            "Reverted to oldest revision, since no revision prior to '{time}' was found and older ones were removed."
        );
        for document_id in document_ids {
            if report.warnings.len() < REVISIONS_WARNINGS_MAX {
                report.warnings.insert(document_id, warning.clone());
            }
        }
    }

    /// The write for some documents; `None`: nothing is to be done.
    fn write_of(
        &self,
        snapshot: &Snapshot<'_>,
        found: Vec<RevisionsOf>,
        report: &mut RevisionsReport,
    ) -> Result<Option<RevisionsWrite>> {
        let collections = self.work.collections();
        let is_meant = |of: &RevisionsOf| {
            collections.is_empty() || collections.iter().any(|name| documents::id::is_same(name, &of.collection))
        };
        let mut document_ids = Vec::new();
        for of in found.into_iter().filter(is_meant) {
            report.scanned_documents += 1;
            report.scanned_revisions += snapshot.revision_count(&of.document_id)?;
            document_ids.push(of.document_id);
        }
        if document_ids.is_empty() {
            return Ok(None);
        }
        Ok(match &self.work {
            RevisionsWork::Enforce { with_forced, .. } => {
                Some(RevisionsWrite::Enforce { document_ids, with_forced: *with_forced })
            }
            RevisionsWork::Adopt { .. } => Some(RevisionsWrite::Adopt { document_ids }),
            RevisionsWork::Revert { time, .. } => Some(RevisionsWrite::RevertToTime { document_ids, time: *time }),
        })
    }
}
