//! `/databases/{name}/admin/analyzers`, and `/admin/analyzers` for all databases of the node: custom analyzers.
//!
//! PUT: `{"Analyzers":[{"Name","Code"}]}`, with a class in C# as `Code`; 201. All are taken over, or none: 400 for code that is wrong, 501
//! for code that is not served. DELETE: `name`; 204, whether there is one or not.

use hyper::StatusCode;
use json::Value;

use super::databases::request_id;
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

const PROPERTY: &str = "Analyzers";

/// The definitions of a body.
async fn read(exchange: &mut Exchange) -> Result<Vec<Value>> {
    match exchange.read_whole_object().await?.remove(PROPERTY) {
        Some(Value::Array(definitions)) => Ok(definitions),
        Some(_) => Err(Error::Argument(format!("'{PROPERTY}' must be an array of definitions"))),
        None => Err(Error::Argument(format!("Request should have a property name '{PROPERTY}' which is mandatory."))),
    }
}

/// PUT `/databases/{name}/admin/analyzers`
pub(crate) async fn put(mut exchange: Exchange) -> Result<Reply> {
    let definitions = read(&mut exchange).await?;
    let (databases, request_id) = (exchange.node.databases.clone(), request_id(&exchange));
    let name = exchange.database().name().to_owned();
    let put = move || Ok(databases.put_analyzers(&name, &definitions, request_id.as_deref()).map(drop)?);
    exchange.node.bridge.run(Pool::Short, put).await?;
    Ok(reply::empty(StatusCode::CREATED))
}

/// DELETE `/databases/{name}/admin/analyzers`
pub(crate) async fn delete(exchange: Exchange) -> Result<Reply> {
    let analyzer = exchange.required("name")?.into_owned();
    let (databases, request_id) = (exchange.node.databases.clone(), request_id(&exchange));
    let name = exchange.database().name().to_owned();
    let delete = move || Ok(databases.delete_analyzer(&name, &analyzer, request_id.as_deref()).map(drop)?);
    exchange.node.bridge.run(Pool::Short, delete).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// PUT `/admin/analyzers`
pub(crate) async fn put_server_wide(mut exchange: Exchange) -> Result<Reply> {
    let definitions = read(&mut exchange).await?;
    let (databases, request_id) = (exchange.node.databases.clone(), request_id(&exchange));
    let put = move || Ok(databases.put_server_wide_analyzers(&definitions, request_id.as_deref()).map(drop)?);
    exchange.node.bridge.run(Pool::Short, put).await?;
    Ok(reply::empty(StatusCode::CREATED))
}

/// DELETE `/admin/analyzers`
pub(crate) async fn delete_server_wide(exchange: Exchange) -> Result<Reply> {
    let analyzer = exchange.required("name")?.into_owned();
    let (databases, request_id) = (exchange.node.databases.clone(), request_id(&exchange));
    let delete = move || Ok(databases.delete_server_wide_analyzer(&analyzer, request_id.as_deref()).map(drop)?);
    exchange.node.bridge.run(Pool::Short, delete).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}
