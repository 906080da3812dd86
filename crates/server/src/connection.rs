//! What is known about one open connection, and the deadlines that follow from it.
//!
//! No timer is set per request. Each connection notes in a few atomic words when something last happened; a sweeper
//! ([`Connections::sweep`]) looks at all of them four times a second and closes those past a deadline of
//! [`Limits`]. [`Watched`] is the socket with these notes taken; it also sees whether a head claims both a
//! `Content-Length` and a `Transfer-Encoding`, which the HTTP library would resolve and we refuse.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::limits::{BODY_RATE_WINDOW, Limits};

/// How often deadlines are looked at.
pub(crate) const SWEEP_INTERVAL: Duration = Duration::from_millis(250);

/// All open connections of a server and the clock that they share.
#[derive(Debug)]
pub(crate) struct Connections {
    start: Instant,
    /// Milliseconds since `start`, moved by the sweeper: reading the real clock for each packet is not worth it.
    now_ms: Arc<AtomicU64>,
    open: Mutex<HashMap<u64, Arc<Connection>>>,
    next_number: AtomicU64,
    pub(crate) open_count: AtomicUsize,
}

impl Connections {
    pub(crate) fn new() -> Connections {
        Connections {
            start: Instant::now(),
            // 1, because 0 means "not".
            now_ms: Arc::new(AtomicU64::new(1)),
            open: Mutex::new(HashMap::new()),
            next_number: AtomicU64::new(0),
            open_count: AtomicUsize::new(0),
        }
    }

    /// Counts one more connection; `None` when there are `max` already.
    pub(crate) fn admit(self: &Arc<Self>, max: usize) -> Option<Admitted> {
        if self.open_count.fetch_add(1, Relaxed) >= max {
            self.open_count.fetch_sub(1, Relaxed);
            return None;
        }
        let connection = Arc::new(Connection::new(self.now_ms.clone()));
        let number = self.next_number.fetch_add(1, Relaxed);
        self.open.lock().insert(number, connection.clone());
        Some(Admitted { connections: self.clone(), number, connection })
    }

    /// Moves the clock and closes what is past a deadline; returns how many were told to close.
    pub(crate) fn sweep(&self, limits: &Limits) -> usize {
        let now = 1 + u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.now_ms.store(now, Relaxed);
        let open = self.open.lock();
        let expired = open.values().filter(|connection| connection.is_expired(now, limits));
        expired.map(|connection| connection.close.notify_one()).count()
    }
}

impl Connections {
    /// Has every connection closed, whatever it does.
    pub(crate) fn close_all(&self) {
        self.open.lock().values().for_each(|connection| connection.close.notify_one());
    }

    /// Waits until there is none.
    pub(crate) async fn all_ended(&self) {
        while self.open_count.load(Relaxed) > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// A place among the open connections; dropping it frees the place.
#[derive(Debug)]
pub(crate) struct Admitted {
    connections: Arc<Connections>,
    number: u64,
    pub(crate) connection: Arc<Connection>,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.connections.open.lock().remove(&self.number);
        self.connections.open_count.fetch_sub(1, Relaxed);
    }
}

/// How the body that is being read may behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyPace {
    /// At least [`Limits::body_rate`] over [`BODY_RATE_WINDOW`].
    Rate,
    /// Something within [`Limits::stream_idle`].
    Idle,
}

/// The notes on one connection. All times are milliseconds of the shared clock; 0 is "not".
#[derive(Debug)]
pub(crate) struct Connection {
    clock: Arc<AtomicU64>,
    /// Requests whose answer is not finished.
    busy: AtomicU32,
    last_activity: AtomicU64,
    head_since: AtomicU64,
    /// Since when the reader is slower than we are, and what it took since.
    reader_since: AtomicU64,
    reader_bytes: AtomicU64,
    is_stalled: AtomicBool,
    body_since: AtomicU64,
    body_bytes: AtomicU64,
    body_is_stream: AtomicBool,
    is_http1: AtomicBool,
    /// Since when the client sends nothing more, although it waits for an answer.
    half_closed_since: AtomicU64,
    is_answered: AtomicBool,
    ambiguous_length: AtomicBool,
    /// A request was refused whose body may still be on its way.
    is_refused: AtomicBool,
    close: Notify,
}

