//! Limits of a node's databases.

use std::sync::Arc;
use std::time::Duration;

use storage::memory::Memory;

use crate::QuerySettings;

/// The setting that bounds [`Limits::memory`].
pub const MEMORY: &str = "Limits.MemoryInMb";
/// The setting that bounds [`Limits::bodies`].
pub const BODIES_MEMORY: &str = "Limits.BodiesInMb";
/// The setting of what one request may hold of [`Limits::memory`].
pub const REQUEST_MEMORY: &str = "Limits.RequestMemoryInMb";

/// Bytes of a batch that a thread of the network may apply itself: about a millisecond.
pub(crate) const SHORT_WRITE_SIZE: usize = 64 << 10;

/// Bounds that an operator may set.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of batches that wait in one database for the next transaction. When that many wait, writes are refused as busy;
    /// those of bulk inserts and imports wait while it is half of that.
    pub queued_batches_size_max: usize,
    /// Batches that wait in one database for the next transaction.
    pub queued_batches_count_max: usize,
    /// Operations of one database whose state is kept after they ended.
    pub ended_operations_count_max: usize,
    /// How long a database whose storage failed refuses writes before it is opened again.
    pub failed_database_pause: Duration,
    /// How long a write waits at most while the documents of its database are compacted.
    pub compaction_write_wait: Duration,
    /// Bytes of page versions that snapshots keep in memory; beyond twice as much, writes are refused.
    pub page_versions_size: usize,
    /// The memory that requests and indexing share.
    pub memory: Arc<Memory>,
    /// The share of that for requests that are still arriving: their clients decide how long they take.
    pub bodies: Arc<Memory>,
    /// The limits of one script run.
    pub script: script::Limits,
    /// Threads that index, for all databases of the node.
    pub indexing_threads_max: usize,
    /// An index that a query made is idle when it was not asked for so long while others were.
    pub automatic_index_idle_after: Duration,
    /// It goes when it was idle for so long.
    pub idle_index_kept: Duration,
    /// The settings of queries in databases that have none of their own.
    pub queries: QuerySettings,
}

impl Default for Limits {
    fn default() -> Self {
        let memory = Memory::new(MEMORY, 512 << 20);
        Limits {
            queued_batches_size_max: 64 * 1024 * 1024,
            queued_batches_count_max: 16 * 1024,
            ended_operations_count_max: 1000,
            failed_database_pause: Duration::from_secs(5),
            compaction_write_wait: Duration::from_secs(30),
            page_versions_size: 384 << 20,
            bodies: memory.share(BODIES_MEMORY, 256 << 20),
            memory,
            script: script::Limits { steps_setting: Some("Patching.MaxStepsForScript"), ..script::Limits::default() },
            indexing_threads_max: std::thread::available_parallelism().map_or(2, usize::from),
            automatic_index_idle_after: Duration::from_secs(30 * 60),
            idle_index_kept: Duration::from_secs(72 * 60 * 60),
            queries: QuerySettings::default(),
        }
    }
}

/// Rounds of maintenance, of a minute each, in which nobody asks for a database before it is closed: an open one has three
/// descriptors, and memory.
pub(crate) const IDLE_ROUNDS_MAX: u32 = 15;

/// How often the log has a database that cannot be opened for the same reason as before: requests may ask for it all the time.
pub(crate) const REFUSED_OPENING_LOGGED_EVERY: Duration = Duration::from_secs(60);

/// How often a question for readiness tries again to open a database that cannot be opened: reading its journal may take seconds.
pub(crate) const REFUSED_OPENING_RETRIED_EVERY: Duration = Duration::from_secs(10);

/// Bytes of a database's name.
pub(crate) const NAME_SIZE_MAX: usize = 128;

/// Spellings that are learnt of one database.
pub(crate) const SPELLINGS_PER_DATABASE_MAX: usize = 8;
/// Spellings that are learnt in all: each costs a copy of those before.
pub(crate) const SPELLINGS_COUNT_MAX: usize = 1024;

/// Requests whose ids are remembered, so that a repeated one is not applied twice.
pub(crate) const REQUEST_IDS_COUNT_MAX: u64 = 4096;
/// Bytes of such an id. Clients send GUIDs.
pub(crate) const REQUEST_ID_SIZE_MAX: usize = 128;
/// Bytes that are kept of what such a request asked for, to tell a repeated one from another with the same id.
pub(crate) const REQUEST_SUBJECT_SIZE_MAX: usize = 512;

