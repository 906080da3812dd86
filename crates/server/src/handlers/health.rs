//! `GET /databases/{name}/healthcheck`: 204 while the database is there. Clients poll it.

use hyper::StatusCode;

use crate::error::Result;
use crate::exchange::Exchange;
use crate::reply::{self, Reply};

pub(crate) fn check(_: &Exchange) -> Result<Reply> {
    Ok(reply::empty(StatusCode::NO_CONTENT))
}
