//! `GET /metrics`: the state of the server, of its databases and of their indexes, for Prometheus. No parameters; 200, text.
//!
//! docs/monitoring.md lists the families. A scrape opens no database, keeps none open, and looks at each open database and index once;
//! of more than `METRICS_DATABASES_MAX` and `METRICS_INDEXES_MAX` only the first have series.

mod facts;
mod families;

use std::sync::atomic::Ordering::Relaxed;
use std::time::UNIX_EPOCH;

use crate::bridge::Pool;
use crate::cause::Cause;
use crate::error::Result;
use crate::messages::reply::{self, Reply};
use crate::monitoring::exposition::{CONTENT_TYPE, Exposition, Samples};
use crate::monitoring::latency::Histogram;
use crate::monitoring::system;
use crate::node::{Node, PROTOCOL_VERSION};
use crate::routing::exchange::Exchange;
use facts::Facts;

/// Powers of two of microseconds that have a bucket among requests: 128 us to 16 s.
const REQUEST_BUCKETS: std::ops::RangeInclusive<u32> = 7..=24;

/// The same among writes of journals: 32 us to 4 s.
const JOURNAL_BUCKETS: std::ops::RangeInclusive<u32> = 5..=22;

/// GET `/metrics`.
pub(crate) async fn get(exchange: Exchange) -> Result<Reply> {
    let node = exchange.node.clone();
    // The sizes of files are asked of the system.
    exchange.node.bridge.run(Pool::Short, move || Ok(reply::text(CONTENT_TYPE, text(&node)))).await
}

fn text(node: &Node) -> String {
    let mut out = Exposition::default();
    write_process(&mut out, node);
    write_requests(&mut out, node);
    let facts = Facts::of(node);
    out.single(families::DATABASES, facts.database_count);
    out.single(families::DATABASES_LEFT_OUT, facts.database_count - facts.databases.len());
    out.single(families::INDEXES_LEFT_OUT, facts.indexes_left_out);
    write_databases(&mut out, &facts);
    write_indexes(&mut out, &facts);
    out.into_text()
}

fn write_process(out: &mut Exposition, node: &Node) {
    let labels = [
        ("version", env!("CARGO_PKG_VERSION")),
        ("commit", node.commit.as_deref().unwrap_or_default()),
        ("protocol", PROTOCOL_VERSION),
    ];
    out.family(families::BUILD_INFO).sample(&labels, 1);
    out.single(families::UPTIME, node.started.elapsed().as_secs_f64());
    if let Ok(started) = node.started_at.duration_since(UNIX_EPOCH) {
        out.single(families::PROCESS_START, started.as_secs_f64());
    }
    if let Some(seconds) = system::cpu_seconds() {
        out.single(families::CPU, seconds);
    }
    if let Some((open, limit)) = system::open_files() {
        out.single(families::OPEN_FILES, open);
        out.single(families::OPEN_FILES_MAX, limit);
    }
    if let Some(size) = system::resident_size() {
        out.single(families::RESIDENT, size);
    }
    if let Some(size) = system::mapped_resident_size() {
        out.single(families::MAPPED_RESIDENT, size);
    }
    out.single(families::RESERVED, node.memory.held());
    out.single(families::PAGE_VERSIONS, storage::Environment::version_bytes_in_process());
    if let Some(volume) = node.data_directory.as_deref().and_then(system::volume) {
        out.single(families::DISK_SIZE, volume.total);
        out.single(families::DISK_FREE, volume.free);
    }
    let traffic = system::disk_traffic();
    out.single(families::DISK_READ, traffic.read);
    out.single(families::DISK_WRITTEN, traffic.written);
}