/// Bytes of its query that an operation tells.
pub(crate) const OPERATION_QUERY_SIZE_MAX: usize = 2000;

/// Seconds that the state of an operation is kept after it ended.
pub(crate) const ENDED_OPERATION_KEPT_SECONDS: u64 = 15 * 60;

/// Warnings in the answer of a query.
pub const WARNINGS_MAX: usize = 16;
/// Characters of a name that a warning repeats.
pub(crate) const WARNED_NAME_LENGTH_MAX: usize = 128;
/// Documents that are read for a suggestion, where a query names a field that no document has.
pub(crate) const SAMPLE_DOCUMENTS_MAX: usize = 32;
/// Bytes of a document above which it is passed over for that: all of them are read in some milliseconds.
pub(crate) const SAMPLE_DOCUMENT_SIZE_MAX: usize = 64 << 10;
/// Paths of fields that are gathered from these documents.
pub(crate) const SAMPLE_PATHS_MAX: usize = 1024;
/// Objects inside of one another whose fields are gathered.
pub(crate) const SAMPLE_DEPTH_MAX: usize = 8;
/// Elements of an array whose fields are gathered.
pub(crate) const SAMPLE_ELEMENTS_MAX: usize = 16;
/// The share of the time of indexing from which the adviser calls an index slow, in percent.
pub(crate) const ADVICE_SLOW_PERCENT_MIN: u128 = 50;
/// The time of indexing below which it does not.
pub(crate) const ADVICE_SLOW_TIME_MIN: Duration = Duration::from_secs(10);
/// Entries for each document from which the adviser reports a fan-out.
pub(crate) const ADVICE_FAN_OUT_MIN: u64 = 16;
/// Documents of an automatic index from which the adviser reports fields without values: in fewer they may just not have come yet.
pub(crate) const ADVICE_VALUES_DOCUMENTS_MIN: u64 = 16;
/// Empty indexes that answer for collections which never had a document, for the next query of the same fields.
pub(crate) const EMPTY_INDEXES_KEPT_MAX: usize = 4;

/// How often a batch with patches is resolved: each time somebody else changed meanwhile what it read. Who patches one document with a
/// hundred others at once has his turn before.
pub(crate) const PATCH_TRIES_MAX: usize = 256;

/// How long a query waits for an index that has what was written before it, if the query does not say.
pub const STALE_WAIT: Duration = Duration::from_secs(15);

/// Documents that a query reads between two looks at the clock.
pub const DEADLINE_EVERY: u64 = 256;

/// Bytes of the ids that one deletion or patch by query keeps.
pub(crate) const FOUND_IDS_SIZE_MAX: usize = 512 << 20;
/// Ids that a deletion of a collection keeps at once.
pub(crate) const DELETED_IDS_COUNT_MAX: usize = 64 << 10;
/// Documents of one transaction of a deletion or patch by query, so that other writes have their turn.
pub(crate) const BY_QUERY_BATCH_COUNT: usize = 1024;
/// Documents whose fate is part of the result of an operation by query.
pub(crate) const OPERATION_DETAILS_MAX: usize = 64 << 10;

/// Documents and bytes of one transaction of a bulk insert.
pub(crate) const BULK_BATCH_COUNT_MAX: usize = 2048;
/// See [`BULK_BATCH_COUNT_MAX`].
pub(crate) const BULK_BATCH_SIZE_MAX: usize = 1024 * 1024;

/// Transactions of one bulk insert on their way at once.
pub(crate) const BULK_BATCHES_IN_FLIGHT_MAX: usize = 3;

/// Bytes of one element of a bulk insert, with what stands around the document.
pub(crate) const BULK_ELEMENT_SIZE_MAX: usize = documents::limits::DOCUMENT_SIZE_MAX + 64 * 1024;

/// Bytes of the buffer that a bulk insert keeps after a large element.
pub(crate) const BULK_BUFFER_SIZE_KEPT: usize = 1 << 20;

/// Certificates that are registered.
pub(crate) const CERTIFICATES_MAX: u64 = 10_000;
/// API keys.
pub(crate) const API_KEYS_MAX: u64 = 10_000;
/// Bytes of the name of a certificate or key.
pub(crate) const PRINCIPAL_NAME_SIZE_MAX: usize = 256;
/// Databases that one has permissions for: all are looked through for each request.
pub(crate) const PRINCIPAL_PERMISSIONS_MAX: usize = 256;

