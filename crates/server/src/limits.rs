//! Every bound of the server, in one place, with its name.
//!
//! The name is what settings call it (`Limits.HeaderCount`) and what the answer of a refused request says, so that
//! an operator knows which setting to change. `docs/settings.md`, "Limits", lists the defaults.

use std::ops::RangeInclusive;
use std::time::Duration;

use database::QuerySettings;
use database::limits::{BODIES_MEMORY, MEMORY, REQUEST_MEMORY};

/// The bounds of one server. All are settings; [`Limits::default`] has what is promised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// `Limits.HeaderBlockInKb`: request line and headers together, in bytes. Over it: 431.
    pub header_block_size: usize,
    /// `Limits.HeaderLineInKb`: the value of one header, in bytes. Over it: 431.
    pub header_line_size: usize,
    /// `Limits.RequestLineInKb`: the request target, in bytes. Over it: 414.
    pub request_line_size: usize,
    /// `Limits.HeaderCount`: headers of one request. Over it: 431.
    pub header_count: usize,
    /// `Limits.QueryParameterCount`: parameters of one query string. Over it: 414.
    pub query_parameter_count: usize,
    /// `Limits.HeaderDeadlineInSec`: from the first byte of a head to its last. Over it: closed.
    pub header_deadline: Duration,
    /// `Limits.IdleConnectionInSec`: a connection between two requests. Over it: closed.
    pub idle: Duration,
    /// `Limits.BodyRateInBytesPerSec`: the slowest body that is still read, over 30 s. Under it: closed.
    /// Bulk inserts are free to be slow: their clients keep them open while they make documents.
    pub body_rate: usize,
    /// `Limits.StreamIdleInSec`: a bulk insert of which nothing arrives. Clients send a sign of life every 40 s.
    pub stream_idle: Duration,
    /// `Limits.SlowReaderInSec`: the time in which a client that does not keep up takes at least what
    /// [`Limits::reader_rate`] asks for. Over it: closed.
    pub slow_reader: Duration,
    /// `Limits.ReaderRateInBytesPerSec`: the slowest reader of an answer, over [`Limits::slow_reader`]. Under it: closed.
    pub reader_rate: usize,
    /// `Limits.HalfClosedInSec`: how long work goes on for a client that ended its half of the connection and may be gone.
    /// Over it: closed, the work is given up.
    pub half_closed: Duration,
    /// `Limits.RequestBodyInMb`: a request body, before and after decompression, in bytes. Over it: 413.
    /// A bulk insert has no such limit; each of its commands is bounded by the size of a document.
    pub request_body_size: usize,
    /// `Limits.ObjectBodyInMb`: the body of a request that is no document: a query, ids, a definition, settings. Before and after
    /// decompression, in bytes. Over it: 413. Such a body becomes a tree of values, which takes up to 70 times its size.
    pub object_body_size: usize,
    /// `Limits.DecompressionRatio`: decompressed to compressed, checked once 1 MiB has come out. Over it: 413.
    /// The default is above what the formats can reach: 1,032 with gzip, 32,768 with zstd (a block of 128 KiB in four bytes).
    pub decompression_ratio: usize,
    /// `Limits.Connections`: open connections. Over it: 503, closed.
    pub connection_count: usize,
    /// `Limits.FailedAttempts`: requests of one address in a minute whose certificate or API key is not accepted. Over it: 429 after a
    /// second, closed.
    pub failed_attempt_count: usize,
    /// `Limits.MemoryInMb`: everything that requests and indexing hold in memory: request bodies, whole answers, elements of bulk
    /// inserts, entries that queries sort, group or count, results of maps,
    /// in bytes. Over it: 503 with `Retry-After`. Small ones are not counted.
    pub memory_size: usize,
    /// `Limits.BodiesInMb`: the share of it for request bodies and for elements of bulk inserts that are still arriving, in bytes.
    /// Over it: 503 with `Retry-After`. Small ones are not counted.
    pub bodies_size: usize,
    /// `Limits.ConsumersInMb`: the share of it for pages of change feeds and batches of subscriptions that are made and not sent yet, in
    /// bytes; half of it at most. Over it: they wait; 503 with `Retry-After` for a request of a change feed that waits longer than
    /// [`Limits::blocking_wait`].
    pub consumers_size: usize,
    /// `Limits.RequestMemoryInMb`: the part of it that one query may hold, in bytes. Over it: 413.
    pub request_memory_size: usize,
    /// `Limits.BlockingQueue`: requests that wait for a thread of one kind. Over it: 503 with `Retry-After`.
    pub blocking_queue_count: usize,
    /// `Limits.BlockingWaitInSec`: how long one waits. Over it: 503 with `Retry-After`.
    pub blocking_wait: Duration,
    /// `Limits.BlockingThreads`: queries and lists that run at the same time.
    pub blocking_thread_count: usize,
    /// `Limits.Streams`: answers that are sent while they are made, each with a thread and a snapshot.
    pub stream_count: usize,
    /// `Limits.BulkInsertThreads`: bulk inserts that are taken apart, or wait for the disk, at the same time.
    pub bulk_insert_thread_count: usize,
    /// `Limits.ShortThreads`: administration, and large bodies that are parsed or compressed, at the same time.
    pub short_thread_count: usize,
    /// `Limits.PageVersionsInMb`: old versions of pages that snapshots keep in memory, in bytes. From it on the oldest streamed
    /// answer that keeps them is cut off; over twice as much writes are refused.
    pub page_versions_size: usize,
    /// `Limits.QueryTextInKb`: the text of a query, in bytes. Over it: 413.
    pub query_text_size: usize,
    /// `Limits.QueryRunTimeInSec`: one query. Over it: 500, `System.TimeoutException`.
    pub query_run_time: Duration,
    /// `Limits.MultiGetCount`: requests in one `multi_get`. Over it: 413.
    pub multi_get_count: usize,
    /// `Limits.MultiGetAnswerInMb`: the answer of one `multi_get`, in bytes. Over it: 413, or cut off if it has begun.
    pub multi_get_answer_size: usize,
    /// `Limits.McpCalls`: messages of MCP clients that are answered at the same time. Over it: 503 with `Retry-After`. There are no
    /// sessions.
    pub mcp_call_count: usize,
    /// `Limits.SlowRequestInMs`: until the answer of a request begins. Over it: it is kept among the slow ones.
    pub slow_request: Duration,
    /// `Patching.MaxStepsForScript`: jumps and calls of functions in one run of a script of a patch or a query.
    pub script_steps: u64,
    /// `Indexing.TimeToWaitBeforeMarkingAutoIndexAsIdleInMin`: an index that a query made is idle when it was not asked for so long, while
    /// others were.
    pub automatic_index_idle_after: Duration,
    /// `Indexing.TimeToWaitBeforeDeletingAutoIndexMarkedAsIdleInHrs`: it goes when it was idle for so long.
    pub idle_index_kept: Duration,
    /// The settings of queries, which each database may override: [`QuerySwitch`](database::QuerySwitch).
    pub queries: QuerySettings,
}

