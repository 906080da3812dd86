//! What a request answers that began an operation.

use hyper::StatusCode;

use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// The answer to a request that began an operation: 200 `{OperationId, OperationNodeTag}`.
pub(crate) fn begun(exchange: &Exchange, id: u64) -> Reply {
    reply::object(StatusCode::OK, |json| {
        json.name("OperationId").unsigned(id);
        json.name("OperationNodeTag").string(exchange.node.databases.node_tag());
    })
}
