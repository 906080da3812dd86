//! `POST /databases/{name}/bulk_docs`: several commands in one transaction.
//!
//! 201 `{Results: [one per command]}`; nothing is applied when one fails (409 for a change vector that does not fit).
//! A body of several parts (`multipart`) has the contents of attachments behind the commands (`bulk_docs_form.rs`).
//! `waitForIndexesTimeout`, `waitForIndexThrow`, `waitForSpecificIndex`: 408 if indexes do not have the batch in time; it is applied all
//! the same.
//! With `TransactionMode: ClusterWide` in the body the commands are a cluster-wide transaction, which keeps atomic guards unless
//! `disableAtomicDocumentWrites` is true: 201 `{Results, TransactionIndex}`, 409 with `ConcurrencyViolations`.

use database::documents::{BulkDocs, ClusterTransaction, Feature, Write};
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName};

use super::attachments::submit_with;
use super::bulk_docs_form;
use super::indexes::IndexWait;
use crate::error::Result;
use crate::messages::query_string::QueryString;
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

const CLIENT_VERSION: HeaderName = HeaderName::from_static("raven-client-version");

/// With a single node, `majority` is satisfied at once.
fn waits_for_replicas(query: QueryString<'_>) -> Result<bool> {
    const COUNT: &str = "numberOfReplicasToWaitFor";
    if query.get(COUNT).is_some_and(|count| count.eq_ignore_ascii_case("majority")) {
        return Ok(false);
    }
    Ok(query.number(COUNT)?.is_some_and(|count| count > 0))
}

/// Whether the client is one that sends the index of an atomic guard with its next write: RavenDB's own from this version on, and one
/// that says no version. Others would be refused with the second cluster-wide write of a document.
fn knows_guards(headers: &HeaderMap) -> bool {
    const FIRST: (u32, u32) = (5, 2);
    let Some(version) = headers.get(CLIENT_VERSION).and_then(|version| version.to_str().ok()) else { return true };
    let mut parts = version.split('.').map_while(|part| part.parse().ok());
    parts.next().is_none_or(|major| (major, parts.next().unwrap_or(0)) >= FIRST)
}

pub(crate) async fn post(mut exchange: Exchange) -> Result<Reply> {
    let content_type = exchange.headers.get(CONTENT_TYPE).map(|value| value.as_bytes());
    let is_multipart = content_type
        .is_some_and(|value| value.get(..10).is_some_and(|start| start.eq_ignore_ascii_case(b"multipart/")));
    if waits_for_replicas(exchange.query())? {
        return Err(Feature::Replication.missing_for("waiting for other nodes ('numberOfReplicasToWaitFor')").into());
    }
    let index_wait = IndexWait::of(exchange.query())?;
    let has_guards = !exchange.query().is_true("disableAtomicDocumentWrites")? && knows_guards(&exchange.headers);
    let (commands, uploads) = match is_multipart {
        true => bulk_docs_form::read(&mut exchange, has_guards).await?,
        false => (exchange.parse_body(move |body| Ok(BulkDocs::parse(body, has_guards)?)).await?, Vec::new()),
    };
    let batch = match commands {
        BulkDocs::Batch(batch) => batch,
        BulkDocs::ClusterWide(transaction) => return cluster_wide(&exchange, transaction, index_wait).await,
    };
    if batch.is_empty() {
        return Ok(reply::json(StatusCode::CREATED, &b"{\"Results\":[]}"[..]));
    }
    let outcome = submit_with(&exchange, batch, uploads).await?;
    if let Some(index_wait) = index_wait {
        index_wait.wait(&exchange, &outcome).await?;
    }
    let mut body = Vec::with_capacity(16 + 160 * outcome.results.len());
    outcome.write(&mut json::Writer::new(&mut body));
    Ok(reply::json(StatusCode::CREATED, body))
}

async fn cluster_wide(
    exchange: &Exchange,
    transaction: ClusterTransaction,
    index_wait: Option<IndexWait>,
) -> Result<Reply> {
    let write = Write::ClusterTransaction(transaction);
    let answer = exchange.node.bridge.answer(|done| exchange.database().propose(write, done.into_call_back())).await?;
    let outcome = answer.transaction()?;
    if let Some(index_wait) = index_wait {
        index_wait.wait(exchange, &outcome.documents).await?;
    }
    let mut body = Vec::with_capacity(64 + 160 * outcome.documents.results.len());
    outcome.write(&mut json::Writer::new(&mut body));
    Ok(reply::json(StatusCode::CREATED, body))
}
