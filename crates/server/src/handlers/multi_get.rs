//! `POST /databases/{name}/multi_get`: several reads in one request, answered in order.
//!
//! Body `{"Requests":[{"Url","Query","Method","Headers","Content"}]}`; each goes through the table of routes as if it had
//! come alone. 200 `{"Results":[{"Result","StatusCode","Headers"}]}`. Requests that write, stream or nest are refused: the
//! table of routes says which may stand here.

use bytes::Bytes;
use hyper::header::{ETAG, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, StatusCode, Uri};

use crate::body::RequestBody;
use crate::dispatch;
use crate::error::{Error, Result};
use crate::exchange::Exchange;
use crate::reply::{self, Reply};
use crate::routes::{self, Match};

pub(crate) async fn post(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_object().await?;
    let Some(json::Value::Array(requests)) = body.get("Requests") else {
        return Err(Error::Argument("The body must have an array 'Requests'".to_owned()));
    };
    let count_max = exchange.node.limits.multi_get_count;
    if requests.len() > count_max {
        return Err(Error::Limit {
            status: StatusCode::PAYLOAD_TOO_LARGE,
            name: "Limits.MultiGetCount",
            limit: count_max as u64,
            what: "The number of requests in one multi_get",
        });
    }
    let mut answer = b"{\"Results\":[".to_vec();
    for (place, request) in requests.iter().enumerate() {
        if place > 0 {
            answer.push(b',');
        }
        let reply = match inner(&exchange, request) {
            Ok(inner) => dispatch::respond(inner).await,
            Err(error) => error.reply(exchange.uri.path()),
        };
        if reply.body().as_whole().is_none() {
            return Err(Error::not_supported("a streamed answer inside of multi_get"));
        }
        write(&mut answer, &reply);
    }
    answer.extend_from_slice(b"]}");
    Ok(reply::ok(answer))
}

/// The exchange of one inner request.
fn inner(exchange: &Exchange, request: &json::Value) -> Result<Exchange> {
    let text = |name| request.get(name).and_then(json::Value::as_str).unwrap_or_default();
    let (url, query) = (text("Url"), text("Query"));
    // Databases are matched before access is: another database than that of the outer request is another's affair.
    let separator = if query.is_empty() || query.starts_with('?') || url.contains('?') { "" } else { "?" };
    let target = escape(&format!("{url}{separator}{query}"));
    let uri: Uri = target.parse().map_err(|_| Error::Argument(format!("'{url}' is not the path of a request")))?;
    let method = match request.get("Method").and_then(json::Value::as_str) {
        None | Some("") => Method::GET,
        Some(method) if method.eq_ignore_ascii_case("GET") => Method::GET,
        Some(method) if method.eq_ignore_ascii_case("POST") => Method::POST,
        Some(method) => return Err(Error::not_supported(format!("{method} inside of multi_get"))),
    };
    // What is not there yet is refused by its own name.
    let is_allowed = |found: Match| found.route.in_multi_get || found.route.missing.is_some();
    if !routes::find(method.as_str(), uri.path()).is_some_and(is_allowed) {
        return Err(Error::not_supported(format!("'{method} {}' inside of multi_get", uri.path())));
    }
    let mut headers = HeaderMap::new();
    for (name, value) in request.get("Headers").map(json::Value::members).unwrap_or_default() {
        let name = HeaderName::from_bytes(name.as_bytes());
        let value = value.as_str().and_then(|value| HeaderValue::from_str(value).ok());
        if let (Ok(name), Some(value)) = (name, value) {
            headers.insert(name, value);
        }
    }
    headers.remove(hyper::header::CONTENT_ENCODING);
    dispatch::check_limits(&exchange.node.limits, &uri, &headers)?;
    let content = match request.get("Content") {
        None | Some(json::Value::Null) => Vec::new(),
        Some(json::Value::String(text)) => text.as_bytes().to_vec(),
        Some(value) => value.to_vec(),
    };
    Ok(Exchange {
        node: exchange.node.clone(),
        method,
        uri,
        headers,
        body: RequestBody::Whole(Bytes::from(content)),
        upgrade: None,
        database: None,
    })
}

/// Escapes what may not stand in a request target; some clients leave it in.
fn escape(target: &str) -> String {
    let mut escaped = String::with_capacity(target.len());
    for byte in target.bytes() {
        if byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'`' | b'{' | b'}' | b'#' | b'\\' | b'^') {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

fn write(answer: &mut Vec<u8>, reply: &Reply) {
    answer.extend_from_slice(b"{\"Result\":");
    match reply.body().as_whole() {
        Some(body) if !body.is_empty() => answer.extend_from_slice(body),
        _ => answer.extend_from_slice(b"null"),
    }
    answer.extend_from_slice(b",\"StatusCode\":");
    answer.extend_from_slice(reply.status().as_str().as_bytes());
    answer.extend_from_slice(b",\"Headers\":{");
    if let Some(etag) = reply.headers().get(ETAG).and_then(|etag| etag.to_str().ok()) {
        answer.extend_from_slice(b"\"ETag\":\"");
        json::escape_into(answer, etag);
        answer.push(b'"');
    }
    answer.extend_from_slice(b"}}");
}
