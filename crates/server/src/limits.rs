//! Every bound of the server, in one place, with its name.
//!
//! The name is what settings call it (`Limits.HeaderCount`) and what the answer of a refused request says, so that
//! whoever meets a limit knows which one to change. Defaults are those of RELIABILITY.md §1.5.

use std::time::Duration;

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
    /// A bulk insert has no such limit as a whole; each of its commands has it.
    pub request_body_size: usize,
    /// `Limits.DecompressionRatio`: decompressed to compressed, checked once 1 MiB has come out. Over it: 413.
    pub decompression_ratio: usize,
    /// `Limits.Connections`: open connections. Over it: 503, closed.
    pub connection_count: usize,
    /// `Limits.BodiesInMb`: all request bodies, whole answers, and lists of documents that queries hold back for their order,
    /// in bytes. Over it: 503 with `Retry-After`. Small ones are not counted.
    pub bodies_size: usize,
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
    /// `Limits.QueryRunTimeInSec`: one query. Over it: 408.
    pub query_run_time: Duration,
    /// `Limits.MultiGetCount`: requests in one `multi_get`. Over it: 413.
    pub multi_get_count: usize,
    /// `Limits.MultiGetAnswerInMb`: the answer of one `multi_get`, in bytes. Over it: 413, or cut off if it has begun.
    pub multi_get_answer_size: usize,
}

/// The size below which a compressed body may expand without its ratio being looked at, in bytes.
pub(crate) const DECOMPRESSION_GRACE_SIZE: usize = 1 << 20;

/// The window over which the rate of a body is measured.
pub(crate) const BODY_RATE_WINDOW: Duration = Duration::from_secs(30);

/// What one part of a streamed answer holds before it is handed to the network, in bytes: large enough that hopping
/// to the network thread costs nothing per document, small enough that [`STREAM_PARTS_MAX`] of them per stream do not matter.
pub(crate) const STREAM_PART_SIZE: usize = 64 << 10;

/// The largest answer that is made as a whole, in bytes; what grows past it is sent while it is made. Most pages of lists
/// stay below, and have a length.
pub(crate) const WHOLE_ANSWER_SIZE: usize = 1 << 20;

/// Bodies and answers up to this size are not counted: they are about what the kernel holds for a connection anyway.
pub(crate) const UNCOUNTED_SIZE: usize = 64 << 10;

/// Up to this size a body is parsed or compressed on a network thread, in bytes: about a millisecond.
pub(crate) const SHORT_WORK_SIZE: usize = 256 << 10;

/// Looked-at documents between two looks at the clock and at whether anybody still waits.
pub(crate) const DEADLINE_EVERY: u64 = 256;

/// Ids that a deletion by query keeps in memory.
pub(crate) const DELETE_IDS_MAX: usize = 64 << 10;

/// How deep the conditions of a query may be in parentheses. The recursion of whatever reads them is bounded by it.
pub(crate) const QUERY_DEPTH_MAX: usize = 256;

/// How many parts of a streamed answer may wait for the network. A reader that does not read stops its producer.
pub(crate) const STREAM_PARTS_MAX: usize = 4;

/// What a bulk insert collects from the network while the part before is cut and checked, in bytes.
pub(crate) const BULK_INSERT_PART_SIZE: usize = 1 << 20;

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
            decompression_ratio: 1000,
            connection_count: 10_000,
            bodies_size: 256 << 20,
            blocking_queue_count: 1024,
            blocking_wait: Duration::from_secs(10),
            blocking_thread_count: 64,
            stream_count: 64,
            bulk_insert_thread_count: 16,
            short_thread_count: 16,
            page_versions_size: 1 << 30,
            query_text_size: 1 << 20,
            query_run_time: Duration::from_secs(60),
            multi_get_count: 1024,
            multi_get_answer_size: 256 << 20,
        }
    }
}

impl Limits {
    /// Threads that blocking work takes at the most. A read that turns out to be long waits with its thread to become a stream.
    pub fn thread_count(&self) -> usize {
        self.blocking_thread_count + 2 * self.stream_count + self.bulk_insert_thread_count + self.short_thread_count
    }

    /// The names of the settings, in the order of the fields.
    pub const NAMES: [&'static str; 27] = [
        "Limits.HeaderBlockInKb",
        "Limits.HeaderLineInKb",
        "Limits.RequestLineInKb",
        "Limits.HeaderCount",
        "Limits.QueryParameterCount",
        "Limits.HeaderDeadlineInSec",
        "Limits.IdleConnectionInSec",
        "Limits.BodyRateInBytesPerSec",
        "Limits.StreamIdleInSec",
        "Limits.SlowReaderInSec",
        "Limits.ReaderRateInBytesPerSec",
        "Limits.HalfClosedInSec",
        "Limits.RequestBodyInMb",
        "Limits.DecompressionRatio",
        "Limits.Connections",
        "Limits.BodiesInMb",
        "Limits.BlockingQueue",
        "Limits.BlockingWaitInSec",
        "Limits.BlockingThreads",
        "Limits.Streams",
        "Limits.BulkInsertThreads",
        "Limits.ShortThreads",
        "Limits.PageVersionsInMb",
        "Limits.QueryTextInKb",
        "Limits.QueryRunTimeInSec",
        "Limits.MultiGetCount",
        "Limits.MultiGetAnswerInMb",
    ];

    /// Sets the limit that settings call `name` (without regard to case); false if there is none of that name.
    pub fn set(&mut self, name: &str, value: u32) -> bool {
        let Some(position) = Self::NAMES.iter().position(|known| known.eq_ignore_ascii_case(name)) else {
            return false;
        };
        let count = value as usize;
        let seconds = Duration::from_secs(value.into());
        match position {
            0 => self.header_block_size = count.saturating_mul(1 << 10).max(8 << 10),
            1 => self.header_line_size = count.saturating_mul(1 << 10),
            2 => self.request_line_size = count.saturating_mul(1 << 10),
            3 => self.header_count = count,
            4 => self.query_parameter_count = count,
            5 => self.header_deadline = seconds,
            6 => self.idle = seconds,
            7 => self.body_rate = count,
            8 => self.stream_idle = seconds,
            9 => self.slow_reader = seconds,
            10 => self.reader_rate = count,
            11 => self.half_closed = seconds,
            12 => self.request_body_size = count.saturating_mul(1 << 20),
            13 => self.decompression_ratio = count,
            14 => self.connection_count = count,
            15 => self.bodies_size = count.saturating_mul(1 << 20),
            16 => self.blocking_queue_count = count,
            17 => self.blocking_wait = seconds,
            18 => self.blocking_thread_count = count.max(1),
            19 => self.stream_count = count.max(1),
            20 => self.bulk_insert_thread_count = count.max(1),
            21 => self.short_thread_count = count.max(1),
            22 => self.page_versions_size = count.saturating_mul(1 << 20).max(1 << 20),
            23 => self.query_text_size = count.saturating_mul(1 << 10),
            24 => self.query_run_time = seconds,
            25 => self.multi_get_count = count,
            _ => self.multi_get_answer_size = count.saturating_mul(1 << 20),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_sets_another_field() {
        let default = Limits::default();
        for name in Limits::NAMES {
            let mut limits = default.clone();
            assert!(limits.set(&name.to_ascii_lowercase(), 7), "{name}");
            assert_ne!(limits, default, "{name}");
        }
        assert!(!default.clone().set("Limits.Nothing", 7));
    }
}
