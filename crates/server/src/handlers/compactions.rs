//! Compaction of databases: operations of the server.
//!
//! POST `/admin/compact`: `{DatabaseName, Documents, Indexes, SkipOptimizeIndexes}`.

use database::compaction::CompactionRequest;
use json::Value;

use super::begun::begun;
use super::principals::{flag, refuse_unknown, text};
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::reply::Reply;
use crate::routing::exchange::Exchange;

/// Begins a compaction. 200 `{OperationId, OperationNodeTag}`.
pub(crate) async fn compact(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_whole_object().await?;
    let request = request(&body)?;
    let databases = exchange.node.databases.clone();
    // The database may have to be opened.
    let compaction = exchange.node.bridge.run(Pool::Short, move || Ok(databases.compact(None, request)?)).await?;
    let id = compaction.operation().id();
    // As long as it takes, on a thread of its own; its state says how it ended.
    std::thread::Builder::new()
        .name("compaction".to_owned())
        .spawn(move || drop(compaction.run()))
        .map_err(|error| Error::Panicked(format!("the thread of a compaction cannot be started: {error}")))?;
    Ok(begun(&exchange, id))
}

fn request(body: &Value) -> Result<CompactionRequest> {
    const KNOWN: [&str; 4] = ["DatabaseName", "Documents", "Indexes", "SkipOptimizeIndexes"];
    refuse_unknown(body, &KNOWN, "compaction")?;
    let not_names = || Error::Argument("'Indexes' must be an array of names of indexes".to_owned());
    let indexes = match body.get("Indexes") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(names)) => {
            names.iter().map(|name| name.as_str().map(str::to_owned).ok_or_else(not_names)).collect::<Result<_>>()?
        }
        Some(_) => return Err(not_names()),
    };
    // The indexes of RavenDB are merged before they are copied, unless this says not to. These have nothing to be merged.
    flag(body, "SkipOptimizeIndexes")?;
    Ok(CompactionRequest {
        name: text(body, "DatabaseName")?.unwrap_or_default().to_owned(),
        documents: flag(body, "Documents")?,
        indexes,
    })
}