/// The name of [`Limits::request_body_size`].
pub(crate) const REQUEST_BODY: &str = "Limits.RequestBodyInMb";
/// The name of [`Limits::object_body_size`].
pub(crate) const OBJECT_BODY: &str = "Limits.ObjectBodyInMb";

/// The name of [`Limits::consumers_size`].
pub(crate) const CONSUMERS_MEMORY: &str = "Limits.ConsumersInMb";
/// How often a page or batch that waits for [`Limits::memory_size`] looks again.
pub(crate) const CONSUMER_MEMORY_RETRY: Duration = Duration::from_millis(100);
/// What the last item of a page or batch may add to its size before it needs more memory, in bytes.
pub(crate) const CONSUMER_ITEM_SIZE: usize = 1 << 20;

/// Shares of pools that are kept until those of owners who have none in use are removed.
pub(crate) const SHARES_SWEPT_FROM: usize = 1024;

/// Connections whose clients are not known yet, of one address, while more than half of all places are taken: a part of all places.
pub(crate) const UNKNOWN_CONNECTIONS_SHARE: usize = 8;
/// Bytes of heads that have not arrived to their ends, of all clients that are not known. What comes beyond it closes its connection.
pub(crate) const UNKNOWN_HEADS_SIZE_MAX: usize = 32 << 20;
/// Bytes of one of them that are not counted.
pub(crate) const UNKNOWN_HEAD_FREE_SIZE: usize = 4 << 10;

