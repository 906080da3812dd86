//! The icon that browsers ask for by themselves, and the counters for Prometheus.

use std::sync::atomic::Ordering::Relaxed;

use hyper::StatusCode;

use crate::error::Result;
use crate::exchange::Exchange;
use crate::metrics::{counter, gauge, histogram};
use crate::reply::{self, Reply};
use crate::system;

/// GET `/favicon.ico`: none, said without an error in the browser's console.
pub(crate) fn icon(_: &Exchange) -> Result<Reply> {
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// GET `/metrics`.
pub(crate) fn metrics(exchange: &Exchange) -> Result<Reply> {
    let node = &exchange.node;
    let mut out = String::with_capacity(8192);
    gauge(&mut out, "rookery_uptime_seconds", node.uptime_ms() / 1000);
    gauge(&mut out, "rookery_databases", node.databases.names().len());
    gauge(&mut out, "rookery_connections_open", node.connections.open_count.load(Relaxed));
    counter(&mut out, "rookery_http_requests_total", node.request_count.load(Relaxed));
    node.metrics.write(&mut out);
    histogram(&mut out, "read", &node.latencies.reads.counted());
    histogram(&mut out, "write", &node.latencies.writes.counted());
    if let Some(size) = system::resident_size() {
        gauge(&mut out, "process_resident_memory_bytes", size);
    }
    Ok(reply::text("text/plain; version=0.0.4; charset=utf-8", out))
}
