//! Client configuration: for the server (`/configuration/client`), overridden by each database.

use hyper::StatusCode;
use json::Value;

use super::databases::request_id;
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// GET `/databases/{name}/configuration/client`. `Etag` is -2 while nothing is configured.
pub(crate) fn client(exchange: &Exchange) -> Result<Reply> {
    let configuration = exchange.node.databases.client_configuration_of(exchange.database().name())?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Etag").signed(configuration.etag);
        match &configuration.value {
            Some(value) => value.write(json.name("Configuration")),
            None => {
                json.name("Configuration").null();
            }
        }
    }))
}

/// GET `/configuration/client`: 404 while nothing is configured.
pub(crate) fn server_client(exchange: &Exchange) -> Result<Reply> {
    match &exchange.node.databases.client_configuration().value {
        Some(value) => Ok(reply::ok(value.to_vec())),
        None => Ok(reply::empty(StatusCode::NOT_FOUND)),
    }
}

/// Reads a configuration, of which the server obeys one property itself.
async fn read(exchange: &mut Exchange) -> Result<Value> {
    let value = exchange.read_whole_object().await?;
    let is_separator = |text: &str| text.chars().count() == 1 && text != "|";
    match value.get("IdentityPartsSeparator") {
        None | Some(Value::Null) => Ok(value),
        Some(Value::String(text)) if is_separator(text) => Ok(value),
        Some(_) => Err(Error::Argument("'IdentityPartsSeparator' must be one character other than '|'".to_owned())),
    }
}

/// PUT `/databases/{name}/admin/configuration/client`. 204.
pub(crate) async fn put_client(mut exchange: Exchange) -> Result<Reply> {
    let value = read(&mut exchange).await?;
    let name = exchange.database().name().to_owned();
    let request_id = request_id(&exchange);
    let databases = exchange.node.databases.clone();
    let change = move || Ok(databases.put_client_configuration_of(&name, &value, request_id.as_deref()).map(drop)?);
    exchange.node.bridge.run(Pool::Short, change).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// PUT `/admin/configuration/client`. 204.
pub(crate) async fn put_server_client(mut exchange: Exchange) -> Result<Reply> {
    let value = read(&mut exchange).await?;
    let request_id = request_id(&exchange);
    let databases = exchange.node.databases.clone();
    let change = move || Ok(databases.put_client_configuration(value, request_id.as_deref()).map(drop)?);
    exchange.node.bridge.run(Pool::Short, change).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}
