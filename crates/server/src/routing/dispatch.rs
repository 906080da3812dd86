//! From a parsed head to an answer: limits of the head, route, access, database, handler, headers, compression.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, EXPECT, HOST, HeaderName, HeaderValue, SERVER, TRANSFER_ENCODING,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, StatusCode, Uri, Version};
use storage::limits::UNCOUNTED_SIZE;

use super::access;
use super::contained::Contained;
use super::exchange::{Exchange, Upgrade};
use super::head_limits;
use super::internal::Dispatch;
use super::keys;
use super::routes::{self, Handler, Match, Timing};
use super::urls::url_of;
use crate::database_opening;
use crate::error::{Error, Result, panicked};
use crate::handlers::{studio, topology};
use crate::limits::{CLOSING_WHOLE_SIZE, FAILED_ATTEMPT_DELAY, SHORT_WORK_SIZE, UNKNOWN_URL_SIZE_MAX};
use crate::memory;
use crate::messages::body::{IncomingBody, RequestBody, drain};
use crate::messages::compression;
use crate::messages::query_string::decode_segment;
use crate::messages::reply::Reply;
use crate::monitoring::audit::AuditEvent;
use crate::monitoring::slow::SlowRequest;
use crate::network::attempts::Attempt;
use crate::network::connection::{Admitted, RequestStart};
use crate::network::peer::Peer;
use crate::node::Node;
use crate::traces::{RecordedRequest, TraceContext, TraceId, trace_of};

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const RAVEN_SERVER_VERSION: HeaderName = HeaderName::from_static("raven-server-version");
const CLOSE: HeaderValue = HeaderValue::from_static("close");
const REFRESH_TOPOLOGY: HeaderName = HeaderName::from_static("refresh-topology");
const REFRESH_CLIENT_CONFIGURATION: HeaderName = HeaderName::from_static("refresh-client-configuration");
pub(crate) const TOPOLOGY_ETAG: HeaderName = HeaderName::from_static("topology-etag");
pub(crate) const CLIENT_CONFIGURATION_ETAG: HeaderName = HeaderName::from_static("client-configuration-etag");
const DATABASE_CLUSTER_TX_ID: HeaderName = HeaderName::from_static("database-cluster-tx-id");

/// The target of the lines of the access log, so that a logger can tell them from others.
pub const ACCESS_LOG: &str = "rookery::access";

/// Answers one request of a connection.
pub(crate) async fn serve(
    node: Arc<Node>,
    peer: Arc<Peer>,
    place: Arc<Admitted>,
    request: Request<Incoming>,
) -> std::result::Result<Reply, Infallible> {
    let connection = &place.connection;
    let access = node.has_access_log.then(|| AccessLine::of(&request, &peer));
    let RequestStart { busy, is_ambiguous } = connection.request_begins();
    let wish = compression::asked_for(request.headers());
    let has_wish = request.headers().contains_key(ACCEPT_ENCODING);
    let has_body = !request.body().is_end_stream();
    let may_chunk = request.version() == Version::HTTP_11;
    let is_last =
        request.headers().get(CONNECTION).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"close"));
    if has_body {
        connection.expect_rest();
    }
    // Such a client sends its body only when it is asked to, or not at all.
    let is_body_held_back = has_body && request.headers().contains_key(EXPECT);
    let (mut head, body) = request.into_parts();
    let sender =
        check_head(&node, &head, is_ambiguous).and_then(|()| keys::sender(&node, peer.clone(), connection, &head));
    let mut reply = match sender {
        Err(error) => {
            let mut reply = error.reply(&url_of(&head.uri));
            log_failure(&head.method, &head.uri, peer.address, &error, Duration::ZERO, trace_of(&head.headers));
            reply.headers_mut().insert(CONNECTION, CLOSE);
            reply
        }
        Ok(peer) => {
            let on_upgrade = head.extensions.remove::<hyper::upgrade::OnUpgrade>();
            // Kept for the audit log, and for who failed to identify itself: most requests need neither.
            let is_watched = node.audit.is_some() || peer.identity.is_unknown();
            let watched = is_watched.then(|| WatchedRequest {
                node: node.clone(),
                peer: peer.clone(),
                method: head.method.clone(),
                url: head.uri.clone(),
                is_answered: false,
            });
            let exchange = Exchange {
                upgrade: on_upgrade.map(|on_upgrade| Upgrade { on_upgrade, place: place.clone() }),
                node: node.clone(),
                peer,
                method: head.method,
                uri: head.uri,
                headers: head.headers,
                body: RequestBody::Incoming(IncomingBody::new(body, connection.clone())),
                database: None,
                tree: None,
            };
            let reply = respond(exchange).await;
            match watched {
                None => reply,
                Some(mut watched) => {
                    let attempt = watched.answered(&reply);
                    hold_back(&watched.peer, &watched.url, reply, attempt).await
                }
            }
        }
    };
    if has_body && let Some(rest) = connection.take_rest() {
        let has_ended = !is_body_held_back && !reply.headers().contains_key(CONNECTION) && drain(rest).await;
        if !has_ended {
            reply.headers_mut().insert(CONNECTION, CLOSE);
        }
    }
    let size = reply.body().as_whole().map_or(0, Bytes::len);
    if has_wish && size > SHORT_WORK_SIZE {
        compression::apply_on_pool(&mut reply, wish, &node.bridge).await;
    } else if has_wish {
        compression::apply(&mut reply, wish);
    }
    hold(&node, &mut reply);
    // The client for Node.js asks for the connection's end each time. When that comes while its parser waits behind the last byte of
    // a body, `undici` fails outside of any promise and ends the process; behind the last byte of a chunk, its end is still to come.
    if is_last && may_chunk && reply.body().as_whole().is_some_and(|body| body.len() > CLOSING_WHOLE_SIZE) {
        reply.body_mut().set_chunked();
    }
    if reply.status() == StatusCode::SWITCHING_PROTOCOLS {
        connection.upgraded();
    } else if reply.headers().contains_key(CONNECTION) {
        connection.refused();
    }
    let headers = reply.headers_mut();
    headers.insert(RAVEN_SERVER_VERSION, Node::version_header());
    headers.insert(SERVER, Node::server_header());
    // No browser is to take an answer for a script or show it in another site's page.
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    node.metrics.answered(&reply);
    if let Some(access) = access {
        access.log(&reply);
    }
    reply.body_mut().keep_busy(busy);
    connection.answer_begins();
    Ok(reply)
}

