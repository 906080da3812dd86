//! Properties of a connection that the listener knows before its first request.

use std::fmt;
use std::net::SocketAddr;

use crate::certificates::certificate::Certificate;
use crate::routing::access::Identity;

/// How a connection reached the server, and who is at its other end. Made by the listener, the same for all requests of the connection.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) scheme: Scheme,
    pub(crate) identity: Identity,
    /// What the client sent, whether it is known or not.
    pub(crate) certificate: Option<Certificate>,
    /// Address and port of the client, or of the proxy before it, for the log.
    pub(crate) address: SocketAddr,
}

/// How a listener speaks with its clients, and so how its URLs begin: the one place that says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// HTTP in clear text.
    Http,
    /// HTTP over TLS.
    Https,
}

impl Scheme {
    /// The URL of a server.
    ///
    /// * `authority`: host and port.
    pub(crate) fn url(self, authority: impl fmt::Display) -> String {
        match self {
            Scheme::Http => format!("http://{authority}"),
            Scheme::Https => format!("https://{authority}"),
        }
    }
}
