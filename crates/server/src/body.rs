//! Request bodies: read as they arrive, decompressed, and counted while that happens.

use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming, SizeHint};
use hyper::header::CONTENT_ENCODING;
use hyper::{HeaderMap, StatusCode};

use crate::connection::{BodyPace, Connection};
use crate::error::{Error, Result};
use crate::limits::{DECOMPRESSION_GRACE_SIZE, DRAIN_TIME_MAX, DRAINED_SIZE_MAX, Limits};
use crate::memory;
use crate::node::Node;

/// Where a body comes from.
#[derive(Debug)]
pub(crate) enum RequestBody {
    Incoming(IncomingBody),
    /// From inside of another request (`multi_get`).
    Whole(Bytes),
}

/// A body on the network. What nobody has read of it goes back to its connection, which has to get past it or to end.
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

/// Reads what is left of a body that nobody wanted, if that is little and comes soon; false if its end was not reached.
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
        let limits = &node.limits;
        let max = limits.request_body_size;
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
        let mut room = node.bodies.room();
        let mut whole = Vec::new();
        let mut next = Some(first);
        while let Some(part) = next {
            let size = whole.len() + part.len();
            if size > whole.capacity() {
                let capacity = (2 * size).min(claimed).max(size);
                room.grow(capacity)?;
                whole.reserve_exact(capacity - whole.len());
            }
            whole.extend_from_slice(&part);
            next = stream.next().await?;
        }
        Ok(memory::fill(room, whole))
    }
}

