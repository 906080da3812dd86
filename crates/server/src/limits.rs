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
    /// `Limits.SlowReaderInSec`: a client that takes nothing of its answer. Over it: closed.
    pub slow_reader: Duration,
    /// `Limits.RequestBodyInMb`: a request body, before and after decompression, in bytes. Over it: 413.
    /// A bulk insert has no such limit; each of its commands is bounded by the size of a document.
    pub request_body_size: usize,
    /// `Limits.DecompressionRatio`: decompressed to compressed, checked once 1 MiB has come out. Over it: 413.
    pub decompression_ratio: usize,
    /// `Limits.Connections`: open connections. Over it: 503, closed.
    pub connection_count: usize,
    /// `Limits.BlockingQueue`: long reads that wait for a thread. Over it: 503 with `Retry-After`.
    pub blocking_queue_count: usize,
    /// `Limits.BlockingThreads`: long reads that run at the same time.
    pub blocking_thread_count: usize,
    /// `Limits.QueryTextInKb`: the text of a query, in bytes. Over it: 413.
    pub query_text_size: usize,
    /// `Limits.QueryRunTimeInSec`: one query. Over it: 500, `System.TimeoutException`.
    pub query_run_time: Duration,
    /// `Limits.MultiGetCount`: requests in one `multi_get`. Over it: 413.
    pub multi_get_count: usize,
}

/// The size below which a compressed body may expand without its ratio being looked at, in bytes.
pub(crate) const DECOMPRESSION_GRACE_SIZE: usize = 1 << 20;

/// What is read of a body that nobody wanted, in bytes, so that the connection can go on behind it; and how long. A longer
/// body, or a slower one, ends the connection, and the answer says so.
pub(crate) const DRAINED_SIZE_MAX: u64 = 64 << 10;
pub(crate) const DRAIN_TIME_MAX: Duration = Duration::from_secs(1);

/// How long, and for how many bytes, a connection that ends is read on while its client may still be sending. A socket that is
/// closed with unread bytes takes the answer away from a client that then never learns why.
pub(crate) const LINGER: Duration = Duration::from_secs(1);
pub(crate) const LINGER_SIZE_MAX: usize = 4 << 20;

/// The window over which the rate of a body is measured.
pub(crate) const BODY_RATE_WINDOW: Duration = Duration::from_secs(30);

/// What one part of a streamed answer holds before it is handed to the network, in bytes: large enough that hopping
/// to the network thread costs nothing per document, small enough that [`STREAM_PARTS_MAX`] of them per stream do not
/// matter.
pub(crate) const STREAM_PART_SIZE: usize = 64 << 10;

/// How deep the conditions of a query may be in parentheses. The recursion of whatever reads them is bounded by it.
pub(crate) const QUERY_DEPTH_MAX: usize = 256;

/// How many parts of a streamed answer may wait for the network. A reader that does not read stops its producer.
pub(crate) const STREAM_PARTS_MAX: usize = 4;

/// What a bulk insert collects from the network while the part before is cut and checked, in bytes.
pub(crate) const BULK_INSERT_PART_SIZE: usize = 1 << 20;

/// What a feed of changes keeps for sockets that have not taken it yet, in bytes, about. A socket that is further behind is
/// closed: its client connects again and loads anew what it holds.
pub(crate) const CHANGES_KEPT_SIZE_MAX: usize = 8 << 20;

/// Changes of one frame, and of one look at the database.
pub(crate) const CHANGES_FRAME_COUNT_MAX: usize = 1024;

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
            request_body_size: 256 << 20,
            decompression_ratio: 1000,
            connection_count: 10_000,
            blocking_queue_count: 1024,
            blocking_thread_count: 64,
            query_text_size: 1 << 20,
            query_run_time: Duration::from_secs(60),
            multi_get_count: 1024,
        }
    }
}

impl Limits {
    /// The names of the settings, in the order of the fields.
    pub const NAMES: [&'static str; 18] = [
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
        "Limits.RequestBodyInMb",
        "Limits.DecompressionRatio",
        "Limits.Connections",
        "Limits.BlockingQueue",
        "Limits.BlockingThreads",
        "Limits.QueryTextInKb",
        "Limits.QueryRunTimeInSec",
        "Limits.MultiGetCount",
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
            10 => self.request_body_size = count.saturating_mul(1 << 20),
            11 => self.decompression_ratio = count,
            12 => self.connection_count = count,
            13 => self.blocking_queue_count = count,
            14 => self.blocking_thread_count = count.max(1),
            15 => self.query_text_size = count.saturating_mul(1 << 10),
            16 => self.query_run_time = seconds,
            _ => self.multi_get_count = count,
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
