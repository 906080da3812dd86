//! A compaction as an operation of the node.

use std::sync::Arc;

use super::copy::Step;
use super::documents::Outcome;
use super::report::CompactionReport;
use crate::indexes::IndexCompaction;
use crate::limits::COMPACTION_INDEXES_MAX;
use crate::{Databases, Error, Operation, OperationId, OperationResult, OperationStatus, Progress, Result, folders};

/// What is to be compacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionRequest {
    /// The database.
    pub name: String,
    /// Whether its documents are.
    pub documents: bool,
    /// The indexes that are, by their names.
    pub indexes: Vec<String>,
}

/// Keeps a database from being compacted twice at once.
#[derive(Debug)]
pub(crate) struct Compacting {
    databases: Arc<Databases>,
    name: String,
}

impl Drop for Compacting {
    fn drop(&mut self) {
        self.databases.compacting.lock().remove(&self.name);
    }
}

/// A compaction that is about to run, which is an operation of the node.
#[derive(Debug)]
pub struct Compaction {
    databases: Arc<Databases>,
    operation: Arc<Operation>,
    request: CompactionRequest,
    report: CompactionReport,
    _alone: Compacting,
}

impl Databases {
    /// Prepares a compaction, and refuses what cannot be.
    ///
    /// * `id`: of the operation, reserved by [`Operations::next_id`](crate::Operations::next_id); `None` reserves one.
    ///
    /// # Errors
    ///
    /// [`Error::BadCompaction`], [`Error::Disabled`]; it cannot be opened.
    pub fn compact(self: &Arc<Self>, id: Option<OperationId>, request: CompactionRequest) -> Result<Compaction> {
        let bad = |rule: String| Err(Error::BadCompaction { rule });
        if request.name.is_empty() {
            return bad("DatabaseName is a required field when compacting a database.".to_owned());
        }
        if !request.documents && request.indexes.is_empty() {
            let rule = "Documents is false in compact settings and no indexes were supplied. Nothing to compact.";
            return bad(rule.to_owned());
        }
        if request.indexes.len() > COMPACTION_INDEXES_MAX {
            return bad(format!(
                "'Indexes' has {} names, over the limit COMPACTION_INDEXES_MAX of {COMPACTION_INDEXES_MAX}",
                request.indexes.len()
            ));
        }
        let database = match self.find(&request.name) {
            Err(Error::Missing { name }) => return bad(format!("Cannot compact database {name}, it doesn't exist.")),
            found => found?,
        };
        let key = database.name().to_lowercase();
        if !self.compacting.lock().insert(key.clone()) {
            return bad(format!("Database '{}' is being compacted. Wait for that, or kill it", database.name()));
        }
        let alone = Compacting { databases: self.clone(), name: key };
        let id = id.unwrap_or_else(|| self.operations().next_id());
        let operation = self.operations().start(id, format!("Compact database: {}", database.name()))?;
        let mut report = CompactionReport::of(database.name());
        report.messages.push(format!("Started database compaction for {}", database.name()));
        report.indexes = request.indexes.iter().map(|name| CompactionReport::of(name)).collect();
        Ok(Compaction { databases: self.clone(), operation, request, report, _alone: alone })
    }
}

impl Compaction {
    /// The operation that it is.
    pub fn operation(&self) -> &Arc<Operation> {
        &self.operation
    }

    /// Compacts: the indexes one after the other, then the documents. Takes as long as it takes: call it on a thread of its own.
    ///
    /// # Errors
    ///
    /// Those that the state of the operation has then. What was compacted before stays so.
    pub fn run(self) -> Result<CompactionReport> {
        let mut report = self.report.clone();
        let compacted = self.compact(&mut report);
        let name = self.request.name.as_str();
        self.operation.end(match &compacted {
            Ok(()) => {
                let (before, after) = (report.size_before, report.size_after);
                tracing::info!(database = name, before, after, "database compacted");
                OperationStatus::Completed(OperationResult {
                    compaction: Some(Arc::new(report.clone())),
                    message: report.message().unwrap_or_default().to_owned(),
                    ..OperationResult::default()
                })
            }
            Err(Error::Canceled) => OperationStatus::Canceled,
            Err(error) => {
                tracing::error!(database = name, %error, "a database was not compacted");
                OperationStatus::Faulted(Arc::new(error.clone()))
            }
        });
        compacted.map(|()| report)
    }

