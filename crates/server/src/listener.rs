//! Accepting connections and running HTTP on them.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;

use crate::connection::{Admitted, SWEEP_INTERVAL, Watched};
use crate::dispatch;
use crate::node::Node;

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

/// Accepts until told to stop.
pub(crate) async fn accept(listener: TcpListener, node: Arc<Node>, mut stop: watch::Receiver<bool>) {
    let builder = Arc::new(http(&node));
    loop {
        let accepted = tokio::select! {
            biased;
            _ = stop.changed() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => match node.connections.admit(node.limits.connection_count) {
                Some(admitted) => {
                    tokio::spawn(run(stream, admitted, node.clone(), builder.clone(), stop.clone()));
                }
                None => {
                    node.metrics.connections_refused.fetch_add(1, Relaxed);
                    tokio::spawn(refuse(stream));
                }
            },
            Err(error) => {
                // Out of descriptors, most likely: let some connections end first.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn refuse(mut stream: TcpStream) {
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\
         Content-Type: application/json; charset=utf-8\r\nContent-Length: {}\r\n\r\n{TOO_MANY}",
        TOO_MANY.len()
    );
    let _ = tokio::time::timeout(Duration::from_secs(1), stream.write_all(answer.as_bytes())).await;
}

fn http(node: &Node) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    // No timer: deadlines are those of the sweeper, see `connection`.
    builder
        .http1()
        .max_headers(node.limits.header_count + HEAD_GRACE_COUNT)
        .max_buf_size(node.limits.header_block_size.max(64 << 10) + HEAD_GRACE_SIZE)
        // It shall look at the socket while an answer is made, to notice who is gone. A client that only ended its half of the
        // connection still gets its answer: `Watched` keeps that end from it for a while.
        .half_close(false);
    builder
        .http2()
        .max_header_list_size(u32::try_from(node.limits.header_block_size).unwrap_or(u32::MAX))
        .max_concurrent_streams(256);
    builder
}

async fn run(
    stream: TcpStream,
    admitted: Admitted,
    node: Arc<Node>,
    builder: Arc<auto::Builder<TokioExecutor>>,
    mut stop: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let place = Arc::new(admitted);
    let service = service_fn(|request| dispatch::serve(node.clone(), place.clone(), request));
    let watched = TokioIo::new(Watched::new(stream, place.connection.clone()));
    let mut serving = std::pin::pin!(builder.serve_connection_with_upgrades(watched, service));
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

fn log_end(ended: Result<(), Box<dyn std::error::Error + Send + Sync>>) {
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
