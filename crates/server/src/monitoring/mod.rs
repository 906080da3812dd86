//! What a server tells about its own work: latencies, counters, running queries, slow requests, the log, the process.

pub(crate) mod audit;
pub(crate) mod exposition;
pub(crate) mod humane_size;
pub(crate) mod latency;
pub(crate) mod log_budget;
pub(crate) mod log_control;
pub(crate) mod metrics;
pub(crate) mod recent_log;
pub(crate) mod running;
pub(crate) mod safety;
pub(crate) mod shortened;
pub(crate) mod slow;
pub(crate) mod system;
