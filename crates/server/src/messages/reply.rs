//! Answers: a body that is whole or streamed, and the few shapes that handlers give.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{CONTENT_TYPE, ETAG, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinHandle};

use crate::network::connection::Busy;

/// The response of a handler.
pub(crate) type Reply = Response<ReplyBody>;

/// The body of an answer. Holds the connection busy until it is sent or dropped.
#[derive(Debug)]
pub(crate) struct ReplyBody {
    content: Content,
    busy: Option<Busy>,
    /// Dropped with the body, so that its producer sees that the client is gone.
    waits: Option<Arc<Waits>>,
}

/// Held by whoever waits for an answer. Work that is done for it asks whether it is still there; a task for it ends with it.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    task: Option<AbortHandle>,
}

impl Waits {
    pub(crate) fn for_task(task: &JoinHandle<()>) -> Waits {
        Waits { task: Some(task.abort_handle()) }
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

#[derive(Debug)]
enum Content {
    Whole(Bytes),
    /// Whole, and sent as a chunk: its length does not stand in the head.
    Chunk(Bytes),
    Parts(Parts),
    /// The last part was taken.
    Over,
}

/// One part of an answer that is made while it is sent.
#[derive(Debug)]
pub(crate) enum BodyPart {
    Bytes(Bytes),
    /// Nothing follows. Parts that stop without it were cut off, so that a client never takes half of an answer for all.
    End,
}

/// Parts made elsewhere.
pub(crate) type Parts = mpsc::Receiver<BodyPart>;

/// The answer had begun when something went wrong; the connection is closed in the middle of it.
#[derive(Debug, thiserror::Error)]
#[error("the answer was cut off")]
pub(crate) struct StreamFailed;

impl ReplyBody {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> ReplyBody {
        ReplyBody { content: Content::Whole(bytes.into()), busy: None, waits: None }
    }

    pub(crate) fn set_whole(&mut self, bytes: Bytes) {
        self.content = Content::Whole(bytes);
    }

    pub(crate) fn set_parts(&mut self, parts: Parts) {
        self.content = Content::Parts(parts);
    }

    /// Sends a whole body as a chunk, in place of telling its length in the head.
    pub(crate) fn set_chunked(&mut self) {
        if let Content::Whole(bytes) = &mut self.content {
            self.content = Content::Chunk(std::mem::take(bytes));
        }
    }

    pub(crate) fn keep_waiting(&mut self, waits: Arc<Waits>) {
        self.waits = Some(waits);
    }

    pub(crate) fn keep_busy(&mut self, busy: Busy) {
        self.busy = Some(busy);
    }

    /// The bytes, if the body is whole.
    pub(crate) fn as_whole(&self) -> Option<&Bytes> {
        match &self.content {
            Content::Whole(bytes) => Some(bytes),
            Content::Chunk(_) | Content::Parts(_) | Content::Over => None,
        }
    }

    /// Takes the parts out, if the body is streamed.
    pub(crate) fn take_parts(&mut self) -> Option<Parts> {
        match std::mem::replace(&mut self.content, Content::Over) {
            Content::Parts(parts) => Some(parts),
            other => {
                self.content = other;
                None
            }
        }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = StreamFailed;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, StreamFailed>>> {
        let content = &mut self.get_mut().content;
        match content {
            Content::Whole(bytes) | Content::Chunk(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Whole(bytes) | Content::Chunk(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Content::Parts(parts) => parts.poll_recv(cx).map(|part| match part {
                Some(BodyPart::Bytes(bytes)) => Some(Ok(Frame::data(bytes))),
                Some(BodyPart::End) => {
                    *content = Content::Over;
                    None
                }
                None => Some(Err(StreamFailed)),
            }),
            Content::Over => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Whole(bytes) | Content::Chunk(bytes) => bytes.is_empty(),
            Content::Parts(_) => false,
            Content::Over => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Chunk(_) | Content::Parts(_) | Content::Over => SizeHint::default(),
        }
    }
}

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");

/// JSON with any status.
pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(ReplyBody::whole(body));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, JSON);
    reply
}

/// 200 with JSON.
pub(crate) fn ok(body: impl Into<Bytes>) -> Reply {
    json(StatusCode::OK, body)
}

/// JSON that `content` writes, for the answers that are not on a hot path.
pub(crate) fn object(status: StatusCode, content: impl FnOnce(&mut json::Writer<'_>)) -> Reply {
    let mut body = Vec::with_capacity(256);
    json::Writer::new(&mut body).object(content);
    json(status, body)
}

/// A status with an empty body. 204 and 304 have neither type nor length.
pub(crate) fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(ReplyBody::whole(Bytes::new()));
    *reply.status_mut() = status;
    if status != StatusCode::NO_CONTENT {
        reply.headers_mut().insert(CONTENT_TYPE, JSON);
    }
    reply
}

/// A page or text of ours.
pub(crate) fn text(content_type: &'static str, body: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(ReplyBody::whole(body));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    reply
}

/// `"<etag>"`. Change vectors and hashes have only printable ASCII; anything else gives no header rather than a bad one.
pub(crate) fn quoted_etag(etag: &[u8]) -> Option<HeaderValue> {
    let mut quoted = Vec::with_capacity(etag.len() + 2);
    quoted.push(b'"');
    quoted.extend_from_slice(etag);
    quoted.push(b'"');
    HeaderValue::from_maybe_shared(Bytes::from(quoted)).ok()
}

/// Adds an `ETag`, if there is one.
pub(crate) fn with_etag(mut reply: Reply, etag: Option<HeaderValue>) -> Reply {
    if let Some(etag) = etag {
        reply.headers_mut().insert(ETAG, etag);
    }
    reply
}

/// True if the value of an `If-None-Match` (quoted or bare) names `etag` (bare).
pub(crate) fn is_match(asked: Option<&HeaderValue>, etag: &[u8]) -> bool {
    asked.is_some_and(|asked| unquote(asked.as_bytes()) == etag)
}

/// Takes one pair of quotes off.
pub(crate) fn unquote(value: &[u8]) -> &[u8] {
    let value = value.trim_ascii();
    value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(value)
}
