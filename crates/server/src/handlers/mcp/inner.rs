//! Requests that tools make of the server's own routes, in the process: with their access, limits, and counters.

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode, Uri};
use json::Raw;

use super::outcome::ToolError;
use crate::error::Error;
use crate::limits::MCP_READ_SIZE_MAX;
use crate::memory::{self, MemoryReservation};
use crate::messages::reply::BodyPart;
use crate::network::peer::Peer;
use crate::node::Node;
use crate::routing::internal::InternalRequest;

/// Who calls a tool.
#[derive(Clone)]
pub(super) struct Caller {
    node: Arc<Node>,
    peer: Arc<Peer>,
}

/// The path and query string of a request, escaped: whatever is in a name stays in its place.
pub(super) struct Target(String);

impl Target {
    /// * `path`: fixed text.
    pub(super) fn new(path: &str) -> Target {
        Target(path.to_owned())
    }

    /// A path below a database.
    ///
    /// * `path`: fixed text, from `/` on.
    ///
    /// # Errors
    ///
    /// An empty name, which would be another path.
    pub(super) fn of_database(name: &str, path: &str) -> Result<Target, ToolError> {
        if name.is_empty() {
            return Err(ToolError::new("'database' must not be empty; list_databases lists the names".to_owned()));
        }
        Ok(Target(format!("/databases/{}{path}", escaped(name))))
    }

    /// The same with a parameter.
    pub(super) fn with(mut self, name: &str, value: &str) -> Target {
        let separator = if self.0.contains('?') { '&' } else { '?' };
        self.0.push_str(&format!("{separator}{name}={}", escaped(value)));
        self
    }
}

/// Escapes all that has a meaning in a path or a query string, and more.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        // A segment of dots alone is taken for a way through the path by whatever normalises it.
        if byte.is_ascii_alphanumeric() || b"-_".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

/// An answer of the server.
pub(super) struct Answered {
    pub(super) status: StatusCode,
    /// JSON, or nothing.
    pub(super) body: Bytes,
    /// The body goes on after what was read of it.
    pub(super) is_cut: bool,
}

impl Answered {
    /// The answer if its status is one of success.
    ///
    /// * `absent`: what a status of 404 without a body means.
    ///
    /// # Errors
    ///
    /// The message of the answer.
    pub(super) fn success(self, absent: impl FnOnce() -> String) -> Result<Answered, ToolError> {
        if self.status.is_success() {
            return Ok(self);
        }
        if self.body.is_empty() {
            let is_absent = self.status == StatusCode::NOT_FOUND;
            let text = if is_absent { absent() } else { format!("The server answered {}", self.status) };
            return Err(ToolError::new(text));
        }
        let message =
            Raw::new(&self.body).get("Message").and_then(|message| message.as_str().map(|text| text.into_owned()));
        Err(ToolError::new(message.unwrap_or_else(|| format!("The server answered {}", self.status))))
    }

    pub(super) fn json(&self) -> Raw<'_> {
        Raw::new(&self.body)
    }
}

impl Caller {
    pub(super) fn new(node: Arc<Node>, peer: Arc<Peer>) -> Caller {
        Caller { node, peer }
    }

    pub(super) fn writes_allowed(&self) -> bool {
        self.node.mcp_writes_allowed
    }

    pub(super) fn node(&self) -> &Arc<Node> {
        &self.node
    }

    /// GET.
    pub(super) async fn get(&self, target: Target) -> Result<Answered, ToolError> {
        self.send(Method::GET, target, None, Vec::new()).await
    }

    /// POST.
    pub(super) async fn post(&self, target: Target, body: Vec<u8>) -> Result<Answered, ToolError> {
        self.send(Method::POST, target, None, body).await
    }

    /// Any method.
    ///
    /// * `header`: one beside those that every request has.
    ///
    /// # Errors
    ///
    /// The request exceeds a limit of heads, or its answer broke off. Refusals are answers.
    pub(super) async fn send(
        &self,
        method: Method,
        target: Target,
        header: Option<(HeaderName, HeaderValue)>,
        body: Vec<u8>,
    ) -> Result<Answered, ToolError> {
        let uri: Uri = target.0.parse().map_err(|_| ToolError::new("An argument is too long".to_owned()))?;
        let headers: HeaderMap = header.into_iter().collect();
        let request = InternalRequest { method, uri, headers, body: Bytes::from(body) };
        let mut reply = request.send(&self.node, &self.peer).await.map_err(of_error)?;
        let status = reply.status();
        let Some(mut parts) = reply.body_mut().take_parts() else {
            let body = reply.body().as_whole().cloned().unwrap_or_default();
            return Ok(Answered { status, body, is_cut: false });
        };
        let (mut body, mut reservation): (Vec<u8>, MemoryReservation) = (Vec::new(), self.node.memory.reservation());
        let is_cut = loop {
            match parts.recv().await {
                Some(BodyPart::Bytes(part)) if body.len() + part.len() > MCP_READ_SIZE_MAX => break true,
                Some(BodyPart::Bytes(part)) => {
                    reservation
                        .grow(body.len() + part.len())
                        .map_err(|error| of_error(Error::Database(error.into())))?;
                    body.extend_from_slice(&part);
                }
                Some(BodyPart::End) => break false,
                None => {
                    return Err(ToolError::new("The server broke its answer off; its log has the reason".to_owned()));
                }
            }
        };
        // Whoever makes the rest of it stops here, where `reply` is dropped.
        Ok(Answered { status, body: memory::fill(reservation, body), is_cut })
    }
}

pub(super) fn of_error(error: Error) -> ToolError {
    ToolError::new(error.message())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_segment_and_a_value_one_parameter() {
        let target = Target::of_database("../x?y#z/%2e", "/docs").ok().unwrap().with("id", "a&b=c é").with("x", "");
        assert_eq!(target.0, "/databases/%2E%2E%2Fx%3Fy%23z%2F%252e/docs?id=a%26b%3Dc%20%C3%A9&x=");
        assert!(Target::of_database("", "/docs").is_err());
    }
}
