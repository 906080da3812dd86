//! The state that all requests of one server share.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Instant, SystemTime};

use hyper::header::HeaderValue;
use tokio::sync::{Semaphore, watch};

use crate::bells::Bells;
use crate::bridge::Bridge;
use crate::consumer_memory::ConsumerMemory;
use crate::database_opening::Openings;
use crate::feed::Feeds;
use crate::limits::Limits;
use crate::memory::Memory;
use crate::messages::answers::Answers;
use crate::monitoring::audit::AuditLog;
use crate::monitoring::latency::Latencies;
use crate::monitoring::log_control::LogControl;
use crate::monitoring::metrics::Metrics;
use crate::monitoring::recent_log::RecentLog;
use crate::monitoring::running::RunningQueries;
use crate::monitoring::slow::SlowRequests;
use crate::network::attempts::Attempts;
use crate::network::connection::Connections;
use crate::network::hosts::Hosts;
use crate::network::tls::Tls;
use crate::routing::internal::Dispatch;
use crate::setting::Setting;
use crate::traces::Traces;
use database::limits::REQUEST_MEMORY;

/// The version that clients are told. They parse `major.minor` and switch features by it: 5.2 atomic guards, 6.1
/// heartbeats in bulk inserts. It names the protocol that this server speaks; the header `Server` names the program.
pub const PROTOCOL_VERSION: &str = "7.1.5.71028";

/// The build number inside of [`PROTOCOL_VERSION`].
pub(crate) const PROTOCOL_BUILD: i64 = 71028;

/// What `Server` says.
pub(crate) const SERVER_NAME: &str = concat!("Rookery/", env!("CARGO_PKG_VERSION"));

/// The server as its handlers see it.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) databases: Arc<database::Databases>,
    /// The way of a handler to other routes.
    pub(crate) dispatch: &'static dyn Dispatch,
    pub(crate) openings: Openings,
    pub(crate) limits: Limits,
    pub(crate) bridge: Bridge,
    /// Places for messages of MCP clients: [`Limits::mcp_call_count`].
    pub(crate) mcp_calls: Arc<Semaphore>,
    /// Whether the tools of MCP that write are offered.
    pub(crate) mcp_writes_allowed: bool,
    /// What requests and indexing hold together.
    pub(crate) memory: Arc<Memory>,
    /// The share of that for request bodies.
    pub(crate) bodies: Arc<Memory>,
    /// The share of that for pages of change feeds and batches of subscriptions.
    pub(crate) consumers: ConsumerMemory,
    pub(crate) answers: Answers,
    pub(crate) connections: Arc<Connections>,
    /// Refusals of certificates and API keys.
    pub(crate) attempts: Attempts,
    /// Refusals of clients that sent neither.
    pub(crate) unidentified: Attempts,
    /// `None`: there is none.
    pub(crate) audit: Option<AuditLog>,
    pub(crate) metrics: Metrics,
    pub(crate) latencies: Latencies,
    pub(crate) slow: SlowRequests,
    pub(crate) running: Arc<RunningQueries>,
    pub(crate) log: Arc<RecentLog>,
    pub(crate) log_control: Arc<LogControl>,
    /// `None`: no spans are made.
    pub(crate) traces: Option<Traces>,
    /// True if the log has a line for each request.
    pub(crate) has_access_log: bool,
    /// The version control's name of the source that this program was built from, if it is known.
    pub(crate) commit: Option<String>,
    pub(crate) settings: Vec<Setting>,
    /// The folder of the databases; `None`: in memory.
    pub(crate) data_directory: Option<PathBuf>,
    pub(crate) feeds: Feeds,
    pub(crate) bells: Bells,
    /// The port for TCP connections; `None`: there is none.
    pub(crate) tcp_port: Option<u16>,
    /// The URL under which clients find it, where it cannot be told from their requests.
    pub(crate) public_tcp_url: Option<String>,
    /// The configuration of the traffic watch as JSON; `None` before it was set.
    pub(crate) traffic_watch: parking_lot::Mutex<Option<Vec<u8>>>,
    pub(crate) hosts: Hosts,
    /// The certificate, with which all listeners speak HTTPS; `None`: they speak HTTP.
    pub(crate) tls: Option<Tls>,
    /// An address that we listen on and that other machines may reach.
    pub(crate) reachable: Option<SocketAddr>,
    /// Where we listen, as a URL.
    pub(crate) url: String,
    /// Where clients should find us, if they cannot know it from their own request.
    pub(crate) public_url: Option<String>,
    pub(crate) started: Instant,
    pub(crate) started_at: SystemTime,
    pub(crate) request_count: AtomicU64,
    /// Becomes true when the server stops, for what outlives its request.
    pub(crate) stopped: watch::Receiver<bool>,
}

impl Node {
    /// The URL for TCP connections.
    ///
    /// * `own_url`: the one by which the client reached us.
    pub(crate) fn tcp_url(&self, own_url: &str) -> Option<String> {
        if let Some(url) = &self.public_tcp_url {
            return Some(url.clone());
        }
        let authority = own_url.split_once("://").map_or(own_url, |(_, authority)| authority);
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => host,
            _ => authority,
        };
        Some(format!("tcp://{host}:{}", self.tcp_port?))
    }

    /// What one query or operation may hold, as a part of what all of them may.
    pub(crate) fn memory_of_request(&self) -> Arc<Memory> {
        self.memory.part(REQUEST_MEMORY, self.limits.request_memory_size)
    }

    pub(crate) fn uptime_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The header by which clients choose their protocol.
    pub(crate) const fn version_header() -> HeaderValue {
        HeaderValue::from_static(PROTOCOL_VERSION)
    }

    pub(crate) const fn server_header() -> HeaderValue {
        HeaderValue::from_static(SERVER_NAME)
    }
}
