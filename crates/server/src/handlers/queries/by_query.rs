//! What patching and deleting by a query have in common: their options, their pace, how they end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use database::{Operation, OperationDetail, OperationResult, OperationStatus};
use query::plan::{Find, IndexChoice, IndexQuery};

use super::request::Request;
use crate::error::{Error, Result};
use crate::exchange::Exchange;
use crate::limits::{OPERATION_DETAILS_MAX, STALE_WAIT};

/// Documents that one transaction takes, so that other writes get their turn.
const BATCH_COUNT: usize = 1024;

/// How long one that is slowed down sleeps at most before it looks whether it is killed.
const NAP: Duration = Duration::from_millis(50);

/// What the address asks for.
#[derive(Clone, Copy)]
pub(super) struct Options {
    /// The index need not have all that was written before.
    pub(super) allows_stale: bool,
    /// How long it is waited for if it has to.
    pub(super) stale_wait: Duration,
    /// What became of each document is told.
    pub(super) tells_details: bool,
    per_second: Option<u64>,
}

impl Options {
    /// Reads `allowStale`, `staleTimeout`, `maxOpsPerSec` and `details`.
    pub(super) fn of(exchange: &Exchange) -> Result<Options> {
        let query = exchange.query();
        let stale_wait = query.time_span("staleTimeout")?.unwrap_or(STALE_WAIT);
        Ok(Options {
            allows_stale: query.is_true("allowStale")?,
            stale_wait: stale_wait.min(exchange.node.limits.query_run_time),
            tells_details: query.is_true("details")?,
            per_second: query.number("maxOpsPerSec")?.filter(|count| *count > 0),
        })
    }

    /// Documents that one transaction takes.
    pub(super) fn batch_count(self) -> usize {
        self.per_second.map_or(BATCH_COUNT, |count| BATCH_COUNT.min(usize::try_from(count).unwrap_or(BATCH_COUNT)))
    }
}

/// How fast an operation may go.
pub(super) struct Pace {
    begun: Instant,
    per_second: Option<u64>,
}

impl Pace {
    pub(super) fn new(options: Options) -> Pace {
        Pace { begun: Instant::now(), per_second: options.per_second }
    }

    /// Waits until so many may be done since it began.
    pub(super) fn rest(&self, processed: u64, operation: &Operation) -> Result<()> {
        let Some(per_second) = self.per_second else { return Ok(()) };
        let due = self.begun + Duration::from_secs_f64(processed as f64 / per_second as f64);
        while let Some(left) = due.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            refuse_killed(operation)?;
            std::thread::sleep(left.min(NAP));
        }
        Ok(())
    }
}

/// # Errors
///
/// Somebody has killed the operation.
pub(super) fn refuse_killed(operation: &Operation) -> Result<()> {
    if operation.is_killed() { Err(database::Error::Canceled.into()) } else { Ok(()) }
}

pub(super) fn index_name(request: &Request) -> String {
    match &request.plan.find {
        Find::Index(IndexQuery { index: IndexChoice::Named(name, _), .. }) => name.clone(),
        _ => String::new(),
    }
}

/// What became of each document, of so many as are kept.
#[derive(Default)]
pub(super) struct Details(Vec<OperationDetail>);

impl Details {
    pub(super) fn add(&mut self, details: impl Iterator<Item = OperationDetail>) {
        self.0.extend(details.take(OPERATION_DETAILS_MAX - self.0.len()));
    }

    /// What an operation came to that processed so many.
    pub(super) fn into_result(self, total: u64) -> OperationResult {
        let mut message = format!("Processed {total} items.");
        if self.0.len() == OPERATION_DETAILS_MAX {
            message += &format!(" The details are of the first {OPERATION_DETAILS_MAX}.");
        }
        OperationResult { total, documents_processed: 0, message, details: self.0 }
    }
}

/// Ends an operation.
///
/// * `what`: it is, for the log.
pub(super) fn end(operation: &Operation, what: &str, outcome: Result<OperationResult>) {
    operation.end(match outcome {
        Ok(result) => OperationStatus::Completed(result),
        Err(Error::Database(database::Error::Canceled)) => OperationStatus::Canceled,
        Err(Error::Database(error)) => OperationStatus::Faulted(Arc::new(error)),
        Err(Error::UnknownIndex { name }) => OperationStatus::Faulted(Arc::new(database::Error::NoSuchIndex { name })),
        Err(error) => {
            tracing::error!(%error, "{what} met a bug");
            OperationStatus::Faulted(Arc::new(storage::Error::JobPanicked.into()))
        }
    });
}