fn write_requests(out: &mut Exposition, node: &Node) {
    let metrics = &node.metrics;
    out.single(families::CONNECTIONS_OPEN, node.connections.open_count.load(Relaxed));
    out.single(families::CONNECTIONS_REFUSED, metrics.connections_refused.load(Relaxed));
    out.single(families::CONNECTIONS_EXPIRED, metrics.connections_expired.load(Relaxed));
    out.single(families::HANDSHAKES, metrics.handshakes.load(Relaxed));
    out.single(families::HANDSHAKES_FAILED, metrics.handshakes_failed.load(Relaxed));
    out.single(families::IDENTIFICATIONS_FAILED, metrics.identifications_failed.load(Relaxed));
    if let Some(tls) = &node.tls {
        out.single(families::CERTIFICATE_EXPIRES, u64::try_from(tls.expires()).unwrap_or_default());
    }
    out.single(families::CHANGES_SOCKETS, metrics.changes_sockets.load(Relaxed));
    out.single(families::SUBSCRIPTION_WORKERS, metrics.subscription_workers.load(Relaxed));
    out.single(families::BULK_INSERTED, metrics.documents_bulk_inserted.load(Relaxed));
    out.single(families::REQUESTS, node.request_count.load(Relaxed));
    out.single(families::SLOW_REQUESTS, node.slow.count());
    let mut answers = out.family(families::ANSWERS);
    for (class, cause, count) in metrics.answers() {
        let status = format!("{class}xx");
        answers.sample(&[("status", status.as_str()), ("cause", cause.map_or("none", Cause::name))], count);
    }
    let mut requests = out.family(families::REQUEST_SECONDS);
    write_latency(&mut requests, "read", &node.latencies.reads);
    write_latency(&mut requests, "write", &node.latencies.writes);
    if let Some(traces) = &node.traces {
        out.single(families::SPANS_SENT, traces.counts().sent.load(Relaxed));
        out.single(families::SPANS_DROPPED, traces.counts().dropped.load(Relaxed));
    }
}

fn write_latency(samples: &mut Samples<'_>, kind: &str, histogram: &Histogram) {
    let counted = histogram.counted();
    let buckets = REQUEST_BUCKETS.map(|power| (seconds(power), counted.count_below(power)));
    samples.histogram(&[("kind", kind)], buckets, counted.sum_seconds(), counted.count());
}

/// 2^`power` microseconds.
fn seconds(power: u32) -> f64 {
    (1_u64 << power) as f64 / 1e6
}

fn write_databases(out: &mut Exposition, facts: &Facts) {
    let mut states = out.family(families::DATABASE_STATE);
    for database in &facts.databases {
        states.sample(&[("database", database.name.as_str()), ("state", database.state)], 1);
    }
    let open = || facts.databases.iter().filter_map(|database| Some((database.name.as_str(), database.open.as_ref()?)));
    let mut failing = out.family(families::BACKUP_FAILING);
    for backup in &facts.backups {
        let labels = [("database", backup.database.as_str()), ("task", backup.task.as_str())];
        failing.sample(&labels, u64::from(backup.is_failing));
    }
    let mut ages = out.family(families::BACKUP_AGE);
    for (backup, age) in facts.backups.iter().filter_map(|backup| Some((backup, backup.age?))) {
        ages.sample(&[("database", backup.database.as_str()), ("task", backup.task.as_str())], age.as_secs());
    }
    for (family, value) in families::OF_DATABASES {
        let mut samples = out.family(family);
        open().for_each(|(name, open)| samples.sample(&[("database", name)], value(open)));
    }
    let mut samples = out.family(families::JOURNAL_WRITE_SECONDS);
    for (name, open) in open() {
        let writes = &open.storage.journal_writes;
        let buckets = JOURNAL_BUCKETS.map(|power| (seconds(power), writes.count_below(power as usize)));
        samples.histogram(&[("database", name)], buckets, writes.total.as_secs_f64(), writes.count());
    }
}

fn write_indexes(out: &mut Exposition, facts: &Facts) {
    let indexes = || {
        let open =
            facts.databases.iter().filter_map(|database| Some((database.name.as_str(), database.open.as_ref()?)));
        open.flat_map(|(name, open)| open.indexes.iter().map(move |index| (name, index)))
    };
    let mut states = out.family(families::INDEX_STATE);
    for (database, index) in indexes() {
        states.sample(&[("database", database), ("index", index.name.as_str()), ("state", index.state)], 1);
    }
    for (family, value) in families::OF_INDEXES {
        let mut samples = out.family(family);
        for (database, index) in indexes() {
            samples.sample(&[("database", database), ("index", index.name.as_str())], value(index));
        }
    }
}
