//! Expiration, refresh and archival of documents: `/databases/{name}/admin/{expiration,refresh,data-archival}/config`, and
//! `/databases/{name}/due`, which tells what is due next.

use database::documents::{DueKind, Snapshot};
use hyper::StatusCode;

use super::databases::request_id;
use crate::bridge::Pool;
use crate::error::Result;
use crate::limits::{DUE_PAGE, DUE_PAGE_MAX};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// POST `/databases/{name}/admin/expiration/config`: `{Disabled, DeleteFrequencyInSec, MaxItemsToProcess}`.
pub(crate) async fn put_expiration(exchange: Exchange) -> Result<Reply> {
    put(exchange, DueKind::Expiration).await
}

/// POST `/databases/{name}/admin/refresh/config`: `{Disabled, RefreshFrequencyInSec, MaxItemsToProcess}`.
pub(crate) async fn put_refresh(exchange: Exchange) -> Result<Reply> {
    put(exchange, DueKind::Refresh).await
}

/// POST `/databases/{name}/admin/data-archival/config`: `{Disabled, ArchiveFrequencyInSec, MaxItemsToProcess}`.
pub(crate) async fn put_archival(exchange: Exchange) -> Result<Reply> {
    put(exchange, DueKind::Archival).await
}

/// GET `/databases/{name}/due`: `pageSize`, 20 by default and [`DUE_PAGE_MAX`] at most. `{Now, Expiration, Refresh, DataArchival}`, each
/// `{Configuration, Handled, Due: [{Id, At}]}`: documents that are due or will be, the first ones first.
pub(crate) fn next(exchange: &Exchange) -> Result<Reply> {
    let count_max = exchange.query().number("pageSize")?.unwrap_or(DUE_PAGE).min(DUE_PAGE_MAX);
    let (databases, database) = (&exchange.node.databases, exchange.database());
    let record = databases.record(database.name())?;
    let counts = database.due_counts();
    let snapshot = database.read();
    let kinds = [
        ("Expiration", DueKind::Expiration, counts.expired),
        ("Refresh", DueKind::Refresh, counts.refreshed),
        ("DataArchival", DueKind::Archival, counts.archived),
    ];
    let mut due = Vec::with_capacity(kinds.len());
    for (_, kind, _) in kinds {
        due.push(due_documents(&snapshot, kind, count_max as usize)?);
    }
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Now").string(&databases.clock().now().to_string());
        for ((name, _, handled), due) in kinds.iter().zip(&due) {
            json.name(name).object(|json| {
                match record.value.get(name) {
                    Some(configuration) => configuration.write(json.name("Configuration")),
                    None => _ = json.name("Configuration").null(),
                }
                json.name("Handled").unsigned(*handled).name("Due").array(|json| {
                    for (id, at) in due {
                        json.object(|json| _ = json.name("Id").string(id).name("At").string(at));
                    }
                });
            });
        }
    }))
}

/// Ids as they are spelled, and times.
fn due_documents(snapshot: &Snapshot<'_>, kind: DueKind, count_max: usize) -> Result<Vec<(String, String)>> {
    let mut documents = Vec::new();
    for due in snapshot.due(kind, count_max)? {
        let id = snapshot.get(&due.id)?.map_or(due.id, |document| document.id().to_owned());
        documents.push((id, due.time.to_string()));
    }
    Ok(documents)
}

/// Sets a configuration. 200 `{RaftCommandIndex}`; 400 for one that means nothing.
async fn put(mut exchange: Exchange, kind: DueKind) -> Result<Reply> {
    let value = exchange.read_whole_object().await?;
    let name = exchange.database().name().to_owned();
    let request_id = request_id(&exchange);
    let databases = exchange.node.databases.clone();
    let change = move || Ok(databases.put_due_configuration(&name, kind, &value, request_id.as_deref())?);
    let index = exchange.node.bridge.run(Pool::Short, change).await?;
    Ok(reply::object(StatusCode::OK, |json| _ = json.name("RaftCommandIndex").unsigned(index)))
}