/// How long no query used an index that `indexes/advice` reports as unused, if the request does not say.
pub(crate) const ADVICE_UNUSED_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// The size below which a compressed body may expand without its ratio being looked at, in bytes.
pub(crate) const DECOMPRESSION_GRACE_SIZE: usize = 1 << 20;
/// Compressed bytes of a body that are decompressed at once. zstd makes at most 32 MiB of them, which is the most that a body takes before
/// [`Limits::bodies_size`] counts it.
pub(crate) const COMPRESSED_PIECE_SIZE: usize = 1 << 10;
/// A decompressed part of a body that is given on at once is smaller than this and one piece.
pub(crate) const DECODED_PART_SIZE: usize = 1 << 20;

/// What is read of a body that nobody wanted, in bytes, so that the connection can go on behind it; and how long. A longer
/// body, or a slower one, ends the connection, and the answer says so.
pub(crate) const DRAINED_SIZE_MAX: u64 = 64 << 10;
pub(crate) const DRAIN_TIME_MAX: Duration = Duration::from_secs(1);

/// How long a connection that ends is read on while its client is still sending: in all, and without a byte. A socket that is
/// closed with unread bytes takes the answer away from a client that then never learns why, however much it still sends.
pub(crate) const LINGER_TIME_MAX: Duration = Duration::from_secs(5);
pub(crate) const LINGER_QUIET: Duration = Duration::from_millis(500);

/// How much of it is read at most, in bytes.
pub(crate) const LINGER_SIZE_MAX: u64 = 256 << 20;

/// How long it is read on after that, when the client was sent our end of the stream and may answer with its own.
pub(crate) const LINGER_AFTER_END: Duration = Duration::from_millis(500);

/// A file of the server's certificate, in bytes.
pub(crate) const CERTIFICATE_FILE_SIZE_MAX: u64 = 1 << 20;
/// Certificates that the server sends: its own and those of its issuers.
pub(crate) const CERTIFICATE_CHAIN_COUNT_MAX: usize = 8;
/// The certificates that a client sends, in bytes. Over it: the handshake fails. Those of sessions that may be resumed are kept.
pub(crate) const CLIENT_CHAIN_SIZE_MAX: usize = 16 << 10;
/// TLS sessions that clients may resume, each with up to [`CLIENT_CHAIN_SIZE_MAX`].
pub(crate) const TLS_SESSIONS_KEPT_MAX: usize = 1024;

/// How long a user stays signed in to the studio by an API key.
pub(crate) const SESSION_DURATION: Duration = Duration::from_secs(12 * 60 * 60);
/// Sessions of the studio that are open at once. One more ends the one that was begun first.
pub(crate) const SESSIONS_MAX: usize = 10_000;
/// Those of one API key. One more ends its oldest.
pub(crate) const SESSIONS_OF_KEY_MAX: usize = 64;

/// The time over which refused certificates and keys are counted.
pub(crate) const FAILED_ATTEMPT_WINDOW: Duration = Duration::from_secs(60);
/// How long the answer to one more than [`Limits::failed_attempt_count`] waits.
pub(crate) const FAILED_ATTEMPT_DELAY: Duration = Duration::from_secs(1);
/// Addresses whose failures are counted one by one.
pub(crate) const FAILED_ATTEMPTS_ADDRESSES_MAX: usize = 10_000;

/// The URL of a request of a client that the server does not know, in the audit log, in bytes.
pub(crate) const UNKNOWN_URL_SIZE_MAX: usize = 200;

/// Records of the audit log that wait for the disk. Further ones are counted as lost.
pub(crate) const AUDIT_RECORDS_WAITING_MAX: usize = 16 << 10;

/// What is read of a request in clear text to a port of HTTPS before it is refused, in bytes.
pub(crate) const CLEAR_TEXT_SIZE_MAX: usize = 64 << 10;

/// The longest configuration of the traffic watch that is kept, in bytes.
pub(crate) const TRAFFIC_WATCH_SIZE_MAX: usize = 64 << 10;

/// How long `GET /admin/test/delay` waits at most.
pub(crate) const DELAY_MAX: Duration = Duration::from_secs(600);

/// How long `POST /admin/test-connection` tries to reach another server, with all its steps.
pub(crate) const TEST_CONNECTION_TIME_MAX: Duration = Duration::from_secs(5);
/// Bytes of the other server's answer that it reads: an answer has a few hundred, or some thousand with a certificate.
pub(crate) const TEST_CONNECTION_ANSWER_SIZE_MAX: usize = 64 << 10;
/// Addresses for TCP that it tries, of those that the other server names.
pub(crate) const TEST_CONNECTION_ADDRESSES_MAX: usize = 4;

