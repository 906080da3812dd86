//! Request bodies: read as they arrive, decompressed, and counted while that happens.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::HeaderMap;
use hyper::body::{Body, Incoming, SizeHint};

use super::decoding::{Decoder, too_large};
use crate::error::{Error, Result};
use crate::limits::{DRAIN_TIME_MAX, DRAINED_SIZE_MAX, Limits};
use crate::memory;
use crate::network::connection::{BodyPace, Connection};
use crate::node::Node;

/// Where a body comes from.
#[derive(Debug)]
pub(crate) enum RequestBody {
    Incoming(IncomingBody),
    /// From inside of another request (`multi_get`).
    Whole(Bytes),
}

/// A request body on the network. Its unread rest returns to the connection, which must skip it or close.
#[derive(Debug)]
pub(crate) struct IncomingBody {
    /// None once it has ended or failed.
    body: Option<Incoming>,
    connection: Arc<Connection>,
}

impl IncomingBody {
    pub(crate) fn new(body: Incoming, connection: Arc<Connection>) -> IncomingBody {
        IncomingBody { body: Some(body), connection }
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or(SizeHint::with_exact(0), Body::size_hint)
    }

    /// The next part as it came; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>> {
        while let Some(body) = &mut self.body {
            match body.frame().await {
                None => self.body = None,
                Some(Err(error)) => {
                    self.body = None;
                    return Err(Error::BodyCutOff(error.to_string()));
                }
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.connection.body_progress(data.len());
                        return Ok(Some(data));
                    }
                }
            }
        }
        self.connection.body_ends();
        Ok(None)
    }
}

impl Drop for IncomingBody {
    fn drop(&mut self) {
        if let Some(rest) = self.body.take().filter(|body| !body.is_end_stream()) {
            self.connection.leave_rest(rest);
        }
    }
}

/// Skips the unread rest of a body, if it is small and arrives soon; false if its end was not reached.
pub(crate) async fn drain(mut rest: Incoming) -> bool {
    if rest.size_hint().lower() > DRAINED_SIZE_MAX {
        return false;
    }
    let to_its_end = async {
        let mut size = 0;
        while let Some(frame) = rest.frame().await {
            let Ok(frame) = frame else { return false };
            size += frame.data_ref().map_or(0, Bytes::len) as u64;
            if size > DRAINED_SIZE_MAX {
                return false;
            }
        }
        true
    };
    tokio::time::timeout(DRAIN_TIME_MAX, to_its_end).await.unwrap_or(false)
}

impl RequestBody {
    pub(crate) fn empty() -> RequestBody {
        RequestBody::Whole(Bytes::new())
    }

    /// Reads all of it, at most [`Limits::request_body_size`] before and after decompression. A body that arrived in one
    /// piece is not copied; others count among those in memory as they grow.
    pub(crate) async fn read(self, headers: &HeaderMap, node: &Node) -> Result<Bytes> {
        self.read_at_most(node.limits.request_body_size, headers, node).await
    }

    /// The same with a smaller bound.
    ///
    /// * `max`: in bytes.
    pub(crate) async fn read_at_most(self, max: usize, headers: &HeaderMap, node: &Node) -> Result<Bytes> {
        let limits = &node.limits;
        let expected = match &self {
            RequestBody::Whole(bytes) => return Ok(bytes.clone()),
            RequestBody::Incoming(body) => body.size_hint().exact(),
        };
        if expected.is_some_and(|size| size > max as u64) {
            return Err(too_large(max));
        }
        let mut stream = BodyStream::new(self, headers, limits, BodyPace::Rate, max)?;
        let Some(first) = stream.next().await? else { return Ok(Bytes::new()) };
        if expected == Some(first.len() as u64) && !stream.is_compressed() {
            return Ok(first);
        }
        // The length that a client claims is reserved only so far: more comes when more has come.
        let claimed = expected.filter(|_| !stream.is_compressed()).map_or(max, |size| size as usize);
        let mut reservation = node.bodies.reservation();
        let mut whole = Vec::new();
        let mut next = Some(first);
        while let Some(part) = next {
            let size = whole.len() + part.len();
            if size > whole.capacity() {
                let capacity = (2 * size).min(claimed).max(size);
                reservation.grow(capacity)?;
                whole.reserve_exact(capacity - whole.len());
            }
            whole.extend_from_slice(&part);
            next = stream.next().await?;
        }
        Ok(memory::fill(reservation, whole))
    }
}

/// A body part by part, decompressed.
#[derive(Debug)]
pub(crate) struct BodyStream {
    body: RequestBody,
    decoder: Option<Decoder>,
    /// What has arrived and is not decompressed yet.
    raw: Bytes,
    size: usize,
    size_max: usize,
    is_over: bool,
}

impl BodyStream {
    /// * `size_max`: in bytes, before and after decompression.
    pub(crate) fn new(
        body: RequestBody,
        headers: &HeaderMap,
        limits: &Limits,
        pace: BodyPace,
        size_max: usize,
    ) -> Result<BodyStream> {
        let decoder = Decoder::for_headers(headers, limits, size_max)?;
        if let RequestBody::Incoming(body) = &body {
            body.connection.body_begins(pace);
        }
        Ok(BodyStream { body, decoder, raw: Bytes::new(), size: 0, size_max, is_over: false })
    }

    fn is_compressed(&self) -> bool {
        self.decoder.is_some()
    }

    /// The next part as soon as it has arrived, never empty; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>> {
        while !self.is_over {
            if self.raw.is_empty() {
                let Some(part) = self.next_raw().await? else {
                    self.is_over = true;
                    let rest = self.decoder.as_mut().map_or(Ok(Bytes::new()), Decoder::finish)?;
                    return Ok(Some(rest).filter(|rest| !rest.is_empty()));
                };
                self.size += part.len();
                if self.size > self.size_max {
                    return Err(too_large(self.size_max));
                }
                self.raw = part;
            }
            let part = match &mut self.decoder {
                Some(decoder) => decoder.part(&mut self.raw)?,
                None => std::mem::take(&mut self.raw),
            };
            if !part.is_empty() {
                return Ok(Some(part));
            }
        }
        Ok(None)
    }

    async fn next_raw(&mut self) -> Result<Option<Bytes>> {
        match &mut self.body {
            RequestBody::Whole(bytes) => Ok(Some(std::mem::take(bytes)).filter(|bytes| !bytes.is_empty())),
            RequestBody::Incoming(body) => body.next().await,
        }
    }
}

impl Drop for BodyStream {
    fn drop(&mut self) {
        if let RequestBody::Incoming(body) = &self.body {
            body.connection.body_ends();
        }
    }
}
