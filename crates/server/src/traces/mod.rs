//! Traces of requests for OpenTelemetry: the caller's trace goes on here, and its spans go to a collector.
//!
//! A request that belongs to a trace (`traceparent`) has the id of it in its lines of the log, whatever is set. With `Traces.Endpoint` each
//! request whose caller records its trace, and a share of the others, also becomes a span. A request inside of another one, as in a
//! `multi_get`, has none.

mod context;
mod exporter;
mod span;

use std::time::{Duration, SystemTime};

use hyper::{HeaderMap, Method, Uri};

use crate::cause::Cause;
use crate::messages::reply::Reply;
use crate::network::peer::Peer;
use context::{Ids, SpanId};
pub(crate) use context::{TraceContext, TraceId};
use exporter::{Counts, Exporter};
use span::Span;

/// Where spans are sent, and which.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceOptions {
    /// The base URL of a collector that takes OTLP over HTTP, `http://127.0.0.1:4318`.
    pub endpoint: Uri,
    /// The share of requests without a caller's trace that are recorded, from 0 to 1.
    pub ratio: f64,
    /// `service.name` of the spans.
    pub service: String,
    /// How long a span waits for others to be sent with.
    pub batch_time: Duration,
}

impl TraceOptions {
    /// [`TraceOptions::batch_time`] if there is no reason for another one.
    pub const BATCH_TIME: Duration = Duration::from_secs(5);
}

/// Makes spans of requests.
#[derive(Debug)]
pub(crate) struct Traces {
    exporter: Exporter,
    ids: Ids,
    /// Random numbers below this are recorded.
    threshold: u64,
}

/// A request that becomes a span.
pub(crate) struct Recording {
    trace: TraceId,
    parent: Option<SpanId>,
    started: SystemTime,
}

impl Traces {
    /// Inside of a tokio runtime.
    pub(crate) fn start(options: &TraceOptions) -> Traces {
        // A ratio of 1 is above all numbers.
        let threshold = (options.ratio.clamp(0.0, 1.0) * u64::MAX as f64) as u64;
        Traces { exporter: Exporter::start(options), ids: Ids::new(), threshold }
    }

    pub(crate) fn counts(&self) -> &Counts {
        self.exporter.counts()
    }

    /// Begins to record a request, if it is to be.
    ///
    /// * `caller`: what it says of its trace. Who does not record it does not want it here either.
    pub(crate) fn begin(&self, caller: Option<TraceContext>) -> Option<Recording> {
        let is_recorded = caller.map_or_else(|| self.ids.next() <= self.threshold, |caller| caller.is_sampled);
        is_recorded.then(|| Recording {
            trace: caller.map_or_else(|| self.ids.trace(), |caller| caller.trace),
            parent: caller.map(|caller| caller.parent),
            started: SystemTime::now(),
        })
    }

    /// Hands a request on that was answered.
    ///
    /// * `route`: its path in the table of routes.
    pub(crate) fn end(&self, recording: Recording, request: &RecordedRequest<'_>, reply: &Reply) {
        let RecordedRequest { method, url, route, database, peer, duration } = request;
        let Recording { trace, parent, started } = recording;
        let cause = reply.extensions().get::<Cause>().copied();
        self.exporter.add(Span {
            trace,
            id: self.ids.span(),
            parent,
            started,
            duration: *duration,
            method: method.as_str().to_owned().into(),
            route: route.map(|route| route.replace('*', "{name}")),
            path: url.path().to_owned(),
            database: database.map(str::to_owned),
            status: reply.status(),
            client: peer.address.ip(),
            has_failed: reply.status().is_server_error() && cause != Some(Cause::Request),
        });
    }
}

/// What a span tells of a request.
pub(crate) struct RecordedRequest<'a> {
    pub(crate) method: &'a Method,
    pub(crate) url: &'a Uri,
    pub(crate) route: Option<&'static str>,
    pub(crate) database: Option<&'a str>,
    pub(crate) peer: &'a Peer,
    pub(crate) duration: Duration,
}

/// The trace of a request as its lines of the log have it.
pub(crate) fn trace_of(headers: &HeaderMap) -> Option<TraceId> {
    TraceContext::of(headers).map(|caller| caller.trace)
}