/// A body part by part, decompressed.
#[derive(Debug)]
pub(crate) struct BodyStream {
    body: RequestBody,
    decoder: Option<Decoder>,
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
        Ok(BodyStream { body, decoder, size: 0, size_max, is_over: false })
    }

    fn is_compressed(&self) -> bool {
        self.decoder.is_some()
    }

    /// The next part as soon as it has arrived, never empty; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>> {
        while !self.is_over {
            let Some(part) = self.next_raw().await? else {
                self.is_over = true;
                let rest = self.decoder.as_mut().map_or(Ok(Bytes::new()), Decoder::finish)?;
                return Ok(Some(rest).filter(|rest| !rest.is_empty()));
            };
            self.size += part.len();
            if self.size > self.size_max {
                return Err(too_large(self.size_max));
            }
            let part = match &mut self.decoder {
                Some(decoder) => decoder.part(&part)?,
                None => part,
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

fn too_large(max: usize) -> Error {
    Error::Limit {
        status: StatusCode::PAYLOAD_TOO_LARGE,
        name: "Limits.RequestBodyInMb",
        limit: (max >> 20) as u64,
        what: "The request body",
    }
}

/// Undoes a `Content-Encoding` while the body arrives.
#[derive(Debug)]
enum Decoder {
    Gzip(Box<flate2::write::MultiGzDecoder<Sink>>),
    Deflate(Box<flate2::write::ZlibDecoder<Sink>>),
    Zstd(Box<ZstdDecoder>),
}

/// Not `zstd::stream::write::Decoder`, which cannot tell whether the last frame has ended.
struct ZstdDecoder(zstd::stream::zio::Writer<Sink, zstd::stream::raw::Decoder<'static>>);

impl std::fmt::Debug for ZstdDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ZstdDecoder")
    }
}

/// Takes what a decoder makes, and refuses more than is allowed as it is made, not afterwards.
#[derive(Debug)]
struct Sink {
    out: Vec<u8>,
    consumed: usize,
    produced: usize,
    produced_max: usize,
    ratio_max: usize,
    refused: Option<Error>,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let produced = self.produced + bytes.len();
        if produced > self.produced_max {
            self.refused = Some(too_large(self.produced_max));
        } else if produced > DECOMPRESSION_GRACE_SIZE && produced / self.ratio_max.max(1) > self.consumed {
            self.refused = Some(Error::Limit {
                status: StatusCode::PAYLOAD_TOO_LARGE,
                name: "Limits.DecompressionRatio",
                limit: self.ratio_max as u64,
                what: "The ratio of the decompressed to the compressed request body",
            });
        }
        if self.refused.is_some() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.produced = produced;
        self.out.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Decoder {
    fn for_headers(headers: &HeaderMap, limits: &Limits, produced_max: usize) -> Result<Option<Decoder>> {
        let Some(encoding) = headers.get(CONTENT_ENCODING) else { return Ok(None) };
        let sink = Sink {
            out: Vec::new(),
            consumed: 0,
            produced: 0,
            produced_max,
            ratio_max: limits.decompression_ratio,
            refused: None,
        };
        let encoding = encoding.as_bytes().trim_ascii();
        Ok(if encoding.is_empty() || encoding.eq_ignore_ascii_case(b"identity") {
            None
        } else if encoding.eq_ignore_ascii_case(b"gzip") || encoding.eq_ignore_ascii_case(b"x-gzip") {
            Some(Decoder::Gzip(Box::new(flate2::write::MultiGzDecoder::new(sink))))
        } else if encoding.eq_ignore_ascii_case(b"deflate") {
            Some(Decoder::Deflate(Box::new(flate2::write::ZlibDecoder::new(sink))))
        } else if encoding.eq_ignore_ascii_case(b"zstd") {
            let decoder = zstd::stream::raw::Decoder::new().map_err(|error| Error::Encoding(error.to_string()))?;
            Some(Decoder::Zstd(Box::new(ZstdDecoder(zstd::stream::zio::Writer::new(sink, decoder)))))
        } else {
            let name = String::from_utf8_lossy(encoding).into_owned();
            return Err(Error::Encoding(format!(
                "unknown Content-Encoding '{name}', known are gzip, deflate and zstd"
            )));
        })
    }

    fn part(&mut self, part: &[u8]) -> Result<Bytes> {
        self.sink().consumed += part.len();
        let written = match self {
            Decoder::Gzip(decoder) => decoder.write_all(part).and_then(|()| decoder.flush()),
            Decoder::Deflate(decoder) => decoder.write_all(part).and_then(|()| decoder.flush()),
            Decoder::Zstd(decoder) => decoder.0.write_all(part).and_then(|()| decoder.0.flush()),
        };
        self.take(written)
    }

    /// What is left; an error if the compressed data stopped before their end.
    fn finish(&mut self) -> Result<Bytes> {
        let finished = match self {
            Decoder::Gzip(decoder) => decoder.try_finish(),
            Decoder::Deflate(decoder) => decoder.try_finish(),
            Decoder::Zstd(decoder) => decoder.0.finish(),
        };
        self.take(finished)
    }

    fn take(&mut self, result: io::Result<()>) -> Result<Bytes> {
        let sink = self.sink();
        if let Some(refused) = sink.refused.take() {
            return Err(refused);
        }
        result.map_err(|error| Error::Encoding(error.to_string()))?;
        Ok(Bytes::from(std::mem::take(&mut sink.out)))
    }

    fn sink(&mut self) -> &mut Sink {
        match self {
            Decoder::Gzip(decoder) => decoder.get_mut(),
            Decoder::Deflate(decoder) => decoder.get_mut(),
            Decoder::Zstd(decoder) => decoder.0.writer_mut(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn decoder(encoding: &'static str, limits: &Limits) -> Decoder {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
        Decoder::for_headers(&headers, limits, limits.request_body_size).unwrap().unwrap()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn parts_come_out_as_they_go_in() {
        let text = b"[{\"Id\":\"users/1\"},".repeat(50);
        for (encoding, compressed) in [("gzip", gzip(&text)), ("ZSTD", zstd::encode_all(text.as_slice(), 3).unwrap())] {
            for cut in [1, 7, 1000] {
                let mut decoder = decoder(encoding, &Limits::default());
                let mut plain = Vec::new();
                for part in compressed.chunks(cut) {
                    plain.extend_from_slice(&decoder.part(part).unwrap());
                }
                plain.extend_from_slice(&decoder.finish().unwrap());
                assert_eq!(plain, text, "{encoding} in parts of {cut}");
            }
        }
    }

    #[test]
    fn a_bomb_is_refused_by_its_ratio_and_a_large_body_by_its_size() {
        let zeros = vec![0; 64 << 20];
        for (encoding, bomb) in [("gzip", gzip(&zeros)), ("zstd", zstd::encode_all(zeros.as_slice(), 3).unwrap())] {
            let error = decoder(encoding, &Limits::default()).part(&bomb).unwrap_err();
            assert!(error.to_string().contains("Limits.DecompressionRatio"), "{error}");
            let limits = Limits { decompression_ratio: usize::MAX, request_body_size: 32 << 20, ..Limits::default() };
            let error = decoder(encoding, &limits).part(&bomb).unwrap_err();
            assert!(error.to_string().contains("Limits.RequestBodyInMb = 32"), "{error}");
            let limits = Limits { decompression_ratio: usize::MAX, ..Limits::default() };
            assert_eq!(decoder(encoding, &limits).part(&bomb).unwrap().len(), zeros.len());
        }
    }

    fn deflate(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd_with_checksum(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// All of `compressed`, in two parts or one.
    fn decode(encoding: &'static str, compressed: &[u8], cut: usize) -> Result<Vec<u8>> {
        let mut decoder = decoder(encoding, &Limits::default());
        let mut plain = Vec::new();
        for part in [&compressed[..cut], &compressed[cut..]] {
            if !part.is_empty() {
                plain.extend_from_slice(&decoder.part(part)?);
            }
        }
        plain.extend_from_slice(&decoder.finish()?);
        Ok(plain)
    }

    #[test]
    fn data_that_are_cut_anywhere_or_broken_are_errors() {
        let text = b"some text that is long enough, and some text that repeats";
        for (encoding, whole) in [("gzip", gzip(text)), ("deflate", deflate(text)), ("zstd", zstd_with_checksum(text))]
        {
            for cut in 0..whole.len() {
                assert_eq!(decode(encoding, &whole, cut).unwrap(), text, "{encoding} in parts at {cut}");
                decode(encoding, &whole[..cut], cut).expect_err(&format!("{encoding} cut at {cut}"));
            }
            decode(encoding, b"not compressed at all", 3).unwrap_err();
        }
        let mut frames = zstd_with_checksum(text);
        frames.extend(zstd_with_checksum(text));
        assert_eq!(decode("zstd", &frames, 9).unwrap(), text.repeat(2));
        decode("zstd", &frames[..frames.len() - 1], 9).unwrap_err();
    }
}