/// Bytes of one element of a dump, or of a property around its sections.
pub(crate) const DUMP_ELEMENT_SIZE_MAX: usize = BULK_ELEMENT_SIZE_MAX;
/// Bytes of the name of a section of a dump.
pub(crate) const DUMP_SECTION_NAME_SIZE_MAX: usize = 256;
/// Fields of an automatic index in a dump.
pub(crate) const DUMPED_FIELDS_MAX: usize = 256;
/// Bytes of the name of such a field.
pub(crate) const DUMPED_FIELD_NAME_SIZE_MAX: usize = 512;
/// Messages of an export or import that are kept, as many as RavenDB keeps.
pub(crate) const SMUGGLER_MESSAGES_MAX: usize = 500;
/// Items between two reports of the progress of an export.
pub(crate) const SMUGGLER_PROGRESS_EVERY: u64 = 4096;
/// Names of collections in the options of an export or import.
pub(crate) const SMUGGLER_COLLECTIONS_MAX: usize = 1024;
/// Steps of a transform script for one document, unless the options say it: as many as RavenDB allows.
pub(crate) const TRANSFORM_STEPS_DEFAULT: u64 = 10_000;
/// The build that a dump names: its form is that of this one.
pub(crate) const DUMP_BUILD_VERSION: u64 = 71_028;

/// How often, and how long each time, a folder is waited for that somebody in this process is letting go of.
pub(crate) const LOCKED_FOLDER_WAITS_MAX: u32 = 200;
/// See [`LOCKED_FOLDER_WAITS_MAX`].
pub(crate) const LOCKED_FOLDER_WAIT: Duration = Duration::from_millis(10);

/// How long a thread that indexes waits for work before it ends.
pub(crate) const INDEXING_THREAD_REST: Duration = Duration::from_secs(30);

/// Niceness of the threads that index: at 10 a thread gets a tenth of what one that answers requests gets beside it.
pub(crate) const INDEXING_NICENESS: i32 = 10;

/// How long one index is built of one snapshot of the documents: what changes beside a snapshot stays in memory.
pub(crate) const INDEXING_TURN_MAX: Duration = Duration::from_secs(1);

/// How long a batch may take to be filled while others wait for the thread: what a write waits for at most before its index is looked at.
pub(crate) const INDEXING_BATCH_TIME: Duration = Duration::from_millis(100);

/// How often a batch asks whether its index is stopped, and whether others wait for the thread.
pub(crate) const INDEXING_LOOK_EVERY: Duration = Duration::from_millis(1);

/// Batches of an index whose counts and durations are kept in memory.
pub(crate) const INDEXING_BATCHES_KEPT_MAX: usize = 25;

/// How long indexes that are up to date rest at most before they look for more. They rest as long as the last round took them, so that one
/// write is indexed at once, and writes that come faster than they can be indexed one by one are indexed in batches.
pub(crate) const INDEXING_PAUSE_MAX: Duration = Duration::from_millis(10);

/// Indexes of one database: each has descriptors, and memory.
pub(crate) const INDEX_COUNT_MAX: usize = 1024;
/// Those of them that queries made. Whoever reads makes them, so the others are left for definitions.
pub(crate) const AUTOMATIC_INDEX_COUNT_MAX: usize = 256;
/// Automatic indexes beyond which queries widen one although they or the database ask for one of their own.
pub(crate) const SEPARATE_INDEX_COUNT_MAX: usize = 64;

/// Definitions of one index that are kept, with the one in force: as many as RavenDB keeps unless told otherwise.
pub(crate) const INDEX_DEFINITIONS_KEPT_MAX: usize = 10;

/// Bytes of journal after which an index is flushed. What is lost before it is indexed again.
pub(crate) const INDEX_FLUSH_BYTES: u64 = 64 << 20;

/// How old may be what is kept of when an index was last asked, where it has no batches: a write each time.
pub(crate) const LAST_QUERY_KEPT_EVERY: Duration = Duration::from_secs(10 * 60);

/// Groups, and documents that name results, which become documents in one transaction.
pub(crate) const OUTPUTS_AT_ONCE: usize = 1024;
/// Bytes of documents of which no more are begun in such a transaction.
pub(crate) const OUTPUTS_SIZE_AT_ONCE: usize = 4 << 20;

