//! `/admin/databases/node`, `reorder` and `promote`: the nodes that have a database. The cluster is this node, so that they
//! accept what is so already and refuse the rest, with the messages of the reference.

use database::DatabaseRecord;
use hyper::StatusCode;
use json::Value;

use super::databases::{request_id, strings};
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// The record of the database that the parameter `name` names.
fn record(exchange: &Exchange) -> Result<std::sync::Arc<DatabaseRecord>> {
    Ok(exchange.node.databases.record(&exchange.required("name")?)?)
}

/// PUT `/admin/databases/node`: `name`, `node`. 400: the only node has the database already.
pub(crate) fn add(exchange: &Exchange) -> Result<Reply> {
    let record = record(exchange)?;
    let name = record.name();
    Err(Error::InvalidOperation(match exchange.query().get_nonempty("node") {
        None => format!("Database {name} already exists on all the nodes of the cluster"),
        Some(node) if node == exchange.node.databases.node_tag() => {
            format!("Can't add node {node} to {name} topology because it is already part of it")
        }
        Some(node) => format!(
            "Can't add node {node} to database '{name}' topology, because node {node} (which is in the new topology) is not part \
             of the cluster"
        ),
    }))
}

/// POST `/admin/databases/reorder`: `name`; body `{"MembersOrder":["A"],"Fixed"}`. 204. A fixed order becomes the topology's
/// `PriorityOrder`.
pub(crate) async fn reorder(mut exchange: Exchange) -> Result<Reply> {
    let name = record(&exchange)?.name().to_owned();
    let body = exchange.read_object().await?;
    let order = strings(&body, "MembersOrder")?;
    let own_tag = exchange.node.databases.node_tag();
    if order != [own_tag] {
        return Err(Error::Argument(format!(
            "The reordered list doesn't correspond to the existing nodes of the database group: it must be [\"{own_tag}\"]"
        )));
    }
    let priority = if body.get("Fixed").and_then(Value::as_bool) == Some(true) { order } else { Vec::new() };
    let request_id = request_id(&exchange);
    let databases = exchange.node.databases.clone();
    let change = move || Ok(databases.put_priority_order(&name, &priority, request_id.as_deref())?);
    exchange.node.bridge.run(Pool::Short, change).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// POST `/admin/databases/promote`: `name`, `node`. `{Name,RaftCommandIndex}`; this node is a member, and stays one.
pub(crate) fn promote(exchange: &Exchange) -> Result<Reply> {
    let (record, node) = (record(exchange)?, exchange.required("node")?);
    let own_tag = exchange.node.databases.node_tag();
    if node != own_tag {
        return Err(Error::InvalidOperation(format!("There is no node '{node}' in the cluster, only '{own_tag}'")));
    }
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Name").string(record.name()).name("RaftCommandIndex").unsigned(record.etag);
    }))
}
