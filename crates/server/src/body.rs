//! Request bodies: read as they arrive, decompressed, and counted while that happens.

use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::header::CONTENT_ENCODING;
use hyper::{HeaderMap, StatusCode};

use crate::connection::{BodyPace, Connection};
use crate::error::{Error, Result};
use crate::limits::{DECOMPRESSION_GRACE_SIZE, Limits};
use crate::node::Node;

/// Where a body comes from.
#[derive(Debug)]
pub(crate) enum RequestBody {
    Incoming(Incoming, Arc<Connection>),
    /// From inside of another request (`multi_get`).
    Whole(Bytes),
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
            RequestBody::Incoming(body, _) => body.size_hint().exact(),
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
        let mut room = node.memory.room();
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
        Ok(room.fill(whole))
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
        if let RequestBody::Incoming(_, connection) = &body {
            connection.body_begins(pace);
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
            RequestBody::Incoming(body, connection) => loop {
                let Some(frame) = body.frame().await else {
                    connection.body_ends();
                    return Ok(None);
                };
                let frame = frame.map_err(|error| Error::BodyCutOff(error.to_string()))?;
                if let Ok(data) = frame.into_data() {
                    connection.body_progress(data.len());
                    return Ok(Some(data));
                }
            },
        }
    }
}

impl Drop for BodyStream {
    fn drop(&mut self) {
        if let RequestBody::Incoming(_, connection) = &self.body {
            connection.body_ends();
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

struct ZstdDecoder(zstd::stream::write::Decoder<'static, Sink>);

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
            let decoder =
                zstd::stream::write::Decoder::new(sink).map_err(|error| Error::Encoding(error.to_string()))?;
            Some(Decoder::Zstd(Box::new(ZstdDecoder(decoder))))
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
            Decoder::Zstd(decoder) => decoder.0.flush(),
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
            Decoder::Zstd(decoder) => decoder.0.get_mut(),
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

    #[test]
    fn truncated_and_broken_data_are_errors() {
        let compressed = gzip(b"some text that is long enough");
        let mut decoder = decoder("gzip", &Limits::default());
        decoder.part(&compressed[..compressed.len() - 4]).unwrap();
        decoder.finish().unwrap_err();
        super::tests::decoder("gzip", &Limits::default()).part(b"not gzip at all").unwrap_err();
    }
}
