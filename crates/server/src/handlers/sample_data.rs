//! `POST /databases/{name}/studio/sample-data`: the Northwind documents, into an empty database. 204.

use std::io::Read;

use hyper::StatusCode;

use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::exchange::Exchange;
use crate::reply::{self, Reply};

/// One document a line, with its id and collection in `@metadata`.
const NORTHWIND: &[u8] = include_bytes!("../../../../data-sets/northwind.jsonl.zst");

pub(crate) async fn create(exchange: Exchange) -> Result<Reply> {
    let database = exchange.database().clone();
    exchange
        .node
        .bridge
        .run(Pool::Short, move || {
            let mut lines = Vec::new();
            zstd::Decoder::with_buffer(NORTHWIND)
                .and_then(|mut decoder| decoder.read_to_end(&mut lines))
                .map_err(|error| Error::Encoding(format!("the sample data of this program: {error}")))?;
            database.load_sample_data(&lines)?;
            Ok(())
        })
        .await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}
