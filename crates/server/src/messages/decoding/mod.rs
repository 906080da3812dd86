//! Decompressing request bodies while they arrive.

mod zstd_frames;

use std::io::{self, Write};

use bytes::Bytes;
use flate2::{Decompress, FlushDecompress, Status};
use hyper::header::CONTENT_ENCODING;
use hyper::{HeaderMap, StatusCode};

use crate::error::{Error, Result};
use crate::limits::{COMPRESSED_PIECE_SIZE, DECODED_PART_SIZE, DECOMPRESSION_GRACE_SIZE, Limits, REQUEST_BODY};
use zstd_frames::ZstdFrames;

pub(crate) fn too_large(max: usize) -> Error {
    Error::Limit {
        status: StatusCode::PAYLOAD_TOO_LARGE,
        name: REQUEST_BODY,
        limit: (max >> 20) as u64,
        what: "The request body",
    }
}

/// Undoes a `Content-Encoding` while the body arrives.
#[derive(Debug)]
pub(crate) enum Decoder {
    Inflate(Box<Inflate>),
    Zstd(Box<ZstdDecoder>),
}

/// Decompresses gzip of any number of members, or zlib.
#[derive(Debug)]
pub(crate) struct Inflate {
    decompress: Decompress,
    is_gzip: bool,
    /// The member has ended; what follows is another one.
    has_ended: bool,
    sink: Sink,
}

/// Not `zstd::stream::write::Decoder`, which cannot tell whether the last frame has ended.
pub(crate) struct ZstdDecoder {
    writer: zstd::stream::zio::Writer<Sink, zstd::stream::raw::Decoder<'static>>,
    frames: ZstdFrames,
}

impl std::fmt::Debug for ZstdDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ZstdDecoder")
    }
}

/// Bytes that are decompressed at once.
const PIECE_SIZE: usize = 16 << 10;

impl Inflate {
    fn new(is_gzip: bool, sink: Sink) -> Inflate {
        Inflate { decompress: Self::decompress(is_gzip), is_gzip, has_ended: false, sink }
    }

    fn decompress(is_gzip: bool) -> Decompress {
        /// The largest window that the format has: 32 KiB.
        const WINDOW_BITS: u8 = 15;
        if is_gzip { Decompress::new_gzip(WINDOW_BITS) } else { Decompress::new(true) }
    }

    fn write(&mut self, mut part: &[u8]) -> io::Result<()> {
        let mut piece = [0; PIECE_SIZE];
        loop {
            if self.has_ended {
                if part.is_empty() {
                    return Ok(());
                }
                if !self.is_gzip {
                    return Err(io::Error::other("bytes follow the end of the compressed data"));
                }
                (self.decompress, self.has_ended) = (Self::decompress(true), false);
            }
            let before = (self.decompress.total_in(), self.decompress.total_out());
            let status =
                self.decompress.decompress(part, &mut piece, FlushDecompress::None).map_err(io::Error::other)?;
            let consumed = (self.decompress.total_in() - before.0) as usize;
            let produced = (self.decompress.total_out() - before.1) as usize;
            self.sink.write_all(piece.get(..produced).unwrap_or_default())?;
            part = part.get(consumed..).unwrap_or_default();
            self.has_ended = status == Status::StreamEnd;
            if !self.has_ended && produced < PIECE_SIZE && (part.is_empty() || consumed == 0) {
                return Ok(());
            }
        }
    }
}

/// Takes what a decoder makes, and refuses more than is allowed as it is made, not afterwards.
#[derive(Debug)]
pub(crate) struct Sink {
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
    /// `None`: the body is not compressed.
    ///
    /// # Errors
    ///
    /// [`Error::Encoding`] if the encoding is unknown.
    pub(crate) fn for_headers(headers: &HeaderMap, limits: &Limits, produced_max: usize) -> Result<Option<Decoder>> {
        let Some(encoding) = headers.get(CONTENT_ENCODING) else { return Ok(None) };
        Decoder::named(encoding.as_bytes(), limits, produced_max)
    }

    /// The decoder for content that begins with these bytes. `None`: it is not compressed.
    pub(crate) fn for_content(start: &[u8], limits: &Limits, produced_max: usize) -> Result<Option<Decoder>> {
        match start {
            [0x1f, 0x8b, ..] => Decoder::named(b"gzip", limits, produced_max),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Decoder::named(b"zstd", limits, produced_max),
            _ => Ok(None),
        }
    }