/// Documents of an index before that are looked through at once.
pub(crate) const OUTPUTS_SWEPT_AT_ONCE: usize = 1024;

/// An index fails when more than 1 in `FAILURES_ONE_IN` documents fail, after [`FAILURES_JUDGED_FROM`]. Its stored counts say so when it is
/// opened again. By then the tombstones that it has not read may be removed, so that a greater value here needs a new version of the format
/// of indexes.
pub(crate) const FAILURES_ONE_IN: u64 = 7;
/// See [`FAILURES_ONE_IN`].
pub(crate) const FAILURES_JUDGED_FROM: u64 = 100;

/// So many who wait for an index are looked through for those who gave up; from then on always when there are twice as many as were left.
pub const WAITING_PURGED_FROM: usize = 64;

/// Custom analyzers of one database, and of the node. All are read anew whenever the record changes.
pub(crate) const ANALYZERS_MAX: usize = 64;

/// Tasks of one database that make backups.
pub(crate) const BACKUP_TASKS_MAX: usize = 64;
/// Bytes of the name of one.
pub(crate) const BACKUP_TASK_NAME_SIZE_MAX: usize = 256;
/// Databases that a backup of all databases leaves out.
pub(crate) const SERVER_WIDE_EXCLUDED_MAX: usize = 4096;
/// Backups that go on at once in all databases, each on a thread. Files that are on their way to a store are in the data directory.
pub(crate) const BACKUPS_AT_ONCE_MAX: usize = 4;
/// Folders of a place that are listed at once.
pub(crate) const LISTS_AT_ONCE_MAX: usize = 8;
/// Folders of a place, other than those of backups and archives, that are looked into for such.
pub(crate) const FOLDERS_SURVEYED_MAX: usize = 10_000;
/// Backups among these that read a database and compress it.
pub(crate) const BACKUPS_WRITTEN_AT_ONCE_MAX: usize = 2;
/// How often a thread that waits asks whether its operation was killed.
pub(crate) const KILL_CHECK_EVERY: Duration = Duration::from_millis(100);
/// Backups that wait for their turn.
pub(crate) const BACKUPS_WAITING_MAX: usize = 1024;
/// How long a thread that waits for a time sleeps at most before it reads the clock again.
pub(crate) const CLOCK_CHECK_EVERY: Duration = Duration::from_secs(60);
/// How far the clock may go back before an archive begins a new history, whose times are right.
pub(crate) const ARCHIVE_CLOCK_BACK_MAX: Duration = Duration::from_secs(60);
/// How long after a failure a task tries again, the first time.
pub(crate) const BACKUP_RETRY_MIN: Duration = Duration::from_secs(60);
/// How long after a failure at most.
pub(crate) const BACKUP_RETRY_MAX: Duration = Duration::from_secs(15 * 60);
/// Bytes of a dump that are compressed, written and read at once.
pub(crate) const BACKUP_PIECE_SIZE: usize = 256 << 10;
/// The level of zstd of backups: as fast as a disk.
pub(crate) const BACKUP_COMPRESSION_LEVEL: i32 = 1;
/// The level of zstd of snapshots that say `Optimal`.
pub(crate) const BACKUP_OPTIMAL_LEVEL: i32 = 3;
/// The level of zstd of snapshots that say `SmallestSize`.
pub(crate) const BACKUP_SMALLEST_LEVEL: i32 = 9;
/// Bytes of the head of a snapshot: mostly the record of the database.
pub(crate) const SNAPSHOT_HEAD_SIZE_MAX: usize = 64 << 20;
/// How often the last transaction of an archived database is noted, with the time: what a restore can tell apart.
pub(crate) const ARCHIVE_MARK_EVERY: Duration = Duration::from_secs(1);
/// How often what is new of an archived database goes to its places.
pub(crate) const ARCHIVE_EVERY: Duration = Duration::from_secs(5);
/// How long a compaction waits until the archive has what was committed before it. Writes wait meanwhile.
pub(crate) const ARCHIVE_REST_TIME_MAX: Duration = Duration::from_secs(10);
/// Databases whose journal is copied at once, each on a thread.
pub(crate) const ARCHIVES_AT_ONCE_MAX: usize = 4;
/// Times of one database that wait to be archived.
pub(crate) const ARCHIVE_MARKS_MAX: usize = 65_536;
/// Bytes of the journal of a database that may wait for the places of its archive, beyond what the database needs itself.
pub(crate) const ARCHIVE_WAITING_BYTES_MAX: u64 = 4 << 30;
/// Bytes of records after which a segment of an archive ends.
pub(crate) const SEGMENT_SIZE_MAX: u64 = 64 << 20;
/// Bytes of the head of a segment: mostly its times, and the record of the database.
pub(crate) const SEGMENT_HEAD_SIZE_MAX: usize = 80 << 20;
/// Bytes of a file that says which snapshot belongs to an archive.
pub(crate) const BASE_SIZE_MAX: u64 = 4096;
/// The logarithm of the window that a file may want of memory when it is read: 128 MiB.
pub(crate) const BACKUP_WINDOW_LOG_MAX: u32 = 27;

