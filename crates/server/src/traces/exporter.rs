//! Sends spans to a collector of OpenTelemetry: OTLP over HTTP, in JSON.
//!
//! ```text
//! requests ──bounded channel──► the task `send`: batches ──POST /v1/traces──► collector
//! ```
//!
//! No request waits for the collector. Spans that find the channel full, or whose batch the collector does not take within
//! [`TRACES_SEND_TIME_MAX`], are counted and dropped; the log says so, at most once a minute. docs/design/monitoring.md says why no
//! published library does this.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use json::Writer;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::TraceOptions;
use super::span::{Span, text_attribute};
use crate::limits::{TRACES_BATCH_MAX, TRACES_SEND_TIME_MAX, TRACES_WAITING_MAX};

/// How often the log has that spans were dropped.
const TOLD_EVERY: Duration = Duration::from_secs(60);

/// What was done, for `/metrics`.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: AtomicU64,
    pub(crate) dropped: AtomicU64,
}

/// The way to the task.
#[derive(Debug)]
pub(super) struct Exporter {
    spans: mpsc::Sender<Span>,
    counts: Arc<Counts>,
}

impl Exporter {
    /// Starts the task, inside of a tokio runtime. It ends when this is dropped, after a last batch.
    pub(super) fn start(options: &TraceOptions) -> Exporter {
        let (spans, receiver) = mpsc::channel(TRACES_WAITING_MAX);
        let counts = Arc::new(Counts::default());
        tokio::spawn(send(receiver, options.clone(), counts.clone()));
        Exporter { spans, counts }
    }

    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(super) fn add(&self, span: Span) {
        if self.spans.try_send(span).is_err() {
            self.counts.dropped.fetch_add(1, Relaxed);
        }
    }
}

async fn send(mut spans: mpsc::Receiver<Span>, options: TraceOptions, counts: Arc<Counts>) {
    let mut told: Option<Instant> = None;
    let mut batch = Vec::with_capacity(TRACES_BATCH_MAX);
    while let Some(first) = spans.recv().await {
        batch.push(first);
        let end = tokio::time::Instant::now() + options.batch_time;
        while batch.len() < TRACES_BATCH_MAX {
            match tokio::time::timeout_at(end, spans.recv()).await {
                Ok(Some(span)) => batch.push(span),
                Ok(None) | Err(_) => break,
            }
        }
        let (count, body) = (batch.len() as u64, body_of(&batch, &options.service));
        batch.clear();
        let outcome = timeout(TRACES_SEND_TIME_MAX, post(&options.endpoint, body)).await;
        let outcome =
            outcome.unwrap_or_else(|_| Err(format!("it did not answer within {} s", TRACES_SEND_TIME_MAX.as_secs())));
        match outcome {
            Ok(()) => _ = counts.sent.fetch_add(count, Relaxed),
            Err(reason) => {
                let dropped = counts.dropped.fetch_add(count, Relaxed) + count;
                if told.is_none_or(|told| told.elapsed() >= TOLD_EVERY) {
                    told = Some(Instant::now());
                    tracing::warn!(endpoint = %options.endpoint, reason, dropped, "the collector does not take spans (Traces.Endpoint)");
                }
            }
        }
    }
}

/// `ExportTraceServiceRequest` in the JSON of Protocol Buffers.
pub(super) fn body_of(spans: &[Span], service: &str) -> Vec<u8> {
    let mut body = Vec::new();
    Writer::new(&mut body).object(|json| {
        json.name("resourceSpans").array(|json| {
            json.object(|json| {
                json.name("resource").object(|json| {
                    json.name("attributes").array(|json| {
                        text_attribute(json, "service.name", service);
                        text_attribute(json, "service.version", env!("CARGO_PKG_VERSION"));
                    });
                });
                json.name("scopeSpans").array(|json| {
                    json.object(|json| {
                        json.name("scope").object(|json| _ = json.name("name").string("rookery"));
                        json.name("spans").array(|json| spans.iter().for_each(|span| span.write(json)));
                    });
                });
            });
        });
    });
    body
}

/// Sends a batch over a connection of its own: there is one in some seconds.
async fn post(endpoint: &Uri, body: Vec<u8>) -> Result<(), String> {
    let authority = endpoint.authority().ok_or("it has no host")?;
    let address = (authority.host().trim_matches(['[', ']']), authority.port_u16().unwrap_or(80));
    let failed = |what: &str, error: &dyn std::fmt::Display| format!("{what}: {error}");
    let stream = TcpStream::connect(address).await.map_err(|error| failed("connecting", &error))?;
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| failed("connecting", &error))?;
    let connection = tokio::spawn(connection);
    let path = format!("{}/v1/traces", endpoint.path().trim_end_matches('/'));
    let request = Request::post(path)
        .header(HOST, authority.as_str())
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| failed("its path", &error))?;
    let outcome = async {
        let answer = sender.send_request(request).await.map_err(|error| failed("sending", &error))?;
        let status = answer.status();
        // Read to its end, as far as it is short, so that the collector sees no broken connection.
        let _ =
            timeout(TRACES_SEND_TIME_MAX, http_body_util::Limited::new(answer.into_body(), 64 << 10).collect()).await;
        if status.is_success() { Ok(()) } else { Err(format!("it answered {status}")) }
    };
    let outcome = outcome.await;
    connection.abort();
    outcome
}