/// The window over which the rate of a body is measured.
pub(crate) const BODY_RATE_WINDOW: Duration = Duration::from_secs(30);

/// What one part of a streamed answer holds before it is handed to the network, in bytes: large enough that hopping
/// to the network thread costs nothing per document, small enough that [`STREAM_PARTS_MAX`] of them per stream do not matter.
pub(crate) const STREAM_PART_SIZE: usize = 64 << 10;

/// The largest answer that is made as a whole, in bytes; what grows past it is sent while it is made. Most pages of lists
/// stay below, and have a length.
pub(crate) const WHOLE_ANSWER_SIZE: usize = 1 << 20;

/// The largest answer to a query that is made on a network thread, in bytes; and the most entries and documents that one may
/// look at there: some ten microseconds.
pub(crate) const SMALL_ANSWER_SIZE: usize = 64 << 10;
/// See [`SMALL_ANSWER_SIZE`].
pub(crate) const SMALL_ANSWER_ENTRIES: u64 = 32;
const _: () = assert!(SMALL_ANSWER_ENTRIES <= query::index::limits::SORTED_WITHOUT_COLUMN_MAX);

/// Whole answers up to this size tell their length also where the connection ends with them; larger ones are chunked there. Bytes, half of
/// what a stream of Node.js holds.
pub(crate) const CLOSING_WHOLE_SIZE: usize = 8 << 10;

/// Up to this size a body is parsed or compressed on a network thread, in bytes: about a millisecond.
pub(crate) const SHORT_WORK_SIZE: usize = 256 << 10;

/// Lists of places for backups that are asked for at the same time. A store that does not answer holds each of them for minutes.
pub(crate) const PLACE_THREADS_MAX: usize = 4;

/// How many parts of a streamed answer may wait for the network. A reader that does not read stops its producer.
pub(crate) const STREAM_PARTS_MAX: usize = 4;

/// What a bulk insert collects from the network while the part before is cut and checked, in bytes.
pub(crate) const BULK_INSERT_PART_SIZE: usize = 1 << 20;

/// Parts of the form that a batch comes in: one more than the attachments it stores.
pub(crate) const BATCH_PARTS_MAX: usize = 65_536;

/// Up to this size, in bytes, a content is read on a network thread.
pub(crate) const SHORT_ATTACHMENT_SIZE: u64 = 64 << 10;

/// Bytes of the head of a part of a form.
pub(crate) const FORM_HEAD_SIZE_MAX: usize = 16 << 10;
/// Parts of a form.
pub(crate) const FORM_PARTS_MAX: usize = 16;
/// Bytes of the options of an import, as they come and decompressed: a transform script among them.
pub(crate) const IMPORT_OPTIONS_SIZE_MAX: usize = 2 << 20;
/// Bytes of a dump that are compressed at once.
pub(crate) const DUMP_PART_SIZE: usize = 128 << 10;

/// What a feed of changes keeps for sockets that have not taken it yet, in bytes, about. A socket that is further behind is
/// closed: its client connects again and loads anew what it holds.
pub(crate) const CHANGES_KEPT_SIZE_MAX: usize = 8 << 20;
/// Slow requests that are kept, the newest; and bytes of each text of theirs.
pub(crate) const SLOW_REQUESTS_KEPT_MAX: usize = 256;
/// See [`SLOW_REQUESTS_KEPT_MAX`].
pub(crate) const SLOW_TEXT_SIZE_MAX: usize = 4 << 10;

/// Slow requests that the log has in each window of time; what is above is counted.
pub(crate) const SLOW_REQUESTS_LOGGED_MAX: u32 = 20;
/// See [`SLOW_REQUESTS_LOGGED_MAX`].
pub(crate) const SLOW_REQUESTS_LOGGED_WINDOW: Duration = Duration::from_secs(60);

/// Names of databases that the log lists at start.
pub(crate) const DATABASES_LOGGED_MAX: usize = 50;

/// Databases of which `GET /metrics` has series, the first by name; how many are left out is a series of its own. Each open one has some
/// 35 lines.
pub(crate) const METRICS_DATABASES_MAX: usize = 256;
/// Indexes of which it has series, of all databases together. Each has 8 lines.
pub(crate) const METRICS_INDEXES_MAX: usize = 2048;

