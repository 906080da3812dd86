//! `/databases/{name}/indexes`: there are no indexes yet, and these answers say so.

use hyper::StatusCode;

use super::statistics::write_origin;
use crate::error::Result;
use crate::exchange::Exchange;
use crate::reply::{self, Reply};

/// All: none. One by name: not found.
pub(crate) fn list(exchange: &Exchange) -> Result<Reply> {
    let query = exchange.query();
    query.page_start().and(query.page_size())?;
    if query.get_nonempty("name").is_some() {
        return Ok(reply::empty(StatusCode::NOT_FOUND));
    }
    Ok(reply::object(StatusCode::OK, |json| {
        write_origin(json, exchange);
        json.name("Results").array(|_| {});
    }))
}

pub(crate) fn status(_: &Exchange) -> Result<Reply> {
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Status").string("Running").name("Indexes").array(|_| {});
    }))
}

/// What is asked of one index, of which there is none.
pub(crate) fn one(_: &Exchange) -> Result<Reply> {
    Ok(reply::empty(StatusCode::NOT_FOUND))
}

/// The same, with a page.
pub(crate) fn terms(exchange: &Exchange) -> Result<Reply> {
    exchange.query().page_size()?;
    one(exchange)
}
