//! Requests that handlers make of other routes in this process, each with the access, the limits and the counters of its route.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use hyper::{HeaderMap, Method, Uri};

use super::exchange::Exchange;
use super::head_limits;
use crate::error::Result;
use crate::messages::body::RequestBody;
use crate::messages::reply::Reply;
use crate::network::peer::Peer;
use crate::node::Node;

/// Answers requests by the table of routes. The table imports every handler, so handlers reach it through `Node::dispatch`, which holds the
/// one implementation (`dispatch.rs`).
pub(crate) trait Dispatch: Debug + Send + Sync {
    /// Finds the handler, runs it, and makes an answer of its result.
    fn respond(&self, exchange: Exchange) -> Pin<Box<dyn Future<Output = Reply> + Send>>;

    /// True if a `multi_get` may contain such a request.
    fn may_be_in_multi_get(&self, method: &str, path: &str) -> bool;
}

/// A request that a handler makes of another route.
#[derive(Debug)]
pub(crate) struct InternalRequest {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl InternalRequest {
    /// Sends it with the rights of `peer`.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::error::Error::Limit): its head exceeds a limit. Refusals of the route are answers.
    pub(crate) async fn send(self, node: &Arc<Node>, peer: &Arc<Peer>) -> Result<Reply> {
        let InternalRequest { method, uri, headers, body } = self;
        head_limits::check(&node.limits, &uri, &headers)?;
        let exchange = Exchange {
            node: node.clone(),
            peer: peer.clone(),
            method,
            uri,
            headers,
            body: RequestBody::Whole(body),
            upgrade: None,
            database: None,
            tree: None,
        };
        Ok(node.dispatch.respond(exchange).await)
    }
}
