//! Answers: a body that is whole or streamed, and the few shapes that handlers give.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{CONTENT_TYPE, ETAG, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::sync::mpsc;

use crate::connection::Busy;

/// What a handler gives back.
pub(crate) type Reply = Response<ReplyBody>;

/// The body of an answer. Holds the connection busy until it is sent or dropped.
#[derive(Debug)]
pub(crate) struct ReplyBody {
    content: Content,
    busy: Option<Busy>,
}

#[derive(Debug)]
enum Content {
    Whole(Bytes),
    /// Parts made elsewhere; an `Err` cuts the answer off, so that a client never takes half of it for all.
    Parts(mpsc::Receiver<Result<Bytes, StreamFailed>>),
}

/// The answer had begun when something went wrong; the connection is closed in the middle of it.
#[derive(Debug, thiserror::Error)]
#[error("the answer was cut off")]
pub(crate) struct StreamFailed;

impl ReplyBody {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> ReplyBody {
        ReplyBody { content: Content::Whole(bytes.into()), busy: None }
    }

    pub(crate) fn parts(receiver: mpsc::Receiver<Result<Bytes, StreamFailed>>) -> ReplyBody {
        ReplyBody { content: Content::Parts(receiver), busy: None }
    }

    pub(crate) fn keep_busy(&mut self, busy: Busy) {
        self.busy = Some(busy);
    }

    /// The bytes, if the body is whole.
    pub(crate) fn as_whole(&self) -> Option<&Bytes> {
        match &self.content {
            Content::Whole(bytes) => Some(bytes),
            Content::Parts(_) => None,
        }
    }

    /// Takes the parts out, if the body is streamed.
    pub(crate) fn take_parts(&mut self) -> Option<mpsc::Receiver<Result<Bytes, StreamFailed>>> {
        match std::mem::replace(&mut self.content, Content::Whole(Bytes::new())) {
            Content::Parts(parts) => Some(parts),
            whole @ Content::Whole(_) => {
                self.content = whole;
                None
            }
        }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = StreamFailed;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, StreamFailed>>> {
        match &mut self.get_mut().content {
            Content::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Content::Parts(parts) => parts.poll_recv(cx).map(|part| part.map(|part| part.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, Content::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Parts(_) => SizeHint::default(),
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

/// JSON that is made while it is sent.
pub(crate) fn streamed(receiver: mpsc::Receiver<Result<Bytes, StreamFailed>>, content_type: &'static str) -> Reply {
    let mut reply = Response::new(ReplyBody::parts(receiver));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
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
