//! Compression of answers, when the client asks for it and it gains something.
//!
//! An answer of up to [`WORTHWHILE_SIZE`] is sent as it is to a client that lists several encodings, as HTTP libraries do by
//! themselves: with its head it fits in one Ethernet frame (1,460 bytes), so that compressing it saves no packet and no
//! round trip, only costs both sides processor time (here 6 to 10 us for a document of 400 bytes, as much as the rest of the
//! request). A client that lists one encoding alone chose it, and RavenDB's clients test that every answer has it.
//! gzip and zstd run at their fastest level with states that each thread keeps; large bodies on the pool. Streams are
//! compressed part by part and flushed with each, so that what was made is seen.

use std::cell::RefCell;
use std::io::Write;

use bytes::Bytes;
use flate2::{Compress, Compression, FlushCompress, Status};
use hyper::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, VARY,
};
use hyper::{HeaderMap, StatusCode};
use tokio::sync::mpsc;

use super::reply::{BodyPart, Parts, Reply};
use crate::bridge::{Bridge, Pool};

/// The largest body that is not compressed for a client that lists several encodings, in bytes: an Ethernet frame's payload less a usual
/// head of ours.
pub(crate) const WORTHWHILE_SIZE: usize = 1100;

/// An encoding that this server can produce.
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

/// The encoding to use for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wish {
    encoding: Encoding,
    /// The client lists this encoding and no other, so that small answers are compressed too.
    is_only: bool,
}

/// The names of encodings that a client takes: `q=0` respected, nothing else weighed.
fn accepted(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let parts = headers.get_all(ACCEPT_ENCODING).iter().flat_map(|value| value.as_bytes().split(|&byte| byte == b','));
    parts.filter_map(|part| {
        let mut parameters = part.split(|&byte| byte == b';');
        let name = parameters.next().unwrap_or_default().trim_ascii();
        let is_refused =
            parameters.any(|parameter| matches!(parameter.trim_ascii(), b"q=0" | b"q=0.0" | b"q=0.00" | b"q=0.000"));
        (!is_refused).then_some(name)
    })
}

/// Whether a client takes what was compressed beforehand in this way.
pub(crate) fn is_accepted(headers: &HeaderMap, encoding: &str) -> bool {
    accepted(headers).any(|name| name.eq_ignore_ascii_case(encoding.as_bytes()))
}

/// The encoding to use for a request with these headers: zstd before gzip.
pub(crate) fn asked_for(headers: &HeaderMap) -> Option<Wish> {
    let (mut encoding, mut count) = (None, 0);
    for name in accepted(headers) {
        count += 1;
        if name.eq_ignore_ascii_case(b"zstd") {
            encoding = Some(Encoding::Zstd);
        } else if name.eq_ignore_ascii_case(b"gzip") {
            encoding = encoding.or(Some(Encoding::Gzip));
        }
    }
    encoding.map(|encoding| Wish { encoding, is_only: count == 1 })
}

/// Compresses `reply` to a client that says which encodings it takes, if we have one of them, and it gains something or
/// is the only one. `Vary` tells caches that the client's wish was looked at, also in the 304 that stands for such an answer.
pub(crate) fn apply(reply: &mut Reply, wish: Option<Wish>) {
    let Some(wish) = chosen(reply, wish) else { return };
    if let Some(parts) = reply.body_mut().take_parts() {
        reply.body_mut().set_parts(compress_parts(parts, wish.encoding));
        return note(reply, wish.encoding);
    }
    let compressed = reply.body().as_whole().and_then(|body| compress(body, wish.encoding));
    set(reply, compressed, wish);
}

/// The same for a body that takes longer than a network thread has time for. If the pool has none either, it is sent as it is.
pub(crate) async fn apply_on_pool(reply: &mut Reply, wish: Option<Wish>, bridge: &Bridge) {
    let Some(wish) = chosen(reply, wish) else { return };
    let Some(body) = reply.body().as_whole().cloned() else { return };
    let compressed = bridge.run(Pool::Short, move || Ok(compress(&body, wish.encoding))).await;
    set(reply, compressed.ok().flatten(), wish);
}

