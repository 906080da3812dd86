//! Compression of answers, when the client asks for it and it gains something.
//!
//! An answer of up to [`WORTHWHILE_SIZE`] is sent as it is: with its head it fits in one Ethernet frame (1,460 bytes),
//! so that compressing it saves no packet and no round trip, only costs both sides processor time (here 6 to 10 us for a
//! document of 400 bytes, as much as the rest of the request). Above it gzip and zstd run at their fastest level with
//! states that each network thread keeps. Streams are compressed part by part and flushed with each, so that
//! what was made is seen.

use std::cell::RefCell;
use std::io::Write;

use bytes::Bytes;
use flate2::{Compress, Compression, FlushCompress, Status};
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue, VARY};
use hyper::{HeaderMap, StatusCode};
use tokio::sync::mpsc;

use crate::reply::{Reply, ReplyBody, StreamFailed};

/// The largest body that is not compressed, in bytes: an Ethernet frame's payload less a usual head of ours.
pub(crate) const WORTHWHILE_SIZE: usize = 1100;

/// What the client listed and we can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Gzip,
    Zstd,
}

impl Encoding {
    fn name(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Encoding::Gzip => "gzip",
            Encoding::Zstd => "zstd",
        })
    }
}

/// The encoding to use for a request with these headers: zstd before gzip, `q=0` respected, nothing else weighed.
pub(crate) fn asked_for(headers: &HeaderMap) -> Option<Encoding> {
    let mut has_gzip = false;
    for value in headers.get_all(ACCEPT_ENCODING) {
        for part in value.as_bytes().split(|&byte| byte == b',') {
            let mut parameters = part.split(|&byte| byte == b';');
            let name = parameters.next().unwrap_or_default().trim_ascii();
            let is_refused = parameters
                .any(|parameter| matches!(parameter.trim_ascii(), b"q=0" | b"q=0.0" | b"q=0.00" | b"q=0.000"));
            if is_refused {
                continue;
            }
            if name.eq_ignore_ascii_case(b"zstd") {
                return Some(Encoding::Zstd);
            }
            has_gzip |= name.eq_ignore_ascii_case(b"gzip");
        }
    }
    has_gzip.then_some(Encoding::Gzip)
}

/// Compresses `reply` to a client that says which encodings it takes, if we have one of them and it gains something. `Vary`
/// tells caches that the client's wish was looked at, also in the 304 that stands for such an answer.
pub(crate) fn apply(reply: &mut Reply, encoding: Option<Encoding>) {
    let is_empty = reply.body().as_whole().is_some_and(Bytes::is_empty);
    if is_empty && reply.status() != StatusCode::NOT_MODIFIED {
        return;
    }
    reply.headers_mut().insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    let Some(encoding) = encoding.filter(|_| !is_empty) else { return };
    if let Some(parts) = reply.body_mut().take_parts() {
        *reply.body_mut() = ReplyBody::parts(compress_parts(parts, encoding));
    } else {
        let Some(body) = reply.body().as_whole().filter(|body| body.len() > WORTHWHILE_SIZE) else { return };
        let Some(compressed) = compress(body, encoding).filter(|compressed| compressed.len() < body.len()) else {
            return;
        };
        *reply.body_mut() = ReplyBody::whole(compressed);
    }
    let headers = reply.headers_mut();
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_ENCODING, encoding.name());
}

thread_local! {
    static GZIP: RefCell<Option<Compress>> = const { RefCell::new(None) };
    static ZSTD: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
}

fn compress(body: &[u8], encoding: Encoding) -> Option<Vec<u8>> {
    match encoding {
        Encoding::Gzip => GZIP.with_borrow_mut(|state| gzip(state.get_or_insert_with(new_deflate), body)),
        Encoding::Zstd => ZSTD.with_borrow_mut(|state| {
            if state.is_none() {
                *state = zstd::bulk::Compressor::new(1).ok();
            }
            state.as_mut()?.compress(body).ok()
        }),
    }
}

fn new_deflate() -> Compress {
    Compress::new(Compression::new(1), false)
}

/// The ten bytes before the deflate data: no name, no time, fastest.
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];

