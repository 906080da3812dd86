//! Accepting connections and running HTTP/1.1 or the protocol of subscriptions on them, in clear text or over TLS.
//!
//! HTTP/2 is not offered: the deadlines of a connection ([`super::connection`]) are those of one request at a time, and all published
//! clients speak HTTP/1.1.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;

use super::connection::{Admitted, SWEEP_INTERVAL, Watched};
use super::handshake::{self, Accepted, HandshakeError};
use super::peer::{Peer, Scheme};
use crate::monitoring::audit::AuditEvent;
use crate::node::{Node, PROTOCOL_VERSION, SERVER_NAME};
use crate::routing::access::Identity;
use crate::routing::dispatch;
use crate::subscriptions;

/// How many connections the kernel holds for us while we are busy.
const BACKLOG: u32 = 1024;

/// How far a head may exceed our limit and still be read, so that its refusal says which limit that was: what the HTTP library
/// refuses itself gets a status and no words. In headers, and in bytes.
const HEAD_GRACE_COUNT: usize = 32;
const HEAD_GRACE_SIZE: usize = 32 << 10;

/// What a connection over the limit is told.
const TOO_MANY: &str = "{\"Url\":null,\"Type\":\"Raven.Client.Exceptions.RavenTimeoutException\",\
    \"Message\":\"There are more connections than the limit Limits.Connections allows\",\
    \"Error\":\"There are more connections than the limit Limits.Connections allows. Try again later\"}";

/// Opens the port.
pub(crate) fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// What is spoken on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// HTTP/1.1.
    Http,
    /// The messages of subscriptions: [`crate::subscriptions`].
    Subscriptions,
}

