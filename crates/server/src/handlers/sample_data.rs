//! `POST /databases/{name}/studio/sample-data`: the Northwind documents, into an empty database. 204.

use hyper::StatusCode;

use crate::error::Result;
use crate::exchange::Exchange;
use crate::reply::{self, Reply};

pub(crate) async fn create(exchange: Exchange) -> Result<Reply> {
    let database = exchange.database().clone();
    exchange.node.bridge.run(move || Ok(database.create_sample_data()?)).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}
