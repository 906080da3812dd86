//! The state of one open connection, and the deadlines that follow from it.
//!
//! No timer is set per request. Each connection notes in a few atomic words when something last happened; a sweeper
//! ([`Connections::sweep`]) looks at all of them four times a second and closes those past a deadline of
//! [`Limits`]. [`Watched`] is the stream with these notes taken; it also follows where requests begin and end
//! ([`Framing`]).

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

use super::attempts::network;
use super::framing::Framing;
use crate::limits::{
    BODY_RATE_WINDOW, LINGER_AFTER_END, LINGER_QUIET, LINGER_SIZE_MAX, LINGER_TIME_MAX, Limits,
    UNKNOWN_CONNECTIONS_SHARE, UNKNOWN_HEAD_FREE_SIZE, UNKNOWN_HEADS_SIZE_MAX,
};
use crate::routing::sessions::SessionId;

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
    /// Bytes of heads that have not arrived to their ends, of clients that are not known.
    unknown_heads: Arc<AtomicUsize>,
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
            unknown_heads: Arc::default(),
        }
    }

    /// Counts one more connection; `None` when there are `max` already, or when more than half of them are taken and its address has its
    /// share of those whose clients are not known.
    ///
    /// * `is_known`: the client is known, as all are without HTTPS.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr, is_known: bool, max: usize) -> Option<Admitted> {
        let network = network(address);
        let count = self.open_count.fetch_add(1, Relaxed);
        if count >= max || (!is_known && count > max / 2 && self.has_its_share(network, max)) {
            self.open_count.fetch_sub(1, Relaxed);
            return None;
        }
        let connection = Connection::new(self.now_ms.clone(), network, is_known, self.unknown_heads.clone());
        let connection = Arc::new(connection);
        let number = self.next_number.fetch_add(1, Relaxed);
        self.open.lock().insert(number, connection.clone());
        Some(Admitted { connections: self.clone(), number, connection })
    }

    fn has_its_share(&self, network: IpAddr, max: usize) -> bool {
        let open = self.open.lock();
        let is_of = |connection: &&Arc<Connection>| connection.network == network && !connection.is_known.load(Relaxed);
        open.values().filter(is_of).count() >= (max / UNKNOWN_CONNECTIONS_SHARE).max(1)
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

    /// Closes the connections whose clients sent this certificate or API key. Connections with several of them are closed too: only
    /// a proxy has such.
    ///
    /// * `sha256`: of the certificate or key.
    /// * `is_meant`: whether the connection of a number is closed.
    pub(crate) fn close_those_of(&self, sha256: &[u8; 32], is_meant: impl Fn(u64) -> bool) {
        let open = self.open.lock();
        let is_of = |connection: &Arc<Connection>| {
            connection.principal.get() == Some(sha256) || connection.has_more_principals.load(Relaxed)
        };
        for (_, connection) in open.iter().filter(|(number, connection)| is_meant(**number) && is_of(connection)) {
            connection.has_lost_rights.store(true, Relaxed);
            connection.close.notify_one();
        }
    }

    /// Has every connection closed whose client's certificate has expired.
    ///
    /// * `now`: in seconds since 1970.
    pub(crate) fn close_expired(&self, now: i64) {
        let open = self.open.lock();
        let has_expired =
            |connection: &&Arc<Connection>| connection.certificate_ends.get().is_some_and(|end| *end < now);
        for connection in open.values().filter(has_expired) {
            connection.has_lost_rights.store(true, Relaxed);
            connection.close.notify_one();
        }
    }

    /// Has the WebSockets closed that pages of the studio opened in a session which is over. Its requests end by themselves.
    pub(crate) fn close_sockets_of(&self, session: &SessionId) {
        let open = self.open.lock();
        let is_of = |connection: &&Arc<Connection>| {
            connection.is_upgraded.load(Relaxed) && connection.session.lock().as_ref() == Some(session)
        };
        for connection in open.values().filter(is_of) {
            connection.has_lost_rights.store(true, Relaxed);
            connection.close.notify_one();
        }
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

impl Admitted {
    /// The number of the connection among all.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.connections.open.lock().remove(&self.number);
        self.connection.count_head(0);
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
    /// The address of the client, of IPv6 its first 64 bits.
    network: IpAddr,
    /// The server knows who the client is.
    is_known: AtomicBool,
    /// Bytes of the head that is arriving, while the client is not known.
    unknown_head_size: AtomicUsize,
    /// What this head has of [`Connections::unknown_heads`].
    unknown_head: AtomicUsize,
    unknown_heads: Arc<AtomicUsize>,
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
    /// Since when the client sends nothing more, although it waits for an answer.
    half_closed_since: AtomicU64,
    /// Who was told nothing of that end, and looks again when the answer is sent.
    half_closed_reader: Mutex<Option<Waker>>,
    is_answered: AtomicBool,
    /// Heads that have arrived, the first of them that is to be refused, and requests that were begun.
    head_count: AtomicU64,
    refused_from: AtomicU64,
    request_count: AtomicU64,
    /// The handling of a body that no handler reads to its end.
    rest: Mutex<Rest>,
    /// The answer closes the connection although a body may still be on its way.
    is_refused: AtomicBool,
    /// What goes over it is HTTP no longer.
    is_upgraded: AtomicBool,
    /// SHA-256 of the certificate or API key that the client sent first, if it sent one.
    principal: OnceLock<[u8; 32]>,
    /// When the client's certificate expires, if it has one: seconds since 1970.
    certificate_ends: OnceLock<i64>,
    /// The client has sent another one since.
    has_more_principals: AtomicBool,
    /// The session of the studio whose cookie the latest request with one had.
    session: Mutex<Option<SessionId>>,
    has_lost_rights: AtomicBool,
    close: Notify,
}

/// The handling of the rest of a body.
#[derive(Debug)]
enum Rest {
    /// It is read to its end before the answer, so that the connection can go on.
    Unread(Option<Incoming>),
    Dropped,
}

/// A request as its connection sees it.
#[derive(Debug)]
pub(crate) struct RequestStart {
    /// Lives as long as the answer is not finished.
    pub(crate) busy: Busy,
    /// Its lines or the end of its body can be told in two ways, so that it must be refused.
    pub(crate) is_ambiguous: bool,
}

impl Connection {
    fn new(clock: Arc<AtomicU64>, network: IpAddr, is_known: bool, unknown_heads: Arc<AtomicUsize>) -> Connection {
        let now = clock.load(Relaxed);
        Connection {
            clock,
            network,
            is_known: AtomicBool::new(is_known),
            unknown_head_size: AtomicUsize::new(0),
            unknown_head: AtomicUsize::new(0),
            unknown_heads,
            busy: AtomicU32::new(0),
            last_activity: AtomicU64::new(now),
            head_since: AtomicU64::new(0),
            reader_since: AtomicU64::new(0),
            reader_bytes: AtomicU64::new(0),
            is_stalled: AtomicBool::new(false),
            body_since: AtomicU64::new(0),
            body_bytes: AtomicU64::new(0),
            body_is_stream: AtomicBool::new(false),
            half_closed_since: AtomicU64::new(0),
            half_closed_reader: Mutex::new(None),
            is_answered: AtomicBool::new(false),
            head_count: AtomicU64::new(0),
            refused_from: AtomicU64::new(u64::MAX),
            request_count: AtomicU64::new(0),
            rest: Mutex::new(Rest::Dropped),
            is_refused: AtomicBool::new(false),
            is_upgraded: AtomicBool::new(false),
            principal: OnceLock::new(),
            certificate_ends: OnceLock::new(),
            has_more_principals: AtomicBool::new(false),
            session: Mutex::new(None),
            has_lost_rights: AtomicBool::new(false),
            close: Notify::new(),
        }
    }

    /// The server knows who the client is, from now on.
    pub(crate) fn is_identified(&self) {
        if !self.is_known.swap(true, Relaxed) {
            self.count_head(0);
        }
    }

    /// Bytes of a head of a client that is not known have arrived. False: those of all such clients are too many.
    ///
    /// * `size`: all of them; 0: its end has arrived.
    fn count_head(&self, size: usize) -> bool {
        let size = if size > UNKNOWN_HEAD_FREE_SIZE { size } else { 0 };
        let before = self.unknown_head.swap(size, Relaxed);
        if size == before {
            return true;
        }
        let all = self.unknown_heads.fetch_add(size, Relaxed) + size;
        let all = all.saturating_sub(before);
        self.unknown_heads.fetch_sub(before, Relaxed);
        size < before || all <= UNKNOWN_HEADS_SIZE_MAX
    }

    /// Waits until the sweeper closes this connection.
    pub(crate) async fn expired(&self) {
        self.close.notified().await;
    }

    /// Waits until the rights of the client's certificate or API key are changed, for what outlives HTTP on this connection.
    pub(crate) async fn lost_rights(&self) {
        while !self.has_lost_rights.load(Relaxed) {
            self.close.notified().await;
        }
    }

    /// A TLS handshake begins, which has the time of a head ([`Limits::header_deadline`]).
    pub(crate) fn handshake_begins(&self) {
        self.head_since.store(self.clock.load(Relaxed), Relaxed);
    }

    /// The client sent this certificate or API key; SHA-256 of its public key or its text. True if it is the first one of the connection.
    pub(crate) fn has_principal(&self, sha256: [u8; 32]) -> bool {
        let is_first = self.principal.set(sha256).is_ok();
        if !is_first && self.principal.get() != Some(&sha256) {
            self.has_more_principals.store(true, Relaxed);
        }
        is_first
    }

    /// The client loses the rights of its certificate then, in seconds since 1970.
    pub(crate) fn has_certificate_until(&self, seconds: i64) {
        _ = self.certificate_ends.set(seconds);
    }

    /// The client sent the cookie of a session.
    pub(crate) fn has_session(&self, session: SessionId) {
        *self.session.lock() = Some(session);
    }

    /// The handshake has ended, and nothing of a request has arrived.
    pub(crate) fn handshake_ends(&self) {
        self.last_activity.store(self.clock.load(Relaxed), Relaxed);
        self.head_since.store(0, Relaxed);
    }

    /// A whole head has arrived.
    pub(crate) fn request_begins(self: &Arc<Self>) -> RequestStart {
        self.is_answered.store(false, Relaxed);
        self.busy.fetch_add(1, Relaxed);
        let number = self.request_count.fetch_add(1, Relaxed) + 1;
        // A request of which no head was seen means that the library and we do not agree where requests begin.
        let is_ambiguous = number >= self.refused_from.load(Relaxed) || number > self.head_count.load(Relaxed);
        RequestStart { busy: Busy(self.clone()), is_ambiguous }
    }

    /// The answer is there, or its beginning. From now on a client that is gone is noticed by writing to it.
    pub(crate) fn answer_begins(&self) {
        self.is_answered.store(true, Relaxed);
    }

    /// Whether a request has arrived to its end and is not answered yet. That it was read here does not mean that it was
    /// looked at: its body may still be on the way through the library. A client that ends now perhaps ends its half alone.
    fn waits_for_answer(&self, framing: &Framing) -> bool {
        let is_request =
            self.busy.load(Relaxed) > 0 || self.head_count.load(Relaxed) > self.request_count.load(Relaxed);
        is_request && framing.is_between_requests() && !self.is_upgraded.load(Relaxed)
    }

    /// A request with a body begins. What its handler leaves of that is kept for [`take_rest`](Self::take_rest).
    pub(crate) fn expect_rest(&self) {
        *self.rest.lock() = Rest::Unread(None);
    }

    /// Keeps what is left of a body, if the answer still waits for it. Later nobody would take it out, and the connection would
    /// wait for its end; the library knows what to do with a body that is dropped.
    pub(crate) fn leave_rest(&self, rest: Incoming) {
        if let Rest::Unread(kept) = &mut *self.rest.lock() {
            *kept = Some(rest);
        }
    }

    /// What is left of the body of the request that is about to be answered, if anything is.
    pub(crate) fn take_rest(&self) -> Option<Incoming> {
        match std::mem::replace(&mut *self.rest.lock(), Rest::Dropped) {
            Rest::Unread(rest) => rest,
            Rest::Dropped => None,
        }
    }

    /// The answer closes the connection before the request was read to its end.
    pub(crate) fn refused(&self) {
        self.is_refused.store(true, Relaxed);
    }

    /// What goes over this connection from now on is another protocol's.
    pub(crate) fn upgraded(&self) {
        self.is_upgraded.store(true, Relaxed);
    }

    /// Whether something may still arrive that the answer did not wait for: a refused body, or a head that was refused
    /// before it became a request.
    fn has_more_to_come(&self) -> bool {
        let is_request_missing = self.head_count.load(Relaxed) != self.request_count.load(Relaxed);
        let is_head = is_request_missing || self.head_since.load(Relaxed) != 0;
        !self.is_upgraded.load(Relaxed) && (self.is_refused.load(Relaxed) || is_head)
    }

    /// Bytes have arrived, which `framing` has looked at.
    fn note_read(&self, framing: &Framing, size: usize) {
        if !self.is_known.load(Relaxed) {
            let head = if framing.is_in_head() { self.unknown_head_size.fetch_add(size, Relaxed) + size } else { 0 };
            if head == 0 {
                self.unknown_head_size.store(0, Relaxed);
            }
            if !self.count_head(head) {
                self.close.notify_one();
            }
        }
        self.head_count.store(framing.head_count(), Relaxed);
        if let Some(number) = framing.refused_from() {
            self.refused_from.store(number, Relaxed);
        }
        if !framing.is_in_head() {
            self.head_since.store(0, Relaxed);
        } else if self.head_since.load(Relaxed) == 0 {
            self.head_since.store(self.clock.load(Relaxed), Relaxed);
        }
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
        let now = self.0.clock.load(Relaxed);
        self.0.last_activity.store(now, Relaxed);
        // The next head may have begun while this answer was made; its time counts from now.
        if self.0.head_since.load(Relaxed) != 0 {
            self.0.head_since.store(now, Relaxed);
        }
        if self.0.busy.fetch_sub(1, Relaxed) == 1 {
            // The next answer is not measured by how this one was taken.
            self.0.reader_since.store(0, Relaxed);
            if self.0.half_closed_since.load(Relaxed) != 0
                && let Some(reader) = self.0.half_closed_reader.lock().take()
            {
                reader.wake();
            }
        }
    }
}

/// A stream that takes notes in its [`Connection`]: a socket, or what is above one.
#[derive(Debug)]
pub(crate) struct Watched<S> {
    stream: S,
    connection: Arc<Connection>,
    framing: Framing,
    lingering: Option<Lingering>,
}

/// What happens between the end of the last answer and the closing of the socket: what the client still sends is read, then
/// it is sent our end of the stream, and then there is a moment for its own. Our end comes second because a client may
/// take it as a reason to fail its writing (Node.js does, with EPIPE), and look at no answer then.
#[derive(Debug)]
struct Lingering {
    /// Fires when the times below may have passed.
    timer: Pin<Box<tokio::time::Sleep>>,
    /// When the reading ends in any case.
    end: tokio::time::Instant,
    last_read: tokio::time::Instant,
    /// Bytes that were read.
    drained: u64,
    /// Our end of the stream was sent.
    has_ended: bool,
}

impl Lingering {
    fn new() -> Lingering {
        let now = tokio::time::Instant::now();
        Lingering {
            timer: Box::pin(tokio::time::sleep_until(now + LINGER_QUIET)),
            end: now + LINGER_TIME_MAX,
            last_read: now,
            drained: 0,
            has_ended: false,
        }
    }

    /// Our end of the stream was sent.
    fn ends(&mut self) {
        let now = tokio::time::Instant::now();
        self.has_ended = true;
        (self.end, self.last_read) = (now + LINGER_AFTER_END, now);
        self.timer.as_mut().reset(self.end);
    }

    /// Reads until the client ends its half (true), or time is over (false).
    fn poll_drain(&mut self, stream: &mut (impl AsyncRead + Unpin), cx: &mut Context<'_>) -> Poll<bool> {
        let mut bytes = [0; 16 << 10];
        loop {
            // Looked at first: where bytes never run out, a task's budget is spent on reading alone.
            if self.timer.as_mut().poll(cx).is_ready() {
                let due = self.end.min(self.last_read + LINGER_QUIET);
                if due <= tokio::time::Instant::now() {
                    return Poll::Ready(false);
                }
                self.timer.as_mut().reset(due);
                continue;
            }
            let mut read = ReadBuf::new(&mut bytes);
            match Pin::new(&mut *stream).poll_read(cx, &mut read) {
                Poll::Ready(Ok(())) if !read.filled().is_empty() => {
                    self.last_read = tokio::time::Instant::now();
                    self.drained += read.filled().len() as u64;
                    if self.drained > LINGER_SIZE_MAX {
                        return Poll::Ready(false);
                    }
                }
                Poll::Ready(_) => return Poll::Ready(true),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl<S> Watched<S> {
    pub(crate) fn new(stream: S, connection: Arc<Connection>) -> Watched<S> {
        Watched { stream, connection, framing: Framing::default(), lingering: None }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        let polled = Pin::new(&mut this.stream).poll_read(cx, buf);
        let read = buf.filled().get(before..).unwrap_or_default();
        let now = this.connection.clock.load(Relaxed);
        if read.is_empty() {
            if matches!(polled, Poll::Ready(Ok(()))) && this.connection.waits_for_answer(&this.framing) {
                // It gets its answer all the same, if that comes soon: see `is_expired`.
                *this.connection.half_closed_reader.lock() = Some(cx.waker().clone());
                let _ = this.connection.half_closed_since.compare_exchange(0, now, Relaxed, Relaxed);
                return Poll::Pending;
            }
        } else {
            this.connection.last_activity.store(now, Relaxed);
            if !this.connection.is_upgraded.load(Relaxed) {
                let size = read.len();
                this.framing.read(read);
                this.connection.note_read(&this.framing, size);
            }
        }
        polled
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Watched<S> {
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
        if this.lingering.is_none() && !this.connection.has_more_to_come() {
            return Pin::new(&mut this.stream).poll_shutdown(cx);
        }
        let lingering = match &mut this.lingering {
            Some(lingering) => lingering,
            None => {
                let mut lingering = Lingering::new();
                // Only a client in the middle of a body goes on sending. Others would wait for our end for nothing.
                if !this.connection.is_refused.load(Relaxed) {
                    std::task::ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
                    lingering.ends();
                }
                this.lingering.insert(lingering)
            }
        };
        loop {
            let is_over = std::task::ready!(lingering.poll_drain(&mut this.stream, cx));
            if lingering.has_ended {
                return Poll::Ready(Ok(()));
            }
            std::task::ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            if is_over {
                return Poll::Ready(Ok(()));
            }
            lingering.ends();
        }
    }
}

impl<S> Watched<S> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn an_address_has_a_share_of_the_places_for_clients_that_are_not_known() {
        let connections = Arc::new(Connections::new());
        let admit = |address: &str, is_known| connections.admit(address.parse().unwrap(), is_known, 16);
        let mut held: Vec<Admitted> = (0..9).map(|_| admit("10.0.0.1", false).unwrap()).collect();
        // More than half of the places are taken.
        assert!(admit("10.0.0.1", false).is_none() && connections.open_count.load(Relaxed) == 9);
        let other = [admit("2001:db8::1", false).unwrap(), admit("2001:db8::2", false).unwrap()];
        assert!(admit("2001:db8::3", false).is_none() && admit("2001:db8::3", true).is_some());
        // Who is known counts no longer.
        held.iter().take(8).for_each(|admitted| admitted.connection.is_identified());
        held.push(admit("10.0.0.1", false).unwrap());
        assert!(admit("10.0.0.1", false).is_none());
        drop((held, other));
        assert_eq!(connections.open_count.load(Relaxed), 0);
    }

    #[test]
    fn heads_of_clients_that_are_not_known_are_counted_together() {
        let connections = Arc::new(Connections::new());
        let admit = || connections.admit(LOCAL, false, 10).unwrap();
        let (one, other) = (admit(), admit());
        assert!(
            one.connection.count_head(UNKNOWN_HEADS_SIZE_MAX) && other.connection.count_head(UNKNOWN_HEAD_FREE_SIZE)
        );
        assert!(!other.connection.count_head(UNKNOWN_HEAD_FREE_SIZE + 1));
        one.connection.count_head(0);
        assert!(other.connection.count_head(UNKNOWN_HEADS_SIZE_MAX));
        other.connection.is_identified();
        assert_eq!(connections.unknown_heads.load(Relaxed), 0);
        one.connection.count_head(10_000);
        drop((one, other));
        assert_eq!(connections.unknown_heads.load(Relaxed), 0);
    }

    #[test]
    fn a_handshake_has_the_time_of_a_head() {
        let limits = Limits::default();
        let connections = Arc::new(Connections::new());
        let admitted = connections.admit(LOCAL, true, 1).unwrap();
        let connection = &admitted.connection;
        connection.handshake_begins();
        assert!(!connection.is_expired(15_001, &limits));
        assert!(connection.is_expired(15_002, &limits));
        connection.handshake_ends();
        assert!(!connection.is_expired(15_002, &limits));
    }

    #[test]
    fn deadlines_follow_what_the_connection_does() {
        let limits = Limits::default();
        let connections = Arc::new(Connections::new());
        let admitted = connections.admit(LOCAL, true, 1).unwrap();
        assert!(connections.admit(LOCAL, true, 1).is_none());
        let connection = &admitted.connection;
        assert!(!connection.is_expired(120_000, &limits));
        assert!(connection.is_expired(120_002, &limits));
        connection.head_since.store(1, Relaxed);
        assert!(!connection.is_expired(15_001, &limits));
        assert!(connection.is_expired(15_002, &limits));
        let _begun = connection.request_begins();
        assert!(!connection.is_expired(1_000_000, &limits), "a long answer is not idle");
        connection.body_begins(BodyPace::Rate);
        connection.body_progress(256 * 30);
        assert!(!connection.is_expired(30_002, &limits), "just fast enough");
        connection.body_progress(256 * 30 - 1);
        assert!(connection.is_expired(60_003, &limits), "too slow");
    }
}
