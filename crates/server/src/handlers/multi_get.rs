//! `POST /databases/{name}/multi_get`: several reads in one request, answered in order.
//!
//! Body `{"Requests":[{"Url","Query","Method","Headers","Content"}]}`; each goes through the table of routes as if it had
//! come alone. 200 `{"Results":[{"Result","StatusCode","Headers"}]}`. Requests that write, stream or nest are refused: the
//! table of routes says which may stand here. A large answer is sent while it is made.

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{ETAG, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, StatusCode, Uri};
use tokio::sync::{mpsc, oneshot};

use crate::error::{Error, Result};
use crate::limits::{STREAM_PART_SIZE, STREAM_PARTS_MAX, WHOLE_ANSWER_SIZE};
use crate::memory::MemoryReservation;
use crate::messages::reply::{self, BodyPart, Reply, Waits};
use crate::node::Node;
use crate::routing::exchange::Exchange;
use crate::routing::internal::InternalRequest;

pub(crate) async fn post(mut exchange: Exchange) -> Result<Reply> {
    let mut body = exchange.read_object().await?;
    let Some(json::Value::Array(requests)) = body.remove("Requests") else {
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
    let (started, reply) = oneshot::channel();
    let task = tokio::spawn(async move {
        let mut answer = Answer::new(&exchange, started);
        let outcome = answer.write(&exchange, &requests).await;
        answer.end(outcome, &exchange).await;
    });
    // Whoever goes away takes the rest of the requests back.
    let waits = Arc::new(Waits::for_task(&task));
    let dropped = || Error::Panicked("a multi_get was dropped".to_owned());
    let mut reply = reply.await.unwrap_or_else(|_| Err(dropped()))?;
    reply.body_mut().keep_waiting(waits);
    Ok(reply)
}

/// The answer as it grows: whole as long as it is small, then in parts.
struct Answer {
    buffer: Vec<u8>,
    reservation: MemoryReservation,
    size: usize,
    size_max: usize,
    state: SinkState,
}

enum SinkState {
    Whole(oneshot::Sender<Result<Reply>>),
    Sending(mpsc::Sender<BodyPart>),
}

impl Answer {
    fn new(exchange: &Exchange, started: oneshot::Sender<Result<Reply>>) -> Answer {
        let Node { memory, limits, .. } = &*exchange.node;
        let (reservation, size_max) = (memory.reservation(), limits.multi_get_answer_size);
        Answer { buffer: Vec::new(), reservation, size: 0, size_max, state: SinkState::Whole(started) }
    }

    async fn write(&mut self, exchange: &Exchange, requests: &[json::Value]) -> Result<()> {
        self.add(b"{\"Results\":[").await?;
        for (place, request) in requests.iter().enumerate() {
            if place > 0 {
                self.add(b",").await?;
            }
            let outcome = match inner(exchange, request) {
                Ok(inner) => inner.send(&exchange.node, &exchange.peer).await,
                Err(error) => Err(error),
            };
            self.write_one(outcome.unwrap_or_else(|error| error.reply(exchange.uri.path()))).await?;
        }
        self.add(b"]}").await
    }

    async fn write_one(&mut self, mut reply: Reply) -> Result<()> {
        self.add(b"{\"Result\":").await?;
        if let Some(mut parts) = reply.body_mut().take_parts() {
            loop {
                match parts.recv().await {
                    Some(BodyPart::Bytes(part)) => self.add(&part).await?,
                    Some(BodyPart::End) => break,
                    None => return Err(Error::Database(database::Error::Canceled)),
                }
            }
        } else {
            let body = reply.body().as_whole().filter(|body| !body.is_empty());
            self.add(body.map_or(b"null", |body| body)).await?;
        }
        self.add(b",\"StatusCode\":").await?;
        self.add(reply.status().as_str().as_bytes()).await?;
        self.add(b",\"Headers\":{").await?;
        if let Some(etag) = reply.headers().get(ETAG).and_then(|etag| etag.to_str().ok()) {
            self.buffer.extend_from_slice(b"\"ETag\":\"");
            json::escape_into(&mut self.buffer, etag);
            self.buffer.push(b'"');
        }
        self.add(b"}}").await
    }

    async fn add(&mut self, bytes: &[u8]) -> Result<()> {
        self.size += bytes.len();
        if self.size > self.size_max {
            return Err(Error::Limit {
                status: StatusCode::PAYLOAD_TOO_LARGE,
                name: "Limits.MultiGetAnswerInMb",
                limit: (self.size_max >> 20) as u64,
                what: "The answer of one multi_get",
            });
        }
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() < STREAM_PART_SIZE {
            return Ok(());
        }
        if let SinkState::Whole(_) = &self.state {
            if self.buffer.len() < WHOLE_ANSWER_SIZE {
                return Ok(self.reservation.grow(self.buffer.len())?);
            }
            let (sender, receiver) = mpsc::channel(STREAM_PARTS_MAX);
            if let SinkState::Whole(started) = std::mem::replace(&mut self.state, SinkState::Sending(sender)) {
                let mut head = reply::ok(Bytes::new());
                head.body_mut().set_parts(receiver);
                let _ = started.send(Ok(head));
            }
        }
        self.flush().await
    }

    async fn flush(&mut self) -> Result<()> {
        let SinkState::Sending(sender) = &self.state else { return Ok(()) };
        let part = Bytes::from(std::mem::take(&mut self.buffer));
        self.reservation.clear();
        sender.send(BodyPart::Bytes(part)).await.map_err(|_| database::Error::Canceled.into())
    }

    async fn end(mut self, outcome: Result<()>, exchange: &Exchange) {
        let outcome = match outcome {
            Ok(()) => self.flush().await,
            outcome => outcome,
        };
        match (self.state, outcome) {
            (SinkState::Whole(started), outcome) => drop(started.send(outcome.map(|()| reply::ok(self.buffer)))),
            (SinkState::Sending(sender), Ok(())) => drop(sender.send(BodyPart::End).await),
            (SinkState::Sending(_), Err(Error::Database(database::Error::Canceled))) => {}
            (SinkState::Sending(_), Err(error)) => {
                tracing::warn!(%error, url = %exchange.uri.path(), "a streamed answer was cut off");
            }
        }
    }
}

/// One inner request.
fn inner(exchange: &Exchange, request: &json::Value) -> Result<InternalRequest> {
    let text = |name| request.get(name).and_then(json::Value::as_str).unwrap_or_default();
    let (url, query) = (text("Url"), text("Query"));
    let separator = if query.is_empty() || query.starts_with('?') || url.contains('?') { "" } else { "?" };
    let target = escape(&format!("{url}{separator}{query}"));
    let uri: Uri = target.parse().map_err(|_| Error::Argument(format!("'{url}' is not the path of a request")))?;
    let method = match request.get("Method").and_then(json::Value::as_str) {
        None | Some("") => Method::GET,
        Some(method) if method.eq_ignore_ascii_case("GET") => Method::GET,
        Some(method) if method.eq_ignore_ascii_case("POST") => Method::POST,
        Some(method) => return Err(Error::not_supported(format!("{method} inside of multi_get"))),
    };
    if !exchange.node.dispatch.may_be_in_multi_get(method.as_str(), uri.path()) {
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
    let content = match request.get("Content") {
        None | Some(json::Value::Null) => Vec::new(),
        Some(json::Value::String(text)) => text.as_bytes().to_vec(),
        Some(value) => value.to_vec(),
    };
    Ok(InternalRequest { method, uri, headers, body: Bytes::from(content) })
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
