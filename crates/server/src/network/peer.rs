//! Properties of a connection that the listener knows before its first request.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::SystemTime;

use crate::bridge::Owner;
use crate::certificates::certificate::Certificate;
use crate::monitoring::audit::{AuditEvent, AuditLog, AuditRecord};
use crate::routing::access::Identity;
use crate::routing::registry::Key;

/// How a request reached the server, and who sent it. Made by the listener, the same for all requests of a connection but those with
/// an API key or the cookie of the studio.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) scheme: Scheme,
    pub(crate) identity: Arc<Identity>,
    /// The API key of the request, if it has one that is valid.
    pub(crate) key: Option<Arc<Key>>,
    /// What the client sent, whether it is known or not.
    pub(crate) certificate: Option<Certificate>,
    /// Address and port of the client, or of the proxy before it, for the log.
    pub(crate) address: SocketAddr,
    /// The number of the connection.
    pub(crate) connection: u64,
}

impl Peer {
    /// The same client with other rights than its certificate's.
    pub(crate) fn with_identity(&self, identity: Identity) -> Peer {
        let Peer { scheme, address, connection, .. } = *self;
        Peer { scheme, identity: Arc::new(identity), certificate: None, key: None, address, connection }
    }

    /// Who has a share of the pools; `None` where clients are not told apart.
    pub(crate) fn owner(&self) -> Option<Owner> {
        match (&self.key, &self.certificate) {
            (Some(key), _) => Some(key.hash),
            (None, Some(certificate)) => Some(*certificate.public_key_hash()),
            (None, None) => None,
        }
    }

    /// By what the client is known, for people.
    pub(crate) fn principal(&self) -> String {
        match (&self.key, &self.certificate) {
            (Some(key), _) => format!("the API key '{}'", key.name),
            (None, Some(certificate)) => format!("the certificate {certificate}"),
            (None, None) if self.scheme == Scheme::Http => "anyone: the server has no HTTPS".to_owned(),
            (None, None) if self.identity.has_failed() => "an API key that is not accepted".to_owned(),
            (None, None) => "nothing".to_owned(),
        }
    }

    /// Records an event of this client in the audit log.
    ///
    /// * `request`: method, path with query, status.
    pub(crate) fn note(&self, audit: &AuditLog, event: AuditEvent, request: Option<(&str, &str, Option<u16>)>) {
        let (at, client, principal) = (SystemTime::now(), self.address.to_string(), self.principal());
        audit.note(&AuditRecord { at, event, client, principal, request });
    }
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