/// The encoding for this answer, if there is something to gain or the client takes nothing else.
fn chosen(reply: &mut Reply, wish: Option<Wish>) -> Option<Wish> {
    let size = reply.body().as_whole().map(Bytes::len);
    if size == Some(0) && reply.status() != StatusCode::NOT_MODIFIED {
        return None;
    }
    reply.headers_mut().insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    // The files of the studio are compressed already, and so are dumps and info packages.
    let kind = reply.headers().get(CONTENT_TYPE);
    let is_archive = kind.is_some_and(|kind| kind == "application/octet-stream" || kind == "application/zip");
    // Ranges count the bytes as they are stored.
    let has_ranges = reply.headers().contains_key(ACCEPT_RANGES);
    let is_compressed = is_archive || has_ranges || reply.headers().contains_key(CONTENT_ENCODING);
    let is_worthwhile = |wish: &Wish| wish.is_only || size.is_none_or(|size| size > WORTHWHILE_SIZE);
    wish.filter(|wish| !is_compressed && is_worthwhile(wish))
}

fn set(reply: &mut Reply, compressed: Option<Vec<u8>>, wish: Wish) {
    let size = reply.body().as_whole().map_or(0, Bytes::len);
    if let Some(compressed) = compressed.filter(|compressed| wish.is_only || compressed.len() < size) {
        reply.body_mut().set_whole(Bytes::from(compressed));
        note(reply, wish.encoding);
    }
}

fn note(reply: &mut Reply, encoding: Encoding) {
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

/// A whole gzip member; `None` if it would become larger by more than the code of a literal can, which has 9 bits at most.
fn gzip(deflate: &mut Compress, body: &[u8]) -> Option<Vec<u8>> {
    deflate.reset();
    let mut out = Vec::with_capacity(GZIP_HEAD.len() + body.len() + body.len() / 8 + 32);
    out.extend_from_slice(&GZIP_HEAD);
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

/// Compresses parts as they come, in a task of its own that ends with them, or with their reader.
fn compress_parts(mut parts: Parts, encoding: Encoding) -> Parts {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let Ok(mut encoder) = StreamEncoder::new(encoding) else { return };
        loop {
            let part = tokio::select! {
                part = parts.recv() => part,
                () = sender.closed() => return,
            };
            match part {
                Some(BodyPart::Bytes(part)) => {
                    let Ok(compressed) = encoder.part(&part) else { return };
                    if sender.send(BodyPart::Bytes(compressed)).await.is_err() {
                        return;
                    }
                }
                Some(BodyPart::End) => {
                    if let Ok(rest) = encoder.finish()
                        && sender.send(BodyPart::Bytes(rest)).await.is_ok()
                    {
                        let _ = sender.send(BodyPart::End).await;
                    }
                    return;
                }
                None => return,
            }
        }
    });
    receiver
}

/// Compresses a stream.
pub(crate) enum StreamEncoder {
    Gzip(flate2::write::GzEncoder<Vec<u8>>),
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
}

impl StreamEncoder {
    pub(crate) fn new(encoding: Encoding) -> std::io::Result<StreamEncoder> {
        Ok(match encoding {
            Encoding::Gzip => StreamEncoder::Gzip(flate2::write::GzEncoder::new(Vec::new(), Compression::new(1))),
            Encoding::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1)?;
                // As gzip has one: who keeps what was sent, as an export, finds later damage.
                encoder.include_checksum(true)?;
                StreamEncoder::Zstd(encoder)
            }
        })
    }

    /// Compresses bytes, and gives what has been made so far: more bytes at once compress better than a flush for each part.
    pub(crate) fn add(&mut self, part: &[u8]) -> std::io::Result<Vec<u8>> {
        let out = match self {
            StreamEncoder::Gzip(encoder) => {
                encoder.write_all(part)?;
                encoder.get_mut()
            }
            StreamEncoder::Zstd(encoder) => {
                encoder.write_all(part)?;
                encoder.get_mut()
            }
        };
        Ok(std::mem::take(out))
    }

    /// The same, with all that was added.
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

    /// The end of the compressed data.
    pub(crate) fn finish(self) -> std::io::Result<Bytes> {
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

    fn asked(value: &'static str) -> Option<(Encoding, bool)> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(value));
        asked_for(&headers).map(|wish| (wish.encoding, wish.is_only))
    }

    #[test]
    fn only_what_is_listed_is_used() {
        assert_eq!(asked("gzip, deflate"), Some((Encoding::Gzip, false)));
        assert_eq!(asked("deflate, gzip"), Some((Encoding::Gzip, false)));
        assert_eq!(asked("gzip, deflate, br, ZSTD"), Some((Encoding::Zstd, false)));
        assert_eq!(asked("zstd, gzip"), Some((Encoding::Zstd, false)));
        assert_eq!(asked("zstd;q=0, gzip;q=0.5"), Some((Encoding::Gzip, true)));
        assert_eq!(asked("gzip"), Some((Encoding::Gzip, true)));
        assert_eq!(asked("zstd"), Some((Encoding::Zstd, true)));
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