/// Documents of each kind that a list of what is due next has, where the request does not say.
pub(crate) const DUE_PAGE: u64 = 20;

/// The most that it may ask for: they are looked up on the thread that reads the network.
pub(crate) const DUE_PAGE_MAX: u64 = 256;

/// Lines of the log that are kept, the newest; and bytes of each: 4 MiB in all.
pub(crate) const LOG_LINES_KEPT_MAX: usize = 2048;
/// See [`LOG_LINES_KEPT_MAX`].
pub(crate) const LOG_LINE_SIZE_MAX: usize = 2 << 10;
/// Lines of one answer, if it is not said.
pub(crate) const LOG_LINES_PAGE: usize = 200;

/// Spans that wait for being sent to a collector. More are dropped and counted.
pub(crate) const TRACES_WAITING_MAX: usize = 4096;
/// Spans that are sent at once: some 200 KiB.
pub(crate) const TRACES_BATCH_MAX: usize = 512;
/// How long a collector may take for them.
pub(crate) const TRACES_SEND_TIME_MAX: Duration = Duration::from_secs(10);

/// Bytes of one file of an info package, whose answer is sent in parts.
pub(crate) const INFO_FILE_SIZE_MAX: usize = 16 << 20;

/// One message of an MCP client, in bytes, before and after decompression. Over it: 413.
pub(crate) const MCP_MESSAGE_SIZE_MAX: usize = 1 << 20;
/// Bytes that are reserved for each byte of a message while it is a tree of values: 32 for a value that has two bytes of text, twice that
/// for vectors that grow by doubling.
pub(crate) const MCP_TREE_FACTOR: usize = 32;
/// Bytes of results in one answer of a tool; more is cut off, and a note says so. Models read some 30,000 tokens of it.
pub(crate) const MCP_ANSWER_SIZE_MAX: usize = 128 << 10;
/// Bytes of one answer of the server that a tool reads, if that answer is sent in parts.
pub(crate) const MCP_READ_SIZE_MAX: usize = 4 << 20;
/// Rows of a query, if it is not said; and at most.
pub(crate) const MCP_ROWS: u64 = 50;
/// See [`MCP_ROWS`].
pub(crate) const MCP_ROWS_MAX: u64 = 1000;
/// Names of a list, or errors and slow requests, if it is not said; and at most.
pub(crate) const MCP_LIST: u64 = 100;
/// See [`MCP_LIST`].
pub(crate) const MCP_LIST_MAX: u64 = 1000;
/// Documents from which the shape of a collection is made, if it is not said; and at most.
pub(crate) const MCP_SAMPLE: u64 = 100;
/// See [`MCP_SAMPLE`].
pub(crate) const MCP_SAMPLE_MAX: u64 = 1000;
/// Paths of a shape; documents with names as keys have any number of them. And how many names one path has at most.
pub(crate) const MCP_SHAPE_PATHS_MAX: usize = 200;
/// See [`MCP_SHAPE_PATHS_MAX`].
pub(crate) const MCP_SHAPE_DEPTH_MAX: usize = 6;
/// Elements of one array, and examples of one path, that a shape looks at; and the bytes of one example.
pub(crate) const MCP_SHAPE_ELEMENTS_MAX: usize = 20;
/// See [`MCP_SHAPE_ELEMENTS_MAX`].
pub(crate) const MCP_SHAPE_EXAMPLES_MAX: usize = 3;
/// See [`MCP_SHAPE_ELEMENTS_MAX`].
pub(crate) const MCP_EXAMPLE_SIZE_MAX: usize = 60;
/// Sections that a search of the documentation gives, if it is not said; and at most.
pub(crate) const MCP_SECTIONS: u64 = 5;
/// See [`MCP_SECTIONS`].
pub(crate) const MCP_SECTIONS_MAX: u64 = 20;
/// Bytes of one section that a search gives, and the words of its query that count.
pub(crate) const MCP_SECTION_SIZE_MAX: usize = 4 << 10;
/// See [`MCP_SECTION_SIZE_MAX`].
pub(crate) const MCP_SEARCH_WORDS_MAX: usize = 16;