/// A request that the audit log may need, or whose client may have failed to identify itself. When its client closes the connection before
/// the answer, it is dropped, and what it has begun goes on.
struct WatchedRequest {
    node: Arc<Node>,
    peer: Arc<Peer>,
    method: Method,
    url: Uri,
    is_answered: bool,
}

impl WatchedRequest {
    /// Counts and records the answer.
    fn answered(&mut self, reply: &Reply) -> Attempt {
        self.is_answered = true;
        let attempt = count_refusal(&self.node, &self.peer, reply);
        self.note(Some(reply.status()), attempt);
        attempt
    }

    /// Records a request that was refused, or that changes what decides over data and access. Of the refusals of an address beyond its
    /// limit the first one alone is recorded in each window: all of them would fill the disk.
    ///
    /// * `status`: `None`: it was not answered.
    fn note(&self, status: Option<StatusCode>, attempt: Attempt) {
        let Some(audit) = &self.node.audit else { return };
        let is_audited = routes::is_audited(self.method.as_str(), self.url.path());
        let event = match status {
            Some(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => match attempt {
                Attempt::Allowed => AuditEvent::Refused,
                Attempt::FirstOver => AuditEvent::HeldBack,
                Attempt::Over => return,
            },
            Some(_) if is_audited => AuditEvent::Changed,
            None if is_audited => AuditEvent::Abandoned,
            _ => return,
        };
        let mut url = url_of(&self.url);
        if self.peer.identity.is_unknown() {
            // Its length is the client's choice.
            url.truncate(url.floor_char_boundary(UNKNOWN_URL_SIZE_MAX));
        }
        self.peer.note(audit, event, Some((self.method.as_str(), &url, status.map(|status| status.as_u16()))));
    }
}

impl Drop for WatchedRequest {
    fn drop(&mut self) {
        if !self.is_answered {
            self.note(None, Attempt::Allowed);
        }
    }
}

/// Counts a refusal of a client that the server does not know, by its address.
fn count_refusal(node: &Node, peer: &Peer, reply: &Reply) -> Attempt {
    let is_refusal = matches!(reply.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if !peer.identity.is_unknown() || !is_refusal {
        return Attempt::Allowed;
    }
    let attempts = if peer.identity.has_failed() {
        node.metrics.identifications_failed.fetch_add(1, Relaxed);
        &node.attempts
    } else {
        &node.unidentified
    };
    attempts.failed(peer.address.ip(), node.limits.failed_attempt_count, Instant::now())
}

/// Answers one refusal too many: late, and with nothing more, if the client has sent what is not accepted. Where it has sent nothing, as
/// browsers do before their users sign in, the end of the connection is what slows it down.
async fn hold_back(peer: &Peer, url: &Uri, mut reply: Reply, attempt: Attempt) -> Reply {
    if attempt == Attempt::Allowed {
        return reply;
    }
    if !peer.identity.has_failed() {
        reply.headers_mut().insert(CONNECTION, CLOSE);
        return reply;
    }
    tokio::time::sleep(FAILED_ATTEMPT_DELAY).await;
    Error::TooManyAttempts.reply(&url_of(url))
}

/// Counts a large answer until it is sent.
fn hold(node: &Node, reply: &mut Reply) {
    if let Some(body) = reply.body().as_whole().filter(|body| body.len() > UNCOUNTED_SIZE).cloned() {
        reply.body_mut().set_whole(memory::hold(&node.memory, body));
    }
}

fn check_head(node: &Node, head: &hyper::http::request::Parts, is_ambiguous: bool) -> Result<()> {
    if is_ambiguous {
        return Err(Error::Malformed(
            "A line of the head ends without CR, or the length of the body can be told in two ways (RFC 9112, 2.2 and 6.1)",
        ));
    }
    let mut encodings = head.headers.get_all(TRANSFER_ENCODING).iter();
    let encoding = encodings.next();
    if encoding.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"chunked"))
        || encodings.next().is_some()
    {
        return Err(Error::Malformed("The only Transfer-Encoding that is understood is 'chunked'"));
    }
    let host_count = head.headers.get_all(HOST).iter().count();
    if host_count > 1 || (host_count == 0 && head.version == Version::HTTP_11) {
        return Err(Error::Malformed("A request has one Host header (RFC 9112, 3.2)"));
    }
    head_limits::check(&node.limits, &head.uri, &head.headers)?;
    if let Some(authority) = head.uri.authority() {
        node.hosts.check_target(authority.as_str())?;
    }
    node.hosts.check(&head.headers, studio::is_page(&head.method, head.uri.path()))
}

