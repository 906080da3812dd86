//! Counters for `GET /metrics`, in the text form that Prometheus reads.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hyper::StatusCode;

use crate::latency::HistogramCounts;

/// Counts since the start of the server.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Answers by the first digit of their status, from 1xx to 5xx.
    answers: [AtomicU64; 5],
    pub(crate) connections_refused: AtomicU64,
    pub(crate) connections_expired: AtomicU64,
    pub(crate) documents_bulk_inserted: AtomicU64,
    /// Changes sockets that are open now.
    pub(crate) changes_sockets: AtomicU64,
}

impl Metrics {
    pub(crate) fn answered(&self, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).clamp(1, 5) - 1;
        if let Some(count) = self.answers.get(class) {
            count.fetch_add(1, Relaxed);
        }
    }

    /// Answers with 5xx.
    pub(crate) fn server_error_count(&self) -> u64 {
        self.answers[4].load(Relaxed)
    }

    /// Appends the counters.
    pub(crate) fn write(&self, out: &mut String) {
        out.push_str("# TYPE rookery_http_answers_total counter\n");
        for (class, count) in self.answers.iter().enumerate().skip(1) {
            let _ = writeln!(out, "rookery_http_answers_total{{status=\"{}xx\"}} {}", class + 1, count.load(Relaxed));
        }
        counter(out, "rookery_connections_refused_total", self.connections_refused.load(Relaxed));
        counter(out, "rookery_connections_expired_total", self.connections_expired.load(Relaxed));
        counter(out, "rookery_documents_bulk_inserted_total", self.documents_bulk_inserted.load(Relaxed));
        gauge(out, "rookery_changes_sockets", self.changes_sockets.load(Relaxed));
    }
}

/// Appends one counter with its type.
pub(crate) fn counter(out: &mut String, name: &str, value: u64) {
    let _ = writeln!(out, "# TYPE {name} counter\n{name} {value}");
}

/// Appends one gauge with its type.
pub(crate) fn gauge(out: &mut String, name: &str, value: impl std::fmt::Display) {
    let _ = writeln!(out, "# TYPE {name} gauge\n{name} {value}");
}

/// Powers of two of microseconds that have a bucket in the text: 128 us to 16 s.
const BUCKET_POWERS: std::ops::RangeInclusive<u32> = 7..=24;

/// Appends how long requests of a kind took. Sums are not kept.
pub(crate) fn histogram(out: &mut String, kind: &str, counted: &HistogramCounts) {
    const NAME: &str = "rookery_http_request_seconds";
    if kind == "read" {
        let _ = writeln!(out, "# TYPE {NAME} histogram");
    }
    for power in BUCKET_POWERS {
        let (end, count) = ((1_u64 << power) as f64 / 1e6, counted.count_below(power));
        let _ = writeln!(out, "{NAME}_bucket{{kind=\"{kind}\",le=\"{end}\"}} {count}");
    }
    let count = counted.count();
    let _ =
        writeln!(out, "{NAME}_bucket{{kind=\"{kind}\",le=\"+Inf\"}} {count}\n{NAME}_count{{kind=\"{kind}\"}} {count}");
}