/// Documents that a definition is tried on, if it is not said.
pub(crate) const SAMPLE_COUNT: u64 = 100;
/// Documents that a definition may be tried on.
pub(crate) const SAMPLE_COUNT_MAX: u64 = 10_000;
/// Ids of documents that have values in groups which one answer tells.
pub(crate) const SOURCE_IDS_PAGE_MAX: u64 = 10_000;
/// Documents that an index has to take which are counted one by one, about 10 ms; more are estimated.
pub(crate) const COUNTED_ITEMS_MAX: u64 = 1_000_000;
/// Tombstones likewise; they are read for it.
pub(crate) const COUNTED_TOMBSTONES_MAX: u64 = 100_000;
/// What happened to indexes that is kept for one who watches them and is slow. More sends that one away.
pub(crate) const INDEX_CHANGES_KEPT_MAX: usize = 1024;

/// Changes of one frame, and of one look at the database.
pub(crate) const CHANGES_FRAME_COUNT_MAX: usize = 1024;

/// Bytes of the reason in the closing frame of a WebSocket: a control frame has 125, and two are the code (RFC 6455, 5.5).
pub(crate) const CLOSE_REASON_SIZE_MAX: usize = 123;

/// Between the error that a missing feature cannot be watched and the closing of the changes socket. Clients connect again and watch the
/// same; this bounds how often.
pub(crate) const REFUSED_PAUSE: Duration = Duration::from_secs(1);

/// How long the connection stays open on which a client changed its own rights, so that the answer gets out.
pub(crate) const CHANGED_RIGHTS_PAUSE: Duration = Duration::from_millis(500);

/// One command of a client of a changes socket, in bytes.
pub(crate) const CHANGES_COMMAND_SIZE_MAX: usize = 64 << 10;

/// What one client watches, each an id, prefix, collection or number: how many, and all of them in bytes. Over it the socket is
/// closed, so that no client relies on being told of something that it is not.
pub(crate) const WATCHED_COUNT_MAX: usize = 10_000;
pub(crate) const WATCHED_SIZE_MAX: usize = 1 << 20;

/// An id, prefix or name of a collection that is watched, in bytes: as long as any can be.
pub(crate) const WATCHED_NAME_SIZE_MAX: usize = 512;

/// How often the states of watched operations are compared.
pub(crate) const OPERATION_INTERVAL: Duration = Duration::from_millis(200);

/// A changes socket is pinged so many times within [`Limits::idle`], and closed when [`PINGS_UNANSWERED_MAX`] of them were
/// not answered.
pub(crate) const PINGS_PER_IDLE: u32 = 4;
pub(crate) const PINGS_UNANSWERED_MAX: u32 = 2;

impl Default for Limits {
    fn default() -> Self {
        Limits {
            header_block_size: 64 << 10,
            header_line_size: 32 << 10,
            request_line_size: 32 << 10,
            header_count: 128,
            query_parameter_count: 10_000,
            header_deadline: Duration::from_secs(15),
            idle: Duration::from_secs(120),
            body_rate: 256,
            stream_idle: Duration::from_secs(300),
            slow_reader: Duration::from_secs(120),
            reader_rate: 256,
            half_closed: Duration::from_secs(2),
            request_body_size: 256 << 20,
            object_body_size: 16 << 20,
            decompression_ratio: 50_000,
            connection_count: 10_000,
            failed_attempt_count: 20,
            memory_size: 512 << 20,
            bodies_size: 256 << 20,
            consumers_size: 128 << 20,
            request_memory_size: 256 << 20,
            blocking_queue_count: 1024,
            blocking_wait: Duration::from_secs(10),
            blocking_thread_count: 64,
            stream_count: 64,
            bulk_insert_thread_count: 16,
            short_thread_count: 16,
            page_versions_size: 384 << 20,
            query_text_size: 1 << 20,
            query_run_time: Duration::from_secs(60),
            multi_get_count: 1024,
            multi_get_answer_size: 256 << 20,
            mcp_call_count: 32,
            slow_request: Duration::from_millis(500),
            script_steps: 10_000,
            automatic_index_idle_after: Duration::from_secs(30 * 60),
            idle_index_kept: Duration::from_secs(72 * 60 * 60),
            queries: QuerySettings::default(),
        }
    }
}

/// A limit as a setting.
#[derive(Debug)]
pub struct LimitSetting {
    /// What settings, documentation and refusals call it.
    pub name: &'static str,
    /// The values it may have, in the unit of its name.
    pub range: RangeInclusive<u32>,
    /// Sets it to a value of the range.
    pub set: fn(&mut Limits, u32),
}

