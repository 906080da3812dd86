//! `/mcp`: the Model Context Protocol over streamable HTTP, by which assistants look at databases and, if a setting allows it, change them.
//!
//! POST: one JSON-RPC message; 200 with the answer as JSON, or 202 for a notification. GET and DELETE: 405, since there are no sessions.
//!
//! The crate `rmcp` reads the messages, agrees on the version and checks the headers of the protocol; `handler` is its handler. The
//! HTTP is ours: `rmcp` gets the head and a body that was read here, within our limits, and its answer becomes a [`Reply`]. `table` lists
//! the tools, `arguments` checks what they are called with. A tool is a request or two to other routes (`inner`), each with the access of
//! that route, so that it has no code that reads databases. If the client leaves, the future of its message is dropped, and the request
//! with it.

mod arguments;
mod collections;
mod databases;
mod documentation;
mod documents;
mod handler;
mod indexes;
mod inner;
mod outcome;
mod queries;
mod rows;
mod shape;
mod table;

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request, Response};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::error::{Error, Result};
use crate::limits::{MCP_MESSAGE_SIZE_MAX, MCP_TREE_FACTOR};
use crate::messages::body::RequestBody;
use crate::messages::reply::{Reply, ReplyBody};
use crate::routing::exchange::Exchange;
use handler::Tools;
use inner::Caller;

/// Every method of `/mcp`.
pub(crate) async fn serve(mut exchange: Exchange) -> Result<Reply> {
    let node = exchange.node.clone();
    let body = match exchange.method {
        Method::POST => {
            let body = std::mem::replace(&mut exchange.body, RequestBody::empty());
            body.read_at_most(MCP_MESSAGE_SIZE_MAX, &exchange.headers, &node).await?
        }
        _ => Bytes::new(),
    };
    let _place = node.mcp_calls.clone().try_acquire_owned().map_err(|_| {
        let count = node.limits.mcp_call_count as u64;
        Error::Busy { threads: "Limits.McpCalls", count, limit: "Limits.McpCalls", value: count }
    })?;
    let mut tree = node.memory.reservation();
    tree.grow(body.len() * MCP_TREE_FACTOR)?;
    let tools = Tools::new(Caller::new(node, exchange.peer.clone()));
    let service =
        StreamableHttpService::new(move || Ok(tools.clone()), Arc::new(NeverSessionManager::default()), config());
    let mut request = Request::new(Full::new(body));
    (*request.method_mut(), *request.uri_mut()) = (exchange.method, exchange.uri);
    *request.headers_mut() = exchange.headers;
    let (head, body) = service.handle(request).await.into_parts();
    let Ok(body) = body.collect().await;
    Ok(Response::from_parts(head, ReplyBody::whole(body.to_bytes())))
}

/// Without sessions, and one JSON value as the answer. Host and origin were checked before, by the rules of the whole server (`hosts`).
fn config() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(None)
        .with_max_request_body_bytes(MCP_MESSAGE_SIZE_MAX)
        .disable_allowed_hosts()
}
