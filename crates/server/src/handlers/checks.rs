//! The check of an open database: an operation of it.
//!
//! POST `/databases/*/admin/check`.

use database::CheckReport;
use json::Writer;

use super::begun::begun;
use crate::error::{Error, Result};
use crate::messages::reply::Reply;
use crate::routing::exchange::Exchange;

/// Begins a check of all pages, documents and indexes. 200 `{OperationId, OperationNodeTag}`.
pub(crate) async fn check(exchange: Exchange) -> Result<Reply> {
    let check = exchange.database().check(None)?;
    let id = check.operation().id();
    // As long as it takes, on a thread of its own; its state says how it ended.
    std::thread::Builder::new()
        .name("check".to_owned())
        .spawn(move || drop(check.run()))
        .map_err(|error| Error::Panicked(format!("the thread of a check cannot be started: {error}")))?;
    Ok(begun(&exchange, id))
}

/// `{ProblemCount, Parts: [{Index, Pages, Items, ProblemCount, Problems}]}`; the documents have no `Index`.
pub(crate) fn write_report(json: &mut Writer<'_>, report: &CheckReport) {
    json.name("ProblemCount").unsigned(report.problem_count()).name("Parts").array(|json| {
        for part in &report.parts {
            json.object(|json| {
                json.name("Index").optional_string(part.index.as_deref());
                json.name("Pages").unsigned(part.pages).name("Items").unsigned(part.items);
                json.name("ProblemCount").unsigned(part.problem_count);
                json.name("Problems").array(|json| part.problems.iter().for_each(|problem| _ = json.string(problem)));
            });
        }
    });
}