impl Limits {
    /// Threads that blocking work takes at the most. A read that turns out to be long waits with its thread to become a stream.
    pub fn thread_count(&self) -> usize {
        self.blocking_thread_count
            + 2 * self.stream_count
            + self.bulk_insert_thread_count
            + self.short_thread_count
            + PLACE_THREADS_MAX
    }

    /// All of them, in the order of the fields.
    pub const SETTINGS: [LimitSetting; 37] = [
        // Less than 8 KiB is less than what reads heads starts with.
        setting("Limits.HeaderBlockInKb", 8..=1024, |limits, value| limits.header_block_size = kib(value)),
        setting("Limits.HeaderLineInKb", 1..=1024, |limits, value| limits.header_line_size = kib(value)),
        setting("Limits.RequestLineInKb", 1..=1024, |limits, value| limits.request_line_size = kib(value)),
        setting("Limits.HeaderCount", 1..=10_000, |limits, value| limits.header_count = count(value)),
        setting("Limits.QueryParameterCount", 1..=1_000_000, |limits, value| {
            limits.query_parameter_count = count(value)
        }),
        setting("Limits.HeaderDeadlineInSec", 1..=3600, |limits, value| limits.header_deadline = seconds(value)),
        setting("Limits.IdleConnectionInSec", 1..=86_400, |limits, value| limits.idle = seconds(value)),
        setting("Limits.BodyRateInBytesPerSec", 0..=1_000_000, |limits, value| limits.body_rate = count(value)),
        setting("Limits.StreamIdleInSec", 1..=86_400, |limits, value| limits.stream_idle = seconds(value)),
        setting("Limits.SlowReaderInSec", 1..=86_400, |limits, value| limits.slow_reader = seconds(value)),
        setting("Limits.ReaderRateInBytesPerSec", 0..=1_000_000, |limits, value| limits.reader_rate = count(value)),
        setting("Limits.HalfClosedInSec", 0..=86_400, |limits, value| limits.half_closed = seconds(value)),
        setting(REQUEST_BODY, 1..=4096, |limits, value| limits.request_body_size = kib(value) << 10),
        setting(OBJECT_BODY, 1..=4096, |limits, value| limits.object_body_size = kib(value) << 10),
        setting("Limits.DecompressionRatio", 1..=1_000_000, |limits, value| limits.decompression_ratio = count(value)),
        setting("Limits.Connections", 1..=1_000_000, |limits, value| limits.connection_count = count(value)),
        setting("Limits.FailedAttempts", 0..=1_000_000, |limits, value| limits.failed_attempt_count = count(value)),
        setting(MEMORY, 1..=1_000_000, |limits, value| limits.memory_size = kib(value) << 10),
        setting(BODIES_MEMORY, 1..=1_000_000, |limits, value| limits.bodies_size = kib(value) << 10),
        setting(CONSUMERS_MEMORY, 1..=1_000_000, |limits, value| limits.consumers_size = kib(value) << 10),
        setting(REQUEST_MEMORY, 1..=1_000_000, |limits, value| limits.request_memory_size = kib(value) << 10),
        setting("Limits.BlockingQueue", 0..=1_000_000, |limits, value| limits.blocking_queue_count = count(value)),
        setting("Limits.BlockingWaitInSec", 0..=3600, |limits, value| limits.blocking_wait = seconds(value)),
        setting("Limits.BlockingThreads", 1..=1024, |limits, value| limits.blocking_thread_count = count(value)),
        setting("Limits.Streams", 1..=1024, |limits, value| limits.stream_count = count(value)),
        setting("Limits.BulkInsertThreads", 1..=1024, |limits, value| limits.bulk_insert_thread_count = count(value)),
        setting("Limits.ShortThreads", 1..=1024, |limits, value| limits.short_thread_count = count(value)),
        setting("Limits.PageVersionsInMb", 1..=1_000_000, |limits, value| limits.page_versions_size = kib(value) << 10),
        setting("Limits.QueryTextInKb", 1..=65_536, |limits, value| limits.query_text_size = kib(value)),
        setting("Limits.QueryRunTimeInSec", 1..=86_400, |limits, value| limits.query_run_time = seconds(value)),
        setting("Limits.MultiGetCount", 1..=100_000, |limits, value| limits.multi_get_count = count(value)),
        setting("Limits.MultiGetAnswerInMb", 1..=1_000_000, |limits, value| {
            limits.multi_get_answer_size = kib(value) << 10
        }),
        setting("Limits.McpCalls", 1..=1024, |limits, value| limits.mcp_call_count = count(value)),
        setting("Limits.SlowRequestInMs", 0..=3_600_000, |limits, value| {
            limits.slow_request = Duration::from_millis(value.into())
        }),
        setting("Patching.MaxStepsForScript", 1..=2_000_000_000, |limits, value| limits.script_steps = value.into()),
        setting("Indexing.TimeToWaitBeforeMarkingAutoIndexAsIdleInMin", 1..=525_600, |limits, value| {
            limits.automatic_index_idle_after = seconds(value) * 60
        }),
        setting("Indexing.TimeToWaitBeforeDeletingAutoIndexMarkedAsIdleInHrs", 0..=87_600, |limits, value| {
            limits.idle_index_kept = seconds(value) * 3600
        }),
    ];
}