impl Connection {
    fn new(clock: Arc<AtomicU64>) -> Connection {
        let now = clock.load(Relaxed);
        Connection {
            clock,
            busy: AtomicU32::new(0),
            last_activity: AtomicU64::new(now),
            head_since: AtomicU64::new(0),
            reader_since: AtomicU64::new(0),
            reader_bytes: AtomicU64::new(0),
            is_stalled: AtomicBool::new(false),
            body_since: AtomicU64::new(0),
            body_bytes: AtomicU64::new(0),
            body_is_stream: AtomicBool::new(false),
            is_http1: AtomicBool::new(true),
            half_closed_since: AtomicU64::new(0),
            is_answered: AtomicBool::new(false),
            ambiguous_length: AtomicBool::new(false),
            is_refused: AtomicBool::new(false),
            close: Notify::new(),
        }
    }

    /// Waits until the sweeper closes this connection.
    pub(crate) async fn expired(&self) {
        self.close.notified().await;
    }

    /// A whole head has arrived; the guard lives as long as the answer is not finished.
    pub(crate) fn request_begins(self: &Arc<Self>, is_http1: bool) -> Busy {
        self.is_http1.store(is_http1, Relaxed);
        self.is_answered.store(false, Relaxed);
        self.busy.fetch_add(1, Relaxed);
        self.head_since.store(0, Relaxed);
        Busy(self.clone())
    }

    /// The answer is there, or its beginning. From now on a client that is gone is noticed by writing to it.
    pub(crate) fn answer_begins(&self) {
        self.is_answered.store(true, Relaxed);
    }

    /// A request of HTTP/1 was read to its end: what the client sends now is its next one, and its end is perhaps that of
    /// its half alone.
    ///
    /// * `is_head_read`: a whole head was read, which is not a request before it is looked at.
    fn waits_for_answer(&self, is_head_read: bool) -> bool {
        let is_request = self.busy.load(Relaxed) > 0 || (is_head_read && self.head_since.load(Relaxed) != 0);
        is_request && self.body_since.load(Relaxed) == 0 && self.is_http1.load(Relaxed)
    }

    /// True once if the head just read claims both a length and a transfer encoding.
    pub(crate) fn take_ambiguous_length(&self) -> bool {
        self.ambiguous_length.load(Relaxed) && self.ambiguous_length.swap(false, Relaxed)
    }

    /// The answer closes the connection before the request was read to its end.
    pub(crate) fn refused(&self) {
        self.is_refused.store(true, Relaxed);
    }

    /// Whether something may still arrive that the answer did not wait for: a refused body, or a head that was refused
    /// before it became a request.
    fn has_more_to_come(&self) -> bool {
        self.is_refused.load(Relaxed) || self.head_since.load(Relaxed) != 0
    }

    /// A body is being waited for from now on.
    pub(crate) fn body_begins(&self, pace: BodyPace) {
        self.body_is_stream.store(pace == BodyPace::Idle, Relaxed);
        self.body_bytes.store(0, Relaxed);
        self.body_since.store(self.clock.load(Relaxed), Relaxed);
    }

    /// `size` bytes of the body have arrived.
    pub(crate) fn body_progress(&self, size: usize) {
        self.body_bytes.fetch_add(size as u64, Relaxed);
    }

    /// No body is being waited for any more.
    pub(crate) fn body_ends(&self) {
        self.body_since.store(0, Relaxed);
    }

