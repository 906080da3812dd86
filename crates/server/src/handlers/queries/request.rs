//! What a request asks for: the plan of its query, and whether it waits for an index.

use std::time::Duration;

use hyper::StatusCode;
use query::plan::{Parameters, Plan, ProjectionBehavior, Refused, ScriptForm};
use query::rql;

use crate::error::{Error, Result};
use crate::exchange::{Exchange, parse_object};
use crate::limits::STALE_WAIT;
use crate::node::Node;

/// A query as it was asked.
pub(crate) struct Request {
    /// Its text, which errors repeat.
    pub(crate) text: String,
    pub(crate) plan: Plan,
    /// How long it waits for an index that has all that was written before it came.
    pub(crate) stale_wait: Option<Duration>,
}

impl Request {
    /// Reads `query`, `start` and `pageSize` of a query string.
    pub(crate) fn of_address(exchange: &Exchange) -> Result<Request> {
        let query = exchange.query();
        let request = Request::parse(&exchange.node, &query.get("query").unwrap_or_default(), None)?;
        let mut request = request.refuse_update()?;
        request.plan.page = request.plan.page.within(query.page_start()?, query.number("pageSize")?);
        if query.is_true("waitForNonStaleResults")? {
            request.stale_wait = Some(STALE_WAIT);
        }
        Ok(request)
    }

    /// Reads `{"Query":..,"QueryParameters":..,"WaitForNonStaleResults":..}` and what old clients add.
    pub(crate) fn of_body(node: &Node, body: &[u8]) -> Result<Request> {
        let body = parse_object(body)?;
        let text = body.get("Query").and_then(json::Value::as_str).unwrap_or_default();
        let parameters = body.get("QueryParameters");
        if !matches!(parameters, None | Some(json::Value::Null | json::Value::Object(_))) {
            return Err(Error::Argument("'QueryParameters' must be an object".to_owned()));
        }
        let mut request = Request::parse(node, text, parameters)?.refuse_update()?;
        let number = |name| match body.get(name) {
            None | Some(json::Value::Null) => Ok(None),
            Some(value) => match value.as_i64().and_then(|number| u64::try_from(number).ok()) {
                Some(number) => Ok(Some(number)),
                None => Err(Error::Argument(format!("'{name}' must be a whole number from 0 on"))),
            },
        };
        let take = number("PageSize")?.filter(|size| *size < i32::MAX as u64);
        request.plan.page = request.plan.page.within(number("Start")?.unwrap_or(0), take);
        request.stale_wait = stale_wait(&body)?;
        if let Some(projection) = &mut request.plan.projection {
            projection.behavior = projection_behavior(&body)?;
        }
        Ok(request)
    }

    fn parse(node: &Node, text: &str, parameters: Option<&json::Value>) -> Result<Request> {
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
        let wrong = |message: String, is_grammar| Error::Query { message, query: text.to_owned(), is_grammar };
        let tree = rql::parse(text).map_err(|error| wrong(error.to_string(), error.reason.is_grammar()))?;
        let plan = Plan::new(&tree, Parameters::new(parameters)).map_err(|refused| match refused {
            Refused::Invalid(message) => wrong(message, false),
            Refused::NotSupported(feature) => Error::not_supported(feature),
        })?;
        Ok(Request { text: text.to_owned(), plan, stale_wait: None })
    }

    /// Reads `{"Query":{"Query":..,"QueryParameters":..}}`, whose query has to end with `update`.
    pub(crate) fn of_patch(node: &Node, body: &[u8]) -> Result<Request> {
        let body = parse_object(body)?;
        let Some(query @ json::Value::Object(_)) = body.get("Query") else {
            return Err(Error::BadRequest("Missing 'Query' property.".to_owned()));
        };
        let text = query.get("Query").and_then(json::Value::as_str).unwrap_or_default();
        let parameters = query.get("QueryParameters");
        if !matches!(parameters, None | Some(json::Value::Null | json::Value::Object(_))) {
            return Err(Error::Argument("'QueryParameters' must be an object".to_owned()));
        }
        let request = Request::parse(node, text, parameters)?;
        match request.plan.script.as_ref().map(|script| &script.form) {
            Some(ScriptForm::Update(_)) => Ok(request),
            _ => Err(Error::Query {
                message: "Update operations must end with UPDATE clause".to_owned(),
                query: text.to_owned(),
                is_grammar: true,
            }),
        }
    }

    /// Nothing is changed where only an answer is asked for.
    fn refuse_update(self) -> Result<Request> {
        match self.plan.script.as_ref().map(|script| &script.form) {
            Some(ScriptForm::Update(_)) => Err(Error::Query {
                message: "UPDATE is a clause of patches: PATCH queries".to_owned(),
                query: self.text,
                is_grammar: false,
            }),
            _ => Ok(self),
        }
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

fn stale_wait(body: &json::Value) -> Result<Option<Duration>> {
    let wrong = |name, kind| Error::Argument(format!("'{name}' must be {kind}"));
    match body.get("WaitForNonStaleResults") {
        None | Some(json::Value::Null | json::Value::Bool(false)) => return Ok(None),
        Some(json::Value::Bool(true)) => {}
        Some(_) => return Err(wrong("WaitForNonStaleResults", "true or false")),
    }
    match body.get("WaitForNonStaleResultsTimeout") {
        None | Some(json::Value::Null) => Ok(Some(STALE_WAIT)),
        Some(value) => {
            let wait = value.as_str().and_then(time_span);
            wait.map(Some).ok_or_else(|| wrong("WaitForNonStaleResultsTimeout", "a time span such as 00:00:15"))
        }
    }
}

/// A span of time as .NET writes it: `[days.]hours:minutes:seconds[.fraction]`, the fraction of up to seven digits.
pub(crate) fn time_span(text: &str) -> Option<Duration> {
    let mut parts = text.split(':');
    let (first, minutes, last) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let number = |text: &str| -> Option<u64> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) { None } else { text.parse().ok() }
    };
    let (days, hours) = first.split_once('.').unwrap_or(("0", first));
    let (seconds, fraction) = last.split_once('.').unwrap_or((last, "0"));
    let (days, hours, minutes, seconds) = (number(days)?, number(hours)?, number(minutes)?, number(seconds)?);
    if hours > 23 || minutes > 59 || seconds > 59 || fraction.len() > 7 {
        return None;
    }
    let ticks = number(&format!("{fraction:0<7}"))?;
    let seconds = days.checked_mul(86_400)?.checked_add(hours * 3600 + minutes * 60 + seconds)?;
    Some(Duration::new(seconds, u32::try_from(ticks * 100).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_spans_are_read() {
        let check = |text, expected: Option<(u64, u32)>| {
            assert_eq!(time_span(text), expected.map(|(seconds, nanos)| Duration::new(seconds, nanos)), "{text}");
        };
        check("00:00:15", Some((15, 0)));
        check("1.02:03:04.5", Some((93_784, 500_000_000)));
        check("00:00:00.0000001", Some((0, 100)));
        for wrong in ["", "15", "0:15", "1:2:3:4", "-1:00:00", "24:00:00", "00:60:00", "a:b:c", "00:00:00.12345678"] {
            check(wrong, None);
        }
    }
}