    fn compact(&self, report: &mut CompactionReport) -> Result<()> {
        self.tell(report);
        let database = self.databases.find(&self.request.name)?;
        if database.is_in_memory() {
            // The operation fails, not the request that starts it, as in RavenDB.
            let rule = format!(
                "Database '{}' is in memory and has no files that a compaction could make smaller",
                database.name()
            );
            return Err(Error::BadCompaction { rule });
        }
        for number in 0..report.indexes.len() {
            self.compact_index(report, number)?;
        }
        if self.request.documents {
            return self.compact_documents(report);
        }
        (report.is_skipped, report.is_processed) = (true, true);
        Ok(())
    }

    fn compact_index(&self, report: &mut CompactionReport, number: usize) -> Result<()> {
        let Some(mut part) = report.indexes.get(number).cloned() else { return Ok(()) };
        let database = self.databases.find(&self.request.name)?;
        let name = part.name.clone();
        let Some(index) = database.indexes().by_name(&name) else {
            part.skip(format!("Index '{name}' does not exist."));
            report.indexes[number] = part;
            return Ok(());
        };
        part.size_before = index.size_on_disk();
        let outcome = database.indexes().compact(&index, &mut |step| {
            note(&mut part, step);
            report.indexes[number] = part.clone();
            self.tell(report);
            !self.operation.is_killed() && !database.is_closed()
        })?;
        // Another index of the name has the files now.
        part.size_after = database.indexes().by_name(&name).map_or(part.size_before, |index| index.size_on_disk());
        match outcome {
            IndexCompaction::Replaced => part.finish(format!("Compacted the index '{name}'")),
            IndexCompaction::Dense => {
                part.finish(format!("The index '{name}' is dense already, and was left as it is"))
            }
            IndexCompaction::Skipped(reason) => part.skip(reason),
            IndexCompaction::Canceled => return Err(Error::Canceled),
        }
        report.indexes[number] = part;
        Ok(())
    }

    fn compact_documents(&self, report: &mut CompactionReport) -> Result<()> {
        let name = self.request.name.as_str();
        let path = self.databases.find(name)?.documents().environment().path().to_owned();
        report.size_before = folders::size(&path);
        let outcome = self.databases.compact_documents(name, &mut |step| {
            note(report, step);
            self.tell(report);
            !self.operation.is_killed()
        })?;
        report.size_after = folders::size(&path);
        report.finish(match outcome {
            Outcome::Replaced => format!("Compacted the documents of {name}"),
            Outcome::Dense => format!("The documents of {name} are dense already, and were left as they are"),
        });
        Ok(())
    }

    /// Shows how far it is.
    fn tell(&self, report: &CompactionReport) {
        let (processed, total) = report.parts();
        let compaction = Some(Arc::new(report.clone()));
        self.operation.set_progress(Progress { processed, total, compaction, ..Progress::default() });
    }
}

/// Notes how far a part is.
fn note(report: &mut CompactionReport, step: Step) {
    let (copied, done, total, message) = match step {
        Step::Copied(done, total) => ("Documents", done, total, format!("Copied {done} of {total} items")),
        Step::Checked(done, total) => ("Check", done, total, format!("Checked {done} of {total} pages of the copy")),
    };
    let is_same = report.copied == Some(copied);
    (report.copied, report.done, report.total) = (Some(copied), done, total);
    // One sentence for each step, which changes.
    if is_same {
        report.messages.pop();
    }
    report.messages.push(message);
}

impl Drop for Compaction {
    fn drop(&mut self) {
        self.operation.end(OperationStatus::Canceled);
    }
}
