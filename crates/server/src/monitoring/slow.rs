//! The recent slow requests: those whose answer began later than `Limits.SlowRequestInMs` after their head had come.
//!
//! The log has them as warnings, up to [`SLOW_REQUESTS_LOGGED_MAX`] in a minute. Only they take a lock. As many as
//! [`SLOW_REQUESTS_KEPT_MAX`] are kept, in memory, with texts [shortened](shorten). They have the text of a query, but not its
//! parameters.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime};

use database::Database;
use hyper::{Method, StatusCode, Uri};
use parking_lot::Mutex;

use super::log_budget::LogBudget;
use super::shortened::shorten;
use crate::error::Result;
use crate::limits::{SLOW_REQUESTS_KEPT_MAX, SLOW_REQUESTS_LOGGED_MAX, SLOW_REQUESTS_LOGGED_WINDOW};
use crate::messages::reply::Reply;
use crate::node::Node;
use crate::routing::exchange::Exchange;
use crate::routing::urls::url_of;
use crate::traces::{TraceId, trace_of};

/// One of them.
#[derive(Debug, Clone)]
pub(crate) struct SlowRequest {
    /// When its answer began.
    pub(crate) at: SystemTime,
    pub(crate) duration: Duration,
    pub(crate) method: Method,
    /// Path and query string, of queries too.
    pub(crate) url: String,
    pub(crate) database: Option<String>,
    /// The text of a query that came in a body, or in the address.
    pub(crate) query: Option<String>,
    /// `None`: it failed, in words that its client got.
    pub(crate) status: Option<StatusCode>,
    /// The trace that its caller is in.
    pub(crate) trace: Option<TraceId>,
}

/// All that are kept.
#[derive(Debug)]
pub(crate) struct SlowRequests {
    threshold: Duration,
    kept: Mutex<VecDeque<SlowRequest>>,
    /// All there were, the forgotten ones too.
    count: AtomicU64,
    logged: Mutex<LogBudget>,
}

impl SlowRequests {
    /// * `threshold`: what takes as long is slow.
    pub(crate) fn new(threshold: Duration) -> SlowRequests {
        SlowRequests {
            threshold,
            kept: Mutex::default(),
            count: AtomicU64::new(0),
            logged: Mutex::new(LogBudget::new(SLOW_REQUESTS_LOGGED_MAX, SLOW_REQUESTS_LOGGED_WINDOW)),
        }
    }

    /// How many there were since the start.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }

    pub(crate) fn threshold(&self) -> Duration {
        self.threshold
    }

    #[inline]
    pub(crate) fn is_slow(&self, duration: Duration) -> bool {
        duration >= self.threshold
    }

    /// Keeps one, in place of the oldest if there are too many.
    pub(crate) fn note(&self, mut request: SlowRequest) {
        shorten(&mut request.url);
        request.query.as_mut().into_iter().for_each(shorten);
        self.count.fetch_add(1, Relaxed);
        let budget = self.logged.lock().take(Instant::now());
        if let Some(left_out) = budget {
            log(&request, left_out);
        }
        let mut kept = self.kept.lock();
        if kept.len() == SLOW_REQUESTS_KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back(request);
    }

    /// The newest first; of one database, or all.
    pub(crate) fn all(&self, database: Option<&str>) -> Vec<SlowRequest> {
        let is_asked = |request: &&SlowRequest| {
            let of = request.database.as_deref();
            database.is_none_or(|name| of.is_some_and(|of| of.eq_ignore_ascii_case(name)))
        };
        self.kept.lock().iter().rev().filter(is_asked).cloned().collect()
    }
}

/// * `left_out`: slow requests since the last line that the log does not have.
fn log(request: &SlowRequest, left_out: u64) {
    tracing::warn!(
        method = %request.method,
        url = request.url,
        database = request.database.as_deref(),
        query = request.query.as_deref(),
        status = request.status.map(|status| status.as_u16()),
        duration_ms = request.duration.as_micros() as f64 / 1000.0,
        left_out = (left_out > 0).then_some(left_out),
        trace_id = request.trace.map(tracing::field::display),
        "slow request"
    );
}

/// A query on its way, with what the list has of it if it is slow.
pub(crate) struct TimedQuery {
    node: Arc<Node>,
    method: Method,
    uri: Uri,
    database: Arc<Database>,
    text: String,
    started: Instant,
    trace: Option<TraceId>,
}

impl TimedQuery {
    pub(crate) fn new(exchange: &Exchange, text: &str, started: Instant) -> TimedQuery {
        let Exchange { node, method, uri, .. } = exchange;
        TimedQuery {
            node: node.clone(),
            method: method.clone(),
            uri: uri.clone(),
            database: exchange.database().clone(),
            text: text.to_owned(),
            started,
            trace: trace_of(&exchange.headers),
        }
    }

    /// Its answer begins, or it failed.
    pub(crate) fn answered(self, outcome: &Result<Reply>) {
        let duration = self.started.elapsed();
        if self.node.slow.is_slow(duration) {
            self.node.slow.note(SlowRequest {
                at: SystemTime::now(),
                duration,
                method: self.method,
                url: url_of(&self.uri),
                database: Some(self.database.name().to_owned()),
                query: Some(self.text),
                status: outcome.as_ref().ok().map(Reply::status),
                trace: self.trace,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::SLOW_TEXT_SIZE_MAX;

    fn request(number: usize, database: &str) -> SlowRequest {
        SlowRequest {
            at: SystemTime::UNIX_EPOCH,
            duration: Duration::from_secs(1),
            method: Method::GET,
            url: format!("/{number}"),
            database: Some(database.to_owned()),
            query: Some("ä".repeat(SLOW_TEXT_SIZE_MAX)),
            status: Some(StatusCode::OK),
            trace: None,
        }
    }

    #[test]
    fn the_newest_are_kept_and_their_texts_are_cut() {
        let slow = SlowRequests::new(Duration::from_millis(5));
        assert!(slow.is_slow(Duration::from_millis(5)) && !slow.is_slow(Duration::from_millis(4)));
        for number in 0..=SLOW_REQUESTS_KEPT_MAX {
            slow.note(request(number, if number == 3 { "shop" } else { "db" }));
        }
        let all = slow.all(None);
        assert_eq!(all.len(), SLOW_REQUESTS_KEPT_MAX);
        assert_eq!((all[0].url.as_str(), all[all.len() - 1].url.as_str()), ("/256", "/1"));
        assert_eq!(slow.all(Some("SHOP")).iter().map(|request| request.url.as_str()).collect::<Vec<_>>(), ["/3"]);
        assert_eq!(all[0].query.as_ref().map(|text| text.chars().count()), Some(SLOW_TEXT_SIZE_MAX / 2 + 1));
    }
}
