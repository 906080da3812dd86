//! The families of `/metrics`: one closed table. docs/monitoring.md has a row for each.

use super::facts::{IndexFacts, OpenFacts};
use crate::monitoring::exposition::{Family, counter, gauge, histogram};

/// The value of a family, from what it is about.
pub(super) type Value<T> = fn(&T) -> u64;

pub(super) const BUILD_INFO: Family = gauge(
    "rookery_build_info",
    "1, with the version, the commit it was built from, and the version of RavenDB's protocol.",
);
pub(super) const UPTIME: Family = gauge("rookery_uptime_seconds", "Time since the server started.");
pub(super) const PROCESS_START: Family =
    gauge("process_start_time_seconds", "When the server started, in seconds since 1970-01-01 UTC.");
pub(super) const CPU: Family = counter("process_cpu_seconds_total", "Processor time of the process on all cores.");
pub(super) const OPEN_FILES: Family = gauge("process_open_fds", "Open file descriptors.");
pub(super) const OPEN_FILES_MAX: Family = gauge("process_max_fds", "The limit of open file descriptors.");
pub(super) const RESIDENT: Family =
    gauge("process_resident_memory_bytes", "Resident memory of the process, mapped files included.");
pub(super) const MAPPED_RESIDENT: Family = gauge(
    "rookery_mapped_resident_bytes",
    "Resident pages of mapped files: page cache of the databases, which the system reclaims when memory is short.",
);
pub(super) const RESERVED: Family =
    gauge("rookery_memory_reserved_bytes", "Memory that requests and indexing hold now, bounded by Limits.MemoryInMb.");
pub(super) const PAGE_VERSIONS: Family = gauge(
    "rookery_page_versions_bytes",
    "Versions of pages in memory that are not in the data files yet or that snapshots still read.",
);
pub(super) const DISK_SIZE: Family = gauge("rookery_disk_size_bytes", "Size of the file system of the data folder.");
pub(super) const DISK_FREE: Family =
    gauge("rookery_disk_free_bytes", "Free space of the file system of the data folder.");
pub(super) const DISK_READ: Family =
    counter("rookery_disk_read_bytes_total", "Bytes that the process had the disk read.");
pub(super) const DISK_WRITTEN: Family =
    counter("rookery_disk_written_bytes_total", "Bytes that the process had the disk write.");

pub(super) const CONNECTIONS_OPEN: Family = gauge("rookery_connections_open", "Open connections.");
pub(super) const CONNECTIONS_REFUSED: Family =
    counter("rookery_connections_refused_total", "Connections refused because of Limits.Connections.");
pub(super) const CONNECTIONS_EXPIRED: Family =
    counter("rookery_connections_expired_total", "Connections closed because of a deadline or a rate of Limits.*.");
pub(super) const HANDSHAKES: Family = counter("rookery_tls_handshakes_total", "TLS handshakes that succeeded.");
pub(super) const HANDSHAKES_FAILED: Family =
    counter("rookery_tls_handshakes_failed_total", "TLS handshakes that failed or took too long.");
pub(super) const IDENTIFICATIONS_FAILED: Family = counter(
    "rookery_identifications_failed_total",
    "Requests refused because their certificate or API key is not accepted.",
);
pub(super) const CERTIFICATE_EXPIRES: Family = gauge(
    "rookery_certificate_expires_seconds",
    "When the server's certificate expires, in seconds since 1970; absent without HTTPS.",
);
pub(super) const CHANGES_SOCKETS: Family = gauge("rookery_changes_sockets", "Open sockets of change notifications.");
pub(super) const SUBSCRIPTION_WORKERS: Family =
    gauge("rookery_subscription_workers", "Connected workers of subscriptions.");
pub(super) const BULK_INSERTED: Family =
    counter("rookery_documents_bulk_inserted_total", "Documents stored by bulk inserts.");
pub(super) const REQUESTS: Family =
    counter("rookery_http_requests_total", "Requests, those inside of a multi_get counted one by one.");
pub(super) const SLOW_REQUESTS: Family = counter(
    "rookery_slow_requests_total",
    "Requests that took longer than Limits.SlowRequestInMs until their answer began.",
);
pub(super) const ANSWERS: Family = counter(
    "rookery_http_answers_total",
    "Answers by class of status, and of failures by cause: request (a mistake of the client or an unsupported feature) or server.",
);
pub(super) const REQUEST_SECONDS: Family = histogram(
    "rookery_http_request_seconds",
    "Time from the head of a request to the beginning of its answer, reads and possible writes apart. The sum is estimated from buckets.",
);

pub(super) const SPANS_SENT: Family =
    counter("rookery_trace_spans_sent_total", "Spans that the collector of Traces.Endpoint took.");
pub(super) const SPANS_DROPPED: Family = counter(
    "rookery_trace_spans_dropped_total",
    "Spans that were dropped, because the collector of Traces.Endpoint did not take them or was too slow.",
);