    fn is_expired(&self, now: u64, limits: &Limits) -> bool {
        let past = |since: u64, limit: Duration| since != 0 && now.saturating_sub(since) as u128 > limit.as_millis();
        let reader_since = self.reader_since.load(Relaxed);
        if past(reader_since, limits.slow_reader) {
            // What was taken is what could be written, for there was no room at either end of the window.
            let enough = (limits.reader_rate as u64 * limits.slow_reader.as_secs()).max(1);
            let (taken, is_stalled) = (self.reader_bytes.swap(0, Relaxed), self.is_stalled.load(Relaxed));
            if is_stalled && taken < enough {
                return true;
            }
            self.reader_since.store(if is_stalled { now } else { 0 }, Relaxed);
        }
        if self.busy.load(Relaxed) == 0 {
            return past(self.head_since.load(Relaxed), limits.header_deadline)
                || past(self.last_activity.load(Relaxed), limits.idle);
        }
        let body_since = self.body_since.load(Relaxed);
        if body_since == 0 {
            return !self.is_answered.load(Relaxed) && past(self.half_closed_since.load(Relaxed), limits.half_closed);
        }
        if self.body_is_stream.load(Relaxed) {
            return past(self.last_activity.load(Relaxed), limits.stream_idle);
        }
        if !past(body_since, BODY_RATE_WINDOW) {
            return false;
        }
        let enough = limits.body_rate as u64 * BODY_RATE_WINDOW.as_secs();
        let is_slow = self.body_bytes.swap(0, Relaxed) < enough;
        self.body_since.store(now, Relaxed);
        is_slow
    }
}

/// Lives from the end of a head to the end of its answer.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Connection>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.last_activity.store(self.0.clock.load(Relaxed), Relaxed);
        if self.0.busy.fetch_sub(1, Relaxed) == 1 {
            // The next answer is not measured by how this one was taken.
            self.0.reader_since.store(0, Relaxed);
        }
    }
}

/// A socket that takes notes in its [`Connection`].
#[derive(Debug)]
pub(crate) struct Watched {
    stream: TcpStream,
    connection: Arc<Connection>,
    head: HeadWatch,
    lingering: Option<Lingering>,
}

/// What happens between the end of the last answer and the closing of the socket.
#[derive(Debug)]
struct Lingering {
    end: Pin<Box<tokio::time::Sleep>>,
    drained: usize,
}

/// How long, and for how many bytes, a refused request is read on. A socket that is closed with unread bytes takes the answer
/// away from a client that is still sending, who then never learns why.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_SIZE_MAX: usize = 4 << 20;

impl Watched {
    pub(crate) fn new(stream: TcpStream, connection: Arc<Connection>) -> Watched {
        Watched { stream, connection, head: HeadWatch::default(), lingering: None }
    }
}

impl AsyncRead for Watched {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        let polled = Pin::new(&mut this.stream).poll_read(cx, buf);
        let read = buf.filled().get(before..).unwrap_or_default();
        let now = this.connection.clock.load(Relaxed);
        if read.is_empty() {
            if matches!(polled, Poll::Ready(Ok(()))) && this.connection.waits_for_answer(this.head.is_over) {
                // It gets its answer all the same, if that comes soon: see `is_expired`.
                let _ = this.connection.half_closed_since.compare_exchange(0, now, Relaxed, Relaxed);
                return Poll::Pending;
            }
        } else {
            this.connection.last_activity.store(now, Relaxed);
            if this.connection.busy.load(Relaxed) == 0 || this.connection.waits_for_answer(false) {
                if this.connection.head_since.load(Relaxed) == 0 {
                    this.connection.head_since.store(now, Relaxed);
                    this.head = HeadWatch::default();
                }
                if this.head.read(read) {
                    this.connection.ambiguous_length.store(true, Relaxed);
                }
            }
        }
        polled
    }
}

