//! `/databases/{name}/operations`: what goes on in the background, by number.
//!
//! GET `next-operation-id`; GET `state`: `id`, 404 if unknown; POST `kill`: `id`, 204.

use hyper::StatusCode;

use crate::error::{Error, Result};
use crate::exchange::Exchange;
use crate::reply::{self, Reply};

pub(crate) fn next_id(exchange: &Exchange) -> Result<Reply> {
    Ok(id_reply(exchange.database().operations().next_id()))
}

pub(crate) fn server_next_id(exchange: &Exchange) -> Result<Reply> {
    Ok(id_reply(exchange.node.databases.operations().next_id()))
}

fn id_reply(id: i64) -> Reply {
    reply::object(StatusCode::OK, |json| {
        json.name("Id").signed(id).name("NodeTag").string("A");
    })
}

pub(crate) fn state(exchange: &Exchange) -> Result<Reply> {
    Ok(state_reply(exchange.database().operations(), number(exchange)?))
}

pub(crate) async fn server_state(exchange: Exchange) -> Result<Reply> {
    Ok(state_reply(exchange.node.databases.operations(), number(&exchange)?))
}

fn state_reply(operations: &database::Operations, id: i64) -> Reply {
    let Some(operation) = operations.get(id) else { return reply::empty(StatusCode::NOT_FOUND) };
    let mut body = Vec::new();
    operation.write_state(&mut json::Writer::new(&mut body));
    reply::ok(body)
}

pub(crate) fn kill(exchange: &Exchange) -> Result<Reply> {
    let id = number(exchange)?;
    match exchange.database().operations().get(id) {
        Some(operation) => operation.cancel(),
        None => return Err(Error::Argument(format!("Operation {id} was not registered"))),
    }
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

fn number(exchange: &Exchange) -> Result<i64> {
    let id = exchange.required("id")?;
    id.parse().map_err(|_| Error::Argument(format!("Could not parse query string 'id' as a number: {id}")))
}
