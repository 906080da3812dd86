//! The queries that run, and ending one of them.
//!
//! `GET /databases/{name}/debug/queries/running`: `{"Auto/Orders/ByFreight":[{"QueryId","StartTime","Duration","QueryInfo",..}]}`.
//! `POST /databases/{name}/debug/queries/kill`: `indexName`, `id`; 204, or 404.
//! `GET /admin/running-queries`: those of all databases, as a list.

use database::time_span;
use hyper::StatusCode;
use json::Writer;

use crate::error::{Error, Result};
use crate::messages::date;
use crate::messages::reply::{self, Reply};
use crate::monitoring::running::RunningQuery;
use crate::routing::exchange::Exchange;

/// By the index that answers, the oldest first.
pub(crate) fn running(exchange: &Exchange) -> Result<Reply> {
    let mut queries = exchange.node.running.all(Some(exchange.database().name()));
    queries.sort_by(|one, other| (&one.index, one.id).cmp(&(&other.index, other.id)));
    Ok(reply::object(StatusCode::OK, |json| {
        for of_index in queries.chunk_by(|one, other| one.index == other.index) {
            json.name(&of_index[0].index).array(|json| {
                for query in of_index {
                    json.object(|json| write(json, query));
                }
            });
        }
    }))
}

/// All of the server, the oldest first.
pub(crate) fn running_on_server(exchange: &Exchange) -> Result<Reply> {
    let queries = exchange.node.running.all(exchange.query().get_nonempty("database").as_deref());
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Results").array(|json| {
            for query in &queries {
                json.object(|json| {
                    json.name("Database").string(&query.database);
                    write(json, query);
                });
            }
        });
    }))
}

/// A query without a bound on its page has this size, as in RavenDB.
const PAGE_SIZE_UNBOUNDED: u64 = i32::MAX as u64;

fn write(json: &mut Writer<'_>, query: &RunningQuery) {
    let duration = query.duration();
    json.name("QueryId").unsigned(query.id).name("IndexName").string(&query.index);
    json.name("StartTime").string(&date::wire(query.started_at));
    json.name("DurationInMs").unsigned(duration.as_millis() as u64);
    json.name("Duration").string(&time_span::text(duration)).name("IsStreaming").bool(query.is_stream);
    json.name("QueryInfo").object(|json| {
        json.name("Query").string(&query.text).name("Start").unsigned(query.skip);
        json.name("PageSize").unsigned(query.take.unwrap_or(PAGE_SIZE_UNBOUNDED));
    });
}

/// Ends one. Its client gets [`Error::QueryEnded`].
pub(crate) fn kill(exchange: &Exchange) -> Result<Reply> {
    let (index, id) = (exchange.required("indexName")?, exchange.required_number("id")?);
    let database = exchange.database().name();
    match exchange.node.running.end(database, &index, id) {
        true => Ok(reply::empty(StatusCode::NO_CONTENT)),
        false => Err(Error::NoRunningQuery { id, index: index.into_owned() }),
    }
}