impl AsyncWrite for Watched {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.note_write(&polled);
        polled
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_write_vectored(cx, parts);
        this.note_write(&polled);
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let lingering = match &mut this.lingering {
            Some(lingering) => lingering,
            None => {
                let ended = Pin::new(&mut this.stream).poll_shutdown(cx);
                if !matches!(ended, Poll::Ready(Ok(()))) || !this.connection.has_more_to_come() {
                    return ended;
                }
                this.lingering.insert(Lingering { end: Box::pin(tokio::time::sleep(LINGER)), drained: 0 })
            }
        };
        let mut bytes = [0; 4096];
        while lingering.drained < LINGER_SIZE_MAX {
            let mut read = ReadBuf::new(&mut bytes);
            match Pin::new(&mut this.stream).poll_read(cx, &mut read) {
                Poll::Ready(Ok(())) if !read.filled().is_empty() => lingering.drained += read.filled().len(),
                Poll::Ready(_) => break,
                Poll::Pending => return lingering.end.as_mut().poll(cx).map(Ok),
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl Watched {
    fn note_write(&self, polled: &Poll<io::Result<usize>>) {
        let connection = &self.connection;
        connection.is_stalled.store(polled.is_pending(), Relaxed);
        if connection.reader_since.load(Relaxed) != 0 {
            if let Poll::Ready(Ok(size)) = polled {
                connection.reader_bytes.fetch_add(*size as u64, Relaxed);
            }
        } else if polled.is_pending() {
            connection.reader_bytes.store(0, Relaxed);
            connection.reader_since.store(connection.clock.load(Relaxed), Relaxed);
        }
    }
}

/// Looks at the beginnings of lines of one head, however it is cut into pieces.
#[derive(Debug, Default)]
struct HeadWatch {
    line: [u8; LINE_SIZE],
    line_size: usize,
    is_over: bool,
    has_length: bool,
    has_encoding: bool,
}

/// Long enough for the longer of the two names and its colon.
const LINE_SIZE: usize = 18;

impl HeadWatch {
    /// Takes the next bytes; true if the head is now known to have both headers.
    fn read(&mut self, mut bytes: &[u8]) -> bool {
        while !self.is_over && !bytes.is_empty() {
            let end = memchr::memchr(b'\n', bytes);
            let line = &bytes[..end.unwrap_or(bytes.len())];
            let wanted = line.len().min(LINE_SIZE - self.line_size);
            self.line[self.line_size..self.line_size + wanted].copy_from_slice(&line[..wanted]);
            self.line_size += wanted;
            let Some(end) = end else { break };
            self.end_line();
            bytes = &bytes[end + 1..];
        }
        self.has_length && self.has_encoding
    }

    fn end_line(&mut self) {
        let line = &self.line[..self.line_size];
        self.is_over = matches!(line, b"" | b"\r");
        let starts_with = |name: &[u8]| line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        self.has_length |= starts_with(b"content-length:");
        self.has_encoding |= starts_with(b"transfer-encoding:");
        self.line_size = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &str, expected: bool) {
        for cut in 1..=head.len() {
            let mut watch = HeadWatch::default();
            let mut found = false;
            for part in head.as_bytes().chunks(cut) {
                found = watch.read(part);
            }
            assert_eq!(found, expected, "{head:?} in pieces of {cut}");
        }
    }

    #[test]
    fn a_head_with_both_lengths_is_seen_in_any_pieces() {
        check("POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", true);
        check("POST / HTTP/1.1\ntransfer-ENCODING:chunked\nX: y\nCONTENT-length:3\n\n", true);
    }

    #[test]
    fn a_body_is_not_a_head() {
        check("POST / HTTP/1.1\r\nContent-Length: 30\r\n\r\nx\r\nTransfer-Encoding: chunked\r\n", false);
        check("POST / HTTP/1.1\r\nX-Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", false);
    }

    #[test]
    fn deadlines_follow_what_the_connection_does() {
        let limits = Limits::default();
        let connections = Arc::new(Connections::new());
        let admitted = connections.admit(1).unwrap();
        assert!(connections.admit(1).is_none());
        let connection = &admitted.connection;
        assert!(!connection.is_expired(120_000, &limits));
        assert!(connection.is_expired(120_002, &limits));
        connection.head_since.store(1, Relaxed);
        assert!(!connection.is_expired(15_001, &limits));
        assert!(connection.is_expired(15_002, &limits));
        let _busy = connection.request_begins(true);
        assert!(!connection.is_expired(1_000_000, &limits), "a long answer is not idle");
        connection.body_begins(BodyPace::Rate);
        connection.body_progress(256 * 30);
        assert!(!connection.is_expired(30_002, &limits), "just fast enough");
        connection.body_progress(256 * 30 - 1);
        assert!(connection.is_expired(60_003, &limits), "too slow");
    }
}
