//! Connections: accepting them, TLS, what is known of their clients, where a request ends, and the deadlines.

pub(crate) mod attempts;
pub(crate) mod connection;
pub(crate) mod framing;
pub(crate) mod handshake;
pub(crate) mod hosts;
pub(crate) mod listener;
pub(crate) mod peer;
pub(crate) mod tls;