    /// The decoder for an encoding with this name.
    pub(crate) fn named(encoding: &[u8], limits: &Limits, produced_max: usize) -> Result<Option<Decoder>> {
        let sink = Sink {
            out: Vec::new(),
            consumed: 0,
            produced: 0,
            produced_max,
            ratio_max: limits.decompression_ratio,
            refused: None,
        };
        let encoding = encoding.trim_ascii();
        Ok(if encoding.is_empty() || encoding.eq_ignore_ascii_case(b"identity") {
            None
        } else if encoding.eq_ignore_ascii_case(b"gzip") || encoding.eq_ignore_ascii_case(b"x-gzip") {
            Some(Decoder::Inflate(Box::new(Inflate::new(true, sink))))
        } else if encoding.eq_ignore_ascii_case(b"deflate") {
            Some(Decoder::Inflate(Box::new(Inflate::new(false, sink))))
        } else if encoding.eq_ignore_ascii_case(b"zstd") {
            let decoder = zstd::stream::raw::Decoder::new().map_err(|error| Error::Encoding(error.to_string()))?;
            let writer = zstd::stream::zio::Writer::new(sink, decoder);
            Some(Decoder::Zstd(Box::new(ZstdDecoder { writer, frames: ZstdFrames::new() })))
        } else {
            let name = String::from_utf8_lossy(encoding).into_owned();
            return Err(Error::Encoding(format!(
                "unknown Content-Encoding '{name}', known are gzip, deflate and zstd"
            )));
        })
    }

    /// Decompresses the next part of the body, or as much of it as gives [`DECODED_PART_SIZE`]. The rest stays in `part`.
    ///
    /// The part is decompressed in pieces, so that a small part with a high ratio takes little memory before the caller counts it.
    pub(crate) fn part(&mut self, part: &mut Bytes) -> Result<Bytes> {
        let mut written = Ok(());
        while written.is_ok() && !part.is_empty() && self.sink().out.len() < DECODED_PART_SIZE {
            let piece = part.split_to(part.len().min(COMPRESSED_PIECE_SIZE));
            self.sink().consumed += piece.len();
            written = match self {
                Decoder::Inflate(decoder) => decoder.write(&piece),
                Decoder::Zstd(decoder) => {
                    decoder.frames.follow(&piece);
                    decoder.writer.write_all(&piece)
                }
            };
        }
        if let Decoder::Zstd(decoder) = self {
            written = written.and_then(|()| decoder.writer.flush());
        }
        let consumed = self.sink().consumed;
        self.take(written.map_err(|error| io::Error::new(error.kind(), format!("{error}, before byte {consumed}"))))
    }