const fn setting(name: &'static str, range: RangeInclusive<u32>, set: fn(&mut Limits, u32)) -> LimitSetting {
    LimitSetting { name, range, set }
}

fn count(value: u32) -> usize {
    value as usize
}

fn kib(value: u32) -> usize {
    count(value) << 10
}

fn seconds(value: u32) -> Duration {
    Duration::from_secs(value.into())
}

/// Bytes of a message of a TCP connection: clients send a few hundred.
pub(crate) const TCP_MESSAGE_SIZE_MAX: usize = 64 << 10;
/// Bytes of a name in such a message.
pub(crate) const TCP_TEXT_SIZE_MAX: usize = 1024;
/// Versions that a client may try on a TCP connection before the server ends it.
pub(crate) const TCP_GREETINGS_MAX: usize = 4;
/// After how much silence the connection of a subscription sends a sign of life. Clients give up after 30 s.
pub(crate) const SUBSCRIPTION_HEARTBEAT: Duration = Duration::from_secs(3);
/// Changes of a page of the change feed, unless its reader asks for another number.
pub(crate) const FEED_PAGE: u64 = 1024;
/// Seconds that a reader of the change feed may have a request wait for changes.
pub(crate) const FEED_WAIT_MAX: u64 = 300;
/// Pages of an event stream that wait for the network. Another one may be on its way there.
pub(crate) const FEED_PAGES_MAX: usize = 1;
/// A sign of life on an event stream of the change feed without news.
pub(crate) const FEED_HEARTBEAT: Duration = Duration::from_secs(15);
/// How long an event stream of the change feed waits that finds no thread to read on, or no memory.
pub(crate) const FEED_RETRY: Duration = Duration::from_millis(100);

/// How long a subscription waits that finds no thread to read on.
pub(crate) const SUBSCRIPTION_RETRY: Duration = Duration::from_millis(100);
/// Bytes of documents that a batch of a subscription includes; further ones are left out.
pub(crate) const SUBSCRIPTION_INCLUDES_SIZE_MAX: usize = 32 << 20;
/// Bytes of a batch that a client has to take within [`Limits::slow_reader`].
pub(crate) const SUBSCRIPTION_WRITE_SIZE: usize = 256 << 10;
/// Documents in a trial of the query of a subscription, unless more are asked for.
pub(crate) const SUBSCRIPTION_TRY_PAGE: u64 = 10;
/// Documents in a trial of the query of a subscription.
pub(crate) const SUBSCRIPTION_TRY_MAX: u64 = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_sets_a_field_of_its_own() {
        let mut limits = Limits::default();
        for setting in Limits::SETTINGS {
            let before = limits.clone();
            (setting.set)(&mut limits, *setting.range.start());
            assert_ne!(limits, before, "{} sets nothing, or what another name has set", setting.name);
        }
    }

    #[test]
    fn defaults_and_ranges_are_documented() {
        let documentation = include_str!("../../../docs/settings.md");
        let mut limits = Limits::default();
        for LimitSetting { name, range, set } in Limits::SETTINGS {
            let row = documentation.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
            let cells: Vec<&str> = row.unwrap_or_else(|| panic!("{name}")).split('|').map(str::trim).collect();
            let default = cells[2].split(',').next().and_then(|value| value.parse().ok()).expect(name);
            assert!(range.contains(&default), "{name}");
            assert_eq!(cells[3], format!("{} to {}", range.start(), range.end()), "{name}");
            // Were it another, the limits would no longer be the default ones.
            set(&mut limits, default);
        }
        assert_eq!(limits, Limits::default());
    }
}
