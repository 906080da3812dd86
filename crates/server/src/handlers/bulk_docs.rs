//! `POST /databases/{name}/bulk_docs`: several commands in one transaction.
//!
//! 201 `{Results: [one per command]}`; nothing is applied when one fails (409 for a change vector that does not fit).
//! Only the JSON form: `multipart` bodies carry attachments, which are not there yet.

use database::documents::Batch;
use hyper::StatusCode;
use hyper::header::CONTENT_TYPE;

use super::docs::submit;
use crate::error::{Error, Result};
use crate::exchange::Exchange;
use crate::reply::{self, Reply};

pub(crate) async fn post(mut exchange: Exchange) -> Result<Reply> {
    let content_type = exchange.headers.get(CONTENT_TYPE).map(|value| value.as_bytes());
    let is_multipart = content_type
        .is_some_and(|value| value.get(..10).is_some_and(|start| start.eq_ignore_ascii_case(b"multipart/")));
    if is_multipart {
        return Err(Error::not_supported("attachments (multipart batches)"));
    }
    let replicas = exchange.query().get_nonempty("numberOfReplicasToWaitFor");
    if replicas.is_some_and(|count| count != "0") {
        return Err(Error::not_supported("waiting for replication"));
    }
    let body = exchange.read_body().await?;
    let batch = Batch::from_bulk_docs(&body)?;
    drop(body);
    if batch.is_empty() {
        return Ok(reply::json(StatusCode::CREATED, &b"{\"Results\":[]}"[..]));
    }
    let outcome = submit(exchange.database(), batch).await?;
    let mut body = Vec::with_capacity(16 + 160 * outcome.results.len());
    outcome.write(&mut json::Writer::new(&mut body));
    Ok(reply::json(StatusCode::CREATED, body))
}
