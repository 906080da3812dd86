//! `GET /databases/{name}/healthcheck`: 204 while the database takes writes, else the error of those, which is 503. Clients poll it.

use hyper::StatusCode;

use crate::error::Result;
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

pub(crate) fn check(exchange: &Exchange) -> Result<Reply> {
    match exchange.database().failure() {
        Some(failure) => Err(failure.clone().into()),
        None => Ok(reply::empty(StatusCode::NO_CONTENT)),
    }
}