/// A whole gzip member; `None` if it would not become smaller.
fn gzip(deflate: &mut Compress, body: &[u8]) -> Option<Vec<u8>> {
    deflate.reset();
    let mut out = Vec::with_capacity(GZIP_HEAD.len() + body.len() + 8);
    out.extend_from_slice(&GZIP_HEAD);
    // The capacity is that of the plain body, so an answer that does not shrink ends here by itself.
    let status = deflate.compress_vec(body, &mut out, FlushCompress::Finish).ok()?;
    if status != Status::StreamEnd {
        return None;
    }
    let mut checksum = flate2::Crc::new();
    checksum.update(body);
    out.extend_from_slice(&checksum.sum().to_le_bytes());
    out.extend_from_slice(&checksum.amount().to_le_bytes());
    Some(out)
}

/// Compresses parts as they come, in a task of its own that ends with them.
fn compress_parts(
    mut parts: mpsc::Receiver<Result<Bytes, StreamFailed>>,
    encoding: Encoding,
) -> mpsc::Receiver<Result<Bytes, StreamFailed>> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let Ok(mut encoder) = StreamEncoder::new(encoding) else {
            let _ = sender.send(Err(StreamFailed)).await;
            return;
        };
        while let Some(part) = parts.recv().await {
            let compressed = part.and_then(|part| encoder.part(&part).map_err(|_| StreamFailed));
            let is_failed = compressed.is_err();
            if sender.send(compressed).await.is_err() || is_failed {
                return;
            }
        }
        let _ = sender.send(encoder.finish().map_err(|_| StreamFailed)).await;
    });
    receiver
}

enum StreamEncoder {
    Gzip(flate2::write::GzEncoder<Vec<u8>>),
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
}

impl StreamEncoder {
    fn new(encoding: Encoding) -> std::io::Result<StreamEncoder> {
        Ok(match encoding {
            Encoding::Gzip => StreamEncoder::Gzip(flate2::write::GzEncoder::new(Vec::new(), Compression::new(1))),
            Encoding::Zstd => StreamEncoder::Zstd(zstd::stream::write::Encoder::new(Vec::new(), 1)?),
        })
    }

    fn part(&mut self, part: &[u8]) -> std::io::Result<Bytes> {
        let out = match self {
            StreamEncoder::Gzip(encoder) => {
                encoder.write_all(part)?;
                encoder.flush()?;
                encoder.get_mut()
            }
            StreamEncoder::Zstd(encoder) => {
                encoder.write_all(part)?;
                encoder.flush()?;
                encoder.get_mut()
            }
        };
        Ok(Bytes::from(std::mem::take(out)))
    }

    fn finish(self) -> std::io::Result<Bytes> {
        Ok(Bytes::from(match self {
            StreamEncoder::Gzip(encoder) => encoder.finish()?,
            StreamEncoder::Zstd(encoder) => encoder.finish()?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn asked(value: &'static str) -> Option<Encoding> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(value));
        asked_for(&headers)
    }

    #[test]
    fn only_what_is_listed_is_used() {
        assert_eq!(asked("gzip, deflate"), Some(Encoding::Gzip));
        assert_eq!(asked("gzip, deflate, br, ZSTD"), Some(Encoding::Zstd));
        assert_eq!(asked("zstd;q=0, gzip;q=0.5"), Some(Encoding::Gzip));
        assert_eq!(asked("identity"), None);
        assert_eq!(asked("*"), None);
    }

    #[test]
    fn gzip_comes_back_and_the_state_is_reused() {
        let body = "{\"Name\":\"some text\"},".repeat(100);
        for _ in 0..3 {
            let compressed = compress(body.as_bytes(), Encoding::Gzip).unwrap();
            let mut plain = String::new();
            flate2::read::GzDecoder::new(compressed.as_slice()).read_to_string(&mut plain).unwrap();
            assert_eq!(plain, body);
        }
        let compressed = compress(body.as_bytes(), Encoding::Zstd).unwrap();
        assert_eq!(zstd::decode_all(compressed.as_slice()).unwrap(), body.as_bytes());
    }
}