    /// Gives what is left when the body is complete.
    ///
    /// Compressed data that do not end are taken as far as they go: clients flush their compressor and never finish it, and the end
    /// of the body and that of the JSON in it tell what was cut off. Only zstd that stops inside of a block is an error.
    pub(crate) fn finish(&mut self) -> Result<Bytes> {
        let finished = match self {
            Decoder::Inflate(_) => Ok(()),
            Decoder::Zstd(decoder) if decoder.frames.is_at_border() => decoder.writer.flush(),
            Decoder::Zstd(decoder) => decoder.writer.finish(),
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
            Decoder::Inflate(decoder) => &mut decoder.sink,
            Decoder::Zstd(decoder) => decoder.writer.writer_mut(),
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

    /// What a part gives, by and by.
    fn all(decoder: &mut Decoder, part: &[u8]) -> Result<Vec<u8>> {
        let (mut part, mut plain) = (Bytes::copy_from_slice(part), Vec::new());
        while !part.is_empty() {
            plain.extend_from_slice(&decoder.part(&mut part)?);
        }
        Ok(plain)
    }

    #[test]
    fn a_part_gives_little_at_once() {
        let zeros = vec![0; 200 << 20];
        let bomb = zstd::encode_all(zeros.as_slice(), 3).unwrap();
        let mut decoder = decoder("zstd", &Limits::default());
        let (mut part, mut size, mut size_max) = (Bytes::from(bomb), 0, 0);
        while !part.is_empty() {
            let plain = decoder.part(&mut part).unwrap().len();
            (size, size_max) = (size + plain, size_max.max(plain));
        }
        assert_eq!(size + decoder.finish().unwrap().len(), zeros.len());
        // A block of 128 KiB has at least four bytes.
        assert!(size_max <= DECODED_PART_SIZE + COMPRESSED_PIECE_SIZE / 4 * (128 << 10), "{size_max}");
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
                    plain.extend_from_slice(&all(&mut decoder, part).unwrap());
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
            let limits = Limits { decompression_ratio: 1000, ..Limits::default() };
            let error = all(&mut decoder(encoding, &limits), &bomb).unwrap_err();
            assert!(error.to_string().contains("Limits.DecompressionRatio"), "{error}");
            let limits = Limits { decompression_ratio: usize::MAX, request_body_size: 32 << 20, ..Limits::default() };
            let error = all(&mut decoder(encoding, &limits), &bomb).unwrap_err();
            assert!(error.to_string().contains("Limits.RequestBodyInMb = 32"), "{error}");
            let limits = Limits { decompression_ratio: usize::MAX, ..Limits::default() };
            assert_eq!(all(&mut decoder(encoding, &limits), &bomb).unwrap().len(), zeros.len());
            // The highest ratio of the formats is below the default.
            assert_eq!(all(&mut decoder(encoding, &Limits::default()), &bomb).unwrap().len(), zeros.len());
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
                plain.extend_from_slice(&all(&mut decoder, part)?);
            }
        }
        plain.extend_from_slice(&decoder.finish()?);
        Ok(plain)
    }

    #[test]
    fn data_that_are_cut_give_what_was_sent_or_an_error() {
        let text = b"some text that is long enough, and some text that repeats";
        for (encoding, whole) in [("gzip", gzip(text)), ("deflate", deflate(text)), ("zstd", zstd_with_checksum(text))]
        {
            for cut in 0..whole.len() {
                assert_eq!(decode(encoding, &whole, cut).unwrap(), text, "{encoding} in parts at {cut}");
                match decode(encoding, &whole[..cut], cut) {
                    // Nothing but text that was sent, and all of it only where no more than the checksum is missing.
                    Ok(plain) => {
                        assert!(text.starts_with(&plain), "{encoding} cut at {cut}");
                        assert!(plain.is_empty() || encoding != "zstd", "{encoding} cut at {cut}");
                    }
                    Err(_) => assert_eq!(encoding, "zstd", "{encoding} cut at {cut}"),
                }
            }
            decode(encoding, b"not compressed at all", 3).unwrap_err();
            let mut broken = whole.clone();
            broken[whole.len() - 3] ^= 1;
            decode(encoding, &broken, 9).unwrap_err();
        }
        let mut frames = zstd_with_checksum(text);
        frames.extend(zstd_with_checksum(text));
        assert_eq!(decode("zstd", &frames, 9).unwrap(), text.repeat(2));
        decode("zstd", &frames[..frames.len() - 1], 9).unwrap_err();
    }

    /// As the C# client sends them: flushed, and never finished.
    #[test]
    fn data_that_were_flushed_and_not_ended_are_whole() {
        let texts = [&b"{\"Name\":\"some text"[..], b", some text\"}"];
        let mut zstd = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let mut deflate = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        for text in texts {
            for encoder in [&mut zstd as &mut dyn Write, &mut gzip, &mut deflate] {
                encoder.write_all(text).unwrap();
                encoder.flush().unwrap();
            }
        }
        let data = [("zstd", zstd.get_ref()), ("gzip", gzip.get_ref()), ("deflate", deflate.get_ref())];
        for (encoding, data) in data {
            for cut in 0..data.len() {
                assert_eq!(decode(encoding, data, cut).unwrap(), texts.concat(), "{encoding} in parts at {cut}");
            }
            // Each flush can be decompressed at once.
            let mut decoder = decoder(encoding, &Limits::default());
            assert_eq!(all(&mut decoder, data).unwrap(), texts.concat(), "{encoding}");
        }
        let inside_of_a_block = &zstd.get_ref()[..zstd.get_ref().len() - 1];
        decode("zstd", inside_of_a_block, 3).unwrap_err();
    }
}
