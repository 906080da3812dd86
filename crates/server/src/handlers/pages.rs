//! The icon that browsers ask for by themselves, and the counters for Prometheus.

use std::sync::atomic::Ordering::Relaxed;

use hyper::StatusCode;

use crate::error::Result;
use crate::exchange::Exchange;
use crate::metrics::{counter, gauge};
use crate::reply::{self, Reply};

/// GET `/favicon.ico`: none, said without an error in the browser's console.
pub(crate) fn icon(_: &Exchange) -> Result<Reply> {
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// GET `/metrics`.
pub(crate) fn metrics(exchange: &Exchange) -> Result<Reply> {
    let node = &exchange.node;
    let mut out = String::with_capacity(2048);
    gauge(&mut out, "rookery_uptime_seconds", node.uptime_ms() / 1000);
    gauge(&mut out, "rookery_databases", node.databases.names().len());
    gauge(&mut out, "rookery_connections_open", node.connections.open_count.load(Relaxed));
    counter(&mut out, "rookery_http_requests_total", node.request_count.load(Relaxed));
    node.metrics.write(&mut out);
    if let Some(size) = resident_size() {
        gauge(&mut out, "process_resident_memory_bytes", size);
    }
    Ok(reply::text("text/plain; version=0.0.4; charset=utf-8", out))
}

/// Resident memory of this process in bytes, where the system tells.
pub(crate) fn resident_size() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(kilobytes.trim().trim_end_matches(" kB").trim().parse::<u64>().ok()? * 1024)
}