/// Finds the handler, runs it, and makes an answer of what comes out, whatever that is.
pub(crate) async fn respond(mut exchange: Exchange) -> Reply {
    let started = Instant::now();
    let node = exchange.node.clone();
    node.request_count.fetch_add(1, Relaxed);
    let (url, method, client) = (exchange.uri.clone(), exchange.method.clone(), exchange.peer.address);
    let caller = TraceContext::of(&exchange.headers);
    // The wish of a client that is not known would displace the spans of others.
    let wish = caller.filter(|_| !exchange.peer.identity.is_unknown());
    let recording = node.traces.as_ref().filter(|_| !exchange.is_inner()).and_then(|traces| traces.begin(wish));
    let recorded = recording.map(|recording| (recording, exchange.peer.clone()));
    let trace = caller.map(|caller| caller.trace);
    let route = routes::find(exchange.method.as_str(), exchange.uri.path());
    let path = route.as_ref().map(|found| found.route.path);
    let timing = route.as_ref().map_or(Timing::ClientPaced, |found| found.route.timing);
    let name = route.as_ref().and_then(|found| found.database.clone());
    let write = route.as_ref().and_then(|found| found.route.write());
    let prepared = prepare(&mut exchange, route).await;
    let stale = Stale::of(&exchange);
    let outcome = match prepared {
        Err(error) => Err(error),
        Ok(handler) => match handler {
            Handler::Now(handler) => {
                catch_unwind(AssertUnwindSafe(|| handler(&exchange))).unwrap_or_else(|panic| Err(panicked(&*panic)))
            }
            Handler::Maybe(simple, handler) => {
                let attempt = catch_unwind(AssertUnwindSafe(|| simple(&exchange)));
                match attempt.unwrap_or_else(|panic| Err(panicked(&*panic))).transpose() {
                    Some(answered) => answered,
                    None => Contained(handler(exchange)).await,
                }
            }
            Handler::Later(handler) => Contained(handler(exchange)).await,
            Handler::Missing(feature) => Err(feature.missing().into()),
        },
    };
    let mut reply = outcome.unwrap_or_else(|error| {
        log_failure(&method, &url, client, &error, started.elapsed(), trace);
        error.reply_to(&url_of(&url), write)
    });
    let headers = reply.headers_mut();
    if let Some(transaction_id) = stale.transaction_id {
        headers.insert(DATABASE_CLUSTER_TX_ID, transaction_id);
    }
    if stale.is_topology {
        headers.insert(REFRESH_TOPOLOGY, HeaderValue::from_static("true"));
    }
    if stale.is_configuration {
        headers.insert(REFRESH_CLIENT_CONFIGURATION, HeaderValue::from_static("true"));
    }
    if let (Some((recording, peer)), Some(traces)) = (recorded, &node.traces) {
        let database = name.clone().map(|place| decode_segment(&url.path()[place]).into_owned());
        let request = RecordedRequest {
            method: &method,
            url: &url,
            route: path,
            database: database.as_deref(),
            peer: &peer,
            duration: started.elapsed(),
        };
        traces.end(recording, &request, &reply);
    }
    if timing != Timing::ClientPaced {
        let duration = started.elapsed();
        let durations = if write.is_some() { &node.latencies.writes } else { &node.latencies.reads };
        durations.note(duration);
        if timing == Timing::Logged && node.slow.is_slow(duration) {
            node.slow.note(SlowRequest {
                at: SystemTime::now(),
                duration,
                method,
                url: url_of(&url),
                database: name.map(|place| decode_segment(&url.path()[place]).into_owned()),
                query: None,
                status: Some(reply.status()),
                trace,
            });
        }
    }
    reply
}