/// Subscriptions of a database: each is a row that lists read.
pub(crate) const SUBSCRIPTIONS_MAX: usize = 10_000;
/// Bytes of the name of a subscription.
pub(crate) const SUBSCRIPTION_NAME_SIZE_MAX: usize = 512;
/// Bytes of the query of a subscription.
pub(crate) const SUBSCRIPTION_QUERY_SIZE_MAX: usize = 64 << 10;
/// Workers of one subscription at once.
pub(crate) const SUBSCRIPTION_WORKERS_MAX: usize = 256;
/// Workers that wait until a subscription has none.
pub(crate) const SUBSCRIPTION_WAITING_MAX: usize = 256;
/// Documents of a batch of a subscription, whatever its worker asks for.
pub const SUBSCRIPTION_BATCH_COUNT_MAX: usize = 65_536;
/// Bytes of a batch of a subscription after which it takes no more documents.
pub const SUBSCRIPTION_BATCH_SIZE_MAX: usize = 8 << 20;
/// How long a subscription looks for documents that fit before it looks whether its worker is still there.
pub(crate) const SUBSCRIPTION_LOOK_TIME: Duration = Duration::from_millis(200);
/// How long a trial of the query of a subscription looks for documents that fit.
pub(crate) const SUBSCRIPTION_TRY_TIME: Duration = Duration::from_secs(5);
/// Documents that do not fit, after which a subscription stores that it passed them although no worker has acknowledged anything.
pub(crate) const SUBSCRIPTION_PASSED_STORED: u64 = 4096;
/// Documents of a subscription that are to be sent again. Beyond that it waits for acknowledgements.
pub(crate) const SUBSCRIPTION_AGAIN_MAX: usize = 65_536;

/// Cursors of the change feed of one database.
pub(crate) const FEED_CURSORS_MAX: usize = 1000;
/// Bytes of the name of a cursor of the change feed.
pub(crate) const FEED_CURSOR_NAME_SIZE_MAX: usize = 512;
/// How long tombstones are kept for a cursor of the change feed that does not move and whose consumer does not read.
pub const FEED_CURSOR_KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How old the last move of a cursor is when a reader who has handled everything makes it new. Each is a write.
pub const FEED_CURSOR_REFRESHED: Duration = Duration::from_secs(24 * 60 * 60);
/// Changes of a page of the change feed, whatever its reader asks for.
pub const FEED_PAGE_COUNT_MAX: usize = 65_536;
/// Bytes of a page of the change feed after which it takes no more changes.
pub const FEED_PAGE_SIZE_MAX: usize = 8 << 20;
/// How long a page of the change feed looks for documents that fit a query.
pub(crate) const FEED_LOOK_TIME: Duration = Duration::from_secs(1);

/// Bytes that the journals of a copy may take beside it, while it is written.
pub(crate) const COMPACTION_JOURNAL_SIZE: u64 = 256 << 20;
/// Problems that the check of an open database describes, of the documents and of each index.
pub(crate) const CHECK_PROBLEMS_MAX: usize = 100;
/// Pages after which a check says how far it is, and looks whether it was ended.
pub(crate) const CHECK_PROGRESS_EVERY: u64 = 256;

/// Indexes that one compaction names.
pub(crate) const COMPACTION_INDEXES_MAX: usize = INDEX_COUNT_MAX;

/// Warnings that the report of an operation on revisions has at most, one for each document that needs one.
pub const REVISIONS_WARNINGS_MAX: usize = 1000;
