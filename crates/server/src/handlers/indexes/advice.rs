//! `GET /databases/{name}/indexes/advice`: the index adviser.
//!
//! `unusedAfter`: a time span, a day if not given. `{Results: [{Index, Problem, Message, Action, Effect, Merge, Request}]}`; `Request` is
//! the request that carries the action out: `{Method, Path, Body}`, null where there is none.

use std::time::Duration;

use database::{Action, Advice};
use hyper::StatusCode;
use json::Writer;

use crate::bridge::Pool;
use crate::error::Result;
use crate::limits::ADVICE_UNUSED_AFTER;
use crate::messages::query_string::encode_segment;
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

pub(crate) async fn advice(exchange: Exchange) -> Result<Reply> {
    let unused_after: Duration = exchange.query().time_span("unusedAfter")?.unwrap_or(ADVICE_UNUSED_AFTER);
    let database = exchange.database().clone();
    let advise = move || Ok((database.indexes().advice(unused_after)?, database.name().to_owned()));
    let (advice, database) = exchange.node.bridge.run(Pool::Reads, advise).await?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Results").array(|json| advice.iter().for_each(|advice| write(advice, &database, json)));
    }))
}

fn write(advice: &Advice, database: &str, json: &mut Writer<'_>) {
    let Advice { index, problem, message, action, effect } = advice;
    json.object(|json| {
        json.name("Index").string(index).name("Problem").string(problem.name()).name("Message").string(message);
        json.name("Action").string(action_name(action)).name("Effect").string(effect);
        match action {
            Action::Merge { name, fields, replaced, query: _ } => json.name("Merge").object(|json| {
                json.name("Index").string(name);
                json.name("Fields").array(|json| fields.iter().for_each(|field| _ = json.string(field)));
                json.name("Replaced").array(|json| replaced.iter().for_each(|name| _ = json.string(name)));
            }),
            _ => json.name("Merge").null(),
        };
        let of_index = |method: &'static str, path: &str| {
            Some((
                method,
                format!("/databases/{}/{path}?name={}", encode_segment(database), encode_segment(index)),
                None,
            ))
        };
        let request = match action {
            Action::Delete => of_index("DELETE", "indexes"),
            Action::Reset => of_index("RESET", "indexes"),
            Action::ReadErrors => of_index("GET", "indexes/errors"),
            Action::ChangeDefinition => None,
            Action::Merge { query, .. } => query
                .as_ref()
                .map(|query| ("POST", format!("/databases/{}/queries", encode_segment(database)), Some(query))),
        };
        match request {
            None => json.name("Request").null(),
            Some((method, path, query)) => json.name("Request").object(|json| {
                json.name("Method").string(method).name("Path").string(&path);
                match query {
                    None => json.name("Body").null(),
                    Some(query) => json.name("Body").object(|json| _ = json.name("Query").string(query)),
                };
            }),
        };
    });
}

fn action_name(action: &Action) -> &'static str {
    match action {
        Action::Delete => "Delete",
        Action::Reset => "Reset",
        Action::ReadErrors => "ReadErrors",
        Action::ChangeDefinition => "ChangeDefinition",
        Action::Merge { .. } => "Merge",
    }
}