/// Has the log know of a failed request: bugs and refusals of the system always, the rest where `Log.Level` is `debug`.
fn log_failure(
    method: &Method,
    uri: &Uri,
    client: SocketAddr,
    error: &Error,
    duration: Duration,
    trace: Option<TraceId>,
) {
    let trace_id = trace.map(tracing::field::display);
    if let Error::Panicked(panic) = error {
        tracing::error!(panic, %method, url = url_of(uri), %client, trace_id, "a request met a bug");
    } else if error.is_io() {
        // Which file it was is not for the client.
        tracing::warn!(%error, %method, url = url_of(uri), %client, trace_id, "a request failed");
    } else {
        tracing::debug!(
            %method,
            url = url_of(uri),
            status = error.status().as_u16(),
            cause = error.cause().name(),
            reason = error.text(),
            %client,
            duration_ms = milliseconds(duration),
            trace_id,
            "a request failed"
        );
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}

/// A line of the access log, from the head of a request to its answer.
struct AccessLine {
    started: Instant,
    method: Method,
    uri: Uri,
    client: SocketAddr,
    trace: Option<TraceId>,
}

impl AccessLine {
    fn of(request: &Request<Incoming>, peer: &Peer) -> AccessLine {
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let trace = trace_of(request.headers());
        AccessLine { started: Instant::now(), method, uri, client: peer.address, trace }
    }

    fn log(self, reply: &Reply) {
        // The size of a streamed answer is not known yet; then the line has no `size`.
        let size = reply.body().as_whole().map(|body| body.len() as u64);
        tracing::info!(
            target: ACCESS_LOG,
            method = %self.method,
            url = url_of(&self.uri),
            status = reply.status().as_u16(),
            size,
            client = %self.client,
            duration_ms = milliseconds(self.started.elapsed()),
            trace_id = self.trace.map(tracing::field::display),
            "request"
        );
    }
}

/// What the answers of a database carry besides: its transaction id, and what the client should read again.
#[derive(Default)]
struct Stale {
    transaction_id: Option<HeaderValue>,
    is_topology: bool,
    is_configuration: bool,
}

impl Stale {
    fn of(exchange: &Exchange) -> Stale {
        let Some(database) = &exchange.database else { return Stale::default() };
        let databases = &exchange.node.databases;
        // It may have been deleted since it was found.
        let Ok(record) = databases.record(database.name()) else { return Stale::default() };
        // A client that says nothing, or nothing we can read, holds what it holds.
        let is_older = |name, now: i64| exchange.etag_header(name).is_some_and(|etag| etag < now);
        Stale {
            transaction_id: HeaderValue::from_str(record.cluster_transaction_id()).ok(),
            is_topology: is_older(&TOPOLOGY_ETAG, topology::etag(&record)),
            is_configuration: exchange.headers.contains_key(&CLIENT_CONFIGURATION_ETAG)
                && databases.client_configuration_of(database.name()).is_ok_and(|configuration| {
                    configuration.value.is_some()
                        && exchange.etag_header(&CLIENT_CONFIGURATION_ETAG).unwrap_or(-2) < configuration.etag
                }),
        }
    }
}

/// Access and database of a request, and what answers it.
async fn prepare(exchange: &mut Exchange, route: Option<Match>) -> Result<&'static Handler> {
    let path = exchange.uri.path();
    let Some(found) = route else {
        return Err(Error::RouteNotFound { method: exchange.method.to_string(), path: path.to_owned() });
    };
    let name = found.database.map(|place| decode_segment(&path[place]));
    access::check(&exchange.peer.identity, found.route.access, name.as_deref())?;
    exchange.query().check_ids()?;
    if let Some(name) = name {
        let database = database_opening::find(&exchange.node, &name).await?;
        database.note_request();
        exchange.database = Some(database);
    }
    Ok(&found.route.handler)
}

/// The table of routes for requests that handlers make.
#[derive(Debug)]
pub(crate) struct Dispatcher;

impl Dispatch for Dispatcher {
    fn respond(&self, exchange: Exchange) -> Pin<Box<dyn Future<Output = Reply> + Send>> {
        Box::pin(respond(exchange))
    }

    fn may_be_in_multi_get(&self, method: &str, path: &str) -> bool {
        // What is missing is refused by its own name.
        routes::find(method, path).is_some_and(|found| found.route.in_multi_get || found.route.missing().is_some())
    }
}
