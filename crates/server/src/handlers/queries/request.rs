//! The query of a request, and how fresh its index has to be.

use std::time::Duration;

use database::Database;
use database::limits::STALE_WAIT;
use database::queries::{Freshness, Query};
use database::time_span::{self, TIME_SPAN};
use hyper::StatusCode;
use query::plan::ProjectionBehavior;

use crate::error::{Error, Result};
use crate::node::Node;
use crate::routing::exchange::{Exchange, parse_object, parse_query};

/// A query with what its request says about how it is answered.
pub(crate) struct Request {
    pub(crate) query: Query,
    pub(crate) freshness: Freshness,
}

impl Request {
    /// Reads `query`, `start`, `pageSize` and how it is answered from a query string.
    pub(crate) fn of_address(exchange: &Exchange) -> Result<Request> {
        let query = exchange.query();
        let parsed =
            Request::parse(&exchange.node, exchange.database(), &query.get("query").unwrap_or_default(), None)?;
        let (mut query_of, mut freshness) = (parsed.refuse_update()?, Freshness::default());
        let plan = &mut query_of.plan;
        plan.page = plan.page.within(query.page_start()?, query.number("pageSize")?);
        if query.is_true("waitForNonStaleResults")? {
            freshness.stale_wait = Some(STALE_WAIT);
        }
        plan.keeps_repeats = query.is_true("skipDuplicateChecking")?;
        freshness.after_write = query.get_nonempty("waitForChangeVector").map(std::borrow::Cow::into_owned);
        Ok(Request { query: query_of, freshness })
    }

    /// Reads `{"Query":..,"QueryParameters":..,"WaitForNonStaleResults":..}` and what old clients add.
    pub(crate) fn of_body(node: &Node, database: &Database, body: &[u8]) -> Result<Request> {
        let body = parse_query(body)?;
        let text = body.get("Query").and_then(json::Value::as_str).unwrap_or_default();
        let parameters = body.get("QueryParameters");
        if !matches!(parameters, None | Some(json::Value::Null | json::Value::Object(_))) {
            return Err(Error::Argument("'QueryParameters' must be an object".to_owned()));
        }
        let mut query = Request::parse(node, database, text, parameters)?.refuse_update()?;
        let plan = &mut query.plan;
        let number = |name| match body.get(name) {
            None | Some(json::Value::Null) => Ok(None),
            Some(value) => match value.as_i64().and_then(|number| u64::try_from(number).ok()) {
                Some(number) => Ok(Some(number)),
                None => Err(Error::Argument(format!("'{name}' must be a whole number from 0 on"))),
            },
        };
        let take = number("PageSize")?.filter(|size| *size < i32::MAX as u64);
        plan.page = plan.page.within(number("Start")?.unwrap_or(0), take);
        plan.keeps_repeats = is_true(&body, "SkipDuplicateChecking")?;
        let after_write = match body.get("WaitForChangeVector") {
            None | Some(json::Value::Null) => None,
            Some(json::Value::String(vector)) => Some(vector.clone()),
            Some(_) => return Err(Error::Argument("'WaitForChangeVector' must be text".to_owned())),
        };
        if let Some(projection) = &mut plan.projection {
            projection.behavior = projection_behavior(&body)?;
        }
        if let Some(script) = &mut plan.script {
            script.behavior = projection_behavior(&body)?;
            if script.behavior.throws() {
                return Err(Error::not_supported("'ProjectionBehavior' that throws, beside JavaScript".to_owned()));
            }
        }
        let freshness = Freshness { stale_wait: stale_wait(&body)?, after_write, ..Freshness::default() };
        Ok(Request { query, freshness })
    }

    /// Parses the text of a query.
    pub(crate) fn parse(
        node: &Node,
        database: &Database,
        text: &str,
        parameters: Option<&json::Value>,
    ) -> Result<Query> {
        if text.trim().is_empty() {
            return Err(Error::InvalidOperation("Index query does not contain 'Query' field.".to_owned()));
        }
        if text.len() > node.limits.query_text_size {
            return Err(Error::Limit {
                status: StatusCode::PAYLOAD_TOO_LARGE,
                name: "Limits.QueryTextInKb",
                limit: (node.limits.query_text_size >> 10) as u64,
                what: "The text of the query",
            });
        }
        Ok(Query::parse_for(text, parameters, &database.read()).map_err(database::Error::from)?)
    }

    /// Reads `{"Query":{"Query":..,"QueryParameters":..}}`, whose query has to end with `update`.
    pub(crate) fn of_patch(node: &Node, database: &Database, body: &[u8]) -> Result<Request> {
        // A parameter may become part of a document, which has no numbers beyond a double.
        let body = parse_object(body).map_err(|error| match error {
            Error::Json(error) if error.reason == json::Reason::NumberOutOfRange => {
                Error::BadRequest(error.to_string())
            }
            error => error,
        })?;
        let Some(query @ json::Value::Object(_)) = body.get("Query") else {
            return Err(Error::BadRequest("Missing 'Query' property.".to_owned()));
        };
        let text = query.get("Query").and_then(json::Value::as_str).unwrap_or_default();
        let parameters = query.get("QueryParameters");
        if !matches!(parameters, None | Some(json::Value::Null | json::Value::Object(_))) {
            return Err(Error::Argument("'QueryParameters' must be an object".to_owned()));
        }
        let query = Request::parse(node, database, text, parameters)?.require_update()?;
        Ok(Request { query, freshness: Freshness::default() })
    }
}

fn projection_behavior(body: &json::Value) -> Result<ProjectionBehavior> {
    match body.get("ProjectionBehavior") {
        None | Some(json::Value::Null) => Ok(ProjectionBehavior::Default),
        Some(value) => value.as_str().and_then(ProjectionBehavior::of).ok_or_else(|| {
            Error::Argument(
                "'ProjectionBehavior' must be Default, FromIndex, FromIndexOrThrow, FromDocument or FromDocumentOrThrow"
                    .to_owned(),
            )
        }),
    }
}

fn is_true(body: &json::Value, name: &str) -> Result<bool> {
    match body.get(name) {
        None | Some(json::Value::Null) => Ok(false),
        Some(json::Value::Bool(is_true)) => Ok(*is_true),
        Some(_) => Err(Error::Argument(format!("'{name}' must be true or false"))),
    }
}

fn stale_wait(body: &json::Value) -> Result<Option<Duration>> {
    let wait = match body.get("WaitForNonStaleResultsTimeout") {
        None | Some(json::Value::Null) => STALE_WAIT,
        Some(value) => {
            let wait = match value {
                // The client for Node.js sends milliseconds, the others a time span.
                json::Value::Number(number) => number
                    .parse::<f64>()
                    .ok()
                    .and_then(|milliseconds| Duration::try_from_secs_f64(milliseconds.max(0.0) / 1000.0).ok()),
                _ => value.as_str().and_then(time_span::parse),
            };
            wait.ok_or_else(|| Error::Argument(format!("'WaitForNonStaleResultsTimeout' must be {TIME_SPAN}")))?
        }
    };
    Ok(is_true(body, "WaitForNonStaleResults")?.then_some(wait))
}