/// Accepts until told to stop.
pub(crate) async fn accept(
    listener: TcpListener,
    protocol: Protocol,
    node: Arc<Node>,
    mut stop: watch::Receiver<bool>,
) {
    let builder = Arc::new(http(&node));
    let mut failing: Option<Failing> = None;
    loop {
        let accepted = tokio::select! {
            biased;
            _ = stop.changed() => return,
            accepted = listener.accept() => accepted,
        };
        if let (Ok(_), Some(failing)) = (&accepted, failing.take_if(|_| accepted.is_ok())) {
            tracing::info!(failures = failing.count, "connections are accepted again");
        }
        match accepted {
            Ok((stream, address)) => {
                match node.connections.admit(address.ip(), node.tls.is_none(), node.limits.connection_count) {
                    Some(admitted) => {
                        let service = match protocol {
                            Protocol::Http => Service::Http(builder.clone()),
                            Protocol::Subscriptions => Service::Subscriptions,
                        };
                        tokio::spawn(begin(stream, address, admitted, node.clone(), service, stop.clone()));
                    }
                    None => {
                        node.metrics.connections_refused.fetch_add(1, Relaxed);
                        // What is in clear text means nothing to a client that speaks TLS.
                        if node.tls.is_none() && protocol == Protocol::Http {
                            tokio::spawn(refuse(stream));
                        }
                    }
                }
            }
            Err(error) => {
                // Out of descriptors, most likely: let some connections end first.
                if failing.as_ref().is_none_or(|failing| failing.kind != error.kind()) {
                    tracing::warn!(%error, "connections cannot be accepted");
                }
                let count = failing.map_or(0, |failing| failing.count) + 1;
                failing = Some(Failing { kind: error.kind(), count });
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// What serves a connection.
enum Service {
    Http(Arc<http1::Builder>),
    Subscriptions,
}

/// Why connections are not accepted for now, so that it is told when that begins, changes and ends.
struct Failing {
    kind: io::ErrorKind,
    count: u64,
}

async fn refuse(mut stream: TcpStream) {
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\
         Server: {SERVER_NAME}\r\nRaven-Server-Version: {PROTOCOL_VERSION}\r\n\
         Content-Type: application/json; charset=utf-8\r\nContent-Length: {}\r\n\r\n{TOO_MANY}",
        TOO_MANY.len()
    );
    let _ = tokio::time::timeout(Duration::from_secs(1), stream.write_all(answer.as_bytes())).await;
}

fn http(node: &Node) -> http1::Builder {
    let mut builder = http1::Builder::new();
    // No timer: deadlines are those of the sweeper, see `connection`.
    builder
        .max_headers(node.limits.header_count + HEAD_GRACE_COUNT)
        .max_buf_size(node.limits.header_block_size.max(64 << 10) + HEAD_GRACE_SIZE)
        // It shall look at the socket while an answer is made, to notice who is gone. A client that only ended its half of the
        // connection still gets its answer: `Watched` keeps that end from it for a while.
        .half_close(false);
    builder
}

/// A connection begins: who is at its other end, and what stream there is above the socket.
async fn begin(
    stream: TcpStream,
    address: SocketAddr,
    admitted: Admitted,
    node: Arc<Node>,
    service: Service,
    mut stop: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let Some(tls) = &node.tls else {
        let peer = Peer {
            scheme: Scheme::Http,
            identity: Arc::new(Identity::unsecured()),
            certificate: None,
            key: None,
            address,
            connection: admitted.number(),
        };
        return serve(stream, peer, admitted, node, service, stop).await;
    };
    let connection = &admitted.connection;
    connection.handshake_begins();
    let outcome = tokio::select! {
        biased;
        outcome = handshake::accept(tls, stream, connection) => outcome,
        () = connection.expired() => {
            node.metrics.connections_expired.fetch_add(1, Relaxed);
            Err(HandshakeError::Failed(io::ErrorKind::TimedOut.into()))
        }
        _ = stop.wait_for(|is_stopping| *is_stopping) => return,
    };
    match outcome {
        Ok(Accepted { stream, identity, certificate }) => {
            connection.handshake_ends();
            if !identity.is_unknown() {
                connection.is_identified();
            }
            node.metrics.handshakes.fetch_add(1, Relaxed);
            let (identity, connection) = (Arc::new(identity), admitted.number());
            let peer = Peer { scheme: Scheme::Https, identity, certificate, key: None, address, connection };
            serve(stream, peer, admitted, node, service, stop).await;
        }
        Err(HandshakeError::Nothing) => {}
        Err(error) => {
            node.metrics.handshakes_failed.fetch_add(1, Relaxed);
            tracing::debug!(%error, client = %address, "a TLS handshake failed");
        }
    }
}

/// Serves a connection, over any stream.
async fn serve<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
    stream: S,
    peer: Peer,
    admitted: Admitted,
    node: Arc<Node>,
    service: Service,
    stop: watch::Receiver<bool>,
) {
    match service {
        Service::Http(builder) => run(stream, peer, admitted, node, builder, stop).await,
        Service::Subscriptions => subscriptions::serve(node, stream, peer, admitted).await,
    }
}

/// Serves the requests of a connection, over any stream.
async fn run<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
    stream: S,
    peer: Peer,
    admitted: Admitted,
    node: Arc<Node>,
    builder: Arc<http1::Builder>,
    mut stop: watch::Receiver<bool>,
) {
    // Of others the log has what they are refused.
    if let Some(audit) = node.audit.as_ref().filter(|_| !peer.identity.is_unknown()) {
        peer.note(audit, AuditEvent::Connected, None);
    }
    let (peer, place) = (Arc::new(peer), Arc::new(admitted));
    let service = service_fn(|request| dispatch::serve(node.clone(), peer.clone(), place.clone(), request));
    let watched = TokioIo::new(Watched::new(stream, place.connection.clone()));
    let mut serving = std::pin::pin!(builder.serve_connection(watched, service).with_upgrades());
    let mut is_stopping = false;
    loop {
        tokio::select! {
            biased;
            ended = serving.as_mut() => return log_end(ended),
            () = place.connection.expired() => {
                node.metrics.connections_expired.fetch_add(1, Relaxed);
                return;
            }
            _ = stop.changed(), if !is_stopping => {
                is_stopping = true;
                serving.as_mut().graceful_shutdown();
            }
        }
    }
}

fn log_end(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Looks at the deadlines of all connections, for as long as there are some: also while the server stops.
pub(crate) async fn sweep(node: Arc<Node>) {
    let mut interval = tokio::time::interval(SWEEP_INTERVAL);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        node.connections.sweep(&node.limits);
        node.answers.cut_off_where_writers_wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::access::Access;
    use crate::server::{Options, Server};
    use tokio::io::AsyncReadExt;

    /// Status and body of the answer to one request, over a stream that is no socket.
    async fn call(node: &Arc<Node>, identity: &Identity, line: &str, body: &str) -> (u16, String) {
        let (mut client, stream) = tokio::io::duplex(64 << 10);
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        let identity = Arc::new(identity.clone());
        let admitted = node.connections.admit(address.ip(), true, node.limits.connection_count).unwrap();
        let connection = admitted.number();
        let peer = Peer { scheme: Scheme::Http, identity, certificate: None, key: None, address, connection };
        let serving = run(stream, peer, admitted, node.clone(), Arc::new(http(node)), node.stopped.clone());
        let serving = tokio::spawn(serving);
        let size = body.len();
        let request =
            format!("{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {size}\r\n\r\n{body}");
        client.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        drop(client);
        serving.await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    async fn server() -> Server {
        let addresses = vec![SocketAddr::from(([127, 0, 0, 1], 0))];
        let server = Server::start(Options { addresses, in_memory: true, ..Options::default() }).await.unwrap();
        for name in ["Ours", "Shared", "Theirs"] {
            server.node.databases.create(name, json::Value::object(), None).unwrap();
        }
        server
    }

    #[tokio::test]
    async fn an_identity_has_its_access_on_any_stream() {
        let server = server().await;
        let identity = Identity::user(&[("ours", Access::Admin), ("shared", Access::Read)]);
        for (line, body, status) in [
            ("GET /build/version", "", 200),
            ("GET /databases/OURS/stats", "", 200),
            ("GET /databases/ours/admin/record", "", 200),
            ("PUT /databases/ours/docs?id=a", "{}", 201),
            ("GET /databases/shared/stats", "", 200),
            ("PUT /databases/shared/docs?id=a", "{}", 403),
            ("GET /databases/shared/admin/record", "", 403),
            ("GET /databases/theirs/stats", "", 403),
            ("GET /databases/Th%65irs/stats", "", 403),
            // What is refused is no way to learn which databases there are, or what they lack.
            ("GET /databases/none/stats", "", 403),
            ("GET /databases/theirs/attachments", "", 403),
            ("GET /admin/databases?name=ours", "", 403),
            ("GET /metrics", "", 403),
            ("GET /topology?name=ours", "", 200),
            ("GET /topology?name=theirs", "", 403),
            ("GET /topology?name=none", "", 403),
        ] {
            let answer = call(&server.node, &identity, line, body).await;
            assert_eq!(answer.0, status, "{line}: {}", answer.1);
            let all = call(&server.node, &Identity::unsecured(), line, body).await;
            assert!(all.0 != 403, "{line}: {}", all.1);
        }
        let (status, refused) = call(&server.node, &identity, "PUT /databases/shared/docs?id=a", "{}").await;
        assert!(status == 403 && refused.contains("AuthorizationException"), "{refused}");
        assert!(refused.contains("'read and write' to the database 'shared'; the connection has 'read'"), "{refused}");
    }

    #[tokio::test]
    async fn a_request_inside_of_another_has_the_same_access() {
        let server = server().await;
        let identity = Identity::user(&[("ours", Access::ReadWrite)]);
        let inner = r#"{"Requests":[{"Url":"/databases/ours/stats"},{"Url":"/databases/theirs/stats"}]}"#;
        let (status, answer) = call(&server.node, &identity, "POST /databases/ours/multi_get", inner).await;
        let statuses: Vec<_> =
            answer.match_indices("\"StatusCode\":").map(|(at, name)| &answer[at + name.len()..][..3]).collect();
        assert_eq!((status, statuses), (200, vec!["200", "403"]), "{answer}");
    }

    #[tokio::test]
    async fn lists_of_databases_have_those_that_the_caller_may_read() {
        let server = server().await;
        let identity = Identity::user(&[("ours", Access::Admin), ("SHARED", Access::Read)]);
        let names = async |identity: &Identity, query: &str| {
            call(&server.node, identity, &format!("GET /databases?namesOnly=true{query}"), "").await.1
        };
        assert_eq!(names(&identity, "").await, r#"{"Databases":["Ours","Shared"]}"#);
        assert_eq!(names(&identity, "&start=1&pageSize=1").await, r#"{"Databases":["Shared"]}"#);
        assert_eq!(names(&Identity::user(&[]), "").await, r#"{"Databases":[]}"#);
        assert_eq!(names(&Identity::unsecured(), "").await, r#"{"Databases":["Ours","Shared","Theirs"]}"#);
        let (_, list) = call(&server.node, &identity, "GET /databases", "").await;
        let is_admin: Vec<_> =
            list.match_indices("\"IsAdmin\":").map(|(at, name)| &list[at + name.len()..][..4]).collect();
        assert_eq!(is_admin, ["true", "fals"], "{list}");
    }
}
