//! Counters of a server since its start, for `GET /metrics` and `GET /admin/live`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::cause::Cause;
use crate::messages::reply::Reply;

/// Counts since the start of the server.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Answers by the first digit of their status, from 1xx to 5xx.
    answers: [AtomicU64; 5],
    /// Those of them whose cause is the server.
    server_faults: [AtomicU64; 5],
    pub(crate) connections_refused: AtomicU64,
    pub(crate) connections_expired: AtomicU64,
    pub(crate) handshakes: AtomicU64,
    pub(crate) handshakes_failed: AtomicU64,
    /// Requests that were refused because of their certificate or API key.
    pub(crate) identifications_failed: AtomicU64,
    pub(crate) documents_bulk_inserted: AtomicU64,
    /// Changes sockets that are open now.
    pub(crate) changes_sockets: AtomicU64,
    pub(crate) subscription_workers: AtomicU64,
}

impl Metrics {
    /// Counts an answer.
    pub(crate) fn answered(&self, reply: &Reply) {
        let class = usize::from(reply.status().as_u16() / 100).clamp(1, 5) - 1;
        self.answers[class].fetch_add(1, Relaxed);
        if class >= 3 && Cause::of(reply) == Cause::Server {
            self.server_faults[class].fetch_add(1, Relaxed);
        }
    }

    /// Answers with 5xx whose cause is the server, not the request.
    pub(crate) fn server_error_count(&self) -> u64 {
        self.server_faults[4].load(Relaxed)
    }

    /// Answers by class of status and cause: `(2, None, count)` and so on; those of failures have one row for each cause.
    pub(crate) fn answers(&self) -> Vec<(usize, Option<Cause>, u64)> {
        let mut rows = Vec::new();
        for (class, count) in self.answers.iter().enumerate().skip(1) {
            // In this order a fault is never counted before its answer, so that no difference is below 0.
            let faults = self.server_faults[class].load(Relaxed);
            let count = count.load(Relaxed);
            match class {
                1 | 2 => rows.push((class + 1, None, count)),
                _ => rows.extend([
                    (class + 1, Some(Cause::Request), count.saturating_sub(faults)),
                    (class + 1, Some(Cause::Server), faults),
                ]),
            }
        }
        rows
    }
}