pub(super) const DATABASES: Family = gauge("rookery_databases", "Databases.");
pub(super) const DATABASES_LEFT_OUT: Family =
    gauge("rookery_metrics_databases_omitted", "Databases without series here, beyond METRICS_DATABASES_MAX.");
pub(super) const INDEXES_LEFT_OUT: Family = gauge(
    "rookery_metrics_indexes_omitted",
    "Indexes of open databases without series here, beyond METRICS_INDEXES_MAX.",
);

pub(super) const DATABASE_STATE: Family = gauge(
    "rookery_database_state",
    "1 for the present state: open, closed (idle), disabled, full (it refuses writes until there is room) or failed (it refuses writes or could not be opened).",
);

pub(super) const BACKUP_FAILING: Family = gauge(
    "rookery_backup_failing",
    "1 if the last backup of an enabled task failed, or its archive cannot go on; else 0.",
);
pub(super) const BACKUP_AGE: Family = gauge(
    "rookery_backup_age_seconds",
    "Time since the last backup of an enabled task that succeeded began; absent before the first.",
);

/// Of each open database.
pub(super) const OF_DATABASES: [(Family, Value<OpenFacts>); 16] = [
    (gauge("rookery_database_documents", "Documents."), |open| open.documents),
    (
        gauge("rookery_database_tombstones", "Tombstones of deleted documents that indexes still have to read."),
        |open| open.tombstones,
    ),
    (gauge("rookery_database_disk_bytes", "Bytes of its files, journals and indexes included; 0 in memory."), |open| {
        open.disk_size
    }),
    (
        gauge("rookery_database_mapped_bytes", "Bytes of its data file, which is mapped into memory; without indexes."),
        |open| open.storage.data_file_size,
    ),
    (counter("rookery_database_requests_total", "Requests since the database was opened."), |open| open.requests),
    (gauge("rookery_database_queued_batches", "Writes that wait for the next transaction or are in it."), |open| {
        open.queued_batches
    }),
    (gauge("rookery_database_running_operations", "Operations that run, such as a patch by query."), |open| {
        open.running_operations
    }),
    (
        gauge(
            "rookery_database_journal_bytes",
            "Journal since the last flush: about what a crash now would have to replay.",
        ),
        |open| open.storage.journal_since_flush,
    ),
    (
        counter(
            "rookery_database_flushes_total",
            "Flushes of the journal to the data file since the database was opened.",
        ),
        |open| open.storage.flush_count,
    ),
    (gauge("rookery_database_open_snapshots", "Snapshots that readers hold open."), |open| {
        open.storage.open_readers as u64
    }),
    (
        counter("rookery_database_documents_expired_total", "Documents that expired since the database was opened."),
        |open| open.due.expired,
    ),
    (
        counter("rookery_database_documents_refreshed_total", "Documents refreshed since the database was opened."),
        |open| open.due.refreshed,
    ),
    (
        counter("rookery_database_documents_archived_total", "Documents archived since the database was opened."),
        |open| open.due.archived,
    ),
    (
        gauge(
            "rookery_database_due_lag_seconds",
            "The longest time that a document has been due for expiration, refresh or archival; 0 where these are disabled.",
        ),
        |open| open.due_lag.as_secs(),
    ),
    (gauge("rookery_database_indexes", "Indexes."), |open| open.index_count),
    (gauge("rookery_database_stale_indexes", "Indexes that lack changes, those that failed included."), |open| {
        open.indexes.iter().filter(|index| index.is_stale).count() as u64
    }),
];

pub(super) const JOURNAL_WRITE_SECONDS: Family = histogram(
    "rookery_database_journal_write_seconds",
    "Time of a write of the journal until it is durable, as an fsync, since the database was opened.",
);

pub(super) const INDEX_STATE: Family =
    gauge("rookery_index_state", "1 for the present state: normal, paused, disabled or error (it stopped).");

/// Of each index of an open database.
pub(super) const OF_INDEXES: [(Family, Value<IndexFacts>); 7] = [
    (gauge("rookery_index_entries", "Entries."), |index| index.entries),
    (
        gauge(
            "rookery_index_lag_changes",
            "Changes from the last one that the index has to the last one of its collections, in etags: the greatest number of documents that can be missing.",
        ),
        |index| index.lag,
    ),
    (gauge("rookery_index_stale", "1 if the index lacks a change, or failed."), |index| index.is_stale.into()),
    (gauge("rookery_index_errors", "Errors that are kept, up to 500."), |index| index.errors),
    (
        counter(
            "rookery_index_failed_documents_total",
            "Documents that could not be indexed, since the index was built.",
        ),
        |index| index.failed,
    ),
    (
        counter(
            "rookery_index_indexed_documents_total",
            "Documents indexed, failures included, since the index was built.",
        ),
        |index| index.indexed,
    ),
    (gauge("rookery_index_disk_bytes", "Bytes of its files; 0 in memory."), |index| index.disk_size),
];
